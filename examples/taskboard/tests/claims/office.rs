//! The sample in a folder of its own, to change and to serve, and a client of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use actum_kernel::Kernel;
use actum_kernel::config::Config;
use actum_taskboard::{CompanyApi, TaskBoard};
use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The sample's files and what was made of them.
pub struct Office {
    folder: TempDir,
}

impl Office {
    /// The sample as it is, on a port that is free.
    pub fn sample() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
        copy(&sample, folder.path());
        let office = Self { folder };
        office.edit("actum.yaml", "127.0.0.1:7373", "127.0.0.1:0");
        office.edit("actum.yaml", "../../../actum-data/taskboard", "data");
        office
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Changes one text of a file, which must be there.
    #[track_caller]
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {file}:\n{text}");
        std::fs::write(self.path(file), text.replace(from, to)).unwrap();
    }

    /// Gives an actor of the sample these roles and claims, in place of what it has.
    pub fn actor(&self, id: &str, roles: &[&str], claims: &[&str]) {
        let file = format!("manifests/actors/{id}.yaml");
        let text = std::fs::read_to_string(self.path(&file)).unwrap();
        let principal = text.lines().find(|line| line.starts_with("principal_id:"));
        self.write_actor(id, principal.unwrap(), roles, claims);
    }

    /// Somebody whom the sample does not know, as an actor with these roles and claims.
    pub fn hire(&self, number: usize, roles: &[&str], claims: &[&str]) -> String {
        let handle = format!("actor_{number}");
        let principal = self.introduce(&handle, number);
        self.write_actor(
            &handle,
            &format!("principal_id: {principal}"),
            roles,
            claims,
        );
        handle
    }

    /// Somebody whom the sample does not know, and who is no actor.
    pub fn introduce(&self, handle: &str, number: usize) -> String {
        let principal = format!("01J0000000000000000000{number:04}");
        let text = std::fs::read_to_string(self.path("actum.yaml")).unwrap();
        let entry = json!({
            "identity_id": principal, "principal_id": principal, "relationship": "colleague",
            "identifiers": [{"kind": "handle", "value": handle, "verified_by": ["webchat"]}],
        });
        std::fs::write(
            self.path("actum.yaml"),
            format!("{}\n  - {entry}\n", text.trim_end()),
        )
        .unwrap();
        principal
    }

    fn write_actor(&self, id: &str, principal: &str, roles: &[&str], claims: &[&str]) {
        let manifest = format!(
            "id: {id}\nschema_version: 1\nlifecycle_state: active\n{principal}\nroles: {}\nclaims: {}\n",
            json!(roles),
            json!(claims)
        );
        let file = self.path(&format!("manifests/actors/{id}.yaml"));
        std::fs::write(file, manifest).unwrap();
    }

    /// What keeps a kernel from starting.
    pub async fn refused(&self) -> String {
        let config = match Config::load(&self.path("actum.yaml")) {
            Ok(config) => config,
            Err(faults) => return faults.to_string(),
        };
        match Kernel::builder(config).build().await {
            Ok(_) => panic!("it starts"),
            Err(faults) => faults.to_string(),
        }
    }

    pub async fn serve(self) -> Served {
        self.serve_with(CompanyApi::none()).await
    }

    pub async fn serve_with(self, api: CompanyApi) -> Served {
        let config = Config::load(&self.path("actum.yaml")).unwrap_or_else(|f| panic!("{f}"));
        let board = TaskBoard::at(self.path("board.db")).with_sample();
        let kernel = Kernel::builder(config)
            .resource(board)
            .resource(api)
            .build()
            .await
            .unwrap_or_else(|faults| panic!("{faults}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(kernel.serve(listener, async {
            let _ = stopped.await;
        }));
        let key = self.path("data/keys/connector-office_chat.key");
        Served {
            http: actum_kernel::http::client().no_proxy().build().unwrap(),
            key: std::fs::read_to_string(key).unwrap().trim().to_owned(),
            url,
            office: self,
            stop,
            serving,
        }
    }

    /// The bodies of the ledger's records of one kind, in order.
    pub async fn records(&self, kind: &str) -> Vec<Value> {
        let file = SqliteConnectOptions::new()
            .filename(self.path("data/actum.db"))
            .read_only(true);
        let mut ledger = SqliteConnection::connect_with(&file).await.unwrap();
        let bodies: Vec<String> =
            sqlx::query_scalar("SELECT body FROM audit WHERE kind = ? ORDER BY seq")
                .bind(kind)
                .fetch_all(&mut ledger)
                .await
                .unwrap();
        let read = |body: &String| serde_json::from_str(body).unwrap();
        bodies.iter().map(read).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &copied),
            false => drop(std::fs::copy(&path, copied).unwrap()),
        }
    }
}

