//! `actum serve` as a process that is killed, stopped, and started again behind one address that stays.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};

/// The longest that a start or a stop may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a kernel listens now, if it does.
pub type Address = Arc<Mutex<Option<SocketAddr>>>;

/// One kernel, running or not.
pub struct Program {
    config: std::path::PathBuf,
    log: std::path::PathBuf,
    address: Address,
    child: Option<Child>,
}

impl Program {
    pub fn new(config: &Path, name: &str) -> Self {
        Self {
            config: config.to_owned(),
            log: config.with_file_name(format!("{name}.log")),
            address: Address::default(),
            child: None,
        }
    }

    pub fn address(&self) -> Address {
        Arc::clone(&self.address)
    }

    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Starts it with its clock so many seconds fast; the log of what it said if it ends instead, as it does where its
    /// database is away.
    pub async fn start(&mut self, skew: i32) -> Result<(), String> {
        assert!(!self.is_up());
        // A file that may not grow is a signal by default; a program that is to see the error has to ignore it, and
        // what is ignored stays so in whatever is executed next.
        let mut child = Command::new("sh")
            .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_actum"))
            .args(["serve", "--config"])
            .arg(&self.config)
            .env("ACTUM_CLOCK_SKEW_SECONDS", skew.to_string())
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let log = tokio::spawn(keep(child.stderr.take().unwrap(), self.log.clone()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line());
        let line = line.await.expect("it starts, or ends, in time").unwrap();
        let Some(line) = line else {
            child.wait().await.unwrap();
            return Err(log.await.unwrap());
        };
        let address = line
            .strip_prefix("Actum listens on http://")
            .expect("it says where");
        *self.address.lock().unwrap() = Some(address.parse().unwrap());
        self.child = Some(child);
        Ok(())
    }

    /// `kill -9`, and waits until it is gone.
    pub async fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        *self.address.lock().unwrap() = None;
        child.kill().await.unwrap();
    }

    /// Asks it to stop, and waits until it did.
    pub async fn stop(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        *self.address.lock().unwrap() = None;
        let id = child.id()?.to_string();
        signalled(Command::new("kill").args(["-TERM", &id])).await;
        let ended = tokio::time::timeout(PATIENCE, child.wait());
        Some(ended.await.expect("it stops in time").unwrap())
    }

    /// How large a file may become that it writes to; `None` for as large as it likes. Whether the system can do that.
    pub async fn limit_files(&self, bytes: Option<u64>) -> bool {
        let Some(id) = self.child.as_ref().and_then(Child::id) else {
            return false;
        };
        let most = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
        // The soft limit alone, which can be raised again.
        let mut command = Command::new("prlimit");
        signalled(command.args(["--pid", &id.to_string(), &format!("--fsize={most}:")])).await
    }

    /// What it wrote since it was first started.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

async fn signalled(command: &mut Command) -> bool {
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.await.is_ok_and(|status| status.success())
}

/// Writes down what a kernel says, for it: its own files may not grow at times. All that it said, at its end.
async fn keep(mut from: ChildStderr, to: std::path::PathBuf) -> String {
    let mut log = File::options()
        .create(true)
        .append(true)
        .open(to)
        .await
        .unwrap();
    let (mut said, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        log.write_all(&bytes[..length]).await.unwrap();
        log.flush().await.unwrap();
        said.extend_from_slice(&bytes[..length]);
    }
    String::from_utf8_lossy(&said).into_owned()
}
