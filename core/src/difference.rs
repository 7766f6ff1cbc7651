//! What one grant can do that another cannot: two events, two tasks, or one event under two revisions.
//!
//! Each difference says whether it widens or narrows what a worker can do, as the [lock](crate::lock) says it of
//! the surface: whatever is not proved to allow nothing new *widens*. What is compared is what a worker gets, after
//! bounds and caveats: a tool that a list has and that no call could reach counts as absent on both sides.

mod bounds;
mod routes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::authority::Mandate;
use crate::catalog::ActionCatalog;
use crate::gate::Standing;
use crate::grant::{GrantMode, VerifiedGrant};
use crate::id::ActionId;
use crate::lock::{Label, compare, surface_of};
use crate::project::project;

use Label::{Keeps, Narrows, Widens};

pub use routes::{RouteDifference, SetDifference, between};

/// One side of a comparison: a grant, and the catalog that it is projected over.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The grant.
    pub grant: &'a VerifiedGrant,
    /// The catalog.
    pub catalog: &'a ActionCatalog,
}

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A route, and whom it lets in.
    Route,
    /// A tool is shown that was not.
    ToolGained,
    /// A tool is not shown any more.
    ToolLost,
    /// Calls of a tool wait for the owner now.
    ApprovalAsked,
    /// Calls of a tool need not wait for the owner any more.
    ApprovalDropped,
    /// What the arguments of a tool are held to.
    Bound,
    /// What a tool is, and what is asked of each call of it.
    Descriptor,
    /// A class of outside traffic.
    EgressClass,
    /// An output channel.
    OutputChannel,
    /// A claim that counts as held.
    Claim,
    /// A role of the actor.
    Role,
    /// Who acts in which scenario and mode, and the policies that hold there.
    Mandate,
    /// How long the task lasts.
    Lifetime,
    /// What the task may use up.
    Limit,
    /// Whether effects are real.
    Mode,
}

impl About {
    /// What to call the subject in a sentence; empty for actions, whose ids speak for themselves.
    const fn name(self) -> &'static str {
        match self {
            Self::ToolGained
            | Self::ToolLost
            | Self::ApprovalAsked
            | Self::ApprovalDropped
            | Self::Bound
            | Self::Descriptor => "",
            Self::Route => "route ",
            Self::EgressClass => "egress class ",
            Self::OutputChannel => "output channel ",
            Self::Claim => "claim ",
            Self::Role => "role ",
            Self::Mandate => "mandate ",
            Self::Lifetime | Self::Limit | Self::Mode => "task ",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it is about.
    pub about: About,
    /// The action, class, channel, claim or bound.
    pub subject: String,
    /// What it does to what a worker can do.
    pub label: Label,
    /// What is different.
    pub words: String,
}

/// `` `subject`: what is different: label ``, one line.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            about,
            subject,
            label,
            words,
        } = self;
        write!(f, "{}`{subject}`: {words}: {label}", about.name())
    }
}

/// Every difference, in the order of [`About`] and then of subjects; none where both can do the same.
#[must_use]
pub fn difference(from: Side<'_>, to: Side<'_>) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    found.tools(from, to);
    let [was, is] = [from.grant, to.grant];
    found.words(
        About::EgressClass,
        was.egress_classes(),
        is.egress_classes(),
    );
    found.words(
        About::OutputChannel,
        was.output_channels(),
        is.output_channels(),
    );
    found.mandates(was.mandate(), is.mandate());
    found.measures(was, is);
    let mut found = found.0;
    found.sort_by(|one, other| (one.about, &one.subject).cmp(&(other.about, &other.subject)));
    found
}

struct Found(Vec<Difference>);

impl Found {
    fn tell(
        &mut self,
        about: About,
        subject: impl Into<String>,
        label: Label,
        words: impl Into<String>,
    ) {
        self.0.push(Difference {
            about,
            subject: subject.into(),
            label,
            words: words.into(),
        });
    }

