//! What a store promises, as one suite that runs against every backend, and what SQLite adds to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use actum::Confidential;
use actum::authority::Limits;
use actum::gate::{DenialReason, Evidence, Origin, Request, SelectionToken, Verdict, gate};
use actum::grant::{GrantMode, Principal, SealKey, TaskGrant};
use actum::registry::Admitted;
use actum::{ActionError, ActionId, Digest, Registry, SealedGrant, Selection, action};
use actum_kernel::ledger::{Broken, Entry, Head, Kind, verify_next};
use actum_kernel::store::{
    Message, NewCall, NewSelection, NewTask, Outcome, SqliteStore, Started, Store, StoreError,
    Waiting, verify_file,
};
use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Row};
use tempfile::TempDir;
use ulid::Ulid;

/// Makes a module for each backend, with a test for each behaviour. A backend is a function in
/// [`backend`] that opens an empty store.
macro_rules! suite {
    ($($backend:ident),+ => $behaviours:tt) => { $(suite!(@one $backend $behaviours);)+ };
    (@one $backend:ident { $($behaviour:ident),+ $(,)? }) => {
        mod $backend {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $behaviour() {
                    let opened = super::backend::$backend().await;
                    super::$behaviour(std::sync::Arc::clone(&opened.store)).await;
                    super::verified(&*opened.store).await;
                }
            )+
        }
    };
}

suite!(sqlite => {
    a_task_is_loaded_as_it_was_issued,
    a_task_is_revoked_once,
    a_selection_token_belongs_to_one_task_and_is_spent_once,
    concurrent_starts_spend_a_token_once,
    nothing_starts_after_the_task_was_taken_back,
    a_held_call_is_pending_and_cannot_be_finished,
    a_call_is_finished_once_and_only_while_it_runs,
    calls_cut_off_are_marked_once_and_no_others,
    messages_come_in_order_and_in_pages,
    counts_follow_what_was_stored,
    every_change_adds_its_record_and_the_chain_holds_after_each,
    a_change_that_fails_leaves_no_trace_and_the_chain_goes_on,
    a_change_that_was_given_up_is_done_or_not_and_the_chain_goes_on,
    concurrent_writers_make_one_chain,
});

mod backend {
    use super::*;

    /// An empty store, and what must live as long.
    pub struct Opened {
        pub store: Arc<dyn Store>,
        _place: TempDir,
    }

    pub async fn sqlite() -> Opened {
        let place = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(place.path()).await.unwrap();
        Opened {
            store: Arc::new(store),
            _place: place,
        }
    }
}

/// Takes a note. It never runs here: a store keeps calls, and does not make them.
#[action(id = "note.take", description = "Take a note.")]
async fn take_note() -> Result<(), ActionError> {
    Ok(())
}

/// Reads the selected note.
#[action(
    id = "note.read:selected",
    description = "Read the selected note.",
    selection_token = "note_selection",
    read_only
)]
async fn read_note(_note: &Selection) -> Result<(), ActionError> {
    Ok(())
}

const TAKE: &str = "note.take";
const READ: &str = "note.read:selected";
const KEY: SealKey = SealKey::new([7; 32]);
const HASH: [u8; 32] = [9; 32];

fn now() -> Timestamp {
    "2026-05-04T03:02:01.5Z".parse().unwrap()
}

fn later() -> Timestamp {
    now() + 1.hour()
}

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

fn entry(kind: Kind, body: Value) -> Entry {
    Entry {
        at: now(),
        kind,
        body,
    }
}

fn a_selection(token: Ulid) -> NewSelection {
    NewSelection {
        id: token,
        token_type: "note_selection".to_owned(),
        target: "note 7".to_owned(),
        expires_at: later(),
    }
}

fn grant(task: Ulid, selections: &[Ulid]) -> SealedGrant {
    let grant = TaskGrant {
        id: task,
        task_id: task,
        event_id: Ulid(3),
        principal: Principal::Anonymous("visitor".to_owned()),
        purpose: "Take notes.".to_owned(),
        allowed_actions: [id(TAKE), id(READ)].into(),
        approval_required_actions: BTreeSet::new(),
        denied_actions: BTreeSet::new(),
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        bound_arguments: Vec::new(),
        mandate: None,
        selection_tokens: selections
            .iter()
            .map(|token| (*token, "note_selection".to_owned()))
            .collect(),
        limits: Limits {
            max_model_calls: 1,
            max_artifacts: 1,
            max_runtime_seconds: 3600,
        },
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: now(),
        expires_at: later(),
        authority_sources: vec!["route:notes".to_owned()],
        policy_revision: Digest::of_bytes(b"policy"),
        catalog_digest: Digest::of_bytes(b"catalog"),
    };
    SealedGrant::seal(grant, &KEY).unwrap()
}

