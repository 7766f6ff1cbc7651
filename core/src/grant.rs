//! Grants: what one task may do, sealed, and only ever narrowed.
//!
//! A [`SealedGrant`] is the stored and handed-on form: the root grant, the attenuations added since,
//! and an HMAC chain over both, in the manner of macaroons: each step's key is the seal before it.
//! [`SealedGrant::verify`] is the only way to a [`VerifiedGrant`], and only a verified grant can be
//! projected or gated.

mod commission;
mod effective;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use ulid::Ulid;

use crate::action::ReplyTo;
use crate::authority::{Limits, Mandate};
use crate::bound::{Bound, BoundArgument};
use crate::catalog::Entry;
use crate::digest::{Digest, NotCanonical, canonical_json};
use crate::id::ActionId;
use crate::schema::walk::escaped;

pub use commission::Commission;
use effective::Effective;
pub(crate) use effective::Listed;

/// Whether effects are real.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantMode {
    /// They are.
    #[default]
    Live,
    /// Whatever would be allowed is decided, recorded, and not done.
    Shadow,
}

/// Whom a grant is issued to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    content = "id",
    rename_all = "snake_case",
    deny_unknown_fields
)]
pub enum Principal {
    /// A person whom the kernel knows and whose source is verified.
    Known(String),
    /// Whoever is on the other end of a channel account.
    Anonymous(String),
}

impl std::fmt::Display for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(id) => write!(f, "known:{id}"),
            Self::Anonymous(id) => write!(f, "anonymous:{id}"),
        }
    }
}

/// The authority of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskGrant {
    /// The grant's id.
    pub id: Ulid,
    /// The task.
    pub task_id: Ulid,
    /// The event that led here.
    pub event_id: Ulid,
    /// Whom it is issued to.
    pub principal: Principal,
    /// What the task is for, in one line.
    pub purpose: String,
    /// Actions that may be called.
    pub allowed_actions: BTreeSet<ActionId>,
    /// Actions that may be called once the owner approves the very call.
    pub approval_required_actions: BTreeSet<ActionId>,
    /// Actions that may not be called whatever else is said.
    pub denied_actions: BTreeSet<ActionId>,
    /// Classes of outside traffic that may be caused.
    pub allowed_egress_classes: BTreeSet<String>,
    /// Output channels that may be written to.
    pub output_channels: BTreeSet<String>,
    /// Selection tokens that may be spent, with the type of each.
    pub selection_tokens: BTreeMap<Ulid, String>,
    /// What the arguments of its actions are held to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_arguments: Vec<BoundArgument>,
    /// What the actor and the scenario bring, where authority comes by claims too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate: Option<Mandate>,
    /// Bounds of the task.
    pub limits: Limits,
    /// Whether effects are real.
    pub mode: GrantMode,
    /// Where replies of this task may go.
    pub reply_to: Option<ReplyTo>,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it ends: at this instant it is over.
    pub expires_at: Timestamp,
    /// The manifests that it was composed from.
    pub authority_sources: Vec<String>,
    /// The revision of all active manifests at that time.
    pub policy_revision: Digest,
    /// The catalog at that time.
    pub catalog_digest: Digest,
}

/// A restriction that a later holder added. Caveats of one kind all apply; an empty list lets
/// nothing pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Caveat {
    /// Only these actions.
    ActionAllowlist {
        /// The actions.
        actions: BTreeSet<ActionId>,
    },
    /// In every call, the argument of this name is exactly this text.
    BoundParameter {
        /// The argument's name.
        name: String,
        /// Its text.
        value: String,
    },
    /// In calls of one action, an argument is held to what is said.
    BoundArgument(BoundArgument),
    /// Over at this instant.
    ExpiresBefore {
        /// The instant.
        at: Timestamp,
    },
    /// Only these output channels.
    OutputChannelAllowlist {
        /// The channels.
        channels: BTreeSet<String>,
    },
    /// Only these egress classes.
    EgressClassAllowlist {
        /// The classes.
        classes: BTreeSet<String>,
    },
    /// Only these selection tokens.
    SelectionTokenAllowlist {
        /// The tokens.
        tokens: BTreeSet<Ulid>,
    },
    /// Only model tiers up to this one. The gate cannot judge it, so it refuses every call.
    ModelTier {
        /// The tier.
        max_tier: String,
    },
    /// At most so many calls.
    CallLimit {
        /// How many.
        max_calls: u32,
    },
    /// For this task alone, which another one commissioned. What is not to be handed on is not in it.
    HandedOn {
        /// The task.
        task_id: Ulid,
        /// What it is for, in the words of the worker that commissioned it.
        purpose: String,
        /// When it was commissioned.
        at: Timestamp,
        /// The catalog at that time.
        catalog_digest: Digest,
    },
}

