//! A ledger as a folder of files, laid out as C2SP tlog-tiles has it (<https://c2sp.org/tlog-tiles>): `checkpoint`,
//! `tile/LEVEL/PLACE` and `tile/entries/PLACE`. Served as it is, it is a log that other people's tools can read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tlog_tiles::HASH_SIZE;

use super::checkpoint::PublicKey;
use super::source::{Source, Unanswered, newest};
use super::tree::{Place, TILE_WIDTH};
use super::{Broken, Record};
use crate::store::StoreError;

/// The file of the newest checkpoint.
const CHECKPOINT: &str = "checkpoint";
/// The largest file that is read, in bytes: a bundle of 256 entries, each as long as it may be.
const MOST_BYTES: u64 = 256 * (2 + u16::MAX as u64);

/// The path of a tile of `width` hashes, under what its level is called.
fn path(level: &str, index: u64, width: usize) -> PathBuf {
    // Three digits a folder, those before the last with an `x`.
    let mut folders = format!("{:03}", index % 1_000);
    let mut rest = index / 1_000;
    while rest > 0 {
        folders = format!("x{:03}/{folders}", rest % 1_000);
        rest /= 1_000;
    }
    let mut path = format!("tile/{level}/{folders}");
    if width < TILE_WIDTH {
        path.push_str(&format!(".p/{width}"));
    }
    PathBuf::from(path)
}

fn tile_path(place: Place, width: usize) -> PathBuf {
    path(&place.level.to_string(), place.index, width)
}

fn bundle_path(index: u64, width: usize) -> PathBuf {
    path("entries", index, width)
}

fn unusable(path: &Path, problem: impl Into<String>) -> StoreError {
    StoreError::Unusable {
        path: path.display().to_string(),
        problem: problem.into(),
    }
}

/// Writes a ledger into a folder, as its newest checkpoint has it, and gives the size of that. What the folder has of
/// an earlier export stays, since what it holds stays right.
///
/// # Errors
/// [`Unanswered`] when the ledger cannot be read or does not hold, or the folder cannot be written.
pub async fn export(
    source: &mut dyn Source,
    key: &PublicKey,
    folder: &Path,
) -> Result<u64, Unanswered> {
    let checkpoint = newest(source, key).await?;
    let size = checkpoint.size();
    for (place, width) in Place::all(size) {
        let hashes = source.tile(place, width).await?;
        let hashes = hashes
            .as_deref()
            .and_then(|hashes| hashes.get(..width * HASH_SIZE))
            .ok_or(Unanswered::NoTile(place))?;
        write(&folder.join(tile_path(place, width)), hashes)?;
    }
    let mut bundle = Vec::new();
    let mut after = 0;
    'records: while u64::try_from(after).unwrap_or(0) < size {
        let page = source.records_after(after).await?;
        if page.is_empty() {
            return Err(Unanswered::OtherTree { size });
        }
        for record in page {
            let record = record.map_err(|_| Unanswered::OtherTree { size })?;
            let entry = record.entry().map_err(|_| Unanswered::OtherTree { size })?;
            let length = u16::try_from(entry.len()).map_err(|_| {
                Unanswered::NoRecord(format!(
                    "record {} is longer than the 65535 bytes that an entry bundle has room for",
                    record.seq
                ))
            })?;
            bundle.extend_from_slice(&length.to_be_bytes());
            bundle.extend_from_slice(&entry);
            after = record.seq;
            let done = u64::try_from(after).unwrap_or(0);
            if done.is_multiple_of(TILE_WIDTH as u64) || done == size {
                let index = done.saturating_sub(1) / TILE_WIDTH as u64;
                let width = Place { level: 0, index }.width(done);
                write(&folder.join(bundle_path(index, width)), &bundle)?;
                bundle.clear();
            }
            if done == size {
                break 'records;
            }
        }
    }
    // The last: a reader that comes meanwhile finds everything that a checkpoint promises.
    write(&folder.join(CHECKPOINT), checkpoint.text().as_bytes())?;
    Ok(size)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let done = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, bytes));
    done.map_err(|error| {
        unusable(
            path,
            format!("cannot be written: {error}; choose another folder"),
        )
    })
}

