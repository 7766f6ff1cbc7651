//! Mails that were made to harm: they are shown in bounds, or left out.

use super::*;

#[test]
fn control_and_direction_characters_are_stripped() {
    let message = shown(
        "From: \"Ev\u{202e}il\u{7}\" <e@example.org>\n\
         Subject: =?utf-8?Q?a=1B[31m=E2=80=AEb=00=0D=0ABcc:_x?=\n\n\
         one\u{1b}[2J\u{202e}two\u{2066}\u{200b}\u{feff}\u{e0041}\u{8}three\n",
    );
    assert_eq!(message.from.unwrap(), "Evil <e@example.org>");
    assert_eq!(message.subject, "a[31mb Bcc: x");
    assert_eq!(message.text, "one[2Jtwothree");
}

#[test]
fn joiners_that_scripts_and_pictures_need_are_kept() {
    let text = "می\u{200c}خواهم 👩\u{200d}🌾 ❤\u{fe0f}";
    assert_eq!(
        text_of("Content-Type: text/plain; charset=utf-8", text),
        text
    );
}

#[test]
fn a_name_cannot_pass_for_an_address() {
    let from = shown("From: \"Boss <boss@example.org>\" <e@example.net>\n\n").from;
    assert_eq!(from.unwrap(), "Boss boss@example.org <e@example.net>");
}

#[test]
fn long_header_values_are_cut() {
    let long = "x".repeat(100_000);
    let message = shown(format!(
        "Subject: {long}\nFrom: {long} <{long}@example.org>\n\n"
    ));
    assert_eq!(message.subject.chars().count(), 501);
    assert!(message.from.unwrap().chars().count() < 600);
}

#[test]
fn long_address_lists_are_cut() {
    let many: Vec<_> = (0..5_000).map(|it| format!("{it}@example.org")).collect();
    let mailbox = Dir::of([format!("To: {}\n\n", many.join(",\n "))]).into_mailbox();
    assert_eq!(only_message(&mailbox).to.len(), 100);
    assert_eq!(mailbox.threads()[0].participants.len(), 50);
}

/// Each of these overflows the stack, fills the memory or takes minutes if parts are followed
/// without a bound.
#[test]
fn deep_and_endless_structures_are_cut() {
    let count = 20_000;
    let nested = "Content-Type: message/rfc822\n\n".repeat(count);
    let encoded = format!(
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n{nested}"
    );
    let multiparts: String = (0..count)
        .map(|it| format!("Content-Type: multipart/mixed; boundary={it}\n\n--{it}\n"))
        .collect();
    let unseparated: String = (0..count)
        .map(|it| format!("--b\nContent-Type: multipart/mixed; boundary=b{it}\n\n"))
        .collect();
    let page = |html: &str| format!("Content-Type: text/html\n\n{}", html.repeat(count));
    for mail in [
        nested,
        encoded,
        multiparts,
        format!("Content-Type: multipart/mixed; boundary=b\n\n{unseparated}"),
        format!(
            "Content-Type: multipart/mixed; boundary=b\n\n{}",
            "--b\n\n".repeat(count)
        ),
        page("<div>"),
        page("<blockquote>x"),
        page("<ul><li>x"),
        page("<table><tr><td>x"),
        page("<a href=https://example.org/>"),
        page("<b><p hidden>"),
        page("&amp"),
        format!("X: {}\n\n", "(".repeat(count)),
        format!("From: {}\n\n", "<".repeat(count)),
        format!("References: {}\n\n", "<a@b> ".repeat(count)),
    ] {
        let message = shown(format!("Subject: s\n{mail}"));
        assert!(message.text.len() <= 66_000);
    }
}

#[test]
fn a_stranger_cannot_enter_a_thread_by_guessing_its_subject() {
    let mailbox = Dir::of([
        "From: a@example.org\nTo: b@example.org\nSubject: Plan\nMessage-ID: <1@x>\n\
         Date: Mon, 21 Sep 2026 10:00:00 +0000\n\n",
        "From: stranger@example.net\nTo: b@example.org\nSubject: Re: Plan\nMessage-ID: <2@x>\n\
         Date: Mon, 21 Sep 2026 11:00:00 +0000\n\n",
    ])
    .into_mailbox();
    assert_eq!(
        outline(&mailbox),
        [(1, "Re: Plan".into()), (1, "Plan".into())]
    );
}

#[test]
fn a_later_mail_cannot_join_two_threads_to_one() {
    let mailbox = Dir::of([
        "Subject: one\nMessage-ID: <1@x>\nDate: Mon, 21 Sep 2026 10:00:00 +0000\n\n",
        "Subject: two\nMessage-ID: <2@x>\nReferences: <0@x>\n\
         Date: Mon, 21 Sep 2026 11:00:00 +0000\n\n",
        "Subject: both\nMessage-ID: <3@x>\nReferences: <1@x> <0@x> <2@x>\n\
         Date: Mon, 21 Sep 2026 12:00:00 +0000\n\n",
    ])
    .into_mailbox();
    assert_eq!(outline(&mailbox), [(2, "two".into()), (1, "one".into())]);
}

#[test]
fn parts_that_are_too_deep_are_counted_and_not_opened() {
    let nested = |depth: usize| {
        let mut mail = String::from("Subject: s\n");
        for level in 0..depth {
            let type_ = "Content-Type: multipart/mixed; boundary";
            mail.push_str(&format!("{type_}=b{level}b\n\n--b{level}b\n"));
        }
        shown(mail + "\nHi\n")
    };
    assert_eq!(nested(10).text, "Hi");
    let too_deep = nested(20);
    assert_eq!(
        (too_deep.text.as_str(), too_deep.attachments_omitted),
        ("", 1)
    );
}

#[test]
fn parts_that_are_too_many_are_counted_and_not_opened() {
    let mail = "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n".to_owned();
    let message = shown(mail + &"--b\n\nHi\n".repeat(5_000));
    assert!(message.text.matches("Hi").count() < 1_000);
    assert!(message.attachments_omitted > 0);
}
