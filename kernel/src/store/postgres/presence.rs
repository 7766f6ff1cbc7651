//! Which kernels are alive.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPool;
use tokio::time::Instant;
use ulid::Ulid;

use super::Shared;

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

/// Forgets the kernels that are gone. One that comes back after all registers anew, with its next beat.
async fn forget_the_silent(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query(concat!("DELETE FROM kernels k WHERE NOT ", is_alive!()))
        .execute(pool)
        .await?;
    Ok(())
}

/// Says again and again that this kernel is alive.
pub(super) async fn keep_beating(shared: Arc<Shared>) {
    let mut beats = tokio::time::interval_at(Instant::now() + BEAT, BEAT);
    beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        if let Err(error) = beat(&shared.pool, shared.kernel).await {
            tracing::warn!(%error, "this kernel cannot say that it is alive; the others take it for gone in a while");
            continue;
        }
        if let Err(error) = forget_the_silent(&shared.pool).await {
            tracing::warn!(%error, "kernels that are gone are still registered");
        }
    }
}
