//! Capability packs: the actions, egress and bounds of a kind of task.

use serde_json::Value;

use super::{ActionList, Listed, usual_lists};
use crate::authority::document::{At, Decode, Fields, Located, record};
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

/// What one argument is held to, as it is written: `at` with `one_of` or `within`, or with `may_be_absent` alone for an
/// argument that has to be left out.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldArgument {
    at: String,
    to: Bound,
    may_be_absent: bool,
}

impl HeldArgument {
    /// The same for the calls of one action.
    #[must_use]
    pub fn of(self, action: ActionId) -> BoundArgument {
        let Self {
            at,
            to,
            may_be_absent,
        } = self;
        BoundArgument {
            action,
            at,
            to,
            may_be_absent,
        }
    }

    fn read(at: &At<'_>, fields: &mut Fields<'_>) -> Option<Self> {
        let pointer = fields.required::<String>("at");
        let one_of = fields.or::<Option<Vec<Value>>>("one_of", || None);
        let within = fields.or::<Option<String>>("within", || None);
        let may_be_absent = fields.or("may_be_absent", || false);
        let pointer = pointer.filter(|pointer| {
            let is_one = is_pointer(pointer);
            if !is_one {
                at.fault(
                    format!("`{pointer}` is no JSON Pointer"),
                    "write `/name` for an argument, `/name/inner` for one inside it",
                );
            }
            is_one
        });
        let may_be_absent = may_be_absent?;
        let to = match (one_of?, within?) {
            (Some(values), None) => Some(Bound::OneOf(values)),
            (None, Some(start)) => Some(Bound::Within(start)),
            (None, None) if may_be_absent => Some(Bound::OneOf(Vec::new())),
            _ => {
                at.fault(
                    "a bound says one thing",
                    "give `one_of` or `within`, or `may_be_absent: true` alone for what has to be left out",
                );
                None
            }
        };
        Some(Self {
            at: pointer?,
            to: to?,
            may_be_absent,
        })
    }
}

impl Decode for HeldArgument {
    fn expected() -> String {
        "a bound: `at`, with `one_of` or `within`".to_owned()
    }

    fn expected_many() -> String {
        "bounds, each `at` with `one_of` or `within`".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| Self::read(at, fields))
    }
}

impl Decode for BoundArgument {
    fn expected() -> String {
        "a bound: `action` and `at`, with `one_of` or `within`".to_owned()
    }

    fn expected_many() -> String {
        "bounds, each `action` and `at` with `one_of` or `within`".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let action = fields.required::<String>("action").and_then(|action| {
                let parsed = ActionId::parse(&action).map_err(|fault| {
                    at.fault(
                        fault.to_string(),
                        "name the one action whose calls are held to this",
                    );
                });
                parsed.ok()
            });
            let held = HeldArgument::read(at, fields);
            Some(held?.of(action?))
        })
    }
}
