//! Why an action is exposed or absent: for the owner and the auditor, and never for a worker.
//!
//! An [`Explainer`] holds a grant, the catalog that it is projected over, and the manifests. What it says of an
//! action begins with the gate's own judgement ([`exposure`]); the rest tells where that comes from: the action's
//! class and what it requires, which claims were held and who brought them, and the lines of the manifests that took
//! part in the grant's composition. Pure: the same three give the same explanation.

mod lines;
mod reason;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::authority::{Mandate, ManifestSet};
use crate::authorization::exposure_of;
use crate::catalog::ActionCatalog;
use crate::gate::{Absence, Standing, exposure};
use crate::grant::VerifiedGrant;
use crate::id::ActionId;
use crate::requirement::{Class, Requirements};

use lines::Sources;

/// A place in a manifest: `packs/owner_pack.yaml:12:5: denied_actions`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file, relative to the folder of manifests.
    pub file: String,
    /// The line, from 1; `None` where the whole file is meant.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// The field.
    pub field: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.field)
    }
}

/// What a line of a manifest does to an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It lets it be called.
    Allows,
    /// It lets it be called after the owner approved.
    AsksForApproval,
    /// It denies it, whatever other lines say.
    Denies,
    /// It holds its arguments to something.
    Binds,
    /// It is a policy's list of all that may be allowed, and has the action.
    Spares,
    /// It is a policy's list of all that may be allowed, and does not have the action.
    Narrows,
}

impl Effect {
    /// What to call it behind "this line".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allows => "allows it",
            Self::AsksForApproval => "asks for the owner's approval",
            Self::Denies => "denies it",
            Self::Binds => "binds its arguments",
            Self::Spares => "is a list of all that may be allowed, and has it",
            Self::Narrows => "is a list of all that may be allowed, and does not have it",
        }
    }
}

/// One line of one manifest that is about an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Where it stands.
    pub at: Place,
    /// What it does.
    pub effect: Effect,
    /// Whether it decided: without it, or all of them that did, the answer would be another.
    pub decided: bool,
}

/// A claim that an action requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimHeld {
    /// The claim.
    pub claim: String,
    /// Whether it counted as held when the grant was issued.
    pub granted: bool,
    /// The lines of the actor that grant it.
    pub by_actor: Vec<Place>,
    /// The lines of the scenario that grant it.
    pub by_scenario: Vec<Place>,
    /// The lines that deny it, whoever holds it.
    pub denied_by: Vec<Place>,
    /// Whether it was held and is held no longer, by the manifests of now.
    pub lost: bool,
}

/// One of several words that an action asks for, and those that are held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// One of these is enough.
    pub one_of: BTreeSet<String>,
    /// What there is.
    pub held: BTreeSet<String>,
    /// The lines that say so.
    pub by: Vec<Place>,
    /// Whether it is enough.
    pub met: bool,
}

/// How an action stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stands {
    /// Whether it is exposed.
    pub exposed: bool,
    /// Whether each call waits for the owner.
    pub approval_required: bool,
    /// Why, in the one word of the record.
    pub reason: String,
    /// Why, in a sentence.
    pub because: String,
}

/// Why one action is exposed or absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The action.
    pub action: ActionId,
    /// How it stands in the grant as it was issued.
    #[serde(flatten)]
    pub stands: Stands,
    /// How it stands by now, where that is not the same: its actor lost something since.
    pub now: Option<Stands>,
    /// How an actor comes by it; `None` where by lists alone.
    pub class: Option<Class>,
    /// The claims that it requires.
    pub claims: Vec<ClaimHeld>,
    /// The roles that it is for; `None` where it is for every one.
    pub roles: Option<Asked>,
    /// The task modes that it is for; `None` where it is for every one.
    pub mode: Option<Asked>,
    /// The lines of manifests about it.
    pub lines: Vec<Line>,
    /// The places that decided, in lines about it or elsewhere; none where no manifest did.
    pub decided_by: Vec<Place>,
}

/// What an actor has by now of what a grant was issued with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// All of it; or there is nothing to lose, or nothing to compare with.
    All,
    /// Less: these were held and are no longer, each as `claim x` or `role x`; or denied since, as `denied: x`.
    Less(Vec<String>),
    /// The actor or the scenario is gone, or no longer active, so that the task is over.
    Nothing,
}

/// Explains the actions of one grant.
#[derive(Debug)]
pub struct Explainer<'a> {
    issued: &'a VerifiedGrant,
    /// What is left of it by now, where that is less.
    now: Option<VerifiedGrant>,
    left: Left,
    catalog: &'a ActionCatalog,
    sources: Sources<'a>,
}

impl<'a> Explainer<'a> {
    /// Of a grant, the catalog that it was issued under, and the manifests, which may be those of another time;
    /// without any, no line is told and nothing counts as lost.
    #[must_use]
    pub fn new(
        issued: &'a VerifiedGrant,
        catalog: &'a ActionCatalog,
        manifests: Option<&'a ManifestSet>,
    ) -> Self {
        let held = issued.mandate();
        let left = held.zip(manifests).map(|(held, set)| set.left_of(held));
        let (left, now) = match (held, left) {
            (Some(held), Some(Some(left))) if left == *held => (Left::All, None),
            (Some(held), Some(Some(left))) => {
                let now = issued.clone().within(Some(&left));
                (Left::Less(lost(held, &left)), now)
            }
            (Some(_), Some(None)) => (Left::Nothing, None),
            _ => (Left::All, None),
        };
        let sources = Sources::of(manifests, &issued.root().authority_sources);
        Self {
            issued,
            now,
            left,
            catalog,
            sources,
        }
    }

