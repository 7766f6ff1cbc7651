//! Rows, as they are read.

use actum::Digest;
use jiff::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::ledger::Record;
use crate::store::StoreError;

pub(super) fn record(row: &PgRow) -> Result<Record, StoreError> {
    let body: String = row.try_get("body")?;
    Ok(Record {
        seq: row.try_get("seq")?,
        at: row.try_get("at")?,
        kind: row.try_get("kind")?,
        body: serde_json::from_str(&body).map_err(unreadable)?,
        prev: digest(row, "prev")?,
        digest: digest(row, "digest")?,
    })
}

pub(super) fn timestamp(row: &PgRow, column: &str) -> Result<Timestamp, StoreError> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|error: jiff::Error| unreadable(error))
}

pub(super) fn digest(row: &PgRow, column: &str) -> Result<Digest, StoreError> {
    let text: String = row.try_get(column)?;
    Digest::parse(&text).ok_or_else(|| unreadable(format!("no digest: {text:?}")))
}

pub(super) fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unreadable(error.to_string())
}
