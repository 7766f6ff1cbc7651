//! What becomes of calls that were under way when their kernel ended, and how a person settles what nobody knows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actum::{ActionError, Call, Secret, action};
use actum_kernel::{Clock, KernelBuilder};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use support::answer::Answer;
use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::Here;

const SOON: Duration = Duration::from_secs(60);

const AGAIN: &str = "work.again";
const ONCE: &str = "work.once";
const LOOK: &str = "work.look";
const ASKED: &str = "work.asked";
const UNLOCK: &str = "work.unlock";

/// What the handlers did, in whatever kernel, and whether they end.
#[derive(Clone, Default)]
struct Work(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The calls, each time that one ran, with what it was given.
    runs: Mutex<Vec<(Call, String)>>,
    begun: Notify,
    hangs: AtomicBool,
    dropped: AtomicUsize,
}

/// Counts that it is dropped.
struct Held(Arc<Shared>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Work {
    fn hanging() -> Self {
        let work = Self::default();
        work.hang(true);
        work
    }

    fn hang(&self, hangs: bool) {
        self.0.hangs.store(hangs, Ordering::SeqCst);
    }

    /// The ids of the calls, each time that one ran.
    fn runs(&self) -> Vec<String> {
        let runs = self.0.runs.lock().unwrap();
        runs.iter()
            .map(|(call, _)| call.request_id.to_string())
            .collect()
    }

    fn given(&self) -> Vec<String> {
        let runs = self.0.runs.lock().unwrap();
        runs.iter().map(|(_, given)| given.clone()).collect()
    }

    async fn run(&self, call: &Call, given: &str) -> Result<usize, ActionError> {
        let held = Held(Arc::clone(&self.0));
        let run = {
            let mut runs = self.0.runs.lock().unwrap();
            runs.push((call.clone(), given.to_owned()));
            runs.len()
        };
        self.0.begun.notify_one();
        if self.0.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        drop(held);
        Ok(run)
    }
}

#[action(
    id = "work.again",
    description = "Work, as often as you like.",
    idempotent
)]
async fn again(work: &Work, call: &Call) -> Result<usize, ActionError> {
    work.run(call, "").await
}

#[action(id = "work.once", description = "Work, once.")]
async fn once(work: &Work, call: &Call) -> Result<usize, ActionError> {
    work.run(call, "").await
}

#[action(id = "work.look", description = "Look at work.", read_only)]
async fn look(work: &Work, call: &Call) -> Result<usize, ActionError> {
    work.run(call, "").await
}

#[action(
    id = "work.asked",
    description = "Work, if the owner lets you.",
    idempotent,
    approval_required
)]
async fn asked(work: &Work, call: &Call) -> Result<usize, ActionError> {
    work.run(call, "").await
}

#[derive(Deserialize, JsonSchema)]
struct WithKey {
    key: Secret<String>,
    times: u32,
}

#[action(id = "work.unlock", description = "Unlock with a key.", idempotent)]
async fn unlock(work: &Work, call: &Call, ask: WithKey) -> Result<usize, ActionError> {
    let given = format!("{} {}", ask.key.expose(), ask.times);
    work.run(call, &given).await
}

const PEOPLE: &str = "identities:
  - identity_id: 01J00000000000000000000ADA
    principal_id: 01J00000000000000000000ADA
    relationship: owner
    identifiers:
      - { kind: handle, value: ada, verified_by: [chat] }
approvals: { approvers: [ { id: kim, principal_id: 01J00000000000000000000K1M } ] }
";

fn home(more: &str) -> Home {
    let work = Authority {
        name: "work",
        allowed: &[AGAIN, ONCE, LOOK, ASKED, UNLOCK],
        seconds: 3_600,
        ..Authority::default()
    };
    Home::desk("chat", &[work], &format!("{PEOPLE}{more}"))
}

async fn kernel(work: &Work, home: Home) -> Here {
    let work = work.clone();
    Here::start_with(home, |builder| builder.resource(work)).await
}