/// The caveats that one holder added in one step.
pub type Attenuation = Vec<Caveat>;

/// The key that seals grants; 32 random bytes of the kernel's own.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    /// Takes key bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// A grant as it is stored and handed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedGrant {
    grant: TaskGrant,
    attenuations: Vec<Attenuation>,
    seal: Digest,
}

/// A grant whose seal does not fit its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the grant's seal does not fit its content")]
pub struct BrokenSeal;

impl SealedGrant {
    /// Seals a grant.
    ///
    /// # Errors
    /// [`NotCanonical`] for a grant that JSON cannot hold.
    pub fn seal(grant: TaskGrant, key: &SealKey) -> Result<Self, NotCanonical> {
        let seal = link(&key.0, &grant)?;
        Ok(Self {
            grant,
            attenuations: Vec::new(),
            seal,
        })
    }

    /// The root grant as it stands there, unverified: to tell of it, and for nothing else.
    #[must_use]
    pub fn as_issued(&self) -> &TaskGrant {
        &self.grant
    }

    /// What its task is for, unverified as well.
    #[must_use]
    pub fn purpose_as_issued(&self) -> &str {
        let steps = self.attenuations.iter().flatten();
        let last = steps.fold(None, |last, caveat| match caveat {
            Caveat::HandedOn { purpose, .. } => Some(purpose),
            _ => last,
        });
        last.unwrap_or(&self.grant.purpose)
    }

    /// Adds a step of caveats. Needs no key: anyone who holds a grant can narrow it, and nobody
    /// can take a caveat away.
    ///
    /// # Errors
    /// [`NotCanonical`] for caveats that JSON cannot hold.
    pub fn attenuate(mut self, step: Attenuation) -> Result<Self, NotCanonical> {
        self.seal = link(self.seal.as_bytes(), &step)?;
        self.attenuations.push(step);
        Ok(self)
    }

    /// Checks the seal, and works out what the caveats leave.
    ///
    /// # Errors
    /// [`BrokenSeal`] when anything was changed since it was sealed.
    pub fn verify(self, key: &SealKey) -> Result<VerifiedGrant, BrokenSeal> {
        let mut seal = link(&key.0, &self.grant).map_err(|_| BrokenSeal)?;
        for step in &self.attenuations {
            seal = link(seal.as_bytes(), step).map_err(|_| BrokenSeal)?;
        }
        if !bool::from(seal.as_bytes().ct_eq(self.seal.as_bytes())) {
            return Err(BrokenSeal);
        }
        let effective = Effective::of(&self.grant, self.attenuations.iter().flatten());
        Ok(VerifiedGrant {
            grant: self.grant,
            effective,
        })
    }
}

