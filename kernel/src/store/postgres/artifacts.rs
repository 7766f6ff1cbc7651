//! Artifacts in the database that kernels share.

use actum::authority::ManifestKind;
use async_trait::async_trait;
use sqlx::postgres::{PgConnection, PgPool};

use super::change::{Applied, Change, Write};
use crate::ledger::Entry;
use crate::store::StoreError;
use crate::store::artifacts::{
    ActiveArtifacts, ArtifactRow, MOST, NewArtifact, Revocation, StoredArtifact, plain, sql,
};
use crate::store::rows::all;

use Applied::{Changed, Unchanged};

/// The active ones, and how often they changed. Read one after the other: a change in between is one more that is
/// then looked at again.
pub(super) async fn active(reader: &mut PgConnection) -> Result<ActiveArtifacts, StoreError> {
    let changes = sqlx::query_scalar(sql::CHANGES)
        .fetch_one(&mut *reader)
        .await?;
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::ACTIVE).fetch_all(reader).await?;
    Ok(ActiveArtifacts {
        changes,
        artifacts: plain(rows)?,
    })
}

pub(super) async fn changes(pool: &PgPool) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(sql::CHANGES).fetch_one(pool).await?)
}

pub(super) async fn listed(pool: &PgPool) -> Result<Vec<StoredArtifact>, StoreError> {
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::ALL).bind(MOST).fetch_all(pool).await?;
    all(rows)
}

pub(super) async fn of_id(
    pool: &PgPool,
    kind: ManifestKind,
    id: &str,
) -> Result<Vec<StoredArtifact>, StoreError> {
    let rows: Vec<ArtifactRow> = sqlx::query_as(sql::OF_ID)
        .bind(kind.folder())
        .bind(id)
        .bind(MOST)
        .fetch_all(pool)
        .await?;
    all(rows)
}

async fn count(write: &mut Write, after: i64) -> Result<bool, StoreError> {
    let done = sqlx::query(sql::COUNT)
        .bind(after)
        .execute(&mut *write.tx)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Stores a version as the active one.
pub(super) struct Activate {
    pub(super) new: NewArtifact,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Activate {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let (new, artifact) = (&self.new, &self.new.artifact);
        if !count(write, new.after).await? {
            return Ok(Unchanged(false));
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
            .bind(self.entry.at.to_string())
            .execute(&mut *write.tx)
            .await?;
        write.append(&self.entry).await?;
        Ok(Changed(true))
    }
}

/// Takes the active version back.
pub(super) struct TakeBack {
    pub(super) gone: Revocation,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for TakeBack {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let gone = &self.gone;
        if !count(write, gone.after).await? {
            return Ok(Unchanged(false));
        }
        let done = sqlx::query(sql::REVOKE)
            .bind(gone.kind.folder())
            .bind(&gone.id)
            .bind(i64::from(gone.version))
            .bind(gone.call.to_string())
            .execute(&mut *write.tx)
            .await?;
        if done.rows_affected() != 1 {
            return Ok(Unchanged(false));
        }
        sqlx::query(sql::BRING_BACK)
            .bind(gone.kind.folder())
            .bind(&gone.id)
            .execute(&mut *write.tx)
            .await?;
        write.append(&self.entry).await?;
        Ok(Changed(true))
    }
}

/// Notes that the operator shall take the active version over.
pub(super) struct Nominate<'a> {
    pub(super) kind: ManifestKind,
    pub(super) id: &'a str,
    pub(super) version: u32,
    pub(super) reason: &'a str,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Nominate<'_> {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let done = sqlx::query(sql::NOMINATE)
            .bind(self.kind.folder())
            .bind(self.id)
            .bind(i64::from(self.version))
            .bind(self.reason)
            .execute(&mut *write.tx)
            .await?;
        if done.rows_affected() != 1 {
            return Ok(Unchanged(false));
        }
        write.append(&self.entry).await?;
        Ok(Changed(true))
    }
}
