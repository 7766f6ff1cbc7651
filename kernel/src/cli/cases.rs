//! `actum test`: recorded authority cases, run against this version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use actum::authority::document::{Decode, decode_json};
use actum::authority::terms::Relationship;
use actum::authority::{
    AgentManifest, CapabilityPack, ComposeError, ComposeInput, Event, Identity, Limits, Policy,
    Resolution, Route, SessionPolicy, WorkflowManifest, compose, resolve_route,
};
use actum::gate::{Approval, Evidence, Origin, Request, SelectionToken, Verdict, gate};
use actum::grant::{Attenuation, Caveat, GrantMode, Principal, SealKey, TaskGrant};
use actum::{ActionCatalog, ActionId, Digest, EgressDeclaration, Registry, SealedGrant};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use ulid::Ulid;

/// The largest file of cases, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Runs every case of every file. See the command's help for the exit codes.
pub(super) fn run(catalog: Option<&Path>, files: &[std::path::PathBuf]) -> ExitCode {
    let mut tally = Tally::default();
    match known(catalog) {
        Ok(known) => files
            .iter()
            .for_each(|file| run_file(file, &known, &mut tally)),
        Err(problem) => {
            eprintln!("{problem}");
            tally.unreadable = true;
        }
    }
    let _ = super::say(&format!(
        "{} passed, {} failed\n",
        tally.passed, tally.failed
    ));
    match (tally.unreadable, tally.failed) {
        (true, _) => ExitCode::from(2),
        (false, 0) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    }
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    unreadable: bool,
}

/// What exists for the cases: ids as they are written, and the catalog that the gate asks.
struct Known {
    ids: BTreeSet<String>,
    catalog: ActionCatalog,
}

/// A catalog in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum CatalogFile {
    Ids(Vec<String>),
    Full(FullCatalog),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullCatalog {
    ids: Vec<String>,
    #[serde(default)]
    egress: BTreeMap<ActionId, EgressDeclaration>,
    #[serde(default)]
    kernel_origin: BTreeSet<ActionId>,
    #[serde(default)]
    token_requiring: BTreeMap<ActionId, String>,
}

fn known(file: Option<&Path>) -> Result<Known, String> {
    let Some(file) = file else {
        let catalog = Registry::linked()
            .map_err(|faults| faults.to_string())?
            .catalog();
        let ids = catalog.ids().into_iter().map(ToString::to_string).collect();
        return Ok(Known { ids, catalog });
    };
    let told = |problem: String| format!("{}: {problem}", file.display());
    let value: Value =
        serde_json::from_str(&read(file)?).map_err(|error| told(error.to_string()))?;
    let full = match serde_json::from_value(value) {
        Ok(CatalogFile::Ids(ids)) => FullCatalog {
            ids,
            egress: BTreeMap::new(),
            kernel_origin: BTreeSet::new(),
            token_requiring: BTreeMap::new(),
        },
        Ok(CatalogFile::Full(full)) => full,
        Err(_) => {
            return Err(told(
                "is no catalog: a JSON list of ids, or an object with `ids`, `egress`, `kernel_origin` and `token_requiring`".to_owned(),
            ));
        }
    };
    let ids = full
        .ids
        .iter()
        .map(|id| ActionId::parse(id).map_err(|fault| told(format!("`{id}`: {fault}"))))
        .collect::<Result<Vec<_>, _>>()?;
    let catalog = ActionCatalog::new(ids)
        .with_egress_declarations(full.egress)
        .with_kernel_origin(full.kernel_origin)
        .with_selection_token_types(full.token_requiring);
    Ok(Known {
        ids: full.ids.into_iter().collect(),
        catalog,
    })
}

fn read(file: &Path) -> Result<String, String> {
    let told = |problem: String| format!("{}: {problem}", file.display());
    let size = std::fs::metadata(file)
        .map_err(|error| told(format!("cannot be read: {error}")))?
        .len();
    if size > MAX_BYTES {
        return Err(told(format!(
            "has {size} bytes, at most {MAX_BYTES} are read"
        )));
    }
    std::fs::read_to_string(file).map_err(|error| told(format!("cannot be read: {error}")))
}

