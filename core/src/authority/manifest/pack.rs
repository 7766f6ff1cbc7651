//! Capability packs: the actions, egress and bounds of a kind of task.

use serde_json::Value;

use super::{ActionList, Listed, usual_lists};
use crate::authority::document::{At, Decode, Located, record};
use crate::authority::terms::{ChannelTrust, DataClassification, Lane, Lifecycle, Relationship};
use crate::bound::{Bound, BoundArgument, is_pointer};
use crate::id::ActionId;

record! {
    /// A capability pack.
    pub struct CapabilityPack {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the pack.
        pub version: u32 = 1,
        /// Only `active` packs take part.
        pub lifecycle_state: Lifecycle,
        /// The events it was made for. For the reader: routes decide, and composition does not ask.
        pub applies_to: AppliesTo = AppliesTo::default(),
        /// The actions it allows.
        pub candidate_allowed_actions: Vec<Listed> = Vec::new(),
        /// The actions it allows after approval.
        pub approval_required: Vec<Listed> = Vec::new(),
        /// The actions it denies.
        pub denied_actions: Vec<Listed> = Vec::new(),
        /// The ways out that it allows, such as `search`.
        pub allowed_egress_classes: Vec<String> = Vec::new(),
        /// What the arguments of its actions are held to.
        pub bound_arguments: Vec<Located<BoundArgument>> = Vec::new(),
        /// Its bounds.
        pub constraints: Constraints = Constraints::default(),
    }
}

impl CapabilityPack {
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
    /// The events that a pack was made for.
    #[derive(Default)]
    pub struct AppliesTo {
        /// Their type.
        pub event_type: Option<String> = None,
        /// Their connector.
        pub connector: Option<String> = None,
        /// The role of the receiving account.
        pub account_role: Option<String> = None,
        /// What the sender is to the owner.
        pub relationship: Option<Relationship> = None,
        /// The trust in the channel.
        pub channel_trust: Option<ChannelTrust> = None,
        /// Whether the source is verified.
        pub verified_source: Option<bool> = None,
        /// Their lane.
        pub lane: Option<Lane> = None,
    }
}

record! {
    /// Bounds on a task. Composition enforces those of the capability pack only:
    /// `data_classification_max` and `max_runtime_seconds`.
    #[derive(Default)]
    pub struct Constraints {
        /// The most private data that the task may touch.
        pub data_classification_max: Option<DataClassification> = None,
        /// How far its effects may be seen.
        pub external_visibility_max: Option<String> = None,
        /// Whether what outsiders write counts as instruction.
        pub external_communication_is_instruction: Option<bool> = None,
        /// What must be possible after a mistake.
        pub recovery_required: Option<String> = None,
        /// Seconds from composition to the grant's expiry.
        pub max_runtime_seconds: Option<u64> = None,
    }
}

record! {
    /// One bound, as it is written: `one_of` or `within`, or neither for an argument that has to be
    /// left out.
    struct WrittenBound {
        action: Located<String>,
        at: Located<String>,
        one_of: Option<Vec<Value>> = None,
        within: Option<String> = None,
        may_be_absent: bool = false,
    }
}

impl Decode for BoundArgument {
    fn expected() -> String {
        WrittenBound::expected()
    }

    fn expected_many() -> String {
        WrittenBound::expected_many()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        let written = WrittenBound::decode(at)?;
        let action = ActionId::parse(&written.action).map_err(|fault| {
            at.fault(
                fault.to_string(),
                "name the one action whose calls are held to this",
            );
        });
        if !is_pointer(&written.at) {
            let problem = format!("`{}` is no JSON Pointer", *written.at);
            at.fault(
                problem,
                "write `/name` for an argument, `/name/inner` for one inside it",
            );
        }
        let to = match (written.one_of, written.within) {
            (Some(values), None) => Some(Bound::OneOf(values)),
            (None, Some(start)) => Some(Bound::Within(start)),
            (None, None) if written.may_be_absent => Some(Bound::OneOf(Vec::new())),
            _ => {
                at.fault(
                    "a bound says one thing",
                    "give `one_of` or `within`, or `may_be_absent: true` alone for what has to be left out",
                );
                None
            }
        };
        Some(Self {
            action: action.ok()?,
            at: is_pointer(&written.at).then_some(written.at.value)?,
            to: to?,
            may_be_absent: written.may_be_absent,
        })
    }
}
