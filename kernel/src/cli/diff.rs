//! `actum diff`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use actum::difference::{Difference, Side, difference};
use actum::lock::{Label, tally_of};
use actum::project;
use clap::Args;
use serde_json::{Value, json};

use super::load_config;
use super::origin::{Origin, archive, task_id};
use crate::printable;

/// What `actum diff` is asked for.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The one side: an event's file, or a task's id.
    from: String,
    /// The other side.
    to: String,
    /// The configuration of both sides.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The configuration of the one side, instead.
    #[arg(long, value_name = "FILE")]
    from_config: Option<PathBuf>,
    /// The configuration of the other side, instead.
    #[arg(long, value_name = "FILE")]
    to_config: Option<PathBuf>,
    /// The folder of manifests for the one side, which is then an event.
    #[arg(long, value_name = "FOLDER")]
    from_manifests: Option<PathBuf>,
    /// The folder of manifests for the other side, which is then an event.
    #[arg(long, value_name = "FOLDER")]
    to_manifests: Option<PathBuf>,
    /// Fail when the two are different.
    #[arg(long)]
    check: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(ask: &Ask) -> Result<(), String> {
    let config = |own: &Option<PathBuf>| own.clone().or_else(|| ask.config.clone());
    let from = side(
        &ask.from,
        config(&ask.from_config),
        ask.from_manifests.as_deref(),
    );
    let to = side(&ask.to, config(&ask.to_config), ask.to_manifests.as_deref());
    // Both sides are looked at before either's fault is told.
    let (from, to) = match (from.await, to.await) {
        (Ok(from), Ok(to)) => (from, to),
        (from, to) => {
            let mut faults: Vec<String> = [from.err(), to.err()].into_iter().flatten().collect();
            faults.dedup();
            return Err(faults.join("\n"));
        }
    };
    let found = difference(of(&from), of(&to));
    let text = match ask.json {
        true => {
            let all = json!({
                "from": told_as_json(&ask.from, &from),
                "to": told_as_json(&ask.to, &to),
                "equal": found.is_empty(),
                "differences": found,
            });
            serde_json::to_string_pretty(&all).map_err(|error| error.to_string())? + "\n"
        }
        false => told(ask, [&from, &to], &found),
    };
    super::say(&text)?;
    match ask.check && !found.is_empty() {
        true => Err(format!(
            "{} and {} are not equal: {}",
            ask.from,
            ask.to,
            tally(&found)
        )),
        false => Ok(()),
    }
}

async fn side(
    named: &str,
    config: Option<PathBuf>,
    manifests: Option<&Path>,
) -> Result<Origin, String> {
    let config = load_config(config)?;
    let path = Path::new(named);
    if path.is_file() {
        return Origin::of_event(&config, manifests.unwrap_or(&config.manifests), path);
    }
    let id = task_id(named).map_err(|_| {
        format!(
            "`{}` is neither an event's file nor a task's id",
            named.escape_debug()
        )
    })?;
    if manifests.is_some() {
        return Err(format!(
            "{id}: a task is what was issued, whatever manifests say by now; name its event's file to compare revisions"
        ));
    }
    let mut archive = archive(&config).await?;
    Ok(Origin::of_task(&config, &mut archive, id).await?.0)
}

fn of(origin: &Origin) -> Side<'_> {
    Side {
        grant: &origin.grant,
        catalog: &origin.catalog,
    }
}

fn told_as_json(named: &str, origin: &Origin) -> Value {
    let root = origin.grant.root();
    json!({
        "named": named,
        "route": origin.route,
        "principal": root.principal,
        "policy_revision": root.policy_revision,
        "catalog_digest": root.catalog_digest,
        "view": project(&origin.grant, &origin.catalog).digest(),
    })
}

fn told(ask: &Ask, sides: [&Origin; 2], found: &[Difference]) -> String {
    let mut out = String::new();
    let names = [("from", &ask.from), ("to", &ask.to)];
    for ((which, named), origin) in names.into_iter().zip(sides) {
        let root = origin.grant.root();
        let route = origin.route.iter().map(|route| format!("route {route}, "));
        let _ = writeln!(
            out,
            "{which:5} {named}: {}{}, view {}",
            route.collect::<String>(),
            printable::line(&root.principal.to_string(), 300),
            project(&origin.grant, &origin.catalog).digest()
        );
    }
    out.push('\n');
    for one in found {
        let _ = writeln!(out, "{}", printable::line(&one.to_string(), 2_000));
    }
    let _ = writeln!(
        out,
        "{}",
        match found.is_empty() {
            true => "equal: neither can do what the other cannot".to_owned(),
            false => tally(found),
        }
    );
    out
}

fn tally(found: &[Difference]) -> String {
    let labels: Vec<Label> = found.iter().map(|one| one.label).collect();
    tally_of(&labels)
}
