//! The one path of a call, whatever door it came by: look up what the kernel knows, gate, check the
//! arguments, record, dispatch, record.

use std::sync::Arc;

use actum::authorization::{self, Authorization, Phase, StateChange};
use actum::digest::canonical_json;
use actum::gate::{DenialReason, Evidence, Origin, Request, Verdict, exposure, gate};
use actum::redact::Delivery;
use actum::registry::ShownArguments;
use actum::schema::ArgumentFault;
use actum::{ActionId, Caller, Digest, ToolName};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tracing::field::Empty;
use tracing::{Instrument as _, debug_span};
use ulid::Ulid;

use crate::Kernel;
use crate::approval;
use crate::auth::LiveTask;
use crate::dispatch::Begin;
use crate::ledger::{Entry, Kind};
use crate::lineage;
use crate::replay::{self, Keyed};
use crate::store::{NewCall, NotBegun, StoreError, StoredCall, StoredSelection};
use crate::telemetry::SPANS;

/// A call as a worker posted it.
#[derive(Debug)]
pub struct Posted {
    /// An action id or a tool name, or anything else.
    pub action: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The selection token presented.
    pub selection_token: Option<String>,
    /// The idempotency key: of the calls of a task that have it, one runs.
    pub idempotency_key: Option<String>,
    /// Who waits for it, as far as the door has a line to them.
    pub caller: Caller,
}

/// What the worker is told. Built from the view and the verdict, never from the catalog.
#[derive(Debug)]
pub enum Answer {
    /// It ran, and this came out.
    Done {
        /// The call's id.
        request_id: Ulid,
        /// The result, opened for the model.
        result: Delivery,
    },
    /// It ran when it was first asked for, and this came out.
    Replayed {
        /// The call's id.
        request_id: Ulid,
        /// The result as it is stored.
        result: Value,
    },
    /// It waits for the owner.
    ApprovalRequired {
        /// The call's id.
        request_id: Ulid,
    },
    /// It waited for the owner when it was first asked for, and will not run.
    NotApproved {
        /// The call's id.
        request_id: Ulid,
        /// Why not.
        reason: DenialReason,
    },
    /// The action is not in the worker's view: it does not exist.
    Absent,
    /// The worker was shown the action, and this call of it was refused; the claims that it requires.
    Denied(DenialReason, Option<Claims>),
    /// The grant's effects are not real.
    Suppressed,
    /// The arguments do not fit.
    InvalidArguments(Vec<ArgumentFault>),
    /// Its idempotency key is missing, or was another call's: `idempotency_key_required` or
    /// `idempotency_key_conflict`.
    InvalidKey(&'static str),
    /// It was tried, or could not be.
    Unsupported {
        /// The call's id.
        request_id: Ulid,
        /// One word: `unavailable`, `operation_failed`, `outcome_unknown`, or of a call that came again
        /// `idempotency_recovery_in_flight` or `idempotency_receipt_unavailable`.
        reason: &'static str,
    },
}

impl Answer {
    /// One word for it, for numbers and traces.
    const fn word(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Replayed { .. } => "replayed",
            Self::ApprovalRequired { .. } => "approval_required",
            Self::NotApproved { .. } => "not_approved",
            Self::Absent => "operation_absent",
            Self::Denied(..) => "policy_denied",
            Self::Suppressed => "effect_suppressed",
            Self::InvalidArguments(_) | Self::InvalidKey(_) => "input_invalid",
            Self::Unsupported { .. } => "operation_unsupported",
        }
    }

    /// The call that it became or was before, if it is one.
    const fn request_id(&self) -> Option<Ulid> {
        match self {
            Self::Done { request_id, .. }
            | Self::Replayed { request_id, .. }
            | Self::ApprovalRequired { request_id }
            | Self::NotApproved { request_id, .. }
            | Self::Unsupported { request_id, .. } => Some(*request_id),
            Self::Absent
            | Self::Denied(..)
            | Self::Suppressed
            | Self::InvalidArguments(_)
            | Self::InvalidKey(_) => None,
        }
    }
}

/// The claims of an action that a worker was shown.
#[derive(Debug, Default, Serialize)]
pub struct Claims {
    /// Those that it requires.
    considered: Vec<String>,
    /// Those that are held.
    granted: Vec<String>,
    /// Those that are not, or not any more.
    missing: Vec<String>,
}

impl Claims {
    /// Those of a record; `None` where the action requires none.
    fn of(record: Authorization) -> Option<Self> {
        let required = !record.considered.is_empty();
        required.then_some(Self {
            considered: record.considered,
            granted: record.granted,
            missing: record.missing,
        })
    }
}

/// Mediates a call.
///
/// # Errors
/// [`StoreError`] when the decision could not be made durable; nothing ran then.
pub async fn mediate(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    mut posted: Posted,
) -> Result<Answer, StoreError> {
    if let Some(id) = ToolName::to_id(&posted.action) {
        posted.action = id.to_string();
    }
    let action = bounded(&posted.action);
    let span = debug_span!(
        target: SPANS,
        "call",
        actum.task = %task.id,
        actum.action = action,
        actum.call = Empty,
        actum.answer = Empty,
    );
    let answer = mediated(kernel, task, posted)
        .instrument(span.clone())
        .await;
    let word = answer.as_ref().map_or("unrecorded", Answer::word);
    span.record("actum.answer", word);
    if let Some(call) = answer.as_ref().ok().and_then(Answer::request_id) {
        span.record("actum.call", tracing::field::display(call));
    }
    kernel.metrics.call(&kernel.catalog, &action, word);
    answer
}

