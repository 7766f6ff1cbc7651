//! An mbox: all mails in one file, each after a line that begins with `From `.
//!
//! RFC 4155 describes the file. A body line that begins with `From ` is stored with a `>` before
//! it (mboxo), and one that begins with `>From ` with one more `>` (mboxrd); both are undone by
//! taking one `>` away.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::Limits;
use super::fault::{MailboxError, SkipReason};
use super::source::{Entry, Place};

const SEPARATOR: &[u8] = b"From ";

/// A longer line is read in pieces of this many bytes.
const PIECE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Mbox {
    path: PathBuf,
}

/// The mail that is being read.
struct Draft {
    number: usize,
    start: u64,
    /// Its bytes, or nothing once it is too large.
    raw: Option<Vec<u8>>,
}

impl Mbox {
    pub(super) fn open(path: &Path) -> Result<Self, MailboxError> {
        let mut begin = Vec::new();
        File::open(path)
            .and_then(|file| file.take(SEPARATOR.len() as u64).read_to_end(&mut begin))
            .map_err(MailboxError::unreadable(path))?;
        if begin.is_empty() || begin == SEPARATOR {
            Ok(Self {
                path: path.to_owned(),
            })
        } else {
            Err(MailboxError::NotAMailbox {
                path: path.to_owned(),
                found: "a file that does not begin with the \"From \" line of an mbox",
            })
        }
    }

    pub(super) fn scan(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<(), MailboxError> {
        self.scan_file(limits, each)
            .map_err(MailboxError::unreadable(&self.path))
    }

    fn scan_file(&self, limits: &Limits, each: &mut dyn FnMut(Entry<'_>)) -> io::Result<()> {
        let mut pieces = Pieces::new(File::open(&self.path)?);
        let mut draft: Option<Draft> = None;
        let mut number = 0;
        let mut end = 0;
        let mut is_after_blank = true;
        while let Some(piece) = pieces.next()? {
            let start = end;
            end += piece.bytes.len() as u64;
            if is_after_blank && piece.is_separator(start == 0) {
                if let Some(done) = draft.take() {
                    done.hand_over(start, limits, each);
                }
                number += 1;
                draft = Some(Draft {
                    number,
                    start: end,
                    raw: Some(Vec::new()),
                });
                is_after_blank = false;
            } else {
                is_after_blank = piece.is_line_start && piece.bytes.trim_ascii().is_empty();
                if let Some(draft) = &mut draft {
                    draft.push(piece.unquoted(), limits.message_bytes);
                }
            }
        }
        if let Some(done) = draft {
            done.hand_over(end, limits, each);
        }
        Ok(())
    }

    pub(super) fn read(&self, start: u64, len: u64) -> Option<Vec<u8>> {
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut pieces = Pieces::new(file.take(len));
        let mut raw = Vec::new();
        while let Some(piece) = pieces.next().ok()? {
            raw.extend_from_slice(piece.unquoted());
        }
        Some(without_blank_end(&raw).to_vec())
    }
}

impl Draft {
    fn push(&mut self, piece: &[u8], most: usize) {
        if let Some(raw) = &mut self.raw {
            if raw.len() + piece.len() > most {
                self.raw = None;
            } else {
                raw.extend_from_slice(piece);
            }
        }
    }

    fn hand_over(self, end: u64, limits: &Limits, each: &mut dyn FnMut(Entry<'_>)) {
        let place = Place::Stretch {
            number: self.number,
            start: self.start,
            len: end.saturating_sub(self.start),
        };
        let raw = self.raw.as_deref().map(without_blank_end);
        each(Entry::new(
            place,
            raw.ok_or(SkipReason::TooLarge {
                limit: limits.message_bytes,
            }),
        ));
    }
}

/// A file line by line, very long lines in pieces.
struct Pieces<R> {
    reader: BufReader<R>,
    bytes: Vec<u8>,
    at_line_start: bool,
}

struct Piece<'a> {
    bytes: &'a [u8],
    is_line_start: bool,
}

impl<R: Read> Pieces<R> {
    fn new(reader: R) -> Self {
        Self {
            reader: BufReader::new(reader),
            bytes: Vec::new(),
            at_line_start: true,
        }
    }

    fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.bytes.clear();
        let read = (&mut self.reader)
            .take(PIECE)
            .read_until(b'\n', &mut self.bytes)?;
        let is_line_start = self.at_line_start;
        self.at_line_start = self.bytes.ends_with(b"\n");
        Ok((read > 0).then_some(Piece {
            bytes: &self.bytes,
            is_line_start,
        }))
    }
}

impl<'a> Piece<'a> {
    /// Whether a new mail begins after it. All but the first `From ` line must also name a time,
    /// as they do in every variant: some programs store a body line such as `From here on ...`
    /// as it is.
    fn is_separator(&self, is_first: bool) -> bool {
        let names_a_time = |rest: &[u8]| {
            rest.windows(5).any(|at| {
                matches!(at, [_, h, b':', m, n] if [h, m, n].iter().all(|it| it.is_ascii_digit()))
            })
        };
        self.is_line_start
            && self
                .bytes
                .strip_prefix(SEPARATOR)
                .is_some_and(|rest| is_first || names_a_time(rest))
    }

    fn unquoted(&self) -> &'a [u8] {
        match self.bytes.strip_prefix(b">") {
            Some(rest) if self.is_line_start => {
                let marks = rest.iter().take_while(|it| **it == b'>').count();
                match rest.get(marks..) {
                    Some(line) if line.starts_with(SEPARATOR) => rest,
                    _ => self.bytes,
                }
            }
            _ => self.bytes,
        }
    }
}

/// The blank line before the next `From ` line belongs to the file, not to the mail.
fn without_blank_end(raw: &[u8]) -> &[u8] {
    raw.strip_suffix(b"\r\n\r\n")
        .or_else(|| raw.strip_suffix(b"\n\n"))
        .or_else(|| raw.strip_suffix(b"\r\n"))
        .or_else(|| raw.strip_suffix(b"\n"))
        .unwrap_or(raw)
}
