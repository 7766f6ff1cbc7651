//! From a file with a URL to connections, or to words that say why not.

use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Executor, Row};

use super::{CONNECTIONS, ledger, tables};
use crate::store::StoreError;

/// The oldest version that is used, as `server_version_num` counts: `pg_xact_status` is there since 13,
/// which its makers mend no more (<https://www.postgresql.org/support/versioning/>).
const OLDEST: i32 = 140_000;

/// How long a connection may take to be had.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// How a connection that is not trusted is mended.
const CERTIFICATE: &str =
    "correct `sslmode` and `sslrootcert` in the URL, or the server's certificate";

/// What every session is told. Nothing waits for ever, and a commit returns after the flush: what was answered survives
/// the power cut. (A server that waits for its standbys, too, is left to.)
const SESSION: &str = "SELECT set_config('statement_timeout', '5s', false),
    set_config('lock_timeout', '4s', false),
    set_config('idle_in_transaction_session_timeout', '5s', false),
    set_config('default_transaction_isolation', 'read committed', false),
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
         THEN set_config('synchronous_commit', 'on', false) END";

/// Connects to the database whose URL stands in a file, and brings its tables and its ledger up to date.
pub(super) async fn open(url_file: &Path) -> Result<(PgPool, Named), StoreError> {
    let database = Database::read(url_file)?;
    let told = |problem: String| database.told(&problem);
    // Not from the pool, which waits for a server that is not there instead of saying so.
    let mut connection = database.connect().await?;
    check_server(&mut connection).await.map_err(told)?;
    tables::bring_up_to_date(&mut connection)
        .await
        .map_err(|error| told(error.to_string()))?;
    ledger::open(&mut connection).await.map_err(told)?;
    // It has served; how it ends changes nothing.
    let _ = connection.close().await;

    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(CONNECT_TIME)
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute(SESSION).await?;
                Ok(())
            })
        })
        .connect_with(database.options.clone())
        .await
        .map_err(|error| told(refusal(&error)))?;
    Ok((pool, database.named))
}

/// One connection to a database whose tables are those of this version, to read from.
pub(super) async fn open_to_read(url_file: &Path) -> Result<PgConnection, StoreError> {
    let database = Database::read(url_file)?;
    let mut connection = database.connect().await?;
    match tables::are_up_to_date(&mut connection).await {
        Ok(true) => Ok(connection),
        Ok(false) => Err(database.told(
            "there is no store of this version here; name the kernel's database, and start the kernel once after an update",
        )),
        Err(error) => Err(database.told(&refusal(&error))),
    }
}

/// A database, and the file that names it.
struct Database {
    named: Named,
    options: PgConnectOptions,
}

/// What a database is called in messages, without its password.
#[derive(Debug)]
pub(super) struct Named {
    url_file: String,
    server: String,
}

impl Named {
    /// An error of this database.
    pub(super) fn told(&self, problem: &str) -> StoreError {
        StoreError::Unusable {
            path: self.url_file.clone(),
            problem: format!("{}: {problem}", self.server),
        }
    }
}

impl Database {
    fn read(url_file: &Path) -> Result<Self, StoreError> {
        let options = read(url_file).map_err(|problem| StoreError::Unusable {
            path: url_file.display().to_string(),
            problem,
        })?;
        let database = options.get_database().unwrap_or(options.get_username());
        let (host, port) = (options.get_host(), options.get_port());
        let named = Named {
            url_file: url_file.display().to_string(),
            server: format!("the PostgreSQL at {host}:{port}, database {database}"),
        };
        Ok(Self { named, options })
    }

    async fn connect(&self) -> Result<PgConnection, StoreError> {
        let connecting = PgConnection::connect_with(&self.options);
        tokio::time::timeout(CONNECT_TIME * 2, connecting)
            .await
            .map_err(|_| {
                self.told("does not answer; check that it runs, and that nothing is in between")
            })?
            .map_err(|error| self.told(&refusal(&error)))
    }

    fn told(&self, problem: &str) -> StoreError {
        self.named.told(problem)
    }
}

/// The URL in a file. What is wrong with it is said without it: it holds a password.
fn read(url_file: &Path) -> Result<PgConnectOptions, String> {
    let text = std::fs::read_to_string(url_file).map_err(|error| {
        format!("cannot be read: {error}; it holds the URL of a PostgreSQL and nothing else")
    })?;
    let url = text.trim();
    let is_postgres = ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    let options = is_postgres.then(|| PgConnectOptions::from_str(url).ok());
    options.flatten().map_or_else(
        || {
            Err("is no URL of a PostgreSQL; write one line such as postgres://user:password@host:5432/database, with `%40` for an `@` in the password".to_owned())
        },
        |options| Ok(options.application_name("actum")),
    )
}

/// Why a connection was not to be had, and how to mend it.
fn refusal(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    let remedy = match (error, code.as_deref()) {
        (_, Some("28P01" | "28000")) => {
            "correct the user and the password in this file, or pg_hba.conf"
        }
        (_, Some("3D000")) => "make the database with `createdb`, or name another one",
        (_, Some("53300")) => "raise its max_connections; each kernel takes up to 8",
        (_, Some("57P03")) => "wait until it has started",
        // TLS tells of a certificate that it does not take as of data that it cannot read.
        (sqlx::Error::Io(error), _) if error.kind() == ErrorKind::InvalidData => CERTIFICATE,
        (sqlx::Error::Tls(_), _) => CERTIFICATE,
        (sqlx::Error::Io(_), _) => "start it, or correct the host and the port in this file",
        _ => "see its log",
    };
    format!("cannot be used: {error}; {remedy}")
}

async fn check_server(connection: &mut PgConnection) -> Result<(), String> {
    let ask = async {
        let row = sqlx::query(
            "SELECT current_setting('server_version_num')::int AS version,
                    current_setting('transaction_read_only')::bool AS read_only",
        )
        .fetch_one(connection)
        .await?;
        Ok((row.try_get("version")?, row.try_get("read_only")?))
    };
    let (version, read_only) = ask.await.map_err(|error: sqlx::Error| refusal(&error))?;
    suits(version, read_only)
}

/// Whether a server of this version will do.
fn suits(version: i32, read_only: bool) -> Result<(), String> {
    if version < OLDEST {
        return Err(format!(
            "is of version {}; use {} or newer",
            version / 10_000,
            OLDEST / 10_000
        ));
    }
    if read_only {
        return Err(
            "takes no writes; it is a standby, or its database is set read only: name the primary"
                .to_owned(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_not_there_and_one_that_is_not_trusted_are_mended_in_different_ways() {
        let refused = |kind: ErrorKind| refusal(&sqlx::Error::Io(kind.into()));
        assert!(refused(ErrorKind::ConnectionRefused).contains("start it"));
        assert!(refused(ErrorKind::InvalidData).contains("`sslrootcert`"));
    }

    #[test]
    fn a_server_that_is_too_old_or_a_standby_is_told() {
        assert_eq!(suits(140_000, false), Ok(()));
        assert_eq!(suits(180_001, false), Ok(()));
        let told = suits(130_022, false).unwrap_err();
        assert!(
            told.contains("version 13") && told.contains("14 or newer"),
            "{told}"
        );
        let told = suits(150_000, true).unwrap_err();
        assert!(told.contains("primary"), "{told}");
    }
}