/// A kernel in a runtime of its own, which is taken away under it: nothing of it goes on, as after `kill -9`.
struct Doomed {
    runtime: Runtime,
    kernel: Here,
}

impl Doomed {
    async fn start(work: &Work, home: Home) -> Self {
        let work = work.clone();
        Self::start_with(home, move |builder| builder.resource(work)).await
    }

    async fn start_with(
        home: Home,
        prepare: impl FnOnce(KernelBuilder) -> KernelBuilder + Send + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let started = tokio::task::spawn_blocking(move || {
            let kernel = runtime.block_on(Here::start_with(home, prepare));
            Self { runtime, kernel }
        });
        started.await.unwrap()
    }

    async fn killed(self) -> Home {
        let Self { runtime, kernel } = self;
        let gone = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(SOON));
        gone.await.unwrap();
        kernel.home
    }
}

async fn begin(kernel: &Client, handle: &str) -> Task {
    let hint = json!({"handle": handle});
    let event = json!({"event_type": "work", "channel_account": "room", "actor_hint": hint});
    kernel.begin("desk", &event).await
}

/// Posts a call whose handler hangs, and hangs up once it has begun. The call's id.
async fn cut_off(kernel: &Client, work: &Work, task: &Task, action: &str, ask: Value) -> String {
    let (worker, token, action) = (kernel.clone(), task.token.clone(), action.to_owned());
    let calling = tokio::spawn(async move { worker.ask(&token, &action, ask).await });
    begun(work).await;
    calling.abort();
    work.runs().pop().unwrap()
}

async fn begun(work: &Work) {
    let begun = tokio::time::timeout(SOON, work.0.begun.notified()).await;
    begun.expect("a handler begins");
}

async fn told(kernel: &Client, id: &str) -> Value {
    let answer = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["call"].clone()
}

/// The call once nothing more comes of it by itself, looked for a bounded number of times.
async fn ended(kernel: &Client, id: &str) -> Value {
    for _ in 0..20_000 {
        let call = told(kernel, id).await;
        if call["state"] != "running" && call["state"] != "approved" {
            return call;
        }
        tokio::task::yield_now().await;
    }
    panic!("the call {id} does not end");
}

/// The kinds of the records of one call.
async fn history(home: &Home, id: &str) -> Vec<String> {
    let ledger = home.ledger().await.into_iter();
    let own = ledger.filter(|(_, body)| body["call"] == id);
    own.map(|(kind, _)| kind).collect()
}

#[tokio::test]
async fn an_idempotent_call_that_was_cut_off_is_resumed_as_the_same_call_and_its_end_is_told() {
    let work = Work::hanging();
    let doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let id = cut_off(&doomed.kernel, &work, &task, AGAIN, json!({})).await;
    let home = doomed.killed().await;
    work.hang(false);

    let kernel = kernel(&work, home).await;
    assert_eq!(ended(&kernel, &id).await["state"], "succeeded");
    assert_eq!(work.runs(), [id.clone(), id.clone()]);
    let state = kernel.state(&task.token, &id).await;
    assert_eq!(state.json()["result"], 2, "{state:?}");
    {
        let runs = work.0.runs.lock().unwrap();
        let [(first, _), (second, _)] = &runs[..] else {
            panic!("two runs");
        };
        assert_eq!(
            (first.task_id, &first.action),
            (second.task_id, &second.action)
        );
        assert_eq!(first.principal, second.principal);
    }
    let home = kernel.stopped().await;
    let wanted = ["call_started", "call_resumed", "call_succeeded"];
    assert_eq!(history(&home, &id).await, wanted);
    let home = self::kernel(&work, home).await.stopped().await;
    assert_eq!(work.runs().len(), 2, "a call that has ended is not resumed");
    assert_eq!(history(&home, &id).await.len(), 3);
}

