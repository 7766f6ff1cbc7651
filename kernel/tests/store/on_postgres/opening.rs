//! What is told of a database that cannot be used, and the role that suffices.

use std::path::Path;

use actum_kernel::ledger::Kind;
use actum_kernel::ledger::notary::Notary;
use actum_kernel::store::{Outcome, PostgresStore, Store};
use serde_json::json;
use sqlx::Connection;
use ulid::Ulid;

use super::open;
use crate::database::Database;
use crate::fixture::{entry, finish, issued, mark_interrupted, now, started, verified};

/// What an operator runs who gives kernels a role of their own.
const ROLE: &str = include_str!("../../../../docs/postgres-role.sql");

/// Why a store cannot be opened.
async fn refusal(url_file: &Path) -> String {
    match PostgresStore::open(url_file).await {
        Ok(_) => panic!("{} was opened", url_file.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_database_is_told_with_the_file_and_without_the_password() {
    let Some(database) = Database::new().await else {
        return;
    };
    let secret = database.url.split([':', '@']).nth(2).unwrap().to_owned();
    let port = database.url.rsplit([':', '/']).nth(1).unwrap().to_owned();
    // Nobody listens on port 1.
    let unreachable = database.changed_url_file(&format!(":{port}/"), ":1/");
    let wrong_password = database.changed_url_file(&secret, "wrong");
    let no_database = database.changed_url_file(database.name(), "nowhere");
    let no_url = database.changed_url_file("postgres://", "mysql://");
    let missing = database.url_file().with_file_name("missing");
    for (file, wanted) in [
        (unreachable, ["127.0.0.1:1", "start it"]),
        (
            wrong_password,
            ["password authentication failed", "correct"],
        ),
        (no_database, ["nowhere", "createdb"]),
        (
            no_url,
            ["no URL of a PostgreSQL", "postgres://user:password@"],
        ),
        (missing, ["cannot be read", "the URL"]),
    ] {
        let told = refusal(&file).await;
        assert!(told.starts_with(&file.display().to_string()), "{told}");
        for wanted in wanted {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        assert!(!told.contains(&secret), "{told}");
    }
    let printed = format!("{:?}", open(&database).await);
    assert!(!printed.contains(&secret), "{printed}");
}

#[tokio::test]
async fn tables_of_another_program_or_of_a_newer_version_are_told() {
    let Some(foreign) = Database::new().await else {
        return;
    };
    foreign.sql("CREATE TABLE tasks (what TEXT)").await.unwrap();
    let told = refusal(&foreign.url_file()).await;
    assert!(
        told.contains("another program") && told.contains("choose"),
        "{told}"
    );

    let newer = Database::new().await.unwrap();
    open(&newer).await.close().await;
    let migration = "INSERT INTO _sqlx_migrations SELECT version + 1, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations ORDER BY version DESC LIMIT 1";
    assert_eq!(newer.sql(migration).await.unwrap(), 1);
    let told = refusal(&newer.url_file()).await;
    assert!(told.contains("newer version of Actum"), "{told}");
}

#[tokio::test]
async fn a_role_of_its_own_can_run_a_kernel_and_cannot_touch_the_ledger() {
    let Some(database) = Database::new().await else {
        return;
    };
    // Roles are of the whole server.
    let role = format!("kernel_{}", Ulid::generate()).to_lowercase();
    let secret = database.url.split([':', '@']).nth(2).unwrap();
    let make = format!("CREATE ROLE {role} LOGIN PASSWORD '{secret}'");
    database.sql(&make).await.unwrap();
    let as_role = database.changed_url_file("//actum:", &format!("//{role}:"));

    // Before the owner of the tables made them.
    let told = refusal(&as_role).await;
    assert!(
        told.contains("may not make them") && told.contains("docs/postgres-role.sql"),
        "{told}"
    );

    open(&database).await.close().await;
    database
        .sql(&ROLE.replace("actum_kernel", &role))
        .await
        .unwrap();
    let notary = Notary::open(&as_role.with_file_name("keys"), None, 2).unwrap();
    let store = PostgresStore::open(&as_role).await.unwrap();
    let store = store.signed_by(notary).await.unwrap();
    let token = Ulid::generate();
    let task = issued(&store, &[token]).await;
    let call = started(&store, task).await;
    finish(&store, call, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    store
        .post_message(task, "visitor", "hello", now())
        .await
        .unwrap();
    mark_interrupted(&store).await.unwrap();
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert_eq!(store.revoke(task, revoked).await.unwrap(), [task]);
    let before = verified(&store).await;

    let url = std::fs::read_to_string(as_role).unwrap();
    let mut other = sqlx::postgres::PgConnection::connect(&url).await.unwrap();
    for text in [
        "UPDATE audit SET body = '{}'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "DROP TRIGGER audit_only_grows ON audit",
        "ALTER TABLE audit DISABLE TRIGGER ALL",
        "DELETE FROM ledger_tiles",
        "UPDATE ledger_checkpoints SET note = ''",
        "DELETE FROM ledger_checkpoints",
        "DELETE FROM calls",
        "DELETE FROM ledger_head",
        "DROP TABLE audit",
    ] {
        let told = sqlx::raw_sql(text).execute(&mut other).await.unwrap_err();
        let told = told.to_string();
        assert!(
            told.contains("permission denied") || told.contains("must be owner"),
            "{text}: {told}"
        );
    }
    assert_eq!(verified(&store).await, before);
    store.close().await;
    let gone = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    database.sql(&gone).await.unwrap();
}

#[tokio::test]
async fn kernels_that_start_at_once_make_the_tables_once() {
    let Some(database) = Database::new().await else {
        return;
    };
    let file = database.url_file();
    let (one, two, three) = tokio::join!(
        PostgresStore::open(&file),
        PostgresStore::open(&file),
        PostgresStore::open(&file)
    );
    for store in [one, two, three] {
        issued(&store.unwrap(), &[]).await;
    }
    assert_eq!(verified(&open(&database).await).await.seq, 3);
}
