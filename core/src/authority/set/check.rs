//! What holds between manifests: references lead somewhere, ids are well formed, one policy rules.

use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use super::{Draft, Filed, GLOBAL_POLICY, ManifestKind};
use crate::authority::document::{Fault, Located, Report, excerpt};
use crate::authority::manifest::{ActionList, Actor, Listed, Route, Scenario, WorkflowManifest};
use crate::authority::terms::{Lifecycle, RouteEffect};
use crate::id::ActionId;

/// The version of the manifests' shape that is understood.
const SCHEMA_VERSION: u32 = 1;
/// The longest id of a manifest, and the longest claim, role, mode or interaction kind, in bytes.
const MAX_ID: usize = 128;

/// All faults of a draft that no file shows by itself.
pub(super) fn check(draft: &Draft) -> Vec<Fault> {
    let mut faults = Vec::new();
    for filed in draft.routes.values() {
        faults.extend(in_file(filed, |report| {
            check_route(draft, &filed.manifest, report)
        }));
    }
    for filed in draft.agents.values() {
        faults.extend(in_file(filed, |report| {
            let agent = &filed.manifest;
            check_head(&agent.id, &agent.schema_version, report);
            check_lists(agent.lists(), report);
        }));
    }
    for filed in draft.workflows.values() {
        faults.extend(in_file(filed, |report| {
            check_workflow(draft, &filed.manifest, report)
        }));
    }
    for filed in draft.packs.values() {
        faults.extend(in_file(filed, |report| {
            let pack = &filed.manifest;
            check_head(&pack.id, &pack.schema_version, report);
            check_lists(pack.lists(), report);
        }));
    }
    for filed in draft.policies.values() {
        faults.extend(in_file(filed, |report| {
            let policy = &filed.manifest;
            check_head(&policy.id, &policy.schema_version, report);
            check_lists(policy.lists(), report);
            check_words(&policy.denied_claims, "denied_claims", report);
            if policy.id.value != GLOBAL_POLICY && policy.lifecycle_state == Lifecycle::Active {
                report.fault(
                    policy.id.position,
                    "id",
                    format!(
                        "policy `{}` is active and would never take part",
                        excerpt(&policy.id)
                    ),
                    format!("move its lists into the policy `{GLOBAL_POLICY}`, or retire it"),
                );
            }
        }));
    }
    for filed in draft.actors.values() {
        faults.extend(in_file(filed, |report| {
            check_actor(draft, &filed.manifest, report);
        }));
    }
    for filed in draft.scenarios.values() {
        faults.extend(in_file(filed, |report| {
            check_scenario(&filed.manifest, report);
        }));
    }
    let active = draft
        .policies
        .get(GLOBAL_POLICY)
        .is_some_and(|filed| filed.manifest.lifecycle_state == Lifecycle::Active);
    if !active && !draft.is_undecoded(ManifestKind::Policy, GLOBAL_POLICY) {
        faults.push(no_global_policy());
    }
    faults
}

/// There is nothing that rules over all tasks.
pub(super) fn no_global_policy() -> Fault {
    Fault {
        file: Some("policies/".to_owned()),
        position: None,
        field: String::new(),
        message: format!("there is no active policy with the id `{GLOBAL_POLICY}`"),
        remedy: "add policies/global.yaml with `lifecycle_state: active`; its lists may be empty"
            .to_owned(),
    }
}

fn in_file<T>(filed: &Filed<T>, check: impl FnOnce(&Report)) -> Vec<Fault> {
    let report = Report::of_file(&filed.file);
    check(&report);
    report.into_faults()
}

fn check_route(draft: &Draft, route: &Route, report: &Report) {
    check_head(&route.id, &route.schema_version, report);
    let actor = route.when.actor.as_ref();
    if let Some(min) = actor.and_then(|actor| actor.identity_confidence_min.as_ref())
        && !(0.0..=1.0).contains(&min.value)
    {
        report.fault(
            min.position,
            "when.actor.identity_confidence_min",
            "a confidence is a number from 0 to 1",
            "",
        );
    }
    let references = [
        ("agent", &route.agent, ManifestKind::Agent),
        ("workflow", &route.workflow, ManifestKind::Workflow),
        (
            "capability_pack",
            &route.capability_pack,
            ManifestKind::CapabilityPack,
        ),
    ];
    let admits = route.lifecycle_state == Lifecycle::Active && route.effect == RouteEffect::Allow;
    for (field, reference, kind) in references {
        match reference {
            Some(id) => draft.check_reference(kind, id, field, report),
            None if admits => report.fault(
                route.id.position,
                field,
                "it is missing, and this route lets events in",
                "name an agent, a workflow and a capability_pack, or make the route a deny route",
            ),
            None => {}
        }
    }
    if let Some(id) = &route.scenario {
        draft.check_reference(ManifestKind::Scenario, id, "scenario", report);
    }
    check_fit(draft, route, report);
}

