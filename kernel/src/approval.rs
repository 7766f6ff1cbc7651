//! Calls that wait for approval: what they wait with, and who decides on them.

use std::sync::Arc;

use actum::gate::{DenialReason, Evidence, Verdict, gate};
use actum::grant::Principal;
use actum::registry::ShownArguments;
use actum::schema::ArgumentFault;
use actum::{ActionId, Caller, Digest};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::Kernel;
use crate::calls::State;
use crate::config::Config;
use crate::judgement::{Bound, own_token, request};
use crate::ledger::{Entry, Kind};
use crate::mediate::Attempt;
use crate::store::{
    Decided, NewDecision, NotBegun, StoreError, StoredCall, StoredDecision, StoredSelection,
    Waiting,
};

/// Somebody who may decide, as they were authenticated.
#[derive(Debug, Clone)]
pub(crate) struct Approver {
    /// Their name: `owner`, or one of the configuration.
    pub(crate) id: String,
    /// The principals that they are.
    pub(crate) principals: Vec<String>,
}

/// Why somebody's decision does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// There is no such call.
    Unknown,
    /// It does not wait any more, and stands here.
    NotWaiting(State),
    /// They decided on it before.
    Twice,
    /// What they saw is not what is waiting.
    OtherBinding,
    /// The task is their own.
    OwnTask,
}

/// Stores a call that waits, in place of another one if it is an edited form of it. Inside, why it does not
/// wait.
pub(crate) async fn hold(
    call: &Attempt<'_>,
    action: &ActionId,
    shown: &ShownArguments,
    selection: Option<&StoredSelection>,
    instead_of: Option<(Ulid, Entry)>,
) -> Result<Result<Ulid, NotBegun>, StoreError> {
    let kernel = call.kernel;
    let selection = call.own(action, selection);
    let spends = selection.map(|selection| selection.token.id);
    let verdict = Verdict::ApprovalRequired(action.clone());
    let record = call
        .judged(&verdict)
        .leading_to(actum::authorization::StateChange::CallPending);
    let mut new = call.new_call(action, shown, spends, Kind::CallPending, &record)?;
    let target = selection.map(|selection| selection.target.as_str());
    let bound = Bound {
        task: call.task,
        action: action.as_str(),
        arguments: &new.arguments,
        sealed: new.sealed.as_deref(),
        target,
    };
    let binding = bound.digest(kernel)?;
    let patience = SignedDuration::try_from(Config::seconds(&kernel.approvals.expires_seconds));
    let expires_at = call
        .at
        .checked_add(patience.unwrap_or(SignedDuration::ZERO))
        .unwrap_or(call.at)
        .min(call.task.grant.expires_at());
    if let Some(body) = new.entry.body.as_object_mut() {
        body.insert("binding".to_owned(), json!(binding));
        body.insert("expires_at".to_owned(), json!(expires_at));
        let old = instead_of.as_ref().map(|(old, _)| old);
        body.extend(old.map(|old| ("instead_of".to_owned(), json!(old))));
    }
    let id = new.id;
    let waiting = Waiting {
        binding,
        expires_at,
        instead_of,
    };
    let refused = kernel.store.hold(new, waiting).await?;
    // Whoever waits for news is told that there is something to decide.
    kernel.news.notify_waiters();
    Ok(refused.map_or(Ok(id), Err))
}

impl Kernel {
    /// A call as it stands: one that waited, and whose time is over by now, is marked so first.
    pub(crate) async fn call_as_of_now(&self, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
        match self.store.call(id).await? {
            Some(call) if self.expire(&call).await? => self.store.call(id).await,
            call => Ok(call),
        }
    }

    /// The calls that wait, oldest first; those whose time is over are marked so, and are not among them.
    pub(crate) async fn waiting_calls(&self) -> Result<Vec<StoredCall>, StoreError> {
        let mut waiting = Vec::new();
        for call in self.store.calls_in(State::Pending, MOST).await? {
            if !self.expire(&call).await? {
                waiting.push(call);
            }
        }
        Ok(waiting)
    }

