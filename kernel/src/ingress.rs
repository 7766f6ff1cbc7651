//! Events in, tasks out: verify, identify, route, compose, seal.
//!
//! What an event's body says of itself is a claim. Source, trust, lane and verification come from the
//! connector's entry in the configuration, chosen by the key that it presented.

use actum::action::ReplyTo;
use actum::authority::terms::TargetRefKind;
use actum::authority::{
    ActorHint, ClaimsInput, ComposeInput, Event, Identity, IdentityBook, Mandate, ManifestSet,
    RawEventRef, Resolution, Route, SessionPolicy, TargetRef, TrustContext, compose, identify,
    resolve_route,
};
use actum::authorization::Exposures;
use actum::digest::canonical_json;
use actum::grant::{GrantMode, Principal, TaskGrant};
use actum::{ActionCatalog, ActionId, Digest, SealedGrant};
use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use ulid::Ulid;

use crate::Kernel;
use crate::auth::{Secret, TaskToken};
use crate::config::{Config, Connector};
use crate::ids::Ids;
use crate::ledger::{Entry, Kind};
use crate::store::{NewSelection, NewTask, StoreError};

/// The longest message that an event may carry, in bytes.
const MAX_MESSAGE: usize = 16 * 1024;
/// The most things that one event may be about.
const MAX_TARGETS: usize = 16;

/// An event as a connector posts it.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostedEvent {
    /// The connector that hands it in; if given, it is the one whose key is presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// What happened, such as `chat.message`.
    pub event_type: String,
    /// The account it arrived at, such as a chat id.
    pub channel_account: String,
    /// Who sent it, as far as the event says.
    #[serde(default)]
    pub actor_hint: ActorHint,
    /// What the sender wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The conversation it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_refs: Vec<TargetRef>,
}

/// Why an event led to no task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turned {
    /// One word.
    pub reason: &'static str,
    /// A sentence for the connector's operator.
    pub message: String,
}

/// A grant that was composed and not yet issued.
#[derive(Debug)]
pub struct Composed {
    /// The route that decided.
    pub route: String,
    /// The grant.
    pub grant: TaskGrant,
    /// The selection tokens that it carries.
    pub selections: Vec<NewSelection>,
}

/// A task that was issued.
#[derive(Debug)]
pub struct Issued {
    /// The route that decided.
    pub route: String,
    /// The grant.
    pub grant: TaskGrant,
    /// The worker's token.
    pub token: TaskToken,
    /// The selection tokens that the grant carries.
    pub selections: Vec<NewSelection>,
}

/// What composition looks at: everything but the event.
#[derive(Debug, Clone, Copy)]
pub struct Composer<'a> {
    /// The active manifests.
    pub manifests: &'a ManifestSet,
    /// The people the owner knows.
    pub identities: &'a IdentityBook,
    /// What exists.
    pub catalog: &'a ActionCatalog,
    /// Its digest.
    pub catalog_digest: Digest,
    /// How long a selection token lives.
    pub selection_lifetime: Duration,
    /// Where new ids come from.
    pub ids: &'a Ids,
}