    fn tools(&mut self, from: Side<'_>, to: Side<'_>) {
        let shown = |side: Side<'_>| -> BTreeMap<ActionId, Standing> {
            let view = project(side.grant, side.catalog);
            view.tools()
                .map(|tool| (tool.id().clone(), tool.standing()))
                .collect()
        };
        let (was, is) = (shown(from), shown(to));
        let marked = |words: &str, standing: Standing| match standing {
            Standing::Allowed => words.to_owned(),
            Standing::ApprovalRequired => format!("{words}, and requires owner approval"),
        };
        for (id, standing) in &is {
            let (about, label, words) = match (was.get(id), standing) {
                (None, standing) => (
                    About::ToolGained,
                    Widens,
                    marked("is shown, and was not", *standing),
                ),
                (Some(Standing::Allowed), Standing::ApprovalRequired) => {
                    let words = "each call waits for the owner now".to_owned();
                    (About::ApprovalAsked, Narrows, words)
                }
                (Some(Standing::ApprovalRequired), Standing::Allowed) => {
                    let words = "calls need not wait for the owner any more".to_owned();
                    (About::ApprovalDropped, Widens, words)
                }
                (Some(_), _) => continue,
            };
            self.tell(about, id.as_str(), label, words);
        }
        for id in was.keys().filter(|id| !is.contains_key(*id)) {
            self.tell(
                About::ToolLost,
                id.as_str(),
                Narrows,
                "is not shown any more",
            );
        }
        let both: BTreeSet<&ActionId> = was.keys().filter(|id| is.contains_key(*id)).collect();
        self.descriptors(from.catalog, to.catalog, &both);
        for id in both {
            let bounds = |side: Side<'_>| {
                let entry = side.catalog.entry(id.as_str());
                let bounds = entry.map(|(id, entry)| side.grant.bounds_in_view(id, entry));
                let bounds = bounds.unwrap_or_default().into_iter();
                bounds.map(|bound| bound.into_owned()).collect::<Vec<_>>()
            };
            for (label, words) in bounds::changes(&bounds(from), &bounds(to)) {
                self.tell(About::Bound, id.as_str(), label, words);
            }
        }
    }

    /// The tools that both sides show, as their catalogs have them.
    fn descriptors(&mut self, was: &ActionCatalog, is: &ActionCatalog, both: &BTreeSet<&ActionId>) {
        for change in compare(&surface_of(was, both), &surface_of(is, both)) {
            // Whether a call waits for the owner is told for the grant as a whole.
            if change.field == "approval_required" {
                continue;
            }
            let words = match change.field {
                "" => change.words,
                field => format!("{field}: {}", change.words),
            };
            self.tell(
                About::Descriptor,
                change.action.as_str(),
                change.label,
                words,
            );
        }
    }

    /// Words of which each more allows more.
    fn words(&mut self, about: About, was: &BTreeSet<String>, is: &BTreeSet<String>) {
        for word in is.difference(was) {
            self.tell(about, word, Widens, "is granted, and was not");
        }
        for word in was.difference(is) {
            self.tell(about, word, Narrows, "is not granted any more");
        }
    }

    fn mandates(&mut self, was: Option<&Mandate>, is: Option<&Mandate>) {
        let none = Mandate::default();
        let (was, is) = (was.unwrap_or(&none), is.unwrap_or(&none));
        let claims = |mandate: &Mandate| &mandate.claims - &mandate.denied_claims;
        self.words(About::Claim, &claims(was), &claims(is));
        self.words(About::Role, &was.roles, &is.roles);
        for (name, was, is) in [
            ("actor", &was.actor, &is.actor),
            ("scenario", &was.scenario, &is.scenario),
            ("mode", &was.mode, &is.mode),
        ] {
            if was != is {
                let [was, is] = [was, is].map(|it| match it.as_str() {
                    "" => "none".to_owned(),
                    name => format!("`{name}`"),
                });
                self.tell(About::Mandate, name, Keeps, format!("{was} -> {is}"));
            }
        }
        match (was.secret_values, is.secret_values) {
            (false, true) => self.tell(
                About::Mandate,
                "secret_values",
                Widens,
                "values of secrets may be read now",
            ),
            (true, false) => self.tell(
                About::Mandate,
                "secret_values",
                Narrows,
                "values of secrets may not be read any more",
            ),
            _ => {}
        }
        let target = |target: &crate::api_target::ApiTarget| {
            serde_json::to_string(target).unwrap_or_else(|_| target.method.clone())
        };
        for added in is.api_targets.difference(&was.api_targets) {
            let words = format!("an escape hatch may send {} now", target(added));
            self.tell(About::Mandate, "api_targets", Widens, words);
        }
        for gone in was.api_targets.difference(&is.api_targets) {
            let words = format!("an escape hatch may not send {} any more", target(gone));
            self.tell(About::Mandate, "api_targets", Narrows, words);
        }
    }

    fn measures(&mut self, was: &VerifiedGrant, is: &VerifiedGrant) {
        let lasts = |grant: &VerifiedGrant| seconds(grant.issued_at(), grant.expires_at());
        let limits = [was, is].map(|grant| grant.limits());
        let [old, new] = &limits;
        for (about, name, old, new) in [
            (
                About::Lifetime,
                "lifetime in seconds",
                lasts(was),
                lasts(is),
            ),
            (
                About::Limit,
                "max_model_calls",
                old.max_model_calls.into(),
                new.max_model_calls.into(),
            ),
            (
                About::Limit,
                "max_artifacts",
                old.max_artifacts.into(),
                new.max_artifacts.into(),
            ),
        ] {
            let label = match new.cmp(&old) {
                std::cmp::Ordering::Less => Narrows,
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Greater => Widens,
            };
            self.tell(about, name, label, format!("{old} -> {new}"));
        }
        match (was.root().mode, is.root().mode) {
            (GrantMode::Shadow, GrantMode::Live) => {
                self.tell(About::Mode, "mode", Widens, "effects are real now");
            }
            (GrantMode::Live, GrantMode::Shadow) => {
                self.tell(
                    About::Mode,
                    "mode",
                    Narrows,
                    "effects are not real any more",
                );
            }
            _ => {}
        }
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.duration_since(from).as_secs()
}

#[cfg(test)]
mod tests;
