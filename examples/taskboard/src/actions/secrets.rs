//! The company's secrets.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::secret::{self, Metadata, SecretValue};

/// Lists the secrets, without values.
#[action(
    id = "list_secret_metadata",
    description = "List the company's secrets by name and purpose, without their values.",
    class = optional,
    requires("secrets:metadata:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_secret_metadata(
    board: &TaskBoard,
    call: &Call,
) -> Result<Vec<Metadata>, BoardError> {
    secret::list(&mut board.look(call).await?).await
}

/// Which secret.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadSecretValue {
    /// The secret's name.
    pub name: String,
}

/// Reads a secret's value. The board keeps no result of it.
#[action(
    id = "read_secret_value",
    description = "Read the value of a secret.",
    class = optional,
    requires("secrets:values:read"),
    modes("standard", "skill_test"),
    reads_secrets,
    redact("$.value" = "[SECRET_VALUE]")
)]
pub async fn read_secret_value(
    board: &TaskBoard,
    call: &Call,
    ask: ReadSecretValue,
) -> Result<SecretValue, BoardError> {
    secret::read(&mut board.look(call).await?, &ask.name).await
}
