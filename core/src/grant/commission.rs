//! Commissioning: one task hands a part of its grant on to another.
//!
//! A commission is a step of caveats and nothing else, so that what comes of it has no more than the grant had,
//! whatever is asked for.

use std::collections::BTreeSet;

use jiff::Timestamp;
use ulid::Ulid;

use super::{Attenuation, Caveat, SealedGrant};
use crate::bound::BoundArgument;
use crate::catalog::ActionCatalog;
use crate::digest::{Digest, NotCanonical};
use crate::id::ActionId;

/// What is handed on, and to which task. What the grant does not have is not handed on by being named here.
#[derive(Debug, Clone)]
pub struct Commission {
    /// The task that it is handed on to.
    pub task_id: Ulid,
    /// What that task is for, in one line.
    pub purpose: String,
    /// When it begins.
    pub at: Timestamp,
    /// The catalog at that time.
    pub catalog_digest: Digest,
    /// The actions.
    pub actions: BTreeSet<ActionId>,
    /// Over at this instant, if the grant is not over before.
    pub expires_at: Timestamp,
    /// Only these output channels; `None` for those of the grant.
    pub output_channels: Option<BTreeSet<String>>,
    /// Only these egress classes; `None` for those of the grant.
    pub egress_classes: Option<BTreeSet<String>>,
    /// The selection tokens.
    pub selection_tokens: BTreeSet<Ulid>,
    /// What arguments are held to, besides what the grant holds them to.
    pub bound_arguments: Vec<BoundArgument>,
    /// At most so many calls; `None` for as many as the grant allows.
    pub max_calls: Option<u32>,
}

impl Commission {
    /// The step of caveats. INVARIANT: an action that no grant may hand on is not among its actions.
    fn into_step(self, catalog: &ActionCatalog) -> Attenuation {
        let mut actions = self.actions;
        actions.retain(|id| !catalog.is_non_delegable(id.as_str()));
        let always = [
            Caveat::HandedOn {
                task_id: self.task_id,
                purpose: self.purpose,
                at: self.at,
                catalog_digest: self.catalog_digest,
            },
            Caveat::ActionAllowlist { actions },
            Caveat::ExpiresBefore {
                at: self.expires_at,
            },
            Caveat::SelectionTokenAllowlist {
                tokens: self.selection_tokens,
            },
        ];
        let channels = self.output_channels;
        let channels = channels.map(|channels| Caveat::OutputChannelAllowlist { channels });
        let classes = self.egress_classes;
        let classes = classes.map(|classes| Caveat::EgressClassAllowlist { classes });
        let calls = self
            .max_calls
            .map(|max_calls| Caveat::CallLimit { max_calls });
        let bounds = self.bound_arguments.into_iter().map(Caveat::BoundArgument);
        let asked = [channels, classes, calls].into_iter().flatten();
        always.into_iter().chain(asked).chain(bounds).collect()
    }
}

impl SealedGrant {
    /// Hands a part of the grant on to another task.
    ///
    /// # Errors
    /// [`NotCanonical`] for a commission that JSON cannot hold.
    pub fn commission(
        self,
        commission: Commission,
        catalog: &ActionCatalog,
    ) -> Result<Self, NotCanonical> {
        self.attenuate(commission.into_step(catalog))
    }
}