fn check_actor(draft: &Draft, actor: &Actor, report: &Report) {
    check_head(&actor.id, &actor.schema_version, report);
    check_roles(&actor.roles, report);
    check_words(&actor.claims, "claims", report);
    let principal = &actor.principal_id;
    if !Ulid::from_string(principal).is_ok_and(|id| id.to_string() == **principal) {
        report.fault(
            principal.position,
            "principal_id",
            format!("`{}` is no principal", excerpt(principal)),
            "name one by its ULID, as `identities` in the configuration has it",
        );
    }
    let others = draft.actors.values().map(|filed| &filed.manifest);
    for other in others.filter(|other| other.id.value < actor.id.value) {
        if other.principal_id.value == principal.value {
            report.fault(
                principal.position,
                "principal_id",
                format!("it is actor `{}` already", excerpt(&other.id)),
                "a principal is one actor; keep one of the two",
            );
        }
    }
}

fn check_scenario(scenario: &Scenario, report: &Report) {
    check_head(&scenario.id, &scenario.schema_version, report);
    check_words([&scenario.mode], "mode", report);
    check_words(&scenario.claims, "claims", report);
    check_words(&scenario.denied_claims, "denied_claims", report);
    check_words(&scenario.interaction_kinds, "interaction_kinds", report);
    for (index, action) in scenario.denied_actions.iter().enumerate() {
        check_action(action, &format!("denied_actions[{index}]"), report);
    }
}

/// Roles are compared trimmed, so that blanks around one do no harm.
fn check_roles(roles: &[Located<String>], report: &Report) {
    let trimmed: Vec<Located<String>> = roles
        .iter()
        .map(|role| Located {
            value: role.trim().to_owned(),
            position: role.position,
        })
        .collect();
    check_words(&trimmed, "roles", report);
}

/// Claims and the like are compared as they are, so that a blank too many would be a quiet
/// difference.
fn check_words<'a>(
    words: impl IntoIterator<Item = &'a Located<String>>,
    field: &str,
    report: &Report,
) {
    for (index, word) in words.into_iter().enumerate() {
        let text = word.as_str();
        if text.is_empty()
            || text.len() > MAX_ID
            || text.trim() != text
            || text.chars().any(char::is_control)
        {
            report.fault(
                word.position,
                format!("{field}[{index}]"),
                format!("`{}` is no word that can be compared", excerpt(text)),
                format!("write 1 to {MAX_ID} bytes without white space around them"),
            );
        }
    }
}

/// A workflow is made for one agent and one pack; a route that pairs it with others is a mistake.
fn check_fit(draft: &Draft, route: &Route, report: &Report) {
    let workflow = route
        .workflow
        .as_ref()
        .and_then(|id| draft.workflows.get(&id.value));
    let Some(Filed {
        manifest: workflow, ..
    }) = workflow
    else {
        return;
    };
    for (field, given, wanted) in [
        ("agent", &route.agent, &workflow.required_agent),
        (
            "capability_pack",
            &route.capability_pack,
            &workflow.required_capability_pack,
        ),
    ] {
        if let Some(given) = given
            && given.value != wanted.value
        {
            report.fault(
                given.position,
                field,
                format!(
                    "workflow `{}` requires `{wanted}`, not `{given}`",
                    workflow.id
                ),
                "name what the workflow requires, or another workflow",
            );
        }
    }
}