async fn mediated(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    posted: Posted,
) -> Result<Answer, StoreError> {
    let now = kernel.now();
    let first = match &posted.idempotency_key {
        Some(key) => {
            let key = replay::key_digest(key);
            kernel.store.call_of_key(task.id, key).await?
        }
        None => None,
    };
    let presented = posted.selection_token.as_deref();
    let presented = presented.and_then(|token| Ulid::from_string(token).ok());
    // Spent by the first call under this key, a token is still good for being told of it.
    let spent = first
        .as_ref()
        .and_then(|first| first.spent(presented?, task.grant.expires_at()));
    let stored = match spent {
        Some(spent) => Some(spent),
        None => kernel.selection(task, presented).await?,
    };
    let (action, arguments) = (posted.action, posted.arguments);
    let request = request(action, arguments, presented, stored.as_ref())?;
    let evidence = Evidence {
        approval: None,
        selection_token: stored.as_ref().map(|selection| &selection.token),
    };

    let verdict = gate(&task.grant, &request, &kernel.at_hand(), evidence, now);
    let keyed = posted.idempotency_key.as_deref();
    let keyed = keyed.map(|key| Keyed::of(key, &request, &kernel.sealer));
    let call = Attempt {
        kernel,
        task,
        request: &request,
        keyed: keyed.transpose()?,
        caller: posted.caller,
        at: now,
    };
    let record = call.judged(&verdict);
    // The worker is told more than "absent" only of what its grant showed it when it was issued.
    if let Err(absence) = exposure(&task.issued, &kernel.at_hand(), &request.action) {
        let record = match verdict {
            Verdict::Deny(_) => record,
            Verdict::Allow(_) | Verdict::ApprovalRequired(_) | Verdict::EffectSuppressed => {
                call.refused(absence.as_str())
            }
        };
        call.refuse(record).await?;
        return Ok(Answer::Absent);
    }
    match verdict {
        Verdict::Deny(reason) => call.deny(reason, record).await,
        Verdict::EffectSuppressed => {
            call.refuse(record).await?;
            Ok(Answer::Suppressed)
        }
        Verdict::ApprovalRequired(action) => {
            let value = Value::Object(request.arguments.clone());
            let shown = match kernel.registry.shown_arguments(action.as_str(), value) {
                Ok(shown) => shown,
                Err(faults) => return call.unfit(faults).await,
            };
            if let Some(answer) = call
                .stopped(&action, first, &record, stored.as_ref())
                .await?
            {
                return Ok(answer);
            }
            let held = approval::hold(&call, &action, &shown, stored.as_ref(), None).await?;
            match held {
                Ok(request_id) => Ok(Answer::ApprovalRequired { request_id }),
                Err(why) => call.not_begun(why, &record).await,
            }
        }
        Verdict::Allow(permit) => {
            let action = permit.action().clone();
            let admitted = match kernel.registry.admit(permit) {
                Ok(admitted) => admitted,
                Err(faults) => return call.unfit(faults).await,
            };
            if let Some(answer) = call
                .stopped(&action, first, &record, stored.as_ref())
                .await?
            {
                return Ok(answer);
            }
            let selection = call.own(&action, stored);
            let spends = selection.as_ref().map(|selection| selection.token.id);
            let record = record.leading_to(StateChange::CallStarted);
            let new = call.new_call(
                &action,
                admitted.shown_arguments(),
                spends,
                Kind::CallStarted,
                &record,
            )?;
            let begin = Begin::New(Box::new(new));
            match call.carry_out(admitted, begin, selection).await? {
                Ok(answer) => Ok(answer),
                Err(why) => call.not_begun(why, &record).await,
            }
        }
    }
}

/// What a worker posts as an action may be anything; records keep a bounded piece of it.
fn bounded(action: &str) -> String {
    action.chars().take(128).collect()
}

/// A call as the gate is asked about it.
pub(crate) fn request(
    action: String,
    arguments: Map<String, Value>,
    selection_token: Option<Ulid>,
    selection: Option<&StoredSelection>,
) -> Result<Arc<Request>, StoreError> {
    let target = selection.map(|selection| selection.target.as_str());
    Ok(Arc::new(Request {
        action,
        payload_digest: Some(Digest::of_json(&arguments)?),
        target_digest: Some(Digest::of_json(&target)?),
        arguments,
        selection_token,
        origin: Origin::Worker,
    }))
}

/// One call on its way.
pub(crate) struct Attempt<'a> {
    pub(crate) kernel: &'a Arc<Kernel>,
    pub(crate) task: &'a Arc<LiveTask>,
    pub(crate) request: &'a Arc<Request>,
    /// The idempotency key that it comes with.
    pub(crate) keyed: Option<Keyed>,
    /// Who waits for it.
    pub(crate) caller: Caller,
    pub(crate) at: Timestamp,
}

