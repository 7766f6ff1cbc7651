//! The tables: made by whoever may, looked for by everybody.
//!
//! A kernel whose role may not make tables runs on those that another role made, see `docs/postgres-role.sql`.

use sqlx::Row;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgConnection;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// What keeps the tables from being used, and how to mend it.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTables {
    /// The database said so.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// They are of a version that is not known here.
    #[error("its tables are of a newer version of Actum, which is then the one to run")]
    Newer,
    /// They are not those of this version, and this role may not make them so.
    #[error(
        "its tables are missing or not up to date, and this role may not make them ({0}); start a kernel once with the URL of the role that owns them, and grant this one its rights as docs/postgres-role.sql does"
    )]
    NotMigrated(sqlx::Error),
    /// Something else failed.
    #[error(
        "its tables cannot be brought up to date: {0}; if they are another program's, choose another database"
    )]
    Failed(MigrateError),
}

/// Brings the tables up to date. Where they are, nothing is written, so that a role without that right will do.
pub(super) async fn bring_up_to_date(connection: &mut PgConnection) -> Result<(), NoTables> {
    if are_up_to_date(connection).await? {
        return Ok(());
    }
    // Kernels that start at once wait for each other here.
    MIGRATIONS
        .run(&mut *connection)
        .await
        .map_err(|error| match error {
            MigrateError::VersionMissing(_) => NoTables::Newer,
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)
                if is_no_right(&error) =>
            {
                NoTables::NotMigrated(error)
            }
            error => NoTables::Failed(error),
        })
}

/// Whether they are those of this version.
pub(super) async fn are_up_to_date(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let there = sqlx::query("SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS there")
        .fetch_one(&mut *connection)
        .await?;
    if !there.try_get::<bool, _>("there")? {
        return Ok(false);
    }
    let rows = sqlx::query(
        "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version",
    )
    .fetch_all(&mut *connection)
    .await?;
    let applied: Vec<(i64, Vec<u8>)> = rows
        .iter()
        .map(|row| Ok((row.try_get("version")?, row.try_get("checksum")?)))
        .collect::<Result<_, sqlx::Error>>()?;
    let known = MIGRATIONS
        .iter()
        .map(|migration| (migration.version, migration.checksum.to_vec()));
    Ok(known.eq(applied))
}

/// `insufficient_privilege`
fn is_no_right(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some("42501")
}