fn check_workflow(draft: &Draft, workflow: &WorkflowManifest, report: &Report) {
    check_head(&workflow.id, &workflow.schema_version, report);
    check_lists(workflow.lists(), report);
    draft.check_reference(
        ManifestKind::Agent,
        &workflow.required_agent,
        "required_agent",
        report,
    );
    draft.check_reference(
        ManifestKind::CapabilityPack,
        &workflow.required_capability_pack,
        "required_capability_pack",
        report,
    );
    check_unique(
        workflow.states.iter().map(|state| &state.id),
        "states",
        report,
    );
    for (index, state) in workflow.states.iter().enumerate() {
        let field = format!("states[{index}].steps");
        check_unique(state.steps.iter().map(|step| &step.id), &field, report);
        if let Some(action) = &state.approval_action {
            check_action(action, &format!("states[{index}].approval_action"), report);
        }
    }
    let states: BTreeSet<&str> = workflow
        .states
        .iter()
        .map(|state| state.id.as_str())
        .collect();
    let initial = workflow
        .initial_state
        .iter()
        .map(|id| ("initial_state".to_owned(), id));
    let ends = workflow
        .transitions
        .iter()
        .enumerate()
        .flat_map(|(index, transition)| {
            [
                (format!("transitions[{index}].from"), &transition.from),
                (format!("transitions[{index}].to"), &transition.to),
            ]
        });
    for (field, id) in initial
        .chain(ends)
        .filter(|(_, id)| !states.contains(id.as_str()))
    {
        report.fault(
            id.position,
            field,
            format!("there is no state `{}` in this workflow", excerpt(id)),
            one_of(states.iter().copied()),
        );
    }
}

fn check_unique<'a>(ids: impl Iterator<Item = &'a Located<String>>, field: &str, report: &Report) {
    let mut seen = BTreeSet::new();
    for (index, id) in ids.enumerate() {
        if !seen.insert(id.as_str()) {
            report.fault(
                id.position,
                format!("{field}[{index}].id"),
                format!("`{}` is taken", excerpt(id)),
                "give each an id of its own",
            );
        }
    }
}

/// An id stands in the names of authority sources, so it has no `:` and no space.
fn check_head(id: &Located<String>, version: &Located<u32>, report: &Report) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(plain) {
        report.fault(
            id.position,
            "id",
            "this is no id of a manifest",
            format!("an id has 1 to {MAX_ID} letters, digits, `_`, `-` or `.`"),
        );
    }
    if version.value != SCHEMA_VERSION {
        report.fault(
            version.position,
            "schema_version",
            format!("version {version} of this shape is not understood"),
            format!("only {SCHEMA_VERSION} is"),
        );
    }
}

fn check_lists(lists: [ActionList<'_>; 3], report: &Report) {
    for ActionList { field, actions, .. } in lists {
        for (index, action) in actions.iter().enumerate() {
            check_action(action, &format!("{field}[{index}]"), report);
        }
    }
}

fn check_action(action: &Listed, field: &str, report: &Report) {
    if let Err(fault) = ActionId::parse(&action.id) {
        report.fault(
            action.position,
            field,
            format!("`{}` is no action id", excerpt(&action.id)),
            fault.to_string(),
        );
    }
}

impl Draft {
    fn is_undecoded(&self, kind: ManifestKind, id: &str) -> bool {
        self.undecoded
            .iter()
            .any(|(of, known)| *of == kind && known == id)
    }

    /// Reports a reference that leads nowhere.
    fn check_reference(
        &self,
        kind: ManifestKind,
        id: &Located<String>,
        field: &str,
        report: &Report,
    ) {
        let known: Vec<&str> = match kind {
            ManifestKind::Route => keys(&self.routes),
            ManifestKind::Agent => keys(&self.agents),
            ManifestKind::Workflow => keys(&self.workflows),
            ManifestKind::CapabilityPack => keys(&self.packs),
            ManifestKind::Policy => keys(&self.policies),
            ManifestKind::Actor => keys(&self.actors),
            ManifestKind::Scenario => keys(&self.scenarios),
        };
        if known.contains(&id.as_str()) || self.is_undecoded(kind, id) {
            return;
        }
        report.fault(
            id.position,
            field,
            format!("there is no {} `{}`", kind.name(), excerpt(id)),
            one_of(known.into_iter()),
        );
    }
}

fn keys<T>(manifests: &BTreeMap<String, Filed<T>>) -> Vec<&str> {
    manifests.keys().map(String::as_str).collect()
}

/// What could be meant instead, of a list that may be long.
fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let names: Vec<String> = names.map(excerpt).collect();
    match names.len() {
        0 => "there are none".to_owned(),
        count if count > MOST => format!("there are {count} others"),
        _ => format!("there are: {}", names.join(", ")),
    }
}
