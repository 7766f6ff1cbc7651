//! Which paths are mailboxes, and which of their mails are read.

use std::fs;

use super::*;
use crate::connectors::mailbox::{MailboxError, SkipReason};

const MAIL: &str = "From: a@example.org\nSubject: Hello\nMessage-ID: <1@example.org>\n\nHi\n";

fn mbox(text: impl AsRef<[u8]>) -> (TempDir, Mailbox) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mail.mbox");
    fs::write(&path, text).unwrap();
    let mailbox = Mailbox::open(path).unwrap();
    (dir, mailbox)
}

fn reasons(mailbox: &Mailbox) -> Vec<(&str, &SkipReason)> {
    let faults = mailbox.faults().listed().iter();
    faults.map(|it| (it.mail.as_str(), &it.reason)).collect()
}

#[test]
fn a_missing_path_is_named_with_what_to_give_instead() {
    let error = Mailbox::open("/no/such/mailbox").unwrap_err();
    assert!(matches!(error, MailboxError::Missing { .. }));
    let told = error.to_string();
    assert!(
        told.contains("/no/such/mailbox") && told.contains("Maildir"),
        "{told}"
    );
}

#[test]
fn a_folder_without_cur_and_new_is_not_a_mailbox() {
    let dir = tempfile::tempdir().unwrap();
    let error = Mailbox::open(dir.path()).unwrap_err();
    assert!(matches!(error, MailboxError::NotAMailbox { .. }));
    assert!(error.to_string().contains("neither cur/ nor new/"));
}

#[test]
fn a_file_of_another_kind_is_not_a_mailbox() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    fs::write(&path, MAIL).unwrap();
    let error = Mailbox::open(path).unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert!(matches!(error, MailboxError::NotAMailbox { .. }));
}

#[test]
fn what_the_system_refuses_to_read_is_told_with_its_words() {
    let dir = Dir::of([MAIL]);
    // A path through a file is refused by every system and for every account.
    let error = Mailbox::open(dir.path().join("cur/00000.host/mail")).unwrap_err();
    assert!(
        matches!(error, MailboxError::Unreadable { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("let the account"));
}

#[test]
fn mails_are_read_from_cur_and_new_and_never_from_tmp() {
    let dir = Dir::new();
    for folder in ["cur", "new", "tmp"] {
        dir.put(
            &format!("{folder}/1.host"),
            format!("Subject: in {folder}\n\n"),
        );
    }
    let mut subjects: Vec<_> = outline(&dir.open()).into_iter().map(|it| it.1).collect();
    subjects.sort();
    assert_eq!(subjects, ["in cur", "in new"]);
}

#[test]
fn new_alone_is_enough_and_dot_files_are_no_mails() {
    let dir = Dir::new();
    fs::remove_dir(dir.path().join("cur")).unwrap();
    dir.put("new/.keep", "");
    dir.put("new/1.host", MAIL);
    let mailbox = dir.open();
    assert_eq!(only_message(&mailbox).text, "Hi");
    assert!(mailbox.faults().listed().is_empty());
}

#[test]
fn one_message_id_is_one_mail() {
    let dir = Dir::new();
    dir.put("new/1.host", MAIL);
    dir.put("cur/1.host:2,S", MAIL);
    let mailbox = dir.open();
    assert_eq!(only_message(&mailbox).text, "Hi");
    assert!(mailbox.faults().listed().is_empty());
}

#[test]
fn another_mail_with_a_known_message_id_is_reported() {
    let early = "Date: Mon, 21 Sep 2026 10:00:00 +0000\nMessage-ID: <1@example.org>\n\nfirst";
    let late = "Date: Tue, 22 Sep 2026 10:00:00 +0000\nMessage-ID: <1@example.org>\n\nsecond";
    for mails in [[early, late], [late, early]] {
        let mailbox = Dir::of(mails).into_mailbox();
        assert_eq!(only_message(&mailbox).text, "first");
        let told = reasons(&mailbox);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].1, &SkipReason::SameMessageId);
    }
}

