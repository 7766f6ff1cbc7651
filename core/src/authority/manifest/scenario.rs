//! Scenarios: in which mode a task is worked at, what that adds to an actor's claims, and which
//! policies hold in it.

use super::Listed;
use crate::api_target::{ApiPath, ApiTarget};
use crate::authority::document::{At, Decode, Located, record};
use crate::authority::terms::Lifecycle;

record! {
    /// A scenario. Whatever it does not switch on is off.
    pub struct Scenario {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the scenario.
        pub version: u32 = 1,
        /// Only `active` scenarios take part; the tasks of one that no longer is are over.
        pub lifecycle_state: Lifecycle,
        /// The task mode, one that some action names in `modes(...)`.
        pub mode: Located<String>,
        /// Claims that every actor holds in it.
        pub claims: Vec<Located<String>> = Vec::new(),
        /// Claims that nobody holds in it.
        pub denied_claims: Vec<Located<String>> = Vec::new(),
        /// Actions that nobody may call in it.
        pub denied_actions: Vec<Listed> = Vec::new(),
        /// Whether values of secrets may be read.
        pub secret_values: bool = false,
        /// The ways in which a person may be turned to.
        pub interaction_kinds: Vec<Located<String>> = Vec::new(),
        /// The only requests that an escape hatch may be told to send.
        pub api_targets: Vec<Located<ApiTarget>> = Vec::new(),
    }
}

record! {
    /// A request that may be sent, as it is written: `path` for this one, `below` for it and what is
    /// below it.
    struct WrittenTarget {
        method: String,
        path: Option<String> = None,
        below: Option<String> = None,
        query: bool = false,
    }
}

impl Decode for ApiTarget {
    fn expected() -> String {
        WrittenTarget::expected()
    }

    fn expected_many() -> String {
        WrittenTarget::expected_many()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        let written = WrittenTarget::decode(at)?;
        let path = match (written.path, written.below) {
            (Some(path), None) => ApiPath::Exact(path),
            (None, Some(start)) => ApiPath::Below(start),
            _ => {
                at.fault(
                    "a target has one path",
                    "give `path` for exactly this one, or `below` for it and what is below it",
                );
                return None;
            }
        };
        let target = Self {
            method: written.method.to_ascii_uppercase(),
            path,
            query: written.query,
        };
        target
            .check()
            .map_err(|problem| at.fault(problem, "no request could match it as it is"))
            .ok()?;
        Some(target)
    }
}
