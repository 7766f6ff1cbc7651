//! Workflows: the states a task goes through, and the actions that belong to it.

use super::{ActionList, Listed, usual_lists};
use crate::authority::document::{Located, record};
use crate::authority::terms::{Lifecycle, ReasoningTier, StateApproval, StepKind};

record! {
    /// A workflow.
    pub struct WorkflowManifest {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the workflow.
        pub version: u32 = 1,
        /// Only `active` workflows take part.
        pub lifecycle_state: Lifecycle,
        /// What it is for.
        pub purpose: String,
        /// The agent it is made for.
        pub required_agent: Located<String>,
        /// The capability pack it is made for.
        pub required_capability_pack: Located<String>,
        /// Its steps, in words.
        pub steps: Vec<String> = Vec::new(),
        /// The actions it allows.
        pub candidate_allowed_actions: Vec<Listed> = Vec::new(),
        /// The actions it allows after approval.
        pub approval_required: Vec<Listed> = Vec::new(),
        /// The actions it denies.
        pub denied_actions: Vec<Listed> = Vec::new(),
        /// The state it begins in.
        pub initial_state: Option<Located<String>> = None,
        /// Its states.
        pub states: Vec<State> = Vec::new(),
        /// How one state follows another.
        pub transitions: Vec<Transition> = Vec::new(),
    }
}

impl WorkflowManifest {
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
    /// A state of a workflow.
    pub struct State {
        /// Its name within the workflow.
        pub id: Located<String>,
        /// What is done in it.
        pub steps: Vec<Step> = Vec::new(),
        /// Whether it waits for a person.
        pub approval: StateApproval = StateApproval::None,
        /// The action that the person approves.
        pub approval_action: Option<Listed> = None,
        /// Where to turn when it cannot go on.
        pub escalation: Option<Escalation> = None,
    }
}

record! {
    /// A step of a state.
    pub struct Step {
        /// Its name within the state.
        pub id: Located<String>,
        /// Who does it.
        pub kind: StepKind,
        /// How much it is to be thought about.
        pub reasoning_tier: ReasoningTier = ReasoningTier::Standard,
    }
}

record! {
    /// Where a state turns when it cannot go on.
    pub struct Escalation {
        /// Its name.
        pub id: String,
        /// Why.
        pub reason: Option<String> = None,
    }
}

record! {
    /// A step from one state to another.
    pub struct Transition {
        /// The state before.
        pub from: Located<String>,
        /// The state after.
        pub to: Located<String>,
        /// What brings it about.
        pub event: Option<String> = None,
    }
}
