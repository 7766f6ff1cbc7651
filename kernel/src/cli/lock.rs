//! `actum lock`

use std::path::{Path, PathBuf};

use actum::Registry;
use actum::lock::{SurfaceLock, compare};
use clap::Args;
use jiff::Timestamp;

use crate::surface::{read, told, write};

/// What `actum lock` is asked for.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The lock file.
    #[arg(long, value_name = "PATH", default_value = "actum.lock.json")]
    file: PathBuf,
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

pub(super) fn run(ask: &Ask) -> Result<(), String> {
    let catalog = Registry::linked()
        .map_err(|faults| faults.to_string())?
        .catalog();
    let faults: Vec<String> = catalog.faults().iter().map(ToString::to_string).collect();
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let current = SurfaceLock::of(&catalog).map_err(|fault| fault.to_string())?;
    let file = ask.file.display();
    let Some(locked) = read(&ask.file)? else {
        return match ask.check || ask.accept {
            true => Err(format!(
                "{file}: there is no such file; write it with `actum lock`, or name another with `--file`"
            )),
            false => begin(&ask.file, &current),
        };
    };
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
        write(&ask.file, &accepted)?;
        return super::say(&format!(
            "{}\n{file}: accepted by {by}: {reason}\n",
            told(&changes)
        ));
    }
    super::say(&format!("{}\n", told(&changes)))?;
    Err(format!(
        "{file}: the linked actions are not those that were accepted; undo the changes, or accept them with `actum lock --accept --by NAME --reason TEXT`"
    ))
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
