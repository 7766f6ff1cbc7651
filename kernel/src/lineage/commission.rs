//! One worker commissions another: what it asks for is held against what it is shown, and handed on as caveats.
//!
//! The task that comes of it is issued to the principal of the one that commissioned it, so that whoever may not decide
//! on the calls of the one may not decide on those of the other either.

use std::collections::BTreeSet;

use actum::gate::{Absence, DenialReason, exposure};
use actum::grant::Commission;
use actum::schema::ArgumentFault;
use actum::{
    ActionError, ActionId, BoundArgument, Call, Digest, SealedGrant, ToolName, VerifiedGrant,
    project,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use ulid::Ulid;

use crate::Kernel;
use crate::actions::worker::commission::Ask;
use crate::auth::{LiveTask, LiveTasks, Secret, TaskToken};
use crate::ledger::{Entry, Kind};
use crate::store::{NewTask, StoreError};

/// A task that was commissioned.
#[derive(Debug)]
pub(crate) struct Commissioned {
    pub(crate) token: TaskToken,
    pub(crate) expires_at: Timestamp,
    /// The names of the tools that it shows.
    pub(crate) tools: Vec<String>,
}

/// Has a task forgotten as it is dropped.
struct Forgets<'a>(&'a LiveTasks, Ulid);

impl Drop for Forgets<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// What is to be handed on, as it is sealed.
struct Draft {
    parent: Ulid,
    sealed: SealedGrant,
    grant: VerifiedGrant,
}

impl Kernel {
    /// What keeps the task that calls from handing on what it asks for.
    pub(crate) async fn commission_faults(
        &self,
        by: &Call,
        ask: &Ask,
    ) -> Result<Vec<ArgumentFault>, ActionError> {
        let drafted = self.draft(by, ask).await?;
        Ok(drafted.err().unwrap_or_default())
    }

    /// Issues a task with a part of the grant of the task that calls.
    pub(crate) async fn commission(
        &self,
        by: &Call,
        ask: &Ask,
    ) -> Result<Commissioned, ActionError> {
        // The arguments were looked at before the call began; a token may be spent since.
        let gone = |_| ActionError::unavailable("what was to be handed on is not there any more");
        let Draft {
            parent,
            sealed,
            grant,
        } = self.draft(by, ask).await?.map_err(gone)?;
        let token = TaskToken {
            task_id: grant.task_id(),
            secret: Secret::random()?,
        };
        let exposures = self.exposures(&sealed)?;
        let exposures = (Digest::of_bytes(exposures.as_bytes()), exposures.as_str());
        let entry = issue_entry(by, parent, &sealed, &grant, exposures.0)?;
        let new = NewTask {
            id: token.task_id,
            token_hash: token.secret.hash().bytes(),
            grant: &sealed,
            message: None,
            expires_at: grant.expires_at(),
            limits: grant.limits(),
            catalog: (self.catalog_digest, &self.catalog_json),
            exposures,
            selections: &[],
        };
        // However this ends, and be it given up: what is known of the parent in memory may be untrue from here on.
        let _forgets = Forgets(&self.tasks, parent);
        if !self.store.commission(parent, new, entry).await? {
            return Err(over());
        }
        let catalog = self.at_hand();
        let tools = project(&grant, &catalog);
        let tools = tools.tools().map(|tool| tool.descriptor().name.clone());
        Ok(Commissioned {
            token,
            expires_at: grant.expires_at(),
            tools: tools.collect(),
        })
    }

    /// Seals what is asked for. Inside, all that is wrong with it.
    async fn draft(
        &self,
        by: &Call,
        ask: &Ask,
    ) -> Result<Result<Draft, Vec<ArgumentFault>>, ActionError> {
        let now = self.now();
        let parent = self.tasks.live(by.task_id, now).await?.ok_or_else(over)?;
        let stored = self.store.task(parent.id).await?.ok_or_else(over)?;
        let mut faults = Vec::new();
        let (actions, commission) = self.asked(&parent, ask, now, &mut faults).await?;
        if !faults.is_empty() {
            return Ok(Err(faults));
        }
        let sealed = stored.grant.commission(commission, &self.catalog)?;
        let grant = sealed.clone().verify(&self.seal)?;
        for (place, id) in actions.iter().enumerate() {
            if let Err(absence) = exposure(&grant, &self.at_hand(), id.as_str()) {
                faults.push(fault(format!("/actions/{place}"), out_of_reach(absence)));
            }
        }
        let draft = Draft {
            parent: parent.id,
            sealed,
            grant,
        };
        Ok(match faults.is_empty() {
            true => Ok(draft),
            false => Err(faults),
        })
    }

