//! A Maildir: one file a mail, in `cur/` (seen by a mail program) and `new/` (not yet seen).
//! `tmp/` holds unfinished deliveries and is never read.
//! The format is described at <https://cr.yp.to/proto/maildir.html>.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Limits;
use super::fault::{MailboxError, SkipReason};
use super::source::{Entry, Place};

/// What ends a file's unique name and begins its flags: `:` by the format, the others on file
/// systems that have no colons in names.
const FLAG_SEPARATORS: [char; 3] = [':', ';', '!'];

/// A folder of the Maildir that holds mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Folder {
    Cur,
    New,
}

impl Folder {
    const ALL: [Self; 2] = [Self::Cur, Self::New];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cur => "cur",
            Self::New => "new",
        }
    }
}

type Names = BTreeSet<(OsString, Folder)>;

#[derive(Debug)]
pub(super) struct Maildir {
    /// INVARIANT: canonical, so that a link's target can be compared with it.
    root: PathBuf,
}

impl Maildir {
    pub(super) fn open(path: &Path) -> Result<Self, MailboxError> {
        if !Folder::ALL.iter().any(|it| path.join(it.name()).is_dir()) {
            return Err(MailboxError::NotAMailbox {
                path: path.to_owned(),
                found: "a folder with neither cur/ nor new/ in it",
            });
        }
        let root = fs::canonicalize(path).map_err(MailboxError::unreadable(path))?;
        Ok(Self { root })
    }

    pub(super) fn scan(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<usize, MailboxError> {
        let (names, left_out) = self.newest_names(limits.messages)?;
        for (name, folder) in names {
            let read = self.read_file(folder, &name, limits.message_bytes);
            let place = Place::File { folder, name };
            each(Entry::new(place, read.as_deref().map_err(Clone::clone)));
        }
        Ok(left_out)
    }

    /// File names in order, which is by time of delivery, since a unique name begins with it;
    /// and how many of the oldest were left out.
    fn newest_names(&self, most: usize) -> Result<(Names, usize), MailboxError> {
        let mut names = Names::new();
        let mut left_out = 0;
        for folder in Folder::ALL {
            let path = self.root.join(folder.name());
            let entries = match fs::read_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(MailboxError::unreadable(&path))?,
            };
            for entry in entries {
                let name = entry.map_err(MailboxError::unreadable(&path))?.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                names.insert((name, folder));
                if names.len() > most {
                    names.pop_first();
                    left_out += 1;
                }
            }
        }
        Ok((names, left_out))
    }

    pub(super) fn read(
        &self,
        folder: Folder,
        name: &OsStr,
        limits: &Limits,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let read = |folder, name: &OsStr| {
            self.read_file(folder, name, limits.message_bytes)
                .ok()
                .filter(|raw| wanted(raw))
        };
        read(folder, name).or_else(|| {
            // A mail program renames a file when it moves a mail to cur/ or changes its flags.
            Folder::ALL
                .into_iter()
                .flat_map(|folder| {
                    fs::read_dir(self.root.join(folder.name()))
                        .into_iter()
                        .flatten()
                        .flatten()
                        .map(move |entry| (folder, entry.file_name()))
                })
                .filter(|(_, other)| unique_part(other) == unique_part(name))
                .find_map(|(folder, other)| read(folder, &other))
        })
    }

    fn read_file(&self, folder: Folder, name: &OsStr, most: usize) -> Result<Vec<u8>, SkipReason> {
        let refused = |error: io::Error| SkipReason::Unreadable {
            error: error.to_string(),
        };
        let path = self.root.join(folder.name()).join(name);
        let real = fs::canonicalize(path).map_err(refused)?;
        if !real.starts_with(&self.root) {
            return Err(SkipReason::OutsideMailbox);
        }
        // Asked before it is opened: opening a named pipe would wait for its writer.
        if !fs::metadata(&real).map_err(refused)?.is_file() {
            return Err(SkipReason::NotARegularFile);
        }
        let mut raw = Vec::new();
        File::open(&real)
            .and_then(|file| file.take(most as u64 + 1).read_to_end(&mut raw))
            .map_err(refused)?;
        if raw.len() > most {
            return Err(SkipReason::TooLarge { limit: most });
        }
        Ok(raw)
    }
}

fn unique_part(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.split(FLAG_SEPARATORS)
        .next()
        .unwrap_or_default()
        .to_owned()
}
