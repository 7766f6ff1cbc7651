//! One combination in words, and the decision table.

use actum::gate::DenialReason;

use crate::support::Outcome::{self, Allow, Ask, Deny, Suppressed};

pub const FLAGS: [bool; 2] = [false, true];

/// The time of every call, in seconds.
pub const NOW: i64 = 1000;

/// In which of the grant's lists the action stands.
#[derive(Debug, Clone, Copy)]
pub struct Lists {
    pub allowed: bool,
    pub approval: bool,
    pub denied: bool,
}

/// What the catalog has of the action itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Unknown,
    NoDescriptor,
    Plain,
    AlwaysAsks,
    Undispatchable,
    UndispatchableNoDescriptor,
}

/// A class or a channel that the action declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    Nothing,
    Granted,
    /// One that is granted, and one that is not.
    Half,
    Foreign,
    /// A list that names nothing.
    EmptyList,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Egress {
    Undeclared,
    Declared { class: Touches, channels: Touches },
}

/// What comes with a request as selection token, and what is stored of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Absent,
    Right,
    /// In the grant as the right type, stored as another.
    StoredAsOtherType,
    /// In the grant as another type, stored as the right one.
    HeldAsOtherType,
    Expired,
    /// In the grant, and what is stored is another token.
    Foreign,
    /// In the grant, and nothing is stored.
    NotStored,
    NotInGrant,
}

pub const TOKENS: [Token; 8] = [
    Token::Absent,
    Token::Right,
    Token::StoredAsOtherType,
    Token::HeldAsOtherType,
    Token::Expired,
    Token::Foreign,
    Token::NotStored,
    Token::NotInGrant,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    Nothing,
    Approved,
    Rejected,
    Edited,
    Expired,
    RejectedAndExpired,
    OtherPayload,
    OtherTarget,
    /// Approved, and the request comes without digests.
    NoDigests,
}

pub const DECIDED: [Decided; 9] = [
    Decided::Nothing,
    Decided::Approved,
    Decided::Rejected,
    Decided::Edited,
    Decided::Expired,
    Decided::RejectedAndExpired,
    Decided::OtherPayload,
    Decided::OtherTarget,
    Decided::NoDigests,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowlist {
    None,
    Includes,
    Excludes,
}

/// A caveat that binds the argument `to`, and what the request has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    None,
    Met,
    Missed,
    /// The argument is not given.
    Missing,
    /// The argument is a list that holds the bound text.
    Wrapped,
    /// An argument that the tool does not take; it is given all the same.
    NoSuchArgument,
    /// Two caveats bind it to two texts.
    Contradictory,
    /// Not a bound: a caveat on model tiers, which nobody can judge.
    ModelTier,
}

/// One combination.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub lists: Lists,
    pub allowlist: Allowlist,
    pub over: bool,
    pub shadow: bool,
    pub bound: Bound,
    pub tool: Tool,
    pub egress: Egress,
    pub token_required: bool,
    pub kernel_origin: bool,
    pub by_kernel: bool,
    pub token: Token,
    pub decided: Decided,
}

impl Case {
    /// The decision table. The first row that applies decides.
    pub fn expected(&self) -> Outcome {
        use DenialReason as Why;
        let has_descriptor = matches!(
            self.tool,
            Tool::Plain | Tool::AlwaysAsks | Tool::Undispatchable
        );
        let (class, channels) = match self.egress {
            Egress::Undeclared => (Touches::Nothing, Touches::Nothing),
            Egress::Declared { class, channels } => (class, channels),
        };
        let listed = self.allowlist != Allowlist::Excludes;
        let asks = self.lists.approval || self.lists.allowed && self.tool == Tool::AlwaysAsks;
        let granted = listed && (self.lists.allowed || self.lists.approval);
        let asked = |decided| granted && asks && self.decided == decided;

        #[rustfmt::skip]
        let table = [
            (matches!(self.bound, Bound::Contradictory | Bound::ModelTier), Deny(Why::CaveatWidening)),
            (self.over,                                                     Deny(Why::GrantExpired)),
            (self.tool == Tool::Unknown,                                    Deny(Why::UnknownAction)),
            (self.lists.denied && !self.by_kernel,                          Deny(Why::ExplicitDeny)),
            (self.egress == Egress::Undeclared,                             Deny(Why::CaveatWidening)),
            (class == Touches::Foreign,                                     Deny(Why::EgressClassNotGranted)),
            (!matches!(channels, Touches::Nothing | Touches::Granted),      Deny(Why::OutputChannelNotGranted)),
            (matches!(self.bound, Bound::Missed | Bound::Missing | Bound::Wrapped),
                                                                            Deny(Why::CaveatWidening)),
            (self.bound == Bound::NoSuchArgument && has_descriptor,         Deny(Why::CaveatWidening)),
            (self.by_kernel && !self.kernel_origin,                         Deny(Why::KernelOriginNotTrusted)),
            (self.by_kernel && self.shadow,                                 Suppressed),
            (self.by_kernel,                                                Allow),
            (self.token_required && self.token != Token::Right,             Deny(Why::SelectionTokenInvalid)),
            (!granted,                                                      Deny(Why::NotGranted)),
            (asked(Decided::Expired) || asked(Decided::RejectedAndExpired), Deny(Why::ApprovalExpired)),
            (asked(Decided::Rejected) || asked(Decided::Edited),            Deny(Why::ApprovalMissing)),
            (asked(Decided::OtherPayload) || asked(Decided::OtherTarget) || asked(Decided::NoDigests),
                                                                            Deny(Why::ApprovalDigestMismatch)),
            (self.shadow,                                                   Suppressed),
            (asked(Decided::Nothing),                                       Ask),
        ];
        table
            .iter()
            .find(|(applies, _)| *applies)
            .map_or(Allow, |(_, outcome)| *outcome)
    }
}
