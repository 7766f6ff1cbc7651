//! The company as a whole, and the way around everything else.

use std::collections::BTreeMap;

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::api::{ApiAnswer, ApiRequest, CompanyApi};
use crate::store::company::{self, Administered, Administration, Export};
use crate::store::{BoardError, Payload};

/// Exports the company.
#[action(
    id = "export_company",
    description = "Export what the board knows of the company, without secrets and the texts of documents.",
    idempotency_key_required,
    class = optional,
    requires("portability:export"),
    modes("standard", "skill_test")
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
    description = "Rename the company, or add an actor, a project or a goal.",
    idempotency_key_required,
    class = optional,
    requires("company:admin"),
    roles("board", "ceo", "admin"),
    modes("standard", "skill_test")
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

/// A request to the company's API. Not to be printed: its headers may say who the sender is.
#[derive(Deserialize, JsonSchema)]
pub struct GenericApiRequest {
    /// The method.
    pub method: String,
    /// The path, such as /v1/items, with its query if it has one.
    pub path: String,
    /// The headers.
    pub headers: BTreeMap<String, String>,
    /// The body; empty for none.
    #[serde(default)]
    pub body: Payload,
}

/// Sends a request that the scenario's targets allow. The board keeps no result of it: what came from
/// elsewhere is not the board's.
#[action(
    id = "generic_api_request",
    description = "Send a request to the company's API, in tests.",
    idempotency_key_required,
    class = optional,
    requires("test:generic_api_request"),
    modes("skill_test"),
    escape_hatch(method = "method", path = "path"),
    redact("$.headers.authorization" = "[REDACTED]", "$.headers.cookie" = "[REDACTED]"),
    open_world
)]
pub async fn generic_api_request(
    api: &CompanyApi,
    ask: GenericApiRequest,
) -> Result<ApiAnswer, ActionError> {
    api.send(ApiRequest {
        method: &ask.method,
        path: &ask.path,
        headers: &ask.headers,
        body: &ask.body,
    })
    .await
}
