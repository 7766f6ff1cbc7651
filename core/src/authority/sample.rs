//! Small events, identities and manifests for tests.

use jiff::Timestamp;
use serde_json::json;

use super::document::{Decode, decode_yaml};
use super::event::{Event, Identity};

/// A verified Telegram message of the owner.
pub(crate) fn event() -> Event {
    serde_json::from_value(json!({
        "id": "01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "source": "telegram",
        "connector": "telegram_owner_bot",
        "event_type": "telegram.owner.message",
        "received_at": "2026-01-01T00:00:00Z",
        "verified_source": true,
        "verification_method": "telegram_owner_id_match",
        "replay_protected": true,
        "channel_account": "bot",
        "raw_event_ref": {"digest": format!("sha256:{}", "a".repeat(64)), "schema_version": 1},
        "actor_hint": {"channel_user_id": "42"},
        "data_classification": "private",
        "lane": "owner_control",
        "trust_context": {
            "channel_trust": "verified_owner_channel", "interaction_mode": "owner_message"
        },
        "schema_version": 1,
    }))
    .unwrap()
}

/// The owner, recognised without doubt.
pub(crate) fn identity() -> Identity {
    serde_json::from_value(json!({
        "event_id": "01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "confidence": 1.0,
        "matched_identifier_type": "telegram_user_id",
        "channel_trust": "verified_owner_channel",
        "source_verified": true,
        "schema_version": 1,
    }))
    .unwrap()
}

/// A manifest from YAML that must be right.
pub(crate) fn manifest<T: Decode>(yaml: &str) -> T {
    decode_yaml("sample.yaml", yaml).unwrap_or_else(|faults| panic!("{faults}"))
}

/// The time of every test.
pub(crate) fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) const AGENT: &str = "
id: helper
schema_version: 1
lifecycle_state: active
purpose: Help.
persistence: ephemeral
persona: plain
model_policy:
  allowed_providers: [local]
  private_context_requires_gateway: true
  max_model_calls_per_task: 3
designed_tools: [mail.read]
limits: {max_runtime_seconds: 120, max_artifacts: 2, max_tokens: 1000}
output_channels: {allowed: [owner]}
";

pub(crate) const WORKFLOW: &str = "
id: talk
schema_version: 1
lifecycle_state: active
purpose: Talk.
required_agent: helper
required_capability_pack: basic
";

pub(crate) const PACK: &str = "
id: basic
schema_version: 1
lifecycle_state: active
";

pub(crate) const POLICY: &str = "
id: global
schema_version: 1
lifecycle_state: active
";

pub(crate) const ROUTE: &str = "
id: owner
schema_version: 1
lifecycle_state: active
agent: helper
workflow: talk
capability_pack: basic
";