impl Attempt<'_> {
    pub(crate) fn body(&self, more: Value) -> Value {
        let mut body = json!({
            "task": self.task.id,
            "grant": self.task.grant.root().id,
            "principal": self.task.grant.root().principal,
            "action": self.named(),
        });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        body
    }

    /// The selection that an action takes; none where it takes none, whatever was presented.
    pub(crate) fn own<S>(&self, action: &ActionId, selection: Option<S>) -> Option<S> {
        let catalog = &self.kernel.catalog;
        selection.filter(|_| catalog.selection_token_type_for(action.as_str()).is_some())
    }

    fn named(&self) -> String {
        bounded(&self.request.action)
    }

    pub(crate) fn judged(&self, verdict: &Verdict) -> Authorization {
        Authorization::of_call(
            &self.task.grant,
            &self.kernel.catalog,
            &self.named(),
            verdict,
        )
    }

    /// The record of a call that was refused by no verdict of the gate.
    pub(crate) fn refused(&self, reason: &str) -> Authorization {
        Authorization::new(
            &self.kernel.catalog,
            self.task.grant.mandate(),
            Phase::Invocation,
            &self.named(),
            (authorization::Outcome::Denied, reason),
        )
    }

    pub(crate) async fn refuse(&self, record: Authorization) -> Result<(), StoreError> {
        self.kernel.metrics.refusal(&record.reason);
        let body = self.body(json!({"reason": record.reason, "authorization": record}));
        self.kernel
            .store
            .record(Entry {
                at: self.at,
                kind: Kind::CallRefused,
                body,
            })
            .await
    }

    /// Refuses a call of an action that the worker was shown.
    async fn deny(
        &self,
        reason: DenialReason,
        record: Authorization,
    ) -> Result<Answer, StoreError> {
        self.refuse(record.clone()).await?;
        Ok(Answer::Denied(reason, Claims::of(record)))
    }

    /// The answer to a call that the gate let and whose arguments fit, and that does not begin all the same: it came
    /// before under its key, or its action's own check found a fault.
    async fn stopped(
        &self,
        action: &ActionId,
        first: Option<StoredCall>,
        record: &Authorization,
        selection: Option<&StoredSelection>,
    ) -> Result<Option<Answer>, StoreError> {
        if let Some(answer) = self.by_its_key(first, record).await? {
            return Ok(Some(answer));
        }
        let faults = self.checked(action, selection).await;
        Ok(match faults.is_empty() {
            true => None,
            false => Some(self.unfit(faults).await?),
        })
    }

    /// Refuses a call whose arguments do not fit.
    async fn unfit(&self, faults: Vec<ArgumentFault>) -> Result<Answer, StoreError> {
        self.refuse(self.refused("input_schema_invalid")).await?;
        Ok(Answer::InvalidArguments(faults))
    }

    pub(crate) fn new_call(
        &self,
        action: &ActionId,
        shown: &ShownArguments,
        spends: Option<Ulid>,
        kind: Kind,
        record: &Authorization,
    ) -> Result<NewCall, StoreError> {
        let id = self.kernel.ids.next();
        let arguments = canonical_json(&shown.value)?;
        // They are needed again for a call that waits, and for one that is resumed after a crash.
        let is_needed =
            kind == Kind::CallPending || self.kernel.registry.is_idempotent(action.as_str());
        let sealed = match shown.hides && is_needed {
            false => None,
            true => {
                let raw = canonical_json(&self.request.arguments)?;
                Some(self.kernel.sealer.seal(id, &raw)?)
            }
        };
        let body = self.body(json!({
            "call": id,
            // Of what is stored: a digest over a secret could be searched for it.
            "arguments": Digest::of_bytes(&arguments),
            "selection_token": spends,
            "authorization": record,
        }));
        Ok(NewCall {
            id,
            task_id: self.task.id,
            action: action.clone(),
            arguments: String::from_utf8(arguments)
                .map_err(|error| StoreError::Unreadable(error.to_string()))?,
            sealed,
            spends,
            keyed: self.keyed,
            takes: lineage::takes(action),
            entry: Entry {
                at: self.at,
                kind,
                body,
            },
        })
    }

    /// Answers a call that the gate let and that did not begin all the same.
    async fn not_begun(&self, why: NotBegun, record: &Authorization) -> Result<Answer, StoreError> {
        match why {
            NotBegun::Refused(reason) => self.deny(reason, self.refused(reason.as_str())).await,
            NotBegun::Again(first) => match self.kernel.store.call(first).await? {
                Some(first) => self.answer_again(first, record).await,
                None => Err(StoreError::Unreadable(format!("the call {first} is gone"))),
            },
        }
    }
}

impl Kernel {
    /// The unspent selection that a task presents.
    pub(crate) async fn selection(
        &self,
        task: &LiveTask,
        presented: Option<Ulid>,
    ) -> Result<Option<StoredSelection>, StoreError> {
        match presented {
            Some(token) => self.store.selection(token, task.id).await,
            None => Ok(None),
        }
    }
}
