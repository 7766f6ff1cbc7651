//! A Bot API on loopback that notes what it is asked and answers what the test says.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The token that the tests' bot has.
pub const BOT_TOKEN: &str = "424242:AAtestTOKENtestTOKENtestTOKEN";

/// What it answers.
#[derive(Debug, Clone)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    Redirect(String),
    /// Nothing until the test says so; then that it was sent.
    Held(Arc<Notify>),
}

/// The fake.
pub struct BotApi {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    asked: Mutex<Vec<(String, Bytes)>>,
    came: Notify,
    reply: Mutex<Reply>,
}

impl BotApi {
    pub async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            asked: Mutex::default(),
            came: Notify::new(),
            reply: Mutex::new(reply),
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// One that sends messages, as the Bot API says it did.
    pub async fn sending() -> Self {
        Self::start(Reply::Json(200, sent())).await
    }

    /// Waits for the first request.
    pub async fn first(&self) {
        while self.asked().is_empty() {
            self.shared.came.notified().await;
        }
    }

    /// Answers this from now on.
    pub fn reply(&self, reply: Reply) {
        *self.shared.reply.lock().unwrap() = reply;
    }

    /// Every request, as `(path, body)`.
    pub fn asked(&self) -> Vec<(String, Value)> {
        let asked = self.shared.asked.lock().unwrap();
        asked
            .iter()
            .map(|(path, body)| (path.clone(), serde_json::from_slice(body).unwrap()))
            .collect()
    }

    /// The configuration that leads to it, once the token is written to `bot.token`.
    pub fn config(&self) -> String {
        format!(
            "telegram: {{ base_url: {:?}, token_file: bot.token }}",
            self.url
        )
    }
}

fn sent() -> Value {
    serde_json::json!({"ok": true, "result": {"message_id": 77}})
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, body: Bytes) -> Response {
    shared.asked.lock().unwrap().push((uri.to_string(), body));
    shared.came.notify_one();
    let reply = shared.reply.lock().unwrap().clone();
    match reply {
        Reply::Held(release) => {
            release.notified().await;
            sent().to_string().into_response()
        }
        Reply::Json(status, body) => {
            (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
        }
        Reply::Text(status, body) => (StatusCode::from_u16(status).unwrap(), body).into_response(),
        Reply::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
        }
    }
}
