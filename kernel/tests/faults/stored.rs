//! What the store says: at a glance, while kernels run, and as a whole, when none does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use actum_kernel::calls::State;
use actum_kernel::ledger::{Head, Record, verify_next};
use actum_kernel::store::{PostgresStore, SqliteStore, Store, StoredCall, StoredDecision};
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

const BEGUN: &str = "SELECT count(*) FROM calls WHERE arguments = $1
    AND state IN ('running', 'succeeded', 'failed', 'outcome_unknown')";

/// Where a store can be looked into beside its kernels.
#[derive(Debug, Clone)]
pub enum Peek {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Peek {
    /// Whether a call with this text has begun; `None` where the store is away.
    pub async fn has_begun(&self, text: &str) -> Option<bool> {
        let arguments = serde_json::json!({ "text": text }).to_string();
        let count = tokio::time::timeout(Duration::from_secs(2), self.count(&arguments));
        Some(count.await.ok()?.ok()? > 0)
    }

    async fn count(&self, arguments: &str) -> Result<i64, sqlx::Error> {
        let query = sqlx::query_scalar(BEGUN).bind(arguments);
        match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file).read_only(true);
                let mut connection = SqliteConnection::connect_with(&options).await?;
                let count = query.fetch_one(&mut connection).await;
                connection.close().await?;
                count
            }
            Self::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await?;
                let count = sqlx::query_scalar(BEGUN)
                    .bind(arguments)
                    .fetch_one(&mut connection)
                    .await;
                connection.close().await?;
                count
            }
        }
    }
}

/// Which store.
#[derive(Debug, Clone)]
pub enum Place {
    /// The folder of a SQLite file.
    Folder(PathBuf),
    /// The file with the URL of a PostgreSQL.
    UrlFile(PathBuf),
}

/// All of a store.
pub struct Stored {
    pub calls: BTreeMap<String, StoredCall>,
    pub decisions: BTreeMap<String, Vec<StoredDecision>>,
    pub records: Vec<Record>,
}

impl Stored {
    /// Reads it, and fails where the ledger's chain does not hold.
    pub async fn read(place: &Place) -> Self {
        const ALL: i64 = 10_000_000;
        let store: Box<dyn Store> = match place {
            Place::Folder(folder) => Box::new(SqliteStore::open(folder).await.unwrap()),
            Place::UrlFile(file) => Box::new(PostgresStore::open(file).await.unwrap()),
        };
        let records = store.records_after(0, ALL).await.unwrap();
        let end = records
            .iter()
            .try_fold(Head::empty(), |head, record| verify_next(&head, record));
        assert_eq!(end.expect("the chain holds"), store.head().await.unwrap());
        let (mut calls, mut decisions) = (BTreeMap::new(), BTreeMap::new());
        for state in State::ALL {
            for call in store.calls_in(state, ALL).await.unwrap() {
                let id = call.id.to_string();
                let decided = store.decisions(call.id).await.unwrap();
                decisions.insert(id.clone(), decided);
                calls.insert(id, call);
            }
        }
        store.close().await;
        Self {
            calls,
            decisions,
            records,
        }
    }
}
