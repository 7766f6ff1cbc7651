//! `actum explain` and `actum diff`: why an action is exposed or absent, and what another grant could do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;
mod stored_task;

use std::collections::BTreeMap;

use actum::Registry;
use jiff::{Timestamp, ToSpan};
use process::{Ended, Home};
use serde_json::{Value, json};
use stored_task::{BURN, FILE, REPLY, store, store_all, task, write_mandate};

const OWNER: &str = "events/owner.json";
const STRANGER: &str = "events/stranger.json";
const STATUS: &str = "openspine.status.read";

async fn run(home: &Home, command: &[&str], more: &[&str]) -> Ended {
    home.actum(&[command, &["--config", "actum.yaml"], more].concat())
        .await
}

/// What a command prints, which must end well.
async fn said(home: &Home, command: &[&str], more: &[&str]) -> String {
    let ended = run(home, command, more).await;
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{command:?}");
    ended.out
}

async fn json_of(home: &Home, command: &[&str], more: &[&str]) -> Value {
    let out = said(home, command, &[more, &["--json"]].concat()).await;
    serde_json::from_str(&out).unwrap()
}

#[track_caller]
fn assert_says(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted:?} is not in\n{text}");
    }
}

#[tokio::test]
async fn every_action_has_one_line_that_agrees_with_the_view() {
    let home = Home::sample();
    for event in [OWNER, STRANGER] {
        let view = json_of(&home, &["project", "--event", event], &[]).await;
        let tools = view["catalog"]["tools"].as_array().unwrap();
        let tools: BTreeMap<String, bool> = tools
            .iter()
            .map(|tool| {
                let name = tool["name"].as_str().unwrap();
                let id = actum::ToolName::to_id(name).unwrap().to_string();
                (id, tool["approval_required"].as_bool().unwrap())
            })
            .collect();
        let text = said(&home, &["explain", "--event", event], &[]).await;
        let (_, lines) = text.split_once("\n\n").unwrap();
        let mut exposed = BTreeMap::new();
        let mut count = 0;
        for line in lines.lines() {
            count += 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[0] {
                "exposed" => {
                    let asks = line.contains("requires owner approval");
                    exposed.insert(words[1].to_owned(), asks);
                }
                other => assert_eq!(other, "absent", "{line}"),
            }
            assert!(line.contains('(') && line.contains(')'), "a reason: {line}");
        }
        assert_eq!(exposed, tools);
        assert_eq!(count, Registry::linked().unwrap().catalog().len());
        assert_eq!(
            json_of(&home, &["explain", "--event", event], &[]).await["actions"]
                .as_array()
                .unwrap()
                .len(),
            count
        );
    }
    assert!(
        !home.data().exists(),
        "an explanation leaves nothing behind"
    );
}

#[tokio::test]
async fn the_line_that_decided_is_named_and_follows_the_manifest() {
    let home = Home::sample();
    let explain = async |more: &[&str]| said(&home, &["explain", "--event", STRANGER], more).await;
    let line = "packs/stranger_pack.yaml:11:5: denied_actions: denies it, and decided";
    assert_says(
        &explain(&[STATUS]).await,
        &[
            "openspine.status.read: absent",
            "(explicit_deny)",
            line,
            "route      stranger_chat",
        ],
    );
    // By its tool name as well.
    assert_says(&explain(&["openspine-status-read"]).await, &[line]);
    assert_says(
        &explain(&[]).await,
        &["(explicit_deny); packs/stranger_pack.yaml:11:5: denied_actions\n"],
    );
    assert_says(
        &explain(&["workflow.activate"]).await,
        &["no manifest of this composition lists it", "(not_granted)"],
    );
    let told = json_of(&home, &["explain", "--event", STRANGER], &[STATUS]).await;
    assert_eq!(
        told["actions"][0]["decided_by"],
        json!([{"file": "packs/stranger_pack.yaml", "line": 11, "column": 5, "field": "denied_actions"}])
    );
    assert_eq!(told["task"], Value::Null, "nothing was issued");

    home.edit(
        "manifests/packs/stranger_pack.yaml",
        "denied_actions:\n",
        "\ndenied_actions:\n",
    );
    assert_says(
        &explain(&[STATUS]).await,
        &["packs/stranger_pack.yaml:12:5"],
    );
    home.edit(
        "manifests/packs/stranger_pack.yaml",
        "  - openspine.status.read\n",
        "",
    );
    assert_says(
        &explain(&[STATUS]).await,
        &["nothing grants it (not_granted)"],
    );
}

