//! Which mails belong together, and under which id.

use super::*;
use crate::connectors::mailbox::ThreadId;

/// A mail from `a` to `b`, sent in the given minute.
fn mail(minute: usize, id: &str, subject: &str, more: &str) -> String {
    format!(
        "From: a@example.org\nTo: b@example.org\nSubject: {subject}\nMessage-ID: <{id}>\n\
         Date: Mon, 21 Sep 2026 10:{minute:02}:00 +0000\n{more}\n{id}\n"
    )
}

fn texts(thread: &Thread) -> Vec<&str> {
    thread.messages.iter().map(|it| it.text.as_str()).collect()
}

#[test]
fn references_and_in_reply_to_make_threads() {
    let thread = only_thread(
        &Dir::of([
            mail(0, "1@x", "Plan", ""),
            mail(2, "3@x", "Re: Plan", "References: <1@x> <2@x>\n"),
            mail(1, "2@x", "other words", "In-Reply-To: <1@x>\n"),
        ])
        .into_mailbox(),
    );
    assert_eq!(texts(&thread), ["1@x", "2@x", "3@x"]);
    assert_eq!(thread.subject, "Plan");
}

#[test]
fn mails_that_answer_the_same_missing_mail_are_one_thread() {
    let thread = only_thread(
        &Dir::of([
            mail(0, "2@x", "Re: Plan", "References: <1@x>\n"),
            mail(1, "4@x", "Re: Plan", "References: <1@x>\n <3@x>\n"),
            mail(2, "5@x", "Re: Plan", "In-Reply-To: <3@x>\n"),
        ])
        .into_mailbox(),
    );
    assert_eq!(texts(&thread), ["2@x", "4@x", "5@x"]);
}

#[test]
fn the_same_subject_alone_is_no_thread() {
    let mailbox = Dir::of([mail(0, "1@x", "Plan", ""), mail(1, "2@x", "Plan", "")]).into_mailbox();
    assert_eq!(mailbox.threads().len(), 2);
}

#[test]
fn a_reply_that_lost_its_headers_follows_the_latest_mail_of_its_subject() {
    for subject in [
        "Re: Plan",
        "RE: plan",
        "AW: Plan",
        "Sv: Re: Plan",
        "Re[2]: Fwd: Plan",
        "Antw.: Plan".replace('.', "").as_str(),
        "回复：Plan",
    ] {
        let mailbox = Dir::of([
            mail(0, "1@x", "Plan", ""),
            mail(1, "2@x", "Plan", ""),
            mail(2, "3@x", subject, ""),
        ])
        .into_mailbox();
        let threads = mailbox.threads();
        assert_eq!(threads.len(), 2, "{subject}");
        let newest = mailbox.thread(&threads[0].id, 9).unwrap();
        assert_eq!(texts(&newest), ["2@x", "3@x"], "{subject}");
    }
}

#[test]
fn forwards_earlier_replies_and_other_subjects_do_not_follow() {
    for (minute, subject) in [
        (9, "Fwd: Plan"),
        (9, "Fwd: Re: Plan"),
        (9, "Re: Plans"),
        (0, "Re: Plan"),
        (9, "Re:"),
    ] {
        let mailbox =
            Dir::of([mail(5, "1@x", "Plan", ""), mail(minute, "2@x", subject, "")]).into_mailbox();
        assert_eq!(mailbox.threads().len(), 2, "{minute} {subject}");
    }
}

#[test]
fn a_reply_with_headers_is_not_moved_by_its_subject() {
    let mailbox = Dir::of([
        mail(0, "1@x", "Plan", ""),
        mail(1, "2@x", "Re: Plan", "In-Reply-To: <elsewhere@x>\n"),
    ])
    .into_mailbox();
    assert_eq!(mailbox.threads().len(), 2);
}

#[test]
fn circles_and_self_references_are_harmless() {
    let mailbox = Dir::of([
        mail(0, "1@x", "a", "References: <2@x>\n"),
        mail(1, "2@x", "b", "References: <1@x>\n"),
        mail(2, "3@x", "c", "References: <3@x>\nIn-Reply-To: <3@x>\n"),
        mail(3, "4@x", "d", "References: <2@x> <4@x>\n"),
    ])
    .into_mailbox();
    assert_eq!(outline(&mailbox), [(3, "a".into()), (1, "c".into())]);
}

