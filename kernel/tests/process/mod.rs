//! The real `actum` binary, run in a folder of its own.

#![allow(dead_code)] // each test file uses its own part of it

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// The longest that anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with the sample in it, which listens on a port of the system's choice.
pub struct Home(TempDir);

/// A command that ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A command that runs, until it is dropped.
pub struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// A kernel that serves, until it is dropped.
pub struct Serving {
    child: Mutex<Child>,
    pub url: String,
    pub client: reqwest::Client,
}

impl Home {
    pub fn sample() -> Self {
        let folder = tempfile::tempdir().unwrap();
        actum_kernel::sample::write_once(folder.path()).unwrap();
        let home = Self(folder);
        home.edit("actum.yaml", "127.0.0.1:7373", "127.0.0.1:0");
        home
    }

    /// A folder with nothing in it.
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces a text that must be in a file.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from:?}");
        self.write(name, &text.replace(from, to));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_actum"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `actum` to its end.
    pub async fn actum(&self, arguments: &[&str]) -> Ended {
        let output = tokio::time::timeout(PATIENCE, self.command(arguments).output())
            .await
            .unwrap_or_else(|_| panic!("actum {arguments:?} does not end"))
            .unwrap();
        Ended {
            code: output.status.code().expect("it ended by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts `actum` and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    /// Starts a kernel on `actum.yaml` and waits until it listens.
    pub async fn serve(&self) -> Serving {
        let log = self.path("serve.log");
        let mut child = self
            .command(&["serve", "--config", "actum.yaml"])
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line.expect("the kernel starts in time").unwrap();
        let url = line
            .as_deref()
            .and_then(|line| line.strip_prefix("Actum listens on "))
            .unwrap_or_else(|| panic!("{line:?}\n{}", self.read("serve.log")))
            .to_owned();
        let client = actum_kernel::http::client()
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Serving {
            child: Mutex::new(child),
            url,
            client,
        }
    }

    /// A configuration by which commands find a kernel that serves this folder.
    pub fn client_config(&self, serving: &Serving) -> String {
        let address = serving.url.strip_prefix("http://").unwrap();
        let text = self.read("actum.yaml").replace("127.0.0.1:0", address);
        self.write("client.yaml", &text);
        "client.yaml".to_owned()
    }

    pub fn key(&self, name: &str) -> String {
        self.read(&format!("data/keys/{name}.key"))
            .trim()
            .to_owned()
    }
}

impl Running {
    /// The next line that it prints; `None` at the end.
    pub async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("it prints in time").unwrap()
    }

    /// Waits for its end; its exit code and what it said on standard error.
    pub async fn ended(self) -> (Option<i32>, String) {
        let output = tokio::time::timeout(PATIENCE, self.child.wait_with_output()).await;
        let output = output.expect("it ends in time").unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

impl Serving {
    /// Hands a sample event in by a connector and gives the task's token.
    pub async fn task(&self, home: &Home, connector: &str, event: &str) -> String {
        let request = self
            .client
            .post(format!("{}/v1/events", self.url))
            .bearer_auth(home.key(&format!("connector-{connector}")))
            .body(home.read(&format!("events/{event}.json")));
        let (status, body) = answer(request).await.unwrap();
        assert_eq!(status, 201, "{body}");
        body["task_token"].as_str().unwrap().to_owned()
    }

    /// Posts a call; its status and body, unless the kernel is gone.
    pub async fn call(&self, token: &str, call: &Value) -> reqwest::Result<(u16, Value)> {
        let request = self.client.post(format!("{}/v1/actions", self.url));
        answer(request.bearer_auth(token).body(call.to_string())).await
    }

    pub async fn get(&self, token: &str, path: &str) -> (u16, Value) {
        let request = self.client.get(format!("{}{path}", self.url));
        answer(request.bearer_auth(token)).await.unwrap()
    }

    /// `kill -9`.
    pub fn signal_kill(&self) {
        self.child.lock().unwrap().start_kill().unwrap();
    }

    /// Waits until the process is gone; its exit code, if it ended by itself.
    pub async fn gone(self) -> Option<i32> {
        let mut child = self.child.into_inner().unwrap();
        let status = tokio::time::timeout(PATIENCE, child.wait()).await;
        status.expect("it ends").unwrap().code()
    }

    /// Asks the kernel to stop, and gives its exit code.
    pub async fn terminate(self) -> i32 {
        let id = self.child.lock().unwrap().id().expect("it runs");
        let sent = Command::new("kill")
            .args(["-TERM", &id.to_string()])
            .status();
        assert!(sent.await.unwrap().success());
        self.gone().await.expect("it ends by itself")
    }
}

async fn answer(request: reqwest::RequestBuilder) -> reqwest::Result<(u16, Value)> {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    Ok((status, body))
}

/// A folder of the reference data, which must be there.
pub fn reference(folder: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data")
        .join(folder);
    assert!(
        path.is_dir(),
        "{} is missing: the reference data belongs beside the project's folder",
        path.display()
    );
    path
}
