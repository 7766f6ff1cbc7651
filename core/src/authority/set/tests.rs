mod artifacts;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::authority::manifest::ListKind;
use crate::authority::sample;

/// A set that is right, by path.
fn files() -> BTreeMap<&'static str, String> {
    [
        ("routes/owner.yaml", sample::ROUTE),
        ("agents/helper.yaml", sample::AGENT),
        ("workflows/talk.yaml", sample::WORKFLOW),
        ("packs/basic.yaml", sample::PACK),
        ("policies/global.yaml", sample::POLICY),
    ]
    .map(|(path, text)| (path, text.trim_start().to_owned()))
    .into()
}

fn faults(files: &BTreeMap<&'static str, String>) -> Vec<String> {
    let faults = ManifestSet::read(files).unwrap_err();
    faults.as_slice().iter().map(ToString::to_string).collect()
}

/// The faults of the right set after one file got a further text.
fn with(path: &'static str, more: &str) -> Vec<String> {
    let mut files = files();
    files.entry(path).or_default().push_str(more);
    faults(&files)
}

/// The faults of the right set after a replacement in one file.
fn replaced(path: &'static str, old: &str, new: &str) -> Vec<String> {
    let mut files = files();
    let text = files.get_mut(path).unwrap();
    assert!(text.contains(old));
    *text = text.replace(old, new);
    faults(&files)
}

#[test]
fn a_right_set_is_read() {
    let set = ManifestSet::read(&files()).unwrap();
    assert_eq!(
        set.routes()
            .map(|route| route.id.as_str())
            .collect::<Vec<_>>(),
        ["owner"]
    );
    let route = set.route("owner").unwrap();
    assert!(set.agent(route.agent.as_ref().unwrap()).is_some());
    assert!(set.workflow("talk").is_some() && set.pack("basic").is_some());
    assert!(set.agent("talk").is_none());
    assert!(set.manifests_of(route).is_some());
    let nowhere: Route = sample::manifest("{id: a, schema_version: 1, lifecycle_state: active}");
    assert!(set.manifests_of(&nowhere).is_none());
    assert_eq!(set.global_policy().id.value, GLOBAL_POLICY);
    let listings: Vec<_> = set.listings().collect();
    assert_eq!(listings.len(), 1);
    assert_eq!(
        (
            listings[0].action,
            listings[0].kind,
            listings[0].field,
            listings[0].file
        ),
        (
            "mail.read",
            ListKind::Allow,
            "designed_tools",
            "agents/helper.yaml"
        )
    );
    assert_eq!(listings[0].position.unwrap().to_string(), "11:18");
    assert_eq!(
        (listings[0].manifest, listings[0].manifest_id),
        (ManifestKind::Agent, "helper")
    );
}

#[test]
fn all_faults_of_all_files_come_at_once() {
    let mut files = files();
    files
        .get_mut("agents/helper.yaml")
        .unwrap()
        .push_str("denied_tool: []\n");
    files
        .get_mut("packs/basic.yaml")
        .unwrap()
        .push_str("denied_actions: [Mail.Send, ok.id]\n");
    files
        .get_mut("routes/owner.yaml")
        .unwrap()
        .push_str("when: {sauce: x}\n");
    files.insert("policies/global.yaml", "lifecycle_state: [\n".to_owned());
    files.insert("notes/x.yaml", String::new());
    let told = faults(&files);
    let begins: Vec<&str> = told
        .iter()
        .map(|fault| fault.split_once(' ').unwrap().0)
        .collect();
    assert_eq!(
        begins,
        [
            "agents/helper.yaml:14:1:",
            "notes/x.yaml:",
            "packs/basic.yaml:4:18:",
            "policies/global.yaml:2:1:",
            "routes/owner.yaml:7:8:",
        ],
        "{told:#?}"
    );
    assert!(told[0].contains("did you mean `denied_tools`?"));
    assert!(told[2].contains("field `denied_actions[0]`: `Mail.Send` is no action id"));
}

