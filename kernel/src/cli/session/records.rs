//! What is stored of one task, and whether it agrees with itself.
//!
//! The ledger is the measure: its record of the grant names the grant, the catalog and the exposures by digest. Each
//! of them is worked out anew from what is stored, and every difference is a problem in words.

use std::collections::{BTreeMap, BTreeSet};

use actum::authorization::{Authorization, Exposures};
use actum::digest::canonical_json;
use actum::{ActionCatalog, Digest, VerifiedGrant};
use serde_json::Value;
use ulid::Ulid;

use crate::ledger::{Broken, Head, Kind, Record};
use crate::store::{Archive, ArchivedCall, ArchivedTask, StoreError};

/// The most calls, and the most refusals, that are told of one task.
const MOST: usize = 10_000;

/// The records of one task.
#[derive(Debug)]
pub(super) struct Records {
    /// The ledger's record that the task was issued.
    pub(super) issued: Option<Record>,
    /// The ledger's end, or where it does not hold.
    pub(super) ledger: Result<Head, Broken>,
    /// The calls, as they are stored, each with the authorization that the ledger has.
    pub(super) calls: Vec<(ArchivedCall, Option<Value>)>,
    /// The calls that were refused.
    pub(super) refused: Vec<Record>,
    /// Whether there are more calls or refusals than are told.
    pub(super) is_cut: bool,
    /// What the store has of the exposures, where the ledger names any.
    pub(super) exposures: Option<String>,
    /// When the ledger says that it was taken back.
    revoked: Option<Record>,
    /// When the ledger says that its worker reported its end.
    ended: Option<Record>,
    /// The calls that the ledger says were begun or held, with their action.
    begun: BTreeMap<String, (String, Option<Value>)>,
    /// Records that the task was issued, beyond the first.
    issued_again: Vec<i64>,
}

impl Records {
    /// Reads them all.
    pub(super) async fn read(archive: &mut Archive, task: Ulid) -> Result<Self, StoreError> {
        let mut records = Self {
            issued: None,
            ledger: Ok(Head::empty()),
            calls: Vec::new(),
            refused: Vec::new(),
            is_cut: false,
            exposures: None,
            revoked: None,
            ended: None,
            begun: BTreeMap::new(),
            issued_again: Vec::new(),
        };
        let name = task.to_string();
        let ledger = archive.ledger(|record| {
            if text(record, "task") == Some(name.as_str()) {
                records.take(record);
            }
        });
        records.ledger = ledger.await?;
        let limit = i64::try_from(MOST.saturating_add(1)).unwrap_or(i64::MAX);
        let mut calls = archive.calls(task, limit).await?;
        if calls.len() > MOST {
            calls.truncate(MOST);
            records.is_cut = true;
        }
        let begun = &records.begun;
        records.calls = calls
            .into_iter()
            .map(|call| {
                let authorization = begun.get(&call.id).and_then(|(_, it)| it.clone());
                (call, authorization)
            })
            .collect();
        if let Some(digest) = records.exposures_digest() {
            records.exposures = archive.exposures(digest).await?;
        }
        Ok(records)
    }

    fn take(&mut self, record: &Record) {
        let is = |kind: Kind| record.kind == kind.as_str();
        if is(Kind::GrantIssued) {
            match &self.issued {
                None => self.issued = Some(record.clone()),
                Some(_) => self.issued_again.push(record.seq),
            }
        } else if is(Kind::GrantRevoked) {
            self.revoked.get_or_insert_with(|| record.clone());
        } else if is(Kind::TaskEnded) {
            self.ended.get_or_insert_with(|| record.clone());
        } else if is(Kind::CallRefused) {
            match self.refused.len() < MOST {
                true => self.refused.push(record.clone()),
                false => self.is_cut = true,
            }
        } else if (is(Kind::CallStarted) || is(Kind::CallPending)) && self.begun.len() <= MOST {
            let (Some(call), action) = (text(record, "call"), text(record, "action")) else {
                return;
            };
            let authorization = record.body.get("authorization").cloned();
            let action = action.unwrap_or_default().to_owned();
            // A call that was held and then begun has two; the first is the one that was judged.
            let begun = self.begun.entry(call.to_owned());
            begun.or_insert((action, authorization));
        }
    }

    fn exposures_digest(&self) -> Option<Digest> {
        digest(self.issued.as_ref()?, "exposures")
    }

    /// Whether the ledger names exposures; a grant of a version that kept none has no such name.
    pub(super) fn has_exposures(&self) -> bool {
        self.exposures_digest().is_some()
    }

    /// Everything that does not agree; empty when all of it does.
    pub(super) fn problems(
        &self,
        task: &ArchivedTask,
        grant: &VerifiedGrant,
        catalog: &ActionCatalog,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        if let Err(broken) = &self.ledger {
            problems.push(match &self.issued {
                Some(issued) => format!(
                    "the ledger does not hold: {broken}; it holds up to the grant's record {}, and what came after the break is not told here",
                    issued.seq
                ),
                None => format!("the ledger does not hold: {broken}"),
            });
        }
        match &self.issued {
            None => problems.push(
                "the ledger has no record, as far as it holds, that this task was issued"
                    .to_owned(),
            ),
            Some(issued) => {
                for seq in &self.issued_again {
                    problems.push(format!(
                        "record {seq} issues the task a second time; the first is record {}",
                        issued.seq
                    ));
                }
                problems.extend(of_the_grant(issued, task, grant));
                problems.extend(self.of_exposures(issued, grant, catalog));
            }
        }
        if task.expires_at != grant.expires_at() {
            problems.push(format!(
                "the store says that the task is over at {}, and its grant at {}",
                task.expires_at,
                grant.expires_at()
            ));
        }
        problems.extend(self.of_the_end(task));
        problems.extend(self.of_calls());
        problems
    }