/// One link of the chain: HMAC-SHA256 over canonical JSON.
fn link(key: &[u8; 32], content: &impl Serialize) -> Result<Digest, NotCanonical> {
    // HMAC pads a short key with zeros to its block of 64 bytes; done here, it cannot fail.
    let mut block = [0u8; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(&canonical_json(content)?);
    Ok(Digest::from_bytes(mac.finalize().into_bytes().into()))
}

/// A grant whose seal was checked. INVARIANT: only [`SealedGrant::verify`] makes one.
#[derive(Debug, Clone)]
pub struct VerifiedGrant {
    grant: TaskGrant,
    effective: Effective,
}

impl VerifiedGrant {
    /// The root grant. Its lists are what was issued; caveats may leave less.
    #[must_use]
    pub fn root(&self) -> &TaskGrant {
        &self.grant
    }

    /// The task that it is for: the last that it was handed on to, or the one it was issued for.
    #[must_use]
    pub fn task_id(&self) -> Ulid {
        let handed_on = self.effective.handed_on.as_ref();
        handed_on.map_or(self.grant.task_id, |to| to.task_id)
    }

    /// What its task is for, in one line. Of one that was commissioned, the words are a worker's: untrusted.
    #[must_use]
    pub fn purpose(&self) -> &str {
        let handed_on = self.effective.handed_on.as_ref();
        handed_on.map_or(&self.grant.purpose, |to| &to.purpose)
    }

    /// When its task began.
    #[must_use]
    pub fn issued_at(&self) -> Timestamp {
        let handed_on = self.effective.handed_on.as_ref();
        handed_on.map_or(self.grant.issued_at, |to| to.at)
    }

    /// The catalog at that time.
    #[must_use]
    pub fn catalog_digest(&self) -> Digest {
        let handed_on = self.effective.handed_on.as_ref();
        handed_on.map_or(self.grant.catalog_digest, |to| to.catalog_digest)
    }

    /// Whether its task was commissioned by another one.
    #[must_use]
    pub fn is_handed_on(&self) -> bool {
        self.effective.handed_on.is_some()
    }

    /// The bounds of its task, caveats included. Of one that was commissioned, what it does counts for those
    /// above it, too.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            max_model_calls: self.effective.max_calls,
            ..self.grant.limits
        }
    }

    /// When it is over, caveats included.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.effective.expires_at
    }

    /// What the actor and the scenario bring.
    #[must_use]
    pub fn mandate(&self) -> Option<&Mandate> {
        self.effective.mandate.as_ref()
    }

    /// What is left of the grant where its mandate is only this one by now; `None` where the actor or
    /// the scenario is another, so that the task is over. A grant without a mandate stays as it is.
    ///
    /// INVARIANT: it never has more than before.
    #[must_use]
    pub fn within(mut self, mandate: Option<&Mandate>) -> Option<Self> {
        if let Some(issued) = &self.effective.mandate {
            self.effective.mandate = Some(issued.meet(mandate?)?);
        }
        Some(self)
    }

    /// Whether its caveats contradict each other or include one that the gate cannot judge.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.effective.contradictory
    }

    /// Which list has an action, caveats included; `None` for none.
    pub(crate) fn listed(&self, id: &str) -> Option<Listed> {
        self.effective.actions.get(id).copied()
    }

    /// Every action that a list has, caveats included, in order.
    pub(crate) fn listed_actions(&self) -> impl ExactSizeIterator<Item = (&ActionId, Listed)> {
        let actions = self.effective.actions.iter();
        actions.map(|(id, listed)| (id, *listed))
    }

    /// The output channels that may be written to, caveats included.
    #[must_use]
    pub fn output_channels(&self) -> &BTreeSet<String> {
        &self.effective.channels
    }

    /// The classes of outside traffic that may be caused, caveats included.
    #[must_use]
    pub fn egress_classes(&self) -> &BTreeSet<String> {
        &self.effective.classes
    }

    pub(crate) fn has_channel(&self, channel: &str) -> bool {
        self.effective.channels.contains(channel)
    }

    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.effective.classes.contains(class)
    }

    /// The selection tokens that may be spent, caveats included, with the type of each.
    #[must_use]
    pub fn selection_tokens(&self) -> &BTreeMap<Ulid, String> {
        &self.effective.tokens
    }

    pub(crate) fn bound_parameters(&self) -> &BTreeMap<String, String> {
        &self.effective.bound
    }

    /// Whether any argument of any action is bound.
    pub(crate) fn has_bounds(&self) -> bool {
        !self.effective.bounds.is_empty()
    }

    /// All that a view shows of an action's bounds: those of the grant, its own, and the kinds of interaction that
    /// policy leaves.
    pub(crate) fn bounds_in_view<'a>(
        &'a self,
        id: &ActionId,
        entry: &'a Entry,
    ) -> Vec<Cow<'a, BoundArgument>> {
        let bounds = self.bounds_of(id.as_str()).iter().chain(entry.bounds());
        let bounds = bounds.map(Cow::Borrowed);
        let required = entry.requirements.as_ref();
        let argument = required.and_then(|required| required.interaction.as_ref());
        let kinds = argument.zip(self.mandate()).map(|(argument, mandate)| {
            let kinds = mandate.interaction_kinds.iter();
            Cow::Owned(BoundArgument {
                action: id.clone(),
                at: format!("/{}", escaped(argument)),
                to: Bound::OneOf(kinds.map(|kind| kind.clone().into()).collect()),
                may_be_absent: false,
            })
        });
        bounds.chain(kinds).collect()
    }

    /// What the arguments of an action are held to, caveats included.
    #[must_use]
    pub fn bounds_of(&self, id: &str) -> &[BoundArgument] {
        self.effective.bounds.get(id).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
pub(crate) mod tests;
