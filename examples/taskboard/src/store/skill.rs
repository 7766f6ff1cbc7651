//! Skills: what the library offers, and what the company has of it.

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::{BoardError, MOST, Work};

/// A skill that the company has.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Which version.
    pub version: i64,
    /// What it is for.
    pub summary: String,
    /// When it was brought in.
    pub synced_at: String,
}

/// The company's skills, by their names.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn list(work: &mut Work) -> Result<Vec<Skill>, BoardError> {
    let skills = sqlx::query_as(
        "SELECT name, version, summary, synced_at FROM company_skills ORDER BY name LIMIT ?",
    )
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(skills)
}

/// Brings the company's skills up to the library: new and newer ones come in, those that the library
/// dropped go. Gives those that came in.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn sync(work: &mut Work) -> Result<Vec<Skill>, BoardError> {
    sqlx::query("DELETE FROM company_skills WHERE name NOT IN (SELECT name FROM skill_library)")
        .execute(&mut *work.tx)
        .await?;
    let skills = sqlx::query_as(
        "INSERT INTO company_skills (name, version, summary, synced_at)
         SELECT name, version, summary, ? FROM skill_library WHERE true
         ON CONFLICT (name) DO UPDATE SET version = excluded.version,
             summary = excluded.summary, synced_at = excluded.synced_at
             WHERE excluded.version <> version
         RETURNING name, version, summary, synced_at",
    )
    .bind(work.at())
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(skills)
}