async fn try_issue(store: &dyn Store, task: Ulid, selections: &[Ulid]) -> Result<(), StoreError> {
    let minted: Vec<_> = selections.iter().copied().map(a_selection).collect();
    let new = NewTask {
        id: task,
        token_hash: HASH,
        exposures: (Digest::of_bytes(b"{}"), "{}"),
        grant: &grant(task, selections),
        message: Some("Hello"),
        expires_at: later(),
        catalog: (Digest::of_bytes(b"catalog"), "{}"),
        selections: &minted,
    };
    let body = json!({"task": task});
    store.issue(new, entry(Kind::GrantIssued, body)).await
}

async fn issued(store: &dyn Store, selections: &[Ulid]) -> Ulid {
    let task = Ulid::generate();
    try_issue(store, task, selections).await.unwrap();
    task
}

/// A call of `action` that the gate allowed.
fn admitted(action: &str, token: Option<Ulid>) -> Admitted {
    let registry = Registry::linked().unwrap();
    let stored = token.map(|id| SelectionToken {
        id,
        token_type: "note_selection".to_owned(),
        expires_at: later(),
    });
    let request = Arc::new(Request {
        action: action.to_owned(),
        arguments: Map::new(),
        payload_digest: None,
        target_digest: None,
        selection_token: token,
        origin: Origin::Worker,
    });
    let evidence = Evidence {
        approval: None,
        selection_token: stored.as_ref(),
    };
    let grant = grant(Ulid(2), token.as_slice()).verify(&KEY).unwrap();
    match gate(&grant, &request, &registry.catalog(), evidence, now()) {
        Verdict::Allow(permit) => registry.admit(permit).unwrap(),
        other => panic!("{action} should be allowed, and the gate says {other:?}"),
    }
}

fn new_call(task: Ulid, action: &str, spends: Option<Ulid>) -> NewCall {
    let call = Ulid::generate();
    NewCall {
        id: call,
        task_id: task,
        action: id(action),
        arguments: "{}".to_owned(),
        spends,
        entry: entry(Kind::CallStarted, json!({"call": call})),
    }
}

async fn started(store: &dyn Store, task: Ulid) -> Ulid {
    let call = new_call(task, TAKE, None);
    let id = call.id;
    match store.start(admitted(TAKE, None), call).await.unwrap() {
        Started::Recorded(recorded) => assert_eq!(recorded.into_admitted().action().as_str(), TAKE),
        Started::Refused(reason) => panic!("refused: {reason:?}"),
    }
    id
}

async fn held(store: &dyn Store, task: Ulid) -> Ulid {
    let call = new_call(task, TAKE, None);
    let id = call.id;
    store.hold(call, waiting_for(900)).await.unwrap();
    id
}

/// What a call waits with, for so many seconds from the epoch.
fn waiting_for(seconds: i64) -> Waiting {
    Waiting {
        sealed: None,
        binding: Digest::of_bytes(b"binding"),
        expires_at: Timestamp::from_second(seconds).unwrap(),
        instead_of: None,
    }
}

async fn finish(store: &dyn Store, call: Ulid, outcome: Outcome) -> Result<(), StoreError> {
    let body = json!({"call": call});
    store
        .finish(call, outcome, entry(Kind::CallSucceeded, body))
        .await
}

async fn state(store: &dyn Store, call: Ulid) -> Option<String> {
    let call = store.call(call).await.unwrap();
    call.map(|call| call.state.as_str().to_owned())
}

/// Reads the whole ledger in small pages and checks each link; gives its end, which the store must
/// say as well.
async fn verified(store: &dyn Store) -> Head {
    let mut head = Head::empty();
    loop {
        let page = store.records_after(head.seq, 7).await.unwrap();
        assert!(page.len() <= 7, "a page is no longer than asked for");
        if page.is_empty() {
            break;
        }
        for record in &page {
            head = verify_next(&head, record).unwrap();
        }
    }
    assert_eq!(store.head().await.unwrap(), head);
    assert_eq!(store.counts().await.unwrap().records, head.seq);
    head
}