impl Composer<'_> {
    /// Works out what an event leads to. Nothing is stored.
    ///
    /// # Errors
    /// [`Turned`] with the reason why it leads nowhere.
    pub fn compose(
        &self,
        connector: &Connector,
        posted: &PostedEvent,
        now: Timestamp,
    ) -> Result<Composed, Turned> {
        check(connector, posted)?;
        let event = event(connector, posted, now, self.ids.next())?;
        let (identity, relationship) = identify(&event, self.identities);
        if let Some(warning) = &identity.authority_warning {
            tracing::warn!(event = %event.id, warning, "an identity was claimed and given no weight");
        }
        let route = match resolve_route(&event, &identity, relationship, self.manifests.routes()) {
            Resolution::Route(route) => route,
            Resolution::Denied { reason } => return Err(turned("no_route", reason.to_string())),
            Resolution::Ambiguous { candidates } => {
                let message = format!("several routes fit equally: {}", candidates.join(", "));
                return Err(turned("ambiguous_route", message));
            }
        };
        let (agent, workflow, pack) = self.manifests.manifests_of(route).ok_or_else(|| {
            turned(
                "incomplete_route",
                format!("route {} names no agent, workflow and pack", route.id),
            )
        })?;
        let offered = |mandate: &Mandate| self.catalog.offered_to(mandate);
        let composition = compose(&ComposeInput {
            event: &event,
            identity: &identity,
            route,
            agent,
            workflow,
            pack,
            global_policy: self.manifests.global_policy(),
            session: &SessionPolicy::default(),
            claims: self.claims(route, &identity, &offered),
            known: &|id| self.catalog.is_known(id),
            now,
        })
        .map_err(|error| turned("authority_denied", error.to_string()))?;

        let lifetime =
            SignedDuration::try_from(self.selection_lifetime).unwrap_or(SignedDuration::ZERO);
        let void_at = now
            .checked_add(lifetime)
            .unwrap_or(now)
            .min(composition.expires_at);
        let selections = selections(&event, void_at, self.ids);
        let id = self.ids.next();
        let principal = match identity.principal_id {
            Some(principal) => Principal::Known(principal.to_string()),
            None => Principal::Anonymous(format!("{}:{}", *connector.id, event.channel_account)),
        };
        let grant = TaskGrant {
            id,
            task_id: id,
            event_id: event.id,
            principal,
            purpose: agent.purpose.clone(),
            allowed_actions: composition.allowed_actions,
            approval_required_actions: composition.approval_required_actions,
            denied_actions: composition.denied_actions,
            allowed_egress_classes: composition.egress_classes,
            output_channels: composition.output_channels,
            bound_arguments: composition.bound_arguments,
            mandate: composition.mandate,
            selection_tokens: selections
                .iter()
                .map(|s| (s.id, s.token_type.clone()))
                .collect(),
            limits: composition.limits,
            mode: GrantMode::Live,
            reply_to: Some(ReplyTo {
                source: event.source,
                account: event.channel_account,
            }),
            issued_at: now,
            expires_at: composition.expires_at,
            authority_sources: composition.authority_sources,
            policy_revision: self.manifests.revision(),
            catalog_digest: self.catalog_digest,
        };
        Ok(Composed {
            route: route.id.to_string(),
            grant,
            selections,
        })
    }
}

impl Composer<'_> {
    /// What claims add to a route that names a scenario.
    fn claims<'a>(
        &'a self,
        route: &Route,
        identity: &Identity,
        offered: &'a dyn Fn(&Mandate) -> BTreeSet<ActionId>,
    ) -> Option<ClaimsInput<'a>> {
        let principal = identity.principal_id.map(|id| id.to_string());
        Some(ClaimsInput {
            scenario: self.manifests.scenario_of(route)?,
            actor: principal.and_then(|principal| self.manifests.actor_of(&principal)),
            offered,
        })
    }
}

impl Kernel {
    fn composer<'a>(&'a self, manifests: &'a ManifestSet) -> Composer<'a> {
        Composer {
            manifests,
            identities: &self.identities,
            catalog: &self.catalog,
            catalog_digest: self.catalog_digest,
            selection_lifetime: Config::seconds(&self.limits.selection_seconds),
            ids: &self.ids,
        }
    }

    /// What a grant exposes, and why no more, as canonical JSON.
    pub(crate) fn exposures(&self, sealed: &SealedGrant) -> Result<String, StoreError> {
        let broken = |_| StoreError::Unreadable("a seal that was just made".to_owned());
        let grant = sealed.clone().verify(&self.seal).map_err(broken)?;
        let exposures = canonical_json(&Exposures::of(&grant, &self.catalog))?;
        String::from_utf8(exposures).map_err(|error| StoreError::Unreadable(error.to_string()))
    }

    /// Takes an event in and issues its task.
    ///
    /// # Errors
    /// [`StoreError`] when nothing could be made durable; inside, [`Turned`] when the event leads
    /// nowhere, which is recorded.
    pub async fn take_in(
        &self,
        connector: &Connector,
        posted: &PostedEvent,
    ) -> Result<Result<Issued, Turned>, StoreError> {
        let now = self.now();
        let raw = Digest::of_json(posted)?;
        let current = self.manifests.up_to_date().await?;
        let composer = self.composer(&current.manifests);
        let composed = match composer.compose(connector, posted, now) {
            Ok(composed) => composed,
            Err(turned) => {
                let body = json!({"connector": &*connector.id, "event": raw, "reason": turned.reason, "why": turned.message});
                self.store
                    .record(Entry {
                        at: now,
                        kind: Kind::EventRefused,
                        body,
                    })
                    .await?;
                return Ok(Err(turned));
            }
        };
        let Composed {
            route,
            grant,
            selections,
        } = composed;
        let secret = Secret::random().map_err(|error| StoreError::Unreadable(error.to_string()))?;
        let token = TaskToken {
            task_id: grant.task_id,
            secret,
        };
        let sealed = SealedGrant::seal(grant.clone(), &self.seal)?;
        let exposures = self.exposures(&sealed)?;
        let exposures_digest = Digest::of_bytes(exposures.as_bytes());
        let body = json!({
            "task": grant.task_id,
            "connector": &*connector.id,
            "event": raw,
            "event_id": grant.event_id,
            "route": route,
            "principal": grant.principal,
            "grant": Digest::of_json(&grant)?,
            "catalog": grant.catalog_digest,
            "exposures": exposures_digest,
            "policy": grant.policy_revision,
            "expires_at": grant.expires_at,
            "selection_tokens": grant.selection_tokens.keys().collect::<Vec<_>>(),
        });
        let new = NewTask {
            id: grant.task_id,
            token_hash: token.secret.hash().bytes(),
            grant: &sealed,
            message: posted.message.as_deref(),
            expires_at: grant.expires_at,
            limits: grant.limits,
            catalog: (self.catalog_digest, &self.catalog_json),
            exposures: (exposures_digest, &exposures),
            selections: &selections,
        };
        self.store
            .issue(
                new,
                Entry {
                    at: now,
                    kind: Kind::GrantIssued,
                    body,
                },
            )
            .await?;
        Ok(Ok(Issued {
            route,
            grant,
            token,
            selections,
        }))
    }
}

