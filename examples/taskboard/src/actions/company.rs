//! The company as a whole, and the way around everything else.

use std::collections::BTreeMap;

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::TaskBoard;
use crate::store::company::{self, Administered, Administration, Export};
use crate::store::{BoardError, Payload};

/// Exports the company.
#[action(
    id = "export_company",
    description = "Export what the board knows of the company, without secrets and the texts of documents."
)]
pub async fn export_company(board: &TaskBoard, call: &Call) -> Result<Export, BoardError> {
    let mut work = board.begin(call).await?;
    let export = company::export(&mut work).await?;
    work.done(export).await
}

/// What to do.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AdministerCompany {
    /// rename_company (name), add_actor (id, name, role, principal), add_project (name) or add_goal (title).
    pub action: String,
    /// The details, as named in brackets.
    #[serde(default)]
    pub payload: Payload,
}

/// Does what an administrator asks for.
#[action(
    id = "administer_company",
    description = "Rename the company, or add an actor, a project or a goal."
)]
pub async fn administer_company(
    board: &TaskBoard,
    call: &Call,
    ask: AdministerCompany,
) -> Result<Administered, BoardError> {
    let mut work = board.begin(call).await?;
    let administration = Administration::read(&ask.action, &ask.payload)?;
    let administered = company::administer(&mut work, administration).await?;
    work.done(administered).await
}

/// A request to the company's API.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GenericApiRequest {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default)]
    pub body: Payload,
}

/// Always unavailable, for now: which methods and paths it may reach is a policy, which comes with a
/// later change. Without one it reaches none.
#[action(
    id = "generic_api_request",
    description = "Send a request to the company's API, in tests."
)]
pub async fn generic_api_request(ask: GenericApiRequest) -> Result<Value, ActionError> {
    let GenericApiRequest { method, path, .. } = ask;
    Err(ActionError::unavailable(format!(
        "{method} {path}: no request is allowed, since there is no policy for any"
    )))
}
