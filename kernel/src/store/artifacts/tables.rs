//! What is asked and changed of artifacts, by a connection to either database.

use actum::Digest;
use actum::authority::ManifestKind;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;

use super::{ActiveArtifacts, ArtifactRow, MOST, NewArtifact, Revocation, StoredArtifact, plain};
use crate::store::StoreError;
use crate::store::rows::all;

const CHANGES: &str = "SELECT changes FROM artifact_changes";
const ACTIVE: &str = "SELECT * FROM artifacts WHERE state = 'active' ORDER BY kind, id";
const LISTED: &str = "SELECT * FROM artifacts ORDER BY kind, id, version LIMIT $1";
const OF_ID: &str = "SELECT * FROM artifacts WHERE kind = $1 AND id = $2 ORDER BY version LIMIT $3";
const COUNT: &str = "UPDATE artifact_changes SET changes = changes + 1 WHERE changes = $1";
const SUPERSEDE: &str = "UPDATE artifacts SET state = 'superseded'
     WHERE kind = $1 AND id = $2 AND state = 'active'";
const INSERT: &str = "INSERT INTO artifacts
     (kind, id, version, text, digest, state, call_id, task_id, reason, created_at)
     VALUES ($1, $2, $3, $4, $5, 'active', $6, $7, $8, $9)";
const REVOKE: &str = "UPDATE artifacts SET state = 'revoked', revoked_by = $4
     WHERE kind = $1 AND id = $2 AND version = $3 AND state = 'active'";
const BRING_BACK: &str = "UPDATE artifacts SET state = 'active'
     WHERE kind = $1 AND id = $2 AND version = (
         SELECT max(version) FROM artifacts WHERE kind = $1 AND id = $2 AND state = 'superseded'
     )";
const NOMINATE: &str = "UPDATE artifacts SET nominated = $4
     WHERE kind = $1 AND id = $2 AND version = $3 AND state = 'active'";

/// A connection, as one asks it about artifacts.
#[async_trait]
pub(in crate::store) trait Tables: Send {
    /// The active ones, and how often they changed. Read one after the other: a change in between is one more that is
    /// then looked at again.
    async fn active_artifacts(&mut self) -> Result<ActiveArtifacts, StoreError>;

    /// How often the active ones changed.
    async fn artifact_changes(&mut self) -> Result<i64, StoreError>;

    /// Every version.
    async fn artifacts(&mut self) -> Result<Vec<StoredArtifact>, StoreError>;

    /// The versions of one, the first first.
    async fn versions_of(
        &mut self,
        kind: ManifestKind,
        id: &str,
    ) -> Result<Vec<StoredArtifact>, StoreError>;

    /// Stores a version as the active one; whether nobody changed the active ones since its maker looked.
    async fn activate(&mut self, new: &NewArtifact, at: Timestamp) -> Result<bool, StoreError>;

    /// Takes the active version back; whether it is, and nobody changed the active ones since its maker looked.
    async fn take_back_artifact(&mut self, gone: &Revocation) -> Result<bool, StoreError>;

    /// Notes that the operator shall take the active version over; whether it is active.
    async fn nominate(
        &mut self,
        which: (ManifestKind, &str, u32),
        reason: &str,
    ) -> Result<bool, StoreError>;
}

/// The same statements for a database of another kind.
macro_rules! tables_of {
    ($connection:ty) => {
        #[async_trait]
        impl Tables for $connection {
            async fn active_artifacts(&mut self) -> Result<ActiveArtifacts, StoreError> {
                let changes = self.artifact_changes().await?;
                let rows: Vec<ArtifactRow> = sqlx::query_as(ACTIVE).fetch_all(self).await?;
                let artifacts = plain(rows)?;
                Ok(ActiveArtifacts { changes, artifacts })
            }

            async fn artifact_changes(&mut self) -> Result<i64, StoreError> {
                Ok(sqlx::query_scalar(CHANGES).fetch_one(self).await?)
            }

            async fn artifacts(&mut self) -> Result<Vec<StoredArtifact>, StoreError> {
                let rows: Vec<ArtifactRow> =
                    sqlx::query_as(LISTED).bind(MOST).fetch_all(self).await?;
                all(rows)
            }

            async fn versions_of(
                &mut self,
                kind: ManifestKind,
                id: &str,
            ) -> Result<Vec<StoredArtifact>, StoreError> {
                let rows: Vec<ArtifactRow> = sqlx::query_as(OF_ID)
                    .bind(kind.folder())
                    .bind(id)
                    .bind(MOST)
                    .fetch_all(self)
                    .await?;
                all(rows)
            }

            async fn activate(
                &mut self,
                new: &NewArtifact,
                at: Timestamp,
            ) -> Result<bool, StoreError> {
                let artifact = &new.artifact;
                let counted = sqlx::query(COUNT)
                    .bind(new.after)
                    .execute(&mut *self)
                    .await?;
                if counted.rows_affected() != 1 {
                    return Ok(false);
                }
                sqlx::query(SUPERSEDE)
                    .bind(artifact.kind.folder())
                    .bind(&artifact.id)
                    .execute(&mut *self)
                    .await?;
                sqlx::query(INSERT)
                    .bind(artifact.kind.folder())
                    .bind(&artifact.id)
                    .bind(i64::from(artifact.version))
                    .bind(&artifact.text)
                    .bind(Digest::of_bytes(artifact.text.as_bytes()).to_string())
                    .bind(new.call.to_string())
                    .bind(new.task.to_string())
                    .bind(&new.reason)
                    .bind(at.to_string())
                    .execute(self)
                    .await?;
                Ok(true)
            }

            async fn take_back_artifact(&mut self, gone: &Revocation) -> Result<bool, StoreError> {
                let counted = sqlx::query(COUNT)
                    .bind(gone.after)
                    .execute(&mut *self)
                    .await?;
                if counted.rows_affected() != 1 {
                    return Ok(false);
                }
                let done = sqlx::query(REVOKE)
                    .bind(gone.kind.folder())
                    .bind(&gone.id)
                    .bind(i64::from(gone.version))
                    .bind(gone.call.to_string())
                    .execute(&mut *self)
                    .await?;
                if done.rows_affected() != 1 {
                    return Ok(false);
                }
                sqlx::query(BRING_BACK)
                    .bind(gone.kind.folder())
                    .bind(&gone.id)
                    .execute(self)
                    .await?;
                Ok(true)
            }

            async fn nominate(
                &mut self,
                (kind, id, version): (ManifestKind, &str, u32),
                reason: &str,
            ) -> Result<bool, StoreError> {
                let done = sqlx::query(NOMINATE)
                    .bind(kind.folder())
                    .bind(id)
                    .bind(i64::from(version))
                    .bind(reason)
                    .execute(self)
                    .await?;
                Ok(done.rows_affected() == 1)
            }
        }
    };
}

tables_of!(SqliteConnection);
tables_of!(PgConnection);
