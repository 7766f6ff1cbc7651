//! Secrets. Their values leave the board by [`read`] alone.

use actum::Secret;
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::{BoardError, MOST, Work};

/// What may be known of a secret.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// When it was last changed.
    pub updated_at: String,
}

/// A secret's value.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretValue {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: Secret<String>,
}

/// What there is, without any value.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn list(work: &mut Work) -> Result<Vec<Metadata>, BoardError> {
    let secrets =
        sqlx::query_as("SELECT name, purpose, updated_at FROM secrets ORDER BY name LIMIT ?")
            .bind(MOST)
            .fetch_all(&mut *work.tx)
            .await?;
    Ok(secrets)
}

/// A secret with its value.
///
/// # Errors
/// [`BoardError::Missing`].
pub async fn read(work: &mut Work, name: &str) -> Result<SecretValue, BoardError> {
    let found: Option<(String, String)> =
        sqlx::query_as("SELECT name, value FROM secrets WHERE name = ?")
            .bind(name)
            .fetch_optional(&mut *work.tx)
            .await?;
    let (name, value) = found.ok_or_else(|| BoardError::missing("secret", name))?;
    let value = Secret::new(value);
    Ok(SecretValue { name, value })
}

/// Keeps a secret, in place of one of the same name. For the control plane alone.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn keep(
    work: &mut Work,
    name: &str,
    purpose: &str,
    value: &str,
) -> Result<(), BoardError> {
    sqlx::query(
        "INSERT INTO secrets (name, purpose, value, updated_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET purpose = excluded.purpose, value = excluded.value,
             updated_at = excluded.updated_at",
    )
    .bind(name)
    .bind(purpose)
    .bind(value)
    .bind(work.at())
    .execute(&mut *work.tx)
    .await?;
    Ok(())
}
