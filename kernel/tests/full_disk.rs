//! A disk that is full, and then has room again: what cannot be recorded is refused and does not happen, and nothing is
//! lost.
//!
//! The one test of this program, which for a while may write no byte to any file
//! (<https://man7.org/linux/man-pages/man2/setrlimit.2.html>, `RLIMIT_FSIZE`).

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use actum::{ActionError, action};
use actum_kernel::ledger::audit::audit;
use actum_kernel::ledger::notary::read_public_key;
use actum_kernel::store::Archive;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use support::answer::Answer;
use support::home::{Authority, Home};
use support::kernel::Here;

const NOTE: &str = "test.note";
const SEND: &str = "test.send";
/// The notes that were taken and the letters that were sent.
static DONE: AtomicU64 = AtomicU64::new(0);

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// Whether the disk is full when it is taken.
    fills: bool,
}

/// Takes a note.
#[action(id = "test.note", description = "Take a note.")]
async fn note(ask: Note) -> Result<u64, ActionError> {
    if ask.fills {
        fill();
    }
    Ok(DONE.fetch_add(1, Ordering::SeqCst))
}

/// Sends; the owner has to approve.
#[action(id = "test.send", description = "Send a letter.", approval_required)]
async fn send() -> Result<u64, ActionError> {
    Ok(DONE.fetch_add(1, Ordering::SeqCst))
}

fn allow(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit {
        current: bytes.or(maximum),
        maximum,
    };
    setrlimit(Resource::Fsize, limit).unwrap();
}

fn fill() {
    allow(Some(0));
}

#[track_caller]
fn assert_refused(answer: &Answer) {
    assert_eq!(answer.status, 503, "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_all_is_refused_and_with_room_again_all_goes_on() {
    // SIGXFSZ would end the program; with a handler the write fails.
    let _told = signal(SignalKind::from_raw(25)).unwrap();
    let ask = Authority {
        name: "ask",
        allowed: &[NOTE],
        approval: &[SEND],
        ..Authority::default()
    };
    let kernel = Here::start(Home::desk("webchat", &[ask], "")).await;
    let event = json!({"event_type": "ask", "channel_account": "desk"});
    let task = kernel.begin("desk", &event).await;
    let take = async |fills: bool| kernel.ask(&task.token, NOTE, json!({"fills": fills})).await;
    let hold = async || kernel.ask(&task.token, SEND, json!({})).await;
    assert_eq!(take(false).await.status, 200);
    let waits = hold().await.at("/request_id");
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{waits}")).await;
    let decision = json!({"binding": shown.json()["call"]["binding"]});
    let approve = async || {
        let path = format!("/v1/owner/calls/{waits}/approve");
        kernel.owner_post(&path, &decision).await
    };
    let sign = async || {
        let path = "/v1/owner/ledger/checkpoint";
        kernel.owner_post(path, &json!({})).await
    };
    let state = async |id: &str| kernel.state(&task.token, id).await.at("/state");

    for _ in 0..3 {
        fill();
        let refused = [
            kernel.post_event("desk", &event).await,
            take(false).await,
            hold().await,
            approve().await,
            sign().await,
        ];
        let still = state(&waits).await;
        allow(None);
        refused.iter().for_each(assert_refused);
        assert_eq!(still, "pending");
        assert_eq!(DONE.load(Ordering::SeqCst), 1, "nothing ran unrecorded");
    }

    kernel.begin("desk", &event).await;
    assert_eq!(take(false).await.status, 200);
    assert_eq!(hold().await.status, 202);
    assert_eq!(approve().await.status, 200);
    assert_eq!(sign().await.status, 200);
    while state(&waits).await != "succeeded" {
        tokio::task::yield_now().await;
    }
    assert_eq!(DONE.load(Ordering::SeqCst), 3);

    // One that was recorded and ran, and whose end finds no room.
    let ran = take(true).await;
    allow(None);
    assert_refused(&ran);
    assert_eq!(DONE.load(Ordering::SeqCst), 4);
    let home = kernel.stopped().await;
    let kernel = Here::start(home).await;
    assert_eq!(kernel.task(&task.token).await.status, 200);
    let home = kernel.stopped().await;
    let states: Vec<String> = home.calls().await.into_iter().map(|call| call.1).collect();
    assert_eq!(
        states,
        [
            "succeeded",
            "succeeded",
            "succeeded",
            "pending",
            "outcome_unknown"
        ]
    );

    let key = read_public_key(&home.data().join("keys/ledger.pub")).unwrap();
    let mut archive = Archive::open(&home.data(), None).await.unwrap();
    let found = audit(&mut archive, &key, &[]).await.unwrap();
    assert_eq!(found.faults, []);
    assert_eq!(i64::try_from(found.vouched), Ok(found.head.seq));
}
