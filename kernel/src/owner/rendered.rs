//! What the arguments of a call come to, where JSON is not how a person reads it.

use serde_json::Value;

use crate::Kernel;
use crate::actions::{plan, preview};
use crate::plan::Plan;
use crate::preview::Draft;
use crate::store::{StoreError, StoredCall};

/// A draft as it is read, or a plan step by step; `None` for all other calls.
pub(super) async fn rendered(
    kernel: &Kernel,
    call: &StoredCall,
    arguments: &Value,
) -> Result<Option<String>, StoreError> {
    if call.action == preview::id() {
        let draft = serde_json::from_value::<Draft>(arguments.clone());
        return Ok(draft.ok().map(|draft| draft.rendered()));
    }
    if call.action == plan::id()
        && let Ok(plan) = serde_json::from_value::<Plan>(arguments.clone())
    {
        return crate::plan::shown(kernel, call.task_id, &plan)
            .await
            .map(Some);
    }
    Ok(None)
}
