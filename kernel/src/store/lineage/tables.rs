//! What is asked and changed of lineages, by a connection to either database.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use ulid::Ulid;

use super::{
    BELOW, COMMISSIONED, COUNT, CommissionedRow, CommissionedTask, END, IS_LIVE, NewReport, SPEND,
    TAKE_BACK, Takes, WITHOUT_ROOM,
};
use crate::store::rows::{all, ulid};
use crate::store::{NewCall, NewTask, StoreError};

/// A connection, as one asks it about lineages.
#[async_trait]
pub(in crate::store) trait Tables: Send {
    /// Stores a task with its grant as JSON, its catalog, and its selection tokens.
    async fn insert_task(
        &mut self,
        task: &NewTask<'_>,
        grant: &str,
        parent: Option<Ulid>,
    ) -> Result<(), StoreError>;

    /// Whether a task is not over.
    async fn is_live(&mut self, task: Ulid) -> Result<bool, StoreError>;

    /// Counts a call for its lineage; whether every limit of it has room.
    async fn count(&mut self, call: &NewCall) -> Result<bool, StoreError>;

    /// Spends the selection token of a call, or takes it over from the call whose place it takes; whether it could be.
    async fn spend(
        &mut self,
        call: &NewCall,
        token: Ulid,
        instead_of: Option<Ulid>,
    ) -> Result<bool, StoreError>;

    /// Takes a task back with all below it; those that were.
    async fn take_back(&mut self, task: Ulid, at: Timestamp) -> Result<Vec<Ulid>, StoreError>;

    /// Ends a task by its worker's report, which is told; whether it was not over before.
    async fn end(&mut self, report: &NewReport) -> Result<bool, StoreError>;

    /// The newest tasks that a task commissioned, oldest first.
    async fn commissioned(
        &mut self,
        task: Ulid,
        limit: i64,
    ) -> Result<Vec<CommissionedTask>, StoreError>;
}

/// The same statements for a database of another kind.
macro_rules! tables_of {
    ($connection:ty) => {
        #[async_trait]
        impl Tables for $connection {
            async fn insert_task(
                &mut self,
                task: &NewTask<'_>,
                grant: &str,
                parent: Option<Ulid>,
            ) -> Result<(), StoreError> {
                for (into, (digest, body)) in [
                    (
                        "INSERT INTO catalogs (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                        task.catalog,
                    ),
                    (
                        "INSERT INTO exposures (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                        task.exposures,
                    ),
                ] {
                    sqlx::query(into)
                        .bind(digest.to_string())
                        .bind(body)
                        .execute(&mut *self)
                        .await?;
                }
                sqlx::query(
                    "INSERT INTO tasks (id, token_hash, grant_body, message, expires_at, parent_id,
                         max_calls, max_artifacts)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                )
                .bind(task.id.to_string())
                .bind(task.token_hash.as_slice())
                .bind(grant)
                .bind(task.message)
                .bind(task.expires_at.to_string())
                .bind(parent.map(|parent| parent.to_string()))
                .bind(i64::from(task.limits.max_model_calls))
                .bind(i64::from(task.limits.max_artifacts))
                .execute(&mut *self)
                .await?;
                for selection in task.selections {
                    sqlx::query(
                        "INSERT INTO selection_tokens (id, task_id, type, target, expires_at)
                         VALUES ($1, $2, $3, $4, $5)",
                    )
                    .bind(selection.id.to_string())
                    .bind(task.id.to_string())
                    .bind(&selection.token_type)
                    .bind(&selection.target)
                    .bind(selection.expires_at.to_string())
                    .execute(&mut *self)
                    .await?;
                }
                Ok(())
            }

            async fn is_live(&mut self, task: Ulid) -> Result<bool, StoreError> {
                let live = sqlx::query(IS_LIVE)
                    .bind(task.to_string())
                    .fetch_optional(self)
                    .await?;
                Ok(live.is_some())
            }

            async fn count(&mut self, call: &NewCall) -> Result<bool, StoreError> {
                if call.takes == Takes::Nothing {
                    return Ok(true);
                }
                let (calls, artifacts) = (call.takes.calls(), call.takes.artifacts());
                let task = call.task_id.to_string();
                let full = sqlx::query(WITHOUT_ROOM)
                    .bind(&task)
                    .bind(calls)
                    .bind(artifacts)
                    .fetch_optional(&mut *self)
                    .await?;
                if full.is_some() {
                    return Ok(false);
                }
                sqlx::query(COUNT)
                    .bind(&task)
                    .bind(calls)
                    .bind(artifacts)
                    .execute(self)
                    .await?;
                Ok(true)
            }

            async fn spend(
                &mut self,
                call: &NewCall,
                token: Ulid,
                instead_of: Option<Ulid>,
            ) -> Result<bool, StoreError> {
                let spent = sqlx::query(SPEND)
                    .bind(call.task_id.to_string())
                    .bind(token.to_string())
                    .bind(call.id.to_string())
                    .bind(instead_of.map(|old| old.to_string()))
                    .execute(self)
                    .await?;
                Ok(spent.rows_affected() == 1)
            }

            async fn take_back(
                &mut self,
                task: Ulid,
                at: Timestamp,
            ) -> Result<Vec<Ulid>, StoreError> {
                let live: Vec<String> = sqlx::query_scalar(BELOW)
                    .bind(task.to_string())
                    .fetch_all(&mut *self)
                    .await?;
                for name in &live {
                    sqlx::query(TAKE_BACK)
                        .bind(name)
                        .bind(at.to_string())
                        .execute(&mut *self)
                        .await?;
                }
                live.iter().map(|name| ulid(name)).collect()
            }

            async fn end(&mut self, report: &NewReport) -> Result<bool, StoreError> {
                let task = report.task.to_string();
                let at = report.entry.at.to_string();
                let ended = sqlx::query(END)
                    .bind(&task)
                    .bind(&at)
                    .bind(report.outcome.as_str())
                    .bind(report.json()?)
                    .execute(&mut *self)
                    .await?;
                if ended.rows_affected() != 1 {
                    return Ok(false);
                }
                let (sender, body) = &report.message;
                sqlx::query(
                    "INSERT INTO messages (at, task_id, sender, body) VALUES ($1, $2, $3, $4)",
                )
                .bind(&at)
                .bind(&task)
                .bind(sender)
                .bind(body)
                .execute(self)
                .await?;
                Ok(true)
            }

            async fn commissioned(
                &mut self,
                task: Ulid,
                limit: i64,
            ) -> Result<Vec<CommissionedTask>, StoreError> {
                let rows: Vec<CommissionedRow> = sqlx::query_as(COMMISSIONED)
                    .bind(task.to_string())
                    .bind(limit)
                    .fetch_all(self)
                    .await?;
                all(rows)
            }
        }
    };
}

tables_of!(SqliteConnection);
tables_of!(PgConnection);
