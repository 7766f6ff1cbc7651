//! The command line, as an operator meets it: what is printed, and how it ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use actum::Registry;
use process::{Ended, Home, reference};
use serde_json::{Value, json};
use sqlx::Connection as _;
use tokio::net::TcpListener;

const COMMANDS: &[&str] = &[
    "approvals",
    "artifacts",
    "serve",
    "catalog",
    "check",
    "lock",
    "mcp",
    "openapi",
    "project",
    "explain",
    "diff",
    "session",
    "test",
    "attach",
    "previews",
    "select",
    "upstreams",
    "recover",
    "reload",
    "revoke",
    "ledger",
];

/// What the kernel dispatches, from the handlers that are linked into this test as well.
fn dispatched() -> BTreeSet<String> {
    let registry = Registry::linked().unwrap();
    let ids = registry.actions().map(|(id, _)| id.to_string());
    ids.collect()
}

#[track_caller]
fn assert_told(ended: &Ended, code: i32, wanted: &[&str]) {
    assert_eq!(ended.code, code, "{ended:?}");
    for wanted in wanted {
        assert!(
            ended.err.contains(wanted),
            "{wanted:?} is not told:\n{}",
            ended.err
        );
    }
}

#[tokio::test]
async fn help_names_every_command() {
    let home = Home::empty();
    let help = home.actum(&["--help"]).await;
    assert_eq!(help.code, 0);
    let listed: BTreeSet<&str> = help
        .out
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .map_while(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS.iter().copied().collect());
    for command in COMMANDS {
        let help = home.actum(&[command, "--help"]).await;
        assert_eq!(help.code, 0, "{command}");
        assert!(help.out.contains("Usage: actum "), "{}", help.out);
    }
    assert!(
        home.actum(&["ledger", "--help"])
            .await
            .out
            .contains("verify")
    );
    assert_told(&home.actum(&[]).await, 2, &["Usage: actum"]);
    assert_told(&home.actum(&["sevre"]).await, 2, &["sevre", "'serve'"]);
}

/// A golden file and the catalog that its cases are about.
const GOLDEN: [(&str, &str); 3] = [
    ("routes.jsonl", "catalog_ids.json"),
    ("compose.jsonl", "catalog_ids.json"),
    ("gate.jsonl", "gate_catalog.json"),
];

fn golden(file: &str) -> String {
    reference("openspine/golden")
        .join(file)
        .display()
        .to_string()
}

#[tokio::test]
async fn test_passes_every_recorded_case() {
    let home = Home::empty();
    for (file, catalog) in GOLDEN {
        let (file, catalog) = (golden(file), golden(catalog));
        let cases = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(cases >= 350, "{file}");
        let ended = home.actum(&["test", "--catalog", &catalog, &file]).await;
        let last = format!("{cases} passed, 0 failed");
        assert_eq!(ended.out.lines().last(), Some(last.as_str()), "{ended:?}");
        assert_eq!(ended.code, 0);
    }
    // Several files at once, told apart by what their cases hold.
    let [routes, compose] = [golden("routes.jsonl"), golden("compose.jsonl")];
    let catalog = golden("catalog_ids.json");
    let ended = home
        .actum(&["test", "--catalog", &catalog, &routes, &compose])
        .await;
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (0, "770 passed, 0 failed\n")
    );
}

#[tokio::test]
async fn test_shows_both_sides_of_a_mismatch_and_exits_with_1() {
    let home = Home::empty();
    for (file, catalog) in GOLDEN {
        let text = std::fs::read_to_string(golden(file)).unwrap();
        let mut cases: Vec<String> = text.lines().take(5).map(str::to_owned).collect();
        let mut case: Value = serde_json::from_str(&cases[2]).unwrap();
        let expect = case["expect"].as_object_mut().unwrap();
        let key = if expect.contains_key("status") {
            "status"
        } else {
            "outcome"
        };
        let truth = expect
            .insert(key.to_owned(), json!("something_else"))
            .unwrap();
        cases[2] = case.to_string();
        // An empty line is no case, and counts as a line.
        home.write("cases.jsonl", &format!("\n{}\n", cases.join("\n")));

        let catalog = golden(catalog);
        let ended = home
            .actum(&["test", "--catalog", &catalog, "cases.jsonl"])
            .await;
        assert_eq!(ended.code, 1, "{ended:?}");
        let lines: Vec<&str> = ended.out.lines().collect();
        let [place, expected, got, last] = lines[..] else {
            panic!("{}", ended.out);
        };
        assert_eq!(place, "cases.jsonl:4: mismatch");
        assert!(expected.starts_with("  expected {") && expected.contains("something_else"));
        assert!(got.starts_with("  got      {") && got.contains(truth.as_str().unwrap()));
        assert_eq!(last, "4 passed, 1 failed");
    }
}

