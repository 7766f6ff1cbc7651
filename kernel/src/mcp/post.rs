//! A call that came by this door: it is posted by the one path of all calls, and what its handler wishes of its client is
//! done meanwhile.
//!
//! By the revisions with sessions a client is asked while its request is open. By the one without, the request ends with the
//! question, and the client comes again with the answer; the call goes on all the while, as the same call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actum::caller::{CannotAsk, Level, Reply};
use actum::grant::VerifiedGrant;
use actum::{Digest, ToolName};
use rmcp::model::{ErrorData, InputRequiredResult, InputResponses};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;
use ulid::Ulid;

use super::line::{self, Asked, Current, Wish};
use super::server::{Context, is_sessionless};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::config::Config;
use crate::mediate::{Answer, Posted, mediate};
use crate::replay;

/// Where a call's `_meta` has its selection token, and its idempotency key.
const SELECTION_TOKEN: &str = "actum/selection_token";
const IDEMPOTENCY_KEY: &str = "actum/idempotency_key";
/// The most questions that a task leaves open at once.
const MOST_OPEN: usize = 16;
/// How long the answer of a call is kept, after its handler's time, for a client that was asked something and comes late.
const LATE: Duration = Duration::from_secs(60);
/// The name of the one question that is asked at once.
const QUESTION: &str = "question";

/// A call as a client asks for it.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// What it was asked before, by the name that it was given.
    pub(super) state: Option<String>,
    /// Its answers.
    pub(super) responses: Option<InputResponses>,
}

/// What comes of a call for now.
pub(super) enum Outcome {
    Answered(Answer),
    /// Its handler wants to know something, and waits.
    Asks(InputRequiredResult),
}

/// Posts a call, or goes on with one that asked something.
///
/// # Errors
/// What the client is told of a request that cannot be understood.
pub(super) async fn post(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    wanted: Wanted,
    context: &Context,
    least: Level,
) -> Result<Outcome, ErrorData> {
    let call = wanted.digest()?;
    let mut under_way = match &wanted.state {
        None => begin(kernel, task, wanted, context)?,
        Some(state) => {
            let open = kernel.questions.take(state, task.id, call);
            let open = open.ok_or_else(|| {
                let told = "`requestState` is of no question that is open: make the call anew";
                ErrorData::invalid_params(told, None)
            })?;
            open.under_way.current.follow(context);
            let answer = wanted.responses.and_then(|mut all| all.remove(QUESTION));
            match answer {
                Some(answer) => {
                    let _ = open.to.send(open.asked.answered(answer));
                    open.under_way
                }
                // What was asked is asked again.
                None => return Ok(Outcome::Asks(kernel.questions.keep(open))),
            }
        }
    };
    loop {
        let wish = tokio::select! {
            biased;
            Some(wish) = under_way.wishes.recv() => wish,
            ended = &mut under_way.mediated => return under_way.ended(ended, context, least).await,
        };
        match wish {
            Wish::Ask(question, to) if is_sessionless(context) => {
                let asked = match Asked::of(question, context) {
                    Ok(asked) if kernel.questions.has_room(task.id) => asked,
                    Ok(_) => {
                        let told = format!("{MOST_OPEN} questions of the task are open already");
                        let _ = to.send(Err(CannotAsk(told)));
                        continue;
                    }
                    Err(cannot) => {
                        let _ = to.send(Err(cannot));
                        continue;
                    }
                };
                under_way.current.leave();
                let time = Config::seconds(&kernel.limits.handler_seconds);
                return Ok(Outcome::Asks(kernel.questions.keep(Open {
                    task: task.id,
                    call,
                    asked,
                    to,
                    under_way,
                    until: Instant::now() + time + LATE,
                })));
            }
            wish => tokio::select! {
                () = line::grant(wish, context, least) => {}
                ended = &mut under_way.mediated => {
                    return under_way.ended(ended, context, least).await;
                }
            },
        }
    }
}

/// A call that is on its way through [`mediate`].
struct UnderWay {
    mediated: JoinHandle<Result<Answer, ErrorData>>,
    wishes: mpsc::Receiver<Wish>,
    current: Current,
}

impl UnderWay {
    /// The call's answer. What was told last comes before it.
    async fn ended(
        &mut self,
        ended: Result<Result<Answer, ErrorData>, tokio::task::JoinError>,
        context: &Context,
        least: Level,
    ) -> Result<Outcome, ErrorData> {
        while let Ok(wish @ Wish::Tell(_)) = self.wishes.try_recv() {
            line::grant(wish, context, least).await;
        }
        let answer = ended.map_err(|error| {
            tracing::error!(%error, "a call ended without an answer");
            ErrorData::internal_error("the kernel could not answer; what it did is recorded", None)
        })?;
        answer.map(Outcome::Answered)
    }
}

