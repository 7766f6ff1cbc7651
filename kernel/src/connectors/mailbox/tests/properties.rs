//! What holds for every mail and every mailbox.

use proptest::prelude::*;

use super::*;

/// Header and MIME pieces that a parser could stumble over, put together at random.
fn mail_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            &b"\n"[..],
            b"\r\n",
            b"\n\n",
            b" ",
            b"\t",
            b"--b",
            b"--b--",
            b"--b\n\n",
            b"From ",
            b":",
            b"Subject: ",
            b"From: ",
            b"Date: ",
            b"Date: Mon, 21 Sep 2026 10:00:00 +0000\n",
            b"Received: from a by b; ",
            b"References: ",
            b"Message-ID: ",
            b"<a@b>",
            b"<",
            b">",
            b"\"",
            b"(",
            b")",
            b"=?utf-8?B?",
            b"=?iso-2022-jp?Q?",
            b"?=",
            b"=C3=",
            b"=",
            b";",
            b"Content-Type: multipart/mixed; boundary=b\n",
            b"Content-Type: multipart/digest; boundary=b\n",
            b"Content-Type: message/rfc822\n",
            b"Content-Type: text/html; charset=\"",
            b"Content-Type: text/plain; charset=gb18030\n",
            b"Content-Type: text/html\n\n",
            b"Content-Transfer-Encoding: base64\n",
            b"Content-Transfer-Encoding: quoted-printable\n",
            b"Content-Disposition: attachment; filename*0*=",
            b"<a href=\"",
            b"<script>",
            b"<p hidden>",
            b"</p>",
            b"<blockquote>",
            b"<pre>",
            b"<!--",
            b"<li>",
            b"<![CDATA[",
            b"&#x",
            b"\xe2\x80\xae",
            b"\x1b",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Opens a mailbox and asks for all that it has.
fn read_all(path: &Path, limits: &Limits) -> Vec<Thread> {
    let mailbox = Mailbox::open_within(path, limits.clone()).unwrap();
    let threads = mailbox.threads().into_iter();
    threads
        .map(|it| mailbox.thread(&it.id, 50).unwrap())
        .collect()
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(|it| {
        (it.is_control() && it != '\n' && it != '\t')
            || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    })
}

/// A mail among ids `0` to `7`: its own id, the ids it refers to, minute, subject.
type Sketch = (u8, Vec<u8>, Option<u8>, &'static str);

fn sketch() -> impl Strategy<Value = Sketch> {
    (
        0..8u8,
        prop::collection::vec(0..8u8, 0..4),
        prop::option::of(0..4u8),
        prop::sample::select(vec!["Plan", "Re: Plan", "Fwd: Plan", "Re: Other", ""]),
    )
}

fn written((id, references, minute, subject): &Sketch) -> String {
    let date = minute.map(|it| format!("Date: Mon, 21 Sep 2026 10:0{it}:00 +0000\n"));
    let references: String = references.iter().map(|it| format!(" <{it}@x>")).collect();
    format!(
        "From: a@example.org\nMessage-ID: <{id}@x>\nReferences:{references}\nSubject: {subject}\n{}\n{id}",
        date.unwrap_or_default(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_shown_or_reported_and_never_panic(mail in mail_like()) {
        let limits = Limits { text_bytes: 200, ..Limits::default() };
        let dir = Dir::of([&mail]);
        let mailbox = dir.open_within(limits.clone());
        prop_assert_eq!(mailbox.threads().len() + mailbox.faults().listed().len(), 1);
        for message in read_all(dir.path(), &limits).into_iter().flat_map(|it| it.messages) {
            prop_assert!(message.text.len() <= 200 + "\n[The text was cut here, after 200 bytes.]".len());
            prop_assert!(!message.text.contains("cannot be parsed"), "a parser panicked");
            let header = [vec![message.subject], Vec::from_iter(message.from), message.to, message.cc];
            prop_assert!(header.concat().iter().all(|it| is_printable(it) && !it.contains('\n')));
            prop_assert!(is_printable(&message.text));
        }
    }

    #[test]
    fn arbitrary_bytes_in_an_mbox_never_panic(mails in prop::collection::vec(mail_like(), 0..4)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mbox");
        let separated: Vec<_> = mails
            .iter()
            .map(|it| [b"\n\nFrom - Mon Sep 21 14:13:21 2026\n", it.as_slice()].concat())
            .collect();
        fs::write(&path, separated.concat().trim_ascii_start()).unwrap();
        for message in read_all(&path, &Limits::default()).into_iter().flat_map(|it| it.messages) {
            prop_assert!(!message.text.contains("moved, changed or deleted"));
        }
    }

    #[test]
    fn threads_do_not_depend_on_the_order_of_the_files(
        (mails, shuffled) in prop::collection::vec(sketch(), 0..10)
            .prop_flat_map(|mails| (Just(mails.clone()), Just(mails).prop_shuffle())),
    ) {
        let all = |mails: &[Sketch]| {
            let dir = Dir::of(mails.iter().map(written));
            read_all(dir.path(), &Limits::default())
        };
        prop_assert_eq!(all(&mails), all(&shuffled));
    }

    #[test]
    fn every_mail_is_in_exactly_one_thread(mails in prop::collection::vec(sketch(), 0..10)) {
        let dir = Dir::of(mails.iter().map(written));
        let mut shown: Vec<_> = read_all(dir.path(), &Limits::default())
            .into_iter()
            .flat_map(|it| it.messages)
            .map(|it| it.text)
            .collect();
        shown.sort();
        let mut ids: Vec<_> = mails.iter().map(|it| it.0.to_string()).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(shown, ids);
    }

    #[test]
    fn a_later_or_undated_mail_never_moves_a_thread(
        mails in prop::collection::vec(sketch(), 1..10),
        (_, references, _, subject) in sketch(),
        late in prop::sample::select(vec![Some(5), None]),
    ) {
        let dated: Vec<Sketch> = mails.into_iter().map(|it| (it.0, it.1, it.2.or(Some(0)), it.3)).collect();
        let ids = |mails: &[Sketch]| {
            let dir = Dir::of(mails.iter().map(written));
            let mut found: Vec<_> = read_all(dir.path(), &Limits::default())
                .into_iter()
                .flat_map(|it| it.messages.into_iter().map(move |mail| (mail.text, it.id.clone())))
                .filter(|it| it.0 != "9")
                .collect();
            found.sort();
            found
        };
        let before = ids(&dated);
        let late = (9, references, late, subject);
        prop_assert_eq!(before, ids(&[dated, vec![late]].concat()));
    }
}
