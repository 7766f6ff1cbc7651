//! What an action's own check says of a call, before the call waits or begins.
//!
//! INVARIANT: a check that cannot tell is no leave. Whatever becomes of it, there is a fault unless it looked to
//! its end and found none.

use std::sync::Arc;

use actum::ActionId;
use actum::schema::ArgumentFault;
use serde_json::Value;
use ulid::Ulid;

use crate::config::Config;
use crate::mediate::Attempt;
use crate::store::StoredSelection;

impl Attempt<'_> {
    /// Every fault that the action's own check finds in the arguments, which fit the schema.
    pub(crate) async fn checked(
        &self,
        action: &ActionId,
        selection: Option<&StoredSelection>,
    ) -> Vec<ArgumentFault> {
        if !self.kernel.registry.has_check(action.as_str()) {
            return Vec::new();
        }
        // The call has no id yet: it may never be one.
        let selection = self.own(action, selection);
        let context = self.context(Ulid::nil(), action, selection, false);
        let arguments = Value::Object(self.request.arguments.clone());
        let (kernel, id) = (Arc::clone(self.kernel), action.clone());
        // A task of its own, so that a panic in it is this call's refusal and nobody else's.
        let mut looking = tokio::spawn(async move {
            let registry = &kernel.registry;
            registry.checked(id.as_str(), arguments, context).await
        });
        let deadline = Config::seconds(&self.kernel.limits.handler_seconds);
        let why = match tokio::time::timeout(deadline, &mut looking).await {
            Ok(Ok(Ok(faults))) => return faults,
            Ok(Ok(Err(error))) => error.message().to_owned(),
            Ok(Err(_)) => "it panicked".to_owned(),
            Err(_) => {
                looking.abort();
                format!("no answer within {} seconds", deadline.as_secs())
            }
        };
        tracing::warn!(%action, why, "a call could not be checked, so it is refused");
        vec![ArgumentFault {
            at: String::new(),
            problem: "could not be checked now; try again later".to_owned(),
        }]
    }
}
