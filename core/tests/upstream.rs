//! Actions that are another system's tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

use std::collections::BTreeMap;
use std::sync::Arc;

use actum::bound::{Bound, BoundArgument};
use actum::lock::{SurfaceLock, compare};
use actum::upstream::{UpstreamAction, UpstreamTool};
use actum::{
    ActionCatalog, ActionError, ActionId, EgressDeclaration, Hints, Registry, Requirements,
    ToolDescriptor, ToolName, action,
};
use serde_json::json;

#[action(id = "files.count", description = "Count the files.", read_only)]
async fn count() -> Result<u8, ActionError> {
    Ok(3)
}

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

fn within(action: &str, start: &str) -> BoundArgument {
    BoundArgument {
        action: id(action),
        at: "/path".to_owned(),
        to: Bound::Within(start.to_owned()),
        may_be_absent: false,
    }
}

/// `files.read` of the upstream `files`.
fn read() -> UpstreamAction {
    let id = id("files.read");
    UpstreamAction {
        from: UpstreamTool {
            tool: "files/read_text_file".to_owned(),
            bounds: Vec::new(),
        },
        descriptor: ToolDescriptor {
            name: ToolName::of(&id).to_string(),
            description: "Read a file.".to_owned(),
            parameters_schema: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "additionalProperties": false,
            }),
            approval_required: false,
            selection_token_required: false,
            idempotency_key_required: false,
            title: None,
            output_schema: None,
            hints: Hints::NONE,
        },
        egress: EgressDeclaration::default(),
        requirements: Requirements::default(),
        redactions: BTreeMap::new(),
        non_delegable: false,
        handler: Arc::new(|_, _| Box::pin(async { Err(ActionError::failed("not here")) })),
        id,
    }
}

fn with(actions: impl IntoIterator<Item = UpstreamAction>) -> Result<Registry, Vec<String>> {
    let registry = Registry::new(actum::actions![count], []).unwrap();
    let joined = registry.and_upstream(actions);
    joined.map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn catalog(action: UpstreamAction) -> ActionCatalog {
    with([action]).unwrap().catalog()
}

#[test]
fn it_is_an_action_as_any_other_and_says_where_it_is_from() {
    let registry = with([read()]).unwrap();
    let catalog = registry.catalog();
    assert_eq!(catalog.faults(), []);
    assert!(catalog.is_dispatchable("files.read"));
    assert_eq!(
        catalog.upstream_tool_of("files.read").unwrap().tool,
        "files/read_text_file"
    );
    assert_eq!(catalog.upstream_tool_of("files.count"), None);
    assert!(
        registry
            .check_arguments("files.read", &json!({"path": "a"}))
            .is_ok()
    );
    assert!(
        registry
            .check_arguments("files.read", &json!({"path": 1}))
            .is_err()
    );
    // Annotated ones alone have a place in the code.
    let annotated: Vec<_> = registry.actions().map(|(id, _)| id.as_str()).collect();
    assert_eq!(annotated, ["files.count"]);
    let without = catalog.without(&[id("files.read")].into());
    let never = Registry::new(actum::actions![count], []).unwrap().catalog();
    assert_eq!(without.digest().unwrap(), never.digest().unwrap());
}

#[test]
fn every_fault_is_told_with_its_tool() {
    let taken = UpstreamAction {
        id: id("files.count"),
        ..read()
    };
    let mut named = read();
    named.descriptor.name = "something-else".to_owned();
    named.id = id("files.named");
    let mut bound = read();
    bound.id = id("files.bound");
    bound.descriptor.name = ToolName::of(&bound.id).to_string();
    bound.from.bounds = vec![BoundArgument {
        at: "/folder".to_owned(),
        ..within("files.bound", "/srv")
    }];
    let mut of_another = read();
    of_another.id = id("files.other");
    of_another.descriptor.name = ToolName::of(&of_another.id).to_string();
    of_another.from.bounds = vec![within("files.read", "/srv")];
    let mut hidden = read();
    hidden.redactions = [("$.nothing".to_owned(), "hidden".to_owned())].into();
    let faults = with([taken, named, bound, of_another, hidden]).unwrap_err();
    let wanted = [
        "`files/read_text_file` cannot be `files.bound`: no call of it could keep what `/folder` is held to",
        "`files/read_text_file` cannot be `files.count`: there is an action of this id",
        "`files/read_text_file` cannot be `files.named`: its descriptor is not one of this action",
        "`files/read_text_file` cannot be `files.other`: no call of it could keep what `/path` is held to",
        "`files/read_text_file` cannot be `files.read`: its redaction of `$.nothing` finds nothing",
    ];
    assert_eq!(faults.len(), wanted.len(), "{faults:#?}");
    for (fault, wanted) in faults.iter().zip(wanted) {
        assert!(fault.starts_with(wanted), "{fault}");
    }
}

#[test]
fn the_lock_has_all_of_it_and_tells_what_a_change_does() {
    let surface = |action: UpstreamAction| SurfaceLock::of(&catalog(action)).unwrap();
    let mut bound = read();
    bound.from.bounds = vec![within("files.read", "/srv/share")];
    let bound = surface(bound);
    let again = SurfaceLock::read("actum.lock.json", &bound.to_text().unwrap()).unwrap();
    assert_eq!(again, bound);
    let told = |old: &SurfaceLock, new: &SurfaceLock| -> Vec<String> {
        compare(old, new).iter().map(ToString::to_string).collect()
    };
    let free = surface(read());
    assert_eq!(
        told(&bound, &free),
        ["`files.read`: upstream: not any more: `/path` is held to `/srv/share` and below: widens"]
    );
    assert_eq!(
        told(&free, &bound),
        ["`files.read`: upstream: `/path` is held to `/srv/share` and below now: narrows"]
    );
    let mut other = read();
    other.from.tool = "files/read_anything".to_owned();
    assert_eq!(
        told(&free, &surface(other)),
        ["`files.read`: upstream: `files/read_text_file` -> `files/read_anything`: widens"]
    );
    let (linked, upstream) = bound.clone().split();
    assert_eq!(
        linked,
        SurfaceLock::of(&Registry::new(actum::actions![count], []).unwrap().catalog()).unwrap()
    );
    assert_eq!(linked.and(upstream), bound);
}
