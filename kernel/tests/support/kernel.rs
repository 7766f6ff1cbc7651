//! A kernel at work: the real program, or one in this process whose clock the test holds.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use actum_kernel::{Clock, Kernel, KernelBuilder};
use jiff::{SignedDuration, Timestamp};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::client::Client;
use super::home::Home;

/// `actum serve`, killed at the end.
pub struct Program {
    child: Child,
    client: Client,
    pub home: Arc<Home>,
}

impl Program {
    pub fn start(home: Home) -> Self {
        let log = File::create(home.path().join("stderr.log")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_actum"))
            .arg("serve")
            .arg("--config")
            .arg(home.config_file())
            // Everything that can be logged is, so that a test can look for what must not be.
            .env("RUST_LOG", "trace")
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let Some(url) = line.trim().strip_prefix("Actum listens on ") else {
            let _ = child.kill();
            let log = std::fs::read_to_string(home.path().join("stderr.log")).unwrap();
            panic!("{line:?}\n{log}");
        };
        let client = Client::new(url.to_owned(), &home.data());
        let home = Arc::new(home);
        Self {
            child,
            client,
            home,
        }
    }

    /// Sends SIGTERM, and does not wait.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal, and does not wait.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Waits for the end.
    pub fn ended(mut self) -> (ExitStatus, Arc<Home>) {
        (self.child.wait().unwrap(), Arc::clone(&self.home))
    }

    /// What it logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("stderr.log")).unwrap()
    }

    /// Runs another command of the program against this kernel; standard output, and whether it
    /// succeeded.
    pub fn command(&self, arguments: &[&str]) -> (bool, String) {
        // The commands find the kernel by its configuration, which here names no port.
        let address = self.client.url.strip_prefix("http://").unwrap();
        let text = std::fs::read_to_string(self.home.config_file()).unwrap();
        let with_port = text.replace("127.0.0.1:0", address);
        self.home.write("client.yaml", &with_port);
        let output = Command::new(env!("CARGO_BIN_EXE_actum"))
            .args(arguments)
            .arg("--config")
            .arg(self.home.path().join("client.yaml"))
            .env("NO_PROXY", "127.0.0.1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), said)
    }
}

impl Deref for Program {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A kernel in this process, whose time the test moves.
pub struct Here {
    client: Client,
    pub home: Home,
    seconds: Arc<AtomicI64>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// What the clock says first.
fn beginning() -> Timestamp {
    "2026-09-22T08:00:00Z".parse().unwrap()
}

impl Here {
    pub async fn start(home: Home) -> Self {
        Self::start_with(home, |builder| builder).await
    }

    pub async fn start_with(
        home: Home,
        prepare: impl FnOnce(KernelBuilder) -> KernelBuilder,
    ) -> Self {
        let seconds = Arc::new(AtomicI64::new(0));
        let passed = Arc::clone(&seconds);
        let clock = Clock::of(move || {
            beginning() + SignedDuration::from_secs(passed.load(Ordering::SeqCst))
        });
        let builder = prepare(Kernel::builder(home.config()).clock(clock));
        let kernel = builder
            .build()
            .await
            .unwrap_or_else(|faults| panic!("{faults}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(kernel.serve(listener, async {
            let _ = stopped.await;
        }));
        Self {
            client: Client::new(url, &home.data()),
            home,
            seconds,
            stop: Some(stop),
            serving,
        }
    }

    /// Lets time pass.
    pub fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Asks it to stop, and does not wait.
    pub fn ask_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits until it has stopped.
    pub async fn stopped(mut self) -> Home {
        if self.stop.is_some() {
            self.ask_to_stop();
        }
        (&mut self.serving).await.unwrap();
        self.home
    }
}

impl Deref for Here {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
