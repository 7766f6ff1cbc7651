//! Workers that post calls, and approvers who decide on them, each by chance of their own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Interval, MissedTickBehavior};

use crate::chance::Chance;
use crate::scene::{Answered, Clicked, Scene};

pub const SEND: &str = "telegram.reply:owner_channel";
const STATUS: &str = "openspine.status.read";

/// How long a client waits after a request that nobody answered.
const PAUSE: Duration = Duration::from_millis(150);

/// How long a client thinks between two requests.
fn pace(millis: u64) -> Interval {
    let mut pace = tokio::time::interval(Duration::from_millis(millis));
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A worker with a task.
struct Task {
    id: String,
    token: String,
    /// The calls that it posted with a key, and the text of each.
    keyed: Vec<(String, String)>,
    /// The calls that it was told of.
    calls: Vec<String>,
}

/// A worker, and how many texts it made up.
pub struct Worker {
    pub name: String,
    pub scene: Arc<Scene>,
    pub chance: Chance,
    texts: usize,
    pace: Interval,
}

impl Worker {
    pub fn new(name: String, scene: Arc<Scene>, chance: Chance) -> Self {
        Self {
            name,
            scene,
            chance,
            texts: 0,
            pace: pace(4),
        }
    }

    /// Posts one call after another until all is over; half of its tasks may send, and half may propose to.
    pub async fn work(mut self) {
        while !self.scene.is_over() {
            self.pace.tick().await;
            let event = *self.chance.one(&["tell", "propose"]);
            let Some(mut task) = self.begin(event).await else {
                continue;
            };
            while !self.scene.is_over() && self.step(&mut task).await {
                self.pace.tick().await;
            }
        }
    }

    async fn begin(&mut self, event: &str) -> Option<Task> {
        let event = json!({"event_type": event, "channel_account": "4711"});
        let key = self.scene.key("connector-desk");
        let (status, body) = self.ask(&key, "/v1/events", Some(&event)).await?;
        assert!(matches!(status, 201 | 503), "{status} {body}");
        let (id, token) = (text_of(&body["task_id"])?, text_of(&body["task_token"])?);
        Some(Task {
            id,
            token,
            keyed: Vec::new(),
            calls: Vec::new(),
        })
    }

    async fn ask(&mut self, token: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        let scene = Arc::clone(&self.scene);
        let answer = scene.ask(&mut self.chance, token, path, body).await;
        if answer.is_none() {
            self.pace.reset_after(PAUSE);
        }
        answer
    }

    /// Does one thing; whether the task goes on.
    async fn step(&mut self, task: &mut Task) -> bool {
        match self.chance.below(100) {
            0..50 => {
                let text = self.text();
                self.texts += 1;
                let key = self.chance.percent(75).then(|| text.replace(' ', "-"));
                self.scene
                    .seen
                    .lock()
                    .unwrap()
                    .posted
                    .insert(text.clone(), key.is_some());
                task.keyed
                    .extend(key.iter().map(|key| (key.clone(), text.clone())));
                self.post(task, &text, key.as_deref()).await
            }
            // It has no answer, or does not trust it.
            50..70 if !task.keyed.is_empty() => {
                let (key, text) = self.chance.one(&task.keyed).clone();
                self.post(task, &text, Some(&key)).await
            }
            70..75 if !task.keyed.is_empty() => {
                let (key, _) = self.chance.one(&task.keyed).clone();
                let text = self.text();
                self.texts += 1;
                self.scene
                    .seen
                    .lock()
                    .unwrap()
                    .posted
                    .insert(text.clone(), true);
                self.post(task, &text, Some(&key)).await
            }
            75..88 if !task.calls.is_empty() => {
                let call = self.chance.one(&task.calls).clone();
                let path = format!("/v1/actions/{call}");
                if let Some((200, body)) = self.ask(&task.token, &path, None).await {
                    let state = body["state"].as_str().unwrap().to_owned();
                    self.scene.seen.lock().unwrap().states.push((call, state));
                }
                true
            }
            88..94 => {
                let call = json!({"action": STATUS});
                let answer = self.ask(&task.token, "/v1/actions", Some(&call)).await;
                self.note(task, None, answer)
            }
            94 => {
                let (key, path) = (
                    self.scene.key("owner"),
                    format!("/v1/owner/tasks/{}/revoke", task.id),
                );
                if let Some((200, _)) = self.ask(&key, &path, Some(&json!({}))).await {
                    self.scene.counts.one("tasks taken back");
                }
                true
            }
            _ => true,
        }
    }

    fn text(&self) -> String {
        format!("{} {}", self.name, self.texts)
    }

    async fn post(&mut self, task: &mut Task, text: &str, key: Option<&str>) -> bool {
        let mut call = json!({"action": SEND, "arguments": {"text": text}});
        if let Some(key) = key {
            call["idempotency_key"] = key.into();
        }
        let answer = self.ask(&task.token, "/v1/actions", Some(&call)).await;
        self.note(task, Some(text), answer)
    }

    /// Writes down an answer; whether the task goes on.
    fn note(&self, task: &mut Task, text: Option<&str>, answer: Option<(u16, Value)>) -> bool {
        let Some((status, body)) = answer else {
            return true;
        };
        let call = text_of(&body["request_id"]).or_else(|| text_of(&body["error"]["request_id"]));
        if body["replayed"] == true {
            self.scene.counts.one("replays of a first result");
        }
        let reason = text_of(&body["error"]["reason"]).unwrap_or_default();
        task.calls.extend(call.clone());
        let text = text.map(str::to_owned);
        self.scene.seen.lock().unwrap().answers.push(Answered {
            text,
            call,
            status,
            reason,
        });
        status != 401
    }
}

/// Somebody who may decide.
pub struct Approver {
    pub key: String,
    pub scene: Arc<Scene>,
    pub chance: Chance,
}

impl Approver {
    /// Decides on what waits until all is over, and often clicks twice.
    pub async fn decide(mut self) {
        let mut pace = pace(15);
        let scene = Arc::clone(&self.scene);
        let key = scene.key(&self.key);
        while !scene.is_over() {
            pace.tick().await;
            let waiting = scene
                .ask(&mut self.chance, &key, "/v1/owner/calls", None)
                .await;
            let Some((200, body)) = waiting else { continue };
            let calls = body["calls"].as_array().unwrap();
            if calls.is_empty() {
                continue;
            }
            let call = self.chance.one(calls).clone();
            let first = self.click(&call);
            let second = match self.chance.percent(30) {
                true => Some(self.click(&call)),
                false => None,
            };
            let mut also = self.chance.clone();
            self.chance.below(2);
            scene.tell_of_a_click();
            tokio::join!(send(&scene, &mut self.chance, &key, &call, first), async {
                if let Some(second) = second {
                    send(&scene, &mut also, &key, &call, second).await;
                }
            });
        }
    }

    /// What to click on.
    fn click(&mut self, call: &Value) -> (&'static str, Value) {
        let binding = &call["binding"];
        match self.chance.below(10) {
            0 => (
                "edit",
                json!({
                    "binding": binding,
                    "arguments": {"text": format!("{} edited {}", call["arguments"]["text"].as_str().unwrap(), self.chance.below(1_000_000))},
                }),
            ),
            1 => ("reject", json!({"binding": binding})),
            _ => ("approve", json!({"binding": binding})),
        }
    }
}

async fn send(
    scene: &Scene,
    chance: &mut Chance,
    key: &str,
    call: &Value,
    (verb, body): (&str, Value),
) {
    let id = call["id"].as_str().unwrap().to_owned();
    scene.counts.one(format!("clicks: {verb}"));
    let path = format!("/v1/owner/calls/{id}/{verb}");
    let Some((status, body)) = scene.ask(chance, key, &path, Some(&body)).await else {
        return;
    };
    let (state, edited) = match verb {
        "edit" => (None, text_of(&body["call"]).filter(|_| status == 201)),
        _ => (text_of(&body["state"]), None),
    };
    scene.seen.lock().unwrap().clicks.push(Clicked {
        call: id,
        status,
        state,
        edited,
    });
}