#[tokio::test]
async fn test_fails_a_case_that_is_not_of_its_shape() {
    let home = Home::empty();
    let text = std::fs::read_to_string(golden("gate.jsonl")).unwrap();
    let mut case: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    case["grant"]["allowd_actions"] = json!([]);
    home.write("cases.jsonl", &case.to_string());
    let ended = home.actum(&["test", "cases.jsonl"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.out.contains("cases.jsonl:1: ") && ended.out.contains("allowd_actions"));
    assert!(ended.out.ends_with("0 passed, 1 failed\n"));
}

#[tokio::test]
async fn test_exits_with_2_when_something_cannot_be_read() {
    let home = Home::empty();
    let good = std::fs::read_to_string(golden("routes.jsonl")).unwrap();
    let good = good.lines().next().unwrap();
    home.write("good.jsonl", good);
    assert_eq!(home.actum(&["test", "good.jsonl"]).await.code, 0);

    let missing = home.actum(&["test", "good.jsonl", "missing.jsonl"]).await;
    assert_told(&missing, 2, &["missing.jsonl: cannot be read"]);
    // What could be read was run all the same.
    assert_eq!(missing.out, "1 passed, 0 failed\n");

    for (line, wanted) in [
        ("{\"expect\": ", "EOF"),
        ("[1, 2]", "a case is a JSON object"),
        ("{\"event\": {}, \"routes\": []}", "`expect`"),
        (
            "{\"expect\": {}, \"weather\": 1}",
            "is no case about routes",
        ),
    ] {
        home.write("broken.jsonl", &format!("{good}\n{line}\n{good}\n"));
        let ended = home.actum(&["test", "broken.jsonl"]).await;
        assert_told(&ended, 2, &["broken.jsonl:2: ", wanted]);
        assert_eq!(ended.out, "2 passed, 0 failed\n", "{line}");
    }

    std::fs::write(home.path("latin.jsonl"), b"{\"expect\": \"\xe9\"}").unwrap();
    assert_told(
        &home.actum(&["test", "latin.jsonl"]).await,
        2,
        &["latin.jsonl", "UTF-8"],
    );
    assert_told(&home.actum(&["test"]).await, 2, &["<FILE>"]);

    for (catalog, wanted) in [
        ("{\"ids\": [", "EOF"),
        ("{\"ids\": [], \"idz\": []}", "is no catalog"),
        ("\"openspine.status.read\"", "is no catalog"),
        ("[\"Not An Id\"]", "`Not An Id`"),
    ] {
        home.write("catalog.json", catalog);
        let ended = home
            .actum(&["test", "--catalog", "catalog.json", "good.jsonl"])
            .await;
        assert_told(&ended, 2, &["catalog.json: ", wanted]);
        assert_eq!(ended.out, "0 passed, 0 failed\n");
    }
    let ended = home
        .actum(&["test", "--catalog", "none.json", "good.jsonl"])
        .await;
    assert_told(&ended, 2, &["none.json: cannot be read"]);
}

/// Where manifests grant actions that nothing dispatches, as `folder/file.yaml:line`, found by nothing
/// but the indentation of the files.
fn granted_and_undispatched(artifacts: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let dispatched = dispatched();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, lists) in [
        ("agents", ["designed_tools:", "approval_required_tools:"]),
        (
            "workflows",
            ["candidate_allowed_actions:", "approval_required:"],
        ),
        (
            "packs",
            ["candidate_allowed_actions:", "approval_required:"],
        ),
        // A policy narrows what others allow; its approvals are grants.
        ("policies", ["approval_required:", "approval_required:"]),
    ] {
        for file in std::fs::read_dir(artifacts.join(folder)).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let mut grants = false;
            for (index, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
                if !line.starts_with([' ', '#']) && !line.is_empty() {
                    grants = lists.contains(&line);
                }
                if let (true, Some(item)) = (grants, line.strip_prefix("  - ")) {
                    let action = item.trim_matches('"').to_owned();
                    if !dispatched.contains(&action) {
                        let place = format!("{folder}/{name}:{}", index + 1);
                        found.entry(action).or_default().insert(place);
                    }
                }
            }
        }
    }
    found
}

