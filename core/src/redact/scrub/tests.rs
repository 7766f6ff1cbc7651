use data_encoding::{BASE64, BASE64URL_NOPAD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MAX_BYTES, MAX_TEXTS, Scrubber};
use crate::redact::MARKER;

fn scrubber(value: Value) -> Scrubber {
    let mut scrubber = Scrubber::default();
    scrubber.note(&value);
    scrubber
}

#[test]
fn every_text_and_long_number_of_a_value_is_taken_out() {
    let scrubber =
        scrubber(json!({"a": ["first", {"b": "second "}], "n": [123456, -9876543, 12345.5]}));
    assert_eq!(
        scrubber.scrub("first second 123456 -9876543 12345.5 third"),
        "[SECRET] [SECRET] [SECRET] [SECRET] [SECRET] third",
    );
}

#[test]
fn harmless_text_is_left() {
    let scrubber = scrubber(json!({"member": [null, true, 12345, "abc", "", "éàü", "SECRET"]}));
    let text = "member null true 12345 abc éàü [SECRET]";
    assert_eq!(scrubber.scrub(text), text);
    assert_eq!(Scrubber::default().scrub("anything"), "anything");
}

#[test]
fn each_form_of_a_text_is_found() {
    let text = "pa\"s\\ wörd/+\n1";
    let scrubber = scrubber(json!(text));
    for form in [
        text,
        &BASE64.encode(text.as_bytes()),
        &BASE64URL_NOPAD.encode(text.as_bytes()),
        r#"pa\"s\\ wörd/+\n1"#,
        r#"pa\u0022s\u005C w\u00f6rd\/+\u000A1"#,
        r#"pa\\\"s\\\\ wörd/+\\n1"#,
        "pa%5C%22s%5C%5C%20wörd/+%5Cn1",
        "pa%2522s%255C%2520w%25C3%25B6rd/+%250A1",
        "pa%22s%5C%20w%C3%B6rd%2F%2B%0A1",
        "pa%22s%5c+w%c3%b6rd%2f%2b%0a1",
        "pa%22s%5C%20wörd/+%0A1",
        "%70%61%22%73%5c%20%77%c3%b6%72%64%2f%2b%0a%31",
    ] {
        assert_eq!(scrubber.scrub(&format!("<{form}>")), "<[SECRET]>", "{form}");
    }
    let debug = format!("{:?}", "a\u{200b}bcd\te");
    assert!(debug.contains(r"\u{200b}"));
    assert_eq!(
        self::scrubber(json!("a\u{200b}bcd\te")).scrub(&debug),
        "\"[SECRET]\""
    );
}

#[test]
fn a_broken_percent_escape_hides_nothing_of_what_follows() {
    let scrubber = scrubber(json!("sesame"));
    for (text, shown) in [
        ("%sesame", "%[SECRET]"),
        ("%2sesame%", "%2[SECRET]%"),
        ("%%73esame%zz", "%[SECRET]%zz"),
        ("100% é %73esame", "100% é [SECRET]"),
    ] {
        assert_eq!(scrubber.scrub(text), shown);
    }
}

#[test]
fn base64_is_found_at_any_place_of_what_was_encoded() {
    let scrubber = scrubber(json!("open~sesame?!"));
    for user in ["", "a", "ab", "abc", "ada.lovelace"] {
        for after in ["", "\n", "\r\n"] {
            let text = format!("{user}:open~sesame?!{after}");
            for encoded in [
                BASE64.encode(text.as_bytes()),
                BASE64URL_NOPAD.encode(text.as_bytes()),
            ] {
                let shown = scrubber.scrub(&encoded).into_owned();
                let (_, rest) = shown.split_once(MARKER).expect(&shown);
                assert!(rest.len() <= 6, "{encoded} {shown}");
            }
        }
    }
    assert_eq!(scrubber.scrub("b3BlbnNlc2FtZQ=="), "b3BlbnNlc2FtZQ==");
    assert_eq!(
        self::scrubber(json!("opensesame")).scrub("<b3BlbnNlc2FtZQ==>"),
        "<[SECRET]>"
    );
    assert_eq!(
        self::scrubber(json!("opensesame")).scrub("<b3BlbnNlc2FtZQ>"),
        "<[SECRET]>"
    );
}

