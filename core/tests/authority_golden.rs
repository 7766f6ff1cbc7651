//! Route resolution, composition and the manifests against the answers of a real system.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking; clippy's own exception leaves out helper functions"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use actum::authority::document::{Decode, decode_json};
use actum::authority::terms::Relationship;
use actum::authority::{
    ComposeError, ComposeInput, Event, Identity, ListKind, ManifestSet, Resolution, Route, compose,
    resolve_route,
};
use jiff::Timestamp;
use serde_json::{Value, json};

fn shared() -> PathBuf {
    // The tests find their data beside the project, and fail where it is missing.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/openspine");
    assert!(
        folder.is_dir(),
        "{} is missing: these tests need it",
        folder.display()
    );
    folder
}

fn cases(name: &str, least: usize) -> Vec<Value> {
    let path = shared().join("golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cases: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        cases.len() >= least,
        "{name} has only {} cases",
        cases.len()
    );
    cases
}

fn manifest<T: Decode>(value: &Value) -> T {
    decode_json(value).unwrap_or_else(|faults| panic!("{faults}\n{value}"))
}

fn from_json<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}\n{value}"))
}

#[test]
fn routes_resolve_as_in_the_reference() {
    for (number, case) in cases("routes.jsonl", 350).iter().enumerate() {
        let event: Event = from_json(&case["event"]);
        let identity: Identity = from_json(&case["identity"]);
        let relationship: Option<Relationship> = from_json(&case["relationship"]);
        let routes: Vec<Route> = case["routes"]
            .as_array()
            .unwrap()
            .iter()
            .map(manifest)
            .collect();

        let answer = match resolve_route(&event, &identity, relationship, &routes) {
            Resolution::Route(route) => json!({"status": "success", "route_id": *route.id}),
            Resolution::Denied { reason } => {
                json!({"status": "denied", "reason": reason.to_string()})
            }
            Resolution::Ambiguous { candidates } => json!({
                "status": "ambiguous",
                "fallback_route": "low_authority_triage",
                "reason": "multiple_matching_routes_no_deterministic_winner",
                "candidate_route_ids": candidates,
            }),
        };
        assert_eq!(answer, case["expect"], "case {number}");
    }
}

#[test]
fn authority_is_composed_as_in_the_reference() {
    let known: BTreeSet<String> = {
        let path = shared().join("golden/catalog_ids.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    for (number, case) in cases("compose.jsonl", 420).iter().enumerate() {
        let now: Timestamp = from_json(&case["now"]);
        let composed = compose(&ComposeInput {
            event: &from_json(&case["event"]),
            identity: &from_json(&case["identity"]),
            route: &manifest(&case["route"]),
            agent: &manifest(&case["agent"]),
            workflow: &manifest(&case["workflow"]),
            pack: &manifest(&case["capability_pack"]),
            global_policy: &manifest(&case["global_policy"]),
            session: &manifest(&case["session"]),
            claims: None,
            known: &|id| known.contains(id),
            now,
        });
        let answer = match composed {
            Ok(composition) => json!({
                "outcome": "granted",
                "allowed_actions": composition.allowed_actions,
                "approval_required_actions": composition.approval_required_actions,
                "denied_actions": composition.denied_actions,
                "allowed_egress_classes": composition.egress_classes,
                "output_channels": composition.output_channels,
                "limits": composition.limits,
                "expires_at": composition.expires_at,
                "authority_sources": composition.authority_sources,
            }),
            Err(ComposeError::UnknownAction { id, list }) => {
                json!({"outcome": "unknown_action", "id": id, "source": list})
            }
            Err(denied) => json!({"outcome": "denied", "reason": denied.to_string()}),
        };
        assert_eq!(answer, case["expect"], "case {number}");
    }
}

/// Path and text of every artifact.
fn artifacts() -> BTreeMap<String, String> {
    let root = shared().join("artifacts");
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(&root).unwrap() {
        let folder = folder.unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let name = path
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    files
}

#[test]
fn the_artifacts_load_unchanged() {
    let files = artifacts();
    let set = ManifestSet::read(&files).unwrap_or_else(|faults| panic!("{faults}"));
    let count = |folder: &str| files.keys().filter(|path| path.starts_with(folder)).count();
    assert!(files.len() >= 22);
    assert_eq!(set.routes().count(), count("routes/"));
    assert_eq!(set.agents().count(), count("agents/"));
    assert_eq!(set.workflows().count(), count("workflows/"));
    assert_eq!(set.packs().count(), count("packs/"));
    assert_eq!(*set.global_policy().id, "global");
}

#[test]
fn every_listing_names_the_line_that_holds_its_action() {
    let files = artifacts();
    let set = ManifestSet::read(&files).unwrap();
    let mut kinds = BTreeSet::new();
    for listing in set.listings() {
        let position = listing.position.unwrap();
        let line = files[listing.file].lines().nth(position.line - 1).unwrap();
        let at = line
            .get(position.column - 1..)
            .unwrap()
            .trim_start_matches('"');
        assert!(
            at.starts_with(listing.action),
            "{listing:?} against {line:?}"
        );
        kinds.insert(listing.kind);
    }
    assert_eq!(
        kinds,
        BTreeSet::from([ListKind::Allow, ListKind::Approval, ListKind::Deny])
    );
}

#[test]
fn every_artifact_refuses_an_unknown_key_on_every_level_where_it_stands() {
    for (path, text) in artifacts() {
        let mut tried = 0;
        for (index, line) in text.lines().enumerate() {
            let key = line.trim_start().trim_start_matches("- ");
            let indent = line.len() - key.len();
            let is_key = key.split_once(':').is_some_and(|(name, rest)| {
                name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                    && (rest.is_empty() || rest.starts_with(' '))
            });
            if !is_key {
                continue;
            }
            // A sibling just above the key must be refused at this very place.
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines[index] = format!(
                "{}zzz_unknown: 1\n{}{key}",
                &line[..indent],
                " ".repeat(indent)
            );
            let changed = lines.join("\n");
            let faults = ManifestSet::read([(path.as_str(), changed.as_str())]).unwrap_err();
            let start = format!("{path}:{}:{}: field `", index + 1, indent + 1);
            let told = faults
                .as_slice()
                .iter()
                .map(ToString::to_string)
                .any(|fault| {
                    fault.starts_with(&start)
                        && fault.contains("zzz_unknown`: there is no such field")
                });
            assert!(told, "{path} line {}:\n{faults}", index + 1);
            tried += 1;
        }
        assert!(tried >= 5, "{path}");
    }
}