    /// Marks a call that waits and whose time or task is over; whether it is one.
    async fn expire(&self, call: &StoredCall) -> Result<bool, StoreError> {
        if call.state != State::Pending {
            return Ok(false);
        }
        let at = self.now();
        let expires_at = call.waiting.as_ref().map(|waiting| waiting.expires_at);
        let reason = match expires_at.is_some_and(|expiry| at < expiry) {
            false => "approval_expired",
            // In memory, as a rule: the store is asked about a task that is not live alone.
            true if self.tasks.live(call.task_id, at).await?.is_some() => return Ok(false),
            true => match self.store.task(call.task_id).await? {
                Some(task) if task.is_over() => "grant_expired",
                _ => return Ok(false),
            },
        };
        let entry = Entry {
            at,
            kind: Kind::CallExpired,
            body: json!({"call": call.id, "task": call.task_id, "action": call.action}),
        };
        let stepped = self
            .store
            .step(call.id, State::Pending, reason, entry)
            .await?;
        if stepped {
            self.metrics.decision("expired");
        }
        Ok(true)
    }

    /// Has a call that waits never run, since its worker wants it no more; whether it waited.
    pub(crate) async fn cancel(&self, call: &StoredCall) -> Result<bool, StoreError> {
        if call.state != State::Pending {
            return Ok(false);
        }
        let entry = Entry {
            at: self.now(),
            kind: Kind::CallCancelled,
            body: json!({"call": call.id, "task": call.task_id, "action": call.action}),
        };
        let cancelled = self
            .store
            .step(call.id, State::Pending, "withdrawn", entry)
            .await?;
        if cancelled {
            self.metrics.decision("cancelled");
        }
        Ok(cancelled)
    }

    /// The revision of the manifests that a waiting call is bound to, if they are those in force and everything else
    /// that it is bound to is as it was, too.
    pub(crate) async fn bound_revision(
        &self,
        call: &StoredCall,
    ) -> Result<Option<Digest>, StoreError> {
        let Some(task) = self.tasks.live(call.task_id, self.now()).await? else {
            return Ok(None);
        };
        Ok(self.binding_holds(call, &task)?.then_some(task.revision))
    }

    /// Puts the same call in the place of a waiting one, bound to what is in force now; it passes its own gate.
    pub(crate) async fn renew(
        self: &Arc<Self>,
        by: &Approver,
        id: Ulid,
        seen: Digest,
    ) -> Result<Result<Edited, Undecided>, StoreError> {
        let Some(call) = self.call_as_of_now(id).await? else {
            return Ok(Err(Undecided::Unknown));
        };
        let arguments = match &call.sealed {
            None => call.arguments.into_bytes(),
            Some(sealed) => self.sealer.open(id, sealed)?,
        };
        let arguments = serde_json::from_slice(&arguments)
            .map_err(|error| StoreError::Unreadable(error.to_string()))?;
        self.edit(by, id, seen, arguments).await
    }

