//! What an actor loses while its task goes on.

use serde_json::json;

use crate::office::Office;

const LOST: &str = "  - workspace:read\n";
const ADA: &str = "manifests/actors/ada.yaml";

#[tokio::test]
async fn a_claim_that_was_lost_is_named_to_the_worker_that_was_shown_the_tool() {
    let served = Office::sample().serve().await;
    let token = served.begin("ada", "chat.message").await;
    let before = served.names(&token).await;
    let ran = served.ask(&token, "get_workspace_runtime", json!({})).await;
    assert_eq!(ran.result()[0]["id"], "preview");

    let office = served.stop().await;
    office.edit(ADA, LOST, "");
    let served = office.serve().await;
    let mut left = before.clone();
    assert!(left.remove("get_workspace_runtime"));
    assert_eq!(served.names(&token).await, left);
    let answer = served.ask(&token, "get_workspace_runtime", json!({})).await;
    answer.refused(403, "policy_denied", "required_claim_missing");
    assert_eq!(
        answer.json()["authorization"],
        json!({"considered": ["workspace:read"], "granted": [], "missing": ["workspace:read"]})
    );
    // Another tool of the same task works on, and a task that begins now never knew the lost one.
    let other = served.ask(&token, "list_agents", json!({})).await;
    assert_eq!(other.result()[0]["id"], "ada");
    let new = served.begin("ada", "chat.message").await;
    assert_eq!(served.names(&new).await, left);
    let answer = served.ask(&new, "get_workspace_runtime", json!({})).await;
    answer.refused(404, "operation_absent", "unknown_operation");

    // The grant was not changed: with the claim it is what it was.
    let office = served.stop().await;
    office.edit(
        ADA,
        "  - workspace:control\n",
        "  - workspace:control\n  - workspace:read\n",
    );
    let served = office.serve().await;
    assert_eq!(served.names(&token).await, before);
}

#[tokio::test]
async fn a_claim_that_came_later_adds_nothing_to_a_task() {
    let served = Office::sample().serve().await;
    let token = served.begin("ada", "chat.message").await;
    let before = served.names(&token).await;

    let office = served.stop().await;
    office.edit(ADA, LOST, "  - workspace:read\n  - cases:read\n");
    let served = office.serve().await;
    assert_eq!(served.names(&token).await, before);
    let answer = served.ask(&token, "list_cases", json!({})).await;
    answer.refused(404, "operation_absent", "unknown_operation");
    let new = served.begin("ada", "chat.message").await;
    assert!(served.names(&new).await.contains("list_cases"));
}

#[tokio::test]
async fn a_role_that_was_lost_is_told_like_a_claim() {
    let served = Office::sample().serve().await;
    let token = served.begin("bert", "chat.message").await;
    let office = served.stop().await;
    office.edit("manifests/actors/bert.yaml", "[approver]", "[gardener]");
    let served = office.serve().await;
    let decision = json!({"approvalId": "any", "decision": "approved", "note": ""});
    let answer = served.ask(&token, "decide_approval", decision).await;
    answer.refused(403, "policy_denied", "actor_role_not_authorized");
    let claim = "governance:approvals:decide";
    assert_eq!(
        answer.json()["authorization"],
        json!({"considered": [claim], "granted": [claim], "missing": []})
    );
}

#[tokio::test]
async fn the_tasks_of_an_actor_who_is_gone_are_over() {
    let served = Office::sample().serve().await;
    let (ada, cleo, bert) = (
        served.begin("ada", "chat.message").await,
        served.begin("cleo", "chat.question").await,
        served.begin("bert", "chat.message").await,
    );
    let office = served.stop().await;
    std::fs::remove_file(office.path(ADA)).unwrap();
    office.edit(
        "manifests/actors/cleo.yaml",
        "lifecycle_state: active",
        "lifecycle_state: retired",
    );
    let served = office.serve().await;
    for token in [&ada, &cleo] {
        let nobodys = served.task("no token").await;
        nobodys.refused(401, "unauthenticated", "token_invalid");
        assert_eq!(served.task(token).await, nobodys);
        let call = served.ask(token, "get_task_context", json!({})).await;
        assert_eq!(call, nobodys);
    }
    let context = served.ask(&bert, "get_task_context", json!({})).await;
    assert_eq!(context.result()["task"]["id"], "budget");
    // Who is gone can still write, and gets a task without a tool.
    let again = served.begin("ada", "chat.message").await;
    assert!(served.names(&again).await.is_empty());
}

#[tokio::test]
async fn a_claim_that_is_lost_counts_at_the_next_call_without_a_restart() {
    let served = Office::sample().serve().await;
    let token = served.begin("ada", "chat.message").await;
    let bert = served.begin("bert", "chat.message").await;
    let before = served.names(&token).await;
    let ran = served.ask(&token, "get_workspace_runtime", json!({})).await;
    assert_eq!(ran.result()[0]["id"], "preview");

    served.edit(ADA, LOST, "").await;
    let answer = served.ask(&token, "get_workspace_runtime", json!({})).await;
    answer.refused(403, "policy_denied", "required_claim_missing");
    let mut left = before.clone();
    assert!(left.remove("get_workspace_runtime"));
    assert_eq!(served.names(&token).await, left);

    // The grant is as it was: with the claim it is what it was, and no more.
    let more = "  - workspace:control\n  - workspace:read\n  - cases:read\n";
    served.edit(ADA, "  - workspace:control\n", more).await;
    assert_eq!(served.names(&token).await, before);

    // Whose actor is gone is nobody, at once; whose is not goes on.
    let retired = "lifecycle_state: retired";
    served.edit(ADA, "lifecycle_state: active", retired).await;
    let nobodys = served.task("no token").await;
    assert_eq!(served.task(&token).await, nobodys);
    let context = served.ask(&bert, "get_task_context", json!({})).await;
    assert_eq!(context.result()["task"]["id"], "budget");
    served.edit(ADA, retired, "lifecycle_state: active").await;
    assert_eq!(served.names(&token).await, before);
}
