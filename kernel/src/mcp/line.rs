//! The line from a handler to the MCP client that waits for its call.
//!
//! What rmcp tells and asks has to be told and asked by the task that answers the call. A handler runs in a task of its own, so
//! that the two are joined by a channel.

// Logs and questions: revision 2026-07-28 has others, and clients of the revisions before still have these.
#![expect(deprecated)]

use std::sync::Arc;
use std::time::Duration;

use actum::caller::{Caller, CannotAsk, Level, Line, Notice, Pending, Question, Reply, Root};
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    ListRootsRequest, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, SamplingMessage,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::server::{Context, is_sessionless};
use crate::Kernel;

/// The most notices that wait to be sent; further ones are lost.
const WAITING: usize = 32;
/// The longest that a client may take to take a notice.
const NOTICE: Duration = Duration::from_secs(1);

/// The answers to what was asked at once, in the order of the questions.
pub(super) type Replies = Vec<Result<Reply, CannotAsk>>;

/// What a handler wants of its client.
pub(super) enum Wish {
    Tell(Notice),
    Ask(Vec<(String, Question)>, oneshot::Sender<Replies>),
}

/// The handler's end.
struct Wire {
    wishes: mpsc::Sender<Wish>,
    current: watch::Receiver<CancellationToken>,
    stopping: CancellationToken,
}

impl Line for Wire {
    fn tell(&self, notice: Notice) -> Pending<()> {
        // A client that does not read must not hold the handler up.
        let _ = self.wishes.try_send(Wish::Tell(notice));
        Box::pin(std::future::ready(()))
    }

    fn ask(&self, questions: Vec<(String, Question)>) -> Pending<Replies> {
        let wishes = self.wishes.clone();
        let stopping = self.stopping.clone();
        Box::pin(async move {
            let count = questions.len();
            let none = |why: &str| vec![Err(CannotAsk(why.to_owned())); count];
            let (to, replies) = oneshot::channel();
            let asked = wishes.send(Wish::Ask(questions, to)).await;
            let gone = |()| none("it is not there any more");
            tokio::select! {
                replies = replies, if asked.is_ok() => replies.map_err(drop).unwrap_or_else(gone),
                () = stopping.cancelled(), if asked.is_ok() => none("the kernel is stopping"),
                else => gone(()),
            }
        })
    }

    fn cancelled(&self) -> Pending<()> {
        let mut current = self.current.clone();
        Box::pin(async move {
            loop {
                let token = current.borrow_and_update().clone();
                tokio::select! {
                    // Before the end of a request that another one follows.
                    biased;
                    Ok(()) = current.changed() => {}
                    () = token.cancelled() => return,
                }
            }
        })
    }
}

/// The request that a call's client waits at: its end is that nobody wants the call any more.
pub(super) struct Current(watch::Sender<CancellationToken>);

impl Current {
    /// It is this one from now on.
    pub(super) fn follow(&self, context: &Context) {
        self.0.send_replace(context.ct.clone());
    }

    /// There is none for now: the client was asked something, and is to come again.
    pub(super) fn leave(&self) {
        self.0.send_replace(CancellationToken::new());
    }
}

/// A line for one call, and the end of it that its client is at.
pub(super) fn open(kernel: &Kernel, context: &Context) -> (Caller, mpsc::Receiver<Wish>, Current) {
    let (wishes, wanted) = mpsc::channel(WAITING);
    let (to, current) = watch::channel(context.ct.clone());
    let wire = Wire {
        wishes,
        current,
        stopping: kernel.stopping.clone(),
    };
    (Caller::by(Arc::new(wire)), wanted, Current(to))
}

/// Does what a handler wishes. `least` is the least that the client wants to be told of a log.
pub(super) async fn grant(wish: Wish, context: &Context, least: Level) {
    match wish {
        Wish::Tell(notice) => {
            let _ = tokio::time::timeout(NOTICE, tell(notice, context, least)).await;
        }
        Wish::Ask(questions, mut to) => {
            let asking = async {
                let mut replies = Vec::new();
                for (_, question) in questions {
                    replies.push(ask(question, context).await);
                }
                replies
            };
            tokio::select! {
                replies = asking => drop(to.send(replies)),
                // The handler's time is over.
                () = to.closed() => {}
            }
        }
    }
}

async fn tell(notice: Notice, context: &Context, least: Level) {
    match notice {
        Notice::Progress {
            done,
            total,
            message,
        } => {
            let Some(token) = context.meta.get_progress_token() else {
                return;
            };
            let mut progress = ProgressNotificationParam::new(token, done);
            progress.total = total;
            progress.message = message;
            let _ = context.peer.notify_progress(progress).await;
        }
        Notice::Log { level, text } => {
            let wanted = match is_sessionless(context) {
                false => Some(least),
                // Nothing is told there that was not asked for with the request.
                true => context.meta.log_level().map(of_client),
            };
            if wanted.is_none_or(|least| level < least) {
                return;
            }
            let line = LoggingMessageNotificationParam::new(for_client(level), json!(text));
            let _ = context.peer.notify_logging_message(line).await;
        }
    }
}

