//! `actum mcp`: a running kernel's MCP door, on standard input and output.
//!
//! For MCP clients that start their servers as programs. What the client writes is posted as it is, and each message that
//! the kernel answers with is written as a line, so that this door has no rules of its own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::load_config;

/// What the environment gives the token by: arguments can be seen by others.
const TOKEN: &str = "ACTUM_TOKEN";
/// What names a session, and a revision of the protocol.
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The first revision without sessions.
const SESSIONLESS: &str = "2026-07-28";
/// The longest message of a client, in bytes; the kernel's own bound is lower.
const LONGEST: u64 = 16 * 1024 * 1024;
/// The code of an error that is none of the protocol's.
const INTERNAL_ERROR: i32 = -32603;

/// The bridge.
struct Bridge {
    http: reqwest::Client,
    url: String,
    token: String,
    out: mpsc::Sender<String>,
}

/// What the two sides agreed on as they began.
#[derive(Clone, Default)]
struct Agreed {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

/// Runs until standard input ends.
pub(super) async fn run(config: Option<PathBuf>, url: Option<String>) -> Result<(), String> {
    let token = std::env::var(TOKEN).map_err(|_| {
        format!("no task token: set {TOKEN}, to what an event or `actum select` was answered with")
    })?;
    let url = match url {
        Some(url) => format!("{}/mcp", url.trim_end_matches('/')),
        None => format!("http://{}/mcp", load_config(config)?.listen),
    };
    let http = crate::http::client()
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())?;
    let (out, mut lines) = mpsc::channel::<String>(64);
    let writing = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(mut line) = lines.recv().await {
            line.push('\n');
            let written = stdout.write_all(line.as_bytes()).await;
            if written.is_err() || stdout.flush().await.is_err() {
                return;
            }
        }
    });
    let bridge = Arc::new(Bridge {
        http,
        url,
        token,
        out,
    });
    let ended = Arc::clone(&bridge).carry().await;
    drop(bridge);
    let _ = writing.await;
    ended
}

