//! A ledger in a folder or in a database, what can be done to it behind the kernel's back, and what is said of it.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use actum_kernel::ledger::notary::Notary;
use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{PostgresStore, SqliteStore, Store};
use jiff::Timestamp;
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};

use crate::database::Database;
use crate::process::{Ended, Home};

pub const CONFIG: [&str; 2] = ["--config", "actum.yaml"];
const SQLITE_WITHOUT_GUARDS: &str = "DROP TRIGGER audit_keeps_records; DROP TRIGGER audit_loses_nothing;
    DROP TRIGGER audit_only_grows; DROP TRIGGER ledger_tiles_only_grow; DROP TRIGGER ledger_tiles_stay;
    DROP TRIGGER ledger_checkpoints_are_kept; DROP TRIGGER ledger_checkpoints_stay;";
const POSTGRES_WITHOUT_GUARDS: &str = "ALTER TABLE audit DISABLE TRIGGER USER; ALTER TABLE ledger_head DISABLE TRIGGER USER;
    ALTER TABLE ledger_tiles DISABLE TRIGGER USER; ALTER TABLE ledger_checkpoints DISABLE TRIGGER USER;";
/// What PostgreSQL writes in another way than SQLite.
const IN_POSTGRES: [(&str, &str); 4] = [
    ("char(10)", "chr(10)"),
    (
        "CAST(hashes || zeroblob(32) AS BLOB)",
        "hashes || decode(repeat('00', 32), 'hex')",
    ),
    (
        "zeroblob(length(hashes))",
        "decode(repeat('00', length(hashes)), 'hex')",
    ),
    ("X'", "'\\x"),
];

/// Where a ledger is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// A kernel's folder, and its database if it is not in there.
pub struct Ledger {
    home: Home,
    database: Option<Database>,
}

impl Deref for Ledger {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Backend {
    /// The sample, with nothing in its store yet.
    pub async fn home(self) -> Ledger {
        let home = Home::sample();
        let database = match self {
            Self::Sqlite => None,
            Self::Postgres => Database::new().await,
        };
        if let Some(database) = &database {
            let config = home.read("actum.yaml");
            let url_file = database.url_file();
            let store = format!("store: {{ postgres: {{ url_file: {url_file:?} }} }}");
            home.write("actum.yaml", &format!("{config}\n{store}\n"));
        }
        Ledger { home, database }
    }

    /// A ledger of so many records, signed at every fourth and at the end.
    pub async fn ledger(self, records: u64) -> Ledger {
        let ledger = self.home().await;
        ledger.grow(records).await;
        ledger
    }
}

impl Ledger {
    pub const fn backend(&self) -> Backend {
        match self.database {
            None => Backend::Sqlite,
            Some(_) => Backend::Postgres,
        }
    }

    /// The store, signed every so many records.
    pub async fn open(&self, every: u64) -> Box<dyn Store> {
        let notary = || Notary::open(&self.path("data/keys"), Some("example.org/log"), every);
        match &self.database {
            None => {
                let store = open_file(&self.data()).await;
                Box::new(store.signed_by(notary().unwrap()).await.unwrap())
            }
            Some(database) => {
                let store = PostgresStore::open(&database.url_file()).await.unwrap();
                Box::new(store.signed_by(notary().unwrap()).await.unwrap())
            }
        }
    }

    pub async fn grow(&self, records: u64) {
        let store = self.open(4).await;
        append(&*store, records).await;
        store.checkpoint(Timestamp::UNIX_EPOCH).await.unwrap();
        store.close().await;
    }

    /// Another ledger of so many records, with the key of this one and the files that were kept.
    pub async fn anew(&self, records: u64, kept: &[&str]) -> Self {
        let other = self.backend().home().await;
        for file in [&["data/keys/ledger.key", "data/keys/ledger.pub"], kept].concat() {
            other.write(file, &self.read(file));
        }
        other.grow(records).await;
        other
    }

    /// Statements of another program's.
    pub async fn sql(&self, sql: &str) -> Result<(), sqlx::Error> {
        let Some(database) = &self.database else {
            let options = SqliteConnectOptions::new().filename(self.data().join("actum.db"));
            let mut file = SqliteConnection::connect_with(&options).await.unwrap();
            let sql = AssertSqlSafe(sql.to_owned());
            sqlx::raw_sql(sql).execute(&mut file).await?;
            return file.close().await;
        };
        let mut text = sql.to_owned();
        for (sqlite, postgres) in IN_POSTGRES {
            text = text.replace(sqlite, postgres);
        }
        database.sql(&text).await.map(drop)
    }

    /// Changes the database behind the kernel's back, the guards taken off.
    pub async fn tamper(&self, change: &str) {
        let without_guards = match self.backend() {
            Backend::Sqlite => SQLITE_WITHOUT_GUARDS,
            Backend::Postgres => POSTGRES_WITHOUT_GUARDS,
        };
        let sql = format!("{without_guards}{change}");
        self.sql(&sql).await.unwrap();
    }

    /// How many tiles are stored.
    pub async fn tiles(&self) -> i64 {
        let count = "SELECT count(*) FROM ledger_tiles";
        match &self.database {
            None => {
                let options = SqliteConnectOptions::new().filename(self.data().join("actum.db"));
                let mut file = SqliteConnection::connect_with(&options).await.unwrap();
                sqlx::query_scalar(count).fetch_one(&mut file).await
            }
            Some(database) => {
                let mut connection = database.connect().await;
                sqlx::query_scalar(count).fetch_one(&mut connection).await
            }
        }
        .unwrap()
    }

    pub async fn run(&self, command: &[&str], more: &[&str]) -> Ended {
        self.actum(&[&["ledger"], command, more].concat()).await
    }

    pub async fn verify(&self, more: &[&str]) -> Ended {
        self.run(&["verify"], &[&CONFIG, more].concat()).await
    }

    /// The file that messages about the store begin with.
    pub fn named(&self) -> PathBuf {
        match &self.database {
            None => PathBuf::from("actum.db"),
            Some(database) => database.url_file(),
        }
    }
}

/// A command that another test starts holds the lock of the store that was closed a moment ago, for as long as it takes to
/// become that command.
async fn open_file(folder: &Path) -> SqliteStore {
    for _ in 0..1_000 {
        match SqliteStore::open(folder).await {
            Err(error) if error.to_string().contains("another kernel") => {
                tokio::task::yield_now().await;
            }
            opened => return opened.unwrap(),
        }
    }
    panic!("{}: the lock is not let go", folder.display());
}

pub async fn append(store: &dyn Store, records: u64) {
    for n in 0..records {
        store.record(entry(n)).await.unwrap();
    }
}

pub fn entry(n: u64) -> Entry {
    Entry {
        at: Timestamp::UNIX_EPOCH,
        kind: Kind::CallRefused,
        body: json!({"n": n}),
    }
}

#[track_caller]
pub fn assert_holds(ended: &Ended, wanted: &[&str]) {
    assert_eq!(ended.code, 0, "{ended:?}");
    for wanted in wanted {
        assert!(ended.out.contains(wanted), "{wanted:?}: {ended:?}");
    }
}

#[track_caller]
pub fn assert_told(ended: &Ended, wanted: &[&str]) {
    assert_eq!(ended.code, 1, "{ended:?}");
    for wanted in wanted {
        assert!(ended.err.contains(wanted), "{wanted:?}: {}", ended.err);
    }
}
