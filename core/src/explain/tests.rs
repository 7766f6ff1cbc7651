use std::collections::BTreeMap;

use super::*;
use crate::authority::{ClaimsInput, ComposeInput, SessionPolicy, compose, sample};
use crate::catalog::EgressDeclaration;
use crate::descriptor::{Hints, ToolDescriptor};
use crate::grant::tests::{empty, verified};
use crate::grant::{Caveat, TaskGrant};
use crate::id::ToolName;

const ANN: &str = "01J00000000000000000000ANN";

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

/// Manifests in which everything about an action is said at a line of its own, and decoys that take part in no
/// composition of `routes/owner.yaml`.
fn files() -> BTreeMap<&'static str, String> {
    let active = "schema_version: 1\nlifecycle_state: active\n";
    let manifest = |id: &str, more: &str| format!("id: {id}\n{active}{more}");
    let listing = |field: &str| format!("{field}: [mail.read, mail.send]\n");
    [
        (
            "routes/owner.yaml",
            format!("{}scenario: triage\n", sample::ROUTE.trim_start()),
        ),
        ("agents/helper.yaml", sample::AGENT.trim_start().to_owned()),
        (
            "workflows/talk.yaml",
            sample::WORKFLOW.trim_start().to_owned(),
        ),
        (
            "packs/basic.yaml",
            manifest(
                "basic",
                "approval_required: [mail.send]\ncandidate_allowed_actions:\n  - mail.web\n  - mail.post\n",
            ),
        ),
        ("policies/global.yaml", manifest("global", "")),
        (
            "actors/ann.yaml",
            manifest(
                "ann",
                "principal_id: 01J00000000000000000000ANN\nroles: [clerk]\nclaims: [mail.file]\n",
            ),
        ),
        (
            "scenarios/triage.yaml",
            manifest("triage", "mode: day\nclaims: [mail.sort]\n"),
        ),
        // Decoys.
        (
            "packs/other.yaml",
            manifest("other", &listing("denied_actions")),
        ),
        (
            "policies/other.yaml",
            manifest(
                "other",
                &(listing("denied_actions") + "denied_claims: [mail.file]\n"),
            )
            .replace(": active", ": retired"),
        ),
        (
            "actors/bob.yaml",
            manifest("bob", "principal_id: 01J00000000000000000000B0B\nclaims: [mail.file, mail.burn]\n"),
        ),
        (
            "scenarios/other.yaml",
            manifest(
                "other",
                &(listing("denied_actions") + "mode: night\nclaims: [mail.burn]\n"),
            ),
        ),
    ]
    .into()
}

fn requiring(claims: &[&str]) -> Requirements {
    Requirements {
        class: Some(Class::Optional),
        claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
        ..Requirements::default()
    }
}

fn catalog() -> ActionCatalog {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let requirements = [
        ("mail.file", requiring(&["mail.file", "mail.sort"])),
        ("mail.burn", requiring(&["mail.burn", "mail.file"])),
        (
            "mail.manage",
            Requirements {
                roles: words(&["manager"]),
                ..requiring(&["mail.file"])
            },
        ),
        (
            "mail.night",
            Requirements {
                modes: words(&["night"]),
                ..requiring(&["mail.file"])
            },
        ),
        (
            "mail.key",
            Requirements {
                reads_secrets: true,
                ..requiring(&["mail.file"])
            },
        ),
        ("mail.count", Requirements::of(Class::Always)),
        ("mail.own", Requirements::of(Class::ControlPlane)),
    ];
    let plain = [
        "mail.read",
        "mail.send",
        "mail.web",
        "mail.post",
        "mail.idle",
    ];
    let ids: Vec<ActionId> = plain
        .into_iter()
        .chain(requirements.iter().map(|(id, _)| *id))
        .map(id)
        .collect();
    let tool = |id: &ActionId| ToolDescriptor {
        name: ToolName::of(id).as_str().to_owned(),
        description: "Does.".to_owned(),
        parameters_schema: serde_json::json!({
            "type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"],
            "additionalProperties": false,
        }),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    let egress = |id: &ActionId| EgressDeclaration {
        egress_class: (id.as_str() == "mail.web").then(|| "web".to_owned()),
        output_channels: (id.as_str() == "mail.post").then(|| words(&["street"])),
    };
    let described = ids.iter().filter(|id| id.as_str() != "mail.own");
    ActionCatalog::new(ids.clone())
        .with_tool_descriptors(described.map(|id| (id.clone(), tool(id))).collect())
        .with_egress_declarations(ids.iter().map(|id| (id.clone(), egress(id))).collect())
        .with_requirements(requirements.map(|(name, it)| (id(name), it)).into())
        .and_known([id("mail.known")])
}