fn run_file(file: &Path, known: &Known, tally: &mut Tally) {
    let text = match read(file) {
        Ok(text) => text,
        Err(problem) => {
            eprintln!("{problem}");
            tally.unreadable = true;
            return;
        }
    };
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in lines {
        let place = format!("{}:{}", file.display(), index + 1);
        match run_line(line, known) {
            Ok(Outcome { expected, got }) if expected == got => tally.passed += 1,
            Ok(Outcome { expected, got }) => {
                tally.failed += 1;
                let _ = super::say(&format!(
                    "{place}: mismatch\n  expected {expected}\n  got      {got}\n"
                ));
            }
            Err(Broken::Case(problem)) => {
                tally.failed += 1;
                let _ = super::say(&format!("{place}: the case cannot be run: {problem}\n"));
            }
            Err(Broken::Line(problem)) => {
                tally.unreadable = true;
                eprintln!("{place}: {problem}");
            }
        }
    }
}

/// What a case says, and what came out, cut to what must match.
struct Outcome {
    expected: Value,
    got: Value,
}

enum Broken {
    /// The line is no case at all.
    Line(String),
    /// It is one, and something in it is not of its shape.
    Case(String),
}

fn run_line(line: &str, known: &Known) -> Result<Outcome, Broken> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| Broken::Line(error.to_string()))?;
    let Value::Object(case) = value else {
        return Err(Broken::Line("a case is a JSON object".to_owned()));
    };
    let has = |fields: &[&str]| fields.iter().all(|field| case.contains_key(*field));
    if !has(&["expect"]) {
        return Err(Broken::Line("a case has an `expect`".to_owned()));
    }
    let run = if has(&["request", "grant"]) {
        run_gate(&case, known)
    } else if has(&["capability_pack", "global_policy"]) {
        run_compose(&case, known)
    } else if has(&["event", "routes"]) {
        run_route(&case)
    } else {
        return Err(Broken::Line(
            "is no case about routes (`routes`), composition (`capability_pack`, `global_policy`) or the gate (`request`, `grant`)".to_owned(),
        ));
    };
    run.map_err(Broken::Case)
}

/// A field that serde reads.
fn field<T: DeserializeOwned>(case: &Map<String, Value>, name: &str) -> Result<T, String> {
    let value = case.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}"))
}

/// A field that is read as manifests are.
fn manifest<T: Decode>(case: &Map<String, Value>, name: &str) -> Result<T, String> {
    decode_json(case.get(name).unwrap_or(&Value::Null))
        .map_err(|faults| format!("`{name}`: {faults}"))
}

/// The members of an object that count.
fn only(object: &Value, keys: &[&str]) -> Value {
    keys.iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())))
        .collect::<Map<_, _>>()
        .into()
}

fn run_route(case: &Map<String, Value>) -> Result<Outcome, String> {
    let event: Event = field(case, "event")?;
    let identity: Identity = field(case, "identity")?;
    let relationship: Option<Relationship> = manifest(case, "relationship")?;
    let routes: Vec<Route> = manifest(case, "routes")?;
    let got = match resolve_route(&event, &identity, relationship, &routes) {
        Resolution::Route(route) => json!({"status": "success", "route_id": route.id.as_str()}),
        Resolution::Denied { .. } => json!({"status": "denied"}),
        Resolution::Ambiguous { candidates } => {
            json!({"status": "ambiguous", "candidate_route_ids": candidates})
        }
    };
    let expect: Value = field(case, "expect")?;
    Ok(Outcome {
        expected: only(&expect, &["status", "route_id", "candidate_route_ids"]),
        got,
    })
}

fn run_compose(case: &Map<String, Value>, known: &Known) -> Result<Outcome, String> {
    let composed = compose(&ComposeInput {
        event: &field(case, "event")?,
        identity: &field(case, "identity")?,
        route: &manifest::<Route>(case, "route")?,
        agent: &manifest::<AgentManifest>(case, "agent")?,
        workflow: &manifest::<WorkflowManifest>(case, "workflow")?,
        pack: &manifest::<CapabilityPack>(case, "capability_pack")?,
        global_policy: &manifest::<Policy>(case, "global_policy")?,
        session: &manifest::<SessionPolicy>(case, "session")?,
        claims: None,
        known: &|id| known.ids.contains(id),
        now: field(case, "now")?,
    });
    let expect: Value = field(case, "expect")?;
    let got = match composed {
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
        Err(_) => json!({"outcome": "denied"}),
    };
    let denied = expect.get("outcome") == Some(&json!("denied"));
    let expected = if denied {
        only(&expect, &["outcome"])
    } else {
        expect
    };
    Ok(Outcome { expected, got })
}

/// A grant as gate cases write it. Ids are any text there; one that is no action id can stand in no
/// catalog, so the gate refuses it before it looks at a list, and it is left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseGrant {
    allowed_actions: Vec<String>,
    approval_required_actions: Vec<String>,
    denied_actions: Vec<String>,
    allowed_egress_classes: BTreeSet<String>,
    output_channels: BTreeSet<String>,
    selection_tokens: Vec<Ulid>,
    expires_at: Timestamp,
    mode: GrantMode,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRequest {
    action: String,
    #[serde(default)]
    params: Map<String, Value>,
    payload_digest: Option<Digest>,
    target_digest: Option<Digest>,
    selection_token_id: Option<Ulid>,
}

