//! Artifacts in the database.

use std::sync::atomic::Ordering;

use actum::authority::ManifestKind;
use sqlx::sqlite::{SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::writer::Write;
use crate::ledger::Entry;
use crate::store::StoreError;
use crate::store::artifacts::{
    ActiveArtifacts, ArtifactRow, MOST, NewArtifact, Revocation, StoredArtifact, plain, sql,
};
use crate::store::rows::all;

/// The active ones, and how often they changed. Read one after the other: a change in between is one more that is
/// then looked at again.
pub(super) async fn active(reader: &mut SqliteConnection) -> Result<ActiveArtifacts, StoreError> {
    let changes = changes(reader).await?;
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::ACTIVE).fetch_all(reader).await?;
    Ok(ActiveArtifacts {
        changes,
        artifacts: plain(rows)?,
    })
}

pub(super) async fn changes(reader: &mut SqliteConnection) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(sql::CHANGES).fetch_one(reader).await?)
}

pub(super) async fn listed(readers: &SqlitePool) -> Result<Vec<StoredArtifact>, StoreError> {
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::ALL)
        .bind(MOST)
        .fetch_all(readers)
        .await?;
    all(rows)
}

pub(super) async fn of_id(
    readers: &SqlitePool,
    kind: ManifestKind,
    id: &str,
) -> Result<Vec<StoredArtifact>, StoreError> {
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::OF_ID)
        .bind(kind.folder())
        .bind(id)
        .bind(MOST)
        .fetch_all(readers)
        .await?;
    all(rows)
}

impl SqliteStore {
    pub(super) async fn activate(
        &self,
        new: NewArtifact,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let artifact = &new.artifact;
        let mut write = self.writer.begin().await?;
        if !count(&mut write, new.after).await? {
            return Ok(false);
        }
        sqlx::query(sql::SUPERSEDE)
            .bind(artifact.kind.folder())
            .bind(&artifact.id)
            .execute(&mut *write.tx)
            .await?;
        sqlx::query(sql::INSERT)
            .bind(artifact.kind.folder())
            .bind(&artifact.id)
            .bind(i64::from(artifact.version))
            .bind(&artifact.text)
            .bind(actum::Digest::of_bytes(artifact.text.as_bytes()).to_string())
            .bind(new.call.to_string())
            .bind(new.task.to_string())
            .bind(&new.reason)
            .bind(entry.at.to_string())
            .execute(&mut *write.tx)
            .await?;
        write.append(entry).await?;
        write.commit().await?;
        self.counted(new.after);
        Ok(true)
    }

    pub(super) async fn take_back(
        &self,
        gone: Revocation,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        if !count(&mut write, gone.after).await? {
            return Ok(false);
        }
        let done = sqlx::query(sql::REVOKE)
            .bind(gone.kind.folder())
            .bind(&gone.id)
            .bind(i64::from(gone.version))
            .bind(gone.call.to_string())
            .execute(&mut *write.tx)
            .await?;
        if done.rows_affected() != 1 {
            return Ok(false);
        }
        sqlx::query(sql::BRING_BACK)
            .bind(gone.kind.folder())
            .bind(&gone.id)
            .execute(&mut *write.tx)
            .await?;
        write.append(entry).await?;
        write.commit().await?;
        self.counted(gone.after);
        Ok(true)
    }

    pub(super) async fn nominate(
        &self,
        (kind, id, version): (ManifestKind, &str, u32),
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        let done = sqlx::query(sql::NOMINATE)
            .bind(kind.folder())
            .bind(id)
            .bind(i64::from(version))
            .bind(reason)
            .execute(&mut *write.tx)
            .await?;
        if done.rows_affected() != 1 {
            return Ok(false);
        }
        write.append(entry).await?;
        write.commit().await?;
        Ok(true)
    }

    fn counted(&self, after: i64) {
        let changes = after.saturating_add(1);
        self.artifact_changes.fetch_max(changes, Ordering::SeqCst);
    }
}

async fn count(write: &mut Write, after: i64) -> Result<bool, StoreError> {
    let done = sqlx::query(sql::COUNT)
        .bind(after)
        .execute(&mut *write.tx)
        .await?;
    Ok(done.rows_affected() == 1)
}
