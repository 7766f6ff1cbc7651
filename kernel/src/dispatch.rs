//! Dispatch: a call that may run is started, run to its end within its bounds, and its end recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actum::action::{ActionErrorKind, Call, HandlerContext};
use actum::redact::Confidential;
use actum::registry::Admitted;
use actum::{ActionId, Digest, Selection};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, debug_span};
use ulid::Ulid;

use crate::Kernel;
use crate::config::Config;
use crate::ledger::{Entry, Kind};
use crate::mediate::{Answer, Attempt};
use crate::store::{NewCall, NotBegun, Outcome, Recorded, Started, StoreError, StoredSelection};
use crate::telemetry::SPANS;

/// How an admitted call begins.
pub(crate) enum Begin {
    /// Now, as it is asked for.
    New(Box<NewCall>),
    /// After it was approved, with this record.
    Approved(Ulid, Entry),
    /// Once more, after it was cut off, with this record.
    Resumed {
        /// The call.
        call: Ulid,
        /// The record.
        entry: Entry,
        /// Whether it was approved before it began.
        approved: bool,
    },
}

impl Begin {
    /// One word for it, for traces.
    const fn word(&self) -> &'static str {
        match self {
            Self::New(_) => "new",
            Self::Approved(..) => "approved",
            Self::Resumed { .. } => "resumed",
        }
    }
}

impl Attempt<'_> {
    /// What a handler is given besides its arguments, and so is the check of them.
    pub(crate) fn context(
        &self,
        request_id: Ulid,
        action: &ActionId,
        selection: Option<&StoredSelection>,
        approved: bool,
    ) -> HandlerContext {
        let root = self.task.grant.root();
        let time = SignedDuration::try_from(Config::seconds(&self.kernel.limits.handler_seconds));
        let deadline = time.ok().and_then(|time| self.at.checked_add(time).ok());
        HandlerContext {
            call: Call {
                request_id,
                task_id: self.task.id,
                action: action.clone(),
                principal: root.principal.to_string(),
                reply_to: root.reply_to.clone(),
                at: self.at,
                deadline: deadline.unwrap_or(self.at),
                approved,
                revision: self.task.revision,
            },
            caller: self.caller.clone(),
            selection: selection.map(|selection| Selection {
                token_type: selection.token.token_type.clone(),
                target: selection.target.clone(),
            }),
            resources: Arc::clone(&self.kernel.resources),
        }
    }

    /// Starts an admitted call and runs it to its end, whether or not the worker still waits for it. Inside, why it did
    /// not start, of which nothing is recorded yet.
    ///
    /// Both happen in a task of their own, so that a worker that hangs up cannot leave a call that is
    /// recorded as started and never run.
    pub(crate) async fn carry_out(
        &self,
        admitted: Admitted,
        begin: Begin,
        selection: Option<StoredSelection>,
    ) -> Result<Result<Answer, NotBegun>, StoreError> {
        let request_id = match &begin {
            Begin::New(call) => call.id,
            Begin::Approved(call, _) | Begin::Resumed { call, .. } => *call,
        };
        let approved = match begin {
            Begin::New(_) => false,
            Begin::Approved(..) => true,
            Begin::Resumed { approved, .. } => approved,
        };
        let selection = selection.as_ref();
        let context = self.context(request_id, admitted.action(), selection, approved);
        let kernel = Arc::clone(self.kernel);
        let body = self.body(json!({"call": request_id}));
        let action = admitted.action();
        let span = debug_span!(
            target: SPANS,
            "dispatch",
            actum.call = %request_id,
            actum.task = %self.task.id,
            actum.action = %action,
            actum.begin = begin.word(),
            actum.outcome = Empty,
        );
        let running = async move {
            let started = match begin {
                Begin::New(call) => kernel.store.start(admitted, *call).await?,
                Begin::Approved(call, entry) => {
                    kernel.store.start_approved(admitted, call, entry).await?
                }
                Begin::Resumed { call, entry, .. } => {
                    kernel.store.resume(admitted, call, entry).await?
                }
            };
            match started {
                Started::Not(why) => Ok(Err(why)),
                Started::Recorded(recorded) => {
                    let ended = run(&kernel, recorded, context).await;
                    Span::current().record("actum.outcome", ended.word());
                    kernel.finish(request_id, body, ended).await.map(Ok)
                }
            }
        };
        match self.kernel.running.spawn(running.instrument(span)).await {
            Ok(ended) => ended,
            // The recording task itself was aborted or panicked: at the next start the call is
            // found running, and is looked after then.
            Err(error) => {
                tracing::error!(call = %request_id, %error, "a call's end could not be recorded");
                Ok(Ok(Answer::Unsupported {
                    request_id,
                    reason: "outcome_unknown",
                }))
            }
        }
    }
}