async fn ask(question: Question, context: &Context) -> Result<Reply, CannotAsk> {
    let failed = |error: rmcp::ServiceError| CannotAsk(error.to_string());
    let peer = &context.peer;
    match Asked::of(question, context).map_err(|lacks| lacks.cannot)? {
        Asked::Form(form) => peer
            .create_elicitation(form)
            .await
            .map(filled)
            .map_err(failed),
        Asked::Model(wanted) => written(peer.create_message(wanted).await.map_err(failed)?),
        Asked::Roots => peer.list_roots().await.map(shown).map_err(failed),
    }
}

/// A question as the protocol puts it.
pub(super) enum Asked {
    Form(ElicitRequestParams),
    Model(CreateMessageRequestParams),
    Roots,
}

/// Why a question cannot be put to a client.
pub(super) struct Lacks {
    pub(super) cannot: CannotAsk,
    /// What it would have to say that it can.
    pub(super) capability: Option<Box<ClientCapabilities>>,
}

impl Asked {
    /// A handler's question to this client.
    ///
    /// # Errors
    /// That the client cannot be asked this, or that the question is none.
    pub(super) fn of(question: Question, context: &Context) -> Result<Self, Lacks> {
        let lacks = |why: &str, capability| {
            Err(Lacks {
                cannot: CannotAsk(why.to_owned()),
                capability: Some(Box::new(capability)),
            })
        };
        let wanted = ClientCapabilities::builder();
        let can = context.client_capabilities().unwrap_or_default();
        match question {
            Question::Form { .. } if can.elicitation.is_none() => lacks(
                "its program shows no forms",
                wanted.enable_elicitation().build(),
            ),
            Question::Form { message, schema } => {
                let requested_schema = serde_json::from_value(schema).map_err(|error| Lacks {
                    cannot: CannotAsk(format!("its form is none: {error}")),
                    capability: None,
                })?;
                Ok(Self::Form(ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message,
                    requested_schema,
                }))
            }
            Question::Model { .. } if can.sampling.is_none() => lacks(
                "its program lends no model",
                wanted.enable_sampling().build(),
            ),
            Question::Model {
                prompt,
                most_tokens,
            } => {
                let messages = vec![SamplingMessage::user_text(prompt)];
                let wanted = CreateMessageRequestParams::new(messages, most_tokens);
                Ok(Self::Model(wanted))
            }
            Question::Roots if can.roots.is_none() => lacks(
                "its program shows no folders",
                wanted.enable_roots().build(),
            ),
            Question::Roots => Ok(Self::Roots),
        }
    }

    /// As it stands in an answer, by the revision that asks so.
    pub(super) fn request(&self) -> InputRequest {
        match self {
            Self::Form(form) => InputRequest::Elicitation(ElicitRequest::new(form.clone())),
            Self::Model(wanted) => {
                InputRequest::CreateMessage(CreateMessageRequest::new(wanted.clone()))
            }
            Self::Roots => InputRequest::ListRoots(ListRootsRequest::default()),
        }
    }

    /// What a client came back with.
    ///
    /// # Errors
    /// That it is no answer to this.
    pub(super) fn answered(
        &self,
        answer: Value,
    ) -> Result<Result<Reply, CannotAsk>, serde_json::Error> {
        Ok(match self {
            Self::Form(_) => Ok(filled(serde_json::from_value(answer)?)),
            Self::Model(_) => written(serde_json::from_value(answer)?),
            Self::Roots => Ok(shown(serde_json::from_value(answer)?)),
        })
    }
}

fn filled(answer: ElicitResult) -> Reply {
    match answer.action {
        ElicitationAction::Accept => Reply::Accepted(answer.content.unwrap_or_default()),
        ElicitationAction::Decline => Reply::Declined,
        // And whatever another revision may call it.
        _ => Reply::Dismissed,
    }
}

fn shown(answer: ListRootsResult) -> Reply {
    let roots = answer.roots.into_iter().map(|root| Root {
        uri: root.uri,
        name: root.name,
    });
    Reply::Roots(roots.collect())
}

fn written(answer: CreateMessageResult) -> Result<Reply, CannotAsk> {
    let texts = answer.message.content.iter();
    let texts: Vec<_> = texts.filter_map(|part| part.as_text()).collect();
    match texts.as_slice() {
        [] => Err(CannotAsk("its model wrote no text".to_owned())),
        texts => Ok(Reply::Written(
            texts.iter().map(|part| part.text.as_str()).collect(),
        )),
    }
}

/// A level of the protocol as ours.
pub(super) fn of_client(level: LoggingLevel) -> Level {
    match level {
        LoggingLevel::Debug => Level::Debug,
        LoggingLevel::Info => Level::Info,
        LoggingLevel::Notice => Level::Notice,
        LoggingLevel::Warning => Level::Warning,
        LoggingLevel::Error => Level::Error,
        LoggingLevel::Critical => Level::Critical,
        LoggingLevel::Alert => Level::Alert,
        LoggingLevel::Emergency => Level::Emergency,
    }
}

fn for_client(level: Level) -> LoggingLevel {
    match level {
        Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Notice => LoggingLevel::Notice,
        Level::Warning => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
        Level::Critical => LoggingLevel::Critical,
        Level::Alert => LoggingLevel::Alert,
        Level::Emergency => LoggingLevel::Emergency,
    }
}
