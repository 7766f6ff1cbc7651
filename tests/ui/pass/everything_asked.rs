//! All that an annotation asks of whoever calls, and the same from a macro by example.
use std::collections::BTreeMap;

use actum::{ActionError, Class, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Ask {
    verb: String,
    target: String,
    kind: String,
    headers: BTreeMap<String, String>,
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Item {
    key: String,
}

#[action(
    id = "case.send",
    description = "Send a request about a case.",
    class = optional,
    requires("cases:write", "cases:send"),
    roles("Approver", "lead"),
    modes("test"),
    reads_secrets,
    escape_hatch(method = "verb", path = "target"),
    interaction = "kind",
    redact("$.headers.authorization" = "[REDACTED]", "$.items[*].key" = "[KEY]"),
)]
async fn send(_: Ask) -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "case.list", description = "List the cases.", class = always, modes("test", "standard"))]
fn list() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "case.keep", description = "Keep a case.", class = control_plane)]
fn keep() -> Result<(), ActionError> {
    Ok(())
}

macro_rules! made {
    ($name:ident, $id:literal, $claim:literal, $($role:expr),*) => {
        #[action(id = $id, description = "Made.", class = optional, requires($claim), roles($($role),*))]
        fn $name() -> Result<(), ActionError> {
            Ok(())
        }
    };
}
made!(close, "case.close", "cases:close", "lead", "approver");

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    assert_eq!(catalog.faults(), []);
    let classes = ["case.send", "case.list", "case.keep", "case.close"]
        .map(|id| catalog.class_of(id).unwrap());
    assert_eq!(
        classes,
        [
            Class::Optional,
            Class::Always,
            Class::ControlPlane,
            Class::Optional
        ]
    );
    let made = catalog.requirements_for("case.close").unwrap();
    assert!(made.claims.contains("cases:close") && made.roles.contains("approver"));
}