/// An exported ledger.
#[derive(Debug)]
pub struct Exported {
    folder: PathBuf,
    note: String,
    size: u64,
}

impl Exported {
    /// Opens an export.
    ///
    /// # Errors
    /// [`StoreError`] when the folder has no checkpoint.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(CHECKPOINT);
        let bytes = read(&path)?.ok_or_else(|| {
            unusable(
                &path,
                "is missing; name a folder that `actum ledger export` wrote",
            )
        })?;
        let note = String::from_utf8(bytes)
            .map_err(|_| unusable(&path, "is no checkpoint; export the ledger anew"))?;
        // Which files there have to be. That the number is signed is for the audit to see.
        let size = note.lines().nth(1).and_then(|line| line.parse().ok());
        let size =
            size.ok_or_else(|| unusable(&path, "is no checkpoint; export the ledger anew"))?;
        Ok(Self {
            folder: folder.to_owned(),
            note,
            size,
        })
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let told = |error: std::io::Error| unusable(path, format!("cannot be read: {error}"));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(told(error)),
        Ok(found) if found.len() > MOST_BYTES => {
            return Err(unusable(path, "is longer than any file of an export"));
        }
        Ok(_) => {}
    }
    std::fs::read(path).map(Some).map_err(told)
}

/// The entries of a bundle; `None` if it does not end with one.
fn entries(mut bundle: &[u8]) -> Option<Vec<&[u8]>> {
    let mut entries = Vec::new();
    while !bundle.is_empty() {
        let (length, rest) = bundle.split_first_chunk::<2>()?;
        let (entry, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        entries.push(entry);
        bundle = rest;
    }
    Some(entries)
}

#[async_trait]
impl Source for Exported {
    async fn notes(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(vec![self.note.clone()])
    }

    async fn newest_note(&mut self) -> Result<Option<String>, StoreError> {
        Ok(Some(self.note.clone()))
    }

    async fn records_after(&mut self, seq: i64) -> Result<Vec<Result<Record, Broken>>, StoreError> {
        let done = u64::try_from(seq.max(0)).unwrap_or(0);
        if done >= self.size {
            return Ok(Vec::new());
        }
        let index = done / TILE_WIDTH as u64;
        let width = Place { level: 0, index }.width(self.size);
        let path = self.folder.join(bundle_path(index, width));
        let bundle = read(&path)?.ok_or_else(|| {
            unusable(
                &path,
                "is missing; its checkpoint says that there is such a bundle of entries",
            )
        })?;
        let entries = entries(&bundle)
            .filter(|entries| entries.len() == width)
            .ok_or_else(|| unusable(&path, format!("is no bundle of {width} entries")))?;
        let first = index * TILE_WIDTH as u64;
        let records = (first..).zip(entries).map(|(before, entry)| {
            let seq = i64::try_from(before.saturating_add(1)).unwrap_or(i64::MAX);
            Record::from_entry(entry).ok_or(Broken::Changed(seq))
        });
        let skipped = usize::try_from(done - first).unwrap_or(0);
        Ok(records.skip(skipped).collect())
    }

    async fn tile(&mut self, place: Place, width: usize) -> Result<Option<Vec<u8>>, StoreError> {
        read(&self.folder.join(tile_path(place, width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_specification() {
        // The examples of C2SP tlog-tiles.
        let place = |level, index| Place { level, index };
        for (found, expected) in [
            (tile_path(place(0, 1_234_067), 256), "tile/0/x001/x234/067"),
            (tile_path(place(0, 273), 112), "tile/0/273.p/112"),
            (tile_path(place(2, 0), 1), "tile/2/000.p/1"),
            (bundle_path(5, 256), "tile/entries/005"),
        ] {
            assert_eq!(found, Path::new(expected));
        }
        let mut tiles = Place::all(70_000).skip(273);
        assert_eq!(tiles.next(), Some((place(0, 273), 112)));
        let above: Vec<_> = tiles.collect();
        assert_eq!(
            above,
            [(place(1, 0), 256), (place(1, 1), 17), (place(2, 0), 1)]
        );
    }
}
