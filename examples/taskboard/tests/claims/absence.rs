//! What a worker is not shown does not exist for it, and the ledger knows why.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::facts::{MODES, Mode, control_plane, id, missing, refusal, texts};
use crate::office::{Office, Served};
use crate::support::recorded_tools;

/// Asks for each of these, and asserts that each answer is, byte for byte, the one for an id that does
/// not exist.
async fn do_not_exist(served: &Served, token: &str, actions: &BTreeSet<String>) {
    for action in actions {
        let unknown = "x".repeat(action.len());
        let of_none = served.ask(token, &unknown, json!({})).await;
        of_none.refused(404, "operation_absent", "unknown_operation");
        for arguments in [json!({}), json!({"key": "roof", "name": "supplier"})] {
            let answer = served.ask(token, action, arguments).await;
            assert_eq!(answer.with_operation(action, &unknown), of_none, "{action}");
        }
    }
}

#[tokio::test]
async fn for_somebody_who_is_no_actor_none_of_all_ids_exists() {
    let office = Office::sample();
    office.introduce("dora", 1);
    let served = office.serve().await;
    let mut all: BTreeSet<_> = recorded_tools().iter().map(id).collect();
    all.extend(control_plane());
    assert_eq!(all.len(), 47);
    for mode in &MODES {
        let token = served.begin("dora", mode.event).await;
        assert_eq!(served.names(&token).await, BTreeSet::new());
        do_not_exist(&served, &token, &all).await;
    }
    let office = served.stop().await;
    assert_eq!(office.records("call_started").await, [Value::Null; 0]);
    let records = office.records("call_refused").await;
    for tool in recorded_tools() {
        let of_tool = records
            .iter()
            .filter(|record| record["action"] == tool["id"]);
        let lacks: Vec<_> = of_tool
            .map(|record| texts(&record["authorization"]["missing"]))
            .collect();
        assert_eq!(lacks, vec![texts(&tool["claims"]); 2 * MODES.len()]);
    }
}

#[tokio::test]
async fn what_an_actor_lacks_is_told_to_the_ledger_alone() {
    let office = Office::sample();
    let (roles, claims) = (["engineer"], ["discovery:tasks:read", "company:admin"]);
    office.actor("ada", &roles, &claims);
    let served = office.serve().await;
    let mut expected = Vec::new();
    for mode in &MODES {
        let token = served.begin("ada", mode.event).await;
        let tools = recorded_tools();
        let absent = |tool: &&Value| refusal(tool, mode, &roles, &claims).is_some();
        let mut ids: BTreeSet<_> = tools.iter().filter(absent).map(id).collect();
        assert!(ids.len() > 15, "{}", mode.name);
        ids.extend(control_plane());
        do_not_exist(&served, &token, &ids).await;
        expected.extend(ids.into_iter().map(|id| (mode, id)));
    }

    let office = served.stop().await;
    let records = office.records("call_refused").await;
    // One call of an id that does not exist, and two of each that does.
    assert_eq!(records.len(), expected.len() * 3);
    for (told, (mode, action)) in records.chunks(3).zip(&expected) {
        assert_eq!(told[0]["reason"], "unknown_action");
        for record in &told[1..] {
            assert_eq!(record["action"], **action);
            let told = &record["authorization"];
            let (reason, considered, lacks) = reasons(mode, action, &roles, &claims);
            assert_eq!(record["reason"], reason, "{record}");
            assert_eq!(told["reason"], reason, "{record}");
            assert_eq!(texts(&told["considered"]), considered, "{record}");
            assert_eq!(texts(&told["missing"]), lacks, "{record}");
            let granted: BTreeSet<_> = considered.difference(&lacks).cloned().collect();
            assert_eq!(texts(&told["granted"]), granted, "{record}");
        }
    }
}

/// Why an action is refused, and the claims that it requires and that are missing, by the facts.
fn reasons(
    mode: &Mode,
    action: &str,
    roles: &[&str],
    claims: &[&str],
) -> (&'static str, BTreeSet<String>, BTreeSet<String>) {
    match recorded_tools().iter().find(|tool| tool["id"] == action) {
        None => (
            "control_plane_owned_operation",
            BTreeSet::new(),
            BTreeSet::new(),
        ),
        Some(tool) => (
            refusal(tool, mode, roles, claims).unwrap(),
            texts(&tool["claims"]),
            missing(tool, mode, claims),
        ),
    }
}
