//! A database for one test, on the PostgreSQL that `ACTUM_TEST_POSTGRES` names. `.ci/postgres` makes that.

use std::io::Write as _;
use std::path::PathBuf;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};
use tempfile::TempDir;
use ulid::Ulid;

/// The server's URL, or `None`, loudly, where the tests that need it are left out.
pub fn server() -> Option<String> {
    if let Ok(url) = std::env::var("ACTUM_TEST_POSTGRES") {
        return Some(url);
    }
    let required = std::env::var("ACTUM_REQUIRE_POSTGRES").is_ok_and(|value| value == "1");
    let how = "set ACTUM_TEST_POSTGRES to the URL of a PostgreSQL, or run it by `.ci/postgres with cargo test`";
    assert!(!required, "there is no PostgreSQL: {how}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Past the harness, which keeps what a test that passes prints to itself.
    let _ = writeln!(
        std::io::stderr(),
        "LEFT OUT: {test} needs a PostgreSQL: {how}"
    );
    None
}

/// A database of one test, and a file with its URL. Both are gone at the end.
pub struct Database {
    pub url: String,
    server: String,
    name: String,
    folder: TempDir,
}

impl Database {
    /// An empty one on the server of all tests, if there is one.
    pub async fn new() -> Option<Self> {
        Some(Self::on(server()?).await)
    }

    /// An empty one on this server.
    pub async fn on(server: String) -> Self {
        let name = format!("actum_test_{}", Ulid::generate()).to_lowercase();
        execute(&server, &format!("CREATE DATABASE {name}"))
            .await
            .unwrap();
        let (address, _) = server.rsplit_once('/').unwrap();
        let url = format!("{address}/{name}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("url"), &url).unwrap();
        Self {
            url,
            server,
            name,
            folder,
        }
    }

    /// The file with the URL.
    pub fn url_file(&self) -> PathBuf {
        self.folder.path().join("url")
    }

    /// A file with the URL of this database and one thing changed in it.
    pub fn changed_url_file(&self, from: &str, to: &str) -> PathBuf {
        assert!(self.url.contains(from), "{from}");
        let path = self
            .folder
            .path()
            .join(format!("changed-{}", Ulid::generate()));
        std::fs::write(&path, self.url.replace(from, to)).unwrap();
        path
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Another program's connection.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    /// Statements of another program's; how many rows they touched.
    pub async fn sql(&self, text: &str) -> Result<u64, sqlx::Error> {
        execute(&self.url, text).await
    }

    /// Cuts every connection to the database.
    pub async fn cut_connections(&self) {
        let cut = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        );
        execute(&self.server, &cut).await.unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let drop = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            // A server of one's own may be gone already.
            let _ = runtime.block_on(execute(
                &server,
                &format!("DROP DATABASE {name} WITH (FORCE)"),
            ));
        };
        let _ = std::thread::spawn(drop).join();
    }
}

async fn execute(url: &str, text: &str) -> Result<u64, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    let done = sqlx::raw_sql(AssertSqlSafe(text.to_owned()))
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(done.rows_affected())
}