    /// Decides on a waiting call; an approved one is then run. Inside, why the decision does not count.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        by: &Approver,
        id: Ulid,
        seen: Digest,
        approved: bool,
        reason: Option<String>,
    ) -> Result<Result<State, Undecided>, StoreError> {
        let (call, is_own) = match self.waiting(by, id, seen).await? {
            Ok(found) => found,
            Err(undecided) => return Ok(Err(undecided)),
        };
        let at = self.now();
        let body = json!({
            "call": id, "task": call.task_id, "action": call.action, "approver": by.id,
            "binding": seen, "reason": reason, "solo_owner": is_own,
        });
        let decision = StoredDecision {
            approver: by.id.clone(),
            approved,
            reason,
            binding: seen,
            at: at.to_string(),
        };
        let new = NewDecision {
            call: id,
            decision,
            quorum: self.approvals.quorum.value,
            at,
            body,
        };
        let decided = self.store.decide(new).await?;
        if let Decided::Stored(_) = decided {
            let word = match approved {
                true => "approved",
                false => "rejected",
            };
            self.metrics.decision(word);
        }
        Ok(match decided {
            Decided::Twice => Err(Undecided::Twice),
            Decided::NotWaiting(state) => Err(Undecided::NotWaiting(state)),
            Decided::Stored(State::Approved) => {
                self.run_approved(call).await?;
                let now = self.store.call(id).await?;
                Ok(now.map_or(State::Approved, |call| call.state))
            }
            Decided::Stored(state) => Ok(state),
        })
    }

    /// Puts an edited call in the place of a waiting one; it passes its own gate, and waits in its turn.
    pub(crate) async fn edit(
        self: &Arc<Self>,
        by: &Approver,
        id: Ulid,
        seen: Digest,
        arguments: Map<String, Value>,
    ) -> Result<Result<Edited, Undecided>, StoreError> {
        let (call, _) = match self.waiting(by, id, seen).await? {
            Ok(found) => found,
            Err(undecided) => return Ok(Err(undecided)),
        };
        let at = self.now();
        let Some(task) = self.tasks.live(call.task_id, at).await? else {
            return Ok(Ok(Edited::Refused(DenialReason::GrantExpired)));
        };
        let request = request(&call, arguments)?;
        let until = call
            .waiting
            .as_ref()
            .map_or(at, |waiting| waiting.expires_at);
        let token = own_token(&call, until);
        let evidence = Evidence {
            approval: None,
            selection_token: token.as_ref(),
        };
        let attempt = Attempt {
            kernel: self,
            task: &task,
            request: &request,
            keyed: None,
            caller: Caller::nobody(),
            at,
        };
        let action = match gate(&task.grant, &request, &self.at_hand(), evidence, at) {
            Verdict::ApprovalRequired(action) => action,
            Verdict::Deny(reason) => return Ok(Ok(Edited::Refused(reason))),
            Verdict::Allow(_) | Verdict::EffectSuppressed => {
                return Ok(Ok(Edited::Refused(DenialReason::ApprovalMissing)));
            }
        };
        let value = Value::Object(request.arguments.clone());
        let shown = match self.registry.shown_arguments(action.as_str(), value) {
            Ok(shown) => shown,
            Err(faults) => return Ok(Ok(Edited::Unfit(faults))),
        };
        let faults = attempt.checked(&action, call.selection.as_ref()).await;
        if !faults.is_empty() {
            return Ok(Ok(Edited::Unfit(faults)));
        }
        let rejected = Entry {
            at,
            kind: Kind::CallRejected,
            body: json!({
                "call": id, "task": call.task_id, "action": call.action, "approver": by.id,
                "binding": seen, "reason": "edited",
            }),
        };
        let instead_of = Some((id, rejected));
        let held = hold(
            &attempt,
            &action,
            &shown,
            call.selection.as_ref(),
            instead_of,
        )
        .await?;
        if held.is_ok() {
            self.metrics.decision("edited");
        }
        Ok(Ok(match held {
            Ok(new) => Edited::Waiting(new),
            Err(NotBegun::Refused(reason)) => Edited::Refused(reason),
            // It came with no key.
            Err(NotBegun::Again(_)) => Edited::Refused(DenialReason::ApprovalMissing),
        }))
    }

    /// The call, if it waits and this approver may decide on it as they saw it; and whether its task is their
    /// own.
    async fn waiting(
        &self,
        by: &Approver,
        id: Ulid,
        seen: Digest,
    ) -> Result<Result<(StoredCall, bool), Undecided>, StoreError> {
        let Some(call) = self.call_as_of_now(id).await? else {
            return Ok(Err(Undecided::Unknown));
        };
        if call.state != State::Pending {
            return Ok(Err(Undecided::NotWaiting(call.state)));
        }
        if call.waiting.as_ref().map(|waiting| waiting.binding) != Some(seen) {
            return Ok(Err(Undecided::OtherBinding));
        }
        let is_own = self.is_own(by, &call).await?;
        if is_own && !(self.approvals.solo_owner && by.id == OWNER) {
            return Ok(Err(Undecided::OwnTask));
        }
        Ok(Ok((call, is_own)))
    }

    /// Whether the task of a call is the approver's own.
    async fn is_own(&self, by: &Approver, call: &StoredCall) -> Result<bool, StoreError> {
        let task = self.tasks.live(call.task_id, self.now()).await?;
        Ok(task.is_some_and(|task| match &task.grant.root().principal {
            Principal::Known(id) => by.principals.contains(id),
            Principal::Anonymous(_) => false,
        }))
    }
}

/// What became of an edit.
#[derive(Debug)]
pub(crate) enum Edited {
    /// This call waits in its place.
    Waiting(Ulid),
    /// The gate does not let it.
    Refused(DenialReason),
    /// The arguments do not fit.
    Unfit(Vec<ArgumentFault>),
}

/// The name that the owner's decisions are recorded under.
pub(crate) const OWNER: &str = "owner";
/// The most calls that are looked at in one go.
pub(crate) const MOST: i64 = 1_000;
