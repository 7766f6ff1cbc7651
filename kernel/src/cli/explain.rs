//! `actum explain`

use std::fmt::Write as _;
use std::path::PathBuf;

use actum::authority::ManifestSet;
use actum::explain::{Asked, ClaimHeld, Explainer, Explanation, Left, Place, Stands};
use actum::{ActionCatalog, ToolName, VerifiedGrant};
use clap::Args;
use serde_json::{Value, json};

use super::load_config;
use super::origin::{Origin, archive, task_id};
use crate::clock::Clock;
use crate::printable;
use crate::store::ArchivedTask;

/// How alike an id must be to be meant, from 0 to 1.
const LIKE: f64 = 0.85;
/// How many ids are suggested.
const SUGGESTED: usize = 3;
/// How much less like the id than the likest one another may be to be suggested beside it.
const AS_LIKE: f64 = 0.05;

/// Whose grant is explained.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Of {
    /// An event that is composed now: JSON as a connector posts it, with the `connector`'s id.
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// A task that was issued, by its stored grant and the catalog of then.
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
}

/// What `actum explain` is asked for.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The action, by its id or its tool name; without it, all of them, one line each.
    action: Option<String>,
    #[command(flatten)]
    of: Of,
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(ask: &Ask) -> Result<(), String> {
    let config = load_config(ask.config.clone())?;
    let origin = match (&ask.of.event, &ask.of.task) {
        (Some(event), _) => Origin::of_event(&config, &config.manifests, event)?,
        (None, task) => {
            let id = task_id(task.as_deref().unwrap_or_default())?;
            let mut archive = archive(&config).await?;
            let (mut origin, task) = Origin::of_task(&config, &mut archive, id).await?;
            origin.notes.extend(over(&origin, &task));
            origin
        }
    };
    let explainer = Explainer::new(&origin.grant, &origin.catalog, origin.manifests.as_ref());
    let explained = match &ask.action {
        None => explainer.all().collect(),
        Some(named) => {
            let by_name = || explainer.explain(ToolName::to_id(named)?.as_str());
            let one = explainer.explain(named).or_else(by_name);
            vec![one.ok_or_else(|| unknown(named, &origin.catalog))?]
        }
    };
    if ask.json {
        let all = told_as_json(&origin, &explainer, &explained)?;
        return super::say(&format!("{all}\n"));
    }
    let mut out = header(&origin, explainer.left());
    let _ = writeln!(out, "manifests  {}", config.manifests.display());
    out.push('\n');
    match (&ask.action, explained.as_slice()) {
        (Some(_), [one]) => story(&mut out, one, origin.grant.mandate().is_some()),
        _ => overview(&mut out, &explained),
    }
    super::say(&out)
}

/// That a task is over, so that nothing which is exposed can be called any more.
fn over(origin: &Origin, task: &ArchivedTask) -> Option<String> {
    let expires = origin.grant.expires_at();
    match task.revoked_at {
        Some(at) => Some(format!("the task was taken back at {at}")),
        None if expires <= Clock::system().now() => {
            Some(format!("the task is over since {expires}"))
        }
        None => None,
    }
}

/// That an id does not exist, and which ones may have been meant.
fn unknown(named: &str, catalog: &ActionCatalog) -> String {
    let mut near: Vec<(f64, &str)> = catalog
        .ids()
        .into_iter()
        .map(|id| (strsim::jaro_winkler(named, id.as_str()), id.as_str()))
        .filter(|(likeness, _)| *likeness > LIKE)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    let best = near.first().map_or(0.0, |(likeness, _)| *likeness);
    let near: Vec<_> = near
        .iter()
        .filter(|(likeness, _)| best - likeness < AS_LIKE)
        .take(SUGGESTED)
        .map(|(_, id)| format!("`{id}`"))
        .collect();
    let hint = match near.as_slice() {
        [] => "`actum catalog` lists what is linked now".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    format!(
        "`{}` is unknown: no action of the catalog has this id; {hint}",
        named.escape_debug()
    )
}

fn told_as_json(
    origin: &Origin,
    explainer: &Explainer<'_>,
    explained: &[Explanation],
) -> Result<String, String> {
    let root = origin.grant.root();
    let all = json!({
        "route": origin.route,
        // An event's task is issued to nobody, so that its id means nothing.
        "task": origin.route.is_none().then_some(root.task_id),
        "principal": root.principal,
        "mandate": origin.grant.mandate(),
        "authority_sources": root.authority_sources,
        "policy_revision": root.policy_revision,
        "manifests_revision": origin.manifests.as_ref().map(ManifestSet::revision),
        "catalog_digest": root.catalog_digest,
        "left": left_as_json(explainer.left()),
        "notes": origin.notes,
        "actions": explained,
    });
    serde_json::to_string_pretty(&all).map_err(|error| error.to_string())
}

/// What an actor has by now, for programs.
pub(super) fn left_as_json(left: &Left) -> Value {
    let (over, lost) = match left {
        Left::All => (false, &[][..]),
        Left::Less(lost) => (false, lost.as_slice()),
        Left::Nothing => (true, &[][..]),
    };
    json!({"over": over, "lost": lost})
}

/// Whose grant it is, and what came of it since.
fn header(origin: &Origin, left: &Left) -> String {
    let root = origin.grant.root();
    let mut out = String::new();
    match &origin.route {
        Some(route) => {
            let _ = writeln!(out, "route      {route}");
        }
        None => {
            let _ = writeln!(out, "task       {}", root.task_id);
        }
    }
    let principal = printable::line(&root.principal.to_string(), 300);
    let _ = writeln!(out, "principal  {principal}");
    let _ = writeln!(out, "mandate    {}", mandate(&origin.grant));
    let _ = writeln!(out, "sources    {}", root.authority_sources.join(", "));
    notes(&mut out, &origin.notes, left);
    out
}

/// What a reader must know of a grant and its manifests.
pub(super) fn notes(out: &mut String, notes: &[String], left: &Left) {
    for note in notes {
        let _ = writeln!(out, "note       {note}");
    }
    match left {
        Left::All => {}
        Left::Less(lost) => {
            for lost in lost {
                let _ = writeln!(out, "note       issued with {lost}, holds no longer");
            }
        }
        Left::Nothing => {
            out.push_str("note       its actor or its scenario is gone or no longer active, so that the task is over\n");
        }
    }
}

/// What the actor and the scenario bring, in one line.
pub(super) fn mandate(grant: &VerifiedGrant) -> String {
    let Some(mandate) = grant.mandate() else {
        return "none: authority came by lists alone".to_owned();
    };
    let words = |words: &std::collections::BTreeSet<String>| match words.len() {
        0 => "none".to_owned(),
        _ => words.iter().cloned().collect::<Vec<_>>().join(", "),
    };
    format!(
        "actor {}, scenario {}, mode {}; roles: {}; claims: {}",
        mandate.actor,
        mandate.scenario,
        mandate.mode,
        words(&mandate.roles),
        words(&(&mandate.claims - &mandate.denied_claims)),
    )
}

fn overview(out: &mut String, explained: &[Explanation]) {
    let ids = explained.iter().map(|one| one.action.as_str().len());
    let width = ids.max().unwrap_or_default();
    for one in explained {
        let _ = write!(
            out,
            "{}  {:width$}  {}",
            mark(&one.stands),
            one.action,
            told(&one.stands)
        );
        for place in &one.decided_by {
            let _ = write!(out, "; {place}");
        }
        if let Some(now) = &one.now {
            let _ = write!(out, "; by now {}: {}", mark(now).trim_end(), told(now));
        }
        out.push('\n');
    }
}

fn mark(stands: &Stands) -> &'static str {
    match stands.exposed {
        true => "exposed",
        false => "absent ",
    }
}

