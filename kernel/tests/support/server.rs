//! A PostgreSQL server of one test, which the test may stop. `.ci/postgres` makes it.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::database::server;

/// A server of one test, which the test may stop.
pub struct Server {
    pub url: String,
    folder: TempDir,
}

impl Server {
    /// One that runs, where tests have a PostgreSQL at all.
    pub fn start() -> Option<Self> {
        server()?;
        let folder = tempfile::tempdir().unwrap();
        let url = script("start", folder.path(), &[]);
        Some(Self { url, folder })
    }

    /// Stops it, `fast` or `immediate`ly, as a crash would.
    pub fn stop(&self, mode: &str) {
        script("stop", self.folder.path(), &[mode]);
    }

    /// Starts it again, where it was.
    pub fn start_again(&self) {
        assert_eq!(script("start", self.folder.path(), &[]), self.url);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = command("stop", self.folder.path(), &["immediate"]).output();
    }
}

fn command(what: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/postgres"));
    command.arg(what).arg(folder).args(more);
    command
}

fn script(what: &str, folder: &Path, more: &[&str]) -> String {
    let output = command(what, folder, more).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), ".ci/postgres {what}: {error}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
