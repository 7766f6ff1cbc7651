//! The owner's door to the manifests: reading them anew.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::authenticate;
use crate::Kernel;
use crate::in_force::{NotReloaded, Reloaded};
use crate::reply::{Refusal, json_value};

/// `POST /v1/owner/manifests/reload`
pub async fn reload(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let Reloaded { from, to } = kernel.manifests.reload("owner").await?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "from": from, "revision": to, "changed": from != to}),
    ))
}

impl From<NotReloaded> for Refusal {
    fn from(why: NotReloaded) -> Self {
        let told = why.to_string();
        match why {
            NotReloaded::Faulty(faults) => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "input_invalid",
                "manifests_faulty",
                told,
            )
            .with("faults", json!(faults)),
            NotReloaded::Store(error) => Self::store(&error),
        }
    }
}