    fn of_exposures(
        &self,
        issued: &Record,
        grant: &VerifiedGrant,
        catalog: &ActionCatalog,
    ) -> Option<String> {
        let named = self.exposures_digest()?;
        let Some(stored) = &self.exposures else {
            return Some(format!(
                "record {} names the exposures {named}, which are not in the store",
                issued.seq
            ));
        };
        let found = Digest::of_bytes(stored.as_bytes());
        if found != named {
            return Some(format!(
                "the stored exposures were changed: record {} names {named}, and their digest is {found}",
                issued.seq
            ));
        }
        let anew = Exposures::of(grant, catalog);
        let is_same = canonical_json(&anew).is_ok_and(|anew| Digest::of_bytes(&anew) == named);
        (!is_same).then(|| {
            format!(
                "the exposures of then are not those that grant and catalog give now: {}; this version of Actum judges otherwise than the one that issued the task, or both were changed together",
                first_difference(stored, &anew)
            )
        })
    }

    fn of_the_end(&self, task: &ArchivedTask) -> Vec<String> {
        let report = match (&task.end, &self.ended) {
            (Some(end), None) => Some(format!(
                "the store says that its worker ended the task at {}, and the ledger has no record of it",
                end.at
            )),
            (None, Some(record)) => Some(format!(
                "record {} ends the task by its worker's report, and the store says that it did not end",
                record.seq
            )),
            (Some(end), Some(record)) => {
                let found = Digest::of_json(&end.report).ok();
                let is_same = found.is_some() && digest(record, "report") == found;
                (!is_same).then(|| {
                    format!(
                        "the stored report is another than the one that record {} names",
                        record.seq
                    )
                })
            }
            (None, None) => None,
        };
        let revoked = match (&task.revoked_at, &self.revoked) {
            (Some(at), None) => Some(format!(
                "the store says that the task was taken back at {at}, and the ledger has no record of it"
            )),
            (None, Some(record)) => Some(format!(
                "record {} takes the task back, and the store says that it was not",
                record.seq
            )),
            _ => None,
        };
        report.into_iter().chain(revoked).collect()
    }

    fn of_calls(&self) -> Vec<String> {
        if self.is_cut || self.ledger.is_err() {
            // Only all of both can be held against each other.
            return Vec::new();
        }
        let mut problems = Vec::new();
        for (call, _) in &self.calls {
            match self.begun.get(&call.id) {
                None => problems.push(format!(
                    "call {} of `{}` is stored, and the ledger has no record of it",
                    call.id, call.action
                )),
                Some((action, _)) if *action != call.action => problems.push(format!(
                    "call {} is of `{}` in the store, and of `{action}` in the ledger",
                    call.id, call.action
                )),
                Some(_) => {}
            }
        }
        let stored: BTreeSet<&str> = self
            .calls
            .iter()
            .map(|(call, _)| call.id.as_str())
            .collect();
        let gone = self
            .begun
            .iter()
            .filter(|(id, _)| !stored.contains(id.as_str()));
        problems.extend(gone.map(|(id, (action, _))| {
            format!("the ledger has call {id} of `{action}`, and the store does not")
        }));
        problems
    }
}

/// Whether the ledger names the grant, its catalog and its policy as they are stored.
fn of_the_grant(issued: &Record, task: &ArchivedTask, grant: &VerifiedGrant) -> Vec<String> {
    let root = grant.root();
    let named = match grant.is_handed_on() {
        // What was handed on are its caveats.
        true => Digest::of_json(&task.grant),
        false => Digest::of_json(root),
    };
    let wanted = [
        ("grant", named.ok()),
        ("catalog", Some(grant.catalog_digest())),
        ("policy", Some(root.policy_revision)),
    ];
    let differs = wanted
        .into_iter()
        .filter(|(field, found)| found.is_none() || digest(issued, field) != *found);
    differs
        .map(|(field, found)| {
            let found = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
            let told = issued.body.get(field).map_or("none".to_owned(), bare);
            format!(
                "record {} names the {field} {told}, and what is stored has {found}",
                issued.seq
            )
        })
        .collect()
}

/// The first action whose record is another now.
fn first_difference(stored: &str, anew: &Exposures) -> String {
    let Ok(stored) = serde_json::from_str::<Exposures>(stored) else {
        return "those of then cannot be read".to_owned();
    };
    let by_id = |all: &Exposures| -> BTreeMap<String, Authorization> {
        let records = all.records.iter().cloned();
        records.map(|it| (it.operation_id.clone(), it)).collect()
    };
    let (then, now) = (by_id(&stored), by_id(anew));
    let ids: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let told = |all: &BTreeMap<String, Authorization>, id: &str| {
        let record = all.get(id);
        record.map_or_else(|| "nothing".to_owned(), |it| it.reason.clone())
    };
    let differs = ids.into_iter().find(|id| then.get(*id) != now.get(*id));
    differs.map_or_else(
        || "in how many were left out".to_owned(),
        |id| {
            format!(
                "of `{id}` the record says `{}`, and now it is `{}`",
                told(&then, id),
                told(&now, id)
            )
        },
    )
}

/// A text of a record's body.
pub(super) fn text<'r>(record: &'r Record, field: &str) -> Option<&'r str> {
    record.body.get(field)?.as_str()
}

fn digest(record: &Record, field: &str) -> Option<Digest> {
    Digest::parse(text(record, field)?)
}

fn bare(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