fn actions(ids: &[String]) -> BTreeSet<ActionId> {
    ids.iter()
        .filter_map(|id| ActionId::parse(id).ok())
        .collect()
}

/// Caveats, with the ids of allow-lists read as those of grants are.
fn attenuations(steps: Vec<Vec<Value>>) -> Result<Vec<Attenuation>, String> {
    let caveat = |mut value: Value| -> Result<Caveat, String> {
        if let Some(Value::Array(ids)) = value.get_mut("actions") {
            ids.retain(|id| id.as_str().is_none_or(|id| ActionId::parse(id).is_ok()));
        }
        serde_json::from_value(value).map_err(|error| format!("`attenuations`: {error}"))
    };
    steps
        .into_iter()
        .map(|step| step.into_iter().map(caveat).collect())
        .collect()
}

fn run_gate(case: &Map<String, Value>, known: &Known) -> Result<Outcome, String> {
    let now: Timestamp = field(case, "now")?;
    let grant: CaseGrant = field(case, "grant")?;
    let request: CaseRequest = field(case, "request")?;
    let origin: Origin = field(case, "origin")?;
    let approval: Option<Approval> = field(case, "approval")?;
    let token: Option<SelectionToken> = field(case, "selection_token")?;
    let steps =
        attenuations(field::<Option<Vec<Vec<Value>>>>(case, "attenuations")?.unwrap_or_default())?;

    // Cases say nothing of seals: these grants are sealed with a key that nobody keeps.
    let key = SealKey::new([0; 32]);
    let verified = steps
        .into_iter()
        .try_fold(
            SealedGrant::seal(root(&grant, token.as_ref(), now), &key),
            |sealed, step| Ok(sealed?.attenuate(step)),
        )
        .and_then(|sealed| sealed)
        .map_err(|error: actum::digest::NotCanonical| error.to_string())?
        .verify(&key)
        .map_err(|error| error.to_string())?;
    let request = Arc::new(Request {
        action: request.action,
        arguments: request.params,
        payload_digest: request.payload_digest,
        target_digest: request.target_digest,
        selection_token: request.selection_token_id,
        origin,
    });
    let evidence = Evidence {
        approval: approval.as_ref(),
        selection_token: token.as_ref(),
    };
    let got = match gate(&verified, &request, &known.catalog, evidence, now) {
        Verdict::Allow(_) => json!({"outcome": "allow"}),
        Verdict::ApprovalRequired(action) => {
            json!({"outcome": "approval_required", "approval_type": action})
        }
        Verdict::EffectSuppressed => json!({"outcome": "effect_suppressed"}),
        Verdict::Deny(reason) => json!({"outcome": "deny", "reason": reason}),
    };
    Ok(Outcome {
        expected: field(case, "expect")?,
        got,
    })
}

/// The case's grant, with what cases do not speak of filled in.
fn root(grant: &CaseGrant, token: Option<&SelectionToken>, now: Timestamp) -> TaskGrant {
    TaskGrant {
        id: Ulid::nil(),
        task_id: Ulid::nil(),
        event_id: Ulid::nil(),
        principal: Principal::Anonymous("case".to_owned()),
        purpose: String::new(),
        allowed_actions: actions(&grant.allowed_actions),
        approval_required_actions: actions(&grant.approval_required_actions),
        denied_actions: actions(&grant.denied_actions),
        allowed_egress_classes: grant.allowed_egress_classes.clone(),
        output_channels: grant.output_channels.clone(),
        // Cases tell the type of a token where they tell the stored token.
        bound_arguments: Vec::new(),
        mandate: None,
        selection_tokens: grant
            .selection_tokens
            .iter()
            .map(|id| {
                let stored = token.filter(|token| token.id == *id);
                (
                    *id,
                    stored.map_or_else(String::new, |token| token.token_type.clone()),
                )
            })
            .collect(),
        limits: Limits {
            max_model_calls: 0,
            max_artifacts: 0,
            max_runtime_seconds: 0,
        },
        mode: grant.mode,
        reply_to: None,
        issued_at: now,
        expires_at: grant.expires_at,
        authority_sources: Vec::new(),
        policy_revision: Digest::of_bytes(b""),
        catalog_digest: Digest::of_bytes(b""),
    }
}
