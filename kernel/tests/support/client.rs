//! A client of a kernel, for every role.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::answer::Answer;

/// A client that holds the keys of a kernel's `data` folder.
#[derive(Debug, Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub url: String,
    keys: PathBuf,
}

/// A task as its event's answer gave it.
#[derive(Debug, Clone)]
pub struct Task {
    pub id: String,
    pub token: String,
    pub selections: Vec<String>,
    pub answer: Value,
}

impl Client {
    pub fn new(url: String, data: &std::path::Path) -> Self {
        Self {
            http: actum_kernel::http::client().no_proxy().build().unwrap(),
            url,
            keys: data.join("keys"),
        }
    }

    pub fn key(&self, name: &str) -> String {
        let path = self.keys.join(format!("{name}.key"));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }

    pub fn connector_key(&self, connector: &str) -> String {
        self.key(&format!("connector-{connector}"))
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        Answer::of(request.send().await.unwrap()).await
    }

    /// A GET with a bearer token, if one is given.
    pub async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        let request = self.http.get(format!("{}{path}", self.url));
        self.send(bearer(request, token)).await
    }

    /// Writes bytes to a connection of their own and reads what comes until it is closed.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The answer may come, and the connection be closed, before all is written.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A POST of bytes as they are.
    pub async fn post(&self, path: &str, token: Option<&str>, body: impl Into<Vec<u8>>) -> Answer {
        let request = self.http.post(format!("{}{path}", self.url));
        self.send(bearer(request, token).body(body.into())).await
    }

    pub async fn post_event(&self, connector: &str, event: &Value) -> Answer {
        let key = self.connector_key(connector);
        self.post("/v1/events", Some(&key), event.to_string()).await
    }

    /// The task that an event leads to; a refused event fails the test.
    pub async fn begin(&self, connector: &str, event: &Value) -> Task {
        Task::of(&self.post_event(connector, event).await)
    }

    pub async fn task(&self, token: &str) -> Answer {
        self.get("/v1/task", Some(token)).await
    }

    pub async fn call(&self, token: &str, body: &Value) -> Answer {
        self.post("/v1/actions", Some(token), body.to_string())
            .await
    }

    /// A message to the MCP door, of no session. One with a version in its `_meta` is of the revision without sessions.
    pub async fn mcp(&self, token: &str, message: &Value) -> Answer {
        self.mcp_with(token, message, &[]).await
    }

    /// The same with more headers.
    pub async fn mcp_with(&self, token: &str, message: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut request = self
            .http
            .post(format!("{}/mcp", self.url))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let params = &message["params"];
        if let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
            request = request
                .header("mcp-protocol-version", version)
                .header("mcp-method", message["method"].as_str().unwrap());
            let mut named = ["name", "uri", "taskId"].into_iter();
            if let Some(name) = named.find_map(|name| params[name].as_str()) {
                let encoded = data_encoding::BASE64.encode(name.as_bytes());
                request = request.header("mcp-name", format!("=?base64?{encoded}?="));
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(message.to_string())).await
    }

    /// A call with arguments and nothing else.
    pub async fn ask(&self, token: &str, action: &str, arguments: Value) -> Answer {
        let body = json!({"action": action, "arguments": arguments});
        self.call(token, &body).await
    }

    pub async fn state(&self, token: &str, request_id: &str) -> Answer {
        self.get(&format!("/v1/actions/{request_id}"), Some(token))
            .await
    }

    pub async fn owner_get(&self, path: &str) -> Answer {
        let key = self.key("owner");
        self.get(path, Some(&key)).await
    }

    pub async fn owner_post(&self, path: &str, body: &Value) -> Answer {
        let key = self.key("owner");
        self.post(path, Some(&key), body.to_string()).await
    }

    /// The texts on the owner's terminal.
    pub async fn messages(&self) -> Vec<String> {
        let answer = self.owner_get("/v1/owner/messages").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["body"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The task for a thread that the owner selects by a word of its subject.
    pub async fn select(&self, subject: &str) -> Task {
        let thread = self.thread(subject).await;
        let answer = self
            .owner_post("/v1/owner/selections", &json!({"thread": thread}))
            .await;
        Task::of(&answer)
    }

    /// The id of the one thread whose subject has this in it.
    pub async fn thread(&self, subject: &str) -> String {
        let threads = self.owner_get("/v1/owner/threads").await.json();
        let ids: Vec<&str> = threads["threads"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|thread| thread["subject"].as_str().unwrap().contains(subject))
            .map(|thread| thread["id"].as_str().unwrap())
            .collect();
        let [id] = ids[..] else {
            panic!("{subject}: {threads}");
        };
        id.to_owned()
    }

    /// The names of the tools that a token shows.
    pub async fn tools(&self, token: &str) -> Vec<String> {
        let answer = self.task(token).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["catalog"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Task {
    pub fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 201, "{}", answer.text());
        let json = answer.json();
        Self {
            id: answer.at("/task_id"),
            token: answer.at("/task_token"),
            selections: json["selection_tokens"]
                .as_array()
                .unwrap()
                .iter()
                .map(|selection| selection["token"].as_str().unwrap().to_owned())
                .collect(),
            answer: json,
        }
    }
}

fn bearer(request: reqwest::RequestBuilder, token: Option<&str>) -> reqwest::RequestBuilder {
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}
