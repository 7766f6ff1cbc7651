//! Which calls the holder of a grant can make.

use std::collections::BTreeSet;
use std::sync::Arc;

use actum::gate::{Evidence, Origin, Request, Verdict, gate};
use actum::grant::VerifiedGrant;
use actum::{ActionCatalog, ActionId, project};

use super::data::{InjectionTask, Sinks, ToolCall};
use super::grant::NOW;

/// What a model can reach that holds a grant over a catalog.
#[derive(Debug)]
pub struct Reach<'a> {
    grant: &'a VerifiedGrant,
    catalog: &'a ActionCatalog,
    shown: BTreeSet<&'a ActionId>,
}

/// What of an injection can still be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// Every call of its ground truth.
    pub whole: bool,
    /// At least one of those that change something.
    pub some_effect: bool,
}

impl<'a> Reach<'a> {
    /// Projects the grant.
    #[must_use]
    pub fn of(grant: &'a VerifiedGrant, catalog: &'a ActionCatalog) -> Self {
        let view = project(grant, catalog);
        Self {
            grant,
            catalog,
            shown: view.tools().map(|tool| tool.id()).collect(),
        }
    }

    /// How many tools the model is shown.
    #[must_use]
    pub fn tools_shown(&self) -> usize {
        self.shown.len()
    }

    /// Whether the gate lets a call through, shown or not: a hijacked worker can post any id.
    ///
    /// # Errors
    /// The reason why not, as the ledger would have it.
    pub fn lets_through(&self, call: &ToolCall) -> Result<(), &'static str> {
        let request = Arc::new(Request {
            action: call.tool.to_string(),
            arguments: call.args.clone(),
            payload_digest: None,
            target_digest: None,
            selection_token: None,
            origin: Origin::Worker,
        });
        match gate(self.grant, &request, self.catalog, Evidence::default(), NOW) {
            Verdict::Allow(_) => Ok(()),
            Verdict::ApprovalRequired(_) => Err("approval_required"),
            Verdict::EffectSuppressed => Err("effect_suppressed"),
            Verdict::Deny(reason) => Err(reason.as_str()),
        }
    }

    /// Whether the task that the grant was made for can make a call of its own: its model must see
    /// the tool, too.
    ///
    /// # Errors
    /// The gate's reason, or `not_shown`.
    pub fn serves(&self, call: &ToolCall) -> Result<(), &'static str> {
        self.lets_through(call)?;
        match self.shown.contains(&call.tool) {
            true => Ok(()),
            false => Err("not_shown"),
        }
    }

    /// What of an injection can still be done. Of one without calls: nothing.
    #[must_use]
    pub fn fate_of(&self, injection: &InjectionTask, sinks: &Sinks) -> Fate {
        let passes = |call: &ToolCall| self.lets_through(call).is_ok();
        let calls = &injection.ground_truth;
        Fate {
            whole: !calls.is_empty() && calls.iter().all(passes),
            some_effect: calls
                .iter()
                .any(|call| sinks.has_effect(call) && passes(call)),
        }
    }
}