    /// Holds what is asked for against what the task that asks has. Whatever it does not have is told in the same
    /// words, whether or not it exists.
    async fn asked(
        &self,
        parent: &LiveTask,
        ask: &Ask,
        now: Timestamp,
        faults: &mut Vec<ArgumentFault>,
    ) -> Result<(Vec<ActionId>, Commission), StoreError> {
        if ask.purpose.chars().any(char::is_control) {
            let problem = "one line without control characters".to_owned();
            faults.push(fault("/purpose".to_owned(), problem));
        }
        let mut actions = Vec::new();
        for (place, name) in ask.actions.iter().enumerate() {
            match self.shown(parent, name) {
                Ok(id) => actions.push(id),
                Err(problem) => faults.push(fault(format!("/actions/{place}"), problem)),
            }
        }
        let grant = &parent.grant;
        let output_channels = ask
            .output_channels
            .as_ref()
            .map(|channels| own("output_channels", channels, grant.output_channels(), faults));
        let egress_classes = ask
            .egress_classes
            .as_ref()
            .map(|classes| own("egress_classes", classes, grant.egress_classes(), faults));
        let mut selection_tokens = BTreeSet::new();
        for (place, text) in ask.selection_tokens.iter().flatten().enumerate() {
            match self.unspent(parent, text, now).await? {
                Some(token) => drop(selection_tokens.insert(token)),
                None => faults.push(fault(
                    format!("/selection_tokens/{place}"),
                    "no unspent selection token of yours".to_owned(),
                )),
            }
        }
        let mut bound_arguments = Vec::new();
        for (place, bound) in ask.bound_arguments.iter().flatten().enumerate() {
            let id = self.shown(parent, &bound.action).ok();
            match id.filter(|id| actions.contains(id)) {
                Some(id) => {
                    let values = bound.values.iter().map(Into::into).collect();
                    bound_arguments.push(BoundArgument::one_of(id, &bound.argument, values));
                }
                None => faults.push(fault(
                    format!("/bound_arguments/{place}/action"),
                    "not one of `actions`".to_owned(),
                )),
            }
        }
        let lifetime = SignedDuration::from_secs(ask.lifetime_seconds.into());
        let commission = Commission {
            task_id: self.ids.next(),
            purpose: ask.purpose.clone(),
            at: now,
            catalog_digest: self.catalog_digest,
            actions: actions.iter().cloned().collect(),
            expires_at: now.checked_add(lifetime).unwrap_or(now),
            output_channels,
            egress_classes,
            selection_tokens,
            bound_arguments,
            max_calls: ask.max_calls,
        };
        Ok((actions, commission))
    }

    /// The action of a name, if the task is shown it and may hand it on; otherwise why not.
    fn shown(&self, task: &LiveTask, name: &str) -> Result<ActionId, String> {
        let id = ToolName::to_id(name).or_else(|| ActionId::parse(name).ok());
        let shown = id.filter(|id| exposure(&task.grant, &self.at_hand(), id.as_str()).is_ok());
        match shown {
            Some(id) if self.catalog.is_non_delegable(id.as_str()) => {
                Err(format!("`{name}` is not to be handed on"))
            }
            Some(id) => Ok(id),
            None => Err(format!("you have no tool `{name}`")),
        }
    }

    /// The selection token of a text, if the task may still spend it.
    async fn unspent(
        &self,
        task: &LiveTask,
        text: &str,
        now: Timestamp,
    ) -> Result<Option<Ulid>, StoreError> {
        let held = Ulid::from_string(text).ok();
        let held = held.filter(|id| task.grant.selection_tokens().contains_key(id));
        let Some(id) = held else {
            return Ok(None);
        };
        let stored = self.store.selection(id, task.id).await?;
        Ok(stored
            .filter(|selection| now < selection.token.expires_at)
            .map(|_| id))
    }
}

/// The record of a commissioned task.
fn issue_entry(
    by: &Call,
    parent: Ulid,
    sealed: &SealedGrant,
    grant: &VerifiedGrant,
    exposures: Digest,
) -> Result<Entry, StoreError> {
    let body = json!({
        "task": grant.task_id(),
        "parent": parent,
        "call": by.request_id,
        "principal": grant.root().principal,
        // With its caveats, which are what was handed on.
        "grant": Digest::of_json(sealed)?,
        "catalog": grant.catalog_digest(),
        "exposures": exposures,
        "policy": grant.root().policy_revision,
        "expires_at": grant.expires_at(),
        "selection_tokens": grant.selection_tokens().keys().collect::<Vec<_>>(),
    });
    Ok(Entry {
        at: grant.issued_at(),
        kind: Kind::GrantIssued,
        body,
    })
}

/// Names of channels or classes, of which each has to be held.
fn own(
    field: &str,
    asked: &[String],
    held: &BTreeSet<String>,
    faults: &mut Vec<ArgumentFault>,
) -> BTreeSet<String> {
    for (place, name) in asked.iter().enumerate() {
        if !held.contains(name) {
            let problem = "not one of your own".to_owned();
            faults.push(fault(format!("/{field}/{place}"), problem));
        }
    }
    asked.iter().cloned().collect()
}

fn over() -> ActionError {
    ActionError::unavailable("the task that commissions is over")
}

fn fault(at: String, problem: String) -> ArgumentFault {
    ArgumentFault { at, problem }
}

/// What keeps an action of the parent's from being of use to the child, in the words of the arguments.
fn out_of_reach(absence: Absence) -> String {
    let with = match absence {
        Absence::Denied(DenialReason::SelectionTokenInvalid) => "`selection_tokens`",
        Absence::Denied(DenialReason::OutputChannelNotGranted) => "`output_channels`",
        Absence::Denied(DenialReason::EgressClassNotGranted) => "`egress_classes`",
        Absence::Denied(DenialReason::CaveatWidening) => "`bound_arguments`",
        _ => "what is handed on",
    };
    format!("with {with} as they are, no call of it could pass")
}
