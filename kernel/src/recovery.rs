//! What a stop, a crash or another kernel left undone: approved calls that nobody began, and calls that were cut off.
//!
//! One rule for a call that was cut off: if its handler is `idempotent` it is *resumed*, that is, run again; if not, it is
//! `failed` where the handler is `read_only`, and of unknown outcome otherwise, for a person to [settle](crate::settle).
//! Nothing is resumed that the gate does not let run now, nor more than [`MOST_RESUMPTIONS`] times. Each step is the
//! store's, which sees to it that of several kernels one takes it.

use std::sync::Arc;

use actum::digest::canonical_json;
use actum::gate::{DenialReason, Request, Verdict};
use actum::registry::Admitted;
use actum::{Caller, Digest, authorization};
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::AcquireError;

use crate::Kernel;
use crate::approval::MOST;
use crate::auth::LiveTask;
use crate::calls::{MOST_RESUMPTIONS, State};
use crate::dispatch::Begin;
use crate::ledger::{Entry, Kind};
use crate::mediate::Attempt;
use crate::store::{NotBegun, StoreError, StoredCall};

/// The most calls that are run at once because of a look.
pub(crate) const AT_ONCE: usize = 8;

/// A stored call that the gate lets run, with the record of that.
struct Ready {
    task: Arc<LiveTask>,
    request: Arc<Request>,
    admitted: Admitted,
    entry: Entry,
}

/// Why a stored call cannot run: one word, and the authorization record where the gate said so.
struct Unfit {
    reason: String,
    record: Option<authorization::Authorization>,
}

impl Unfit {
    fn word(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            record: None,
        }
    }
}

impl Kernel {
    /// Looks again and again, until the kernel stops, after what is left undone.
    pub(crate) async fn look_at_intervals(self: Arc<Self>) {
        let looking = async {
            loop {
                if let Err(error) = self.look().await {
                    tracing::error!(%error, "calls that are left undone could not be looked after; it is tried again");
                }
                tokio::time::sleep(self.look_seconds).await;
            }
        };
        tokio::select! {
            () = self.stopping.cancelled() => {}
            () = looking => {}
        }
    }

    async fn look(self: &Arc<Self>) -> Result<(), StoreError> {
        for call in self.give_up_calls().await?.to_resume {
            self.begin_again(call).await?;
        }
        for call in self.store.calls_in(State::Approved, MOST).await? {
            self.begin_again(call).await?;
        }
        Ok(())
    }

    /// Runs a call as a task of its own, once there is a place for it. One that cannot be run keeps none of the others
    /// from it.
    async fn begin_again(self: &Arc<Self>, call: StoredCall) -> Result<(), StoreError> {
        let closed = |_: AcquireError| StoreError::Busy;
        let place = Arc::clone(&self.places_to_resume).acquire_owned().await;
        let place = place.map_err(closed)?;
        let kernel = Arc::clone(self);
        self.running.spawn(async move {
            let id = call.id;
            let done = match call.state {
                State::Running => kernel.resume(call).await,
                _ => kernel.run_approved(call).await,
            };
            if let Err(error) = done {
                tracing::error!(call = %id, %error, "a call could not be run; it is tried again in a while");
            }
            drop(place);
        });
        Ok(())
    }

    /// Ends those calls that were cut off and are not to be resumed.
    pub(crate) async fn give_up_calls(&self) -> Result<CutOff, StoreError> {
        let mut found = CutOff::default();
        for call in self.store.cut_off(MOST).await? {
            let reason = match self.registry.is_idempotent(&call.action) {
                false => "interrupted",
                true if call.resumptions >= MOST_RESUMPTIONS => "resumed_too_often",
                true => {
                    found.to_resume.push(call);
                    continue;
                }
            };
            if self.give_up(&call, &Unfit::word(reason)).await? {
                found.given_up += 1;
            }
        }
        if found.given_up > 0 {
            let calls = found.given_up;
            tracing::warn!(
                calls,
                "calls were cut off; `actum recover` lists those of unknown outcome"
            );
        }
        Ok(found)
    }

    /// Ends a call that was cut off; whether nobody ran it.
    async fn give_up(&self, call: &StoredCall, why: &Unfit) -> Result<bool, StoreError> {
        let kind = match self.registry.is_read_only(&call.action) {
            true => Kind::CallFailed,
            false => Kind::CallOutcomeUnknown,
        };
        let entry = Entry {
            at: self.now(),
            kind,
            body: json!({
                "call": call.id, "task": call.task_id, "action": call.action,
                "reason": why.reason, "authorization": why.record,
            }),
        };
        self.store.give_up(call.id, &why.reason, entry).await
    }