/// What `actum check` lists, in the same form.
fn listed(told: &str, artifacts: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut action = String::new();
    for line in told.lines() {
        if let Some((id, _)) = line
            .strip_prefix('`')
            .and_then(|rest| rest.split_once("` is granted and nothing dispatches it"))
        {
            action = id.to_owned();
        } else if let Some(place) = line.trim().strip_prefix(artifacts.to_str().unwrap()) {
            let parts: Vec<&str> = place.trim_start_matches('/').split(':').collect();
            let place = format!("{}:{}", parts[0], parts[1]);
            found.entry(action.clone()).or_default().insert(place);
        }
    }
    found
}

fn accepting(actions: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let entries = actions.into_iter().map(|action| {
        let action = action.as_ref();
        format!("  - action: \"{action}\"\n    by: an operator\n    reason: It comes later.\n")
    });
    format!("accepted:\n{}", entries.collect::<String>())
}

#[tokio::test]
async fn check_lists_every_grant_that_nothing_dispatches_until_each_is_accepted() {
    let artifacts = reference("openspine/artifacts");
    let folder = artifacts.to_str().unwrap();
    let gaps = granted_and_undispatched(&artifacts);
    assert!(gaps.len() >= 10, "{gaps:?}");
    let home = Home::empty();

    let ended = home.actum(&["check", "--manifests", folder]).await;
    assert_told(&ended, 1, &[&format!("{} problems", gaps.len())]);
    assert_eq!(listed(&ended.err, &artifacts), gaps);
    assert_eq!(ended.out, "");

    let check = async |accepted: &str| {
        home.write("accepted.yaml", accepted);
        let all = [
            "check",
            "--manifests",
            folder,
            "--accepted",
            "accepted.yaml",
        ];
        home.actum(&all).await
    };
    let ended = check(&accepting(gaps.keys())).await;
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert!(ended.out.starts_with("complete: "), "{}", ended.out);

    // Each of them counts.
    for left_out in gaps.keys() {
        let ended = check(&accepting(gaps.keys().filter(|gap| *gap != left_out))).await;
        let only = BTreeMap::from([(left_out.clone(), gaps[left_out].clone())]);
        assert_told(&ended, 1, &["\n1 problem\n"]);
        assert_eq!(listed(&ended.err, &artifacts), only);
    }
}

#[tokio::test]
async fn check_takes_no_acceptance_that_is_empty_idle_or_unreadable() {
    let artifacts = reference("openspine/artifacts");
    let home = Home::empty();
    let all = accepting(granted_and_undispatched(&artifacts).keys());
    let lines = all.lines().count();
    let check = async |more: &str| {
        home.write("accepted.yaml", &format!("{all}{more}"));
        let folder = artifacts.to_str().unwrap();
        let all = [
            "check",
            "--manifests",
            folder,
            "--accepted",
            "accepted.yaml",
        ];
        home.actum(&all).await
    };
    assert_eq!(check("").await.code, 0);

    let at = |line: usize| format!("accepted.yaml:{}:", lines + line);
    // One that is dispatched, one that no manifest speaks of, one a second time; all at once.
    let idle = accepting(["openspine.status.read", "no.such", "plan.execute"]);
    let ended = check(idle.strip_prefix("accepted:\n").unwrap()).await;
    assert_told(
        &ended,
        1,
        &[
            &at(1),
            "`openspine.status.read` is accepted as a gap and is none",
        ],
    );
    assert_told(
        &ended,
        1,
        &[&at(4), "`no.such` is accepted as a gap and is none"],
    );
    assert_told(
        &ended,
        1,
        &[
            &at(7),
            "`plan.execute` is accepted a second time",
            "3 problems",
        ],
    );

    home.write("accepted.yaml", "");
    let nobody = all.replacen("by: an operator", "by: \"\"", 1);
    let nobody = nobody.replacen("reason: It comes later.", "reason: \"  \"", 1);
    home.write("nobody.yaml", &nobody);
    let folder = artifacts.to_str().unwrap();
    let ended = home
        .actum(&["check", "--manifests", folder, "--accepted", "nobody.yaml"])
        .await;
    assert_told(
        &ended,
        1,
        &["nobody.yaml:3:", "`by` is empty", "2 problems"],
    );
    assert_told(&ended, 1, &["nobody.yaml:4:", "`reason` is empty"]);

    let ended = check("  - action: x\n    bye: me\n    reason: Because.\n").await;
    assert_told(&ended, 1, &[&at(2), "did you mean `by`?"]);
    assert_told(&ended, 1, &[&at(1), "it is missing"]);
    let ended = home
        .actum(&["check", "--manifests", folder, "--accepted", "none.yaml"])
        .await;
    assert_told(&ended, 1, &["none.yaml", "cannot be read"]);
    let ended = home.actum(&["check", "--manifests", "none"]).await;
    assert_told(&ended, 1, &["none", "routes/"]);
}