#[test]
fn the_longest_and_all_that_overlap_are_taken_out_as_one() {
    let scrubber = scrubber(json!(["hunter2", "hunter", "2-and-more", "aaaa"]));
    assert_eq!(
        scrubber.scrub("hunter2-and-more hunter2 hunter"),
        "[SECRET] [SECRET] [SECRET]"
    );
    assert_eq!(scrubber.scrub("aaaaaaa"), MARKER);
    assert_eq!(scrubber.scrub("hunterhunter2"), "[SECRET][SECRET]");
}

#[test]
fn differences_are_what_was_replaced_and_nothing_beside_it() {
    let mut scrubber = Scrubber::default();
    scrubber.note_differences(
        &json!({"kept": "harmless", "gone": "first", "list": ["second", "usual"], "short": ["third"], "n": {"deep": "fourth"}}),
        &json!({"kept": "harmless", "list": [MARKER, "usual"], "short": [], "n": "X"}),
    );
    assert_eq!(
        scrubber.scrub("harmless usual first second third fourth"),
        "harmless usual [SECRET] [SECRET] [SECRET] [SECRET]",
    );
}

#[test]
fn with_more_than_it_can_look_for_nothing_is_shown() {
    let texts = |count: usize| {
        (0..count)
            .map(|n| json!(format!("text{n}.")))
            .collect::<Vec<_>>()
    };
    assert_eq!(scrubber(json!(texts(100))).scrub("other"), "other");
    assert_eq!(scrubber(json!(texts(MAX_TEXTS + 1))).scrub("other"), MARKER);
    assert_eq!(
        scrubber(json!("x".repeat(MAX_BYTES + 1))).scrub("other"),
        MARKER
    );
}

#[test]
fn what_is_noted_after_a_search_is_found_by_the_next() {
    let mut scrubber = scrubber(json!("first"));
    assert_eq!(scrubber.scrub("first second"), "[SECRET] second");
    scrubber.note(&json!("second"));
    assert_eq!(scrubber.scrub("first second"), "[SECRET] [SECRET]");
    assert_eq!(format!("{scrubber:?}"), "Scrubber(2 texts)");
}

proptest! {
    #[test]
    fn no_noted_text_is_left_in_any_form(
        texts in prop::collection::vec("[ab\"\\\\ é/%+]{4,8}", 1..5), before in "[ab% ]{0,5}", after in "[ab% ]{0,5}",
    ) {
        let scrubber = scrubber(json!(texts));
        for text in texts.iter().map(|text| text.trim()).filter(|text| text.chars().count() >= 4) {
            let percent: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let json = json!(text).to_string();
            for form in [text, &json[1..json.len() - 1], &percent, &BASE64.encode(text.as_bytes())] {
                let shown = scrubber.scrub(&format!("{before}{form}{after}")).into_owned();
                prop_assert!(shown.contains(MARKER), "{} {}", form, shown);
                prop_assert!(!shown.contains(form), "{} {}", form, shown);
            }
        }
    }

    #[test]
    fn what_is_left_was_there(texts in prop::collection::vec("[abé%]{4,6}", 0..4), text in "[abé%6126]{0,30}") {
        let shown = scrubber(json!(texts)).scrub(&text).into_owned();
        let mut rest = text.as_str();
        for part in shown.split(MARKER) {
            let at = rest.find(part);
            prop_assert!(at.is_some(), "{} {}", text, shown);
            rest = &rest[at.unwrap() + part.len()..];
        }
    }
}
