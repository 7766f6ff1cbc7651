//! Every call of an action.

use std::sync::Arc;

use actum::gate::{Approval, Decision, Evidence, Origin, Request, SelectionToken};
use actum::{ActionCatalog, Digest, VerifiedGrant};
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::support::{Outcome, at, decide};
use crate::world::{KIND, KINDS, METHODS, PATHS};

/// The one selection token that there is, which every grant holds.
pub const TOKEN: Ulid = Ulid(7);
pub const TOKEN_TYPE: &str = "thread";

/// A call, and what the store holds for it.
#[derive(Debug, Clone)]
pub struct Call {
    pub request: Arc<Request>,
    approval: Option<Approval>,
    token: Option<SelectionToken>,
}

impl Call {
    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.token.as_ref(),
        }
    }

    pub fn outcome(&self, grant: &VerifiedGrant, catalog: &ActionCatalog) -> Outcome {
        decide(grant, &self.request, catalog, self.evidence(), at(1000))
    }

    pub fn passes(&self, grant: &VerifiedGrant, catalog: &ActionCatalog) -> bool {
        !matches!(self.outcome(grant, catalog), Outcome::Deny(_))
    }
}

/// Every call of an action: each method, path and kind, and none of them; with the token or none,
/// approved or not decided.
pub fn calls(action: &str) -> Vec<Call> {
    let mut argument_sets = vec![json!({})];
    for method in METHODS {
        for path in PATHS {
            argument_sets.push(json!({"method": method, "path": path}));
            for kind in KINDS {
                argument_sets.push(json!({"method": method, "path": path, KIND: kind}));
            }
        }
    }
    let mut all = Vec::new();
    for arguments in argument_sets {
        for has_token in [false, true] {
            for is_approved in [false, true] {
                all.push(call(action, &arguments, has_token, is_approved));
            }
        }
    }
    all
}

/// One call.
pub fn call(action: &str, arguments: &Value, has_token: bool, is_approved: bool) -> Call {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let digest = Digest::of_json(&arguments).unwrap();
    Call {
        request: Arc::new(Request {
            action: action.to_owned(),
            arguments,
            payload_digest: Some(digest),
            target_digest: Some(digest),
            selection_token: has_token.then_some(TOKEN),
            origin: Origin::Worker,
        }),
        approval: is_approved.then_some(Approval {
            decision: Decision::Approved,
            expires_at: at(1001),
            payload_digest: digest,
            target_digest: digest,
        }),
        token: has_token.then(|| SelectionToken {
            id: TOKEN,
            token_type: TOKEN_TYPE.to_owned(),
            expires_at: at(1001),
        }),
    }
}