#[tokio::test]
async fn what_is_not_idempotent_is_of_unknown_outcome_and_what_only_reads_has_failed() {
    let work = Work::hanging();
    let doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let once = cut_off(&doomed.kernel, &work, &task, ONCE, json!({})).await;
    let look = cut_off(&doomed.kernel, &work, &task, LOOK, json!({})).await;
    let home = doomed.killed().await;
    work.hang(false);

    let kernel = kernel(&work, home).await;
    // At once: it is done before the kernel listens.
    for (id, state) in [(&once, "outcome_unknown"), (&look, "failed")] {
        let call = told(&kernel, id).await;
        assert_eq!(
            (&call["state"], &call["reason"]),
            (&json!(state), &json!("interrupted"))
        );
    }
    let home = kernel.stopped().await;
    assert_eq!(work.runs(), [once.clone(), look.clone()]);
    let history_of = async |id: &str| history(&home, id).await.pop().unwrap();
    assert_eq!(history_of(&once).await, "call_outcome_unknown");
    assert_eq!(history_of(&look).await, "call_failed");
    let ledger = home.ledger().await;
    let mut starts = ledger.iter().filter(|(kind, _)| kind == "kernel_started");
    assert_eq!(starts.next_back().unwrap().1["interrupted"], 2);
}

#[tokio::test]
async fn secret_arguments_are_there_for_the_second_run_unseen_and_gone_after_it() {
    const SENTINEL: &str = "sentinel-4711-swordfish";
    let work = Work::hanging();
    let doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let ask = json!({"key": SENTINEL, "times": 5.0});
    let id = cut_off(&doomed.kernel, &work, &task, UNLOCK, ask).await;
    let home = doomed.killed().await;
    let unseen = |home: &Home| {
        for (path, bytes) in home.traces() {
            let mut windows = bytes.windows(SENTINEL.len());
            let seen = windows.any(|window| window == SENTINEL.as_bytes());
            assert!(!seen, "{}", path.display());
        }
    };
    unseen(&home);
    work.hang(false);

    let kernel = kernel(&work, home).await;
    let call = ended(&kernel, &id).await;
    assert_eq!(call["state"], "succeeded");
    assert_eq!(call["arguments"], json!({"key": "[SECRET]", "times": 5}));
    let given = format!("{SENTINEL} 5");
    assert_eq!(work.given(), [given.clone(), given]);
    unseen(&kernel.home);
    let count = "UPDATE calls SET sealed = NULL WHERE sealed IS NOT NULL";
    assert_eq!(sql(&kernel.home, count).await, 0, "it is gone");
}

/// Another program's statement in the store; how many rows it touched.
async fn sql(home: &Home, text: &str) -> u64 {
    let file = SqliteConnectOptions::new().filename(home.data().join("actum.db"));
    let mut store = SqliteConnection::connect_with(&file).await.unwrap();
    let done = sqlx::query(AssertSqlSafe(text.to_owned()))
        .execute(&mut store)
        .await
        .unwrap();
    store.close().await.unwrap();
    done.rows_affected()
}

