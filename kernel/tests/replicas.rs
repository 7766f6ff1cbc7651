//! Three kernels on one PostgreSQL, each request sent to one of them by chance.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod fleet;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use actum_kernel::ledger::audit::audit;
use actum_kernel::ledger::checkpoint::Checkpoint;
use actum_kernel::ledger::notary::read_public_key;
use actum_kernel::ledger::proof::grown;
use actum_kernel::ledger::source::Source;
use actum_kernel::ledger::{Entry, Head, Kind, Record, verify_next};
use actum_kernel::store::{Archive, PostgresStore, Store};
use jiff::Timestamp;
use serde_json::json;
use sqlx::Row;

use fleet::{Callers, KERNELS, MARK, MARK_AGAIN, MARK_APPROVED, Replicas};
use support::client::Task;
use support::database::Database;
use support::home::{Authority, Home};
use support::server::Server;

const COMMISSION: &str = "worker.commission";
const READ: &str = "email.read_thread:selected_no_attachments";

fn desk() -> Home {
    let ask = Authority {
        name: "ask",
        allowed: &[MARK, MARK_APPROVED],
        ..Authority::default()
    };
    Home::desk("webchat", &[ask], "")
}

/// The records of the one chain that all kernels wrote.
async fn ledger(database: &Database) -> Vec<Record> {
    let store = PostgresStore::open(&database.url_file()).await.unwrap();
    let records = store.records_after(0, 100_000).await.unwrap();
    let end = records
        .iter()
        .try_fold(Head::empty(), |head, record| verify_next(&head, record));
    assert_eq!(end.unwrap(), store.head().await.unwrap());
    store.close().await;
    records
}

