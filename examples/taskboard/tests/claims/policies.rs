//! What a scenario switches: values of secrets, and the ways to turn to a person.

use serde_json::{Value, json};

use crate::office::{Office, Served};

const STANDARD: &str = "manifests/scenarios/standard.yaml";

async fn read_secret(served: &Served, token: &str) -> crate::office::Answer {
    let which = json!({"name": "supplier"});
    served.ask(token, "read_secret_value", which).await
}

#[tokio::test]
async fn values_of_secrets_are_read_where_the_scenario_lets_them() {
    let served = Office::sample().serve().await;
    let on = served.begin("cleo", "chat.message").await;
    assert!(served.names(&on).await.contains("read_secret_value"));
    let secret = read_secret(&served, &on).await.result();
    assert_eq!(secret["value"], "a-sample-and-no-secret");
    served.keeps_no("a-sample-and-no-secret").await;
    // In a trial she holds the claim all the same; and without it nobody reads one anywhere.
    for (actor, event) in [("cleo", "chat.trial"), ("bert", "chat.message")] {
        let token = served.begin(actor, event).await;
        let names = served.names(&token).await;
        assert!(!names.contains("read_secret_value"), "{actor}");
        assert!(names.contains("list_secret_metadata") || event == "chat.trial");
        let answer = read_secret(&served, &token).await;
        answer.refused(404, "operation_absent", "unknown_operation");
    }

    let office = served.stop().await;
    office.edit(STANDARD, "secret_values: true", "secret_values: false");
    let served = office.serve().await;
    assert!(!served.names(&on).await.contains("read_secret_value"));
    let answer = read_secret(&served, &on).await;
    answer.refused(403, "policy_denied", "secret_value_access_disabled");
    let off = served.begin("cleo", "chat.message").await;
    let names = served.names(&off).await;
    assert!(!names.contains("read_secret_value") && names.contains("list_secret_metadata"));
    let answer = read_secret(&served, &off).await;
    answer.refused(404, "operation_absent", "unknown_operation");

    let reasons: Vec<Value> = served.stop().await.records("call_refused").await;
    let reasons: Vec<_> = reasons.iter().map(|record| &record["reason"]).collect();
    assert_eq!(
        reasons,
        [
            "secret_value_access_disabled",
            "required_claim_missing",
            "secret_value_access_disabled",
            "secret_value_access_disabled",
        ]
    );
}

fn question(kind: &str) -> Value {
    json!({
        "interactionKind": kind, "title": "Slates", "prompt": "Grey or red?",
        "continuationPolicy": "none",
    })
}

#[tokio::test]
async fn a_person_is_turned_to_in_the_ways_that_the_scenario_names() {
    let office = Office::sample();
    office.edit(
        "manifests/scenarios/skill_test.yaml",
        "interaction_kinds: [confirmation]\n",
        "",
    );
    let served = office.serve().await;
    let all = [
        "checkbox",
        "confirmation",
        "item_verdicts",
        "questions",
        "suggest_tasks",
    ];
    let of_plans = ["confirmation", "questions", "suggest_tasks"];
    for (event, allowed) in [("chat.message", &all[..]), ("chat.plan", &of_plans)] {
        let token = served.begin("ada", event).await;
        let tools = served.tools(&token).await;
        let properties = &tools["request_human_input"]["parameters"]["properties"];
        assert_eq!(properties["interactionKind"]["enum"], json!(allowed));
        for kind in all {
            let asked = question(kind);
            let answer = served.ask(&token, "request_human_input", asked).await;
            match allowed.contains(&kind) {
                true => assert!(answer.result()["id"].is_string(), "{kind}"),
                false => answer.refused(403, "policy_denied", "interaction_kind_denied_by_policy"),
            }
        }
        let unknown = served
            .ask(&token, "request_human_input", question("telepathy"))
            .await;
        assert_eq!(unknown.status, 403, "{unknown:?}");
    }
    // Where no way is named, there is none to turn to anybody.
    let token = served.begin("ada", "chat.trial").await;
    assert!(!served.names(&token).await.contains("request_human_input"));
    let answer = served
        .ask(&token, "request_human_input", question("confirmation"))
        .await;
    answer.refused(404, "operation_absent", "unknown_operation");
    let records = served.stop().await.records("call_refused").await;
    let last = records.last().unwrap();
    assert_eq!(last["reason"], "interaction_kind_denied_by_policy");
}

#[tokio::test]
async fn policy_denies_actions_and_claims_whoever_holds_them() {
    let office = Office::sample();
    office.edit(
        STANDARD,
        "secret_values: true",
        "denied_actions: [finish_task]\ndenied_claims: [\"cases:read\"]",
    );
    office.edit(
        "manifests/policies/global.yaml",
        "constraints:",
        "denied_claims: [\"portability:export\"]\nconstraints:",
    );
    let served = office.serve().await;
    let token = served.begin("bert", "chat.message").await;
    let names = served.names(&token).await;
    let denied = [
        ("finish_task", "operation_denied_by_policy"),
        ("list_cases", "required_claim_denied_by_policy"),
        ("export_company", "required_claim_denied_by_policy"),
    ];
    for (action, _) in denied {
        assert!(!names.contains(action), "{action}");
        let answer = served.ask(&token, action, json!({})).await;
        answer.refused(404, "operation_absent", "unknown_operation");
    }
    assert!(names.contains("upsert_case") && names.contains("block_task"));
    // In a trial only what holds everywhere is denied.
    let trial = served.begin("bert", "chat.trial").await;
    let names = served.names(&trial).await;
    assert!(names.contains("finish_task") && names.contains("list_cases"));
    assert!(!names.contains("export_company"));
    let records = served.stop().await.records("call_refused").await;
    for (record, (action, reason)) in records.iter().zip(denied) {
        assert_eq!(
            (&record["action"], &record["reason"]),
            (&json!(action), &json!(reason))
        );
    }
}
