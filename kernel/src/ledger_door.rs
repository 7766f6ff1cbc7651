//! The ledger's door: the owner has the ledger signed as it is now.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use crate::Kernel;
use crate::auth::Secret;
use crate::reply::{Refusal, json_value};
use crate::request::bearer;

/// `POST /v1/owner/ledger/checkpoint`: the newest checkpoint, of every record that there is.
pub async fn sign(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    match bearer(&headers).and_then(Secret::parse) {
        Some(secret) if kernel.owner_key.fits(&secret) => {}
        _ => return Err(Refusal::unauthenticated()),
    }
    let checkpoint = kernel.store.checkpoint(kernel.now()).await?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "checkpoint": checkpoint}),
    ))
}