#[test]
fn a_reference_to_a_file_that_has_faults_is_not_called_dangling() {
    for path in files().into_keys() {
        for more in ["zzz: 1\n", "[\n"] {
            let told = with(path, more);
            assert_eq!(told.len(), 1, "{told:#?}");
        }
    }
}

#[test]
fn dangling_references_are_faults() {
    for (path, old, new, what) in [
        (
            "routes/owner.yaml",
            "agent: helper",
            "agent: help",
            "4:8: field `agent`: there is no agent `help`; there are: helper",
        ),
        (
            "routes/owner.yaml",
            "workflow: talk",
            "workflow: walk",
            "5:11: field `workflow`: there is no workflow `walk`",
        ),
        (
            "routes/owner.yaml",
            "pack: basic",
            "pack: basics",
            "6:18: field `capability_pack`: there is no capability pack `basics`",
        ),
        (
            "workflows/talk.yaml",
            "agent: helper",
            "agent: other",
            "5:17: field `required_agent`: there is no agent `other`",
        ),
        (
            "workflows/talk.yaml",
            "pack: basic",
            "pack: other",
            "6:27: field `required_capability_pack`: there is no capability pack `other`",
        ),
    ] {
        let told = replaced(path, old, new);
        assert!(
            told.iter()
                .any(|fault| fault.starts_with(&format!("{path}:{what}"))),
            "{told:#?}"
        );
    }
}

#[test]
fn a_route_that_lets_events_in_names_all_three_and_as_the_workflow_requires() {
    let told = replaced("routes/owner.yaml", "agent: helper\n", "");
    assert!(
        told[0].starts_with("routes/owner.yaml:1:5: field `agent`: it is missing"),
        "{told:#?}"
    );

    let mut files = files();
    files.insert(
        "routes/no.yaml",
        "id: no\nschema_version: 1\nlifecycle_state: active\neffect: deny\n".to_owned(),
    );
    assert!(ManifestSet::read(&files).is_ok());

    files.insert("packs/other.yaml", sample::PACK.replace("basic", "other"));
    let route = files.get_mut("routes/owner.yaml").unwrap();
    *route = route.replace("pack: basic", "pack: other");
    assert_eq!(
        faults(&files),
        [
            "routes/owner.yaml:6:18: field `capability_pack`: workflow `talk` requires `basic`, not \
          `other`; name what the workflow requires, or another workflow"
        ]
    );
}

#[test]
fn states_and_transitions_lead_somewhere() {
    let told = with(
        "workflows/talk.yaml",
        "initial_state: begin
states:
  - id: start
    approval: required
    approval_action: 'not an id'
    steps: [{id: a, kind: agentic}, {id: a, kind: agentic}]
  - id: start
transitions:
  - {from: start, to: end}
",
    );
    let told: Vec<&str> = told
        .iter()
        .map(|t| t.strip_prefix("workflows/talk.yaml:").unwrap())
        .collect();
    for (fault, begin) in told.iter().zip([
        "7:16: field `initial_state`: there is no state `begin` in this workflow; there are: start",
        "11:22: field `states[0].approval_action`: `not an id` is no action id",
        "12:42: field `states[0].steps[1].id`: `a` is taken",
        "13:9: field `states[1].id`: `start` is taken",
        "15:23: field `transitions[0].to`: there is no state `end`",
    ]) {
        assert!(fault.starts_with(begin), "{told:#?}");
    }
    assert_eq!(told.len(), 5);
}

#[test]
fn an_id_is_given_once_whatever_the_version() {
    for version in ["", "version: 2\n"] {
        let mut files = files();
        files.insert(
            "agents/zz.yaml",
            format!("{}{version}", sample::AGENT.trim_start()),
        );
        assert_eq!(
            faults(&files),
            [
                "agents/zz.yaml:1:5: field `id`: `helper` is taken; agents/helper.yaml has this id \
              already; keep one version, or give it another id"
            ]
        );
    }
    // The same id in another folder is another thing.
    let mut files = files();
    files.insert("packs/helper.yaml", sample::PACK.replace("basic", "helper"));
    assert!(ManifestSet::read(&files).is_ok());
}

