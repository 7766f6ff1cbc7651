//! What PostgreSQL adds: a server that may not be there or be lost, and other kernels.

mod archive;
mod kernels;
mod losses;
mod opening;
mod signing;

use actum_kernel::store::PostgresStore;

use crate::database::Database;

pub async fn open(database: &Database) -> PostgresStore {
    PostgresStore::open(&database.url_file()).await.unwrap()
}
