//! Calls that wait for approval: what they wait with, what a decision is bound to, and how an approved one is
//! run, once, by the kernel itself.
//!
//! What an approver is shown has a digest, the *binding*: over the action, its descriptor, the arguments, the
//! target, the grant and the revision of the manifests. A decision names the binding that was seen. Before the
//! call runs it is worked out anew from what is stored and loaded then; if it is another, nothing runs.

use std::sync::Arc;

use actum::digest::{NotCanonical, canonical_json};
use actum::gate::{
    Approval, Decision, DenialReason, Evidence, Origin, Request, SelectionToken, Verdict, gate,
};
use actum::grant::Principal;
use actum::schema::ArgumentFault;
use actum::{ActionId, Digest};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::Kernel;
use crate::auth::LiveTask;
use crate::calls::State;
use crate::config::Config;
use crate::ledger::{Entry, Kind};
use crate::mediate::{Attempt, Begin};
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
    shown: &Value,
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
    let raw = Value::Object(call.request.arguments.clone());
    let sealed = match raw == *shown {
        true => None,
        false => Some(kernel.sealer.seal(new.id, &canonical_json(&raw)?)?),
    };
    let target = selection.map(|selection| selection.target.as_str());
    let bound = Bound {
        task: call.task,
        action: action.as_str(),
        arguments: &new.arguments,
        sealed: sealed.as_deref(),
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
        sealed,
        binding,
        expires_at,
        instead_of,
    };
    let refused = kernel.store.hold(new, waiting).await?;
    // Whoever waits for news is told that there is something to decide.
    kernel.news.notify_waiters();
    Ok(refused.map_or(Ok(id), Err))
}

/// All that a decision is bound to.
struct Bound<'a> {
    task: &'a LiveTask,
    action: &'a str,
    /// As they are stored, in canonical form.
    arguments: &'a str,
    sealed: Option<&'a [u8]>,
    target: Option<&'a str>,
}