    /// What the actor has by now.
    #[must_use]
    pub fn left(&self) -> &Left {
        &self.left
    }

    /// Every action of the catalog, in order.
    pub fn all(&self) -> impl Iterator<Item = Explanation> {
        let ids = self.catalog.ids().into_iter();
        ids.filter_map(|id| self.explain(id.as_str()))
    }

    /// One action; `None` for one that does not exist.
    #[must_use]
    pub fn explain(&self, id: &str) -> Option<Explanation> {
        let (action, _) = self.catalog.entry(id)?;
        let required = self.catalog.requirements_for(id);
        let judged = exposure(self.issued, self.catalog, id);
        let offered = self.issued.mandate().zip(required);
        let offered = offered.is_some_and(|(mandate, required)| mandate.offers(action, required));
        let mut lines = self.sources.lines(id, offered);
        let decided_by = reason::decided_by(judged, required, &mut lines, &self.sources);
        let stands = self.stands(self.issued, judged, action, &lines);
        let now = self.now.as_ref().and_then(|now| {
            let judged = exposure(now, self.catalog, id);
            let now = self.stands(now, judged, action, &lines);
            (now != stands).then_some(now)
        });
        Some(Explanation {
            action: action.clone(),
            stands,
            now,
            class: self.catalog.class_of(id),
            claims: required.map_or_else(Vec::new, |required| self.claims(required)),
            roles: required.and_then(|required| self.roles(required)),
            mode: required.and_then(|required| self.mode(required)),
            lines,
            decided_by,
        })
    }

    fn stands(
        &self,
        grant: &VerifiedGrant,
        judged: Result<Standing, Absence>,
        action: &ActionId,
        lines: &[Line],
    ) -> Stands {
        Stands {
            exposed: judged.is_ok(),
            approval_required: judged == Ok(Standing::ApprovalRequired),
            // The record's own word, so that a reader finds the one by the other.
            reason: exposure_of(grant, self.catalog, action).reason,
            because: reason::because(grant, self.catalog, action.as_str(), judged, lines),
        }
    }

    fn claims(&self, required: &Requirements) -> Vec<ClaimHeld> {
        let (granted, _) = Mandate::sorted_claims(self.issued.mandate(), required);
        let now = self.now.as_ref().and_then(VerifiedGrant::mandate);
        let kept = now.map(|now| Mandate::sorted_claims(Some(now), required).0);
        let told = |claim: &String| {
            let is_granted = granted.contains(&claim.as_str());
            let is_kept = match (&self.left, &kept) {
                (Left::Nothing, _) => false,
                (_, Some(kept)) => kept.contains(&claim.as_str()),
                (_, None) => true,
            };
            let by = self.sources.claim(claim);
            ClaimHeld {
                claim: claim.clone(),
                granted: is_granted,
                by_actor: by.actor,
                by_scenario: by.scenario,
                denied_by: by.denied,
                lost: is_granted && !is_kept,
            }
        };
        required.claims.iter().map(told).collect()
    }

    fn roles(&self, required: &Requirements) -> Option<Asked> {
        let held = self.issued.mandate().map(|mandate| mandate.roles.clone());
        asked(&required.roles, held, || self.sources.roles())
    }

    fn mode(&self, required: &Requirements) -> Option<Asked> {
        let mode = self.issued.mandate().map(|mandate| mandate.mode.clone());
        asked(&required.modes, mode.map(|mode| [mode].into()), || {
            self.sources.mode()
        })
    }
}

fn asked(
    one_of: &BTreeSet<String>,
    held: Option<BTreeSet<String>>,
    by: impl FnOnce() -> Vec<Place>,
) -> Option<Asked> {
    let held = held.unwrap_or_default();
    (!one_of.is_empty()).then(|| Asked {
        met: !one_of.is_disjoint(&held),
        one_of: one_of.clone(),
        held,
        by: by(),
    })
}

/// What a mandate had and does not have any more.
fn lost(held: &Mandate, left: &Mandate) -> Vec<String> {
    let gone = |what: &'static str, held: &BTreeSet<String>, left: &BTreeSet<String>| {
        let gone: Vec<_> = held.difference(left).cloned().collect();
        gone.into_iter().map(move |word| format!("{what} `{word}`"))
    };
    let denied = left.denied_actions.difference(&held.denied_actions);
    let secret = held.secret_values && !left.secret_values;
    let targets = held.api_targets.difference(&left.api_targets).count();
    gone("claim", &held.claims, &left.claims)
        .chain(gone("role", &held.roles, &left.roles))
        .chain(gone(
            "interaction kind",
            &held.interaction_kinds,
            &left.interaction_kinds,
        ))
        .chain(
            gone("claim", &left.denied_claims, &held.denied_claims)
                .map(|claim| format!("{claim} (denied by policy since)")),
        )
        .chain(denied.map(|action| format!("action `{action}` (denied by the scenario since)")))
        .chain(secret.then(|| "values of secrets".to_owned()))
        .chain((targets > 0).then(|| format!("{targets} requests of the escape hatch")))
        .collect()
}

#[cfg(test)]
mod tests;
