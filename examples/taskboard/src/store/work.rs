//! One transaction, in one actor's name.

use actum::{ActionId, Call};
use jiff::Timestamp;
use serde::Serialize;
use sqlx::{Sqlite, Transaction};
use ulid::Ulid;

use super::{BoardError, operation};

/// Who the control plane is in histories.
const CONTROL_PLANE: &str = "control plane";

/// One transaction, in one actor's name. Dropped without [`done`](Self::done) it leaves no trace.
#[derive(Debug)]
pub struct Work {
    pub(super) tx: Transaction<'static, Sqlite>,
    pub(super) actor: String,
    task: Option<String>,
    at: Timestamp,
    operation: Option<(Ulid, ActionId)>,
}

impl Work {
    pub(super) async fn of(
        mut tx: Transaction<'static, Sqlite>,
        call: &Call,
    ) -> Result<Self, BoardError> {
        let actor: Option<String> = sqlx::query_scalar("SELECT id FROM actors WHERE principal = ?")
            .bind(&call.principal)
            .fetch_optional(&mut *tx)
            .await?;
        let actor = actor.ok_or_else(|| BoardError::NobodyHere(call.principal.clone()))?;
        let task =
            sqlx::query_scalar("SELECT id FROM tasks WHERE assignee = ? AND status = 'active'")
                .bind(&actor)
                .fetch_optional(&mut *tx)
                .await?;
        Ok(Self {
            tx,
            actor,
            task,
            at: call.at,
            operation: Some((call.request_id, call.action.clone())),
        })
    }

    pub(super) fn of_control_plane(tx: Transaction<'static, Sqlite>, at: Timestamp) -> Self {
        Self {
            tx,
            actor: CONTROL_PLANE.to_owned(),
            task: None,
            at,
            operation: None,
        }
    }

    /// Ends a change: what it answers is kept for later inspection, and all of it is durable.
    ///
    /// # Errors
    /// [`BoardError`] when it cannot be kept; then nothing changed.
    pub async fn done<T: Serialize>(mut self, result: T) -> Result<T, BoardError> {
        if let Some((id, name)) = self.operation.take() {
            let result = serde_json::to_string(&result)?;
            operation::keep(&mut self, id, &name, &result).await?;
        }
        self.tx.commit().await?;
        Ok(result)
    }

    /// The id of the actor's one active task.
    ///
    /// # Errors
    /// [`BoardError::NoActiveTask`].
    pub fn task(&self) -> Result<String, BoardError> {
        self.task
            .clone()
            .ok_or_else(|| BoardError::NoActiveTask(self.actor.clone()))
    }

    /// The time of all that is written, RFC 3339 UTC.
    pub(super) fn at(&self) -> String {
        self.at.to_string()
    }
}

/// An id for something new.
pub(super) fn new_id() -> String {
    Ulid::generate().to_string()
}
