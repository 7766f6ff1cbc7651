//! What a store promises, as one suite that runs against every backend, and what each backend adds to it.
//!
//! The half of PostgreSQL needs `ACTUM_TEST_POSTGRES`, as `.ci/postgres` gives it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

/// Makes a module for each backend, with a test for each behaviour: a function that is given an empty store, whose ledger
/// has to hold afterwards. A backend is a function in [`backend`]; what is not there is left out, loudly.
macro_rules! suite {
    ($($behaviour:ident),+ $(,)?) => {
        suite!(@one sqlite $($behaviour)+);
        suite!(@one postgres $($behaviour)+);
    };
    (@one $backend:ident $($behaviour:ident)+) => {
        mod $backend {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $behaviour() {
                    let Some(mut opened) = crate::backend::$backend().await else {
                        return;
                    };
                    super::$behaviour(&mut opened).await;
                    crate::fixture::verified(&*opened.store()).await;
                }
            )+
        }
    };
}

mod artifacts;
mod backend;
mod calls;
mod chain;
#[path = "../support/database.rs"]
mod database;
mod decisions;
mod durability;
mod fixture;
mod flushes;
mod keys;
mod lineage;
mod messages;
mod on_postgres;
mod on_sqlite;
mod recovery;
#[path = "../support/server.rs"]
mod server;
mod tampering;
mod tasks;
