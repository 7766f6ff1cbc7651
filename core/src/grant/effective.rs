//! What a grant comes to: its lists and its caveats taken together, worked out once when its seal
//! was checked. Here alone is decided what an attenuation takes away.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use ulid::Ulid;

use super::{Caveat, TaskGrant};
use crate::authority::Mandate;
use crate::bound::{Bound, BoundArgument};
use crate::digest::Digest;
use crate::id::ActionId;
use crate::schema::without_fractions;

/// Which of a grant's lists has an action. Where several have it, deny beats approval beats allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Allowed,
    ApprovalRequired,
    Denied,
}

/// The task that a grant was handed on to.
#[derive(Debug, Clone)]
pub(super) struct HandedOn {
    pub(super) task_id: Ulid,
    pub(super) purpose: String,
    pub(super) at: Timestamp,
    pub(super) catalog_digest: Digest,
}

/// What the caveats of a grant leave of it, worked out once.
#[derive(Debug, Clone)]
pub(super) struct Effective {
    pub(super) expires_at: Timestamp,
    pub(super) actions: BTreeMap<ActionId, Listed>,
    pub(super) channels: BTreeSet<String>,
    pub(super) classes: BTreeSet<String>,
    /// Arguments of whatever action, by name.
    pub(super) bound: BTreeMap<String, String>,
    /// All that calls of an action are held to, `bound` included for those that a list has.
    pub(super) bounds: BTreeMap<ActionId, Vec<BoundArgument>>,
    pub(super) tokens: BTreeMap<Ulid, String>,
    pub(super) mandate: Option<Mandate>,
    pub(super) max_calls: u32,
    /// The last task that it was handed on to.
    pub(super) handed_on: Option<HandedOn>,
    pub(super) contradictory: bool,
}

impl Effective {
    pub(super) fn of<'a>(grant: &TaskGrant, caveats: impl Iterator<Item = &'a Caveat>) -> Self {
        let mut left = Self {
            expires_at: grant.expires_at,
            actions: [
                (&grant.allowed_actions, Listed::Allowed),
                (&grant.approval_required_actions, Listed::ApprovalRequired),
                (&grant.denied_actions, Listed::Denied),
            ]
            .into_iter()
            .flat_map(|(ids, listed)| ids.iter().map(move |id| (id.clone(), listed)))
            .collect(),
            channels: grant.output_channels.clone(),
            classes: grant.allowed_egress_classes.clone(),
            bound: BTreeMap::new(),
            bounds: BTreeMap::new(),
            tokens: grant.selection_tokens.clone(),
            mandate: grant.mandate.clone(),
            max_calls: grant.limits.max_model_calls,
            handed_on: None,
            contradictory: false,
        };
        for bound in &grant.bound_arguments {
            left.hold(bound.clone());
        }
        for caveat in caveats {
            match caveat {
                // What is denied stays denied, by that name.
                Caveat::ActionAllowlist { actions } => left
                    .actions
                    .retain(|id, listed| *listed == Listed::Denied || actions.contains(id)),
                Caveat::BoundParameter { name, value } => {
                    let earlier = left
                        .bound
                        .entry(name.clone())
                        .or_insert_with(|| value.clone());
                    left.contradictory |= earlier != value;
                }
                Caveat::BoundArgument(bound) => left.hold(bound.clone()),
                Caveat::ExpiresBefore { at } => left.expires_at = left.expires_at.min(*at),
                Caveat::OutputChannelAllowlist { channels } => {
                    left.channels.retain(|channel| channels.contains(channel));
                }
                Caveat::EgressClassAllowlist { classes } => {
                    left.classes.retain(|class| classes.contains(class));
                }
                Caveat::SelectionTokenAllowlist { tokens } => {
                    left.tokens.retain(|token, _| tokens.contains(token));
                }
                Caveat::ModelTier { .. } => left.contradictory = true,
                Caveat::CallLimit { max_calls } => {
                    left.max_calls = left.max_calls.min(*max_calls);
                }
                Caveat::HandedOn {
                    task_id,
                    purpose,
                    at,
                    catalog_digest,
                } => {
                    left.handed_on = Some(HandedOn {
                        task_id: *task_id,
                        purpose: purpose.clone(),
                        at: *at,
                        catalog_digest: *catalog_digest,
                    });
                }
            }
        }
        for (name, value) in left.bound.clone() {
            for action in left.actions.keys().cloned().collect::<Vec<_>>() {
                left.hold(BoundArgument::one_of(
                    action,
                    &name,
                    vec![value.clone().into()],
                ));
            }
        }
        left
    }

    fn hold(&mut self, mut bound: BoundArgument) {
        if let Bound::OneOf(values) = &mut bound.to {
            values.iter_mut().for_each(without_fractions);
        }
        let held = self.bounds.entry(bound.action.clone()).or_default();
        held.push(bound);
    }
}