#[test]
fn a_path_is_given_once() {
    let twice = [
        ("packs/basic.yaml", sample::PACK),
        ("packs/basic.yaml", sample::PACK),
    ];
    let told = ManifestSet::read(twice).unwrap_err().to_string();
    assert!(
        told.contains("packs/basic.yaml: this path is given twice"),
        "{told}"
    );
}

#[test]
fn there_is_one_active_global_policy() {
    let none = "policies/: there is no active policy with the id `global`; \
                add policies/global.yaml with `lifecycle_state: active`; its lists may be empty";
    let mut without = files();
    without.remove("policies/global.yaml");
    assert_eq!(faults(&without), [none]);
    assert_eq!(
        replaced("policies/global.yaml", "active", "proposed"),
        [none]
    );

    let mut two = files();
    two.insert("policies/second.yaml", sample::POLICY.to_owned());
    assert!(faults(&two)[0].contains("`global` is taken"));

    let mut other = files();
    other.insert(
        "policies/other.yaml",
        sample::POLICY.replace("global", "other"),
    );
    assert!(faults(&other)[0].contains("policy `other` is active and would never take part"));
    other.insert(
        "policies/other.yaml",
        sample::POLICY
            .replace("global", "other")
            .replace("active", "retired"),
    );
    assert!(ManifestSet::read(&other).is_ok());
}

#[test]
fn a_file_in_no_known_folder_is_a_fault() {
    for path in [
        "x.yaml",
        "route/x.yaml",
        "Routes/x.yaml",
        "routes/x.json",
        "routes/.yaml",
        "routes/a/x.yaml",
        "/routes/x.yaml",
        "./routes/x.yaml",
        "routes/",
        "routes/x.yaml.bak",
        "",
        "routes/a\nb.yaml",
    ] {
        let told = ManifestSet::read([(path, sample::ROUTE)])
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("this is in no known folder"),
            "{path}: {told}"
        );
    }
}

#[test]
fn heads_and_bounds_are_checked() {
    for (path, old, new, what) in [
        (
            "routes/owner.yaml",
            "id: owner",
            "id: 'a:v1'",
            "1:5: field `id`: this is no id of a manifest",
        ),
        (
            "routes/owner.yaml",
            "id: owner",
            "id: ''",
            "1:5: field `id`: this is no id of a manifest",
        ),
        (
            "packs/basic.yaml",
            "version: 1",
            "version: 2",
            "2:17: field `schema_version`: version 2",
        ),
    ] {
        let told = replaced(path, old, new);
        assert!(
            told.iter()
                .any(|fault| fault.starts_with(&format!("{path}:{what}"))),
            "{told:#?}"
        );
    }
    let told = with(
        "routes/owner.yaml",
        "when: {actor: {identity_confidence_min: 95}}\n",
    );
    assert!(
        told[0].starts_with("routes/owner.yaml:7:41: field `when.actor.identity_confidence_min`")
    );
}

#[test]
fn too_many_files_are_refused() {
    let many = (0..=MAX_FILES).map(|n| {
        (
            format!("packs/p{n}.yaml"),
            sample::PACK.replace("basic", &format!("p{n}")),
        )
    });
    let told = ManifestSet::read(many).unwrap_err().to_string();
    assert!(told.contains("there are too many files"));
}

#[test]
fn the_revision_changes_with_every_byte_and_name_and_not_with_the_order() {
    let revision =
        |files: &BTreeMap<&'static str, String>| ManifestSet::read(files).unwrap().revision();
    let first = revision(&files());
    let backwards = ManifestSet::read(files().iter().rev()).unwrap().revision();
    assert_eq!(first, backwards);

    let mut comment = files();
    comment
        .get_mut("packs/basic.yaml")
        .unwrap()
        .push_str("# a remark\n");
    assert_ne!(first, revision(&comment));

    let mut renamed = files();
    let text = renamed.remove("packs/basic.yaml").unwrap();
    renamed.insert("packs/other.yaml", text);
    assert_ne!(first, revision(&renamed));
}

