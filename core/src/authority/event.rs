//! Events, as connectors hand them in, and identities, as the kernel makes them out.
//!
//! An event is data. What it says about its sender is a claim; only `verified_source`, which the
//! connector sets and the sender cannot, says that the claim was checked.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::terms::{
    ChannelTrust, DataClassification, IdentifierType, InteractionMode, Lane, TargetRefKind,
    VerificationMethod,
};
use crate::digest::Digest;

/// Something that happened and that a worker may be started for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its id.
    pub id: Ulid,
    /// Where it comes from, such as `telegram`.
    pub source: String,
    /// The connector that took it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// What the receiving account is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_role: Option<String>,
    /// What happened, such as `email.thread.selected`.
    pub event_type: String,
    /// When the kernel took it in.
    pub received_at: Timestamp,
    /// Whether the source was verified. Set by the connector, never by the sender.
    pub verified_source: bool,
    /// How the source was verified.
    pub verification_method: VerificationMethod,
    /// Whether a second copy of the event would be noticed.
    pub replay_protected: bool,
    /// What a second copy would be noticed by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_nonce: Option<String>,
    /// The account it arrived at.
    pub channel_account: String,
    /// The raw event, by its digest.
    pub raw_event_ref: RawEventRef,
    /// Who sent it, as far as the event says.
    #[serde(default)]
    pub actor_hint: ActorHint,
    /// What it is about.
    #[serde(default)]
    pub target_refs: Vec<TargetRef>,
    /// How private its data is.
    pub data_classification: DataClassification,
    /// What the sender seems to want.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_intent_hint: Option<String>,
    /// The kind of business it belongs to.
    pub lane: Lane,
    /// What is known of the channel.
    pub trust_context: TrustContext,
    /// The conversation it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The version of this shape.
    pub schema_version: u32,
}

/// A raw event that is kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawEventRef {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The version of its shape.
    pub schema_version: u32,
}

/// What an event claims about its sender. Never authority.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ActorHint {
    /// The user id within the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_user_id: Option<String>,
    /// A mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// A telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// A handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// A device id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
}

/// Something that an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetRef {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: TargetRefKind,
    /// Which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// What a connector knows of the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustContext {
    /// The trust in the channel.
    pub channel_trust: ChannelTrust,
    /// How the event came about.
    pub interaction_mode: InteractionMode,
}

/// Who sent an event, as the kernel made it out; [`identify`](super::identify) makes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The event.
    pub event_id: Ulid,
    /// The entry of the identity book, if one matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched_identity_id: Option<Ulid>,
    /// The principal that grants are issued to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal_id: Option<Ulid>,
    /// How sure the match is, from 0 to 1.
    pub confidence: f64,
    /// What the match rests on.
    pub matched_identifier_type: IdentifierType,
    /// The trust in the channel; routes compare this one, not the event's.
    pub channel_trust: ChannelTrust,
    /// Whether the event's source was verified.
    pub source_verified: bool,
    /// Why a claim was given no weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority_warning: Option<String>,
    /// The version of this shape.
    pub schema_version: u32,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::authority::sample;

    #[test]
    fn events_and_identities_survive_json() {
        let event = sample::event();
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        let identity = sample::identity();
        let text = serde_json::to_string(&identity).unwrap();
        assert_eq!(serde_json::from_str::<Identity>(&text).unwrap(), identity);
    }

    #[test]
    fn an_unknown_field_is_refused_on_every_level() {
        for path in [
            "",
            "/raw_event_ref",
            "/actor_hint",
            "/target_refs/0",
            "/trust_context",
        ] {
            let mut event = serde_json::to_value(sample::event()).unwrap();
            event["target_refs"] = json!([{"type": "email_thread", "id": "t1"}]);
            assert!(serde_json::from_value::<Event>(event.clone()).is_ok());
            event.pointer_mut(path).unwrap()["zzz"] = Value::Null;
            let error = serde_json::from_value::<Event>(event)
                .unwrap_err()
                .to_string();
            assert!(error.contains("unknown field `zzz`"), "{path}: {error}");
        }
        let mut identity = serde_json::to_value(sample::identity()).unwrap();
        identity["role"] = json!("owner");
        assert!(serde_json::from_value::<Identity>(identity).is_err());
    }

    #[test]
    fn sources_are_open_and_terms_are_closed() {
        let with = |field: &str, value: Value| {
            let mut event = serde_json::to_value(sample::event()).unwrap();
            event[field] = value;
            serde_json::from_value::<Event>(event)
        };
        assert!(with("source", json!("my_own_source")).is_ok());
        assert!(with("event_type", json!("my.own.event")).is_ok());
        for (field, value) in [
            ("lane", "Owner_Control"),
            ("data_classification", "secret"),
            ("verification_method", ""),
            ("verified_source", "true"),
        ] {
            assert!(with(field, json!(value)).is_err(), "{field}");
        }
        let error = with("lane", json!("side")).unwrap_err().to_string();
        assert!(
            error.contains("unknown name `side`, expected one of owner_control,"),
            "{error}"
        );
    }
}
