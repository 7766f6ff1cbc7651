//! What clients share: where kernels are, and what everybody saw.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::chance::Chance;
use crate::counts::Counts;

/// The longest that a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer to a posted call.
#[derive(Debug, Clone)]
pub struct Answered {
    pub text: Option<String>,
    pub call: Option<String>,
    pub status: u16,
    pub reason: String,
}

/// What an approver was told of a decision.
#[derive(Debug, Clone)]
pub struct Clicked {
    pub call: String,
    pub status: u16,
    /// Where the call stood then.
    pub state: Option<String>,
    /// The call that took its place.
    pub edited: Option<String>,
}

/// What clients saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// The texts that were posted, and whether with a key.
    pub posted: BTreeMap<String, bool>,
    pub answers: Vec<Answered>,
    pub clicks: Vec<Clicked>,
    /// The states that calls were seen in.
    pub states: Vec<(String, String)>,
}

/// The scene.
pub struct Scene {
    pub kernels: Vec<SocketAddr>,
    pub keys: PathBuf,
    pub counts: Arc<Counts>,
    pub seen: Mutex<Seen>,
    http: reqwest::Client,
    is_over: AtomicBool,
    answered: AtomicUsize,
    succeeded: AtomicUsize,
    unavailable: AtomicUsize,
    news: Notify,
    clicked: Notify,
}

impl Scene {
    pub fn new(kernels: Vec<SocketAddr>, keys: PathBuf, counts: Arc<Counts>) -> Self {
        let http = actum_kernel::http::client().no_proxy().timeout(PATIENCE);
        Self {
            kernels,
            keys,
            counts,
            seen: Mutex::default(),
            // One request, one connection: what happens to a connection happens to one request.
            http: http.pool_max_idle_per_host(0).build().unwrap(),
            is_over: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            succeeded: AtomicUsize::new(0),
            unavailable: AtomicUsize::new(0),
            news: Notify::new(),
            clicked: Notify::new(),
        }
    }

    pub fn key(&self, name: &str) -> String {
        let path = self.keys.join(format!("{name}.key"));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }

    /// Asks one of the kernels, by chance; `None` where no answer came.
    pub async fn ask(
        &self,
        chance: &mut Chance,
        token: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let url = format!("http://{}{path}", chance.one(&self.kernels));
        let request = match body {
            Some(body) => self.http.post(url).body(body.to_string()),
            None => self.http.get(url),
        };
        let answer = request.bearer_auth(token).send().await.ok();
        let status = answer.as_ref().map(|answer| answer.status().as_u16());
        let text = match answer {
            Some(answer) => answer.text().await.ok(),
            None => None,
        };
        let (Some(status), Some(text)) = (status, text) else {
            self.counts.one("answers: none came");
            return None;
        };
        self.answered.fetch_add(1, Ordering::SeqCst);
        match status {
            503 => drop(self.unavailable.fetch_add(1, Ordering::SeqCst)),
            200 if path == "/v1/actions" => drop(self.succeeded.fetch_add(1, Ordering::SeqCst)),
            _ => {}
        }
        self.news.notify_waiters();
        let body: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {status} {text:?}"));
        let reason = body["error"]["reason"].as_str().unwrap_or_default();
        self.counts.one(format!("answers: {status} {reason}"));
        Some((status, body))
    }

    /// Says that somebody clicks now.
    pub fn tell_of_a_click(&self) {
        self.clicked.notify_waiters();
    }

    /// Waits until somebody clicks, for a while.
    pub async fn next_click(&self) {
        let _ = tokio::time::timeout(Duration::from_secs(1), self.clicked.notified()).await;
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Waits for so many more answers; whether they came in this time.
    pub async fn more_answers(&self, more: usize, within: Duration) -> bool {
        self.more(&self.answered, more, within).await
    }

    /// Waits for so many more calls that ran.
    pub async fn more_calls(&self, more: usize, within: Duration) -> bool {
        self.more(&self.succeeded, more, within).await
    }

    /// Waits for so many more answers that nothing can be recorded now.
    pub async fn more_refusals(&self, more: usize, within: Duration) -> bool {
        self.more(&self.unavailable, more, within).await
    }

    async fn more(&self, of: &AtomicUsize, more: usize, within: Duration) -> bool {
        let (wanted, over) = (of.load(Ordering::SeqCst) + more, Instant::now() + within);
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            // From here on no answer is missed.
            news.as_mut().enable();
            if of.load(Ordering::SeqCst) >= wanted {
                return true;
            }
            if timeout_at(over, news).await.is_err() {
                return false;
            }
        }
    }
}
