//! One combination in words, and the decision table.

use actum::Class;
use actum::gate::DenialReason;

use crate::support::Outcome::{self, Allow, Ask, Deny};

/// In which list of the manifests the action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    Nowhere,
    Allow,
    Approval,
    Deny,
}

pub const LISTS: [List; 4] = [List::Nowhere, List::Allow, List::Approval, List::Deny];

/// A claim, by who holds it and who denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    OfActor,
    OfScenario,
    OfNobody,
    /// The actor holds it, and the scenario denies it.
    DeniedThere,
    /// The scenario holds it, and the policy denies it.
    DeniedEverywhere,
}

pub const CLAIMS: [Claim; 5] = [
    Claim::OfActor,
    Claim::OfScenario,
    Claim::OfNobody,
    Claim::DeniedThere,
    Claim::DeniedEverywhere,
];

/// A role or a mode that the action is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Any,
    Ours,
    Another,
}

pub const WANTED: [Wanted; 3] = [Wanted::Any, Wanted::Ours, Wanted::Another];

/// What the catalog has of the action besides. The other universe crosses these with one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    NoEgressDeclaration,
    ForeignClass,
    ForeignChannel,
    SelectionToken,
}

/// What comes with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    Nothing,
    Approval,
    Rejection,
    /// It comes when the grant is over.
    TooLate,
    Token,
    TokenAndApproval,
}

pub const BESIDE: [(Beside, &[With]); 5] = [
    (
        Beside::Nothing,
        &[
            With::Nothing,
            With::Approval,
            With::Rejection,
            With::TooLate,
        ],
    ),
    (Beside::NoEgressDeclaration, &[With::Approval]),
    (Beside::ForeignClass, &[With::Approval]),
    (Beside::ForeignChannel, &[With::Approval]),
    (
        Beside::SelectionToken,
        &[With::Approval, With::Token, With::TokenAndApproval],
    ),
];

/// What the action requires.
#[derive(Debug, Clone)]
pub struct Required {
    pub class: Option<Class>,
    pub claims: Vec<Claim>,
    pub role: Wanted,
    pub mode: Wanted,
    pub reads_secrets: bool,
    pub escape_hatch: bool,
    pub interaction: bool,
}

/// What the scenario says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scene {
    /// Whether the sender is an actor at all.
    pub is_actor: bool,
    pub denies_action: bool,
    pub secret_values: bool,
    pub api_target: bool,
    pub interaction_kind: bool,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// It is to send what the scenario's target allows.
    pub on_target: bool,
    /// It turns to a person in the way that the scenario allows.
    pub of_kind: bool,
    pub with: With,
}

impl Words {
    /// Whether the call differs from others in something that is asked about. What is switched off
    /// allows no target and no kind.
    pub fn matters(self, scene: Scene) -> bool {
        (self.on_target || scene.api_target) && (self.of_kind || scene.interaction_kind)
    }
}

/// One combination.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub list: List,
    pub required: &'a Required,
    pub scene: Scene,
    pub beside: Beside,
    pub call: Words,
}

impl Case<'_> {
    /// What the first row that applies says.
    pub fn expected(&self) -> Outcome {
        let table = self.table();
        let row = table.iter().find(|(applies, _)| *applies);
        row.map_or(Allow, |(_, outcome)| *outcome)
    }

    /// The decision table, in the order in which the gate documents its checks.
    #[rustfmt::skip]
    pub fn table(&self) -> [(bool, Outcome); 20] {
        use DenialReason as Why;
        let (required, scene, call) = (self.required, self.scene, self.call);
        let any = |wanted: &[Claim]| required.claims.iter().any(|claim| wanted.contains(claim));
        let unmet = |wanted: Wanted| match wanted {
            Wanted::Any => false,
            Wanted::Ours => !scene.is_actor,
            Wanted::Another => true,
        };
        let off = |needed: bool, switch: bool| needed && !(scene.is_actor && switch);
        let for_agents = matches!(required.class, Some(Class::Always | Class::Optional));
        // Where a requirement is not met, claims offer nothing; a row above the last says so.
        let offered = scene.is_actor && for_agents;
        let has_token = matches!(call.with, With::Token | With::TokenAndApproval);
        let is_approved = matches!(call.with, With::Approval | With::TokenAndApproval);
        let asked = self.list == List::Approval;

        [
            (call.with == With::TooLate,                            Deny(Why::GrantExpired)),
            (required.class == Some(Class::ControlPlane),           Deny(Why::ControlPlaneOwned)),
            (self.list == List::Deny,                               Deny(Why::ExplicitDeny)),
            (self.beside == Beside::NoEgressDeclaration,            Deny(Why::CaveatWidening)),
            (self.beside == Beside::ForeignClass,                   Deny(Why::EgressClassNotGranted)),
            (self.beside == Beside::ForeignChannel,                 Deny(Why::OutputChannelNotGranted)),
            (scene.denies_action,                                   Deny(Why::PolicyDenied)),
            (unmet(required.mode),                                  Deny(Why::TaskMode)),
            (unmet(required.role),                                  Deny(Why::Role)),
            (scene.is_actor && any(&[Claim::DeniedThere, Claim::DeniedEverywhere]),
                                                                    Deny(Why::ClaimDenied)),
            (any(&[Claim::OfNobody]) || !scene.is_actor && any(&CLAIMS),
                                                                    Deny(Why::ClaimMissing)),
            (off(required.reads_secrets, scene.secret_values),      Deny(Why::SecretValues)),
            (off(required.escape_hatch, scene.api_target),          Deny(Why::EscapeHatch)),
            (required.escape_hatch && !call.on_target,              Deny(Why::EscapeHatchTarget)),
            (off(required.interaction, scene.interaction_kind),     Deny(Why::InteractionKind)),
            (required.interaction && !call.of_kind,                 Deny(Why::InteractionKind)),
            (self.beside == Beside::SelectionToken && !has_token,   Deny(Why::SelectionTokenInvalid)),
            (asked && call.with == With::Rejection,                 Deny(Why::ApprovalMissing)),
            (asked && !is_approved,                                 Ask),
            (self.list == List::Nowhere && !offered,                Deny(Why::NotGranted)),
        ]
    }
}