    /// Runs a call that was cut off once more, or ends it where it cannot be.
    async fn resume(self: &Arc<Self>, call: StoredCall) -> Result<(), StoreError> {
        match self.make_ready(&call, Kind::CallResumed).await {
            Ok(Ok(ready)) => {
                tracing::warn!(call = %call.id, action = call.action, "a call that was cut off is resumed");
                self.run_ready(&call, ready).await
            }
            Ok(Err(why)) => self.give_up(&call, &why).await.map(drop),
            // Another look would find it no more readable.
            Err(StoreError::Unreadable(why)) => {
                tracing::error!(call = %call.id, why, "a call that was cut off cannot be resumed");
                self.give_up(&call, &Unfit::word("unreadable"))
                    .await
                    .map(drop)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs an approved call, if the gate still lets it: the grant may be over by now, its actor may have lost a
    /// claim, or what was approved may be another thing than what is stored.
    pub(crate) async fn run_approved(self: &Arc<Self>, call: StoredCall) -> Result<(), StoreError> {
        match self.make_ready(&call, Kind::CallStarted).await? {
            Ok(ready) => self.run_ready(&call, ready).await,
            Err(unfit) => self.refuse_approved(&call, unfit).await,
        }
    }

    /// Refuses an approved call that cannot run.
    async fn refuse_approved(&self, call: &StoredCall, unfit: Unfit) -> Result<(), StoreError> {
        let Unfit { reason, record } = unfit;
        self.metrics.refusal(&reason);
        let entry = Entry {
            at: self.now(),
            kind: Kind::CallRefused,
            body: json!({
                "call": call.id, "task": call.task_id, "action": call.action,
                "reason": reason, "authorization": record,
            }),
        };
        let refused = self.store.step(call.id, State::Approved, &reason, entry);
        refused.await.map(drop)
    }

    async fn run_ready(
        self: &Arc<Self>,
        call: &StoredCall,
        ready: Ready,
    ) -> Result<(), StoreError> {
        let attempt = self.attempt(&ready.task, &ready.request, ready.entry.at);
        let begin = match call.state {
            State::Running => Begin::Resumed {
                call: call.id,
                entry: ready.entry,
                approved: call.waiting.is_some(),
            },
            _ => Begin::Approved(call.id, ready.entry),
        };
        let selection = call.selection.clone();
        // Whether it ended well is the store's to tell. That somebody else began it is nobody's fault, and no record.
        let carried = attempt.carry_out(ready.admitted, begin, selection).await?;
        if let (State::Approved, Err(NotBegun::Refused(reason @ DenialReason::GrantExpired))) =
            (call.state, &carried)
        {
            // The task was taken back since the gate looked.
            let unfit = Unfit::word(reason.as_str());
            return self.refuse_approved(call, unfit).await;
        }
        tracing::debug!(call = %call.id, ?carried, "a stored call was run");
        Ok(())
    }

    fn attempt<'a>(
        self: &'a Arc<Self>,
        task: &'a Arc<LiveTask>,
        request: &'a Arc<Request>,
        at: Timestamp,
    ) -> Attempt<'a> {
        Attempt {
            kernel: self,
            task,
            request,
            keyed: None,
            caller: Caller::nobody(),
            at,
        }
    }

    /// All that a stored call needs to run now; inside, why it cannot.
    async fn make_ready(
        self: &Arc<Self>,
        call: &StoredCall,
        kind: Kind,
    ) -> Result<Result<Ready, Unfit>, StoreError> {
        let at = self.now();
        let Some(task) = self.tasks.live(call.task_id, at).await? else {
            return Ok(Err(Unfit::word("grant_expired")));
        };
        let (request, verdict) = self.judge_stored(call, &task, at).await?;
        let attempt = self.attempt(&task, &request, at);
        let record = attempt.judged(&verdict);
        let unfit = |record: authorization::Authorization| Unfit {
            reason: record.reason.clone(),
            record: Some(record),
        };
        let permit = match verdict {
            Verdict::Allow(permit) => permit,
            Verdict::ApprovalRequired(_) => {
                return Ok(Err(unfit(attempt.refused("approval_missing"))));
            }
            Verdict::Deny(_) | Verdict::EffectSuppressed => return Ok(Err(unfit(record))),
        };
        let Ok(admitted) = self.registry.admit(permit) else {
            return Ok(Err(unfit(attempt.refused("input_schema_invalid"))));
        };
        let selection = call.selection.as_ref();
        let faults = attempt.checked(admitted.action(), selection).await;
        if !faults.is_empty() {
            return Ok(Err(unfit(attempt.refused("input_schema_invalid"))));
        }
        let record = record.leading_to(authorization::StateChange::CallStarted);
        let arguments = canonical_json(&admitted.shown_arguments().value)?;
        let body = attempt.body(json!({
            "call": call.id, "arguments": Digest::of_bytes(&arguments), "authorization": record,
        }));
        let entry = Entry { at, kind, body };
        Ok(Ok(Ready {
            task,
            request,
            admitted,
            entry,
        }))
    }
}

/// What was found cut off.
#[derive(Debug, Default)]
pub(crate) struct CutOff {
    /// How many calls were ended.
    pub(crate) given_up: usize,
    /// The calls that are to be resumed.
    pub(crate) to_resume: Vec<StoredCall>,
}
