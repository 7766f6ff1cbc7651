//! Skills: what fits the task's words, of what the task's agent may see, as untrusted content.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test says where it fails

mod support;

use actum_kernel::Kernel;
use serde_json::{Value, json};

use support::client::Client;
use support::home::Home;
use support::kernel::Here;

async fn asked(kernel: &Client, token: &str, arguments: Value) -> Value {
    let answer = kernel.ask(token, "skill.context", arguments).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["result"].clone()
}

fn names(result: &Value) -> Vec<&str> {
    let skills = result["skills"].as_array().unwrap();
    skills
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

async fn token(kernel: &Client, connector: &str) -> String {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page", "actor_hint": {"handle": "robin"},
    });
    kernel.begin(connector, &event).await.token
}

#[tokio::test]
async fn a_worker_gets_what_fits_of_what_its_agent_may_see_and_is_told_that_it_is_untrusted() {
    let kernel = Here::start(Home::sample()).await;
    let owner = token(&kernel, "signed_in_chat").await;
    let task =
        json!({"task": "Draft an answer to the plumber about an appointment", "max_skills": 5});
    let result = asked(&kernel, &owner, task.clone()).await;
    assert_eq!(result["untrusted"], true);
    // Two words of each are in the head; `answer` and `draft` of the one, `plumber` and `appointment` of the other.
    assert_eq!(names(&result), ["house_rules", "letters"]);
    assert!(
        result["skills"][0]["body"]
            .as_str()
            .unwrap()
            .contains("main water valve")
    );

    // The stranger's worker asks with the same words, and with those of the skill itself.
    let stranger = token(&kernel, "public_chat").await;
    let words = "plumber appointment house_rules water valve cellar letters";
    for task in [task, json!({"task": words})] {
        let result = asked(&kernel, &stranger, task).await;
        assert!(!result.to_string().contains("valve"), "{result}");
        assert!(
            names(&result).iter().all(|name| *name == "visitors"),
            "{result}"
        );
        assert_eq!(result["left_out"], 0);
    }
}

#[tokio::test]
async fn no_more_are_told_than_were_asked_for() {
    let kernel = Here::start(Home::sample()).await;
    let owner = token(&kernel, "signed_in_chat").await;
    let task = json!({"task": "plumber appointment letters", "max_skills": 1});
    let result = asked(&kernel, &owner, task).await;
    assert_eq!(
        (names(&result), &result["left_out"]),
        (vec!["house_rules"], &json!(1))
    );
    let result = asked(&kernel, &owner, json!({"task": "astronomy"})).await;
    assert_eq!((names(&result), &result["left_out"]), (vec![], &json!(0)));
}

/// What a stranger's worker is told does not depend on skills that it may not see.
#[tokio::test]
async fn a_skill_out_of_scope_changes_no_byte() {
    let mut told = Vec::new();
    for with_more in [false, true] {
        let home = Home::sample();
        if with_more {
            let more = "---\nname: aaa\ndescription: Visitor message answer.\nscopes: [house]\n---\nvisitor";
            home.write("skills/aaa.md", more);
        }
        let kernel = Here::start(home).await;
        let stranger = token(&kernel, "public_chat").await;
        told.push(
            asked(
                &kernel,
                &stranger,
                json!({"task": "answer a visitor's message"}),
            )
            .await,
        );
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(names(&told[0]), ["visitors"]);
}

#[tokio::test]
async fn broken_skills_stop_the_start_all_at_once() {
    let home = Home::sample();
    home.write("skills/one.md", "no front matter");
    home.write(
        "skills/two.md",
        "---\nname: letters\ndescription: X.\nscopes: []\n---\nx",
    );
    let told = Kernel::builder(home.config())
        .build()
        .await
        .unwrap_err()
        .to_string();
    for piece in [
        "one.md: has no front matter",
        "two.md:2:7",
        "a second skill `letters`",
        "`scopes`: is empty",
    ] {
        assert!(told.contains(piece), "{piece}\n{told}");
    }
}