/// The grant that the manifests give to an actor, composed as an event's is.
fn grant(set: &ManifestSet, actor: Option<&str>) -> VerifiedGrant {
    let route = set.route("owner").unwrap();
    let (agent, workflow, pack) = set.manifests_of(route).unwrap();
    let catalog = catalog();
    let offered = |mandate: &Mandate| catalog.offered_to(mandate);
    let composition = compose(&ComposeInput {
        event: &sample::event(),
        identity: &sample::identity(),
        route,
        agent,
        workflow,
        pack,
        global_policy: set.global_policy(),
        session: &SessionPolicy::default(),
        claims: set.scenario_of(route).map(|scenario| ClaimsInput {
            scenario,
            actor: actor.and_then(|principal| set.actor_of(principal)),
            offered: &offered,
        }),
        known: &|id| catalog.is_known(id),
        now: sample::now(),
    })
    .unwrap();
    let grant = TaskGrant {
        allowed_actions: composition.allowed_actions,
        approval_required_actions: composition.approval_required_actions,
        denied_actions: composition.denied_actions,
        allowed_egress_classes: composition.egress_classes,
        output_channels: composition.output_channels,
        bound_arguments: composition.bound_arguments,
        mandate: composition.mandate,
        authority_sources: composition.authority_sources,
        ..empty()
    };
    verified(grant, vec![])
}

/// The manifests, after `more` was added to one of them.
fn read(path: &'static str, more: &str) -> ManifestSet {
    let mut files = files();
    files.entry(path).or_default().push_str(more);
    ManifestSet::read(&files).unwrap_or_else(|faults| panic!("{faults}"))
}

fn explained(set: &ManifestSet, actor: Option<&str>, action: &str) -> Explanation {
    let grant = grant(set, actor);
    let catalog = catalog();
    let explainer = Explainer::new(&grant, &catalog, Some(set));
    assert_eq!(*explainer.left(), Left::All);
    let explained = explainer.explain(action).unwrap();
    let judged = exposure(&grant, &catalog, action);
    assert_eq!(explained.stands.exposed, judged.is_ok(), "{explained:?}");
    explained
}

fn told(places: &[Place]) -> Vec<String> {
    places.iter().map(ToString::to_string).collect()
}