/// How a handler ended.
enum Ended {
    Value(Confidential),
    /// With an error: one word for the worker, and the text for the operator's log.
    Error(&'static str, String),
    /// It was stopped, and what it did until then is not known: one word for the record, and the text for the
    /// operator's log.
    Unknown(&'static str, String),
    /// The kernel stops, and the next one resumes it.
    LeftOff,
}

impl Ended {
    /// One word for it, for numbers and traces.
    const fn word(&self) -> &'static str {
        match self {
            Self::Value(_) => "succeeded",
            Self::Error(..) => "failed",
            Self::Unknown(..) => "outcome_unknown",
            Self::LeftOff => "left_off",
        }
    }
}

/// How long a handler that is stopped may take to be dropped. Afterwards its call's end is recorded.
const DROP_TIME: Duration = Duration::from_secs(1);

/// Runs a handler, which is timed, and has a span of its own for what it says and begins.
async fn run(kernel: &Kernel, recorded: Recorded, context: HandlerContext) -> Ended {
    let (began, action) = (Instant::now(), context.call.action.clone());
    let ended = run_bounded(kernel, recorded, context).await;
    kernel
        .metrics
        .handler(action.as_str(), ended.word(), began.elapsed());
    ended
}

async fn run_bounded(kernel: &Kernel, recorded: Recorded, context: HandlerContext) -> Ended {
    let admitted = recorded.into_admitted();
    let (read_only, idempotent) = (admitted.is_read_only(), admitted.is_idempotent());
    let stopped = |reason, why: String| match read_only {
        true => Ended::Error("operation_failed", why),
        false => Ended::Unknown(reason, why),
    };
    let deadline = Config::seconds(&kernel.limits.handler_seconds);
    // A task of its own, so that a panic is this call's failure and nobody else's.
    let span = debug_span!(target: SPANS, "handler", actum.action = %context.call.action);
    let mut handler = tokio::spawn(admitted.run(context).instrument(span));
    let cut = tokio::select! {
        ended = &mut handler => return match ended {
            Ok(Ok(value)) => {
                let bytes = value.bytes();
                match bytes > kernel.limits.result_bytes.value {
                    false => Ended::Value(value),
                    // Whatever the handler changed is changed all the same.
                    true => stopped(
                        "result_too_large",
                        format!("the result has {bytes} bytes, over `limits.result_bytes`"),
                    ),
                }
            }
            Ok(Err(error)) => {
                let why = error.message().to_owned();
                match error.kind() {
                    ActionErrorKind::Unavailable => Ended::Error("unavailable", why),
                    ActionErrorKind::Failed => Ended::Error("operation_failed", why),
                    ActionErrorKind::OutcomeUnknown => stopped("told_by_handler", why),
                }
            }
            Err(_) => stopped("panicked", "the handler panicked".to_owned()),
        },
        () = tokio::time::sleep(deadline) => {
            let why = format!("no answer within {} seconds", deadline.as_secs());
            stopped("timed_out", why)
        }
        () = kernel.cutting.cancelled() => match idempotent {
            true => Ended::LeftOff,
            false => stopped("kernel_stopped", "the kernel stopped while it ran".to_owned()),
        },
    };
    handler.abort();
    let _ = tokio::time::timeout(DROP_TIME, handler).await;
    cut
}

impl Kernel {
    async fn finish(
        &self,
        request_id: Ulid,
        body: Value,
        ended: Ended,
    ) -> Result<Answer, StoreError> {
        let mut body = body;
        let mut note = |key: &str, value: Value| {
            if let Some(body) = body.as_object_mut() {
                body.insert(key.to_owned(), value);
            }
        };
        let (outcome, kind, answer) = match ended {
            Ended::Value(result) => {
                // Of the redacted form: what is secret may be short enough to be guessed by its digest.
                note("result", json!(Digest::of_json(&result)?));
                let stored = result.clone();
                let answer = Answer::Done {
                    request_id,
                    result: result.deliver(),
                };
                (Outcome::Succeeded(stored), Kind::CallSucceeded, answer)
            }
            Ended::Error(reason, why) => {
                tracing::warn!(call = %request_id, why, "a handler failed");
                note("reason", json!(reason));
                (
                    Outcome::Failed(reason),
                    Kind::CallFailed,
                    Answer::Unsupported { request_id, reason },
                )
            }
            Ended::LeftOff => {
                tracing::warn!(call = %request_id, "a call is left to be resumed at the next start");
                let reason = "outcome_unknown";
                return Ok(Answer::Unsupported { request_id, reason });
            }
            Ended::Unknown(word, why) => {
                tracing::error!(call = %request_id, why, "a call's outcome is unknown");
                let reason = "outcome_unknown";
                note("reason", json!(word));
                (
                    Outcome::Unknown(word),
                    Kind::CallOutcomeUnknown,
                    Answer::Unsupported { request_id, reason },
                )
            }
        };
        let entry = Entry {
            at: self.now(),
            kind,
            body,
        };
        let finished = self.store.finish(request_id, outcome, entry).await;
        self.ended.notify_waiters();
        finished.map(|()| answer)
    }
}
