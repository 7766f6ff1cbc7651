//! Calls that come again: under one idempotency key a task has one call, which runs once, and whoever asks again
//! is told what became of the first.
//!
//! A retry passes the gate as every call does, so that nothing is told of what is not granted any more. What is
//! told is the stored form of the first result, in which secrets are hidden.

use std::time::Duration;

use actum::Digest;
use actum::authorization::Authorization;
use actum::digest::canonical_json;
use actum::gate::{DenialReason, Request};
use jiff::Timestamp;
use serde_json::json;
use tokio::time::{Instant, timeout_at};
use ulid::Ulid;

use crate::Kernel;
use crate::calls::State;
use crate::config::Config;
use crate::judgement::own_token;
use crate::ledger::{Entry, Kind};
use crate::mediate::{Answer, Attempt};
use crate::sealed::Sealer;
use crate::store::{StoreError, StoredCall, StoredSelection};

/// The longest idempotency key, in bytes.
pub const MAX_KEY: usize = 128;
/// How long a retry waits before it looks again whether another kernel ended the call.
const LOOK: Duration = Duration::from_millis(250);

/// An idempotency key, and what is asked under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyed {
    /// SHA-256 of the key: a worker may write anything into one.
    pub key: Digest,
    /// A keyed digest of what is asked. Arguments may hold a secret, and a plain digest could be searched for it.
    pub asked: Digest,
}

impl Keyed {
    /// What is asked under this key.
    pub(crate) fn of(key: &str, request: &Request, sealer: &Sealer) -> Result<Self, StoreError> {
        let asked = canonical_json(&json!([
            request.action,
            request.arguments,
            request.selection_token
        ]))?;
        Ok(Self {
            key: key_digest(key),
            asked: sealer.fingerprint(&asked),
        })
    }
}

/// What is stored of a key.
pub(crate) fn key_digest(key: &str) -> Digest {
    Digest::of_bytes(key.as_bytes())
}

/// Whether this text can be a key: 1 to 128 visible ASCII characters.
pub(crate) fn is_key(text: &str) -> bool {
    (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

impl StoredCall {
    /// The selection that this call spent, where it is this one; it is the call's own until then.
    pub(crate) fn spent(&self, token: Ulid, until: Timestamp) -> Option<StoredSelection> {
        let token = own_token(self, until).filter(|own| own.id == token)?;
        let target = self.selection.as_ref()?.target.clone();
        Some(StoredSelection { token, target })
    }
}

impl Attempt<'_> {
    /// What the idempotency key makes of a call that the gate let and whose arguments fit: `None` where it is to
    /// run.
    pub(crate) async fn by_its_key(
        &self,
        first: Option<StoredCall>,
        record: &Authorization,
    ) -> Result<Option<Answer>, StoreError> {
        let tool = self
            .kernel
            .catalog
            .tool_descriptor_for(&self.request.action);
        let is_required = tool.is_some_and(|tool| tool.idempotency_key_required);
        Ok(match first {
            Some(first) => Some(self.answer_again(first, record).await?),
            None if is_required && self.keyed.is_none() => {
                Some(self.invalid_key("idempotency_key_required").await?)
            }
            None => None,
        })
    }

    /// Answers a call that came before under its key.
    pub(crate) async fn answer_again(
        &self,
        first: StoredCall,
        record: &Authorization,
    ) -> Result<Answer, StoreError> {
        let request_id = first.id;
        if first.keyed != self.keyed {
            return self.invalid_key("idempotency_key_conflict").await;
        }
        let entry = Entry {
            at: self.at,
            kind: Kind::CallReplayed,
            body: self.body(json!({"call": request_id, "authorization": record})),
        };
        self.kernel.store.record(entry).await?;
        let call = self.kernel.when_ended(first).await?;
        let unsupported = |reason| Answer::Unsupported { request_id, reason };
        Ok(match call.state {
            State::Pending => Answer::ApprovalRequired { request_id },
            State::Approved | State::Running => unsupported("idempotency_recovery_in_flight"),
            State::Succeeded => match call.result {
                Some(result) => Answer::Replayed { request_id, result },
                None => unsupported("idempotency_receipt_unavailable"),
            },
            State::Failed => unsupported(match call.reason.as_deref() {
                Some("unavailable") => "unavailable",
                _ => "operation_failed",
            }),
            State::OutcomeUnknown => unsupported("outcome_unknown"),
            State::Rejected | State::Cancelled | State::Refused => Answer::NotApproved {
                request_id,
                reason: DenialReason::ApprovalMissing,
            },
            State::Expired => Answer::NotApproved {
                request_id,
                reason: DenialReason::ApprovalExpired,
            },
        })
    }

    /// Refuses a call for its idempotency key, or for the lack of one.
    async fn invalid_key(&self, reason: &'static str) -> Result<Answer, StoreError> {
        self.refuse(self.refused(reason)).await?;
        Ok(Answer::InvalidKey(reason))
    }
}

impl Kernel {
    /// The call once it is under way no more, or as it stands when a handler's time is over.
    async fn when_ended(&self, first: StoredCall) -> Result<StoredCall, StoreError> {
        let over = Instant::now() + Config::seconds(&self.limits.handler_seconds);
        let mut call = first;
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if let Some(now) = self.call_as_of_now(call.id).await? {
                call = now;
            }
            let under_way = matches!(call.state, State::Approved | State::Running);
            if !under_way || Instant::now() >= over {
                return Ok(call);
            }
            // What ends at another kernel does not ring here.
            let _ = timeout_at(over.min(Instant::now() + LOOK), ended).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_visible() {
        for good in [
            "a",
            "retry-1",
            "01J0000000000000000000R0BN",
            &"k".repeat(MAX_KEY),
        ] {
            assert!(is_key(good), "{good}");
        }
        for bad in ["", " ", "a b", "a\n", "ключ", &"k".repeat(MAX_KEY + 1)] {
            assert!(!is_key(bad), "{bad:?}");
        }
    }
}
