//! The gate and the view, on every combination of a small universe.
//!
//! The universe has one action, `x`, one egress class and one output channel. All that the gate can
//! ask about it is varied, everything with everything, and each answer is compared with a decision
//! table: the rows of [`Case::expected`], of which the first that applies decides. The table knows
//! nothing of grants, catalogs and digests, only what was done to them in words.

#![allow(clippy::unwrap_used, clippy::panic)] // a test says where it fails

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use actum::gate::{Approval, Decision, DenialReason, Evidence, Origin, Request, SelectionToken};
use actum::grant::{Caveat, GrantMode};
use actum::{
    ActionCatalog, Digest, EgressDeclaration, Hints, TaskGrant, ToolDescriptor, VerifiedGrant,
    project,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use Outcome::{Allow, Ask, Deny, Suppressed};
use support::{Outcome, at, decide, id, nothing_until, verified};

const FLAGS: [bool; 2] = [false, true];

/// In which of the grant's lists the action stands.
#[derive(Debug, Clone, Copy)]
struct Lists {
    allowed: bool,
    approval: bool,
    denied: bool,
}

/// What the catalog has of the action itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Unknown,
    NoDescriptor,
    Plain,
    AlwaysAsks,
    Undispatchable,
    UndispatchableNoDescriptor,
}

/// A class or a channel that the action declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touches {
    Nothing,
    Granted,
    /// One that is granted, and one that is not.
    Half,
    Foreign,
    /// A list that names nothing.
    EmptyList,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Egress {
    Undeclared,
    Declared { class: Touches, channels: Touches },
}

/// What comes with a request as selection token, and what is stored of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
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

