//! The worker that made a call, as far as the call's handler can talk to it while it runs.
//!
//! A handler takes `&Caller` as it takes `&Call`. Some doors have a line to the worker that is open while it waits, as
//! MCP has; by the others nobody hears what is told, and nobody can be asked.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::redact::scrub_current;

/// What will come of a [`Line`].
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An open line to a worker, which a door has.
pub trait Line: Send + Sync {
    /// Tells something. It may be lost, and is then no fault.
    fn tell(&self, notice: Notice) -> Pending<()>;

    /// Asks several things at once, each under a name that tells it from the others, and waits for all answers, which come in
    /// the same order.
    fn ask(&self, questions: Vec<(String, Question)>) -> Pending<Vec<Result<Reply, CannotAsk>>>;

    /// Ends once the worker wants the call no more.
    fn cancelled(&self) -> Pending<()>;
}

/// What is told while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// How far it is.
    Progress {
        /// So much is done; it only grows.
        done: f64,
        /// Of so much, if that is known.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A line for the log of the worker's program.
    Log {
        /// How much it matters.
        level: Level,
        /// The line.
        text: String,
    },
}

/// How much a line of a log matters: the eight levels of RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// As a matter of course.
    Info,
    /// Worth a note.
    Notice,
    /// Not as it should be.
    Warning,
    /// Something failed.
    Error,
    /// Something failed that much depends on.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

/// What is asked while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// The person in front of the worker's program is to fill in a form.
    Form {
        /// What for.
        message: String,
        /// An object of texts, numbers, booleans and choices, as a JSON Schema.
        schema: Value,
    },
    /// The worker's model is to write something.
    Model {
        /// What it is told.
        prompt: String,
        /// The most that it may write, in tokens.
        most_tokens: u32,
    },
    /// Which folders the worker's program was shown by its person.
    Roots,
}

impl Question {
    /// A form, see [`Caller::elicit`].
    #[must_use]
    pub fn form(message: &str, schema: Value) -> Self {
        Self::Form {
            message: message.to_owned(),
            schema,
        }
    }

    /// A prompt, see [`Caller::sample`].
    #[must_use]
    pub fn model(prompt: &str, most_tokens: u32) -> Self {
        Self::Model {
            prompt: prompt.to_owned(),
            most_tokens,
        }
    }

    /// The same without what the call's watch has seen to be secret.
    fn scrubbed(self) -> Self {
        match self {
            Self::Form { message, schema } => Self::Form {
                message: scrubbed(&message),
                schema,
            },
            Self::Model {
                prompt,
                most_tokens,
            } => Self::Model {
                prompt: scrubbed(&prompt),
                most_tokens,
            },
            Self::Roots => Self::Roots,
        }
    }
}

/// A folder, or another place, that a worker's program was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where.
    pub uri: String,
    /// What its person calls it.
    pub name: Option<String>,
}

/// What came of a question. Whoever answers it is the worker: it is as untrusted as the arguments are, and no approval.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The form, filled in.
    Accepted(Value),
    /// The person would not.
    Declined,
    /// The person closed it.
    Dismissed,
    /// What the model wrote.
    Written(String),
    /// The folders.
    Roots(Vec<Root>),
}

/// Why a question could not be asked, or had no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the worker cannot be asked: {0}")]
pub struct CannotAsk(pub String);

/// The worker that made a call.
#[derive(Clone, Default)]
pub struct Caller(Option<Arc<dyn Line>>);

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Caller(a line)",
            None => "Caller(nobody)",
        })
    }
}

impl Caller {
    /// Nobody listens: the call came by a door without a line, or runs because it was approved.
    #[must_use]
    pub const fn nobody() -> Self {
        Self(None)
    }

    /// Whoever is at the end of a line.
    #[must_use]
    pub fn by(line: Arc<dyn Line>) -> Self {
        Self(Some(line))
    }

    /// Tells how far the call is. What is known to be secret in the message is hidden.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.tell(Notice::Progress {
            done,
            total,
            message: Some(scrubbed(message)).filter(|message| !message.is_empty()),
        })
        .await;
    }

    /// Tells a line for the log of the worker's program. What is known to be secret in it is hidden.
    pub async fn log(&self, level: Level, text: &str) {
        let text = scrubbed(text);
        self.tell(Notice::Log { level, text }).await;
    }

    /// Has the person in front of the worker's program fill in a form. The schema is an object of texts, numbers, booleans
    /// and choices. What comes back is the worker's word, as its arguments are: check it, and take it for no approval.
    ///
    /// # Errors
    /// [`CannotAsk`] where nobody can be asked, or nobody answers.
    pub async fn elicit(&self, message: &str, schema: Value) -> Result<Reply, CannotAsk> {
        let [reply] = self.ask([("form", Question::form(message, schema))]).await;
        reply
    }

    /// Has the worker's model write something of at most so many tokens.
    ///
    /// # Errors
    /// [`CannotAsk`] where no model can be asked, or none answers.
    pub async fn sample(&self, prompt: &str, most_tokens: u32) -> Result<String, CannotAsk> {
        let question = Question::model(prompt, most_tokens);
        match self.ask([("model", question)]).await {
            [Ok(Reply::Written(text))] => Ok(text),
            [Ok(_)] => Err(CannotAsk("it answered another question".to_owned())),
            [Err(cannot)] => Err(cannot),
        }
    }

    /// Asks several things at once, each under a name of its own: a program may show them to its person together. The answers
    /// come in the order of the questions. What is known to be secret in a text is hidden.
    pub async fn ask<const N: usize>(
        &self,
        questions: [(&str, Question); N],
    ) -> [Result<Reply, CannotAsk>; N] {
        let none = |why: &str| std::array::from_fn(|_| Err(CannotAsk(why.to_owned())));
        let Some(line) = &self.0 else {
            return none("it came by a door that has no line");
        };
        let questions = questions.map(|(name, question)| (name.to_owned(), question.scrubbed()));
        let replies: Result<[_; N], _> = line.ask(questions.into()).await.try_into();
        replies.unwrap_or_else(|_| none("it answered other questions"))
    }

    /// Ends once the worker wants the call no more, and never where nobody can say so. A handler that changes something
    /// decides itself what it does then; it is not stopped.
    pub async fn cancelled(&self) {
        match &self.0 {
            Some(line) => line.cancelled().await,
            None => std::future::pending().await,
        }
    }

    async fn tell(&self, notice: Notice) {
        if let Some(line) = &self.0 {
            line.tell(notice).await;
        }
    }
}

/// A text without what the call's watch has seen to be secret: it leaves the kernel for others than the model.
fn scrubbed(text: &str) -> String {
    scrub_current(text).into_owned()
}
