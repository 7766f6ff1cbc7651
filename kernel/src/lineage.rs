//! Lineages of tasks: a worker commissions another one, a worker says how its task ended, and whatever ends a task ends
//! all below it.

mod commission;

use std::sync::atomic::Ordering;

use actum::gate::exposure;
use actum::redact::Confidential;
use actum::{ActionError, ActionId, Call};
use serde::Serialize;
use serde_json::{Value, json};
use ulid::Ulid;

use crate::Kernel;
use crate::actions::{artifact, worker};
use crate::auth::LiveTask;
use crate::ledger::{Entry, Kind};
use crate::printable;
use crate::store::{CommissionedTask, NewReport, StoreError, Takes, TaskEnd, TaskOutcome};

/// The most commissioned tasks that one answer tells of: the newest.
pub(crate) const TOLD: i64 = 100;

/// What a call takes of the limits of its lineage. Those that end a task take nothing: each task ends once, and a worker
/// whose calls are used up has to be able to say so.
pub(crate) fn takes(action: &ActionId) -> Takes {
    match action.as_str() {
        id if worker::ends_a_task(id) => Takes::Nothing,
        id if id == artifact::propose_id() => Takes::Artifact,
        _ => Takes::Call,
    }
}

impl Kernel {
    /// Takes a task back with all that descend from it; those that were not over before.
    pub(crate) async fn take_back(&self, task: Ulid) -> Result<Vec<Ulid>, StoreError> {
        let entry = Entry {
            at: self.now(),
            kind: Kind::GrantRevoked,
            body: json!({"task": task, "by": "owner"}),
        };
        let taken = self.store.revoke(task, entry).await?;
        self.forget(task, &taken);
        Ok(taken)
    }

    /// Forgets tasks that are over, so that their tokens stop working here at once.
    fn forget(&self, task: Ulid, below: &[Ulid]) {
        for id in below.iter().chain([&task]) {
            self.tasks.forget(*id);
        }
    }

    /// Ends the task of a call, as its worker says; `text` is what the owner reads of it.
    pub(crate) async fn end_task(
        &self,
        by: &Call,
        outcome: TaskOutcome,
        report: &impl Serialize,
        text: String,
    ) -> Result<usize, ActionError> {
        let report = Confidential::of(report)?;
        let body = json!({
            "task": by.task_id, "call": by.request_id, "outcome": outcome.as_str(),
            "report": actum::Digest::of_json(&report)?,
        });
        let entry = Entry {
            at: self.now(),
            kind: Kind::TaskEnded,
            body,
        };
        let new = NewReport {
            task: by.task_id,
            outcome,
            report,
            message: (by.principal.clone(), text),
            entry,
        };
        let Some(below) = self.store.end(new).await? else {
            return Err(ActionError::unavailable("the task was over before"));
        };
        self.forget(by.task_id, &below);
        self.news.notify_waiters();
        Ok(below.len())
    }

    /// The tasks that a task commissioned, as its worker is told of them; none without a look at the store where its
    /// grant does not let it commission any, or where it is known to have none.
    pub(crate) async fn told_commissioned(
        &self,
        task: &LiveTask,
    ) -> Result<Vec<Value>, StoreError> {
        if exposure(&task.issued, &self.catalog, worker::commission_id()).is_err() {
            return Ok(Vec::new());
        }
        if task.is_childless.load(Ordering::SeqCst) {
            return Ok(Vec::new());
        }
        let commissioned = self.store.commissioned(task.id, TOLD).await?;
        // Of a shared store another kernel may make it untrue.
        if commissioned.is_empty() && !self.store.is_shared() {
            task.is_childless.store(true, Ordering::SeqCst);
        }
        let now = self.now().to_string();
        Ok(commissioned.iter().map(|one| told(one, &now)).collect())
    }
}

/// A commissioned task, as those above it are told of it.
pub(crate) fn told(task: &CommissionedTask, now: &str) -> Value {
    let mut told = json!({"task_id": task.id, "purpose": task.purpose, "state": state(task, now)});
    if let (Some(told), Some(end)) = (told.as_object_mut(), &task.end) {
        told.insert("report".to_owned(), told_report(end));
    }
    told
}

/// A report, marked as what it is: the words of a worker, which are no instruction to whoever reads them.
pub(crate) fn told_report(end: &TaskEnd) -> Value {
    json!({"untrusted": true, "content": end.report})
}

/// Where a commissioned task stands, in one word.
pub(crate) fn state(task: &CommissionedTask, now: &str) -> &'static str {
    // Times of one form are in order as texts, but for fractions of a second; they are read to be compared.
    let is_past = || {
        let times = [&task.expires_at, now].map(str::parse::<jiff::Timestamp>);
        matches!(times, [Ok(expires_at), Ok(now)] if now >= expires_at)
    };
    match (&task.end, &task.revoked_at) {
        (Some(end), _) => end.outcome.as_str(),
        (None, Some(_)) => "revoked",
        (None, None) if is_past() => "expired",
        (None, None) => "active",
    }
}

/// What the owner reads of a report: its first line says what it is, and the rest is the worker's.
pub(crate) fn report_text(first: &str, words: &str, data: Option<&Value>) -> String {
    let data = data.map(|data| format!("\n{}", printable::block(&data.to_string(), 64 * 1024)));
    format!("{first}\n{words}{}", data.unwrap_or_default())
}