#[tokio::test]
async fn check_counts_a_policys_allow_list_as_no_grant() {
    let home = Home::sample();
    let check = async || home.actum(&["check", "--config", "actum.yaml"]).await;
    assert_eq!(check().await.code, 0);
    let policy = "manifests/policies/global.yaml";
    let narrowing = "candidate_allowed_actions: [connector.enable]\ndenied_actions:";
    home.edit(policy, "denied_actions:", narrowing);
    assert_eq!(check().await.code, 0);
    home.edit(policy, "candidate_allowed_actions", "approval_required");
    assert_told(&check().await, 1, &["`connector.enable`", "global.yaml:5:"]);
}

/// The ids that the kernel's sources declare, by whether they have a handler.
fn declared() -> BTreeMap<String, bool> {
    let mut declared = BTreeMap::new();
    let mut left = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/actions")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap();
            left.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for (before, handled) in [("    id = \"", true), ("actum::known!(\"", false)] {
            let ids = text.lines().filter_map(|line| line.strip_prefix(before));
            declared.extend(ids.map(|rest| (rest.split('"').next().unwrap().to_owned(), handled)));
        }
    }
    declared
}

#[tokio::test]
async fn catalog_lists_what_is_linked_and_known_and_nothing_else() {
    let home = Home::empty();
    let declared = declared();
    assert!(declared.len() >= 9, "{declared:?}");

    let table = home.actum(&["catalog"]).await;
    assert_eq!(table.code, 0);
    let rows: BTreeMap<String, bool> = table
        .out
        .lines()
        .map(|line| {
            let (id, text) = line.split_once(' ').unwrap();
            (id.to_owned(), text.trim() != "known; nothing dispatches it")
        })
        .collect();
    assert_eq!(rows, declared);

    let all = home.actum(&["catalog", "--json"]).await;
    assert_eq!(all.code, 0);
    let all: Vec<Value> = serde_json::from_str(&all.out).unwrap();
    let listed: BTreeMap<String, bool> = all
        .iter()
        .map(|entry| {
            let handled = entry["dispatchable"].as_bool().unwrap();
            assert_eq!(handled, entry["descriptor"].is_object(), "{entry}");
            (entry["id"].as_str().unwrap().to_owned(), handled)
        })
        .collect();
    assert_eq!(listed, declared);
    assert_eq!(listed.len(), all.len());
}