impl Bound<'_> {
    fn digest(&self, kernel: &Kernel) -> Result<Digest, NotCanonical> {
        let grant = self.task.grant.root();
        let mut bound = json!({
            "action": self.action,
            "descriptor": Digest::of_json(&kernel.catalog.tool_descriptor_for(self.action))?,
            "arguments": Digest::of_bytes(self.arguments.as_bytes()),
            "sealed": self.sealed.map(Digest::of_bytes),
            "target": self.target,
            "grant": Digest::of_json(grant)?,
            "policy": self.task.revision,
        });
        if let (Some(bound), true) = (bound.as_object_mut(), self.task.grant.is_handed_on()) {
            // A lineage shares one root grant; its caveats are each task's own.
            bound.insert("task".to_owned(), json!(self.task.id));
        }
        Digest::of_json(&bound)
    }
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
        let at = self.now();
        let expires_at = call.waiting.as_ref().map(|waiting| waiting.expires_at);
        let reason = match expires_at.is_some_and(|expiry| at < expiry) {
            _ if call.state != State::Pending => return Ok(false),
            false => "approval_expired",
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
        self.store
            .step(call.id, State::Pending, reason, entry)
            .await?;
        Ok(true)
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
        Ok(match self.store.decide(new).await? {
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
        let token = own_token(&call);
        let evidence = Evidence {
            approval: None,
            selection_token: token.as_ref(),
        };
        let attempt = Attempt {
            kernel: self,
            task: &task,
            request: &request,
            keyed: None,
            at,
        };
        let action = match gate(&task.grant, &request, &self.catalog, evidence, at) {
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

    /// Runs what was approved and not yet begun: before the kernel stopped, or was killed.
    pub(crate) async fn resume_approved(self: &Arc<Self>) -> Result<(), StoreError> {
        for call in self.store.calls_in(State::Approved, MOST).await? {
            let id = call.id;
            // One that cannot be run keeps none of the others from it.
            if let Err(error) = self.run_approved(call).await {
                tracing::error!(call = %id, %error, "an approved call could not be run; it is tried again at the next start");
            }
        }
        Ok(())
    }

    /// Runs an approved call, if the gate still lets it: the grant may be over by now, its actor may have lost a
    /// claim, or what was approved may be another thing than what is stored.
    pub(crate) async fn run_approved(self: &Arc<Self>, call: StoredCall) -> Result<(), StoreError> {
        let (id, at) = (call.id, self.now());
        let Some(task) = self.tasks.live(call.task_id, at).await? else {
            let entry = Entry {
                at,
                kind: Kind::CallRefused,
                body: json!({"call": id, "task": call.task_id, "action": call.action, "reason": "grant_expired"}),
            };
            self.store
                .step(id, State::Approved, "grant_expired", entry)
                .await?;
            return Ok(());
        };
        let (request, verdict) = self.judge_approved(&call, &task, at).await?;
        let attempt = Attempt {
            kernel: self,
            task: &task,
            request: &request,
            keyed: None,
            at,
        };
        let refuse = async |record: actum::authorization::Authorization| {
            let reason = record.reason.clone();
            let body = json!({"call": id, "reason": reason, "authorization": record});
            let entry = Entry {
                at,
                kind: Kind::CallRefused,
                body: attempt.body(body),
            };
            let stepped = self.store.step(id, State::Approved, &reason, entry).await;
            stepped.map(drop)
        };
        let record = attempt.judged(&verdict);
        let Verdict::Allow(permit) = verdict else {
            return refuse(record).await;
        };
        let Ok(admitted) = self.registry.admit(permit) else {
            return refuse(attempt.refused("input_schema_invalid")).await;
        };
        let selection = call.selection.as_ref();
        if !attempt
            .checked(admitted.action(), selection)
            .await
            .is_empty()
        {
            return refuse(attempt.refused("input_schema_invalid")).await;
        }
        let record = record.leading_to(actum::authorization::StateChange::CallStarted);
        let arguments = canonical_json(admitted.shown_arguments())?;
        let entry = Entry {
            at,
            kind: Kind::CallStarted,
            body: attempt.body(json!({
                "call": id, "arguments": Digest::of_bytes(&arguments), "authorization": record,
            })),
        };
        // Whether it ended well is the store's to tell; that it was begun twice is nobody's fault.
        let begin = Begin::Approved(id, entry);
        let answer = attempt.carry_out(admitted, begin, call.selection).await?;
        // The task was taken back since the gate looked.
        if let Err(NotBegun::Refused(reason @ DenialReason::GrantExpired)) = answer {
            return refuse(attempt.refused(reason.as_str())).await;
        }
        tracing::debug!(call = %id, ?answer, "an approved call was run");
        Ok(())
    }

    /// Whether a call that waited is still bound to what it was as it was held.
    pub(crate) fn binding_holds(
        &self,
        call: &StoredCall,
        task: &LiveTask,
    ) -> Result<bool, StoreError> {
        let Some(waiting) = &call.waiting else {
            return Ok(false);
        };
        let bound = Bound {
            task,
            action: &call.action,
            arguments: &call.arguments,
            sealed: waiting.sealed.as_deref(),
            target: call
                .selection
                .as_ref()
                .map(|selection| selection.target.as_str()),
        };
        Ok(bound.digest(self)? == waiting.binding)
    }

    async fn judge_approved(
        &self,
        call: &StoredCall,
        task: &LiveTask,
        at: Timestamp,
    ) -> Result<(Arc<Request>, Verdict), StoreError> {
        let unreadable =
            |what: &str| StoreError::Unreadable(format!("{what} of the call {}", call.id));
        let waiting = call.waiting.as_ref();
        let waiting = waiting.ok_or_else(|| unreadable("the binding"))?;
        let binding = waiting.binding;
        let decisions = self.store.decisions(call.id).await?;
        let approvals = decisions.iter().filter(|decision| decision.approved);
        if !self.binding_holds(call, task)? || !approvals.clone().all(|one| one.binding == binding)
        {
            // What was approved is another thing; what is stored is not even opened.
            let verdict = Verdict::Deny(DenialReason::ApprovalDigestMismatch);
            return Ok((request(call, Map::new())?, verdict));
        }
        let arguments = match &waiting.sealed {
            None => call.arguments.as_bytes().to_vec(),
            Some(sealed) => self.sealer.open(call.id, sealed)?,
        };
        let arguments: Map<String, Value> =
            serde_json::from_slice(&arguments).map_err(|_| unreadable("the arguments"))?;
        let request = request(call, arguments)?;
        let (Some(payload_digest), Some(target_digest)) =
            (request.payload_digest, request.target_digest)
        else {
            return Ok((request, Verdict::Deny(DenialReason::ApprovalMissing)));
        };
        let enough =
            approvals.count() >= usize::try_from(self.approvals.quorum.value).unwrap_or(usize::MAX);
        let approval = Approval {
            decision: match enough {
                true => Decision::Approved,
                false => Decision::Rejected,
            },
            expires_at: waiting.expires_at,
            payload_digest,
            target_digest,
        };
        let token = own_token(call);
        let evidence = Evidence {
            approval: Some(&approval),
            selection_token: token.as_ref(),
        };
        let verdict = gate(&task.grant, &request, &self.catalog, evidence, at);
        Ok((request, verdict))
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
const MOST: i64 = 1_000;

/// A stored call as the gate is asked about it.
fn request(call: &StoredCall, arguments: Map<String, Value>) -> Result<Arc<Request>, StoreError> {
    let target = call
        .selection
        .as_ref()
        .map(|selection| selection.target.as_str());
    Ok(Arc::new(Request {
        action: call.action.clone(),
        payload_digest: Some(Digest::of_json(&arguments)?),
        target_digest: Some(Digest::of_json(&target)?),
        arguments,
        selection_token: call.selection.as_ref().map(|selection| selection.token.id),
        origin: Origin::Worker,
    }))
}

/// The token that a waiting call spent as it was asked for. It was in time then, and is the call's own for as
/// long as the call waits.
fn own_token(call: &StoredCall) -> Option<SelectionToken> {
    let token = call.selection.as_ref()?.token.clone();
    let expires_at = call.waiting.as_ref()?.expires_at;
    Some(SelectionToken {
        expires_at,
        ..token
    })
}
