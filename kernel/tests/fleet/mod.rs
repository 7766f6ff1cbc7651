//! Three kernels on one database, and callers that keep them busy.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use actum::{ActionError, action};
use actum_kernel::Kernel;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use ulid::Ulid;

use crate::support::answer::Answer;
use crate::support::client::{Client, Task};
use crate::support::database::Database;
use crate::support::home::Home;

pub const KERNELS: usize = 3;
pub const MARK: &str = "test.mark";
pub const MARK_AGAIN: &str = "test.mark:again";

/// The marks that were made, in whatever kernel.
#[derive(Debug, Clone, Default)]
pub struct Made(pub Arc<Mutex<Vec<u64>>>);

#[derive(Deserialize, JsonSchema)]
struct Mark {
    /// Which one.
    number: u64,
}

/// Makes a mark, which nobody can take back.
#[action(id = "test.mark", description = "Make a mark.")]
async fn mark(made: &Made, ask: Mark) -> Result<u64, ActionError> {
    made.0.lock().unwrap().push(ask.number);
    Ok(ask.number)
}

pub const MARK_APPROVED: &str = "test.mark_approved";

/// Makes a mark once the owner approves.
#[action(
    id = "test.mark_approved",
    description = "Make a mark, once the owner says so.",
    approval_required
)]
async fn mark_approved(made: &Made, ask: Mark) -> Result<u64, ActionError> {
    mark(made, ask).await
}

/// Makes a mark where there is none yet, as often as one likes.
#[action(id = "test.mark:again", description = "Make a mark, once.", idempotent)]
async fn mark_again(made: &Made, ask: Mark) -> Result<u64, ActionError> {
    let mut made = made.0.lock().unwrap();
    if !made.contains(&ask.number) {
        made.push(ask.number);
    }
    Ok(ask.number)
}

/// The kernels: one configuration, one folder of keys, one database.
pub struct Replicas {
    kernels: Vec<Replica>,
    made: Made,
    _home: Home,
}

struct Replica {
    client: Client,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Replicas {
    pub async fn start(home: Home, database: &Database) -> Self {
        let url_file = database.url_file();
        home.configure(&format!(
            "store: {{ postgres: {{ url_file: {url_file:?} }} }}\nrecovery: {{ look_seconds: 1 }}"
        ));
        let made = Made::default();
        let mut kernels = Vec::new();
        for _ in 0..KERNELS {
            let builder = Kernel::builder(home.config()).resource(made.clone());
            let kernel = builder.build().await;
            let kernel = kernel.unwrap_or_else(|faults| panic!("{faults}"));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let (stop, stopped) = oneshot::channel();
            let serving = tokio::spawn(kernel.serve(listener, async {
                let _ = stopped.await;
            }));
            let client = Client::new(url, &home.data());
            kernels.push(Replica {
                client,
                stop,
                serving,
            });
        }
        assert!(
            !home.data().join("actum.db").exists(),
            "nothing is in SQLite"
        );
        Self {
            kernels,
            made,
            _home: home,
        }
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &Client> {
        self.kernels.iter().map(|kernel| &kernel.client)
    }

    /// One of them, by chance.
    pub fn any(&self) -> &Client {
        let chance = usize::try_from(Ulid::generate().random() % KERNELS as u128).unwrap();
        &self.kernels[chance].client
    }

    /// Posts to one of them by chance, until one has time: one that is too busy says so, and changes nothing.
    pub async fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        for _ in 0..100 {
            let answer = self.any().post(path, Some(token), body.to_string()).await;
            if answer.status != 503 {
                return answer;
            }
        }
        panic!("no kernel has time");
    }

    /// A task that may make marks.
    pub async fn marker(&self) -> Task {
        let event = json!({"event_type": "ask", "channel_account": "desk"});
        self.any().begin("desk", &event).await
    }

    pub async fn mark(&self, task: &Task, number: u64) -> Answer {
        self.any()
            .ask(&task.token, MARK, json!({"number": number}))
            .await
    }

    /// Takes a task back, at one of them by chance.
    pub async fn revoke(&self, task: &Task) {
        let path = format!("/v1/owner/tasks/{}/revoke", task.id);
        assert_eq!(self.any().owner_post(&path, &json!({})).await.status, 200);
    }

    /// Stops all of them, in good order.
    pub async fn stopped(self) -> Made {
        for kernel in self.kernels {
            kernel.stop.send(()).unwrap();
            kernel.serving.await.unwrap();
        }
        self.made
    }
}

/// Callers that go on until they are told to stop, each with marks of its own.
pub struct Callers {
    stop: Arc<AtomicBool>,
    /// How many answers there are, so that a test can wait for more.
    answered: Arc<AtomicU64>,
    callers: Vec<JoinHandle<Vec<(u64, u16)>>>,
}

impl Callers {
    pub fn start(kernels: &Arc<Replicas>, task: &Task) -> Self {
        let (stop, answered) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let callers = (0..6)
            .map(|caller| {
                let (kernels, task) = (Arc::clone(kernels), task.clone());
                let (stop, answered) = (Arc::clone(&stop), Arc::clone(&answered));
                tokio::spawn(async move {
                    let mut answers = Vec::new();
                    for n in 0.. {
                        if stop.load(Ordering::SeqCst) {
                            break;
                        }
                        let number = caller * 1_000_000 + n;
                        let answer = kernels.mark(&task, number).await;
                        if answer.status != 200 {
                            answer.refused(503, "operation_unsupported", "unavailable");
                        }
                        answers.push((number, answer.status));
                        answered.fetch_add(1, Ordering::SeqCst);
                    }
                    answers
                })
            })
            .collect();
        Self {
            stop,
            answered,
            callers,
        }
    }

    /// Waits for so many more answers.
    pub async fn more(&self, answers: u64) {
        let wanted = self.answered.load(Ordering::SeqCst) + answers;
        while self.answered.load(Ordering::SeqCst) < wanted {
            assert!(self.callers.iter().all(|caller| !caller.is_finished()));
            tokio::task::yield_now().await;
        }
    }

    /// All answers, by the mark that was asked for.
    pub async fn stopped(self) -> BTreeMap<u64, u16> {
        self.stop.store(true, Ordering::SeqCst);
        let mut answers = BTreeMap::new();
        for caller in self.callers {
            answers.extend(caller.await.unwrap());
        }
        answers
    }
}
