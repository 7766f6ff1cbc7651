//! The recorded catalog, a board in a folder of its own, and calls.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::path::{Path, PathBuf};

use actum::{ActionId, Call};
use actum_taskboard::store::company::{self, Administration};
use actum_taskboard::store::task::{self, NewTask, Task};
use actum_taskboard::{TaskBoard, Work};
use serde_json::Value;
use tempfile::TempDir;
use ulid::Ulid;

/// The facts about the tool set, which must be there.
pub fn recorded() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/taskboard/catalog.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}: the reference data belongs beside the project's folder",
            path.display()
        )
    });
    serde_json::from_str(&text).unwrap()
}

/// The tools of the recorded catalog.
pub fn recorded_tools() -> Vec<Value> {
    recorded()["tools"].as_array().unwrap().clone()
}

/// A board with the actors ada, bert and carla.
pub struct Place {
    pub board: TaskBoard,
    folder: TempDir,
}

impl Place {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let board = TaskBoard::at(folder.path().join("data/board.db"));
        let place = Self { board, folder };
        let mut work = place.control_plane().await;
        for id in ["ada", "bert", "carla"] {
            let actor = Administration::AddActor {
                id: id.to_owned(),
                name: id.to_owned(),
                role: "engineer".to_owned(),
                principal: format!("known:{id}"),
            };
            company::administer(&mut work, actor).await.unwrap();
        }
        work.done(()).await.unwrap();
        place
    }

    /// The board as a process finds it that starts anew.
    pub async fn restart(self) -> Self {
        self.board.close().await;
        let board = TaskBoard::at(self.file());
        Self { board, ..self }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("data/board.db")
    }

    pub async fn control_plane(&self) -> Work {
        self.board.control_plane(now()).await.unwrap()
    }

    /// A new open task.
    pub async fn task(&self, title: &str, blocked_by: &[String]) -> Task {
        let mut work = self.control_plane().await;
        let new = NewTask {
            title,
            description: "",
            assignee: "",
            priority: "normal",
            blocked_by,
        };
        let task = task::create(&mut work, new).await.unwrap();
        work.done(task).await.unwrap()
    }

    /// A new task that the actor is at.
    pub async fn active_task(&self, actor: &str, title: &str, blocked_by: &[String]) -> Task {
        let task = self.task(title, blocked_by).await;
        self.check_out(&task, actor).await
    }

    pub async fn check_out(&self, task: &Task, actor: &str) -> Task {
        let mut work = self.control_plane().await;
        let task = task::check_out(&mut work, &task.id, actor).await.unwrap();
        work.done(task).await.unwrap()
    }
}

/// A call of an actor.
pub fn call(actor: &str) -> Call {
    Call {
        request_id: Ulid::generate(),
        task_id: Ulid::nil(),
        action: ActionId::parse("some_operation").unwrap(),
        principal: format!("known:{actor}"),
        reply_to: None,
        approved: false,
        at: now(),
        deadline: now(),
        revision: actum::Digest::of_bytes(b""),
    }
}

fn now() -> jiff::Timestamp {
    "2024-01-01T00:00:00Z".parse().unwrap()
}

/// Arguments as a model writes them.
pub fn ask<T: serde::de::DeserializeOwned>(arguments: Value) -> T {
    serde_json::from_value(arguments).unwrap()
}
