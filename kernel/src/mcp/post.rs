//! A call that came by this door: it is posted by the one path of all calls, and what its handler wishes of its client is
//! done meanwhile.
//!
//! By the revisions with sessions a client is asked while its request is open. By the one without, the request ends with the
//! question, and the client comes again with the answer; the call goes on all the while, as the same call.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actum::caller::{CannotAsk, Level, Question, Reply};
use actum::grant::VerifiedGrant;
use actum::{Digest, ToolName};
use rmcp::model::{
    ClientCapabilities, ErrorData, InputRequests, InputRequiredResult, InputResponses,
};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;
use ulid::Ulid;

use super::line::{self, Asked, Current, Replies, Wish};
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
/// How a call is told that its handler failed.
const FAILED: &str = "operation_failed";

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
            let mut open = open.ok_or_else(|| {
                let told = "`requestState` is of no question that is open: make the call anew";
                ErrorData::invalid_params(told, None)
            })?;
            let taken = open.take_up(wanted.responses.unwrap_or_default());
            if let Err(fault) = taken {
                kernel.questions.keep(state.clone(), open);
                return Err(ErrorData::invalid_params(fault, None));
            }
            if !open.is_through() {
                return Ok(Outcome::Asks(kernel.questions.keep(state.clone(), open)));
            }
            open.under_way.current.follow(context);
            open.answered()
        }
    };
    loop {
        let wish = tokio::select! {
            biased;
            Some(wish) = under_way.wishes.recv() => wish,
            ended = &mut under_way.mediated => return under_way.ended(ended, context, least).await,
        };
        match wish {
            Wish::Ask(questions, to) if is_sessionless(context) => {
                let questions = under_way.put(questions, context);
                let time = Config::seconds(&kernel.limits.handler_seconds);
                let mut open = Open {
                    task: task.id,
                    call,
                    questions,
                    to,
                    under_way,
                    until: Instant::now() + time + LATE,
                };
                if !open.is_through() && !kernel.questions.has_room(task.id) {
                    open.refuse(&format!(
                        "{MOST_OPEN} questions of the task are open already"
                    ));
                }
                if open.is_through() {
                    under_way = open.answered();
                    continue;
                }
                open.under_way.current.leave();
                let state = Ulid::generate().to_string();
                return Ok(Outcome::Asks(kernel.questions.keep(state, open)));
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
    /// What its client would have to say that it can, to be asked what it was not.
    lacked: Option<Box<ClientCapabilities>>,
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
        match (answer?, self.lacked.take()) {
            // Its handler could not do without.
            (Answer::Unsupported { reason, .. }, Some(lacked)) if reason == FAILED => {
                Err(ErrorData::missing_required_client_capability(*lacked))
            }
            (answer, _) => Ok(Outcome::Answered(answer)),
        }
    }

    /// Puts questions to the client of a request, as far as it can be asked them.
    fn put(
        &mut self,
        questions: Vec<(String, Question)>,
        context: &Context,
    ) -> Vec<(String, Stands)> {
        let mut named = BTreeSet::new();
        let mut put = |name: &String, question| {
            if !named.insert(name.clone()) {
                let told = format!("two questions are named `{name}`");
                return Stands::Answered(Err(CannotAsk(told)));
            }
            match Asked::of(question, context) {
                Ok(asked) => Stands::Open(asked),
                Err(lacks) => {
                    self.lacked = lacks.capability.or(self.lacked.take());
                    Stands::Answered(Err(lacks.cannot))
                }
            }
        };
        let questions = questions.into_iter();
        questions
            .map(|(name, question)| (name.clone(), put(&name, question)))
            .collect()
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
        lacked: None,
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

/// The questions that calls left open as their requests ended. INVARIANT: they are found by the task alone whose call asked, and
/// go on with that call alone.
#[derive(Default)]
pub(crate) struct Questions(Mutex<HashMap<String, Open>>);

/// Questions that wait for their client.
struct Open {
    task: Ulid,
    call: Digest,
    questions: Vec<(String, Stands)>,
    to: oneshot::Sender<Replies>,
    under_way: UnderWay,
    until: Instant,
}

/// How a question stands.
enum Stands {
    Open(Asked),
    Answered(Result<Reply, CannotAsk>),
}

impl Open {
    fn is_through(&self) -> bool {
        let mut stand = self.questions.iter().map(|(_, stands)| stands);
        stand.all(|stands| matches!(stands, Stands::Answered(_)))
    }

    /// Takes the answers to what is open. Others are ignored.
    ///
    /// # Errors
    /// What is no answer; everything stands as before then.
    fn take_up(&mut self, mut responses: InputResponses) -> Result<(), String> {
        let mut taken = Vec::new();
        for (place, (name, stands)) in self.questions.iter().enumerate() {
            let Stands::Open(asked) = stands else {
                continue;
            };
            if let Some(response) = responses.remove(name) {
                let answer = asked.answered(response);
                let fault = |error| format!("inputResponses.{name}: {error}");
                taken.push((place, answer.map_err(fault)?));
            }
        }
        for (place, answer) in taken {
            if let Some((_, stands)) = self.questions.get_mut(place) {
                *stands = Stands::Answered(answer);
            }
        }
        Ok(())
    }

    /// Answers what is open with that it cannot be asked.
    fn refuse(&mut self, why: &str) {
        for (_, stands) in &mut self.questions {
            if let Stands::Open(_) = stands {
                *stands = Stands::Answered(Err(CannotAsk(why.to_owned())));
            }
        }
    }

    /// Has the handler go on with its answers.
    fn answered(self) -> UnderWay {
        let replies = self
            .questions
            .into_iter()
            .filter_map(|(_, stands)| match stands {
                Stands::Open(_) => None,
                Stands::Answered(reply) => Some(reply),
            });
        // Its time may be over.
        let _ = self.to.send(replies.collect());
        self.under_way
    }

    /// What the client is asked.
    fn asks(&self) -> InputRequests {
        let questions = self.questions.iter();
        let open = questions.filter_map(|(name, stands)| match stands {
            Stands::Open(asked) => Some((name.clone(), asked.request())),
            Stands::Answered(_) => None,
        });
        open.collect()
    }
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

    /// Keeps some under a name; what their client is told.
    fn keep(&self, state: String, open: Open) -> InputRequiredResult {
        let asks = open.asks();
        self.all().insert(state.clone(), open);
        InputRequiredResult::new(Some(asks), Some(state))
    }

    /// Takes those of this name out, if they are of this call of this task.
    fn take(&self, state: &str, task: Ulid, call: Digest) -> Option<Open> {
        let mut all = self.all();
        let found = all.get(state)?;
        let is_it = found.task == task && found.call == call && Instant::now() < found.until;
        is_it.then(|| all.remove(state)).flatten()
    }
}