async fn a_task_is_loaded_as_it_was_issued(store: Arc<dyn Store>) {
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let stored = store.task(task).await.unwrap().unwrap();
    assert_eq!(stored.token_hash, HASH);
    assert_eq!(stored.grant, grant(task, &[token]));
    assert_eq!(stored.message.as_deref(), Some("Hello"));
    assert!(!stored.revoked);
    assert!(store.task(Ulid::generate()).await.unwrap().is_none());
    // The same catalog a second time is no conflict.
    issued(&*store, &[]).await;
}

async fn a_task_is_revoked_once(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    let other = issued(&*store, &[]).await;
    let revoke = |task| store.revoke(task, entry(Kind::GrantRevoked, json!({"task": task})));
    assert!(revoke(task).await.unwrap());
    assert!(!revoke(task).await.unwrap(), "it was revoked before");
    assert!(!revoke(Ulid::generate()).await.unwrap(), "there is none");
    assert!(store.task(task).await.unwrap().unwrap().revoked);
    assert!(!store.task(other).await.unwrap().unwrap().revoked);
    assert_eq!(
        verified(&*store).await.seq,
        3,
        "one record for one revocation"
    );
}

async fn a_selection_token_belongs_to_one_task_and_is_spent_once(store: Arc<dyn Store>) {
    let (token, other_token) = (Ulid::generate(), Ulid::generate());
    let task = issued(&*store, &[token, other_token]).await;
    let other_task = issued(&*store, &[]).await;

    let stored = store.selection(token, task).await.unwrap().unwrap();
    assert_eq!(stored.token.id, token);
    assert_eq!(stored.token.token_type, "note_selection");
    assert_eq!(stored.token.expires_at, later());
    assert_eq!(stored.target, "note 7");
    assert!(store.selection(token, other_task).await.unwrap().is_none());

    let start = async |task, token| {
        let call = new_call(task, READ, Some(token));
        let id = call.id;
        (
            id,
            store
                .start(admitted(READ, Some(token)), call)
                .await
                .unwrap(),
        )
    };
    // Another task cannot spend it, and does not use it up by trying.
    let (foreign, refused) = start(other_task, token).await;
    let invalid = DenialReason::SelectionTokenInvalid;
    assert!(matches!(refused, Started::Refused(reason) if reason == invalid));
    assert!(store.call(foreign).await.unwrap().is_none());

    assert!(matches!(start(task, token).await.1, Started::Recorded(_)));
    assert!(store.selection(token, task).await.unwrap().is_none());
    let before = verified(&*store).await;
    let (again, refused) = start(task, token).await;
    assert!(matches!(refused, Started::Refused(reason) if reason == invalid));
    assert!(store.call(again).await.unwrap().is_none());
    assert_eq!(
        verified(&*store).await,
        before,
        "a refused start changes nothing"
    );
    assert!(store.selection(other_token, task).await.unwrap().is_some());
}

