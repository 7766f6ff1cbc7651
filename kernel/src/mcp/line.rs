//! The line from a handler to the MCP client that waits for its call.
//!
//! What rmcp tells and asks has to be told and asked by the task that answers the call. A handler runs in a task of its own, so
//! that the two are joined by a channel.

// Logs and questions: revision 2026-07-28 has others, and clients of the revisions before still have these.
#![expect(deprecated)]

use std::sync::Arc;
use std::time::Duration;

use actum::caller::{Caller, CannotAsk, Level, Line, Notice, Pending, Question, Reply};
use rmcp::model::{CreateMessageRequestParams, LoggingMessageNotificationParam, SamplingMessage};
use rmcp::model::{
    ElicitRequestParams, ElicitationAction, LoggingLevel, ProgressNotificationParam,
};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::server::{Context, is_sessionless};

/// The most notices that wait to be sent; further ones are lost.
const WAITING: usize = 32;
/// The longest that a client may take to take a notice.
const NOTICE: Duration = Duration::from_secs(1);

/// What a handler wants of its client.
pub(super) enum Wish {
    Tell(Notice),
    Ask(Question, oneshot::Sender<Result<Reply, CannotAsk>>),
}

/// The handler's end.
struct Wire {
    wishes: mpsc::Sender<Wish>,
    cancelled: CancellationToken,
}

impl Line for Wire {
    fn tell(&self, notice: Notice) -> Pending<()> {
        // A client that does not read must not hold the handler up.
        let _ = self.wishes.try_send(Wish::Tell(notice));
        Box::pin(std::future::ready(()))
    }

    fn ask(&self, question: Question) -> Pending<Result<Reply, CannotAsk>> {
        let wishes = self.wishes.clone();
        Box::pin(async move {
            let gone = || CannotAsk("it is not there any more".to_owned());
            let (to, reply) = oneshot::channel();
            let asked = wishes.send(Wish::Ask(question, to)).await;
            asked.map_err(|_| gone())?;
            reply.await.map_err(|_| gone())?
        })
    }

    fn cancelled(&self) -> Pending<()> {
        let cancelled = self.cancelled.clone();
        Box::pin(async move { cancelled.cancelled().await })
    }
}

/// A line for one call, and the end of it that its client is at.
pub(super) fn open(context: &Context) -> (Caller, mpsc::Receiver<Wish>) {
    let (wishes, wanted) = mpsc::channel(WAITING);
    let wire = Wire {
        wishes,
        cancelled: context.ct.clone(),
    };
    (Caller::by(Arc::new(wire)), wanted)
}

/// Does what a handler wishes. `least` is the least that the client wants to be told of a log.
pub(super) async fn grant(wish: Wish, context: &Context, least: Level) {
    match wish {
        Wish::Tell(notice) => {
            let _ = tokio::time::timeout(NOTICE, tell(notice, context, least)).await;
        }
        Wish::Ask(question, mut reply) => tokio::select! {
            answer = ask(question, context) => {
                let _ = reply.send(answer);
            }
            // The handler's time is over.
            () = reply.closed() => {}
        },
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
    let cannot = |why: &str| Err(CannotAsk(why.to_owned()));
    if is_sessionless(context) {
        return cannot("this revision of the protocol asks nothing while a call runs");
    }
    let failed = |error: rmcp::ServiceError| CannotAsk(error.to_string());
    let can = context.client_capabilities().unwrap_or_default();
    match question {
        Question::Form { message, schema } => {
            if can.elicitation.is_none() {
                return cannot("its program shows no forms");
            }
            let requested_schema = serde_json::from_value(schema)
                .map_err(|error| CannotAsk(format!("its form is none: {error}")))?;
            let form = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message,
                requested_schema,
            };
            let answer = context.peer.create_elicitation(form).await;
            let answer = answer.map_err(failed)?;
            Ok(match answer.action {
                ElicitationAction::Accept => Reply::Accepted(answer.content.unwrap_or_default()),
                ElicitationAction::Decline => Reply::Declined,
                // And whatever another revision may call it.
                _ => Reply::Dismissed,
            })
        }
        Question::Model {
            prompt,
            most_tokens,
        } => {
            if can.sampling.is_none() {
                return cannot("its program lends no model");
            }
            let wanted = CreateMessageRequestParams::new(
                vec![SamplingMessage::user_text(prompt)],
                most_tokens,
            );
            let written = context.peer.create_message(wanted).await.map_err(failed)?;
            let texts = written.message.content.iter();
            let texts: Vec<_> = texts.filter_map(|part| part.as_text()).collect();
            match texts.as_slice() {
                [] => cannot("its model wrote no text"),
                texts => Ok(Reply::Written(
                    texts.iter().map(|part| part.text.as_str()).collect(),
                )),
            }
        }
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