fn count(records: &[Record], kind: &str) -> usize {
    records.iter().filter(|record| record.kind == kind).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selection_token_is_spent_once_by_many_calls_at_all_kernels() {
    const CALLS: usize = 24;
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(Home::sample(), &database).await);
    let task = kernels.any().select("Dripping pipe").await;
    let call = json!({"action": READ, "arguments": {"max_messages": 1}, "selection_token": task.selections[0]});
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let (kernels, task, call) = (Arc::clone(&kernels), task.clone(), call.clone());
            tokio::spawn(async move { kernels.post("/v1/actions", &task.token, &call).await })
        })
        .collect();
    let mut read = 0;
    for answer in calls {
        let answer = answer.await.unwrap();
        match answer.status {
            200 => read += 1,
            _ => answer.refused(403, "policy_denied", "selection_token_invalid"),
        }
    }
    assert_eq!(read, 1);
    let records = ledger(&database).await;
    assert_eq!(count(&records, "call_started"), 1);
    assert_eq!(count(&records, "call_refused"), CALLS - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_runs_one_call_whichever_kernel_is_asked() {
    const CALLS: usize = 24;
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(desk(), &database).await);
    let task = kernels.marker().await;
    let call = json!({"action": MARK, "arguments": {"number": 7}, "idempotency_key": "k"});
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let (kernels, task, call) = (Arc::clone(&kernels), task.clone(), call.clone());
            tokio::spawn(async move { kernels.post("/v1/actions", &task.token, &call).await })
        })
        .collect();
    let (mut first, mut again) = (0, 0);
    for answer in calls {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"], 7);
        match answer.json()["replayed"] == json!(true) {
            true => again += 1,
            false => first += 1,
        }
    }
    assert_eq!((first, again), (1, CALLS - 1));
    let other = json!({"action": MARK, "arguments": {"number": 8}, "idempotency_key": "k"});
    for kernel in kernels.each() {
        let refused = kernel.call(&task.token, &other).await;
        refused.refused(409, "input_invalid", "idempotency_key_conflict");
    }
    let kernels = Arc::into_inner(kernels).unwrap();
    assert_eq!(*kernels.stopped().await.0.lock().unwrap(), [7]);
    let records = ledger(&database).await;
    assert_eq!(count(&records, "call_started"), 1);
    assert_eq!(count(&records, "call_replayed"), CALLS - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_decisions_at_all_kernels_one_counts_and_what_is_approved_runs_once() {
    const ROUNDS: u64 = 6;
    const CLICKS: usize = 12;
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(desk(), &database).await);
    let task = kernels.marker().await;
    let mut approved = Vec::new();
    for number in 0..ROUNDS {
        let arguments = json!({"number": number});
        let call = json!({"action": MARK_APPROVED, "arguments": arguments});
        let held = kernels.post("/v1/actions", &task.token, &call).await;
        assert_eq!(held.status, 202, "{held:?}");
        let path = format!("/v1/owner/calls/{}", held.at("/request_id"));
        let call = kernels.any().owner_get(&path).await.json();
        let body = json!({"binding": call["call"]["binding"]});
        let clicks: Vec<_> = (0..CLICKS)
            .map(|click| {
                let (kernels, body) = (Arc::clone(&kernels), body.clone());
                let owner = kernels.any().key("owner");
                let verb = ["approve", "reject"][click % 2];
                let path = format!("{path}/{verb}");
                tokio::spawn(async move { (verb, kernels.post(&path, &owner, &body).await) })
            })
            .collect();
        let mut counted = Vec::new();
        for click in clicks {
            let (verb, answer) = click.await.unwrap();
            match answer.status {
                200 => counted.push(verb),
                _ => answer.refused(409, "input_invalid", "not_pending"),
            }
        }
        let [verb] = counted[..] else {
            panic!("{counted:?} counted of one call");
        };
        let state = kernels.any().owner_get(&path).await.json()["call"]["state"].clone();
        match verb {
            "approve" => {
                assert_eq!(state, "succeeded");
                approved.push(number);
            }
            _ => assert_eq!(state, "rejected"),
        }
    }
    let kernels = Arc::into_inner(kernels).unwrap();
    assert_eq!(*kernels.stopped().await.0.lock().unwrap(), approved);
    let records = ledger(&database).await;
    assert_eq!(count(&records, "call_started"), approved.len());
    let decided = count(&records, "call_approved") + count(&records, "call_rejected");
    assert_eq!(decided as u64, ROUNDS);
    assert_eq!(count(&records, "call_refused"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_taken_back_at_one_kernel_stops_working_at_the_next_call_of_each() {
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Replicas::start(desk(), &database).await;
    for round in 0..5 {
        let (task, other) = (kernels.marker().await, kernels.marker().await);
        // Each has it in memory.
        for kernel in kernels.each() {
            assert_eq!(kernel.tools(&task.token).await.len(), 2);
        }
        assert_eq!(kernels.mark(&task, round).await.status, 200);
        kernels.revoke(&task).await;
        for kernel in kernels.each() {
            let call = kernel.ask(&task.token, MARK, json!({"number": 99})).await;
            for answer in [call, kernel.task(&task.token).await] {
                answer.refused(401, "unauthenticated", "token_invalid");
            }
        }
        assert_eq!(kernels.mark(&other, 10 + round).await.status, 200);
    }
    let made = kernels.stopped().await;
    assert!(!made.0.lock().unwrap().contains(&99));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_open_at_each_kernel_ends_when_its_task_is_taken_back_at_one() {
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Replicas::start(desk(), &database).await;
    let task = kernels.marker().await;
    let listen = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": {
            "notifications": {"toolsListChanged": true},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let mut streams = Vec::new();
    for kernel in kernels.each() {
        let stream = kernel
            .http
            .post(format!("{}/mcp", kernel.url))
            .bearer_auth(&task.token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(listen.to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    kernels.revoke(&task).await;
    for mut stream in streams {
        let ends = async { while let Ok(Some(_)) = stream.chunk().await {} };
        let ended = tokio::time::timeout(Duration::from_secs(20), ends).await;
        ended.expect("it ends");
    }
    kernels.stopped().await;
}

/// A desk whose tasks may make so many marks, together with those that they commission.
fn lineage_desk(calls: u32) -> Home {
    let ask = Authority {
        name: "ask",
        allowed: &[MARK, COMMISSION],
        calls,
        ..Authority::default()
    };
    Home::desk("webchat", &[ask], "")
}

/// The token of a task that another one commissions, at one of the kernels by chance.
async fn commission(kernels: &Replicas, task: &Task) -> String {
    let part = json!({"purpose": "Mark.", "actions": [MARK], "lifetime_seconds": 500});
    let answer = kernels.any().ask(&task.token, COMMISSION, part).await;
    answer.at("/result/token")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lineage_taken_back_at_one_kernel_stops_working_at_the_next_call_of_each() {
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Replicas::start(lineage_desk(1_000), &database).await;
    for _ in 0..3 {
        let task = kernels.marker().await;
        let tokens = [
            commission(&kernels, &task).await,
            commission(&kernels, &task).await,
        ];
        // Each kernel has each task in memory.
        for kernel in kernels.each() {
            for token in &tokens {
                assert_eq!(kernel.tools(token).await.len(), 1);
            }
        }
        kernels.revoke(&task).await;
        for kernel in kernels.each() {
            for token in &tokens {
                let call = kernel.ask(token, MARK, json!({"number": 99})).await;
                for answer in [call, kernel.task(token).await] {
                    answer.refused(401, "unauthenticated", "token_invalid");
                }
            }
        }
    }
    let made = kernels.stopped().await;
    assert!(made.0.lock().unwrap().is_empty());
    assert_eq!(count(&ledger(&database).await, "grant_revoked"), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lineage_stays_within_its_limit_at_all_kernels_together() {
    const LIMIT: u32 = 11;
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(lineage_desk(LIMIT), &database).await);
    let task = kernels.marker().await;
    let child = commission(&kernels, &task).await;
    let calls: Vec<_> = (0..30)
        .map(|number| {
            let token = [&task.token, &child][number % 2].clone();
            let kernels = Arc::clone(&kernels);
            let mark = json!({"number": number});
            tokio::spawn(async move {
                loop {
                    // A kernel that had no time did nothing, and says so.
                    let answer = kernels.any().ask(&token, MARK, mark.clone()).await;
                    if answer.status != 503 {
                        break answer;
                    }
                }
            })
        })
        .collect();
    let mut begun = 0;
    for call in calls {
        let answer = call.await.unwrap();
        match answer.status {
            200 => begun += 1,
            _ => answer.refused(403, "policy_denied", "limit_reached"),
        }
    }
    assert_eq!(begun, LIMIT - 1, "commissioning was one");
    let kernels = Arc::into_inner(kernels).unwrap();
    let made = kernels.stopped().await;
    assert_eq!(made.0.lock().unwrap().len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_of_all_kernels_is_one_chain_with_each_change_in_it_once() {
    const CALLS: u64 = 60;
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(desk(), &database).await);
    let task = kernels.marker().await;
    let calls: Vec<_> = (0..CALLS)
        .map(|number| {
            let (kernels, task) = (Arc::clone(&kernels), task.clone());
            tokio::spawn(async move {
                let call = json!({"action": MARK, "arguments": {"number": number}});
                kernels.post("/v1/actions", &task.token, &call).await
            })
        })
        .collect();
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let kernels = Arc::into_inner(kernels).unwrap();
    let made = kernels.stopped().await;
    assert_eq!(made.0.lock().unwrap().len() as u64, CALLS);
    let records = ledger(&database).await;
    let all = usize::try_from(CALLS).unwrap();
    for (kind, times) in [
        ("kernel_started", KERNELS),
        ("grant_issued", 1),
        ("call_started", all),
        ("call_succeeded", all),
        ("kernel_stopped", KERNELS),
    ] {
        assert_eq!(count(&records, kind), times, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tree_of_all_kernels_is_one_and_each_checkpoint_goes_on_from_the_one_before() {
    const EVERY: usize = 5;
    const CALLS: u64 = 8;
    let Some(database) = Database::new().await else {
        return;
    };
    let home = desk();
    home.configure(&format!("ledger: {{ checkpoint_records: {EVERY} }}"));
    let public_key = home.data().join("keys/ledger.pub");
    let kernels = Arc::new(Replicas::start(home, &database).await);
    let key = read_public_key(&public_key).unwrap();
    let task = kernels.marker().await;
    let mut kept: Vec<Checkpoint> = Vec::new();
    for round in 0..3 {
        let calls: Vec<_> = (0..CALLS)
            .map(|number| {
                let (kernels, task) = (Arc::clone(&kernels), task.clone());
                tokio::spawn(async move { kernels.mark(&task, round * CALLS + number).await })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap().status, 200);
        }
        let ask = "/v1/owner/ledger/checkpoint";
        let signed = kernels.any().owner_post(ask, &json!({})).await;
        assert_eq!(signed.status, 200, "{signed:?}");
        // What a witness does.
        let mut archive = archive(&database).await;
        let newest = grown(&mut archive, &key, kept.last()).await.unwrap();
        assert!(kept.last().is_none_or(|last| last.size() < newest.size()));
        kept.push(newest);
    }
    Arc::into_inner(kernels).unwrap().stopped().await;

    let mut archive = archive(&database).await;
    let notes = archive.notes().await.unwrap();
    let kept: Vec<_> = kept
        .iter()
        .map(|checkpoint| ("kept".to_owned(), checkpoint.text().to_owned()))
        .collect();
    let found = audit(&mut archive, &key, &kept).await.unwrap();
    assert_eq!(found.faults, []);
    assert_eq!(i64::try_from(found.vouched), Ok(found.head.seq));
    // Two records a call, each kernel's start and stop, one grant.
    let records = usize::try_from(3 * CALLS * 2).unwrap() + 2 * KERNELS + 1;
    assert_eq!(usize::try_from(found.head.seq), Ok(records));
    assert!(notes.len() >= records / EVERY, "{} are signed", notes.len());
}

/// The store as it is at this moment.
async fn archive(database: &Database) -> Archive {
    let nowhere = std::path::Path::new("");
    Archive::open(nowhere, Some(&database.url_file()))
        .await
        .unwrap()
}

/// What a kernel leaves that is killed: calls that were approved and not begun, and calls that it was running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_kernel_left_that_is_gone_is_looked_after_by_those_that_live_once() {
    const EACH: u64 = 20;
    let Some(database) = Database::new().await else {
        return;
    };
    let ask = Authority {
        name: "ask",
        allowed: &[MARK, MARK_AGAIN],
        approval: &[MARK, MARK_AGAIN],
        ..Authority::default()
    };
    let home = Home::desk("webchat", &[ask], "");
    let kernels = Replicas::start(home, &database).await;
    let task = kernels.marker().await;
    let mut calls = Vec::new();
    for number in 0..3 * EACH {
        let action = [MARK, MARK, MARK_AGAIN][usize::try_from(number % 3).unwrap()];
        let held = kernels
            .any()
            .ask(&task.token, action, json!({"number": number}))
            .await;
        assert_eq!(held.status, 202, "{held:?}");
        calls.push(held.at("/request_id"));
    }
    let approved = "INSERT INTO decisions (call_id, approver, decision, binding, at)
         SELECT id, 'owner', 'approved', binding, '2026-09-22T08:00:00Z' FROM calls";
    database.sql(approved).await.unwrap();
    // Of three, one was approved and not begun, one was run that may not be run again, and one that may.
    let left = format!(
        "UPDATE calls SET kernel = 'GONE', state = CASE
             WHEN (arguments::json ->> 'number')::bigint % 3 = 0 THEN 'approved' ELSE 'running' END
         WHERE action IN ('{MARK}', '{MARK_AGAIN}')"
    );
    assert_eq!(database.sql(&left).await.unwrap(), 3 * EACH);

    let mut asked = 0;
    let open = "SELECT FROM calls WHERE state IN ('approved', 'running')";
    while database.sql(open).await.unwrap() > 0 {
        asked += 1;
        assert!(asked < 300, "nobody looks after them");
        // The server waits, as it were, so that this test does not keep it busy.
        database.sql("SELECT pg_sleep(0.1)").await.unwrap();
    }
    for (number, call) in calls.iter().enumerate() {
        let state = kernels.any().state(&task.token, call).await;
        let wanted = ["succeeded", "outcome_unknown", "succeeded"][number % 3];
        assert_eq!(state.at("/state"), wanted, "{number}: {state:?}");
    }
    let mut made = kernels.stopped().await.0.lock().unwrap().clone();
    made.sort_unstable();
    let wanted: Vec<u64> = (0..3 * EACH).filter(|number| number % 3 != 1).collect();
    assert_eq!(made, wanted, "each once");
    let records = ledger(&database).await;
    let each = usize::try_from(EACH).unwrap();
    for (kind, times) in [
        ("call_started", each),
        ("call_resumed", each),
        ("call_succeeded", 2 * each),
        ("call_outcome_unknown", each),
        // Whoever came late for a call writes nothing about it.
        ("call_refused", 0),
    ] {
        assert_eq!(count(&records, kind), times, "{kind}");
    }
}

/// Holds what was answered, what was done and what was stored against each other; how many calls succeeded, and how many
/// are of unknown outcome.
async fn accounted(
    database: &Database,
    answers: &BTreeMap<u64, u16>,
    made: &[u64],
) -> (usize, usize) {
    // The kernels signed off, or are to be found silent: by now all of them are gone.
    database.sql("DELETE FROM kernels").await.unwrap();
    let store = PostgresStore::open(&database.url_file()).await.unwrap();
    for call in store.cut_off(100_000).await.unwrap() {
        let entry = Entry {
            at: Timestamp::now(),
            kind: Kind::CallOutcomeUnknown,
            body: json!({"call": call.id}),
        };
        assert!(store.give_up(call.id, "interrupted", entry).await.unwrap());
    }
    store.close().await;

    let made_once: BTreeSet<u64> = made.iter().copied().collect();
    assert_eq!(made_once.len(), made.len(), "a mark was made twice");
    let query = "SELECT id, (arguments::json ->> 'number')::bigint AS number, state FROM calls";
    let rows = sqlx::query(query)
        .fetch_all(&mut database.connect().await)
        .await
        .unwrap();
    let mut states = BTreeMap::new();
    for row in rows {
        let number = u64::try_from(row.get::<i64, _>("number")).unwrap();
        let (id, state): (String, String) = (row.get("id"), row.get("state"));
        assert!(
            states.insert(number, (id, state)).is_none(),
            "{number} is stored twice"
        );
    }
    for number in made {
        assert!(states.contains_key(number), "{number} was made unrecorded");
    }
    for (number, status) in answers {
        let state = states.get(number).map(|(_, state)| state.as_str());
        match status {
            200 => assert_eq!(state, Some("succeeded"), "{number}"),
            _ => assert!(
                matches!(state, None | Some("succeeded" | "outcome_unknown")),
                "{number} is {state:?}"
            ),
        }
    }
    let records = ledger(database).await;
    let of = |call: &str, kind: &str| {
        let is = |record: &&Record| record.kind == kind && record.body["call"] == call;
        records.iter().filter(is).count()
    };
    for (number, (id, state)) in &states {
        assert_eq!(of(id, "call_started"), 1, "{number}");
        assert_eq!(of(id, &format!("call_{state}")), 1, "{number}");
        assert!(
            state != "succeeded" || made_once.contains(number),
            "{number}"
        );
    }
    let all = |wanted: &str| states.values().filter(|(_, state)| state == wanted).count();
    (all("succeeded"), all("outcome_unknown"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_stopped_and_started_in_the_middle_loses_nothing_and_repeats_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let database = Database::on(server.url.clone()).await;
    let kernels = Arc::new(Replicas::start(desk(), &database).await);
    let task = kernels.marker().await;
    let callers = Callers::start(&kernels, &task);
    for mode in ["fast", "immediate"] {
        callers.more(60).await;
        server.stop(mode);
        for kernel in kernels.each() {
            let away = kernel.ask(&task.token, MARK, json!({"number": 77})).await;
            away.refused(503, "operation_unsupported", "unavailable");
        }
        server.start_again();
        callers.more(60).await;
    }
    let answers = callers.stopped().await;
    // All of them go on.
    for (n, kernel) in kernels.each().enumerate() {
        let number = 9_000_000 + n;
        let answer = kernel
            .ask(&task.token, MARK, json!({"number": number}))
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let kernels = Arc::into_inner(kernels).unwrap();
    let made = kernels.stopped().await;
    let made = made.0.lock().unwrap().clone();
    assert!(!made.contains(&77), "a refused call ran");
    let (succeeded, unknown) = accounted(&database, &answers, &made).await;
    let refused = answers.values().filter(|status| **status != 200).count();
    println!(
        "{} calls, {succeeded} succeeded, {refused} refused, {unknown} of unknown outcome",
        answers.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_cut_in_the_middle_lose_nothing_and_repeat_nothing() {
    let Some(database) = Database::new().await else {
        return;
    };
    let kernels = Arc::new(Replicas::start(desk(), &database).await);
    let task = kernels.marker().await;
    let callers = Callers::start(&kernels, &task);
    for _ in 0..12 {
        callers.more(10).await;
        database.cut_connections().await;
    }
    callers.more(20).await;
    let answers = callers.stopped().await;
    let kernels = Arc::into_inner(kernels).unwrap();
    let made = kernels.stopped().await;
    let made = made.0.lock().unwrap().clone();
    let (succeeded, unknown) = accounted(&database, &answers, &made).await;
    let refused = answers.values().filter(|status| **status != 200).count();
    println!(
        "{} calls, {succeeded} succeeded, {refused} refused, {unknown} of unknown outcome",
        answers.len()
    );
    assert_eq!(unknown, 0, "the database was there to be asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_approved_at_one_kernel_is_in_force_at_the_next_event_of_each() {
    const PROPOSE: &str = "artifact.propose";
    let Some(database) = Database::new().await else {
        return;
    };
    let ask = Authority {
        name: "ask",
        allowed: &[MARK],
        approval: &[PROPOSE, "artifact.revoke"],
        seconds: 3_600,
        ..Authority::default()
    };
    let home = Home::desk("webchat", &[ask], "");
    let path = "manifests/agents/ask.yaml";
    let agent = std::fs::read_to_string(home.path().join(path)).unwrap();
    home.write(
        path,
        &agent.replace("max_artifacts: 1,", "max_artifacts: 100,"),
    );
    let pack = std::fs::read_to_string(home.path().join("manifests/packs/ask.yaml")).unwrap();
    let agent = std::fs::read_to_string(home.path().join("manifests/agents/ask.yaml")).unwrap();
    let kernels = Replicas::start(home, &database).await;
    let task = kernels.marker().await;
    let denied = pack.replace("denied_actions: []", &format!("denied_actions: [{MARK:?}]"));
    let polite = agent.replace("persona: plain", "persona: polite");
    let ask = |kind: &str, manifest: &str| json!({"kind": kind, "manifest": manifest, "reason": "Why not."});
    let mut waiting = Vec::new();
    for arguments in [ask("pack", &denied), ask("agent", &polite)] {
        let held = kernels.any().ask(&task.token, PROPOSE, arguments).await;
        assert_eq!(held.status, 202, "{held:?}");
        let path = format!("/v1/owner/calls/{}", held.at("/request_id"));
        let binding = kernels.any().owner_get(&path).await.json()["call"]["binding"].clone();
        waiting.push((format!("{path}/approve"), json!({"binding": binding})));
    }
    // Two at once, at two kernels: one is made.
    let each: Vec<_> = kernels.each().collect();
    let (one, other) = tokio::join!(
        each[0].owner_post(&waiting[0].0, &waiting[0].1),
        each[1].owner_post(&waiting[1].0, &waiting[1].1)
    );
    let states = [one.at("/state"), other.at("/state")];
    let made = states.iter().filter(|state| *state == "succeeded").count();
    assert_eq!(made, 1, "{one:?} {other:?}");
    let is_denied = states[0] == "succeeded";
    // A task of before goes on, and each kernel composes by the new set at once.
    assert_eq!(kernels.mark(&task, 1).await.status, 200);
    let mut revisions = BTreeSet::new();
    for kernel in kernels.each() {
        let event = json!({"event_type": "ask", "channel_account": "desk"});
        let begun = kernel.begin("desk", &event).await;
        let tools = kernel.tools(&begun.token).await;
        assert_eq!(
            !tools.contains(&"test-mark".to_owned()),
            is_denied,
            "{tools:?}"
        );
        let listed = kernel.owner_get("/v1/owner/artifacts").await.json();
        revisions.insert(listed["revision"].to_string());
        assert_eq!(listed["artifacts"].as_array().unwrap().len(), 1);
    }
    assert_eq!(revisions.len(), 1);
    kernels.stopped().await;
    let records = ledger(&database).await;
    assert_eq!(count(&records, "artifact_activated"), 1);
}