const TOKENS: [Token; 8] = [
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
enum Decided {
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

const DECIDED: [Decided; 9] = [
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
enum Allowlist {
    None,
    Includes,
    Excludes,
}

/// A caveat that binds the argument `to`, and what the request has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
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
struct Case {
    lists: Lists,
    allowlist: Allowlist,
    over: bool,
    shadow: bool,
    bound: Bound,
    tool: Tool,
    egress: Egress,
    token_required: bool,
    kernel_origin: bool,
    by_kernel: bool,
    token: Token,
    decided: Decided,
}

impl Case {
    /// The decision table. The first row that applies decides.
    fn expected(&self) -> Outcome {
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

const NOW: i64 = 1000;

/// The grant's half of a case.
#[derive(Debug, Clone, Copy)]
struct Granted {
    lists: Lists,
    allowlist: Allowlist,
    over: bool,
    shadow: bool,
    bound: Bound,
}

fn grants(bounds: &[Bound]) -> Vec<Granted> {
    let mut all = Vec::new();
    for bits in 0..8u8 {
        let lists = Lists {
            allowed: bits & 1 != 0,
            approval: bits & 2 != 0,
            denied: bits & 4 != 0,
        };
        for allowlist in [Allowlist::None, Allowlist::Includes, Allowlist::Excludes] {
            for over in FLAGS {
                for shadow in FLAGS {
                    for &bound in bounds {
                        all.push(Granted {
                            lists,
                            allowlist,
                            over,
                            shadow,
                            bound,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Tokens by what is odd about them.
fn token_id(token: Token) -> Ulid {
    Ulid(100 + token as u128)
}

impl Granted {
    fn build(self) -> VerifiedGrant {
        let list = |is_in: bool| -> BTreeSet<_> {
            // Another id beside it, so that no list is ever empty by accident.
            [is_in.then(|| id("x")), Some(id("y"))]
                .into_iter()
                .flatten()
                .collect()
        };
        let held = |token: &Token| {
            let other = *token == Token::HeldAsOtherType;
            let token_type = if other { "file" } else { "thread" };
            (token_id(*token), token_type.to_owned())
        };
        let not_held = |token: &&Token| !matches!(token, Token::NotInGrant | Token::Absent);
        let grant = TaskGrant {
            allowed_actions: list(self.lists.allowed),
            approval_required_actions: list(self.lists.approval),
            denied_actions: list(self.lists.denied),
            allowed_egress_classes: ["granted".to_owned()].into(),
            output_channels: ["granted".to_owned()].into(),
            bound_arguments: Vec::new(),
            mandate: None,
            selection_tokens: TOKENS.iter().filter(not_held).map(held).collect(),
            mode: if self.shadow {
                GrantMode::Shadow
            } else {
                GrantMode::Live
            },
            // The last instant at which it holds, and the first at which it does not.
            ..nothing_until(at(if self.over { NOW } else { NOW + 1 }))
        };
        let only = |text: &str| Caveat::ActionAllowlist {
            actions: [id(text)].into(),
        };
        let bind = |name: &str, value: &str| Caveat::BoundParameter {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let allowlist = match self.allowlist {
            Allowlist::None => vec![],
            Allowlist::Includes => vec![only("x")],
            Allowlist::Excludes => vec![only("y")],
        };
        let bound = match self.bound {
            Bound::None => vec![],
            Bound::NoSuchArgument => vec![bind("nothing", "alice")],
            Bound::Contradictory => vec![bind("to", "alice"), bind("to", "bob")],
            Bound::ModelTier => vec![Caveat::ModelTier {
                max_tier: "low".into(),
            }],
            Bound::Met | Bound::Missed | Bound::Missing | Bound::Wrapped => {
                vec![bind("to", "alice")]
            }
        };
        verified(grant, [allowlist, bound])
    }
}

/// The catalog's half of a case.
#[derive(Debug, Clone, Copy)]
struct Existing {
    tool: Tool,
    egress: Egress,
    token_required: bool,
    kernel_origin: bool,
}

fn catalogs() -> Vec<Existing> {
    let mut egresses = vec![Egress::Undeclared];
    for class in [Touches::Nothing, Touches::Granted, Touches::Foreign] {
        for channels in [
            Touches::Nothing,
            Touches::Granted,
            Touches::Half,
            Touches::Foreign,
            Touches::EmptyList,
        ] {
            egresses.push(Egress::Declared { class, channels });
        }
    }
    let mut all = vec![Existing {
        tool: Tool::Unknown,
        egress: Egress::Undeclared,
        token_required: false,
        kernel_origin: false,
    }];
    for tool in [
        Tool::NoDescriptor,
        Tool::Plain,
        Tool::AlwaysAsks,
        Tool::Undispatchable,
        Tool::UndispatchableNoDescriptor,
    ] {
        for &egress in &egresses {
            for token_required in FLAGS {
                for kernel_origin in FLAGS {
                    all.push(Existing {
                        tool,
                        egress,
                        token_required,
                        kernel_origin,
                    });
                }
            }
        }
    }
    all
}

impl Existing {
    fn build(self) -> ActionCatalog {
        if self.tool == Tool::Unknown {
            return ActionCatalog::new([id("y")]);
        }
        let mut catalog = ActionCatalog::new([id("x")]);
        if matches!(
            self.tool,
            Tool::Plain | Tool::AlwaysAsks | Tool::Undispatchable
        ) {
            let descriptor = ToolDescriptor {
                name: "x".into(),
                description: "Does.".into(),
                parameters_schema: json!({"type": "object", "properties": {"to": {"type": "string"}}}),
                approval_required: self.tool == Tool::AlwaysAsks,
                selection_token_required: self.token_required,
                title: None,
                output_schema: None,
                hints: Hints::NONE,
            };
            catalog = catalog.with_tool_descriptors([(id("x"), descriptor)].into());
        }
        if matches!(
            self.tool,
            Tool::Undispatchable | Tool::UndispatchableNoDescriptor
        ) {
            catalog = catalog.with_undispatchable([id("x")].into());
        }
        if let Egress::Declared { class, channels } = self.egress {
            let names = |touches| -> Option<Vec<&str>> {
                match touches {
                    Touches::Nothing => None,
                    Touches::Granted => Some(vec!["granted"]),
                    Touches::Half => Some(vec!["granted", "foreign"]),
                    Touches::Foreign => Some(vec!["foreign"]),
                    Touches::EmptyList => Some(vec![]),
                }
            };
            let declaration = EgressDeclaration {
                egress_class: names(class).map(|names| names.concat()),
                output_channels: names(channels)
                    .map(|names| names.into_iter().map(str::to_owned).collect()),
            };
            catalog = catalog.with_egress_declarations([(id("x"), declaration)].into());
        }
        if self.token_required {
            catalog = catalog.with_selection_token_types([(id("x"), "thread".into())].into());
        }
        if self.kernel_origin {
            catalog = catalog.with_kernel_origin([id("x")].into());
        }
        catalog
    }
}

/// The request's half of a case, with what the store holds for it.
struct Asked {
    by_kernel: bool,
    token: Token,
    decided: Decided,
    request: Arc<Request>,
    approval: Option<Approval>,
    stored: Option<SelectionToken>,
}

fn requests(bound: Bound, tokens: &[Token], decisions: &[Decided]) -> Vec<Asked> {
    let mut all = Vec::new();
    for by_kernel in FLAGS {
        for &token in tokens {
            for &decided in decisions {
                all.push(Asked::new(bound, by_kernel, token, decided));
            }
        }
    }
    all
}

impl Asked {
    fn new(bound: Bound, by_kernel: bool, token: Token, decided: Decided) -> Self {
        let digest = |text: &str| Digest::of_bytes(text.as_bytes());
        let to = match bound {
            Bound::None | Bound::Missing => None,
            Bound::Missed => Some(json!("Alice")),
            Bound::Wrapped => Some(json!(["alice"])),
            _ => Some(json!("alice")),
        };
        let mut arguments: Map<String, Value> = to
            .into_iter()
            .map(|value| ("to".to_owned(), value))
            .collect();
        if bound == Bound::NoSuchArgument {
            arguments.insert("nothing".into(), json!("alice"));
        }
        let digests = decided != Decided::NoDigests;
        let request = Request {
            action: "x".into(),
            arguments,
            payload_digest: digests.then(|| digest("payload")),
            target_digest: digests.then(|| digest("target")),
            selection_token: (token != Token::Absent).then(|| token_id(token)),
            origin: if by_kernel {
                Origin::Kernel
            } else {
                Origin::Worker
            },
        };
        let approval = Approval {
            decision: match decided {
                Decided::Rejected | Decided::RejectedAndExpired => Decision::Rejected,
                Decided::Edited => Decision::Edited,
                _ => Decision::Approved,
            },
            expires_at: soon(matches!(
                decided,
                Decided::Expired | Decided::RejectedAndExpired
            )),
            payload_digest: digest(if decided == Decided::OtherPayload {
                "other"
            } else {
                "payload"
            }),
            target_digest: digest(if decided == Decided::OtherTarget {
                "other"
            } else {
                "target"
            }),
        };
        let stored = SelectionToken {
            id: token_id(if token == Token::Foreign {
                Token::Right
            } else {
                token
            }),
            token_type: if token == Token::StoredAsOtherType {
                "file".into()
            } else {
                "thread".into()
            },
            expires_at: soon(token == Token::Expired),
        };
        Self {
            by_kernel,
            token,
            decided,
            request: Arc::new(request),
            approval: (decided != Decided::Nothing).then_some(approval),
            stored: (!matches!(token, Token::Absent | Token::NotStored)).then_some(stored),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.stored.as_ref(),
        }
    }
}

/// The first instant at which a thing that is over is over, or the last at which it is not.
fn soon(over: bool) -> Timestamp {
    at(if over { NOW } else { NOW + 1 })
}

/// Compares every combination with the table, and what is shown with what can be called. Returns
/// how many combinations there were.
fn compare_all(bounds: &[Bound], tokens: &[Token], decisions: &[Decided]) -> usize {
    let existing: Vec<_> = catalogs()
        .iter()
        .map(|half| (*half, half.build()))
        .collect();
    let mut count = 0;
    for granted in grants(bounds) {
        let grant = granted.build();
        let asked = requests(granted.bound, tokens, decisions);
        for (half, catalog) in &existing {
            let mut callable = None;
            for one in &asked {
                let case = Case {
                    lists: granted.lists,
                    allowlist: granted.allowlist,
                    over: granted.over,
                    shadow: granted.shadow,
                    bound: granted.bound,
                    tool: half.tool,
                    egress: half.egress,
                    token_required: half.token_required,
                    kernel_origin: half.kernel_origin,
                    by_kernel: one.by_kernel,
                    token: one.token,
                    decided: one.decided,
                };
                let given = decide(&grant, &one.request, catalog, one.evidence(), at(NOW));
                assert!(
                    given == case.expected(),
                    "{case:#?} gave {given:?}, not {:?}",
                    case.expected()
                );
                count += 1;
                if !one.by_kernel && !matches!(given, Deny(_)) {
                    callable = Some(case);
                }
            }

            let shown = !project(&grant, catalog).is_empty();
            match half.tool {
                // A view does not know the time, and its reader may have other arguments to give.
                _ if granted.over => {}
                Tool::Plain | Tool::AlwaysAsks
                    if matches!(
                        granted.bound,
                        Bound::Missed | Bound::Missing | Bound::Wrapped
                    ) => {}
                Tool::Plain | Tool::AlwaysAsks => assert!(
                    shown == callable.is_some(),
                    "shown: {shown}, and callable as {callable:#?}: {granted:?} {half:?}"
                ),
                _ => assert!(!shown, "{granted:?} {half:?}"),
            }
        }
    }
    count
}

#[test]
fn every_combination_is_decided_as_the_table_says() {
    let count = compare_all(&[Bound::None], &TOKENS, &DECIDED);
    println!("{count} combinations");
    assert!(count > 4_000_000);
}

#[test]
fn every_combination_with_a_bound_argument_is_decided_as_the_table_says() {
    let bounds = [
        Bound::Met,
        Bound::Missed,
        Bound::Missing,
        Bound::Wrapped,
        Bound::NoSuchArgument,
        Bound::Contradictory,
        Bound::ModelTier,
    ];
    let tokens = [Token::Absent, Token::Right];
    let decisions = [Decided::Nothing, Decided::Approved, Decided::Rejected];
    let count = compare_all(&bounds, &tokens, &decisions);
    println!("{count} combinations");
    assert!(count > 1_000_000);
}
