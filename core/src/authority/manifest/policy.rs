//! Policies: what holds for every task, and what one session adds.

use super::{ActionList, Constraints, Listed, usual_lists};
use crate::authority::document::{Located, record};
use crate::authority::terms::Lifecycle;

record! {
    /// A policy; the one with the id `global` takes part in every composition.
    pub struct Policy {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the policy.
        pub version: u32 = 1,
        /// Without an `active` global policy nothing is composed.
        pub lifecycle_state: Lifecycle,
        /// If not empty, nothing else is allowed. Adds nothing.
        pub candidate_allowed_actions: Vec<Listed> = Vec::new(),
        /// The actions that need approval.
        pub approval_required: Vec<Listed> = Vec::new(),
        /// The actions that are denied.
        pub denied_actions: Vec<Listed> = Vec::new(),
        /// Claims that nobody holds in any scenario.
        pub denied_claims: Vec<Located<String>> = Vec::new(),
        /// Bounds, for the record.
        pub constraints: Constraints = Constraints::default(),
    }
}

impl Policy {
    /// Its action lists.
    #[must_use]
    pub fn lists(&self) -> [ActionList<'_>; 3] {
        usual_lists(
            &self.candidate_allowed_actions,
            &self.approval_required,
            &self.denied_actions,
        )
    }
}

record! {
    /// What one session adds to the policy. The default adds nothing.
    pub struct SessionPolicy {
        /// The version of this shape.
        pub schema_version: u32,
        /// If not empty, nothing else is allowed. Adds nothing.
        pub candidate_allowed_actions: Vec<Listed> = Vec::new(),
        /// The actions that need approval.
        pub approval_required: Vec<Listed> = Vec::new(),
        /// The actions that are denied.
        pub denied_actions: Vec<Listed> = Vec::new(),
        /// Bounds, for the record.
        pub constraints: Constraints = Constraints::default(),
    }
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            schema_version: 1,
            candidate_allowed_actions: Vec::new(),
            approval_required: Vec::new(),
            denied_actions: Vec::new(),
            constraints: Constraints::default(),
        }
    }
}

impl SessionPolicy {
    /// Its action lists.
    #[must_use]
    pub fn lists(&self) -> [ActionList<'_>; 3] {
        usual_lists(
            &self.candidate_allowed_actions,
            &self.approval_required,
            &self.denied_actions,
        )
    }
}