#[tokio::test]
async fn project_shows_the_view_that_an_event_leads_to() {
    let home = Home::sample();
    let project = async |event: &str, more: &[&str]| {
        let arguments = ["project", "--config", "actum.yaml", "--event", event];
        home.actum(&[&arguments, more].concat()).await
    };
    let tools = async |event: &str| {
        let ended = project(event, &["--json"]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let all: Value = serde_json::from_str(&ended.out).unwrap();
        let tools = all["catalog"]["tools"].as_array().unwrap().clone();
        let tools = tools.iter().map(|tool| {
            let asks = tool["approval_required"].as_bool().unwrap();
            (tool["name"].as_str().unwrap().to_owned(), asks)
        });
        (all["route"].clone(), tools.collect::<BTreeMap<_, _>>())
    };
    let (route, stranger) = tools("events/stranger.json").await;
    assert_eq!(route, "stranger_chat");
    let (route, owner) = tools("events/owner.json").await;
    assert_eq!(route, "owner_chat");
    let more: Vec<_> = owner
        .iter()
        .filter(|(name, _)| !stranger.contains_key(*name))
        .collect();
    assert!(
        stranger
            .iter()
            .all(|tool| owner.get(tool.0) == Some(tool.1))
            && !more.is_empty()
    );

    for (event, tools) in [
        ("events/stranger.json", stranger),
        ("events/owner.json", owner),
    ] {
        let ended = project(event, &[]).await;
        assert_eq!(ended.code, 0);
        // The tools follow the paragraph about the grant, two lines each.
        let lines = ended.out.split("\n\n").nth(1).unwrap().lines().step_by(2);
        let shown = lines.map(|line| match line.trim().split_once(' ') {
            None => (line.trim().to_owned(), false),
            Some((name, "(requires owner approval)")) => (name.to_owned(), true),
            Some(_) => panic!("{line}"),
        });
        assert_eq!(shown.collect::<BTreeMap<_, _>>(), tools);
    }
    assert!(!home.data().exists(), "a projection leaves nothing behind");
}

#[tokio::test]
async fn project_says_why_an_event_leads_nowhere() {
    let home = Home::sample();
    let project = async |event: &str| {
        home.write("event.json", event);
        let arguments = ["project", "--config", "actum.yaml", "--event", "event.json"];
        home.actum(&arguments).await
    };
    let owner = home.read("events/owner.json");
    assert_told(&project("{").await, 1, &["event.json: "]);
    let unknown = owner.replace("message\":", "massage\":");
    assert_told(&project(&unknown).await, 1, &["event.json: ", "`massage`"]);
    let other = owner.replace("signed_in_chat", "nobody");
    assert_told(
        &project(&other).await,
        1,
        &["`connector`", "public_chat, signed_in_chat"],
    );
    let other = owner.replace("chat.message", "chat.left");
    assert_told(
        &project(&other).await,
        1,
        &["leads to no task", "event_type_not_allowed"],
    );
    home.edit(
        "manifests/routes/stranger_chat.yaml",
        "state: active",
        "state: retired",
    );
    let stranger = home.read("events/stranger.json");
    assert_told(
        &project(&stranger).await,
        1,
        &["leads to no task", "no_route"],
    );
    let ended = home
        .actum(&["project", "--config", "actum.yaml", "--event", "none.json"])
        .await;
    assert_told(&ended, 1, &["none.json: cannot be read"]);
}

async fn serve(home: &Home) -> Ended {
    let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
    assert_eq!(ended.out, "", "it never says that it listens");
    ended
}

#[tokio::test]
async fn serve_refuses_a_faulty_configuration_with_all_its_faults_and_starts_nothing() {
    let home = Home::sample();
    let good = home.read("actum.yaml");
    let with = async |text: &str| {
        home.write("actum.yaml", text);
        let ended = serve(&home).await;
        assert!(
            !home.data().exists(),
            "nothing is made for a faulty configuration"
        );
        ended
    };

    assert_told(
        &with("listen: [127.0.0.1\ndata: }\n").await,
        1,
        &["actum.yaml:", "no YAML"],
    );
    assert_told(&with("").await, 1, &["actum.yaml"]);
    assert_told(
        &with("- listen\n").await,
        1,
        &["actum.yaml:1:1:", "a map of fields"],
    );

    let line = |text: &str| good.lines().position(|line| line.contains(text)).unwrap() + 1;
    let misspelt = good.replace("mailbox: mail", "malbox: mail");
    let place = format!("actum.yaml:{}:1: ", line("mailbox: mail"));
    assert_told(
        &with(&misspelt).await,
        1,
        &[&place, "did you mean `mailbox`?"],
    );

    let many = good
        .replace("listen: 127.0.0.1:0", "listen: everywhere")
        .replace("mailbox: mail", "malbox: mail")
        .replace("id: public_chat", "id: Public Chat")
        .replace("connector: owner_terminal", "connector: nobody");
    let ended = with(&format!(
        "{many}\nlimits:\n  body_bytes: 0\n  request_secs: 3\n"
    ))
    .await;
    for (text, column, wanted) in [
        ("listen:", 9, "`everywhere` is no address"),
        ("mailbox:", 1, "`malbox`"),
        ("id: public_chat", 9, "`Public Chat` is no connector id"),
        ("connector: owner_terminal", 14, "no connector `nobody`"),
    ] {
        let place = format!("actum.yaml:{}:{column}: ", line(text));
        let told = ended.err.lines().find(|told| told.starts_with(&place));
        assert!(
            told.is_some_and(|told| told.contains(wanted)),
            "{place}{wanted}: {ended:?}"
        );
    }
    assert_told(
        &ended,
        1,
        &["`limits.body_bytes`: is out of bounds", "request_seconds"],
    );

    let ended = home.actum(&["serve", "--config", "none.yaml"]).await;
    assert_told(&ended, 1, &["none.yaml: cannot be read", "--config"]);
}

#[tokio::test]
async fn serve_refuses_faulty_manifests_mailbox_and_token_at_once() {
    let home = Home::sample();
    let bot = "telegram: { base_url: \"http://127.0.0.1:1\", token_file: bot.token }\nowner:";
    home.edit("actum.yaml", "\nowner:", &format!("\n{bot}"));
    home.edit("actum.yaml", "mailbox: mail", "mailbox: post");
    home.edit("manifests/agents/front_desk.yaml", "persona:", "persono:");
    home.edit(
        "manifests/routes/owner_chat.yaml",
        "agent: house_assistant",
        "agent: nobody",
    );
    let copy = home.read("manifests/packs/owner_pack.yaml");
    home.write("manifests/packs/second_pack.yaml", &copy);
    home.edit(
        "manifests/workflows/take_a_message.yaml",
        "schema_version: 1",
        "schema_version: one",
    );

    let ended = serve(&home).await;
    assert_told(&ended, 1, &["post", "mailbox"]);
    assert_told(&ended, 1, &["bot.token: cannot be read"]);
    assert_told(
        &ended,
        1,
        &[
            "manifests/agents/front_desk.yaml:",
            "did you mean `persona`?",
        ],
    );
    assert_told(&ended, 1, &["manifests/routes/owner_chat.yaml:", "nobody"]);
    assert_told(
        &ended,
        1,
        &[
            "manifests/packs/second_pack.yaml:1:5: ",
            "`owner_pack` is taken",
        ],
    );
    assert_told(
        &ended,
        1,
        &["manifests/workflows/take_a_message.yaml:2:17: "],
    );
    assert!(!home.data().exists());
}

#[tokio::test]
async fn serve_refuses_a_token_file_that_holds_no_token_and_does_not_repeat_it() {
    let home = Home::sample();
    let bot = "telegram: { base_url: \"http://127.0.0.1:1\", token_file: bot.token }\nowner:";
    home.edit("actum.yaml", "\nowner:", &format!("\n{bot}"));
    for token in [
        "",
        "\n",
        "123:abc def",
        "123:abc/../secret",
        "123:ab\u{e9}",
        &"1".repeat(300),
    ] {
        home.write("bot.token", token);
        let ended = serve(&home).await;
        assert_told(&ended, 1, &["bot.token: is no bot token"]);
        assert!(
            token.trim().is_empty() || !ended.err.contains(token.trim()),
            "{ended:?}"
        );
    }
    assert!(!home.data().exists());
    home.write("bot.token", "123:abc-DEF_4\n");
    home.serve().await;
}

#[tokio::test]
async fn serve_refuses_a_port_that_is_taken_and_touches_nothing() {
    let home = Home::sample();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    home.edit("actum.yaml", "127.0.0.1:0", &address);
    assert_told(
        &serve(&home).await,
        1,
        &[&address, "cannot listen", "`listen`"],
    );
    assert!(!home.data().exists());
}

#[tokio::test]
async fn serve_refuses_a_store_that_another_kernel_has_open() {
    let home = Home::sample();
    let first = home.serve().await;
    let ended = serve(&home).await;
    assert_told(
        &ended,
        1,
        &[
            "data/actum.lock",
            "another kernel",
            "choose another `data` folder",
        ],
    );
    let token = first.task(&home, "signed_in_chat", "owner").await;
    let (status, _) = first
        .call(&token, &json!({"action": "openspine.status.read"}))
        .await
        .unwrap();
    assert_eq!(status, 200, "the first goes on");
}

#[tokio::test]
async fn serve_refuses_a_data_folder_that_cannot_be_used() {
    let home = Home::sample();
    home.write("file", "");
    home.edit("actum.yaml", "data: data", "data: file/data");
    assert_told(&serve(&home).await, 1, &["file/data"]);
    assert_eq!(home.read("file"), "");

    home.edit("actum.yaml", "data: file/data", "data: data");
    home.write("data/actum.db", &"no database at all. ".repeat(100));
    assert_told(&serve(&home).await, 1, &["data/actum.db", "no database"]);

    // The sample's own folder, where a file is in its way.
    home.write("actum-data", "");
    let ended = home.actum(&["serve"]).await;
    assert_told(&ended, 1, &["actum-data", "`--config`"]);
}

#[tokio::test]
async fn a_stopped_kernel_ends_well_and_says_so_in_the_ledger() {
    let home = Home::sample();
    let first = home.serve().await;
    assert_eq!(first.terminate().await, 0);
    let told = home
        .actum(&["ledger", "verify", "--config", "actum.yaml"])
        .await;
    assert!(
        told.out.starts_with("the ledger holds: 2 records"),
        "{told:?}"
    );
    assert!(home.read("serve.log").contains("stopping"));
    home.serve().await;
}

#[tokio::test]
async fn the_owners_commands_work_with_a_running_kernel() {
    let home = Home::sample();
    let serving = home.serve().await;
    let config = home.client_config(&serving);
    let ask = async |arguments: &[&str]| {
        let (command, more) = arguments.split_at(1);
        let config = ["--config", config.as_str()];
        home.actum(&[command, &config, more].concat()).await
    };

    // A message, which a stranger wrote to play with the owner's terminal.
    let empty = ask(&["attach", "--once"]).await;
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
    let stranger = serving.task(&home, "public_chat", "stranger").await;
    let text = "Please call\nme \u{1b}[2J\u{202e}back.";
    let call = json!({"action": "terminal.reply:owner_device", "arguments": {"text": text}});
    assert_eq!(serving.call(&stranger, &call).await.unwrap().0, 200);
    let shown = ask(&["attach", "--once"]).await;
    assert_eq!(shown.code, 0, "{shown:?}");
    let lines: Vec<&str> = shown.out.lines().collect();
    assert!(
        lines[0].contains("anonymous:public_chat:front-page (task "),
        "{shown:?}"
    );
    assert_eq!(lines[1..], ["    Please call", "    me [2Jback."]);

    // Threads; one is selected, and read as the command says.
    let threads = ask(&["select"]).await;
    assert_eq!(threads.code, 0, "{threads:?}");
    assert!(threads.out.lines().count() >= 2, "{}", threads.out);
    let thread = threads.out.split_whitespace().next().unwrap();
    let selected = ask(&["select", thread]).await;
    assert_eq!(selected.code, 0, "{selected:?}");
    let between = |before: &str, after: &str| {
        let rest = selected.out.split_once(before).unwrap().1;
        rest.split_once(after).unwrap().0.to_owned()
    };
    let token = between("Bearer ", "\"");
    let call: Value = serde_json::from_str(&between("-d '", "'")).unwrap();
    let (status, body) = serving.call(&token, &call).await.unwrap();
    assert_eq!(
        (status, &body["decision"]),
        (200, &json!("allowed")),
        "{body}"
    );
    let (status, body) = serving.call(&token, &call).await.unwrap();
    assert_eq!(status, 403, "a selection is spent once: {body}");
    assert_told(
        &ask(&["select", "no-such-thread"]).await,
        1,
        &["no such thread"],
    );

    // The task is taken back, once.
    let task = between("(task ", ",");
    assert_eq!(serving.get(&token, "/v1/task").await.0, 200);
    let revoked = ask(&["revoke", &task]).await;
    assert_eq!(revoked.code, 0, "{revoked:?}");
    assert_eq!(serving.get(&token, "/v1/task").await.0, 401);
    assert_told(&ask(&["revoke", &task]).await, 1, &["no such task"]);
    assert_told(&ask(&["revoke", "x"]).await, 1, &["`x` is no task id"]);
    assert_eq!(
        serving.get(&stranger, "/v1/task").await.0,
        200,
        "others go on"
    );

    // Without the owner's key there is nothing to be had.
    let key = home.read("data/keys/owner.key");
    home.write(
        "data/keys/owner.key",
        &home.read("data/keys/connector-public_chat.key"),
    );
    assert_told(&ask(&["attach", "--once"]).await, 1, &["token"]);
    home.write("data/keys/owner.key", "short");
    assert_told(
        &ask(&["attach", "--once"]).await,
        1,
        &["owner.key", "64 hex digits"],
    );
    home.write("data/keys/owner.key", &key);

    let told = home.actum(&["ledger", "verify", "--config", &config]).await;
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.out.starts_with("the ledger holds: "), "{}", told.out);
}

