//! `actum check`: nothing is missing, or a person accepted that it is. And `actum ledger verify`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use actum::Registry;
use actum::authority::document::{Faults, Located, decode_yaml, record};
use actum::authority::{ListKind, ManifestKind};

use super::load_config;
use super::origin::linked_catalog;
use crate::manifests::by_action;

record! {
    /// The list of accepted gaps.
    struct AcceptedGaps {
        /// The gaps.
        accepted: Vec<AcceptedGap> = Vec::new(),
    }
}

record! {
    /// A gap that a person accepted.
    struct AcceptedGap {
        /// The action.
        action: Located<String>,
        /// Who accepted it.
        by: Located<String>,
        /// Why.
        reason: Located<String>,
    }
}

pub(crate) fn run(
    config: Option<PathBuf>,
    manifests: Option<PathBuf>,
    accepted: Option<PathBuf>,
) -> Result<(), String> {
    let linked = Registry::linked().map_err(|faults| faults.to_string())?;
    let linked = linked.catalog();
    let (manifests, accepted, catalog, drift) = match manifests {
        // What the configuration says is about the configuration's manifests.
        Some(manifests) => (manifests, accepted, linked, None),
        None => {
            let config = load_config(config)?;
            let lock = config.lock.as_deref();
            let drift = lock.and_then(|path| crate::surface::drift(path, &linked));
            let catalog = linked_catalog(&config)?;
            (
                config.manifests,
                accepted.or(config.accepted_gaps),
                catalog,
                drift,
            )
        }
    };
    let set = crate::load_manifests(&manifests).map_err(|faults| faults.to_string())?;
    let accepted_gaps = accepted
        .as_deref()
        .map_or(
            Ok(AcceptedGaps {
                accepted: Vec::new(),
            }),
            read,
        )
        .map_err(|faults| faults.to_string())?;

    let mut problems: Vec<String> = catalog.faults().iter().map(ToString::to_string).collect();
    problems.extend(drift);
    problems.extend(crate::manifests::idle(&set, &catalog, &manifests));
    let granted = || {
        set.listings()
            .filter(|listing| match (listing.kind, listing.manifest) {
                // A policy narrows what others allow, and allows nothing itself.
                (ListKind::Allow, ManifestKind::Policy) | (ListKind::Deny | ListKind::Bound, _) => {
                    false
                }
                (ListKind::Allow | ListKind::Approval, _) => true,
            })
    };
    let undispatched = granted().filter(|listing| !catalog.is_dispatchable(listing.action));
    let gaps = by_action(undispatched, &manifests);
    problems.extend(judge(&gaps, &accepted_gaps, accepted.as_deref()));
    if problems.is_empty() {
        let granted: BTreeSet<&str> = granted().map(|listing| listing.action).collect();
        return super::say(&format!(
            "complete: {} known actions, {} granted by manifests, accepted gaps: {}\n",
            catalog.len(),
            granted.len(),
            accepted_gaps.accepted.len()
        ));
    }
    let count = problems.len();
    Err(format!(
        "{}\n{count} problem{}",
        problems.join("\n"),
        if count == 1 { "" } else { "s" }
    ))
}

fn read(path: &Path) -> Result<AcceptedGaps, Faults> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => decode_yaml(&name, &text),
        Err(error) => {
            let report = actum::authority::document::Report::of_file(&name);
            report.fault(
                None,
                "",
                format!("cannot be read: {error}"),
                "name the list of accepted gaps",
            );
            report.finish(None)
        }
    }
}

fn judge(
    gaps: &BTreeMap<&str, String>,
    accepted: &AcceptedGaps,
    file: Option<&Path>,
) -> Vec<String> {
    let mut problems = Vec::new();
    let mut named = BTreeSet::new();
    let again: Vec<_> = accepted
        .accepted
        .iter()
        .filter(|gap| !named.insert(gap.action.as_str()))
        .collect();
    for (action, places) in gaps.iter().filter(|(action, _)| !named.contains(**action)) {
        problems.push(format!(
            "`{action}` is granted and nothing dispatches it; link a handler, accept it if it is an upstream's tool, drop the grant, or accept the gap by name and reason{places}"
        ));
    }
    let at = |position: Option<actum::authority::document::Position>| {
        let place = position
            .map(|p| format!(":{}:{}", p.line, p.column))
            .unwrap_or_default();
        format!("{}{place}", file.unwrap_or_else(|| Path::new("")).display())
    };
    for gap in again {
        problems.push(format!(
            "{}: `{}` is accepted a second time; keep one entry",
            at(gap.action.position),
            *gap.action
        ));
    }
    for gap in &accepted.accepted {
        if !gaps.contains_key(gap.action.as_str()) {
            problems.push(format!(
                "{}: `{}` is accepted as a gap and is none; remove the entry",
                at(gap.action.position),
                *gap.action
            ));
        }
        for (field, text) in [("by", &gap.by), ("reason", &gap.reason)] {
            if text.trim().is_empty() {
                problems.push(format!(
                    "{}: `{field}` is empty; a gap is accepted by name and reason",
                    at(text.position)
                ));
            }
        }
    }
    problems
}
