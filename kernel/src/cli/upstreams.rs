//! `actum upstreams`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::load_config;
use crate::printable;
use crate::upstream::{Standing, Upstreams};

/// The longest text of a tool that is shown, in characters.
const MAX_SHOWN: usize = 300;

/// What one upstream offers, or why it could not be looked at.
type Looked = Result<BTreeMap<String, Standing>, String>;

pub(super) async fn run(config: Option<PathBuf>) -> Result<(), String> {
    let config = load_config(config)?;
    if config.upstreams.is_empty() {
        return super::say("the configuration has no `upstreams`\n");
    }
    let upstreams = Upstreams::read(&config.upstreams, config.lock.as_deref());
    let upstreams = upstreams.map_err(|faults| faults.join("\n"))?;
    let mut away = Vec::new();
    for (upstream, looked) in looked_at(&upstreams).await {
        match looked {
            Ok(standings) => {
                let mut out = format!("{}\n", summary(&upstream, &standings));
                for (tool, standing) in &standings {
                    let told = format!("{tool}: {}", told(standing));
                    let _ = writeln!(out, "  {}", printable::line(&told, MAX_SHOWN));
                }
                super::say(&out)?;
            }
            Err(why) => away.push(format!("{upstream}: {why}")),
        }
    }
    match away.is_empty() {
        true => Ok(()),
        false => Err(away.join("\n")),
    }
}

/// Looks at all upstreams at once, and leaves them.
pub(super) async fn looked_at(upstreams: &Upstreams) -> Vec<(String, Looked)> {
    let mut looking = JoinSet::new();
    for upstream in upstreams.each() {
        let upstream = Arc::clone(upstream);
        looking.spawn(async move {
            let looked = upstream.look().await;
            upstream.close().await;
            (upstream.id().to_owned(), looked)
        });
    }
    let mut all = looking.join_all().await;
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// One line for an upstream.
pub(super) fn summary(upstream: &str, standings: &BTreeMap<String, Standing>) -> String {
    let count = |is: fn(&Standing) -> bool| standings.values().filter(|it| is(it)).count();
    let parts = [
        (
            count(|it| matches!(it, Standing::AsAccepted(_))),
            "as accepted",
        ),
        (
            count(|it| matches!(it, Standing::Unaccepted(_))),
            "not accepted as they are",
        ),
        (
            count(|it| matches!(it, Standing::NotOffered(_))),
            "named and not offered",
        ),
        (count(|it| matches!(it, Standing::Unusable(..))), "unusable"),
        (count(|it| matches!(it, Standing::NotTaken)), "not taken"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    match parts.is_empty() {
        true => format!("{upstream}: it offers no tool"),
        false => format!("{upstream}: {}", parts.join(", ")),
    }
}

fn told(standing: &Standing) -> String {
    match standing {
        Standing::AsAccepted(entry) => format!("`{}`, as accepted", entry.id),
        Standing::Unaccepted(entry) => {
            format!(
                "`{}`, absent: it was not accepted as it is; \"{}\"",
                entry.id, entry.description
            )
        }
        Standing::NotOffered(id) => format!("`{id}`, absent: it is not offered"),
        Standing::Unusable(id, problem) => format!("`{id}`, absent: {problem}"),
        Standing::NotTaken => "not taken; the manifest does not name it".to_owned(),
    }
}
