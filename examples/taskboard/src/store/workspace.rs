//! The services that run in the workspace, as the board knows of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Type};

use super::{BoardError, MOST, Work};

/// A service.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it runs.
    pub state: State,
    /// Where it answers, while it runs.
    pub url: Option<String>,
}

/// Whether a service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum State {
    /// It does not.
    Stopped,
    /// It does.
    Running,
    /// It ended by itself.
    Failed,
}

/// What can be said to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// It runs from now on.
    Start,
    /// It stops.
    Stop,
    /// It is to be marked as failed.
    Fail,
}

/// The services.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn services(work: &mut Work) -> Result<Vec<Service>, BoardError> {
    let services = sqlx::query_as("SELECT id, name, state, url FROM services ORDER BY id LIMIT ?")
        .bind(MOST)
        .fetch_all(&mut *work.tx)
        .await?;
    Ok(services)
}

/// Starts, stops or fails a service; `url` is where a started one answers, if anywhere.
///
/// # Errors
/// [`BoardError::Missing`] when there is no such service.
pub async fn control(
    work: &mut Work,
    id: &str,
    control: Control,
    url: &str,
) -> Result<Service, BoardError> {
    let (state, url) = match control {
        Control::Start => (State::Running, Some(url).filter(|url| !url.is_empty())),
        Control::Stop => (State::Stopped, None),
        Control::Fail => (State::Failed, None),
    };
    let service = sqlx::query_as(
        "UPDATE services SET state = ?, url = ? WHERE id = ? RETURNING id, name, state, url",
    )
    .bind(state)
    .bind(url)
    .bind(id)
    .fetch_optional(&mut *work.tx)
    .await?;
    service.ok_or_else(|| BoardError::missing("service", id))
}