#[tokio::test]
async fn nothing_is_resumed_that_the_gate_does_not_let_run_now() {
    let work = Work::hanging();
    let revoked_before = async |kernel: &Client, task: &Task| {
        let path = format!("/v1/owner/tasks/{}/revoke", task.id);
        assert_eq!(kernel.owner_post(&path, &json!({})).await.status, 200);
    };
    for case in ["revoked", "expired", "narrowed", "unreadable"] {
        let doomed = Doomed::start(&work, home("")).await;
        let task = begin(&doomed.kernel, "nobody").await;
        let ask = json!({"key": "swordfish", "times": 1});
        let id = cut_off(&doomed.kernel, &work, &task, UNLOCK, ask).await;
        if case == "revoked" {
            revoked_before(&doomed.kernel, &task).await;
        }
        let home = doomed.killed().await;
        let wanted = match case {
            "narrowed" => {
                // As somebody else wrote it: a call that needed approval, and has none.
                sql(
                    &home,
                    &format!(
                        "UPDATE calls SET action = '{ASKED}', arguments = '{{}}', sealed = NULL"
                    ),
                )
                .await;
                "approval_missing"
            }
            "unreadable" => {
                sql(&home, "UPDATE calls SET sealed = x'00112233'").await;
                "unreadable"
            }
            _ => "grant_expired",
        };
        let later = |seconds| {
            let then: Timestamp = "2026-09-22T08:00:00Z".parse().unwrap();
            Clock::of(move || then + SignedDuration::from_secs(seconds))
        };
        let (work, seconds) = (work.clone(), if case == "expired" { 3_600 } else { 3_599 });
        let runs = work.runs().len();
        let resource = work.clone();
        let kernel = Here::start_with(home, |builder| {
            builder.resource(resource).clock(later(seconds))
        })
        .await;
        let call = ended(&kernel, &id).await;
        assert_eq!(call["state"], "outcome_unknown", "{case}: {call}");
        assert_eq!(call["reason"], wanted, "{case}");
        assert_eq!(work.runs().len(), runs, "{case}");
        let home = kernel.stopped().await;
        let wanted = ["call_started", "call_outcome_unknown"];
        assert_eq!(history(&home, &id).await, wanted, "{case}");
    }
}

#[tokio::test]
async fn a_call_that_takes_its_kernel_with_it_each_time_is_resumed_three_times_and_then_unknown() {
    let work = Work::hanging();
    let mut doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let id = cut_off(&doomed.kernel, &work, &task, AGAIN, json!({})).await;
    for _ in 0..3 {
        doomed = Doomed::start(&work, doomed.killed().await).await;
        begun(&work).await;
    }
    let kernel = kernel(&work, doomed.killed().await).await;
    let call = told(&kernel, &id).await;
    assert_eq!(
        (&call["state"], &call["reason"]),
        (&json!("outcome_unknown"), &json!("resumed_too_often"))
    );
    let home = kernel.stopped().await;
    assert_eq!(work.runs(), vec![id.clone(); 4]);
    let wanted = [
        "call_started",
        "call_resumed",
        "call_resumed",
        "call_resumed",
        "call_outcome_unknown",
    ];
    assert_eq!(history(&home, &id).await, wanted);
}

#[tokio::test]
async fn an_approved_call_that_was_cut_off_is_resumed_without_being_asked_for_again() {
    let work = Work::hanging();
    let doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let held = doomed.kernel.ask(&task.token, ASKED, json!({})).await;
    let id = held.at("/request_id");
    let binding = told(&doomed.kernel, &id).await["binding"].clone();
    let (owner, path) = (
        Client::clone(&doomed.kernel),
        format!("/v1/owner/calls/{id}/approve"),
    );
    let body = json!({"binding": binding});
    let approving = tokio::spawn(async move { owner.owner_post(&path, &body).await });
    begun(&work).await;
    approving.abort();
    let home = doomed.killed().await;
    work.hang(false);
    // Nobody waits for it any more, but it had begun in time.
    let later = Clock::of(|| "2026-09-22T08:30:00Z".parse().unwrap());
    let resource = work.clone();
    let kernel = Here::start_with(home, |builder| builder.resource(resource).clock(later)).await;
    assert_eq!(ended(&kernel, &id).await["state"], "succeeded");
    assert_eq!(work.runs(), [id.clone(), id]);
}

