//! Skills: what people wrote down of how to do things, in Markdown with front matter, for workers to read.
//!
//! ```text
//! ---
//! name: letters
//! description: How letters of this house are written.
//! scopes: [house]
//! tags: [mail, reply]
//! ---
//! Begin with the first name ...
//! ```
//!
//! A skill is seen by the tasks of agents whose manifest has one of its scopes among `memory_scope.allowed_scopes`; for
//! all others it does not exist. Which of those fit a task is told by words alone, see [`Skills::fitting`].

mod rank;
mod read;

use std::collections::BTreeSet;
use std::path::Path;

use actum::authority::document::Faults;
use actum::{ActionError, Call};

use crate::Kernel;

/// All skills of a folder, by their names.
#[derive(Debug, Clone, Default)]
pub struct Skills(Vec<Skill>);

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name, which no other has.
    pub name: String,
    /// What it is about, in one line.
    pub description: String,
    /// Who sees it: agents with one of these.
    pub scopes: BTreeSet<String>,
    /// Words that it is found by.
    pub tags: Vec<String>,
    /// What it says: Markdown.
    pub body: String,
}

impl Skills {
    /// Reads every `.md` file of a folder.
    ///
    /// # Errors
    /// Every fault of every file at once, with its place.
    pub fn read(folder: &Path) -> Result<Self, Faults> {
        read::folder(folder).map(Self)
    }

    /// The skills of these scopes that fit a task, best first.
    ///
    /// Words are runs of letters and digits, of at least three characters, without regard to case. One skill is before
    /// another if more different words of the task are among its name, description and tags; where these are as
    /// many, if more are in its body; and else by its name. One that has none of them does not fit.
    #[must_use]
    pub fn fitting(&self, scopes: &BTreeSet<String>, task: &str) -> Vec<&Skill> {
        let seen = self
            .0
            .iter()
            .filter(|skill| !skill.scopes.is_disjoint(scopes));
        rank::ranked(seen, task)
    }
}

impl Kernel {
    /// The scopes of skills that the agent of a call's task has by now.
    pub(crate) async fn skill_scopes(&self, call: &Call) -> Result<BTreeSet<String>, ActionError> {
        let Some(task) = self.tasks.live(call.task_id, call.at).await? else {
            return Ok(BTreeSet::new());
        };
        let mut sources = task.grant.root().authority_sources.iter();
        // `agent:ID:vN`, as composition writes it.
        let agent = sources.find_map(|source| source.strip_prefix("agent:")?.rsplit_once(":v"));
        let manifests = self.manifests.now();
        let agent = agent.and_then(|(id, _)| manifests.agent(id));
        let scopes = agent.map(|agent| agent.memory_scope.allowed_scopes.iter().cloned());
        Ok(scopes.into_iter().flatten().collect())
    }
}
