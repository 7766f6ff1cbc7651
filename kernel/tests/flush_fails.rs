//! A disk that cannot flush: what was to be recorded is refused, and so is everything after it.
//!
//! The one test of this program, as every flush of it fails from some moment on: a filter of its system calls has them
//! answered with `EIO` (<https://man7.org/linux/man-pages/man2/seccomp.2.html>).

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![allow(clippy::unwrap_used)] // a test says where it fails

use std::sync::Arc;

use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{SqliteStore, Store, StoreError, verify_file};
use jiff::Timestamp;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
use serde_json::json;
use ulid::Ulid;

/// `fsync` and `fdatasync`.
#[cfg(target_arch = "x86_64")]
const FLUSHES: [i64; 2] = [74, 75];
#[cfg(target_arch = "aarch64")]
const FLUSHES: [i64; 2] = [82, 83];
const EIO: u32 = 5;

fn fail_every_flush() {
    let filter = SeccompFilter::new(
        FLUSHES.map(|call| (call, Vec::new())).into(),
        SeccompAction::Allow,
        SeccompAction::Errno(EIO),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    apply_filter_all_threads(&program).unwrap();
}

fn refused() -> Entry {
    Entry {
        at: Timestamp::UNIX_EPOCH,
        kind: Kind::CallRefused,
        body: json!({}),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_flush_that_failed_nothing_is_recorded_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path()).await.unwrap());
    store.record(refused()).await.unwrap();
    fail_every_flush();
    let at_once: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.record(refused()).await })
        })
        .collect();
    for record in at_once {
        let told = record.await.unwrap().unwrap_err();
        assert!(matches!(told, StoreError::FlushFailed(_)), "{told}");
    }
    let told = store.record(refused()).await.unwrap_err().to_string();
    assert!(
        told.contains("nothing is recorded any more") && told.contains("start the kernel again"),
        "{told}"
    );
    let message = store.post_message(Ulid::generate(), "visitor", "hello", Timestamp::UNIX_EPOCH);
    assert!(message.await.is_err());
    assert!(store.checkpoint(Timestamp::UNIX_EPOCH).await.is_err());
    // What was durable before can still be read, and nothing else can.
    assert_eq!(store.head().await.unwrap().seq, 1);
    assert_eq!(verify_file(folder.path()).await.unwrap().unwrap().seq, 1);
    store.close().await;
}
