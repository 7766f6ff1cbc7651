//! Calls that SQLite's store records in a second while others come at once, against one flush for each change.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench flushes`
//!
//! A call is two changes, as the kernel makes them: its beginning is durable before its handler runs, its end before it is
//! answered. On the other side each change waits until the one before it is durable. It is the disk that is measured,
//! the one with the system's temporary folder on it: in memory there is nothing to share.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::sync::Arc;
use std::time::Instant;

use actum_bench::{Aim, Pair, head, row};
use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{SqliteStore, Store};
use jiff::Timestamp;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

/// Calls of one side of one round.
const CALLS: usize = 256;
const ROUNDS: usize = 15;

fn main() {
    head(
        "calls recorded by SQLite, against one flush a change",
        "calls/s",
        "one flush each",
    );
    for (callers, aim) in [
        (1, Aim::None),
        (8, Aim::AtLeast(1.5)),
        (64, Aim::AtLeast(2.0)),
    ] {
        measure(callers, aim);
    }
}

fn measure(callers: usize, aim: Aim) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(SqliteStore::open(folder.path())).unwrap();
    let store = Arc::new(store);
    let one_by_one = Some(Arc::new(Mutex::new(())));
    let throughput = |turn: &Option<Arc<Mutex<()>>>| {
        runtime.block_on(calls_a_second(&store, callers, turn.as_ref()))
    };
    throughput(&None);
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            if round % 2 == 0 {
                let first = throughput(&None);
                (first, throughput(&one_by_one))
            } else {
                let first = throughput(&one_by_one);
                (throughput(&None), first)
            }
        })
        .collect();
    row(&format!("{callers} at once"), &Pair::of(&rounds), aim);
    runtime.block_on(store.close());
}

/// Calls a second of so many callers, whose changes wait for their turn if there is one.
async fn calls_a_second(
    store: &Arc<SqliteStore>,
    callers: usize,
    turn: Option<&Arc<Mutex<()>>>,
) -> f64 {
    let start = Instant::now();
    let under_way: Vec<_> = (0..callers)
        .map(|caller| {
            let (store, turn) = (Arc::clone(store), turn.cloned());
            tokio::spawn(async move {
                for n in 0..CALLS / callers {
                    for kind in [Kind::CallStarted, Kind::CallSucceeded] {
                        let body = json!({"caller": caller, "call": n});
                        let at = Timestamp::now();
                        let entry = Entry { at, kind, body };
                        let _turn = match &turn {
                            Some(turn) => Some(turn.lock().await),
                            None => None,
                        };
                        store.record(entry).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for caller in under_way {
        caller.await.unwrap();
    }
    CALLS as f64 / start.elapsed().as_secs_f64()
}
