//! The backends: how an empty store of each is opened, and what somebody else can do to it.

use std::path::Path;
use std::sync::Arc;

use actum_kernel::store::{PostgresStore, SqliteStore, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use tempfile::TempDir;

use crate::database::Database;

/// A store, and where it is.
pub struct Opened {
    store: Option<Arc<dyn Store>>,
    place: Place,
}

enum Place {
    Sqlite(TempDir),
    Postgres(Database),
}

pub async fn sqlite() -> Option<Opened> {
    Some(Opened::at(Place::Sqlite(tempfile::tempdir().unwrap())).await)
}

pub async fn postgres() -> Option<Opened> {
    Some(Opened::at(Place::Postgres(Database::new().await?)).await)
}

impl Opened {
    async fn at(place: Place) -> Self {
        let store = Some(place.open().await);
        Self { store, place }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.store.as_ref().unwrap())
    }

    /// Closes it in good order and opens it again, as the next start of the kernel does. Nobody else has it by then.
    pub async fn reopen(&mut self) {
        let store = self.store.take().unwrap();
        store.close().await;
        assert_eq!(Arc::strong_count(&store), 1, "a test still has the store");
        drop(store);
        self.store = Some(self.place.open().await);
    }

    /// Statements of another program's: for SQLite, and for PostgreSQL.
    pub async fn sql(&self, sqlite: &str, postgres: &str) -> Result<u64, sqlx::Error> {
        match &self.place {
            Place::Sqlite(folder) => sql(&mut raw(folder.path()).await, sqlite).await,
            Place::Postgres(database) => database.sql(postgres).await,
        }
    }
}

impl Place {
    async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(folder) => Arc::new(SqliteStore::open(folder.path()).await.unwrap()),
            Self::Postgres(database) => {
                Arc::new(PostgresStore::open(&database.url_file()).await.unwrap())
            }
        }
    }
}

/// Another program's connection to the store's file.
pub async fn raw(folder: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.join("actum.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub async fn sql(connection: &mut SqliteConnection, text: &str) -> Result<u64, sqlx::Error> {
    let done = sqlx::raw_sql(AssertSqlSafe(text.to_owned()))
        .execute(connection)
        .await?;
    Ok(done.rows_affected())
}