impl Bridge {
    /// Carries messages until standard input ends, and what is under way then to its end.
    async fn carry(self: Arc<Self>) -> Result<(), String> {
        let mut input = BufReader::new(tokio::io::stdin());
        let mut agreed = Agreed::default();
        let mut under_way = JoinSet::new();
        let mut requests: HashMap<String, AbortHandle> = HashMap::new();
        let mut notices: Option<AbortHandle> = None;
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut input).take(LONGEST);
            let read = limited.read_until(b'\n', &mut line).await;
            let read = read.map_err(|error| format!("standard input: {error}"))?;
            if read == 0 {
                break;
            }
            while let Some(done) = under_way.try_join_next() {
                done.map_err(|error| error.to_string())??;
            }
            requests.retain(|_, request| !request.is_finished());
            if line.trim_ascii().is_empty() {
                continue;
            }
            // What cannot be read is the kernel's to refuse.
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            let method = message
                .get("method")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let id = message.get("id").cloned();
            if method == "notifications/cancelled" && agreed.session.is_none() {
                // Where there is no session, a request is cancelled by hanging up.
                let cancelled = message.pointer("/params/requestId").map(Value::to_string);
                if let Some(request) = cancelled.and_then(|id| requests.remove(&id)) {
                    request.abort();
                }
                continue;
            }
            let headers = headers(&message, method, &agreed);
            let is_beginning = matches!(method, "initialize" | "notifications/initialized");
            let bridge = Arc::clone(&self);
            if is_beginning {
                let began = bridge.post(line, headers, id).await?;
                if method == "initialize" {
                    agreed = began;
                } else if agreed.session.is_some() && notices.is_none() {
                    let listening = Arc::clone(&self).listen(agreed.clone());
                    notices = Some(tokio::spawn(listening).abort_handle());
                }
                continue;
            }
            let named = id.as_ref().map(Value::to_string);
            let request =
                under_way.spawn(async move { bridge.post(line, headers, id).await.map(drop) });
            requests.extend(named.map(|named| (named, request)));
        }
        while let Some(done) = under_way.join_next().await {
            match done {
                Ok(done) => done?,
                Err(error) if error.is_cancelled() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        if let Some(notices) = notices {
            notices.abort();
        }
        if agreed.session.is_some() {
            let ended = self.http.delete(&self.url).bearer_auth(&self.token);
            let _ = ended.headers(agreed.into_headers()).send().await;
        }
        Ok(())
    }

    /// Posts a message and writes what it is answered with; what was agreed on by it, if it began a session.
    async fn post(
        &self,
        body: Vec<u8>,
        headers: HeaderMap,
        id: Option<Value>,
    ) -> Result<Agreed, String> {
        let request = self.http.post(&self.url).bearer_auth(&self.token);
        let response = match request.headers(headers).body(body).send().await {
            Ok(response) => response,
            Err(error) => {
                let told = format!("no kernel answers at {}: {error}", self.url);
                self.fail(id, &told).await;
                return Ok(Agreed::default());
            }
        };
        let status = response.status();
        let mut agreed = Agreed {
            session: response.headers().get(SESSION).cloned(),
            version: None,
        };
        if is_stream(&response) {
            self.write_events(response, &mut agreed).await;
            return Ok(agreed);
        }
        let text = response.text().await.unwrap_or_default();
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if answer.get("jsonrpc").is_some() {
            agreed.version = version_of(&answer);
            self.write(answer).await;
        } else if !status.is_success() {
            let told = answer.pointer("/error/message").and_then(Value::as_str);
            let told = told.unwrap_or("the kernel refused and did not say why");
            self.fail(id, told).await;
            if status == StatusCode::UNAUTHORIZED {
                return Err(format!("{TOKEN}: {told}; its task may be over"));
            }
        }
        Ok(agreed)
    }

    /// Writes what comes unasked, until the session ends.
    async fn listen(self: Arc<Self>, agreed: Agreed) {
        let request = self.http.get(&self.url).bearer_auth(&self.token);
        let request = request
            .headers(agreed.into_headers())
            .header(ACCEPT, "text/event-stream");
        if let Ok(response) = request.send().await
            && is_stream(&response)
        {
            self.write_events(response, &mut Agreed::default()).await;
        }
    }

    /// Writes the messages of a stream of events, which are one line of data each.
    async fn write_events(&self, mut response: Response, agreed: &mut Agreed) {
        let mut unread = Vec::new();
        while let Ok(Some(piece)) = response.chunk().await {
            unread.extend_from_slice(&piece);
            while let Some(end) = unread.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                let data = line.trim_ascii().strip_prefix(b"data:");
                let message = data.and_then(|data| serde_json::from_slice::<Value>(data).ok());
                let Some(message) = message else { continue };
                if agreed.version.is_none() {
                    agreed.version = version_of(&message);
                }
                self.write(message).await;
            }
        }
    }

    async fn write(&self, message: Value) {
        let _ = self.out.send(message.to_string()).await;
    }

    /// Answers a request that the kernel did not answer as the protocol has it.
    async fn fail(&self, id: Option<Value>, told: &str) {
        if let Some(id) = id {
            let error = json!({"code": INTERNAL_ERROR, "message": told});
            self.write(json!({"jsonrpc": "2.0", "id": id, "error": error}))
                .await;
        }
    }
}

impl Agreed {
    fn into_headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [(SESSION, self.session), (VERSION, self.version)] {
            if let Some(value) = value {
                headers.insert(name, value);
            }
        }
        headers
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// The revision that an `initialize` was answered with.
fn version_of(answer: &Value) -> Option<HeaderValue> {
    let version = answer.pointer("/result/protocolVersion")?.as_str()?;
    HeaderValue::from_str(version).ok()
}

/// What HTTP says of a message besides its body.
fn headers(message: &Value, method: &str, agreed: &Agreed) -> HeaderMap {
    let mut headers = match method {
        "initialize" => HeaderMap::new(),
        _ => agreed.clone().into_headers(),
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let both = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, both);
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
    let version = text("/params/_meta/io.modelcontextprotocol~1protocolVersion");
    if let Some(version) = version {
        let name = ["name", "uri", "taskId"]
            .into_iter()
            .find_map(|name| text(&format!("/params/{name}")));
        let named = match (version >= SESSIONLESS, method) {
            (true, "tools/call" | "prompts/get" | "resources/read") => name,
            (true, method) if method.starts_with("tasks/") => name,
            _ => None,
        };
        let more = [
            (VERSION, Some(version)),
            ("mcp-method", (version >= SESSIONLESS).then_some(method)),
            ("mcp-name", named),
        ];
        for (name, value) in more {
            if let Some(Ok(value)) = value.map(header_value) {
                headers.insert(name, value);
            }
        }
    }
    headers
}

/// A text as a header has it: what is not plain ASCII is in Base64, as revision 2026-07-28 says.
fn header_value(text: &str) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text;
    match is_plain {
        true => HeaderValue::from_str(text),
        false => {
            let encoded = data_encoding::BASE64.encode(text.as_bytes());
            HeaderValue::from_str(&format!("=?base64?{encoded}?="))
        }
    }
}
