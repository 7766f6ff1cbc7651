//! `actum artifacts`: the manifests that were proposed and approved.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;


use super::client::{Speaker, line, part};
use super::say;
use crate::owner::artifacts::ToldArtifact;
use crate::printable;
use crate::store::ArtifactState;

#[derive(Debug, Subcommand)]
pub(super) enum Ask {
    /// List every version, and what the operator shall take over.
    List,
    /// Print the text of one, as a file has it.
    Show(Which),
    /// Print the lines in which one differs from the operator's file.
    Diff(Which),
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Its folder and id, such as `agents/helper`.
    #[arg(value_name = "FOLDER/ID")]
    name: String,
    /// The version; without it the active one, or the newest if none is.
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

pub(super) async fn run(config: Option<PathBuf>, ask: Option<Ask>) -> Result<(), String> {
    match ask.unwrap_or(Ask::List) {
        Ask::List => list(&Speaker::owner(config)?).await,
        Ask::Show(which) => text(&Speaker::owner(config)?, &which, "text").await,
        Ask::Diff(which) => text(&Speaker::owner(config)?, &which, "lines").await,
    }
}

async fn list(owner: &Speaker) -> Result<(), String> {
    let all: Vec<ToldArtifact> = part(owner.get("/v1/owner/artifacts").await?, "artifacts")?;
    if all.is_empty() {
        return say("there are none: only the operator's files are in force\n");
    }
    for one in &all {
        let (kind, id) = (line(&one.kind), line(&one.id));
        say(&format!(
            "{kind}/{id}  v{}  {}  since {}  by the call {}: {}\n",
            one.version,
            one.state.as_str(),
            one.at,
            one.call,
            line(&one.reason)
        ))?;
        for note in notes(one) {
            say(&format!("    {note}\n"))?;
        }
    }
    Ok(())
}

/// What there is to do about an active one.
fn notes(one: &ToldArtifact) -> Vec<String> {
    if one.state != ArtifactState::Active {
        return Vec::new();
    }
    let (kind, id) = (line(&one.kind), line(&one.id));
    let own = format!("{kind}/{id}.yaml");
    let file = one.file.as_ref().map_or(own, |file| line(file));
    if one.is_taken_over {
        return vec![format!(
            "not needed any more: {file} has the very text; `artifact.revoke` takes it away and changes nothing"
        )];
    }
    let nominated = one.nominated.iter();
    nominated
        .map(|why| {
            format!(
                "to be taken over ({}): `actum artifacts show {kind}/{id}` prints the text for {file}",
                line(why)
            )
        })
        .collect()
}

async fn text(owner: &Speaker, which: &Which, what: &str) -> Result<(), String> {
    let Which { name, version } = which;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let named = name
        .split_once('/')
        .filter(|(kind, id)| kind.chars().all(plain) && id.chars().all(plain) && !id.is_empty());
    let Some((kind, id)) = named else {
        return Err(format!("`{}` is no FOLDER/ID", line(name)));
    };
    let version = version.map(|version| format!("?version={version}"));
    let path = format!(
        "/v1/owner/artifacts/{kind}/{id}{}",
        version.unwrap_or_default()
    );
    let answer = owner.get(&path).await?;
    let text = answer.get(what).and_then(Value::as_str).unwrap_or_default();
    // Byte for byte, so that a file can be made of it.
    match printable::is_plain(text) {
        true => say(text),
        false => Err("it holds characters that cannot be shown".to_owned()),
    }
}