fn begin(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    wanted: Wanted,
    context: &Context,
) -> Result<UnderWay, ErrorData> {
    let key = match context.meta.get(IDEMPOTENCY_KEY) {
        None => None,
        Some(Value::String(key)) if replay::is_key(key) => Some(key.clone()),
        Some(_) => {
            let told = format!(
                "`_meta.{IDEMPOTENCY_KEY}` is 1 to {} visible ASCII characters",
                replay::MAX_KEY
            );
            return Err(ErrorData::invalid_params(told, None));
        }
    };
    let (caller, wishes, current) = line::open(kernel, context);
    let posted = Posted {
        selection_token: selection_token(kernel, task, &wanted.name, context)?,
        action: wanted.name,
        arguments: wanted.arguments,
        idempotency_key: key,
        caller,
    };
    let of = Arc::clone(task);
    let kernel = Arc::clone(kernel);
    let tasks = kernel.running.clone();
    let mediated = async move {
        let Ok(_place) = kernel.places.try_acquire() else {
            return Err(ErrorData::internal_error(
                "too many requests are under way; try again",
                None,
            ));
        };
        let answer = mediate(&kernel, &of, posted).await;
        answer.map_err(|error| {
            tracing::error!(%error, "the store failed");
            let told = "the kernel cannot record anything now, so it does nothing; try again later";
            ErrorData::internal_error(told, None)
        })
    };
    Ok(UnderWay {
        // A task of its own: it goes on to its end whatever becomes of the client, and a panic in it is answered.
        mediated: tasks.spawn(mediated.in_current_span()),
        wishes,
        current,
    })
}

/// The selection token that a call presents; for a client that cannot, the one that its task has of the type that the
/// tool takes.
fn selection_token(
    kernel: &Kernel,
    task: &LiveTask,
    name: &str,
    context: &Context,
) -> Result<Option<String>, ErrorData> {
    match context.meta.get(SELECTION_TOKEN) {
        Some(Value::String(presented)) => Ok(Some(presented.clone())),
        Some(_) => {
            let told = format!("`_meta.{SELECTION_TOKEN}` is a text");
            Err(ErrorData::invalid_params(told, None))
        }
        None => {
            let id = ToolName::to_id(name);
            let wanted = id.as_ref().and_then(|id| {
                let catalog = &kernel.catalog;
                catalog.selection_token_type_for(id.as_str())
            });
            Ok(wanted.and_then(|wanted| only_token(&task.grant, wanted)))
        }
    }
}

/// The one selection token of a type that a grant has, if it has one alone.
fn only_token(grant: &VerifiedGrant, wanted: &str) -> Option<String> {
    let mut of_type = grant
        .selection_tokens()
        .iter()
        .filter(|(_, token_type)| token_type.as_str() == wanted);
    match (of_type.next(), of_type.next()) {
        (Some((id, _)), None) => Some(id.to_string()),
        _ => None,
    }
}

impl Wanted {
    /// What tells this call from another one.
    fn digest(&self) -> Result<Digest, ErrorData> {
        let call = json!({"name": self.name, "arguments": self.arguments});
        Digest::of_json(&call)
            .map_err(|fault| ErrorData::invalid_params(format!("arguments: {fault}"), None))
    }
}

/// The questions that calls left open as their requests ended. INVARIANT: one is found by the task alone whose call asked, and
/// goes on with that call alone.
#[derive(Default)]
pub(crate) struct Questions(Mutex<HashMap<String, Open>>);

/// A question that waits for its client.
struct Open {
    task: Ulid,
    call: Digest,
    asked: Asked,
    to: oneshot::Sender<Result<Reply, CannotAsk>>,
    under_way: UnderWay,
    until: Instant,
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Questions({})", self.all().len())
    }
}

impl Questions {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        // A map is whole between any two of its own steps.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a task may leave one more open. Those that nobody came back for are forgotten.
    fn has_room(&self, task: Ulid) -> bool {
        let mut all = self.all();
        let now = Instant::now();
        all.retain(|_, open| now < open.until);
        all.values().filter(|open| open.task == task).count() < MOST_OPEN
    }

    /// Keeps one; what its client is told.
    fn keep(&self, open: Open) -> InputRequiredResult {
        let state = Ulid::generate().to_string();
        let requests = [(QUESTION.to_owned(), open.asked.request())];
        self.all().insert(state.clone(), open);
        InputRequiredResult::new(Some(requests.into()), Some(state))
    }

    /// Takes the one of this name out, if it is of this call of this task.
    fn take(&self, state: &str, task: Ulid, call: Digest) -> Option<Open> {
        let mut all = self.all();
        let found = all.get(state)?;
        let is_it = found.task == task && found.call == call && Instant::now() < found.until;
        is_it.then(|| all.remove(state)).flatten()
    }
}
