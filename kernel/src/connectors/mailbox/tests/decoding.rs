//! Headers and bodies as readable text, however they were encoded.

use super::*;

const PLAIN: &str = "Content-Type: text/plain; charset=";

#[test]
fn quoted_printable_and_base64_are_decoded() {
    let utf8 = format!("{PLAIN}utf-8\nContent-Transfer-Encoding: ");
    assert_eq!(
        text_of(
            &format!("{utf8}quoted-printable"),
            "Gr=C3=BC=C3=9Fe, lange =\nZeile"
        ),
        "Grüße, lange Zeile"
    );
    assert_eq!(
        text_of(&format!("{utf8}BASE64"), "R3LDvMOf\nZQ==\n"),
        "Grüße"
    );
}

#[test]
fn charsets_of_many_places_are_decoded() {
    for (charset, bytes, text) in [
        ("iso-8859-1", &b"Gr\xfc\xdfe"[..], "Grüße"),
        ("\"ISO-8859-2\"", b"\xa3\xf3d\xbc", "Łódź"),
        ("iso-8859-15", b"5 \xa4", "5 €"),
        ("windows-1252", b"\x93ok\x94", "“ok”"),
        ("windows-1251", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"),
        ("koi8-r", b"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"),
        ("windows-1253", b"\xc3\xe5\xe9\xe1", "Γεια"),
        ("windows-1255", b"\xf9\xec\xe5\xed", "שלום"),
        ("gb18030", b"\xc4\xe3\xba\xc3", "你好"),
        ("big5", b"\xa7A\xa6n", "你好"),
        ("shift_jis", b"\x82\xb1\x82\xf1", "こん"),
        ("euc-kr", b"\xbe\xc8\xb3\xe7", "안녕"),
        ("iso-2022-jp", b"\x1b$B$3$s\x1b(B", "こん"),
        ("utf-16be", b"\x00H\x00i", "Hi"),
    ] {
        assert_eq!(
            text_of(&format!("{PLAIN}{charset}"), bytes),
            text,
            "{charset}"
        );
    }
}

#[test]
fn an_unknown_or_missing_charset_is_guessed() {
    assert_eq!(text_of(&format!("{PLAIN}no-such-set"), "Grüße"), "Grüße");
    assert_eq!(
        text_of(&format!("{PLAIN}no-such-set"), b"Gr\xfc\xdfe"),
        "Grüße"
    );
    assert_eq!(text_of("X-Mime: none", b"Gr\xfc\xdfe"), "Grüße");
    assert_eq!(text_of("X-Mime: none", "Grüße"), "Grüße");
}

#[test]
fn encoded_words_and_raw_letters_in_headers_are_decoded() {
    let message = shown(
        "From: =?ISO-8859-1?Q?J=FCrgen?= =?utf-8?B?IFNjaMOkZmVy?= <j@example.org>\n\
         Subject: =?ISO-2022-JP?B?GyRCJDMkcxsoQg==?=\n\n",
    );
    assert_eq!(message.from.unwrap(), "Jürgen Schäfer <j@example.org>");
    assert_eq!(message.subject, "こん");
    assert_eq!(shown("Subject: Grüße\n\n").subject, "Grüße");
    assert_eq!(shown(b"Subject: Gr\xfc\xdfe\n\n").subject, "Grüße");
}

#[test]
fn parameters_in_the_extended_form_are_understood() {
    let headers = "Content-Type: text/plain; charset*=us-ascii'en'windows-1251";
    assert_eq!(text_of(headers, b"\xc4\xe0"), "Да");
    let message = shown(
        "Subject: s\nContent-Type: multipart/mixed;\n boundary*0=\"ab\"; boundary*1=\"cd\"\n\n\
         --abcd\n\nHi\n--abcd\nContent-Type: application/pdf;\n name*=utf-8''f%C3%BCr.pdf\n\nx\n\
         --abcd--\n",
    );
    assert_eq!(
        (message.text.as_str(), message.attachments_omitted),
        ("Hi", 1)
    );
}

#[test]
fn address_lists_groups_and_bare_names_are_shown() {
    let message = shown(
        "From: \"Last, First\" <a@example.org>\n\
         To: b@example.org, Team: C <c@example.org>, d@example.org;\n\
         Cc: undisclosed-recipients:;\n\n",
    );
    assert_eq!(message.from.unwrap(), "Last, First <a@example.org>");
    assert_eq!(
        message.to,
        ["b@example.org", "C <c@example.org>", "d@example.org"]
    );
    assert!(message.cc.is_empty());
}

#[test]
fn dates_are_told_in_utc() {
    let date = |value: &str| shown(format!("Subject: s\n{value}\n\n")).date;
    let utc = Some("2026-09-21T12:13:21Z".to_owned());
    assert_eq!(date("Date: Mon, 21 Sep 2026 14:13:21 +0200"), utc);
    assert_eq!(date("Date: 21 Sep 2026 05:13:21 -0700 (PDT)"), utc);
    assert_eq!(date("Date: Mon, 21 Sep 2026 12:13:21 GMT"), utc);
}

#[test]
fn without_a_usable_date_the_time_of_receipt_counts() {
    let received = "Received: from x by y; Mon, 21 Sep 2026 12:13:21 +0000\n\
                    Received: from w by x; Mon, 21 Sep 2026 11:00:00 +0000";
    for lead in [
        "",
        "Date: yesterday\n",
        "Date: Mon, 99 Sep 2026 12:00:00 +0000\n",
    ] {
        let message = shown(format!("{lead}{received}\nSubject: s\n\n"));
        assert_eq!(
            message.date.as_deref(),
            Some("2026-09-21T12:13:21Z"),
            "{lead}"
        );
    }
    assert_eq!(shown("Subject: s\nDate: never\n\n").date, None);
}

#[test]
fn a_mail_with_hardly_a_header_is_shown() {
    let message = shown("Subject: only this\n\nHi\n");
    assert_eq!(message.from, None);
    assert_eq!(message.date, None);
    assert_eq!(message.text, "Hi");
    let message = shown("From: a@example.org");
    assert_eq!((message.subject.as_str(), message.text.as_str()), ("", ""));
}

#[test]
fn of_alternatives_the_plain_text_is_shown_wherever_it_stands() {
    let plain = "--b\nContent-Type: text/plain\n\nplain\n";
    let html = "--b\nContent-Type: text/html\n\n<p>rich</p>\n";
    let headers = "Content-Type: multipart/alternative; boundary=b";
    assert_eq!(text_of(headers, format!("{plain}{html}--b--")), "plain");
    assert_eq!(text_of(headers, format!("{html}{plain}--b--")), "plain");
    assert_eq!(text_of(headers, format!("{html}--b--")), "rich");
    let blank = "--b\nContent-Type: text/plain\n\n \n\n";
    assert_eq!(text_of(headers, format!("{blank}{html}--b--")), "rich");
}

#[test]
fn attachments_are_counted_and_never_shown() {
    let message = shown(
        "Subject: s\nContent-Type: multipart/mixed; boundary=out\n\n\
         preamble\n\
         --out\nContent-Type: multipart/alternative; boundary=in\n\n\
         --in\n\nBody\n\
         --in\nContent-Type: multipart/related; boundary=rel\n\n\
         --rel\nContent-Type: text/html\n\n<p>Body<img src=\"cid:1\" alt=\"LOGO-NAME\">\n\
         --rel\nContent-Type: image/png; name=LOGO-NAME\nContent-ID: <1>\n\nPIXELS\n\
         --rel--\n\
         --in\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\n\
         --in--\n\
         --out\nContent-Type: text/plain; name=FILE-NAME\n\nFILE-TEXT\n\
         --out\nContent-Type: text/plain\nContent-Disposition: attachment\n\nFILE-TEXT\n\
         --out\nContent-Type: message/rfc822\n\nSubject: INNER\n\nINNER\n\
         --out\n\nFooter\n\
         --out--\nepilogue\n",
    );
    assert_eq!(message.text, "Body\n\nFooter");
    assert_eq!(message.attachments_omitted, 5);
}

#[test]
fn a_picture_that_comes_with_an_html_mail_is_only_counted() {
    let message = shown(
        "Subject: s\nContent-Type: multipart/related; boundary=rel\n\n\
         --rel\nContent-Type: text/html\n\n<p>Body<img src=\"cid:1\" alt=\"LOGO-NAME\">\n\
         --rel\nContent-Type: image/png; name=LOGO-NAME\n\nPIXELS\n--rel--\n",
    );
    assert_eq!(
        (message.text.as_str(), message.attachments_omitted),
        ("Body", 1)
    );
}

#[test]
fn the_mails_of_a_digest_are_attachments() {
    let message = shown(
        "Subject: s\nContent-Type: multipart/digest; boundary=b\n\n\
         --b\n\nSubject: INNER\n\nINNER\n--b\n\nSubject: INNER\n\nINNER\n--b--\n",
    );
    assert_eq!(
        (message.text.as_str(), message.attachments_omitted),
        ("", 2)
    );
}

#[test]
fn a_mail_that_is_one_file_has_no_text() {
    let message = shown("Subject: s\nContent-Type: application/pdf; name=x.pdf\n\n%PDF");
    assert_eq!(
        (message.text.as_str(), message.attachments_omitted),
        ("", 1)
    );
}

#[test]
fn a_multipart_that_was_cut_off_shows_what_there_is() {
    let headers = "Content-Type: multipart/mixed; boundary=b";
    assert_eq!(text_of(headers, "--b\n\nfirst\n--b\n\nsec"), "first\n\nsec");
    assert_eq!(
        text_of(headers, "no delimiter at all"),
        "no delimiter at all"
    );
    assert_eq!(
        text_of("Content-Type: multipart/mixed", "no boundary"),
        "no boundary"
    );
    assert_eq!(
        text_of(headers, "--bb\n\nnot this\n--b\n\nthis\n--b--\n"),
        "this"
    );
}

#[test]
fn broken_transfer_encodings_show_what_can_be_decoded() {
    let base64 = format!("{PLAIN}utf-8\nContent-Transfer-Encoding: base64");
    assert_eq!(text_of(&base64, "SGVs*bG8\u{7f}gdGhlcmU"), "Hello there");
    assert_eq!(text_of(&base64, "SGVsbG8gdGhlcm"), "Hello ther");
    assert_eq!(text_of(&base64, "\u{2014}\u{2014}"), "\u{2014}\u{2014}");
    let quoted = format!("{PLAIN}utf-8\nContent-Transfer-Encoding: quoted-printable");
    assert!(text_of(&quoted, "100=ZZ%, =C3=BC, =C").contains('ü'));
    let unknown = format!("{PLAIN}utf-8\nContent-Transfer-Encoding: x-unknown");
    assert_eq!(text_of(&unknown, "as it is"), "as it is");
}

#[test]
fn a_long_text_is_cut_at_a_character_and_says_so() {
    let limits = Limits {
        text_bytes: 11,
        ..Limits::default()
    };
    let mailbox = Dir::of(["Subject: s\n\nééééééééé"]).into_mailbox_within(limits.clone());
    assert_eq!(
        only_message(&mailbox).text,
        "ééééé\n[The text was cut here, after 11 bytes.]"
    );
    let mailbox = Dir::of(["Subject: s\n\n12345678901\n"]).into_mailbox_within(limits);
    assert_eq!(only_message(&mailbox).text, "12345678901");
}

#[test]
fn line_ends_and_blank_lines_are_tidied() {
    assert_eq!(
        text_of("X: y", "\r\n a  \r\nb\r\n\r\n\r\n\r\nc\td\n\n"),
        " a\nb\n\nc\td"
    );
}

#[test]
fn shown_types_have_a_schema_that_their_values_fit() {
    let schema = serde_json::to_value(schemars::schema_for!(Thread)).unwrap();
    let id = &schema["$defs"]["ThreadId"];
    assert_eq!(id["type"], "string");
    assert_eq!(id["pattern"], "^thr_[0-9a-f]{16}$");
    let thread = only_thread(&Dir::of(["Subject: s\n\nHi"]).into_mailbox());
    let value = serde_json::to_value(&thread).unwrap();
    for (object, schema) in [
        (&value, &schema),
        (&value["messages"][0], &schema["$defs"]["Message"]),
    ] {
        let keys: Vec<_> = object.as_object().unwrap().keys().collect();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(keys, properties.keys().collect::<Vec<_>>());
        assert!(properties.values().all(|it| it["description"].is_string()));
    }
}