/// How an action stands for Ann after a change, and the places that decided.
#[track_caller]
fn assert_decided(change: (&'static str, &str), action: &str, reason: &str, by: &[&str]) {
    let set = read(change.0, change.1);
    let explained = explained(&set, Some(ANN), action);
    assert_eq!(
        (
            explained.stands.reason.as_str(),
            told(&explained.decided_by)
        ),
        (reason, by.iter().map(|it| (*it).to_owned()).collect()),
        "{explained:#?}"
    );
    assert!(!explained.stands.because.is_empty());
}

#[test]
fn each_answer_names_the_lines_that_decided() {
    let nothing = ("policies/global.yaml", "");
    let agent = "agents/helper.yaml:11:18: designed_tools";
    assert_decided(nothing, "mail.read", "listed", &[agent]);
    assert_decided(
        nothing,
        "mail.send",
        "listed",
        &["packs/basic.yaml:4:21: approval_required"],
    );
    let denied = ("packs/basic.yaml", "denied_actions:\n  - mail.read\n");
    assert_decided(
        denied,
        "mail.read",
        "explicit_deny",
        &["packs/basic.yaml:9:5: denied_actions"],
    );
    let denied = ("scenarios/triage.yaml", "denied_actions: [mail.read]\n");
    assert_decided(
        denied,
        "mail.read",
        "operation_denied_by_policy",
        &["scenarios/triage.yaml:6:18: denied_actions"],
    );
    let narrowed = (
        "policies/global.yaml",
        "candidate_allowed_actions: [mail.send, mail.count]\n",
    );
    let list = "policies/global.yaml:4:29: candidate_allowed_actions";
    assert_decided(narrowed, "mail.read", "not_granted", &[list]);
    assert_decided(narrowed, "mail.file", "not_granted", &[list]);
    assert_decided(narrowed, "mail.idle", "not_granted", &[]);
    let bound = (
        "packs/basic.yaml",
        "bound_arguments:\n  - {action: mail.read, at: /from, one_of: [a]}\n",
    );
    assert_decided(
        bound,
        "mail.read",
        "caveat_widening",
        &["packs/basic.yaml:9:5: bound_arguments"],
    );
    assert_decided(
        nothing,
        "mail.web",
        "egress_class_not_granted",
        &["packs/basic.yaml: allowed_egress_classes"],
    );
    assert_decided(
        nothing,
        "mail.post",
        "output_channel_not_granted",
        &["agents/helper.yaml: output_channels"],
    );
    assert_decided(nothing, "mail.own", "control_plane_owned_operation", &[]);
    assert_decided(nothing, "mail.count", "task_scoped_always_tool", &[]);
    assert_decided(nothing, "mail.known", "not_granted", &[]);
}

#[test]
fn of_several_lines_those_that_decided_are_marked_and_no_other() {
    let mut files = files();
    for (path, more) in [
        ("packs/basic.yaml", "denied_actions: [mail.read]\n"),
        ("scenarios/triage.yaml", "denied_actions: [mail.read]\n"),
        (
            "policies/global.yaml",
            "candidate_allowed_actions: [mail.web, mail.read]\n",
        ),
    ] {
        files.entry(path).or_default().push_str(more);
    }
    let set = ManifestSet::read(&files).unwrap();
    let read = explained(&set, Some(ANN), "mail.read");
    let lines = read.lines.iter();
    let lines: Vec<_> = lines
        .map(|line| (line.at.file.as_str(), line.effect, line.decided))
        .collect();
    assert_eq!(
        lines,
        [
            ("agents/helper.yaml", Effect::Allows, false),
            ("packs/basic.yaml", Effect::Denies, true),
            ("policies/global.yaml", Effect::Spares, false),
            ("scenarios/triage.yaml", Effect::Denies, false),
        ],
        "the scenario is asked later"
    );
    assert_eq!(read.stands.reason, "explicit_deny");
}

#[test]
fn each_requirement_that_is_not_met_names_where_it_would_be() {
    let nothing = ("policies/global.yaml", "");
    assert_decided(
        nothing,
        "mail.file",
        "required_claims_granted",
        &[
            "actors/ann.yaml:6:10: claims",
            "scenarios/triage.yaml:5:10: claims",
        ],
    );
    assert_decided(nothing, "mail.burn", "required_claim_missing", &[]);
    for (path, place) in [
        (
            "scenarios/triage.yaml",
            "scenarios/triage.yaml:6:17: denied_claims",
        ),
        (
            "policies/global.yaml",
            "policies/global.yaml:4:17: denied_claims",
        ),
    ] {
        assert_decided(
            (path, "denied_claims: [mail.file]\n"),
            "mail.file",
            "required_claim_denied_by_policy",
            &[place],
        );
    }
    assert_decided(
        nothing,
        "mail.manage",
        "actor_role_not_authorized",
        &["actors/ann.yaml:5:9: roles"],
    );
    assert_decided(
        nothing,
        "mail.night",
        "operation_not_available_in_task_mode",
        &["scenarios/triage.yaml:4:7: mode"],
    );
    assert_decided(
        nothing,
        "mail.key",
        "secret_value_access_disabled",
        &["scenarios/triage.yaml: secret_values"],
    );
}

#[test]
fn claims_are_told_with_who_brought_them_and_which_are_missing() {
    let set = read("policies/global.yaml", "");
    let file = explained(&set, Some(ANN), "mail.file");
    let [by_actor, by_scenario] = file.claims.as_slice() else {
        panic!("{file:?}")
    };
    assert!(by_actor.granted && by_scenario.granted && !by_actor.lost);
    assert_eq!(
        (told(&by_actor.by_actor), told(&by_actor.by_scenario)),
        (vec!["actors/ann.yaml:6:10: claims".to_owned()], vec![])
    );
    assert_eq!(
        (told(&by_scenario.by_actor), told(&by_scenario.by_scenario)),
        (
            vec![],
            vec!["scenarios/triage.yaml:5:10: claims".to_owned()]
        )
    );
    // What others hold in other scenarios is not of this composition.
    let burn = explained(&set, Some(ANN), "mail.burn");
    let missing = &burn.claims[0];
    assert_eq!(
        (missing.claim.as_str(), missing.granted),
        ("mail.burn", false)
    );
    assert!(missing.by_actor.is_empty() && missing.by_scenario.is_empty());
    assert!(burn.stands.because.contains("`mail.burn`"), "{burn:?}");
    assert!(!burn.stands.because.contains("`mail.file`"), "{burn:?}");

    let nobody = explained(&set, None, "mail.file");
    assert_eq!(nobody.stands.reason, "required_claim_missing");
    assert!(nobody.claims.iter().all(|claim| !claim.granted));
    assert!(nobody.stands.because.contains("lists alone"), "{nobody:?}");
    let manage = explained(&set, Some(ANN), "mail.manage").roles.unwrap();
    assert_eq!(
        (manage.held, manage.met),
        (["clerk".to_owned()].into(), false)
    );
}

#[test]
fn no_line_of_a_manifest_that_took_no_part_is_told() {
    let set = read("policies/global.yaml", "");
    for actor in [Some(ANN), None] {
        for action in ["mail.read", "mail.send", "mail.file", "mail.burn"] {
            let one = explained(&set, actor, action);
            let told = serde_json::to_string(&one).unwrap();
            assert!(
                !told.contains("other.yaml") && !told.contains("bob"),
                "{told}"
            );
        }
    }
    // Of a sender who is no actor, neither the scenario is.
    let denied = read("scenarios/triage.yaml", "denied_actions: [mail.read]\n");
    assert_eq!(explained(&denied, Some(ANN), "mail.read").lines.len(), 2);
    assert_eq!(explained(&denied, None, "mail.read").lines.len(), 1);
}

#[test]
fn what_an_actor_lost_since_is_told_with_what_that_does() {
    let then = read("policies/global.yaml", "");
    let issued = grant(&then, Some(ANN));
    let catalog = catalog();
    let mut files = files();
    let ann = files.get_mut("actors/ann.yaml").unwrap();
    *ann = ann
        .replace("claims: [mail.file]\n", "")
        .replace("[clerk]", "[]");
    let now = ManifestSet::read(&files).unwrap();

    let explainer = Explainer::new(&issued, &catalog, Some(&now));
    let lost = ["claim `mail.file`", "role `clerk`"].map(str::to_owned);
    assert_eq!(*explainer.left(), Left::Less(lost.into()));
    let file = explainer.explain("mail.file").unwrap();
    assert!(file.stands.exposed, "as it was issued");
    let by_now = file.now.as_ref().unwrap();
    assert!(!by_now.exposed && by_now.reason == "required_claim_missing");
    assert!(file.claims[0].granted && file.claims[0].lost);
    assert!(file.claims[1].granted && !file.claims[1].lost);
    assert_eq!(explainer.explain("mail.read").unwrap().now, None);
    let burn = explainer.explain("mail.burn").unwrap();
    assert!(!burn.claims[0].lost, "it never was there: {burn:?}");
    assert!(burn.claims[1].lost, "{burn:?}");

    // A claim that came since does not count for a task that was issued without it.
    let more = read("actors/ann.yaml", "");
    let gained = Explainer::new(&issued, &catalog, Some(&more));
    assert_eq!(*gained.left(), Left::All);

    *files.get_mut("actors/ann.yaml").unwrap() =
        files["actors/ann.yaml"].replace(": active", ": retired");
    let gone = ManifestSet::read(&files).unwrap();
    let explainer = Explainer::new(&issued, &catalog, Some(&gone));
    assert_eq!(*explainer.left(), Left::Nothing);
    assert!(explainer.explain("mail.file").unwrap().claims[0].lost);
}

#[test]
fn without_manifests_the_reason_is_told_and_no_line() {
    let set = read("policies/global.yaml", "");
    let grant = grant(&set, Some(ANN));
    let catalog = catalog();
    let explainer = Explainer::new(&grant, &catalog, None);
    assert_eq!(*explainer.left(), Left::All);
    for one in explainer.all() {
        assert!(one.lines.is_empty() && one.decided_by.is_empty(), "{one:?}");
        assert!(!one.stands.because.is_empty());
    }
    assert_eq!(explainer.all().count(), catalog.len());
    assert!(explainer.explain("mail.none").is_none());
    assert!(explainer.explain("mail-read").is_none());
}

#[test]
fn caveats_that_contradict_each_other_are_told_as_such() {
    let tier = Caveat::ModelTier {
        max_tier: "small".to_owned(),
    };
    let grant = verified(
        TaskGrant {
            allowed_actions: [id("mail.read")].into(),
            ..empty()
        },
        vec![vec![tier]],
    );
    let catalog = catalog();
    let explainer = Explainer::new(&grant, &catalog, None);
    let one = explainer.explain("mail.read").unwrap();
    assert!(one.stands.because.contains("contradict"), "{one:?}");
}
