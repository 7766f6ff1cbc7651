//! What the recorded facts say of who may have which tool, worked out here and nowhere else.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{recorded, recorded_tools};

/// A task mode, the event that leads to it in the sample, and what its scenario adds.
pub struct Mode {
    pub name: &'static str,
    pub event: &'static str,
    claims: &'static [&'static str],
    secrets: bool,
    api: bool,
}

pub const MODES: [Mode; 4] = [
    Mode {
        name: "standard",
        event: "chat.message",
        claims: &[],
        secrets: true,
        api: false,
    },
    Mode {
        name: "ask",
        event: "chat.question",
        claims: &[],
        secrets: false,
        api: false,
    },
    Mode {
        name: "planning",
        event: "chat.plan",
        claims: &[],
        secrets: false,
        api: false,
    },
    Mode {
        name: "skill_test",
        event: "chat.trial",
        claims: &["test:generic_api_request"],
        secrets: false,
        api: true,
    },
];

/// The texts of a list of the facts.
pub fn texts(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// A tool's id.
pub fn id(tool: &Value) -> String {
    tool["id"].as_str().unwrap().to_owned()
}

/// The operations of the control plane.
pub fn control_plane() -> BTreeSet<String> {
    texts(&recorded()["control_plane_owned"])
}

/// Every claim that a tool requires.
pub fn all_claims() -> BTreeSet<String> {
    let tools = recorded_tools();
    tools
        .iter()
        .flat_map(|tool| texts(&tool["claims"]))
        .collect()
}

/// Every role that a tool is for.
pub fn all_roles() -> BTreeSet<String> {
    let tools = recorded_tools();
    tools
        .iter()
        .flat_map(|tool| texts(&tool["roles"]))
        .collect()
}

/// Whether a tool that requires this claim is for certain roles.
pub fn is_for_roles(claim: &str) -> bool {
    let tools = recorded_tools();
    tools
        .iter()
        .any(|tool| texts(&tool["claims"]).contains(claim) && !texts(&tool["roles"]).is_empty())
}

/// The claims of a tool that somebody with these does not hold.
pub fn missing(tool: &Value, mode: &Mode, claims: &[&str]) -> BTreeSet<String> {
    let held = |claim: &String| {
        let claim = claim.as_str();
        claims.contains(&claim) || mode.claims.contains(&claim)
    };
    let required = texts(&tool["claims"]);
    required.into_iter().filter(|claim| !held(claim)).collect()
}

/// Why somebody with these roles and claims may not have a tool; `None` for one who may.
pub fn refusal(tool: &Value, mode: &Mode, roles: &[&str], claims: &[&str]) -> Option<&'static str> {
    let is_for = texts(&tool["roles"]);
    let has_role = is_for.is_empty() || roles.iter().any(|role| is_for.contains(*role));
    if !texts(&tool["modes"]).contains(mode.name) {
        Some("operation_not_available_in_task_mode")
    } else if !has_role {
        Some("actor_role_not_authorized")
    } else if !missing(tool, mode, claims).is_empty() {
        Some("required_claim_missing")
    } else if tool["effect"] == "secret_read" && !mode.secrets {
        Some("secret_value_access_disabled")
    } else if tool["effect"] == "test_escape_hatch" && !mode.api {
        Some("generic_escape_hatch_disabled")
    } else {
        None
    }
}

/// The tools of somebody with these roles and claims.
pub fn tools_of(mode: &Mode, roles: &[&str], claims: &[&str]) -> BTreeSet<String> {
    let tools = recorded_tools();
    let may = |tool: &&Value| refusal(tool, mode, roles, claims).is_none();
    tools.iter().filter(may).map(id).collect()
}