#[tokio::test]
async fn a_call_whose_end_could_not_be_stored_is_looked_after_while_the_kernel_runs() {
    let work = Work::default();
    let kernel = kernel(&work, home("recovery: { look_seconds: 1 }\n")).await;
    let task = begin(&kernel, "nobody").await;
    let full = "CREATE TRIGGER full BEFORE INSERT ON audit WHEN NEW.kind = 'call_succeeded' BEGIN SELECT RAISE(ABORT, 'full'); END";
    sql(&kernel.home, full).await;
    for action in [AGAIN, ONCE] {
        let answer = kernel.ask(&task.token, action, json!({})).await;
        answer.refused(503, "operation_unsupported", "unavailable");
    }
    sql(&kernel.home, "DROP TRIGGER full").await;
    let [again, once] = &work.runs()[..2] else {
        panic!("two runs");
    };
    assert_eq!(ended(&kernel, again).await["state"], "succeeded");
    assert_eq!(ended(&kernel, once).await["state"], "outcome_unknown");
    let runs = work.runs();
    assert_eq!(runs.iter().filter(|id| *id == once).count(), 1);
}

#[tokio::test]
async fn a_stop_waits_as_long_as_it_may_then_cuts_off_and_says_so_at_once() {
    let work = Work::hanging();
    let kernel = kernel(&work, home("limits: { stop_seconds: 1 }\n")).await;
    let task = begin(&kernel, "nobody").await;
    let once = cut_off(&kernel, &work, &task, ONCE, json!({})).await;
    let look = cut_off(&kernel, &work, &task, LOOK, json!({})).await;
    let again = cut_off(&kernel, &work, &task, AGAIN, json!({})).await;
    let home = kernel.stopped().await;
    assert_eq!(work.0.dropped.load(Ordering::SeqCst), 3, "each was dropped");
    let ledger = home.ledger().await;
    assert_eq!(ledger.last().unwrap().0, "kernel_stopped");
    let end = async |id: &str| history(&home, id).await.pop().unwrap();
    assert_eq!(end(&once).await, "call_outcome_unknown");
    assert_eq!(end(&look).await, "call_failed");
    assert_eq!(
        end(&again).await,
        "call_started",
        "the next start resumes it"
    );
    let reason = ledger
        .iter()
        .find(|(kind, _)| kind == "call_outcome_unknown");
    assert_eq!(reason.unwrap().1["reason"], "kernel_stopped");

    work.hang(false);
    let kernel = self::kernel(&work, home).await;
    assert_eq!(ended(&kernel, &again).await["state"], "succeeded");
    assert_eq!(told(&kernel, &once).await["reason"], "kernel_stopped");
}

#[tokio::test]
async fn a_handler_is_told_until_when_and_is_dropped_then() {
    let work = Work::hanging();
    let kernel = kernel(&work, home("limits: { handler_seconds: 1 }\n")).await;
    let task = begin(&kernel, "nobody").await;
    let answer = kernel.ask(&task.token, AGAIN, json!({})).await;
    answer.refused_with_more(422, "operation_unsupported", "outcome_unknown");
    assert_eq!(work.0.dropped.load(Ordering::SeqCst), 1);
    let call = told(&kernel, &work.runs()[0]).await;
    assert_eq!(call["reason"], "timed_out", "{call}");
    let (call, _) = work.0.runs.lock().unwrap().pop().unwrap();
    assert_eq!(call.deadline, call.at + SignedDuration::from_secs(1));
}

async fn settle(kernel: &Client, key: &str, id: &str, body: Value) -> Answer {
    let path = format!("/v1/owner/calls/{id}/settle");
    let key = kernel.key(key);
    kernel.post(&path, Some(&key), body.to_string()).await
}

fn finding(outcome: &str) -> Value {
    json!({"outcome": outcome, "reason": "I looked, and it is there."})
}

