//! The worker's side of Actum's HTTP door: its task, and its calls.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::{list, text};

/// What became of a call, as the model is told it.
pub enum Outcome {
    Done(Value),
    /// It is for the model and for nobody else: neither logged nor kept.
    DoneWithSecret(Value),
    Refused(Value),
}

impl Outcome {
    /// A word for the log, without anything of a result.
    pub fn word(&self) -> String {
        let Self::Refused(why) = self else {
            return "done".to_owned();
        };
        let at = ["/error/code", "/error/reason", "/state", "/reason"];
        let words = at.map(|at| text(why, at)).into_iter();
        let words = words.filter(|word| !word.is_empty());
        words.fold("refused".to_owned(), |all, word| format!("{all}, {word}"))
    }
}

/// The door, with the token of one task.
pub struct Actum {
    pub http: Client,
    pub url: String,
    pub token: String,
    pub task: Value,
    /// When to give up on a kernel that does not answer: when the task is over, once that is known.
    pub deadline: Timestamp,
}

impl Actum {
    /// Fetches the task. The tools come in a provider's own shape, to be handed to it as they are.
    pub async fn begin(&mut self, provider: &str) -> Result<Value, String> {
        let (_, task) = self.ask("/v1/task", None).await?;
        let deadline = text(&task, "/expires_at").parse();
        self.deadline = deadline.map_err(|_| "the kernel told no task")?;
        self.task = task;
        let path = format!("/v1/task?tools={provider}");
        let (_, shaped) = self.ask(&path, None).await?;
        for left_out in list(&shaped, "/catalog/left_out") {
            println!("left out {left_out}");
        }
        Ok(json!(list(&shaped, "/catalog/tools")))
    }

    pub fn tool(&self, name: &str) -> Option<&Value> {
        let mut tools = list(&self.task, "/catalog/tools").iter();
        tools.find(|tool| text(tool, "/name") == name)
    }

    /// Makes a call and waits until it is decided. The key names this one call, however often it is sent.
    pub async fn call(&self, action: &str, args: Value, key: &str) -> Result<Outcome, String> {
        let tool = self.tool(action);
        let selections = match tool.and_then(|tool| tool.get("selection_token_required")) {
            Some(Value::Bool(true)) => list(&self.task, "/selection_tokens"),
            _ => &[],
        };
        // A tool does not say which of several tokens it takes. One that is refused was not spent.
        let mut tokens = selections.iter().map(|one| text(one, "/token"));
        loop {
            let token = tokens.next();
            let call = json!({
                "action": action, "arguments": args, "idempotency_key": key, "selection_token": token,
            });
            let outcome = self.post(&call).await?;
            let is_wrong = matches!(&outcome, Outcome::Refused(why)
                if text(why, "/error/reason") == "selection_token_invalid");
            if !is_wrong || token.is_none() {
                return Ok(outcome);
            }
        }
    }

    async fn post(&self, call: &Value) -> Result<Outcome, String> {
        let (status, body) = self.ask("/v1/actions", Some(call)).await?;
        // Where effects are suppressed there is a decision and no result.
        let result = || body.get("result").or(body.get("decision")).cloned();
        Ok(match (status, text(&body, "/result_schema")) {
            (StatusCode::ACCEPTED, _) => {
                let (action, id) = (text(call, "/action"), text(&body, "/request_id"));
                println!("{action} waits for the owner: {id}");
                self.decided(text(&body, "/status_url")).await?
            }
            (StatusCode::OK, "actum:model-only-result/1") => {
                Outcome::DoneWithSecret(result().unwrap_or_default())
            }
            (StatusCode::OK, _) => Outcome::Done(result().unwrap_or_default()),
            _ => Outcome::Refused(body),
        })
    }

    /// Follows a call until the owner has decided and it has run, or the task is over.
    async fn decided(&self, path: &str) -> Result<Outcome, String> {
        let (mut path, mut wait) = (path.to_owned(), Duration::from_millis(500));
        loop {
            let (_, body) = self.ask(&path, None).await?;
            let is_past = Timestamp::now() + wait > self.deadline;
            match (text(&body, "/state"), text(&body, "/superseded_by")) {
                // The owner put a call with other arguments in its place.
                (_, other) if !other.is_empty() => path = format!("/v1/actions/{other}"),
                ("succeeded", _) => {
                    return Ok(Outcome::Done(
                        body.get("result").cloned().unwrap_or_default(),
                    ));
                }
                ("pending" | "approved" | "running", _) if !is_past => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 3 / 2).min(Duration::from_secs(10));
                }
                (state, _) => {
                    let why = json!({"state": state, "reason": text(&body, "/reason")});
                    return Ok(Outcome::Refused(why));
                }
            }
        }
    }

    /// One request, sent again while the kernel cannot be reached: a call runs once under its key.
    async fn ask(&self, path: &str, call: Option<&Value>) -> Result<(StatusCode, Value), String> {
        let mut wait = Duration::from_millis(500);
        loop {
            let url = format!("{}{path}", self.url);
            let request = match call {
                Some(call) => self.http.post(url).json(call),
                None => self.http.get(url),
            };
            if let Ok(response) = request.bearer_auth(&self.token).send().await {
                match response.status() {
                    StatusCode::UNAUTHORIZED => {
                        return Err("the task is over, or its token is wrong".to_owned());
                    }
                    StatusCode::SERVICE_UNAVAILABLE => {}
                    status => {
                        if let Ok(body) = response.json().await {
                            return Ok((status, body));
                        }
                    }
                }
            }
            if Timestamp::now() + wait > self.deadline {
                return Err(format!("no answer from the kernel at {}", self.url));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(10));
        }
    }
}
