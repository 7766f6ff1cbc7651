//! `actum ledger`: the ledger for those who do not run the kernel, by its public key alone.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{client, load_config, say};
use crate::ledger::audit::{Findings, audit};
use crate::ledger::checkpoint::{Checkpoint, PublicKey, notes};
use crate::ledger::export::{Exported, export};
use crate::ledger::notary::read_public_key;
use crate::ledger::proof;
use crate::ledger::source::{Source, newest};

/// The largest file of proofs or checkpoints that is read, in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// What `actum ledger` is asked for.
#[derive(Debug, Subcommand)]
pub(super) enum Ask {
    /// Check that no record was changed, removed, put in or cut off.
    ///
    /// Computes every leaf and the tree anew and holds them against every checkpoint that was signed. Needs the
    /// database or an export, and the public key; works beside a running kernel and without one. Without
    /// `--checkpoint` it sees neither an end that was cut off together with its checkpoints, nor a ledger that whoever has
    /// the key wrote anew.
    Verify {
        #[command(flatten)]
        ledger: Place,
        /// A file with checkpoints that were kept elsewhere, such as a witness's; can be given several times.
        #[arg(long, value_name = "FILE")]
        checkpoint: Vec<PathBuf>,
    },
    /// Print the newest checkpoint.
    Checkpoint {
        #[command(flatten)]
        ledger: Place,
        /// Have the running kernel sign one of all records first.
        #[arg(long, conflicts_with = "export")]
        sign: bool,
    },
    /// Keep checkpoints as a witness: check that the ledger only grew, and remember how far.
    ///
    /// Proves that the newest checkpoint begins with all records of the last one in the file, and appends it there.
    /// Fails, and leaves the file as it is, where the ledger was cut off or rewritten since. For a cron job of somebody
    /// whom the operator cannot make forget: on another machine, over an export, with a copy of the public key.
    Witness {
        #[command(flatten)]
        ledger: Place,
        /// The file of the checkpoints that were kept; made where it is missing.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the proof that a record is in the ledger: the record, the proof, the checkpoint.
    Prove {
        /// The record's place, from 1.
        #[arg(value_name = "SEQ")]
        seq: i64,
        #[command(flatten)]
        ledger: Place,
    },
    /// Check what `prove` printed, without the ledger.
    CheckProof {
        /// The file with the proof.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The ledger's public key, `ledger.pub`.
        #[arg(long, value_name = "FILE")]
        public_key: PathBuf,
    },
    /// Write the ledger as files: checkpoint, tiles and entry bundles, as C2SP tlog-tiles lays them out.
    ///
    /// As of the newest checkpoint. Into the folder of an earlier export it adds what is new.
    Export {
        /// The folder; made where it is missing.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        #[command(flatten)]
        ledger: Place,
    },
}

/// Where the ledger is, and its public key.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The configuration that names the store.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder that `export` wrote, instead of the store.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with = "config",
        requires = "public_key"
    )]
    export: Option<PathBuf>,
    /// The public key that was kept, instead of `keys/ledger.pub` beside the store.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
}

