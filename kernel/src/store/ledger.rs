//! The ledger as every store keeps it: how it grows, and what is checked before a kernel goes on with it.
//!
//! The databases differ in who else may write, and in nothing here: [`Tables`] has the statements, which each of them
//! understands.

mod growth;
mod tables;

use std::collections::BTreeMap;

use tlog_tiles::record_hash;

use super::StoreError;
use super::rows::follow;
use crate::ledger::checkpoint::Checkpoint;
use crate::ledger::notary::Notary;
use crate::ledger::tree::{Edge, Question};
use crate::ledger::{Broken, Head, Record, verify_next};

pub(super) use growth::{End, Growth};
pub(super) use tables::Tables;

/// How many records are read at once.
pub(super) const PAGE: i64 = 1_000;

/// Goes through the chain from its beginning and gives its end. `each` gets every record up to where it does not hold.
pub(super) async fn chain(
    tables: &mut dyn Tables,
    mut each: impl FnMut(&Record),
) -> Result<Result<Head, Broken>, StoreError> {
    let mut head = Head::empty();
    // From the very beginning: a record can be put in before the first, too.
    let mut after = i64::MIN;
    loop {
        let page = tables.records_after(after, PAGE).await?;
        if page.is_empty() {
            return Ok(Ok(head));
        }
        match follow(head, page, &mut each) {
            Ok(next) => (head, after) = (next, next.seq),
            Err(broken) => return Ok(Err(broken)),
        }
    }
}

/// Makes the records of a store that had a chain alone into leaves, within the caller's transaction, and says how many.
/// The chain is verified on the way: what is signed from now on has to be what it was.
pub(super) async fn take_over(tables: &mut dyn Tables) -> Result<u64, String> {
    let told = |error: StoreError| error.to_string();
    let records = tables.newest_record().await.map_err(told)?.seq;
    if records == 0 || tables.leaves().await.map_err(told)? > 0 {
        return Ok(0);
    }
    let (mut head, mut edge) = (Head::empty(), Edge::default());
    let mut after = i64::MIN;
    loop {
        let page = tables.records_after(after, PAGE).await.map_err(told)?;
        if page.is_empty() {
            break;
        }
        for row in page {
            let record = Record::try_from(row).map_err(told)?;
            head = verify_next(&head, &record).map_err(|broken| {
                format!("its ledger does not hold, so that no kernel can go on with it: {broken}; restore it from a backup, or move it away to begin anew")
            })?;
            after = head.seq;
            let entry = record.entry().map_err(|error| error.to_string())?;
            for (place, hashes) in edge.push(record_hash(&entry)) {
                tables.put_tile(place, &hashes).await.map_err(told)?;
            }
        }
    }
    for (place, hashes) in edge.partial() {
        tables.put_tile(place, hashes).await.map_err(told)?;
    }
    tracing::info!(records, "the ledger's records become leaves of a tree");
    Ok(edge.size())
}

/// Checks that what was last signed is still what the ledger begins with, and says whether anything was. INVARIANT:
/// nothing is signed that contradicts an earlier checkpoint of the store. `remedy` says where the right key is.
pub(super) async fn check_signed(
    tables: &mut dyn Tables,
    notary: &Notary,
    end: &End,
    remedy: &str,
) -> Result<bool, String> {
    let told = |error: StoreError| error.to_string();
    let Some(note) = tables.newest_note().await.map_err(told)? else {
        return Ok(false);
    };
    let checkpoint = Checkpoint::open(&note, notary.key())
        .map_err(|why| format!("the newest checkpoint of its ledger: {why}; {remedy}"))?;
    let (size, records) = (checkpoint.size(), end.size());
    if size > records {
        return Err(format!(
            "its ledger was cut off: it has {records} records, and its newest checkpoint is of {size}; restore it from a backup"
        ));
    }
    let question = Question::Root { size };
    let mut tiles = BTreeMap::new();
    for place in question.places().into_keys() {
        if let Some(hashes) = tables.tile(place).await.map_err(told)? {
            tiles.insert(place, hashes);
        }
    }
    match question.answer(&tiles) {
        Ok(root) if root == [checkpoint.root()] => Ok(true),
        _ => Err(format!(
            "its ledger does not begin with the {size} records that its newest checkpoint was signed over; `actum ledger verify` tells where; restore it from a backup"
        )),
    }
}