async fn concurrent_starts_spend_a_token_once(store: Arc<dyn Store>) {
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let racers: Vec<_> = (0..16)
        .map(|_| {
            let store = Arc::clone(&store);
            let (admitted, call) = (
                admitted(READ, Some(token)),
                new_call(task, READ, Some(token)),
            );
            tokio::spawn(async move { store.start(admitted, call).await.unwrap() })
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Started::Recorded(_) => won += 1,
            Started::Refused(reason) => assert_eq!(reason, DenialReason::SelectionTokenInvalid),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(store.counts().await.unwrap().calls, 1);
}

async fn nothing_starts_after_the_task_was_taken_back(store: Arc<dyn Store>) {
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let running = started(&*store, task).await;
    // The gate allowed these before the task was taken back.
    let late = (
        admitted(READ, Some(token)),
        new_call(task, READ, Some(token)),
    );
    let revoked = entry(Kind::GrantRevoked, json!({"task": task}));
    assert!(store.revoke(task, revoked).await.unwrap());
    let before = verified(&*store).await;

    let id = late.1.id;
    let refused = store.start(late.0, late.1).await.unwrap();
    assert!(matches!(
        refused,
        Started::Refused(DenialReason::GrantExpired)
    ));
    assert!(store.call(id).await.unwrap().is_none());
    assert!(
        store.selection(token, task).await.unwrap().is_some(),
        "unspent"
    );
    assert_eq!(verified(&*store).await, before);

    // Nor does anything start of a task that never was.
    let nobodys = new_call(Ulid::generate(), TAKE, None);
    let refused = store.start(admitted(TAKE, None), nobodys).await.unwrap();
    assert!(matches!(refused, Started::Refused(_)));

    // What was running by then ends as it ends.
    finish(&*store, running, Outcome::Failed).await.unwrap();
}

async fn a_held_call_is_pending_and_cannot_be_finished(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!((stored.task_id, stored.action.as_str()), (task, TAKE));
    assert_eq!((stored.state.as_str(), stored.result), ("pending", None));
    let outcome = Outcome::Succeeded(Confidential::of(&json!({})).unwrap());
    assert!(finish(&*store, call, outcome).await.is_err());
    assert_eq!(state(&*store, call).await.unwrap(), "pending");
}

async fn a_call_is_finished_once_and_only_while_it_runs(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    let ends = [
        (
            Outcome::Succeeded(Confidential::of(&json!({"n": 1})).unwrap()),
            "succeeded",
            Some(json!({"n": 1})),
        ),
        (Outcome::Failed, "failed", None),
        (Outcome::Unknown, "outcome_unknown", None),
    ];
    for (outcome, word, result) in ends {
        let call = started(&*store, task).await;
        assert_eq!(state(&*store, call).await.unwrap(), "running");
        finish(&*store, call, outcome.clone()).await.unwrap();
        let before = verified(&*store).await;
        for again in [
            outcome,
            Outcome::Succeeded(Confidential::of(&json!("other")).unwrap()),
            Outcome::Unknown,
        ] {
            assert!(finish(&*store, call, again).await.is_err());
        }
        let stored = store.call(call).await.unwrap().unwrap();
        assert_eq!((stored.state.as_str(), stored.result), (word, result));
        assert_eq!(verified(&*store).await, before);
    }
    let nothing = Ulid::generate();
    assert!(finish(&*store, nothing, Outcome::Failed).await.is_err());
}

async fn calls_cut_off_are_marked_once_and_no_others(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    let cut_off = [started(&*store, task).await, started(&*store, task).await];
    let done = started(&*store, task).await;
    finish(
        &*store,
        done,
        Outcome::Succeeded(Confidential::of(&json!(1)).unwrap()),
    )
    .await
    .unwrap();
    let waiting = held(&*store, task).await;
    let before = verified(&*store).await.seq;

    assert_eq!(store.mark_interrupted(now()).await.unwrap(), 2);
    for call in cut_off {
        assert_eq!(state(&*store, call).await.unwrap(), "outcome_unknown");
    }
    assert_eq!(state(&*store, done).await.unwrap(), "succeeded");
    assert_eq!(state(&*store, waiting).await.unwrap(), "pending");

    let records = store.records_after(before, 10).await.unwrap();
    assert!(
        records
            .iter()
            .all(|record| record.kind == "call_outcome_unknown")
    );
    let named: BTreeSet<_> = records
        .iter()
        .map(|record| record.body["call"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(named, cut_off.iter().map(Ulid::to_string).collect());

    assert_eq!(store.mark_interrupted(now()).await.unwrap(), 0);
    assert_eq!(verified(&*store).await.seq, before + 2);
}

async fn messages_come_in_order_and_in_pages(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    assert!(store.messages_after(0, 10).await.unwrap().is_empty());
    for n in 0..5 {
        let body = format!("message {n}");
        store
            .post_message(task, "visitor", &body, now())
            .await
            .unwrap();
    }
    let bodies = |page: &[Message]| page.iter().map(|m| m.body.clone()).collect::<Vec<_>>();
    let first = store.messages_after(0, 3).await.unwrap();
    assert_eq!(bodies(&first), ["message 0", "message 1", "message 2"]);
    let rest = store.messages_after(first[2].seq, 3).await.unwrap();
    assert_eq!(bodies(&rest), ["message 3", "message 4"]);
    assert!(
        store
            .messages_after(rest[1].seq, 3)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(first[0].seq, 1);
    assert_eq!(first[0].sender, "visitor");
    assert_eq!(first[0].task_id, task.to_string());
    assert_eq!(first[0].at.parse::<Timestamp>().unwrap(), now());
}

async fn counts_follow_what_was_stored(store: Arc<dyn Store>) {
    let all = async || {
        let counts = store.counts().await.unwrap();
        (counts.tasks, counts.calls, counts.records)
    };
    assert_eq!(all().await, (0, 0, 0));
    let task = issued(&*store, &[]).await;
    assert_eq!(all().await, (1, 0, 1));
    let call = started(&*store, task).await;
    held(&*store, task).await;
    assert_eq!(all().await, (1, 2, 3));
    finish(&*store, call, Outcome::Failed).await.unwrap();
    assert_eq!(all().await, (1, 2, 4));
}

async fn every_change_adds_its_record_and_the_chain_holds_after_each(store: Arc<dyn Store>) {
    let mut expected = Vec::new();
    let mut check = async |kind: &str| {
        expected.push(kind.to_owned());
        let end = verified(&*store).await;
        let records = store.records_after(0, 100).await.unwrap();
        let kinds: Vec<_> = records.iter().map(|record| record.kind.clone()).collect();
        assert_eq!(kinds, expected);
        let last = records.last().unwrap();
        assert_eq!((last.seq, last.digest), (end.seq, end.digest));
        assert_eq!(last.at.parse::<Timestamp>().unwrap(), now());
    };
    assert_eq!(verified(&*store).await, Head::empty());
    let started_at = entry(Kind::KernelStarted, json!({"version": "1"}));
    store.record(started_at).await.unwrap();
    check("kernel_started").await;
    let task = issued(&*store, &[]).await;
    check("grant_issued").await;
    let call = started(&*store, task).await;
    check("call_started").await;
    finish(
        &*store,
        call,
        Outcome::Succeeded(Confidential::of(&json!(1)).unwrap()),
    )
    .await
    .unwrap();
    check("call_succeeded").await;
    let mut waiting = new_call(task, TAKE, None);
    waiting.entry.kind = Kind::CallPending;
    store.hold(waiting, waiting_for(900)).await.unwrap();
    check("call_pending").await;
    started(&*store, task).await;
    check("call_started").await;
    store.mark_interrupted(now()).await.unwrap();
    check("call_outcome_unknown").await;
    store
        .revoke(task, entry(Kind::GrantRevoked, json!({})))
        .await
        .unwrap();
    check("grant_revoked").await;
}

async fn a_change_that_fails_leaves_no_trace_and_the_chain_goes_on(store: Arc<dyn Store>) {
    let (token, unspent) = (Ulid::generate(), Ulid::generate());
    let task = issued(&*store, &[token]).await;
    let taken = started(&*store, task).await;
    let before = (verified(&*store).await, store.counts().await.unwrap());

    // An id that is taken, after which a token would be spent and a record written.
    let again = NewCall {
        id: taken,
        ..new_call(task, READ, Some(token))
    };
    let start = store.start(admitted(READ, Some(token)), again.clone());
    assert!(start.await.is_err());
    assert!(store.hold(again, waiting_for(900)).await.is_err());
    assert!(store.selection(token, task).await.unwrap().is_some());
    // A call of a task that never was.
    let nobodys = new_call(Ulid::generate(), TAKE, None);
    let refused = store.hold(nobodys, waiting_for(900)).await.unwrap();
    assert_eq!(refused, Some(DenialReason::GrantExpired));
    // A task whose last selection token's id is taken.
    let other = Ulid::generate();
    assert!(try_issue(&*store, other, &[unspent, token]).await.is_err());
    assert!(store.task(other).await.unwrap().is_none());
    assert!(store.selection(unspent, other).await.unwrap().is_none());
    assert!(try_issue(&*store, task, &[]).await.is_err());

    let after = store.counts().await.unwrap();
    assert_eq!(verified(&*store).await, before.0);
    assert_eq!((after.tasks, after.calls), (before.1.tasks, before.1.calls));
    finish(&*store, taken, Outcome::Failed).await.unwrap();
    assert_eq!(verified(&*store).await.seq, before.0.seq + 1);
}

/// Whoever asked may go away at any moment: a request that took too long, a connection that closed.
/// The database can be in the middle of the commit then.
async fn a_change_that_was_given_up_is_done_or_not_and_the_chain_goes_on(store: Arc<dyn Store>) {
    const STEPS: usize = 60;
    let task = issued(&*store, &[]).await;
    let operation = async || {
        let body = json!({"task": task});
        store.record(entry(Kind::CallRefused, body)).await.unwrap();
    };
    // How often a whole operation is polled tells where it can be given up.
    let mut whole = 0usize;
    tokio::select! {
        biased;
        () = operation() => {}
        () = async { loop { whole += 1; tokio::task::yield_now().await } } => {}
    }
    for step in 0..=STEPS {
        let before = verified(&*store).await.seq;
        let patience = async {
            for _ in 0..whole * step / STEPS {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = operation() => {}
            () = patience => {}
        }
        operation().await;
        let after = verified(&*store).await.seq;
        assert!(
            (before + 1..=before + 2).contains(&after),
            "{before} to {after}"
        );
    }
}

async fn concurrent_writers_make_one_chain(store: Arc<dyn Store>) {
    let task = issued(&*store, &[]).await;
    let writers: Vec<_> = (0..24)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                match n % 3 {
                    0 => {
                        held(&*store, task).await;
                    }
                    1 => {
                        let call = started(&*store, task).await;
                        finish(&*store, call, Outcome::Failed).await.unwrap();
                    }
                    _ => {
                        let refused = entry(Kind::CallRefused, json!({"n": n}));
                        store.record(refused).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(verified(&*store).await.seq, 1 + 8 + 16 + 8);
}

/// Another program's connection to the store's file.
async fn raw(folder: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.join("actum.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn sql(connection: &mut SqliteConnection, text: &str) -> Result<u64, sqlx::Error> {
    let done = sqlx::raw_sql(AssertSqlSafe(text.to_owned()))
        .execute(connection)
        .await?;
    Ok(done.rows_affected())
}

/// A store of five records in a folder.
async fn five_records(folder: &Path) -> SqliteStore {
    let store = SqliteStore::open(folder).await.unwrap();
    for n in 1..=5 {
        let refused = entry(Kind::CallRefused, json!({"n": n}));
        store.record(refused).await.unwrap();
    }
    store
}

/// Why a store cannot be opened.
async fn refusal(folder: &Path) -> String {
    match SqliteStore::open(folder).await {
        Ok(_) => panic!("{} was opened", folder.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_was_stored_is_there_after_reopening_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    let token = Ulid::generate();
    let task = issued(&store, &[token]).await;
    let call = started(&store, task).await;
    store
        .post_message(task, "visitor", "hello", now())
        .await
        .unwrap();
    let before = verified(&store).await;
    store.close().await;
    drop(store);

    let store = SqliteStore::open(folder.path()).await.unwrap();
    assert_eq!(verified(&store).await, before);
    assert_eq!(
        store.task(task).await.unwrap().unwrap().grant,
        grant(task, &[token])
    );
    assert!(store.selection(token, task).await.unwrap().is_some());
    assert_eq!(state(&store, call).await.unwrap(), "running");
    assert_eq!(store.messages_after(0, 9).await.unwrap().len(), 1);
    finish(&store, call, Outcome::Failed).await.unwrap();
    assert_eq!(verified(&store).await.seq, before.seq + 1);
    let offline = verify_file(folder.path()).await.unwrap().unwrap();
    assert_eq!(offline, verified(&store).await);
}

#[tokio::test]
async fn nothing_changes_when_its_record_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    let token = Ulid::generate();
    let task = issued(&store, &[token]).await;
    let running = started(&store, task).await;
    let before = verified(&store).await;
    let counts = store.counts().await.unwrap();

    let mut other = raw(folder.path()).await;
    let full = "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END";
    sql(&mut other, full).await.unwrap();
    let new_task = Ulid::generate();
    assert!(try_issue(&store, new_task, &[]).await.is_err());
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert!(store.revoke(task, revoked).await.is_err());
    let call = new_call(task, READ, Some(token));
    let start = store.start(admitted(READ, Some(token)), call.clone());
    assert!(start.await.is_err());
    assert!(store.hold(call.clone(), waiting_for(900)).await.is_err());
    assert!(finish(&store, running, Outcome::Failed).await.is_err());
    assert!(store.mark_interrupted(now()).await.is_err());

    assert!(store.task(new_task).await.unwrap().is_none());
    assert!(!store.task(task).await.unwrap().unwrap().revoked);
    assert!(store.selection(token, task).await.unwrap().is_some());
    assert!(store.call(call.id).await.unwrap().is_none());
    assert_eq!(state(&store, running).await.unwrap(), "running");
    let after = store.counts().await.unwrap();
    assert_eq!((after.tasks, after.calls), (counts.tasks, counts.calls));

    sql(&mut other, "DROP TRIGGER full").await.unwrap();
    assert_eq!(verified(&store).await, before);
    finish(&store, running, Outcome::Failed).await.unwrap();
    assert_eq!(verified(&store).await.seq, before.seq + 1);
}

#[tokio::test]
async fn audit_rows_can_be_added_at_the_end_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    let before = verified(&store).await;
    let mut other = raw(folder.path()).await;
    for text in [
        "UPDATE audit SET body = '{}' WHERE seq = 3",
        "UPDATE audit SET seq = 9 WHERE seq = 5",
        "DELETE FROM audit WHERE seq = 3",
        "DELETE FROM audit",
        "REPLACE INTO audit SELECT seq, at, kind, '{}', prev, digest FROM audit WHERE seq = 3",
        "INSERT OR REPLACE INTO audit SELECT 5, at, kind, '{}', prev, digest FROM audit WHERE seq = 5",
        "INSERT INTO audit VALUES (0, 'a', 'b', 'c', 'd', 'e')",
        "INSERT INTO audit VALUES (9, 'a', 'b', 'c', 'd', 'e')",
    ] {
        let told = sql(&mut other, text).await.expect_err(text).to_string();
        assert!(told.contains("append-only"), "{text}: {told}");
    }
    assert_eq!(verified(&store).await, before);
}

#[tokio::test]
async fn a_second_kernel_is_refused_until_the_first_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let first = five_records(folder.path()).await;
    let told = refusal(folder.path()).await;
    let lock = folder.path().join("actum.lock").display().to_string();
    assert!(told.contains(&lock), "{told}");
    assert!(
        told.contains("another kernel") && told.contains("stop it"),
        "{told}"
    );
    assert_eq!(verified(&first).await.seq, 5);
    drop(first);
    SqliteStore::open(folder.path()).await.unwrap();
}

#[tokio::test]
async fn what_is_no_store_is_told_by_its_file_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actum.db");
    let unchanged = async |wanted: &[&str]| {
        let before = std::fs::read(&file).unwrap();
        let told = refusal(folder.path()).await;
        assert!(told.contains(&file.display().to_string()), "{told}");
        for wanted in wanted {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
    };

    std::fs::write(&file, "This is a text of somebody else's.\n".repeat(500)).unwrap();
    unchanged(&["no database", "move it away"]).await;
    let told = verify_file(folder.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("actum.db") && told.contains("no database"),
        "{told}"
    );

    std::fs::remove_file(&file).unwrap();
    let foreign = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut foreign = SqliteConnection::connect_with(&foreign).await.unwrap();
    sql(&mut foreign, "CREATE TABLE songs (title TEXT)")
        .await
        .unwrap();
    foreign.close().await.unwrap();
    unchanged(&["another program", "`data`"]).await;

    std::fs::remove_file(&file).unwrap();
    five_records(folder.path()).await.close().await;
    let mut newer = raw(folder.path()).await;
    let migration = "INSERT INTO _sqlx_migrations SELECT version + 1, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations ORDER BY version DESC LIMIT 1";
    assert_eq!(sql(&mut newer, migration).await.unwrap(), 1);
    newer.close().await.unwrap();
    let told = refusal(folder.path()).await;
    assert!(
        told.contains("newer version") && told.contains("actum.db"),
        "{told}"
    );
}

#[tokio::test]
async fn a_damaged_store_is_told_and_not_taken_for_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    store.close().await;
    let file = folder.path().join("actum.db");
    let journal = folder.path().join("actum.db-wal");
    let left = std::fs::metadata(journal).map_or(0, |journal| journal.len());
    assert_eq!(left, 0, "a store that was closed is whole in its file");
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    // All but the page of the schema.
    bytes[4096..].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let told = refusal(folder.path()).await;
    assert!(
        told.contains("actum.db") && told.contains("malformed"),
        "{told}"
    );
    let told = verify_file(folder.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("actum.db") && told.contains("damaged"),
        "{told}"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let told = refusal(&file.join("data")).await;
    assert!(
        told.contains("file/data") && told.contains("`data`"),
        "{told}"
    );

    std::fs::create_dir(folder.path().join("actum.db")).unwrap();
    let told = refusal(folder.path()).await;
    assert!(told.contains("actum.db"), "{told}");

    let empty = tempfile::tempdir().unwrap();
    let told = verify_file(empty.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("no store here") && told.contains("`data`"),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

/// What somebody with the file in hand can do, and the place where it shows.
const TAMPERINGS: [(&str, Broken); 11] = [
    (
        "UPDATE audit SET body = '{\"n\":9}' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET at = '2026-01-01T00:00:00Z' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET kind = 'call_started' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET body = 'not JSON' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET digest = 'not a digest' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET digest = 'sha256:' || hex(zeroblob(32)) WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET prev = digest WHERE seq = 3",
        Broken::Unlinked(3),
    ),
    (
        "DELETE FROM audit WHERE seq = 3",
        Broken::Gap {
            expected: 3,
            found: 4,
        },
    ),
    (
        "DELETE FROM audit WHERE seq < 3",
        Broken::Gap {
            expected: 1,
            found: 3,
        },
    ),
    (
        "INSERT INTO audit SELECT -4, at, kind, body, prev, 'x' FROM audit WHERE seq = 1",
        Broken::Changed(-4),
    ),
    (
        "UPDATE audit SET seq = -seq WHERE seq IN (3, 4);
         UPDATE audit SET seq = 7 + seq WHERE seq < 0",
        Broken::Unlinked(3),
    ),
];

const WITHOUT_GUARDS: &str = "DROP TRIGGER audit_keeps_records; DROP TRIGGER audit_loses_nothing;
    DROP TRIGGER audit_only_grows";

#[tokio::test]
async fn tampering_is_found_where_it_was_done() {
    for (tampering, place) in TAMPERINGS {
        let folder = tempfile::tempdir().unwrap();
        five_records(folder.path()).await.close().await;
        assert_eq!(verify_file(folder.path()).await.unwrap().unwrap().seq, 5);
        let mut other = raw(folder.path()).await;
        sql(&mut other, WITHOUT_GUARDS).await.unwrap();
        assert!(sql(&mut other, tampering).await.unwrap() > 0, "{tampering}");
        other.close().await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place), "{tampering}");
    }
}

#[tokio::test]
async fn tampering_under_a_running_kernel_is_found_and_stays_found() {
    for (tampering, place) in TAMPERINGS {
        let folder = tempfile::tempdir().unwrap();
        let store = five_records(folder.path()).await;
        assert_eq!(verify_file(folder.path()).await.unwrap().unwrap().seq, 5);
        let mut other = raw(folder.path()).await;
        sql(&mut other, WITHOUT_GUARDS).await.unwrap();
        sql(&mut other, tampering).await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place.clone()), "{tampering}");
        // What the kernel writes afterwards does not mend it.
        let refused = entry(Kind::CallRefused, json!({"n": 6}));
        store.record(refused).await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place), "{tampering}, and a record after it");
    }
}

/// Somebody who takes the last records away while the kernel runs makes a gap with its next one.
#[tokio::test]
async fn records_cut_off_under_a_running_kernel_leave_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    let mut other = raw(folder.path()).await;
    sql(&mut other, WITHOUT_GUARDS).await.unwrap();
    sql(&mut other, "DELETE FROM audit WHERE seq > 3")
        .await
        .unwrap();
    let refused = entry(Kind::CallRefused, json!({"n": 6}));
    store.record(refused).await.unwrap();
    let gap = Broken::Gap {
        expected: 4,
        found: 6,
    };
    assert_eq!(verify_file(folder.path()).await.unwrap(), Err(gap));
}

#[tokio::test]
async fn a_long_ledger_verifies_to_its_end() {
    const RECORDS: i64 = 2_345;
    let folder = tempfile::tempdir().unwrap();
    SqliteStore::open(folder.path())
        .await
        .unwrap()
        .close()
        .await;
    let mut other = raw(folder.path()).await;
    let mut transaction = other.begin().await.unwrap();
    let mut head = Head::empty();
    for n in 1..=RECORDS {
        let record = head
            .next(entry(Kind::CallRefused, json!({"n": n})))
            .unwrap();
        sqlx::query("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?)")
            .bind(record.seq)
            .bind(&record.at)
            .bind(&record.kind)
            .bind(record.body.to_string())
            .bind(record.prev.to_string())
            .bind(record.digest.to_string())
            .execute(&mut *transaction)
            .await
            .unwrap();
        head = (&record).into();
    }
    transaction.commit().await.unwrap();
    assert_eq!(verify_file(folder.path()).await.unwrap(), Ok(head));

    sql(&mut other, WITHOUT_GUARDS).await.unwrap();
    sql(&mut other, "UPDATE audit SET body = '{}' WHERE seq = 2345")
        .await
        .unwrap();
    let row = sqlx::query("SELECT body FROM audit WHERE seq = 2345");
    let row = row.fetch_one(&mut other).await.unwrap();
    assert_eq!(row.get::<String, _>("body"), "{}");
    let found = verify_file(folder.path()).await.unwrap();
    assert_eq!(found, Err(Broken::Changed(RECORDS)));
}