#[tokio::test]
async fn a_person_settles_what_nobody_knows_once_and_the_worker_is_told() {
    let work = Work::hanging();
    let doomed = Doomed::start(&work, home("")).await;
    let task = begin(&doomed.kernel, "nobody").await;
    let of_ada = begin(&doomed.kernel, "ada").await;
    let one = cut_off(&doomed.kernel, &work, &task, ONCE, json!({})).await;
    let two = cut_off(&doomed.kernel, &work, &task, ONCE, json!({})).await;
    let adas = cut_off(&doomed.kernel, &work, &of_ada, ONCE, json!({})).await;
    let kernel = kernel(&work, doomed.killed().await).await;
    let unknown = async || {
        let listed = kernel
            .owner_get("/v1/owner/calls?state=outcome_unknown")
            .await;
        let listed = listed.json()["calls"].as_array().unwrap().clone();
        let ids = listed
            .iter()
            .map(|call| call["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(unknown().await, [one.clone(), two.clone(), adas.clone()]);

    for body in [
        json!({"outcome": "succeeded"}),
        json!({"outcome": "succeeded", "reason": " "}),
        json!({"outcome": "succeeded", "reason": "two\nlines"}),
        json!({"outcome": "running", "reason": "no"}),
        json!({"reason": "no"}),
    ] {
        let answer = settle(&kernel, "owner", &one, body).await;
        answer.refused(400, "input_invalid", "request_malformed");
    }
    let path = format!("/v1/owner/calls/{one}/settle");
    let body = finding("succeeded").to_string();
    let by_worker = kernel.post(&path, Some(&task.token), body).await;
    by_worker.refused(401, "unauthenticated", "token_invalid");
    let nothing = "01J0000000000000000000CA11";
    let answer = settle(&kernel, "owner", nothing, finding("failed")).await;
    answer.refused(404, "input_invalid", "unknown_request");
    assert_eq!(unknown().await.len(), 3, "nothing is settled yet");

    let answer = settle(&kernel, "owner", &one, finding("succeeded")).await;
    assert_eq!(
        (answer.status, answer.at("/state")),
        (200, "succeeded".into())
    );
    let answer = settle(&kernel, "approver-kim", &two, finding("failed")).await;
    assert_eq!(answer.at("/state"), "failed");
    let answer = settle(&kernel, "owner", &adas, finding("failed")).await;
    assert_eq!(answer.status, 200, "one's own, too: {answer:?}");
    for (id, state) in [(&one, "succeeded"), (&two, "failed")] {
        let told = kernel.state(&task.token, id).await;
        assert_eq!(told.at("/state"), state);
        assert_eq!(told.at("/reason"), "I looked, and it is there.");
        assert!(told.json().get("result").is_none(), "{told:?}");
        for outcome in ["succeeded", "failed"] {
            let again = settle(&kernel, "owner", id, finding(outcome)).await;
            again.refused(409, "input_invalid", "outcome_known");
        }
    }
    assert!(unknown().await.is_empty());
    assert_eq!(work.runs().len(), 3, "nothing runs by it");
    let ledger = kernel.home.ledger().await;
    let settled: Vec<_> = ledger[ledger.len() - 3..].iter().collect();
    let wanted = [
        ("call_settled_succeeded", &one, "owner", false),
        ("call_settled_failed", &two, "kim", false),
        ("call_settled_failed", &adas, "owner", true),
    ];
    for ((kind, body), (wanted, id, by, own)) in settled.into_iter().zip(wanted) {
        assert_eq!((kind.as_str(), &body["call"]), (wanted, &json!(id)));
        assert_eq!((&body["by"], &body["own_task"]), (&json!(by), &json!(own)));
        assert_eq!(body["was"], "interrupted");
        assert_eq!(body["reason"], "I looked, and it is there.");
    }
}

#[tokio::test]
async fn what_does_not_wait_for_that_is_not_settled() {
    let work = Work::default();
    let kernel = kernel(&work, home("")).await;
    let task = begin(&kernel, "nobody").await;
    let done = kernel.ask(&task.token, ONCE, json!({})).await;
    let held = kernel.ask(&task.token, ASKED, json!({})).await;
    for (answer, state) in [(done, "succeeded"), (held, "pending")] {
        let id = answer.at("/request_id");
        let answer = settle(&kernel, "owner", &id, finding("failed")).await;
        answer.refused(409, "input_invalid", "outcome_known");
        assert_eq!(told(&kernel, &id).await["state"], state);
    }
}
