//! The ledger as an auditor meets it: over the real binary, by the public key alone, whatever was done to the database.
//! Each behaviour is that of both stores; the half of PostgreSQL needs `ACTUM_TEST_POSTGRES`, as `.ci/postgres` gives it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

/// Makes a module for each store, with a test for each behaviour: a function that is told which.
macro_rules! suite {
    ($($behaviour:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $behaviour() {
                    super::$behaviour(crate::fixture::Backend::Sqlite).await;
                }
            )+
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $behaviour() {
                    if crate::database::server().is_some() {
                        super::$behaviour(crate::fixture::Backend::Postgres).await;
                    }
                }
            )+
        }
    };
}

#[allow(dead_code)] // other tests use more of it
#[path = "../support/database.rs"]
mod database;
mod export;
mod fixture;
mod kernel;
#[path = "../process/mod.rs"]
mod process;
mod proofs;
mod tampering;
mod whole;
mod witness;