impl Place {
    async fn open(self) -> Result<(Box<dyn Source>, PublicKey), String> {
        let key = self.public_key.as_deref().map(read_public_key);
        let key = key.transpose().map_err(text)?;
        let (source, beside): (Box<dyn Source>, _) = match self.export {
            Some(folder) => (Box::new(Exported::open(&folder).map_err(text)?), folder),
            None => {
                let config = load_config(self.config)?;
                let archive = super::origin::archive(&config).await?;
                (Box::new(archive), config.data)
            }
        };
        let key = match key {
            Some(key) => key,
            None => read_public_key(&beside.join("keys").join("ledger.pub")).map_err(text)?,
        };
        Ok((source, key))
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Runs one of them.
pub(super) async fn run(ask: Ask) -> Result<(), String> {
    match ask {
        Ask::Verify { ledger, checkpoint } => {
            let (mut source, key) = ledger.open().await?;
            verify(&mut *source, &key, &checkpoint).await
        }
        Ask::Checkpoint { ledger, sign: true } => {
            let note = client::sign_ledger(ledger.config.clone()).await?;
            let (_, key) = ledger.open().await?;
            let signed = Checkpoint::open(&note, &key)
                .map_err(|why| format!("what the kernel signed: {why}"))?;
            say(signed.text())
        }
        Ask::Checkpoint { ledger, .. } => {
            let (mut source, key) = ledger.open().await?;
            say(newest(&mut *source, &key).await.map_err(text)?.text())
        }
        Ask::Witness { ledger, file } => {
            let (mut source, key) = ledger.open().await?;
            witness(&mut *source, &key, &file).await
        }
        Ask::Prove { ledger, seq } => {
            let (mut source, key) = ledger.open().await?;
            say(&proof::prove(&mut *source, &key, seq).await.map_err(text)?)
        }
        Ask::CheckProof { file, public_key } => check_proof(&file, &public_key),
        Ask::Export { folder, ledger } => {
            let (mut source, key) = ledger.open().await?;
            let size = export(&mut *source, &key, &folder).await.map_err(text)?;
            say(&format!(
                "{size} records of the log {} are in {}\n",
                key.origin(),
                folder.display()
            ))
        }
    }
}

async fn verify(source: &mut dyn Source, key: &PublicKey, files: &[PathBuf]) -> Result<(), String> {
    let mut kept = Vec::new();
    for file in files {
        let found = notes(&read(file)?);
        if found.is_empty() {
            return Err(format!(
                "{}: has no checkpoint; name a file that a checkpoint was kept in",
                file.display()
            ));
        }
        let which = format!("the checkpoint in {}", file.display());
        kept.extend(found.into_iter().map(|note| (which.clone(), note)));
    }
    let Findings {
        head,
        vouched,
        faults,
    } = audit(source, key, &kept).await.map_err(text)?;
    if !faults.is_empty() {
        let told: Vec<String> = faults
            .iter()
            .map(|fault| format!("the ledger does not hold: {fault}"))
            .collect();
        return Err(told.join("\n"));
    }
    let signed = match u64::try_from(head.seq).unwrap_or(0).saturating_sub(vouched) {
        0 => "a checkpoint vouches for all of them".to_owned(),
        1 => format!("a checkpoint vouches for the first {vouched}, and none yet for the last one"),
        rest => format!(
            "a checkpoint vouches for the first {vouched}, and none yet for the last {rest}"
        ),
    };
    let witnessed = match kept.len() {
        0 => "no checkpoint that was kept elsewhere was given (`--checkpoint`), so that a cut end could go unseen\n".to_owned(),
        1 => "it goes on from the checkpoint that was kept\n".to_owned(),
        many => format!("it goes on from each of the {many} checkpoints that were kept\n"),
    };
    say(&format!(
        "the ledger holds: {} records, ending in {}\nthe log {}: {signed}\n{witnessed}",
        head.seq,
        head.digest,
        key.origin()
    ))
}

async fn witness(source: &mut dyn Source, key: &PublicKey, file: &Path) -> Result<(), String> {
    let told = |problem: &dyn Display| format!("{}: {problem}", file.display());
    let kept = match file.exists() {
        true => notes(&read(file)?),
        false => Vec::new(),
    };
    let last = kept
        .last()
        .map(|note| Checkpoint::open(note, key))
        .transpose();
    let last = last.map_err(|why| told(&format!("its last checkpoint: {why}")))?;
    let now = proof::grown(source, key, last.as_ref())
        .await
        .map_err(text)?;
    if last.as_ref().is_some_and(|last| last.size() == now.size()) {
        return say(&format!(
            "nothing new: {} records, as they were\n",
            now.size()
        ));
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    let gap = if kept.is_empty() { "" } else { "\n" };
    options
        .open(file)
        .and_then(|mut open| {
            open.write_all(format!("{gap}{}", now.text()).as_bytes())?;
            open.sync_all()
        })
        .map_err(|error| told(&format!("cannot be written: {error}")))?;
    say(&match last {
        Some(last) => format!(
            "the ledger only grew: from {} to {} records\n",
            last.size(),
            now.size()
        ),
        None => format!("kept the first checkpoint, of {} records\n", now.size()),
    })
}

fn check_proof(file: &Path, public_key: &Path) -> Result<(), String> {
    let key = read_public_key(public_key).map_err(text)?;
    let proven = proof::check(&read(file)?, &key)
        .map_err(|why| format!("{}: proves nothing: {why}", file.display()))?;
    let proof::Proven { record, checkpoint } = proven;
    say(&format!(
        "record {} is in the log {}, as of its checkpoint of {} records: {} at {}\n",
        record.seq,
        key.origin(),
        checkpoint.size(),
        record.kind,
        record.at
    ))
}

fn read(file: &Path) -> Result<String, String> {
    let told = |problem: &dyn Display| format!("{}: {problem}", file.display());
    let found =
        std::fs::metadata(file).map_err(|error| told(&format!("cannot be read: {error}")))?;
    if found.len() > MOST_BYTES {
        return Err(told(&"is longer than any such file"));
    }
    std::fs::read_to_string(file).map_err(|error| told(&format!("cannot be read: {error}")))
}
