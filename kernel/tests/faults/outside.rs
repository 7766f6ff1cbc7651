//! What the handlers have their effect on: a Bot API on loopback that counts what it takes, and looks at each message
//! whether its call was recorded before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::chance::Chance;
use crate::counts::Counts;
use crate::stored::Peek;

/// The longest that an answer is held back.
const HELD: Duration = Duration::from_millis(300);

/// The outside world.
pub struct Outside {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    taken: Mutex<BTreeMap<String, usize>>,
    unrecorded: Mutex<Vec<String>>,
    chance: Mutex<Chance>,
    counts: Arc<Counts>,
    peek: Mutex<Option<Peek>>,
    came: Notify,
    released: Notify,
}

impl Outside {
    pub async fn start(counts: Arc<Counts>, chance: Chance) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            taken: Mutex::default(),
            unrecorded: Mutex::default(),
            chance: Mutex::new(chance),
            counts,
            peek: Mutex::default(),
            came: Notify::new(),
            released: Notify::new(),
        });
        let router = Router::new().fallback(take).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// From now on looks into this store whenever a message comes.
    pub fn look_into(&self, peek: Peek) {
        *self.shared.peek.lock().unwrap() = Some(peek);
    }

    /// Waits for a message, for a while.
    pub async fn next(&self) {
        let _ = tokio::time::timeout(Duration::from_secs(1), self.shared.came.notified()).await;
    }

    /// Lets the answers go that are held back.
    pub fn release(&self) {
        self.shared.released.notify_waiters();
    }

    /// How often each text was taken.
    pub fn taken(&self) -> BTreeMap<String, usize> {
        self.shared.taken.lock().unwrap().clone()
    }

    /// The texts that came before a record of their call.
    pub fn unrecorded(&self) -> Vec<String> {
        self.shared.unrecorded.lock().unwrap().clone()
    }
}

async fn take(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let text = body["text"].as_str().unwrap().to_owned();
    let peek = shared.peek.lock().unwrap().clone();
    if let Some(peek) = peek {
        match peek.has_begun(&text).await {
            Some(true) => shared.counts.one("effects: seen to be recorded before"),
            Some(false) => shared.unrecorded.lock().unwrap().push(text.clone()),
            None => shared
                .counts
                .one("effects: the store was away when they came"),
        }
    }
    let roll = shared.chance.lock().unwrap().below(100);
    let sent = || json!({"ok": true, "result": {"message_id": 77}}).to_string();
    if roll < 5 {
        shared.counts.one("effects: refused by the other side");
        let no = json!({"ok": false, "description": "no"}).to_string();
        return (StatusCode::BAD_REQUEST, no).into_response();
    }
    *shared.taken.lock().unwrap().entry(text).or_default() += 1;
    shared.counts.one("effects");
    shared.came.notify_one();
    if roll < 30 {
        let _ = tokio::time::timeout(HELD, shared.released.notified()).await;
    }
    match roll {
        // It is taken, and who sent it cannot know.
        ..10 => (StatusCode::BAD_GATEWAY, "no answer").into_response(),
        _ => sent().into_response(),
    }
}