#[tokio::test]
async fn a_task_is_explained_by_what_was_stored_and_by_what_is_left_of_it() {
    let home = Home::sample();
    write_mandate(&home);
    let mut expired = task();
    expired.grant.expires_at = Timestamp::now() - 1.second();
    let [stored, expired] = store_all(&home, [task(), expired]).await;
    let explain = async |more: &[&str]| said(&home, &["explain", "--task", &stored], more).await;
    assert_says(
        &explain(&[FILE]).await,
        &[
            "mail.file: exposed",
            "(required_claims_granted)",
            "class    optional",
            "claim    `mail.file`: granted by the actor, actors/ann.yaml:6:5: claims",
            "note       the manifests have another revision by now",
        ],
    );
    assert_says(
        &explain(&[BURN]).await,
        &[
            "mail.burn: absent",
            "claims that it requires are missing: `mail.burn` (required_claim_missing)",
            "claim    `mail.burn`: missing: no actor or scenario of the task grants it",
        ],
    );
    let told = json_of(&home, &["explain", "--task", &stored], &[]).await;
    assert_eq!(told["task"], stored.as_str());
    let actions = told["actions"].as_array().unwrap();
    let ids: Vec<_> = actions
        .iter()
        .map(|it| it["action"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [BURN, FILE, REPLY], "the catalog of then");

    home.edit("manifests/actors/ann.yaml", "  - mail.file\n", "  []\n");
    assert_says(
        &explain(&[FILE]).await,
        &[
            "mail.file: exposed",
            "by now   absent: claims that it requires are missing: `mail.file` (required_claim_missing)",
            "issued with claim `mail.file`, holds no longer",
            "claim    `mail.file`: issued with it, holds no longer",
        ],
    );
    let told = json_of(&home, &["explain", "--task", &stored], &[FILE]).await;
    assert_eq!(
        told["left"],
        json!({"lost": ["claim `mail.file`"], "over": false})
    );
    assert_eq!(told["actions"][0]["now"]["exposed"], false);
    assert_says(
        &explain(&[]).await,
        &["; by now absent: claims that it requires are missing"],
    );

    assert_says(
        &said(&home, &["explain", "--task", &expired], &[FILE]).await,
        &["mail.file: exposed", "note       the task is over since"],
    );

    // Manifests that cannot be read hide their lines, and nothing of what was stored.
    home.edit("manifests/actors/ann.yaml", "id: ann", "id: [ann");
    let text = explain(&[FILE]).await;
    assert_says(
        &text,
        &[
            "mail.file: exposed",
            "manifests of now cannot be read",
            "ann.yaml",
        ],
    );
    assert!(
        !text.contains("holds no longer"),
        "nobody can know:\n{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_explained_is_said_with_what_may_have_been_meant() {
    let home = Home::sample();
    let told = async |more: &[&str], code: i32, wanted: &[&str]| {
        let ended = run(&home, &["explain"], more).await;
        assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{ended:?}");
        assert_says(&ended.err, wanted);
    };
    let event = ["--event", STRANGER];
    told(
        &[&event[..], &["openspine.state.read"]].concat(),
        1,
        &[
            "`openspine.state.read` is unknown",
            "did you mean `openspine.status.read`?",
        ],
    )
    .await;
    told(
        &[&event[..], &["quite\u{1b}different"]].concat(),
        1,
        &["`quite\\u{1b}different` is unknown", "actum catalog"],
    )
    .await;
    told(&[], 2, &["--event <FILE>", "--task <TASK>"]).await;
    told(
        &["--event", OWNER, "--task", "01J00000000000000000000000"],
        2,
        &["cannot be used"],
    )
    .await;
    told(&["--event", "none.json"], 1, &["none.json: cannot be read"]).await;
    home.write("broken.json", "{\"connector\": ");
    told(&["--event", "broken.json"], 1, &["broken.json: ", "line 1"]).await;
    let other = home.read(OWNER).replace("chat.message", "chat.left");
    home.write("other.json", &other);
    told(
        &["--event", "other.json"],
        1,
        &["leads to no task", "event_type_not_allowed"],
    )
    .await;
    told(
        &["--task", "01J00000000000000000000000"],
        1,
        &["no store here"],
    )
    .await;
    store(&home, task()).await;
    told(
        &["--task", "01J00000000000000000000000"],
        1,
        &["there is no task"],
    )
    .await;
    told(&["--task", "x"], 1, &["`x` is no task's id"]).await;
}

#[tokio::test]
async fn two_events_are_compared_and_an_event_equals_itself() {
    let home = Home::sample();
    let text = said(&home, &["diff", STRANGER, OWNER], &[]).await;
    assert_says(
        &text,
        &[
            "route stranger_chat, anonymous:public_chat:front-page",
            "`openspine.status.read`: is shown, and was not: widens\n",
            "`telegram.reply:owner_channel`: is shown, and was not, and requires owner approval: widens\n",
            "output channel `telegram.owner.reply`: is granted, and was not: widens\n",
            "task `lifetime in seconds`: 600 -> 3600: widens\n",
            "11 changes: 11 widens\n",
        ],
    );
    let ended = run(&home, &["diff", OWNER, STRANGER, "--check"], &[]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_says(
        &ended.out,
        &["`openspine.status.read`: is not shown any more: narrows\n"],
    );
    assert_says(&ended.err, &["are not equal: 11 changes: 11 narrows"]);

    let text = said(&home, &["diff", OWNER, OWNER, "--check"], &[]).await;
    assert_says(&text, &["equal: neither can do what the other cannot\n"]);
    let told = json_of(&home, &["diff", OWNER, OWNER], &["--check"]).await;
    assert_eq!(
        (&told["equal"], &told["differences"]),
        (&json!(true), &json!([]))
    );
    assert!(!home.data().exists(), "a comparison leaves nothing behind");
}

#[tokio::test]
async fn two_revisions_of_the_manifests_are_compared_for_one_event() {
    let home = Home::sample();
    let copy = |name: &str, from: &str, to: &str| {
        let text = home.read(&format!("manifests/{name}"));
        assert!(text.contains(from), "{name} has no {from:?}");
        home.write(&format!("next/{name}"), &text.replace(from, to));
    };
    for name in [
        "agents/front_desk.yaml",
        "agents/mail_reader.yaml",
        "packs/selected_mail_pack.yaml",
        "packs/stranger_pack.yaml",
        "policies/global.yaml",
        "routes/owner_chat.yaml",
        "routes/owner_selected_thread.yaml",
        "routes/stranger_chat.yaml",
        "workflows/help_the_owner.yaml",
        "workflows/read_selected_mail.yaml",
        "workflows/take_a_message.yaml",
    ] {
        copy(name, "", "");
    }
    let telegram = "  - \"telegram.reply:owner_channel\"\n";
    copy("agents/house_assistant.yaml", telegram, "");
    let bound = "bound_arguments:\n  - { action: \"terminal.reply:owner_device\", at: /text, one_of: [yes, no] }\n";
    copy(
        "packs/owner_pack.yaml",
        &format!("approval_required:\n{telegram}  - lyra.ui.preview\n  - plan.propose\n"),
        &format!("{telegram}approval_required:\n  - lyra.ui.preview\n  - plan.propose\n{bound}"),
    );
    let compare = async |revisions: [&str; 2]| -> Vec<(String, String, String)> {
        let [from, to] = revisions;
        let revisions = ["--from-manifests", from, "--to-manifests", to];
        let told = json_of(&home, &["diff", OWNER, OWNER], &revisions).await;
        let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
        let found = told["differences"].as_array().unwrap().iter();
        found
            .map(|it| (text(it, "about"), text(it, "subject"), text(it, "label")))
            .collect()
    };
    let line = |about: &str, subject: &str, label: &str| {
        (about.to_owned(), subject.to_owned(), label.to_owned())
    };
    assert_eq!(
        compare(["manifests", "next"]).await,
        [
            line("approval_dropped", "telegram.reply:owner_channel", "widens"),
            line("bound", REPLY, "narrows"),
        ]
    );
    assert_eq!(
        compare(["next", "manifests"]).await,
        [
            line("approval_asked", "telegram.reply:owner_channel", "narrows"),
            line("bound", REPLY, "widens"),
        ]
    );
    assert_eq!(compare(["next", "next"]).await, []);
    // Or by a configuration of each side's own.
    let config = home
        .read("actum.yaml")
        .replace("manifests: manifests", "manifests: next");
    home.write("next.yaml", &config);
    let own = said(
        &home,
        &["diff", OWNER, OWNER],
        &["--to-config", "next.yaml"],
    )
    .await;
    assert_says(&own, &["2 changes: 1 widens, 1 narrows\n"]);
}

#[tokio::test]
async fn a_task_is_compared_as_it_was_issued() {
    let home = Home::sample();
    let serving = home.serve().await;
    let token = serving.task(&home, "signed_in_chat", "owner").await;
    let issued = token.split('_').nth(2).unwrap();
    // Beside the running kernel.
    let text = said(&home, &["diff", issued, OWNER, "--check"], &[]).await;
    assert_says(&text, &["equal: "]);
    home.edit(
        "manifests/packs/owner_pack.yaml",
        "approval_required:",
        "denied_actions: [openspine.status.read]\napproval_required:",
    );
    let text = said(&home, &["diff", issued, OWNER], &[]).await;
    assert_says(
        &text,
        &["`openspine.status.read`: is not shown any more: narrows\n1 change: 1 narrows\n"],
    );
    assert_eq!(serving.terminate().await, 0);

    // A tool that is described otherwise by now.
    let stored = store(&home, task()).await;
    let text = said(&home, &["diff", &stored, OWNER], &[]).await;
    assert_says(
        &text,
        &[
            "`mail.file`: is not shown any more: narrows\n",
            "`terminal.reply:owner_device`: description: \"Say it on the terminal, as one did then.\" -> ",
            "`terminal.reply:owner_device`: parameters: argument `text` is new: widens\n",
            "claim `mail.file`: is not granted any more: narrows\n",
        ],
    );
    let told = async |more: &[&str], wanted: &[&str]| {
        let ended = run(&home, &["diff"], more).await;
        assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{ended:?}");
        assert_says(&ended.err, wanted);
    };
    told(
        &[&stored, OWNER, "--from-manifests", "manifests"],
        &["a task is what was issued"],
    )
    .await;
    told(
        &["nobody.json", "01J00000000000000000000000"],
        &[
            "`nobody.json` is neither an event's file nor a task's id",
            "there is no task",
        ],
    )
    .await;
}