#[tokio::test]
async fn attach_shows_messages_as_they_come_in_until_the_kernel_stops() {
    let home = Home::sample();
    let serving = home.serve().await;
    let config = home.client_config(&serving);
    let stranger = serving.task(&home, "public_chat", "stranger").await;
    let mut attached = home.start(&["attach", "--config", &config]);
    for text in ["One.", "Two.", "Three."] {
        let call = json!({"action": "terminal.reply:owner_device", "arguments": {"text": text}});
        assert_eq!(serving.call(&stranger, &call).await.unwrap().0, 200);
        assert!(
            attached
                .line()
                .await
                .unwrap()
                .contains("anonymous:public_chat")
        );
        assert_eq!(attached.line().await.unwrap(), format!("    {text}"));
    }
    assert_eq!(
        serving.terminate().await,
        0,
        "whoever waits for messages is let go"
    );
    assert_eq!(attached.line().await, None);
    let (code, told) = attached.ended().await;
    assert_eq!(code, Some(1));
    assert!(told.contains("no kernel answers"), "{told}");
}

#[tokio::test]
async fn the_owners_commands_say_what_is_missing_without_a_kernel() {
    let home = Home::empty();
    let commands = [
        &["attach", "--once"][..],
        &["select"],
        &["revoke", "01J0000000000000000000R0BN"],
        &["ledger", "verify"],
    ];
    for command in commands {
        let ended = home.actum(command).await;
        assert_told(
            &ended,
            1,
            &["there is no configuration", "`actum serve`", "--config"],
        );
    }

    let home = Home::sample();
    // A port that was free a moment ago, and that nobody listens on.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    home.edit("actum.yaml", "127.0.0.1:0", &address);
    for (never_started, wanted) in [
        (true, &["owner.key", "start the kernel once"][..]),
        (false, &["no kernel answers", &address, "`actum serve`"]),
    ] {
        if !never_started {
            home.write("data/keys/owner.key", &"0".repeat(64));
        }
        for command in &commands[..3] {
            let arguments = [command, &["--config", "actum.yaml"][..]].concat();
            assert_told(&home.actum(&arguments).await, 1, wanted);
        }
    }
    let ended = home
        .actum(&["ledger", "verify", "--config", "actum.yaml"])
        .await;
    assert_told(&ended, 1, &["actum.db", "no store here"]);
}

#[tokio::test]
async fn ledger_verify_names_the_record_that_was_changed() {
    let home = Home::sample();
    let serving = home.serve().await;
    serving.task(&home, "public_chat", "stranger").await;
    serving.terminate().await;
    let verify = async || {
        home.actum(&["ledger", "verify", "--config", "actum.yaml"])
            .await
    };
    let told = verify().await;
    assert!(
        told.out
            .starts_with("the ledger holds: 3 records, ending in sha256:"),
        "{told:?}"
    );

    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(home.data().join("actum.db"));
    let mut store = sqlx::SqliteConnection::connect_with(&options)
        .await
        .unwrap();
    let tampering = "DROP TRIGGER audit_keeps_records; UPDATE audit SET body = '{}' WHERE seq = 2";
    sqlx::raw_sql(tampering).execute(&mut store).await.unwrap();
    store.close().await.unwrap();
    assert_told(
        &verify().await,
        1,
        &["does not hold", "record 2 was changed"],
    );
}