#[test]
fn threads_are_listed_newest_first_and_undated_ones_last() {
    let mailbox = Dir::of([
        "Subject: undated\n\n".to_owned(),
        mail(1, "1@x", "early", ""),
        mail(3, "2@x", "late", ""),
        mail(2, "3@x", "middle", ""),
        mail(4, "4@x", "again", "In-Reply-To: <1@x>\n"),
    ])
    .into_mailbox();
    let subjects: Vec<_> = outline(&mailbox).into_iter().map(|it| it.1).collect();
    assert_eq!(subjects, ["early", "late", "middle", "undated"]);
    let dates: Vec<_> = mailbox
        .threads()
        .into_iter()
        .map(|it| it.last_date)
        .collect();
    assert_eq!(dates[0].as_deref(), Some("2026-09-21T10:04:00Z"));
    assert_eq!(dates[3], None);
}

#[test]
fn the_newest_mails_of_a_thread_are_given_in_order() {
    let mailbox = Dir::of((0..5).map(|it| {
        mail(
            it,
            &format!("{it}@x"),
            "Plan",
            if it == 0 { "" } else { "References: <0@x>\n" },
        )
    }))
    .into_mailbox();
    let id = mailbox.threads()[0].id.clone();
    let newest = mailbox.thread(&id, 2).unwrap();
    assert_eq!(texts(&newest), ["3@x", "4@x"]);
    assert_eq!((newest.omitted, newest.subject.as_str()), (3, "Plan"));
    assert_eq!(mailbox.thread(&id, 0).unwrap().omitted, 5);
    assert_eq!(mailbox.thread(&id, 50).unwrap().omitted, 0);
}

#[test]
fn participants_are_named_once_in_order_of_appearance() {
    let mailbox = Dir::of([
        mail(0, "1@x", "Plan", ""),
        "From: Bo <B@Example.org>\nTo: a@example.org\nCc: Cy <c@example.org>\n\
         In-Reply-To: <1@x>\nDate: Mon, 21 Sep 2026 11:00:00 +0000\n\n"
            .to_owned(),
    ])
    .into_mailbox();
    assert_eq!(
        mailbox.threads()[0].participants,
        ["a@example.org", "b@example.org", "Cy <c@example.org>"]
    );
}

#[test]
fn a_thread_keeps_its_id_when_mails_arrive() {
    let dir = Dir::of([mail(1, "2@x", "Re: Plan", "References: <1@x>\n")]);
    let id = only_thread(&dir.open()).id;
    assert_eq!(id, ThreadId::of_root("1@x"));
    dir.put(
        "new/9.host",
        mail(2, "3@x", "Re: Plan", "References: <1@x> <2@x>\n"),
    );
    dir.put("new/8.host", mail(0, "1@x", "Plan", ""));
    dir.put("new/7.host", mail(3, "4@x", "Re: Plan", ""));
    let thread = only_thread(&dir.open());
    assert_eq!((thread.id, thread.messages.len()), (id, 4));
}

#[test]
fn a_mail_without_a_message_id_has_a_stable_thread() {
    let id = |folder: &str| {
        let dir = Dir::new();
        dir.put(&format!("{folder}/1.host"), "Subject: s\n\nHi");
        only_thread(&dir.open()).id
    };
    assert_eq!(id("cur"), id("new"));
}

#[test]
fn long_reference_lists_keep_the_first_and_the_last() {
    let middle: Vec<_> = (0..500).map(|it| format!("<m{it}@x>")).collect();
    let references = format!("References: <1@x>\n {}\n <2@x>\n", middle.join("\n "));
    let mailbox = Dir::of([
        mail(0, "1@x", "Plan", ""),
        mail(1, "3@x", "Re: Plan", &references),
        mail(2, "4@x", "Re: Plan", "In-Reply-To: <2@x>\n"),
    ])
    .into_mailbox();
    assert_eq!(only_thread(&mailbox).messages.len(), 3);
}

#[test]
fn thread_ids_are_checked_when_they_are_read() {
    let id = ThreadId::of_root("1@x");
    assert_eq!(id.as_str().parse(), Ok(id.clone()));
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(serde_json::from_str::<ThreadId>(&json).unwrap(), id);
    for wrong in [
        "",
        "thr_",
        "thr_0123456789ABCDEF",
        "thr_0123456789abcdef0",
        "0123456789abcdef",
    ] {
        assert!(wrong.parse::<ThreadId>().is_err(), "{wrong}");
        assert!(
            serde_json::from_value::<ThreadId>(wrong.into()).is_err(),
            "{wrong}"
        );
    }
    assert!(only_id_is_unknown(&id));
}

fn only_id_is_unknown(id: &ThreadId) -> bool {
    Dir::of(["Subject: s\n\n"])
        .into_mailbox()
        .thread(id, 1)
        .is_none()
}
