//! Which kernels are alive, and which calls they have in hand.
//!
//! A call that is stored as running is cut off when its kernel is gone, or when its kernel has it no longer in hand since
//! its end could not be stored. Nobody else touches it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use sqlx::postgres::PgPool;
use tokio::time::Instant;
use ulid::Ulid;

use super::Shared;
use super::changes::MarkInterrupted;

/// How often a kernel says that it is alive.
const BEAT: Duration = Duration::from_secs(10);

/// Whether the kernel `k` is alive: it was heard of in the last minute, by the database's clock. While the database was
/// away nobody could be heard, so its own start counts as having heard of everybody.
macro_rules! is_alive {
    () => {
        "greatest(k.seen_at, pg_postmaster_start_time()) > now() - interval '1 minute'"
    };
}
pub(super) use is_alive;

/// Says that a kernel is alive.
pub(super) async fn beat(pool: &PgPool, kernel: Ulid) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO kernels (id, seen_at) VALUES ($1, now())
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
    )
    .bind(kernel.to_string())
    .execute(pool)
    .await?;
    Ok(())
}

/// Says that a kernel has ended.
pub(super) async fn leave(pool: &PgPool, kernel: Ulid) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM kernels WHERE id = $1")
        .bind(kernel.to_string())
        .execute(pool)
        .await?;
    Ok(())
}

/// Says again and again that this kernel is alive, and marks what others left behind.
pub(super) async fn keep_beating(shared: Arc<Shared>) {
    let mut beats = tokio::time::interval_at(Instant::now() + BEAT, BEAT);
    beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        if let Err(error) = beat(&shared.pool, shared.kernel).await {
            tracing::warn!(%error, "this kernel cannot say that it is alive; the others take it for gone in a while");
            continue;
        }
        let mark = MarkInterrupted {
            kernel: shared.kernel,
            in_hand: &shared.in_hand,
            at: Timestamp::now(),
        };
        match shared.change(&mark).await {
            Ok(0) => {}
            Ok(marked) => {
                tracing::warn!(marked, "calls were cut off; their outcome is unknown");
            }
            Err(error) => tracing::warn!(%error, "calls that were cut off could not be marked"),
        }
    }
}

/// The calls that this kernel runs.
#[derive(Debug, Default)]
pub(super) struct InHand(Mutex<BTreeSet<Ulid>>);

impl InHand {
    /// Takes a call in hand, until what is returned is dropped or kept.
    pub(super) fn take(&self, call: Ulid) -> Taken<'_> {
        self.calls().insert(call);
        Taken {
            from: self,
            call,
            keep: false,
        }
    }

    /// The calls, as texts.
    pub(super) fn texts(&self) -> Vec<String> {
        self.calls().iter().map(Ulid::to_string).collect()
    }

    fn calls(&self) -> MutexGuard<'_, BTreeSet<Ulid>> {
        // A set of ids is whole whenever it can be seen.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in hand.
pub(super) struct Taken<'a> {
    from: &'a InHand,
    call: Ulid,
    keep: bool,
}

impl Taken<'_> {
    /// Leaves the call in hand.
    pub(super) fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.keep {
            self.from.calls().remove(&self.call);
        }
    }
}
