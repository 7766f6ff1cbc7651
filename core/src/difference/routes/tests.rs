use super::*;
use crate::authority::sample;
use crate::catalog::EgressDeclaration;
use crate::descriptor::{Hints, ToolDescriptor};
use crate::grant::tests::id;

const ACTOR: &str = "id: ann\nschema_version: 1\nlifecycle_state: active\nprincipal_id: 01J00000000000000000000ANN\nclaims: [mail.file]\n";
const SCENARIO: &str = "id: office\nschema_version: 1\nlifecycle_state: active\nmode: standard\n";

fn catalog() -> ActionCatalog {
    let ids = ["mail.read", "mail.send", "mail.file"];
    let tool = |name: &str| ToolDescriptor {
        name: name.replace('.', "-"),
        description: "Does.".to_owned(),
        parameters_schema: serde_json::json!({
            "type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"],
            "additionalProperties": false,
        }),
        approval_required: false,
        selection_token_required: name == "mail.read",
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    let claims = crate::requirement::Requirements {
        class: Some(crate::requirement::Class::Optional),
        claims: ["mail.file".to_owned()].into(),
        ..Default::default()
    };
    ActionCatalog::new(ids.map(id))
        .with_tool_descriptors(ids.map(|name| (id(name), tool(name))).into())
        .with_egress_declarations(
            ids.map(|name| (id(name), EgressDeclaration::default()))
                .into(),
        )
        .with_selection_token_types([(id("mail.read"), "thread".to_owned())].into())
        .with_requirements([(id("mail.file"), claims)].into())
}

/// A set of the sample's manifests, some of them replaced or added.
fn set(others: &[(&str, &str)]) -> ManifestSet {
    let mut files: std::collections::BTreeMap<&str, &str> = [
        ("routes/owner.yaml", sample::ROUTE),
        ("agents/helper.yaml", sample::AGENT),
        ("workflows/talk.yaml", sample::WORKFLOW),
        ("packs/basic.yaml", sample::PACK),
        ("policies/global.yaml", sample::POLICY),
    ]
    .into();
    files.extend(others.iter().copied());
    ManifestSet::read(files).unwrap_or_else(|faults| panic!("{faults}"))
}

/// The differences between two sets, one line each, with the actor where there is one.
#[track_caller]
fn told(from: &ManifestSet, to: &ManifestSet) -> Vec<String> {
    let found = between(from, to, &catalog());
    assert_eq!(found.left_out, 0);
    let lines = found.routes.iter().flat_map(|route| {
        let actor = route.actor.as_ref().map(|actor| format!("{actor}: "));
        let actor = actor.unwrap_or_default();
        let lines = route.differences.iter();
        lines.map(move |one| format!("{}: {actor}{one}", route.route))
    });
    lines.collect()
}

#[test]
fn equal_sets_have_no_difference_whatever_they_say_in_comments() {
    let pack = format!("{}# A word.\n", sample::PACK);
    assert_eq!(
        told(&set(&[]), &set(&[("packs/basic.yaml", &pack)])),
        [""; 0]
    );
}

#[test]
fn what_a_pack_allows_is_told_of_each_route_that_it_is_of() {
    let pack = format!("{}candidate_allowed_actions: [mail.send]\n", sample::PACK);
    let (was, is) = (set(&[]), set(&[("packs/basic.yaml", &pack)]));
    assert_eq!(
        told(&was, &is),
        ["owner: `mail.send`: is shown, and was not: widens"]
    );
    assert_eq!(
        told(&is, &was),
        ["owner: `mail.send`: is not shown any more: narrows"]
    );
    let asking = pack.replace("candidate_allowed_actions", "approval_required");
    let asking = set(&[("packs/basic.yaml", &asking)]);
    assert_eq!(
        told(&is, &asking),
        ["owner: `mail.send`: each call waits for the owner now: narrows"]
    );
    assert_eq!(
        told(&asking, &is),
        ["owner: `mail.send`: calls need not wait for the owner any more: widens"]
    );
}

#[test]
fn a_tool_that_needs_a_selection_is_shown_as_if_there_were_one() {
    let agent = sample::AGENT.replace("designed_tools: [mail.read]", "designed_tools: []");
    let without = set(&[("agents/helper.yaml", &agent)]);
    assert_eq!(
        told(&without, &set(&[])),
        ["owner: `mail.read`: is shown, and was not: widens"]
    );
}

#[test]
fn whom_a_route_lets_in_is_told_and_any_change_of_it_widens() {
    let new = format!(
        "{}when: {{source: web, verified_source: true}}\n",
        sample::ROUTE.replace("id: owner", "id: side")
    );
    let with_new = set(&[("routes/side.yaml", &new)]);
    let line = "side: route `side`: is in force, and was not: it lets in events of source web, a verified source: widens";
    let channel = "side: output channel `owner`: is granted, and was not: widens";
    let tool = "side: `mail.read`: is shown, and was not: widens";
    assert_eq!(told(&set(&[]), &with_new), [line, tool, channel]);
    let looser = new.replace(", verified_source: true", "");
    let line = "side: route `side`: it lets in events of source web, and not any more: it lets in events of source web, a verified source: widens";
    assert_eq!(
        told(&with_new, &set(&[("routes/side.yaml", &looser)])),
        [line]
    );
    let denying = new.replace("schema_version: 1", "schema_version: 1\neffect: deny");
    let denying = set(&[("routes/side.yaml", &denying)]);
    let line = "side: route `side`: is not in force any more: it turns away events of source web, a verified source: widens";
    assert_eq!(told(&denying, &set(&[])), [line]);
}

#[test]
fn what_claims_give_is_told_of_each_actor() {
    let route = format!("{}scenario: office\n", sample::ROUTE);
    let base = [
        ("routes/owner.yaml", route.as_str()),
        ("scenarios/office.yaml", SCENARIO),
    ];
    let with = |actor: &str| {
        let mut others = base.to_vec();
        others.push(("actors/ann.yaml", actor));
        set(&others)
    };
    let none = ACTOR.replace("claims: [mail.file]", "claims: []");
    let found = told(&with(&none), &with(ACTOR));
    assert_eq!(
        found,
        [
            "owner: ann: `mail.file`: is shown, and was not: widens",
            "owner: ann: claim `mail.file`: is granted, and was not: widens",
        ]
    );
    // Of everybody, a scenario's claim is told once for each who has it.
    let scenario = format!("{SCENARIO}claims: [mail.file]\n");
    let widened = set(&[
        base[0],
        ("scenarios/office.yaml", &scenario),
        ("actors/ann.yaml", &none),
    ]);
    assert_eq!(told(&with(&none), &widened), found);
}

#[test]
fn a_bound_and_a_denial_that_are_dropped_are_told() {
    let policy = format!("{}denied_actions: [mail.read]\n", sample::POLICY);
    let denying = set(&[("policies/global.yaml", &policy)]);
    assert_eq!(
        told(&denying, &set(&[])),
        ["owner: `mail.read`: is shown, and was not: widens"]
    );
    let pack = format!(
        "{}candidate_allowed_actions: [mail.send]\nbound_arguments:\n  - {{action: mail.send, at: /to, one_of: [ann]}}\n",
        sample::PACK
    );
    let bound = set(&[("packs/basic.yaml", &pack)]);
    let free = pack.split("bound_arguments").next().unwrap();
    let found = told(&bound, &set(&[("packs/basic.yaml", free)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("owner: `mail.send`: ") && found[0].ends_with(": widens"),
        "{found:?}"
    );
}
