//! The grant's half of a case: every way to put one together.

use std::collections::BTreeSet;

use actum::grant::{Caveat, GrantMode};
use actum::{TaskGrant, VerifiedGrant};
use ulid::Ulid;

use crate::case::{Allowlist, Bound, FLAGS, Lists, NOW, TOKENS, Token};
use crate::support::{at, id, nothing_until, verified};

/// The grant's half of a case.
#[derive(Debug, Clone, Copy)]
pub struct Granted {
    pub lists: Lists,
    pub allowlist: Allowlist,
    pub over: bool,
    pub shadow: bool,
    pub bound: Bound,
}

pub fn grants(bounds: &[Bound]) -> Vec<Granted> {
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
pub fn token_id(token: Token) -> Ulid {
    Ulid(100 + token as u128)
}

impl Granted {
    pub fn build(self) -> VerifiedGrant {
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