#[test]
fn broken_files_are_listed_and_the_rest_is_shown() {
    let dir = Dir::of([MAIL]);
    dir.put("cur/empty.host", "");
    dir.put("cur/noise.host", [0u8, 159, 146, 150, 10, 255]);
    fs::create_dir(dir.path().join("new/folder.host")).unwrap();
    let mailbox = dir.open();
    assert_eq!(only_message(&mailbox).text, "Hi");
    assert_eq!(
        reasons(&mailbox),
        [
            ("cur/empty.host", &SkipReason::NoHeader),
            ("new/folder.host", &SkipReason::NotARegularFile),
            ("cur/noise.host", &SkipReason::NoHeader),
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_mailbox_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), MAIL).unwrap();
    let dir = Dir::new();
    symlink(outside.path().join("secret"), dir.path().join("cur/1.host")).unwrap();
    fs::remove_dir(dir.path().join("new")).unwrap();
    symlink(outside.path(), dir.path().join("new")).unwrap();
    let mailbox = dir.open();
    assert!(mailbox.threads().is_empty());
    assert_eq!(
        reasons(&mailbox),
        [
            ("cur/1.host", &SkipReason::OutsideMailbox),
            ("new/secret", &SkipReason::OutsideMailbox),
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_within_the_mailbox_are_followed() {
    let dir = Dir::new();
    dir.put("tmp/stored", MAIL);
    std::os::unix::fs::symlink("../tmp/stored", dir.path().join("cur/1.host")).unwrap();
    assert_eq!(only_message(&dir.open()).text, "Hi");
}

#[test]
fn a_mail_that_is_too_long_is_skipped_and_reported() {
    let limits = Limits {
        message_bytes: MAIL.len() + 1,
        ..Limits::default()
    };
    let dir = Dir::of([MAIL.to_owned(), format!("{MAIL}..")]);
    let mailbox = dir.open_within(limits.clone());
    assert_eq!(only_message(&mailbox).text, "Hi");
    let too_large = SkipReason::TooLarge {
        limit: MAIL.len() + 1,
    };
    assert_eq!(reasons(&mailbox), [("cur/00001.host", &too_large)]);

    let path = dir.path().join("mbox");
    let from = "From a@example.org Mon Sep 21 14:13:21 2026\n";
    fs::write(&path, format!("{from}{MAIL}.long\n\n{from}{MAIL}\n")).unwrap();
    let mailbox = Mailbox::open_within(&path, limits).unwrap();
    assert_eq!(only_message(&mailbox).text, "Hi");
    assert_eq!(reasons(&mailbox), [("message 1, byte 44", &too_large)]);
}

#[test]
fn of_too_many_mails_the_newest_are_read() {
    let limits = Limits {
        messages: 2,
        ..Limits::default()
    };
    let left_out = SkipReason::TooMany { skipped: 3 };
    let mails = ["1", "2", "3", "4", "5"].map(|it| format!("Subject: {it}\n\n"));
    let subjects = |mailbox: &Mailbox| {
        let mut found: Vec<_> = outline(mailbox).into_iter().map(|it| it.1).collect();
        found.sort();
        found
    };
    let mailbox = Dir::of(&mails).into_mailbox_within(limits.clone());
    assert_eq!(subjects(&mailbox), ["4", "5"]);
    assert_eq!(reasons(&mailbox), [("older messages", &left_out)]);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mbox");
    let lines = mails.map(|it| format!("From - Mon Sep 21 14:13:21 2026\n{it}\n"));
    fs::write(&path, lines.concat()).unwrap();
    let mailbox = Mailbox::open_within(&path, limits).unwrap();
    assert_eq!(subjects(&mailbox), ["4", "5"]);
    assert_eq!(reasons(&mailbox), [("older messages", &left_out)]);
}

#[test]
fn the_list_of_faults_is_bounded() {
    let limits = Limits {
        faults: 2,
        ..Limits::default()
    };
    let mailbox = Dir::of([""; 5]).into_mailbox_within(limits);
    assert_eq!(mailbox.faults().listed().len(), 2);
    assert_eq!(mailbox.faults().unlisted(), 3);
}

#[test]
fn an_mbox_is_split_at_its_from_lines_and_its_quoting_is_undone() {
    let (_dir, mailbox) = mbox(
        "From a@example.org Mon Sep 21 14:13:21 2026\n\
         Subject: one\n\
         Date: Mon, 21 Sep 2026 14:13:21 +0000\n\
         \n\
         >From the start\n\
         >>From deeper\n\
         > From a quotation\n\
         From the middle of a paragraph at 10:30\n\
         \n\
         From here on no time is named\n\
         \n\
         From b@example.org Tue Sep 22 14:13:21 2026\n\
         Subject: two\n\
         \n\
         end\n",
    );
    assert_eq!(outline(&mailbox), [(1, "one".into()), (1, "two".into())]);
    let first = mailbox.thread(&mailbox.threads()[0].id, 1).unwrap();
    assert_eq!(
        first.messages[0].text,
        "From the start\n>From deeper\n> From a quotation\nFrom the middle of a paragraph at \
         10:30\n\nFrom here on no time is named"
    );
}

#[test]
fn an_mbox_with_network_line_ends_is_read_alike() {
    let (_dir, mailbox) = mbox(
        "From - Mon Sep 21 14:13:21 2026\r\nSubject: one\r\n\r\n>From me\r\n\r\n\
         From - Mon Sep 21 14:13:22 2026\r\nSubject: two\r\n\r\nHi\r\n",
    );
    let mut texts: Vec<_> = mailbox
        .threads()
        .iter()
        .map(|it| mailbox.thread(&it.id, 1).unwrap().messages[0].text.clone())
        .collect();
    texts.sort();
    assert_eq!(texts, ["From me", "Hi"]);
}

#[test]
fn an_empty_mbox_is_an_empty_mailbox() {
    let (_dir, mailbox) = mbox("");
    assert!(mailbox.threads().is_empty());
}

#[test]
fn a_line_longer_than_any_buffer_stays_one_line() {
    let line = "x".repeat(200_000);
    let limits = Limits {
        text_bytes: 300_000,
        ..Limits::default()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mbox");
    fs::write(
        &path,
        format!("From - Mon Sep 21 14:13:21 2026\nSubject: s\n\n{line}\n"),
    )
    .unwrap();
    let mailbox = Mailbox::open_within(path, limits).unwrap();
    assert_eq!(only_message(&mailbox).text, line);
}

#[test]
fn a_mail_that_was_moved_and_flagged_meanwhile_is_still_shown() {
    let dir = Dir::new();
    dir.put("new/1.host", MAIL);
    let mailbox = dir.open();
    fs::rename(
        dir.path().join("new/1.host"),
        dir.path().join("cur/1.host:2,RS"),
    )
    .unwrap();
    assert_eq!(only_message(&mailbox).text, "Hi");
}

#[test]
fn another_mail_in_the_place_of_an_indexed_one_is_never_shown() {
    let dir = Dir::of([MAIL]);
    let mailbox = dir.open();
    dir.put("cur/00000.host", MAIL.replace("Hi", "Bye"));
    let message = only_message(&mailbox);
    assert!(
        message.text.contains("moved, changed or deleted"),
        "{message:?}"
    );
    assert_eq!(message.subject, "Hello");

    let (dir, mailbox) = mbox(format!("From - Mon Sep 21 14:13:21 2026\n{MAIL}"));
    let path = dir.path().join("mail.mbox");
    fs::write(
        path,
        format!("From - Mon Sep 21 14:13:21 2026\n{MAIL}").replace("Hi", "Ho"),
    )
    .unwrap();
    assert!(
        only_message(&mailbox)
            .text
            .contains("moved, changed or deleted")
    );
}
