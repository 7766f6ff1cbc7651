//! What a pack holds arguments to, from the manifest to the call.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use actum_kernel::Kernel;
use serde_json::json;

use support::home::{Authority, Home};
use support::kernel::Here;

const REPLY: &str = "terminal.reply:owner_device";

/// A pack that allows the reply, with these lines added to it.
fn home(bounds: &str) -> Home {
    let authority = Authority {
        name: "asked",
        allowed: &[REPLY],
        channels: &["terminal.owner.reply"],
        ..Authority::default()
    };
    let home = Home::desk("chat", &[authority], "");
    let pack = "manifests/packs/asked.yaml";
    let text = std::fs::read_to_string(home.path().join(pack)).unwrap();
    home.write(pack, &format!("{text}bound_arguments:\n{bounds}"));
    home
}

#[tokio::test]
async fn a_worker_is_shown_what_it_may_say_and_held_to_it() {
    let bound = format!("  - {{ action: '{REPLY}', at: /text, one_of: [Yes, No] }}\n");
    let kernel = Here::start(home(&bound)).await;
    let task = kernel
        .begin(
            "desk",
            &json!({"event_type": "asked", "channel_account": "desk"}),
        )
        .await;

    let view = kernel.task(&task.token).await.json();
    let text = &view["catalog"]["tools"][0]["parameters"]["properties"]["text"];
    assert_eq!(text["enum"], json!(["Yes", "No"]), "{view}");
    let gemini = kernel
        .get("/v1/task?tools=gemini", Some(&task.token))
        .await
        .json();
    let text = &gemini["catalog"]["tools"][0]["parameters"]["properties"]["text"];
    assert_eq!(text["enum"], json!(["Yes", "No"]), "{gemini}");

    assert_eq!(
        kernel
            .ask(&task.token, REPLY, json!({"text": "Yes"}))
            .await
            .status,
        200
    );
    for refused in [
        json!({"text": "Maybe"}),
        json!({"text": ["Yes"]}),
        json!({"text": null}),
        json!({}),
    ] {
        let answer = kernel.ask(&task.token, REPLY, refused).await;
        answer.refused(403, "policy_denied", "caveat_widening");
    }
    assert_eq!(kernel.messages().await, ["Yes"]);
}

#[tokio::test]
async fn a_tool_that_no_call_could_keep_the_bounds_of_does_not_exist() {
    // Each of the two could be kept alone.
    let bound = |text: &str| format!("  - {{ action: '{REPLY}', at: /text, one_of: [{text}] }}\n");
    let bound = bound("Yes") + &bound("No");
    let kernel = Here::start(home(&bound)).await;
    let task = kernel
        .begin(
            "desk",
            &json!({"event_type": "asked", "channel_account": "desk"}),
        )
        .await;
    assert!(kernel.tools(&task.token).await.is_empty());
    let absent = kernel.ask(&task.token, REPLY, json!({"text": ""})).await;
    let unknown = kernel
        .ask(&task.token, "terminal.reply:nobody", json!({"text": ""}))
        .await;
    assert_eq!(
        absent.without_operation(REPLY).text(),
        unknown.without_operation("terminal.reply:nobody").text()
    );
}

#[tokio::test]
async fn a_bound_of_what_does_not_exist_stops_the_start() {
    let home = home("  - { action: terminal.reply, at: /text, one_of: [Yes] }\n");
    let Err(faults) = Kernel::builder(home.config()).build().await else {
        panic!("it starts, and the reply is not bound");
    };
    let told = faults.to_string();
    assert!(
        told.contains("`terminal.reply` is listed and does not exist"),
        "{told}"
    );
    assert!(told.contains("bound_arguments"), "{told}");
}

#[tokio::test]
async fn a_bound_that_no_call_could_keep_stops_the_start_with_its_place() {
    for at_and_values in [
        "at: /txt, one_of: [Yes]",
        "at: /text, one_of: ['']",
        "at: /text, one_of: [5]",
    ] {
        let home = home(&format!("  - {{ action: '{REPLY}', {at_and_values} }}\n"));
        let Err(faults) = Kernel::builder(home.config()).build().await else {
            panic!("{at_and_values}: it starts, and the tool is quietly gone");
        };
        let told = faults.to_string();
        let what = format!("no call of `{REPLY}` could keep its bound");
        assert!(told.contains(&what), "{told}");
        assert!(
            told.contains("asked.yaml:") && told.contains(": bound_arguments"),
            "{told}"
        );
    }
}