fn check(connector: &Connector, posted: &PostedEvent) -> Result<(), Turned> {
    if posted
        .connector
        .as_ref()
        .is_some_and(|named| *named != *connector.id)
    {
        let message = format!(
            "`connector` is `{}`, whose key was presented, or is left out",
            *connector.id
        );
        return Err(turned("event_invalid", message));
    }
    if !connector.event_types.contains(&posted.event_type) {
        let message = format!(
            "the connector `{}` may hand in {}, not `{}`; see its `event_types`",
            *connector.id,
            connector.event_types.join(", "),
            posted.event_type.escape_debug()
        );
        return Err(turned("event_type_not_allowed", message));
    }
    let account = posted.channel_account.as_str();
    if account.is_empty() || account.len() > 256 || account.chars().any(char::is_control) {
        return Err(turned(
            "event_invalid",
            "`channel_account` is 1 to 256 printable characters",
        ));
    }
    if posted
        .message
        .as_ref()
        .is_some_and(|message| message.len() > MAX_MESSAGE)
    {
        return Err(turned(
            "event_invalid",
            format!("`message` is at most {MAX_MESSAGE} bytes"),
        ));
    }
    if posted.target_refs.len() > MAX_TARGETS {
        return Err(turned(
            "event_invalid",
            format!("`target_refs` has at most {MAX_TARGETS} entries"),
        ));
    }
    Ok(())
}

fn event(
    connector: &Connector,
    posted: &PostedEvent,
    now: Timestamp,
    id: Ulid,
) -> Result<Event, Turned> {
    let digest =
        Digest::of_json(posted).map_err(|error| turned("event_invalid", error.to_string()))?;
    Ok(Event {
        id,
        source: connector.source.clone(),
        connector: Some(connector.id.to_string()),
        account_role: connector.account_role.clone(),
        event_type: posted.event_type.clone(),
        received_at: now,
        verified_source: connector.verified_source.value,
        verification_method: connector.verification_method,
        replay_protected: false,
        replay_nonce: None,
        channel_account: posted.channel_account.clone(),
        raw_event_ref: RawEventRef {
            digest,
            schema_version: 1,
        },
        actor_hint: posted.actor_hint.clone(),
        target_refs: posted.target_refs.clone(),
        data_classification: connector.data_classification,
        user_intent_hint: None,
        lane: connector.lane,
        trust_context: TrustContext {
            channel_trust: connector.channel_trust,
            interaction_mode: connector.interaction_mode,
        },
        thread_id: posted.thread_id.clone(),
        schema_version: 1,
    })
}

/// What the owner selected becomes single-use tokens. Only a verified event can have been a
/// selection of the owner's.
fn selections(event: &Event, expires_at: Timestamp, ids: &Ids) -> Vec<NewSelection> {
    if !event.verified_source {
        return Vec::new();
    }
    event
        .target_refs
        .iter()
        .filter_map(|target| {
            let token_type = match target.kind {
                TargetRefKind::EmailThread => "email_thread_selection",
                _ => return None,
            };
            let target = target.id.clone()?;
            Some(NewSelection {
                id: ids.next(),
                token_type: token_type.to_owned(),
                target,
                expires_at,
            })
        })
        .collect()
}

fn turned(reason: &'static str, message: impl Into<String>) -> Turned {
    Turned {
        reason,
        message: message.into(),
    }
}
