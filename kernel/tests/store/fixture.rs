//! Tasks, calls and records to store.

use std::collections::BTreeSet;
use std::sync::Arc;

use actum::authority::Limits;
use actum::gate::{Evidence, Origin, Request, SelectionToken, Verdict, gate};
use actum::grant::{GrantMode, Principal, SealKey, TaskGrant};
use actum::registry::Admitted;
use actum::{ActionError, ActionId, Digest, Registry, SealedGrant, Selection, action};
use actum_kernel::ledger::{Entry, Head, Kind, verify_next};
use actum_kernel::store::{
    NewCall, NewSelection, NewTask, Outcome, Started, Store, StoreError, Takes, Waiting,
};
use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};
use ulid::Ulid;

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

pub const TAKE: &str = "note.take";
pub const READ: &str = "note.read:selected";
pub const KEY: SealKey = SealKey::new([7; 32]);
pub const HASH: [u8; 32] = [9; 32];

pub fn now() -> Timestamp {
    "2026-05-04T03:02:01.5Z".parse().unwrap()
}

pub fn later() -> Timestamp {
    now() + 1.hour()
}

pub fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

pub fn entry(kind: Kind, body: Value) -> Entry {
    Entry {
        at: now(),
        kind,
        body,
    }
}

pub fn a_selection(token: Ulid) -> NewSelection {
    NewSelection {
        id: token,
        token_type: "note_selection".to_owned(),
        target: "note 7".to_owned(),
        expires_at: later(),
    }
}

pub fn limits() -> Limits {
    Limits {
        max_model_calls: 1_000,
        max_artifacts: 10,
        max_runtime_seconds: 3600,
    }
}

pub fn grant(task: Ulid, selections: &[Ulid]) -> SealedGrant {
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
        limits: limits(),
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

pub async fn try_issue(
    store: &dyn Store,
    task: Ulid,
    selections: &[Ulid],
) -> Result<(), StoreError> {
    let minted: Vec<_> = selections.iter().copied().map(a_selection).collect();
    let grant = grant(task, selections);
    let new = new_task(task, &grant, &minted);
    let body = json!({"task": task});
    store.issue(new, entry(Kind::GrantIssued, body)).await
}

fn new_task<'a>(task: Ulid, grant: &'a SealedGrant, selections: &'a [NewSelection]) -> NewTask<'a> {
    NewTask {
        id: task,
        token_hash: HASH,
        exposures: (Digest::of_bytes(b"{}"), "{}"),
        grant,
        message: Some("Hello"),
        expires_at: later(),
        limits: limits(),
        catalog: (Digest::of_bytes(b"catalog"), "{}"),
        selections,
    }
}

/// Whether a task could be stored that another one commissioned.
pub async fn try_commission(store: &dyn Store, parent: Ulid, task: Ulid, max_calls: u32) -> bool {
    let grant = grant(task, &[]);
    let mut new = new_task(task, &grant, &[]);
    new.limits.max_model_calls = max_calls;
    let body = json!({"task": task, "parent": parent});
    let issued = entry(Kind::GrantIssued, body);
    store.commission(parent, new, issued).await.unwrap()
}

/// A task that another one commissioned, of so many calls.
pub async fn commissioned(store: &dyn Store, parent: Ulid, max_calls: u32) -> Ulid {
    let task = Ulid::generate();
    assert!(try_commission(store, parent, task, max_calls).await);
    task
}

pub async fn issued(store: &dyn Store, selections: &[Ulid]) -> Ulid {
    let task = Ulid::generate();
    try_issue(store, task, selections).await.unwrap();
    task
}

/// A call of `action` that the gate allowed.
pub fn admitted(action: &str, token: Option<Ulid>) -> Admitted {
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

pub fn new_call(task: Ulid, action: &str, spends: Option<Ulid>) -> NewCall {
    let call = Ulid::generate();
    NewCall {
        id: call,
        task_id: task,
        action: id(action),
        arguments: "{}".to_owned(),
        sealed: None,
        spends,
        keyed: None,
        takes: Takes::Call,
        entry: entry(Kind::CallStarted, json!({"call": call})),
    }
}

pub async fn started(store: &dyn Store, task: Ulid) -> Ulid {
    let call = new_call(task, TAKE, None);
    let id = call.id;
    match store.start(admitted(TAKE, None), call).await.unwrap() {
        Started::Recorded(recorded) => assert_eq!(recorded.into_admitted().action().as_str(), TAKE),
        Started::Not(reason) => panic!("refused: {reason:?}"),
    }
    id
}

pub async fn held(store: &dyn Store, task: Ulid) -> Ulid {
    let call = new_call(task, TAKE, None);
    let id = call.id;
    let refused = store.hold(call, waiting_for(900)).await.unwrap();
    assert_eq!(refused, None);
    id
}

/// What a call waits with, for so many seconds from the epoch.
pub fn waiting_for(seconds: i64) -> Waiting {
    Waiting {
        binding: Digest::of_bytes(b"binding"),
        expires_at: Timestamp::from_second(seconds).unwrap(),
        instead_of: None,
    }
}

pub async fn finish(store: &dyn Store, call: Ulid, outcome: Outcome) -> Result<(), StoreError> {
    let body = json!({"call": call});
    store
        .finish(call, outcome, entry(Kind::CallSucceeded, body))
        .await
}

/// Ends every call that was cut off; how many there were.
pub async fn mark_interrupted(store: &dyn Store) -> Result<usize, StoreError> {
    let mut marked = 0;
    for call in store.cut_off(1_000).await? {
        let body = json!({"call": call.id, "action": call.action});
        let unknown = entry(Kind::CallOutcomeUnknown, body);
        if store.give_up(call.id, "interrupted", unknown).await? {
            marked += 1;
        }
    }
    Ok(marked)
}

pub async fn state(store: &dyn Store, call: Ulid) -> Option<String> {
    let call = store.call(call).await.unwrap();
    call.map(|call| call.state.as_str().to_owned())
}

/// Reads the whole ledger in small pages and checks each link; gives its end, which the store must
/// say as well.
pub async fn verified(store: &dyn Store) -> Head {
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
