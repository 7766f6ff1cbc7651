//! `actum lock`

use std::path::{Path, PathBuf};

use actum::Registry;
use actum::lock::{LockedAction, SurfaceLock, compare};
use clap::Args;
use jiff::Timestamp;

use super::load_config;
use super::upstreams::{looked_at, summary};
use crate::surface::{read, told, write};
use crate::upstream::Upstreams;

/// Where the lock is, if nobody says otherwise.
const FILE: &str = "actum.lock.json";

/// What `actum lock` is asked for.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The lock file; without it, the configuration's, or actum.lock.json.
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// The configuration whose upstreams are connected to and looked at, too. Without it, what was accepted of upstreams
    /// stays as it is.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write nothing; fail on any change, and when there is no lock file.
    #[arg(long, conflicts_with = "accept")]
    check: bool,
    /// Rewrite the lock file with what is linked now, and record who accepted the changes and why.
    #[arg(long, requires = "by", requires = "reason")]
    accept: bool,
    /// Who accepts the changes.
    #[arg(long, value_name = "NAME", requires = "accept", value_parser = said)]
    by: Option<String>,
    /// Why they are right.
    #[arg(long, value_name = "TEXT", requires = "accept", value_parser = said)]
    reason: Option<String>,
}

/// A text that says something.
fn said(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("it is blank; a change is accepted by name and reason"),
        text => Ok(text.to_owned()),
    }
}

pub(super) async fn run(ask: Ask) -> Result<(), String> {
    let catalog = Registry::linked()
        .map_err(|faults| faults.to_string())?
        .catalog();
    let faults: Vec<String> = catalog.faults().iter().map(ToString::to_string).collect();
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let linked = SurfaceLock::of(&catalog).map_err(|fault| fault.to_string())?;
    let (path, offered) = match ask.config {
        None => (ask.file, None),
        Some(config) => {
            let config = load_config(Some(config))?;
            let path = ask.file.or(config.lock);
            let upstreams = Upstreams::read(&config.upstreams, path.as_deref());
            let upstreams = upstreams.map_err(|faults| faults.join("\n"))?;
            (path, Some(offered(&upstreams).await?))
        }
    };
    let path = path.unwrap_or_else(|| PathBuf::from(FILE));
    let file = path.display();
    let Some(locked) = read(&path)? else {
        return match ask.check || ask.accept {
            true => Err(format!(
                "{file}: there is no such file; write it with `actum lock`, or name another with `--file`"
            )),
            false => begin(&path, &linked.and(offered.unwrap_or_default())),
        };
    };
    // Nobody looked at what upstreams offer: it stays as it was accepted.
    let offered = offered.unwrap_or_else(|| locked.clone().split().1);
    let current = linked.and(offered);
    let changes = compare(&locked, &current);
    if changes.is_empty() {
        let count = actions(current.actions.len());
        return match ask.accept {
            true => super::say(&format!(
                "{file}: there is nothing to accept; {count} as accepted\n"
            )),
            false => super::say(&format!("{file}: no change; {count} as accepted\n")),
        };
    }
    if let (true, Some(by), Some(reason)) = (ask.accept, &ask.by, &ask.reason) {
        let accepted = current.accepted_by(&locked, by, reason, Timestamp::now());
        write(&path, &accepted)?;
        return super::say(&format!(
            "{}\n{file}: accepted by {by}: {reason}\n",
            told(&changes)
        ));
    }
    super::say(&format!("{}\n", told(&changes)))?;
    Err(format!(
        "{file}: the actions are not those that were accepted; undo the changes, or accept them with `actum lock --accept --by NAME --reason TEXT`"
    ))
}

/// What upstreams offer on the operator's terms. What they offer and nobody could accept is told, and is not in it.
async fn offered(upstreams: &Upstreams) -> Result<Vec<LockedAction>, String> {
    let mut entries = Vec::new();
    for (upstream, looked) in looked_at(upstreams).await {
        let standings = looked.map_err(|why| {
            format!("upstream `{upstream}`: {why}; nothing of the lock was changed")
        })?;
        super::say(&format!("{}\n", summary(&upstream, &standings)))?;
        entries.extend(
            standings
                .into_values()
                .filter_map(|standing| standing.entry()),
        );
    }
    Ok(entries)
}

/// The first lock of a surface.
fn begin(path: &Path, current: &SurfaceLock) -> Result<(), String> {
    write(path, current)?;
    super::say(&format!(
        "{}: written, with {} and {} that no agent can call; keep it under review with the code\n",
        path.display(),
        actions(current.actions.len()),
        match current.known.len() {
            1 => "1 id".to_owned(),
            count => format!("{count} ids"),
        }
    ))
}

fn actions(count: usize) -> String {
    match count {
        1 => "1 action".to_owned(),
        count => format!("{count} actions"),
    }
}