/// The office at work.
pub struct Served {
    http: reqwest::Client,
    key: String,
    url: String,
    office: Office,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Served {
    /// The token of a task that begins as somebody sends an event of this type.
    pub async fn begin(&self, handle: &str, event_type: &str) -> String {
        let event = json!({
            "event_type": event_type, "channel_account": "office",
            "actor_hint": {"handle": handle},
        });
        let answer = self.post("/v1/events", &self.key, &event).await;
        let token = answer.json()["task_token"].as_str().map(str::to_owned);
        token.unwrap_or_else(|| panic!("{answer:?}"))
    }

    /// Asserts that the kernel's store has no such text, while it has the call that got it.
    pub async fn keeps_no(&self, text: &str) {
        assert!(!self.office.records("call_succeeded").await.is_empty());
        for file in ["actum.db", "actum.db-wal"] {
            let bytes = std::fs::read(self.office.path("data").join(file)).unwrap();
            let found = bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes());
            assert!(!found, "{file} has {text:?}");
        }
    }

    pub async fn task(&self, token: &str) -> Answer {
        let request = self.http.get(format!("{}/v1/task", self.url));
        Answer::of(request.bearer_auth(token)).await
    }

    /// The tools of a task, by name.
    pub async fn tools(&self, token: &str) -> BTreeMap<String, Value> {
        let answer = self.task(token).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let task = answer.json();
        let tools = task["catalog"]["tools"].as_array().unwrap();
        let named = |tool: &Value| (tool["name"].as_str().unwrap().to_owned(), tool.clone());
        tools.iter().map(named).collect()
    }

    pub async fn names(&self, token: &str) -> BTreeSet<String> {
        self.tools(token).await.into_keys().collect()
    }

    pub async fn ask(&self, token: &str, action: &str, arguments: Value) -> Answer {
        // Of each call there is one, so that each has a key of its own.
        let key = ulid::Ulid::generate();
        let call = json!({"action": action, "arguments": arguments, "idempotency_key": key});
        self.post("/v1/actions", token, &call).await
    }

    /// Edits a file while the kernel runs, and has the manifests loaded anew.
    pub async fn edit(&self, file: &str, from: &str, to: &str) {
        self.office.edit(file, from, to);
        let key = std::fs::read_to_string(self.office.path("data/keys/owner.key")).unwrap();
        let answer = self
            .post("/v1/owner/manifests/reload", key.trim(), &json!({}))
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    async fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        let request = self.http.post(format!("{}{path}", self.url));
        Answer::of(request.bearer_auth(token).body(body.to_string())).await
    }

    /// Stops; what it leaves can be changed and served again.
    pub async fn stop(self) -> Office {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap();
        self.office
    }
}

/// An answer as it came, but for its date.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let headers = response.headers().iter();
        let headers = headers
            .filter(|(name, _)| *name != "date")
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        Self {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: response.text().await.unwrap(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What came of a call that ran.
    #[track_caller]
    pub fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()["result"].clone()
    }

    /// Asserts that it refuses in this way.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str, reason: &str) {
        let error = &self.json()["error"];
        let told = (
            self.status,
            error["code"].as_str(),
            error["reason"].as_str(),
        );
        assert_eq!(told, (status, Some(code), Some(reason)), "{self:?}");
    }

    /// The answer with the id that was asked for replaced by another one of the same length.
    #[track_caller]
    pub fn with_operation(self, asked: &str, other: &str) -> Self {
        assert_eq!(asked.len(), other.len());
        let echo = |id: &str| format!("\"operation_id\":\"{id}\"");
        assert_eq!(self.body.matches(&echo(asked)).count(), 1, "{self:?}");
        Self {
            body: self.body.replace(&echo(asked), &echo(other)),
            ..self
        }
    }
}
