//! `actum artifacts`: the manifests that were proposed and approved.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::Value;

use super::client::{Speaker, line, part};
use super::{load_config, say};
use crate::ledger::notary::read_public_key;
use crate::overlay::Overlay;
use crate::owner::artifacts::ToldArtifact;
use crate::printable;
use crate::store::ArtifactState;

#[derive(Debug, Subcommand)]
pub(super) enum Ask {
    /// List every version, and what the operator shall take over.
    List,
    /// Print the text of one, as a file has it.
    Show(Which),
    /// Check an archive that `openspine.overlay.export` gave: its digests, and its signature.
    Verify {
        /// The archive, or the answer of the call that exported it.
        file: PathBuf,
        /// The public key that was kept, instead of the one beside this kernel's keys.
        #[arg(long, value_name = "FILE")]
        public_key: Option<PathBuf>,
    },
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
        Ask::Verify { file, public_key } => verify(config, &file, public_key),
        Ask::Diff(which) => text(&Speaker::owner(config)?, &which, "lines").await,
    }
}

fn verify(config: Option<PathBuf>, file: &Path, public_key: Option<PathBuf>) -> Result<(), String> {
    let told = |problem: String| format!("{}: {problem}", file.display());
    let bytes = std::fs::read(file).map_err(|error| told(format!("cannot be read: {error}")))?;
    let mut value = actum::json::parse(&bytes).map_err(|fault| told(fault.to_string()))?;
    if let Some(result) = value.get_mut("result") {
        value = result.take();
    }
    let overlay: Overlay =
        serde_json::from_value(value).map_err(|error| told(format!("is no archive: {error}")))?;
    let key = match public_key {
        Some(path) => path,
        None => load_config(config)?.data.join("keys/ledger.pub"),
    };
    let mut faults: Vec<String> = overlay
        .faults()
        .iter()
        .map(|fault| told(format!("{}: {}", fault.at, fault.problem)))
        .collect();
    let key = read_public_key(&key).map_err(|error| error.to_string())?;
    if let Err(why) = overlay.verify_signature(&key) {
        faults.push(told(format!("/signature: {why}")));
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    say(&format!(
        "{} artifacts, root {}, signed by {}\n",
        overlay.artifacts.len(),
        overlay.root,
        key.origin()
    ))
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