fn told(stands: &Stands) -> String {
    let how = match (stands.exposed, stands.approval_required) {
        (true, true) => "requires owner approval: ",
        (true, false) => "allowed: ",
        (false, _) => "",
    };
    format!("{how}{} ({})", stands.because, stands.reason)
}

fn story(out: &mut String, one: &Explanation, has_mandate: bool) {
    let _ = writeln!(out, "{}: {}", one.action, mark(&one.stands).trim_end());
    let _ = writeln!(out, "  because  {}", told(&one.stands));
    if let Some(now) = &one.now {
        let _ = writeln!(out, "  by now   {}: {}", mark(now).trim_end(), told(now));
    }
    let class = match one.class {
        Some(class) => class.to_string(),
        None => "none: it is reached by lists alone".to_owned(),
    };
    let _ = writeln!(out, "  class    {class}");
    for claim in &one.claims {
        let _ = writeln!(out, "  claim    `{}`: {}", claim.claim, held(claim));
    }
    for (name, asked) in [("role", &one.roles), ("mode", &one.mode)] {
        if let Some(asked) = asked {
            let _ = writeln!(out, "  {name:8} {}", words(asked, has_mandate));
        }
    }
    for line in &one.lines {
        let decided = match line.decided {
            true => ", and decided",
            false => "",
        };
        let _ = writeln!(
            out,
            "  line     {}: {}{decided}",
            line.at,
            line.effect.as_str()
        );
    }
    let elsewhere = one.decided_by.iter().filter(|place| {
        let mut lines = one.lines.iter();
        !lines.any(|line| line.decided && line.at == **place)
    });
    for place in elsewhere {
        let _ = writeln!(out, "  decided  {place}");
    }
    if one.lines.is_empty() {
        out.push_str("  line     no manifest of this composition lists it\n");
    }
}

/// Who brought a claim, or that nobody did.
fn held(claim: &ClaimHeld) -> String {
    let places = |places: &[Place]| {
        let places: Vec<_> = places.iter().map(ToString::to_string).collect();
        places.join(", ")
    };
    let mut told = Vec::new();
    for (by, at) in [
        ("the actor", &claim.by_actor),
        ("the scenario", &claim.by_scenario),
    ] {
        if !at.is_empty() {
            told.push(format!("by {by}, {}", places(at)));
        }
    }
    let by = told.join("; ");
    let denied = match claim.denied_by.as_slice() {
        [] => String::new(),
        at => format!("; denied by {}", places(at)),
    };
    match (claim.granted, claim.lost, by.is_empty()) {
        (true, true, _) => format!("issued with it, holds no longer{denied}"),
        (true, false, true) => format!("granted{denied}"),
        (true, false, false) => format!("granted {by}{denied}"),
        (false, _, true) => format!("missing: no actor or scenario of the task grants it{denied}"),
        (false, _, false) => format!("missing; granted now {by}{denied}"),
    }
}

fn words(asked: &Asked, has_mandate: bool) -> String {
    let list = |words: &std::collections::BTreeSet<String>| {
        let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
        words.join(", ")
    };
    let held = match (has_mandate, asked.held.is_empty()) {
        (false, _) => "there is no actor in a scenario".to_owned(),
        (true, true) => "there is none".to_owned(),
        (true, false) => format!("there is {}", list(&asked.held)),
    };
    let places: Vec<_> = asked.by.iter().map(ToString::to_string).collect();
    let at = match places.len() {
        0 => String::new(),
        _ => format!(", {}", places.join(", ")),
    };
    let met = match asked.met {
        true => "met",
        false => "not met",
    };
    format!(
        "one of {} is asked for, {held}{at}: {met}",
        list(&asked.one_of)
    )
}