proptest! {
    #[test]
    fn an_unknown_key_anywhere_is_a_fault_at_its_own_place(which in 0usize..5, line in 0usize..20, key in "[a-z]{1,3}_qq") {
        let mut files = files();
        let path = *files.keys().nth(which).unwrap();
        let text = files.get_mut(path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = line % lines.len();
        let indent = lines[at].len() - lines[at].trim_start().len();
        lines.insert(at, format!("{}{key}: 1", " ".repeat(indent)));
        *text = lines.join("\n");
        let begin = format!("{path}:{}:{}: field `", at + 1, indent + 1);
        let told = faults(&files);
        prop_assert!(
            told.iter().any(|f| f.starts_with(&begin) && f.contains(&format!("{key}`: there is no such field"))),
            "{:#?}", told
        );
    }
}

#[test]
fn a_pack_holds_arguments_to_what_it_says() {
    let mut files = files();
    files.get_mut("packs/basic.yaml").unwrap().push_str(
        r#"
bound_arguments:
  - { action: mail.send, at: /to, one_of: [ada, {x: [1, 2.5, null, true]}] }
  - { action: mail.send, at: /folder/name, within: mail/in, may_be_absent: true }
  - { action: mail.send, at: /cc, may_be_absent: true }
"#,
    );
    let set = ManifestSet::read(&files).unwrap();
    let bounds: Vec<_> = set
        .pack("basic")
        .unwrap()
        .bound_arguments
        .iter()
        .map(|bound| &bound.value)
        .collect();
    assert_eq!(
        serde_json::to_value(bounds).unwrap(),
        serde_json::json!([
            {"action": "mail.send", "at": "/to", "to": {"one_of": ["ada", {"x": [1, 2.5, null, true]}]}},
            {"action": "mail.send", "at": "/folder/name", "to": {"within": "mail/in"}, "may_be_absent": true},
            {"action": "mail.send", "at": "/cc", "to": {"one_of": []}, "may_be_absent": true},
        ])
    );
    let listed: Vec<_> = set
        .listings()
        .filter(|listing| listing.kind == ListKind::Bound)
        .map(|listing| {
            (
                listing.action,
                listing.field,
                listing.position.unwrap().line,
            )
        })
        .collect();
    let first = listed[0].2;
    let expected = [0, 1, 2].map(|line| ("mail.send", "bound_arguments", first + line));
    assert_eq!(listed, expected);
}

#[test]
fn a_faulty_bound_is_told_at_its_place() {
    for (written, words) in [
        ("{ at: /to, one_of: [a] }", "action"),
        ("{ action: mail.send, one_of: [a] }", "at"),
        ("{ action: mail.send, at: /to }", "a bound says one thing"),
        (
            "{ action: mail.send, at: /to, one_of: [a], within: a }",
            "a bound says one thing",
        ),
        (
            "{ action: mail.send, at: to, one_of: [a] }",
            "`to` is no JSON Pointer",
        ),
        (
            "{ action: mail.send, at: /a~2, one_of: [a] }",
            "`/a~2` is no JSON Pointer",
        ),
        (
            "{ action: Mail.Send, at: /to, one_of: [a] }",
            "dotted lower-case segments",
        ),
        (
            "{ action: mail.send, at: /to, one_of: [a], one_off: [b] }",
            "did you mean `one_of`?",
        ),
        ("{ action: mail.send, at: /to, one_of: a }", "one_of"),
    ] {
        let told = with(
            "packs/basic.yaml",
            &format!("\nbound_arguments:\n  - {written}\n"),
        );
        assert!(
            told.len() == 1 && told[0].contains(words),
            "{written}: {told:#?}"
        );
        assert!(told[0].starts_with("packs/basic.yaml:"), "{told:?}");
    }
}
