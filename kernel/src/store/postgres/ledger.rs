//! The ledger that all kernels of one PostgreSQL share: what is checked before one of them goes on with it, and how it is
//! signed. All of them sign with one key.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor, FromRow};

use super::change::{Applied, Change, Write};
use crate::ledger::Head;
use crate::ledger::notary::Notary;
use crate::store::StoreError;
use crate::store::ledger::{End, Tables, check_signed, take_over};
use crate::store::rows::HeadRow;

use Applied::{Changed, Unchanged};

/// How a kernel with another key is mended.
const REMEDY: &str = "all kernels of one PostgreSQL sign with one key: copy `keys/ledger.key` and `keys/ledger.pub` of the kernel that signed it into the `keys` folder of this one's `data`";

/// Makes a chain of before into a tree, and checks that chain, head and tree have one end. Others that start meanwhile, or
/// run, wait for it.
pub(super) async fn open(connection: &mut PgConnection) -> Result<(), String> {
    let told = |error: sqlx::Error| error.to_string();
    let mut tx = connection.begin().await.map_err(told)?;
    tx.execute("SET LOCAL lock_timeout = '60s'")
        .await
        .map_err(told)?;
    let row = sqlx::query("SELECT seq, digest FROM ledger_head FOR UPDATE")
        .fetch_one(&mut *tx)
        .await
        .map_err(told)?;
    let row = HeadRow::from_row(&row).map_err(told)?;
    let head = Head::try_from(row).map_err(|error| error.to_string())?;
    take_over(&mut *tx).await?;
    let end = End::read(&mut *tx)
        .await
        .map_err(|error| error.to_string())?;
    if end.head != head {
        return Err(format!(
            "its ledger ends in record {}, and its head says {}; somebody changed one of them; restore it from a backup",
            end.head.seq, head.seq
        ));
    }
    tx.commit().await.map_err(told)
}

/// Checks that a notary may go on with what was signed, and has it sign at once where nothing was. INVARIANT: behind the
/// lock of the head; so of kernels that start at once with several keys one begins the log, and the others are refused.
pub(super) struct BeginSigning {
    pub(super) notary: Arc<Notary>,
    pub(super) at: Timestamp,
}

#[async_trait]
impl Change for BeginSigning {
    /// Why it may not.
    type Done = Result<(), String>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let Self { notary, at } = self;
        match check_signed(&mut *write.tx, notary, &write.growth.end, REMEDY).await {
            Err(problem) => Ok(Unchanged(Err(problem))),
            Ok(true) => Ok(Unchanged(Ok(()))),
            Ok(false) => {
                write.growth.sign(notary, *at, &mut *write.tx).await?;
                Ok(Changed(Ok(())))
            }
        }
    }
}

/// Signs what the ledger is now, unless that is signed already. Gives the newest checkpoint.
pub(super) struct Sign(pub(super) Timestamp);

#[async_trait]
impl Change for Sign {
    type Done = Option<String>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let Some(notary) = write.notary.clone() else {
            return Ok(Unchanged(None));
        };
        let tx = &mut *write.tx;
        let signed = write.growth.sign_now(&notary, self.0, tx).await?;
        let note = write.tx.newest_note().await?;
        Ok(match signed {
            true => Changed(note),
            false => Unchanged(note),
        })
    }
}
