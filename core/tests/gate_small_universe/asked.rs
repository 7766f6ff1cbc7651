//! The request's half of a case, with what the store holds for it.

use std::sync::Arc;

use actum::Digest;
use actum::gate::{Approval, Decision, Evidence, Origin, Request, SelectionToken};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::case::{Bound, Decided, FLAGS, NOW, Token};
use crate::granted::token_id;
use crate::support::at;

/// The request's half of a case, with what the store holds for it.
pub struct Asked {
    pub by_kernel: bool,
    pub token: Token,
    pub decided: Decided,
    pub request: Arc<Request>,
    pub approval: Option<Approval>,
    pub stored: Option<SelectionToken>,
}

pub fn requests(bound: Bound, tokens: &[Token], decisions: &[Decided]) -> Vec<Asked> {
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
    pub fn new(bound: Bound, by_kernel: bool, token: Token, decided: Decided) -> Self {
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

    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.stored.as_ref(),
        }
    }
}

/// The first instant at which a thing that is over is over, or the last at which it is not.
pub fn soon(over: bool) -> Timestamp {
    at(if over { NOW } else { NOW + 1 })
}
