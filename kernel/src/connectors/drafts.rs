//! The owner's drafts: a Maildir of its own, that accepted mail drafts are written to and nothing is read from.
//!
//! A mail is written to `tmp/`, made durable, and linked into `new/` under a name that only its call has, as
//! <https://cr.yp.to/proto/maildir.html> has it: a reader never sees half of one, and a call has one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use actum::ActionError;
use jiff::Timestamp;
use mail_builder::MessageBuilder;
use ulid::Ulid;

use crate::folder;
use crate::preview::Draft;

/// The folder of the drafts, or that there is none.
#[derive(Debug, Clone)]
pub struct Drafts(Option<PathBuf>);

impl Drafts {
    /// No folder is configured: an accepted draft is stored as an accepted preview, and nothing else.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// The Maildir at a path; it is made where it is missing.
    ///
    /// # Errors
    /// What cannot be made, and why.
    pub fn at(path: &Path) -> Result<Self, String> {
        for part in ["tmp", "new", "cur"] {
            let part = path.join(part);
            folder::make_private(&part).map_err(|error| {
                format!(
                    "{}: cannot be made: {error}; name a folder for `drafts` that the kernel may write to, or leave it out",
                    part.display()
                )
            })?;
        }
        Ok(Self(Some(path.to_owned())))
    }

    /// Writes a mail as that of a call; its path within the folder. Written again for the same call, it is the one
    /// that is there.
    ///
    /// # Errors
    /// [`ActionError`] when it cannot be written.
    pub async fn write(
        &self,
        call: Ulid,
        at: Timestamp,
        draft: Draft,
    ) -> Result<Option<String>, ActionError> {
        let Some(folder) = self.0.clone() else {
            return Ok(None);
        };
        let written = tokio::task::spawn_blocking(move || write(&folder, call, at, &draft)).await?;
        Ok(Some(written?))
    }
}

fn write(root: &Path, call: Ulid, at: Timestamp, draft: &Draft) -> std::io::Result<String> {
    let name = format!("{}.{call}.actum", at.as_second());
    let within = format!("new/{name}");
    let (unfinished, whole) = (root.join("tmp").join(&name), root.join(&within));
    // Of an attempt that was cut off.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    folder::write_private(&unfinished, &mail(call, at, draft)?)?;
    match fs::hard_link(&unfinished, &whole) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs::File::open(root.join("new"))?.sync_all()?;
    fs::remove_file(&unfinished)?;
    Ok(within)
}

/// The draft as a mail without a sender, whom the owner's mail program fills in.
fn mail(call: Ulid, at: Timestamp, draft: &Draft) -> std::io::Result<String> {
    let to: Vec<&str> = draft.to.iter().map(String::as_str).collect();
    MessageBuilder::new()
        .to(to)
        .subject(draft.subject.as_deref().unwrap_or_default())
        .date(at.as_second())
        .message_id(format!("{call}@actum.invalid"))
        .text_body(draft.body.as_str())
        .write_to_string()
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;

    use super::*;
    use crate::preview::DraftKind;

    fn draft() -> Draft {
        Draft {
            title: "Answer".to_owned(),
            kind: DraftKind::Mail,
            to: vec!["one@example.org".to_owned(), "two@example.org".to_owned()],
            subject: Some("Größe: =?utf-8?q?no?=".to_owned()),
            body: "Ja, 15 Zoll.\n.\nFrom here on\n".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_draft_is_one_file_of_its_call_and_reads_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let drafts = Drafts::at(folder.path()).unwrap();
        let at = "2026-09-22T08:00:00Z".parse().unwrap();
        let first = drafts.write(Ulid(7), at, draft()).await.unwrap().unwrap();
        let again = drafts.write(Ulid(7), at, draft()).await.unwrap().unwrap();
        assert_eq!(first, again);
        let count = |part: &str| fs::read_dir(folder.path().join(part)).unwrap().count();
        assert_eq!((count("new"), count("tmp")), (1, 0));

        let bytes = fs::read(folder.path().join(first)).unwrap();
        let mail = MessageParser::default().parse(&bytes).unwrap();
        assert_eq!(mail.subject(), draft().subject.as_deref());
        assert_eq!(
            mail.body_text(0).unwrap().replace("\r\n", "\n"),
            draft().body
        );
        let to: Vec<_> = mail.to().unwrap().iter().collect();
        let to: Vec<_> = to.iter().map(|one| one.address().unwrap()).collect();
        assert_eq!(to, draft().to);
    }

    #[tokio::test]
    async fn without_a_folder_nothing_is_written() {
        let at = Timestamp::UNIX_EPOCH;
        let none = Drafts::none().write(Ulid(7), at, draft()).await.unwrap();
        assert_eq!(none, None);
    }
}
