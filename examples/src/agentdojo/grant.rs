//! The grant that a user task is given, in three strengths.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use actum::authority::Limits;
use actum::digest::NotCanonical;
use actum::grant::{BrokenSeal, GrantMode, Principal, SealKey, SealedGrant, VerifiedGrant};
use actum::{ActionId, Bound, BoundArgument, Digest, TaskGrant};
use jiff::Timestamp;
use serde_json::Value;
use ulid::Ulid;

use super::data::{Sinks, ToolCall, UserTask};

/// How closely a grant follows the calls of its task. Each strength grants the tools of those
/// calls, and binds more of their arguments than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// None.
    Names,
    /// [Sink arguments](Sinks::sinks): each is one of those that the task's calls of the tool have
    /// there. Each by itself: two calls leave their combinations too.
    Sinks,
    /// All: the arguments of a call are, as a whole, those of one of the task's calls of the tool.
    Exact,
}

impl Strength {
    /// Every strength, from the weakest.
    pub const ALL: [Self; 3] = [Self::Names, Self::Sinks, Self::Exact];
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Names => "names",
            Self::Sinks => "bound sinks",
            Self::Exact => "exact arguments",
        })
    }
}

/// The key of every grant here: they are made and judged in one breath, and never leave it.
const KEY: SealKey = SealKey::new([0; 32]);

/// When every grant here is issued, and every call made.
pub const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Why a user task has no grant.
#[derive(Debug, thiserror::Error)]
pub enum NoGrant {
    /// JSON cannot hold it.
    #[error("its grant cannot be sealed: {0}")]
    Unsealable(#[from] NotCanonical),
    /// Its seal does not fit.
    #[error(transparent)]
    Seal(#[from] BrokenSeal),
}

/// Makes, seals and verifies the grant of a user task.
///
/// # Errors
/// [`NoGrant`], which would be a fault of Actum's.
pub fn grant_of(
    task: &UserTask,
    sinks: &Sinks,
    strength: Strength,
) -> Result<VerifiedGrant, NoGrant> {
    let sealed = SealedGrant::seal(unsealed(task, sinks, strength), &KEY)?;
    Ok(sealed.verify(&KEY)?)
}

fn unsealed(task: &UserTask, sinks: &Sinks, strength: Strength) -> TaskGrant {
    TaskGrant {
        id: Ulid(1),
        task_id: Ulid(2),
        event_id: Ulid(3),
        principal: Principal::Known("user".to_owned()),
        purpose: task.id.clone(),
        allowed_actions: task.ground_truth.iter().map(tool).cloned().collect(),
        approval_required_actions: BTreeSet::new(),
        denied_actions: BTreeSet::new(),
        bound_arguments: bound_arguments(task, sinks, strength),
        mandate: None,
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        selection_tokens: BTreeMap::new(),
        limits: Limits {
            max_model_calls: 1,
            max_artifacts: 0,
            max_runtime_seconds: 1,
        },
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: NOW,
        expires_at: Timestamp::MAX,
        authority_sources: Vec::new(),
        policy_revision: Digest::of_bytes(b""),
        catalog_digest: Digest::of_bytes(b""),
    }
}

fn tool(call: &ToolCall) -> &ActionId {
    &call.tool
}

fn bound_arguments(task: &UserTask, sinks: &Sinks, strength: Strength) -> Vec<BoundArgument> {
    let mut calls: BTreeMap<&ActionId, Vec<&ToolCall>> = BTreeMap::new();
    for call in &task.ground_truth {
        calls.entry(&call.tool).or_default().push(call);
    }
    let bound = |(tool, calls): (&ActionId, Vec<&ToolCall>)| match strength {
        Strength::Names => Vec::new(),
        Strength::Sinks => {
            let sinks = sinks.of(tool).iter();
            sinks.map(|sink| bound_sink(tool, &calls, sink)).collect()
        }
        Strength::Exact => vec![BoundArgument {
            action: tool.clone(),
            at: String::new(),
            to: one_of(calls.iter().map(|call| Value::Object(call.args.clone()))),
            may_be_absent: false,
        }],
    };
    calls.into_iter().flat_map(bound).collect()
}

/// What one argument is in the calls of its tool. Where one of them leaves it out it may be left
/// out, and where all do it must be.
fn bound_sink(tool: &ActionId, calls: &[&ToolCall], sink: &str) -> BoundArgument {
    let given = || calls.iter().filter_map(|call| call.args.get(sink));
    BoundArgument {
        action: tool.clone(),
        // As RFC 6901 writes a name.
        at: format!("/{}", sink.replace('~', "~0").replace('/', "~1")),
        to: one_of(given().cloned()),
        may_be_absent: given().count() < calls.len(),
    }
}

fn one_of(values: impl Iterator<Item = Value>) -> Bound {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Bound::OneOf(distinct)
}
