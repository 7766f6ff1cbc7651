//! `actum lock`, and a kernel that starts only on the surface that was accepted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;

use std::collections::BTreeSet;

use actum::lock::{LockedAction, SurfaceLock};
use actum::{ActionId, Class};
use process::{Ended, Home};
use serde_json::json;

const FILE: &str = "actum.lock.json";
const REPLY: &str = "terminal.reply:owner_device";

/// A folder with the lock of the binary's own surface.
async fn locked() -> Home {
    let home = Home::empty();
    let ended = home.actum(&["lock"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    home
}

fn read(home: &Home) -> SurfaceLock {
    SurfaceLock::read(FILE, &home.read(FILE)).unwrap()
}

/// Makes the surface that was accepted another one than that of the binary.
fn accepted_was(home: &Home, change: impl FnOnce(&mut SurfaceLock)) {
    let mut lock = read(home);
    change(&mut lock);
    lock.actions = lock
        .actions
        .into_iter()
        .map(|it| it.sealed().unwrap())
        .collect();
    home.write(FILE, &lock.to_text().unwrap());
}

fn action<'a>(lock: &'a mut SurfaceLock, id: &str) -> &'a mut LockedAction {
    let found = lock
        .actions
        .iter_mut()
        .find(|action| action.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

#[track_caller]
fn assert_told(ended: &Ended, code: i32, out: &[&str], err: &[&str]) {
    assert_eq!(ended.code, code, "{ended:?}");
    for (wanted, text) in out
        .iter()
        .map(|it| (it, &ended.out))
        .chain(err.iter().map(|it| (it, &ended.err)))
    {
        assert!(text.contains(wanted), "{wanted:?} is not told:\n{text}");
    }
}

#[tokio::test]
async fn the_first_lock_is_written_and_the_next_finds_no_change() {
    let home = Home::empty();
    let none = home.actum(&["lock", "--check"]).await;
    assert_told(
        &none,
        1,
        &[],
        &[FILE, "there is no such file", "`actum lock`"],
    );
    let accepting = home
        .actum(&["lock", "--accept", "--by", "Robin", "--reason", "New."])
        .await;
    assert_told(&accepting, 1, &[], &["there is no such file"]);
    assert!(!home.path(FILE).exists());

    let first = home.actum(&["lock"]).await;
    let count = format!("{} actions", read(&home).actions.len());
    assert_told(&first, 0, &["written", &count], &[]);
    let text = home.read(FILE);
    for ask in [&["lock"][..], &["lock", "--check"]] {
        let again = home.actum(ask).await;
        assert_told(&again, 0, &["no change", &count], &[]);
    }
    assert_eq!(home.read(FILE), text);
    let files = std::fs::read_dir(home.path(".")).unwrap().count();
    assert_eq!(files, 1, "nothing is left beside the lock");
}

#[tokio::test]
async fn the_lock_has_every_action_that_is_linked_and_nothing_else() {
    let home = locked().await;
    let lock = read(&home);
    let catalog = home.actum(&["catalog", "--json"]).await.out;
    let catalog: Vec<serde_json::Value> = serde_json::from_str(&catalog).unwrap();
    let ids = |dispatchable: bool| -> BTreeSet<String> {
        let of = catalog
            .iter()
            .filter(|it| it["dispatchable"] == dispatchable);
        of.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let locked: BTreeSet<String> = lock.actions.iter().map(|it| it.id.to_string()).collect();
    assert_eq!(locked, ids(true));
    let known: BTreeSet<String> = lock.known.iter().map(ToString::to_string).collect();
    assert_eq!(known, ids(false));
    for it in &catalog {
        if let Some(action) = lock.action(it["id"].as_str().unwrap()) {
            assert_eq!(action.parameters, it["descriptor"]["parameters_schema"]);
            assert_eq!(
                action.description,
                it["descriptor"]["description"].as_str().unwrap()
            );
        }
    }
}

#[tokio::test]
async fn a_renamed_field_fails_the_check_as_one_that_went_and_one_that_came() {
    let home = locked().await;
    accepted_was(&home, |lock| {
        let parameters = &mut action(lock, REPLY).parameters;
        let text = parameters["properties"]["text"].take();
        parameters["properties"] = json!({"body": text});
        parameters["required"] = json!(["body"]);
    });
    let before = home.read(FILE);
    let ended = home.actum(&["lock", "--check"]).await;
    assert_told(&ended, 1, &[], &["--accept --by NAME --reason TEXT"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(
        lines,
        [
            "`terminal.reply:owner_device`: parameters: argument `body` is gone: narrows",
            "`terminal.reply:owner_device`: parameters: argument `text` is new: widens",
            "`terminal.reply:owner_device`: parameters: argument `text` is required now: narrows",
            "`terminal.reply:owner_device`: parameters: argument `body` was required, and a call without it passes now: widens",
            "4 changes: 2 widens, 2 narrows",
        ]
    );
    assert_eq!(home.read(FILE), before, "a check writes nothing");
}

#[tokio::test]
async fn each_kind_of_drift_fails_with_its_label_and_the_last_line_counts() {
    let home = locked().await;
    accepted_was(&home, |lock| {
        let reply = action(lock, REPLY);
        reply.approval_required = true;
        reply.description = "Show a text.".to_owned();
        reply.parameters["properties"]["text"]["maxLength"] = json!(9000);
    });
    for ask in [&["lock"][..], &["lock", "--check"]] {
        let ended = home.actum(ask).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        let lines: Vec<&str> = ended.out.lines().collect();
        assert_eq!(
            lines,
            [
                "`terminal.reply:owner_device`: description: \"Show a text.\" -> \"Show a message on the owner's own terminal.\"; a model obeys this text, so read it: keeps",
                "`terminal.reply:owner_device`: approval_required: calls need not wait for the owner any more: widens",
                "`terminal.reply:owner_device`: parameters: `/properties/text`: maxLength 9000 -> 4000: narrows",
                "3 changes: 1 widens, 1 narrows, 1 keeps",
            ]
        );
    }

    let home = locked().await;
    accepted_was(&home, |lock| {
        let mut other = action(lock, REPLY).clone();
        lock.actions.retain(|it| it.id.as_str() != REPLY);
        other.id = ActionId::parse("terminal.show").unwrap();
        lock.actions.push(other);
    });
    let ended = home.actum(&["lock", "--check"]).await;
    let told = [
        "`terminal.reply:owner_device`: is new: widens",
        "`terminal.show`: is gone: renamed, taken away, or of a crate that is no longer linked: narrows",
        "2 changes: 1 widens, 1 narrows",
    ];
    assert_told(&ended, 1, &told, &[]);
}

#[tokio::test]
async fn what_an_action_requires_is_under_the_lock() {
    let home = locked().await;
    let text = home.read(FILE);
    assert!(
        !text.contains("\"requirements\""),
        "nothing is required yet"
    );
    accepted_was(&home, |lock| {
        let reply = action(lock, REPLY);
        reply.requirements.class = Some(Class::Optional);
        reply.requirements.claims.insert("owner:write".to_owned());
        reply.requirements.roles.insert("lead".to_owned());
        reply.requirements.reads_secrets = true;
        reply.redactions.insert("$.text".to_owned());
    });
    let ended = home.actum(&["lock", "--check"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(
        lines,
        [
            "`terminal.reply:owner_device`: requirements: class optional -> none: widens",
            "`terminal.reply:owner_device`: requirements: an actor need not hold the claim `owner:write` any more: widens",
            "`terminal.reply:owner_device`: requirements: it is for every role now: widens",
            "`terminal.reply:owner_device`: requirements: policy does not decide on whether values of secrets may be read any more: widens",
            "`terminal.reply:owner_device`: redactions: `$.text` is not redacted any more: widens",
            "5 changes: 5 widens",
        ]
    );
    let accepting = ["lock", "--accept", "--by", "Robin", "--reason", "By lists."];
    assert_eq!(home.actum(&accepting).await.code, 0);
    assert_eq!(read(&home).accepted[0].changes.len(), 5);
    // All else is as it was before there was anything to require.
    let accepted_now = home.read(FILE);
    let actions = |text: &str| text.split("\"accepted\"").next().map(str::to_owned);
    assert_eq!(actions(&accepted_now), actions(&text));
}

#[tokio::test]
async fn who_accepts_a_change_and_why_is_kept_with_what_changed() {
    let home = locked().await;
    let as_linked = home.read(FILE);
    let accept = [
        "lock",
        "--accept",
        "--by",
        "Robin",
        "--reason",
        "The owner asked for it.",
    ];
    let nothing = home.actum(&accept).await;
    assert_told(&nothing, 0, &["nothing to accept"], &[]);
    assert_eq!(home.read(FILE), as_linked, "and nothing is written");

    accepted_was(&home, |lock| action(lock, REPLY).approval_required = true);
    let drifted = home.read(FILE);
    for (ask, wanted) in [
        (&["lock", "--accept"][..], "--by"),
        (&["lock", "--accept", "--by", "Robin"], "--reason"),
        (
            &["lock", "--accept", "--by", " ", "--reason", "Yes."],
            "blank",
        ),
        (
            &["lock", "--accept", "--by", "Robin", "--reason", ""],
            "blank",
        ),
        (&["lock", "--by", "Robin", "--reason", "Yes."], "--accept"),
        (
            &["lock", "--check", "--accept", "--by", "R", "--reason", "Y"],
            "cannot be used with",
        ),
    ] {
        let ended = home.actum(ask).await;
        assert_told(&ended, 2, &[], &[wanted]);
        assert_eq!(home.read(FILE), drifted, "{ask:?}");
    }

    let accepted = home.actum(&accept).await;
    assert_told(
        &accepted,
        0,
        &[
            "1 change: 1 widens",
            "accepted by Robin: The owner asked for it.",
        ],
        &[],
    );
    assert_eq!(home.actum(&["lock", "--check"]).await.code, 0);
    let lock = read(&home);
    let [acceptance] = &lock.accepted[..] else {
        panic!("{:?}", lock.accepted);
    };
    assert_eq!(
        (acceptance.by.as_str(), acceptance.reason.as_str()),
        ("Robin", "The owner asked for it.")
    );
    assert_eq!(
        acceptance.changes,
        [
            "`terminal.reply:owner_device`: approval_required: calls need not wait for the owner any more: widens"
        ]
    );

    // The next acceptance is added to it.
    accepted_was(&home, |lock| action(lock, REPLY).non_delegable = true);
    assert_eq!(home.actum(&accept).await.code, 0);
    assert_eq!(read(&home).accepted.len(), 2);
}

#[tokio::test]
async fn a_lock_of_another_name_and_one_that_is_not_in_order() {
    let home = Home::empty();
    let ended = home.actum(&["lock", "--file", "review/surface.json"]).await;
    assert_told(
        &ended,
        1,
        &[],
        &["review/surface.json", "cannot be written"],
    );
    home.write("review/note", "");
    assert_eq!(
        home.actum(&["lock", "--file", "review/surface.json"])
            .await
            .code,
        0
    );
    let check = ["lock", "--check", "--file", "review/surface.json"];
    assert_eq!(home.actum(&check).await.code, 0);
    assert!(!home.path(FILE).exists());

    home.edit("review/surface.json", "\"version\": 1", "\"version\": 2");
    home.edit(
        "review/surface.json",
        "Show a message on the owner's own",
        "Show nothing on the owner's own",
    );
    for ask in [
        &check[..],
        &[
            "lock",
            "--accept",
            "--by",
            "R",
            "--reason",
            "Y",
            "--file",
            "review/surface.json",
        ],
    ] {
        let ended = home.actum(ask).await;
        assert_told(
            &ended,
            1,
            &[],
            &[
                "review/surface.json:2:",
                "this is format 2",
                "`terminal.reply:owner_device` was changed by hand",
            ],
        );
        assert_eq!(ended.out, "");
    }
}

#[tokio::test]
async fn a_kernel_with_a_lock_starts_on_the_accepted_surface_and_on_no_other() {
    let home = Home::sample();
    let config = home.read("actum.yaml");
    home.write("actum.yaml", &format!("{config}\nlock: {FILE}\n"));
    let serve = ["serve", "--config", "actum.yaml"];
    let check = ["check", "--config", "actum.yaml"];
    for ask in [&serve, &check] {
        let ended = home.actum(ask).await;
        assert_told(
            &ended,
            1,
            &[],
            &[FILE, "there is no such file", "actum lock"],
        );
    }

    assert_eq!(home.actum(&["lock"]).await.code, 0);
    assert_told(&home.actum(&check).await, 0, &["complete: "], &[]);
    assert_eq!(home.serve().await.terminate().await, 0);

    // An action whose crate was dropped, and one that asks for less than it did.
    accepted_was(&home, |lock| {
        let mut dropped = action(lock, REPLY).clone();
        dropped.id = ActionId::parse("calendar.read").unwrap();
        lock.actions.push(dropped);
        action(lock, REPLY).approval_required = true;
    });
    for ask in [&serve, &check] {
        let ended = home.actum(ask).await;
        let told = [
            "`calendar.read`: is gone: renamed, taken away, or of a crate that is no longer linked: narrows",
            "`terminal.reply:owner_device`: approval_required: calls need not wait for the owner any more: widens",
            "2 changes: 1 widens, 1 narrows",
            "actum lock --accept",
        ];
        assert_told(&ended, 1, &[], &told);
        assert_eq!(ended.out, "", "nothing was started");
    }
}
