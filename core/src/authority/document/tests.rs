use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

record! {
    /// A thing to read.
    struct Thing {
        /// Must be there.
        name: String,
        /// Has a default.
        count: u32 = 7,
        /// May be null.
        note: Option<String> = None,
        /// A list.
        parts: Vec<Part> = Vec::new(),
        /// A set of names.
        colour: Colour = Colour::Red,
        /// Free keys.
        labels: BTreeMap<String, u8> = BTreeMap::new(),
    }
}

record! {
    /// A part of it.
    struct Part {
        /// Its weight.
        weight: Located<f64>,
    }
}

choice! {
    /// A colour.
    enum Colour {
        /// Red.
        Red = "red",
        /// Dark green.
        DarkGreen = "dark_green",
    }
}

fn read(text: &str) -> Result<Thing, Faults> {
    decode_yaml("t.yaml", text)
}

fn faults(text: &str) -> Vec<String> {
    let faults = read(text).unwrap_err();
    faults.as_slice().iter().map(ToString::to_string).collect()
}

fn tree(text: &str) -> Result<Node, Faults> {
    decode_yaml("t.yaml", text)
}

#[test]
fn a_right_document_is_read_and_defaults_fill_in() {
    let thing = read(
        "name: 'a'\nnote: ~\nparts:\n  - weight: 2\n  - {weight: 2.5}\ncolour: dark_green\nlabels: {x: 1}\n",
    )
    .unwrap();
    assert_eq!(
        (thing.name.as_str(), thing.count, thing.note),
        ("a", 7, None)
    );
    assert_eq!(thing.colour, Colour::DarkGreen);
    assert_eq!(thing.labels, BTreeMap::from([("x".to_owned(), 1)]));
    let weights: Vec<_> = thing.parts.iter().map(|part| part.weight).collect();
    assert_eq!(
        weights,
        [
            Located {
                value: 2.0,
                position: Some(Position {
                    line: 4,
                    column: 13
                })
            },
            Located {
                value: 2.5,
                position: Some(Position {
                    line: 5,
                    column: 14
                })
            },
        ]
    );
}

#[test]
fn all_faults_of_a_document_come_at_once_each_with_its_place_and_remedy() {
    assert_eq!(
        faults(
            "count: -1\nnoet: x\nparts:\n  - weight: heavy\n  - wieght: 1\n  - 3\ncolour: dark_gren\nlabels:\n  a: 256\n  b: 1\n"
        ),
        [
            "t.yaml:1:1: field `name`: it is missing; add it, with text",
            "t.yaml:1:8: field `count`: expected a whole number from 0 to 4294967295, found -1",
            "t.yaml:2:1: field `noet`: there is no such field; did you mean `note`?",
            "t.yaml:4:13: field `parts[0].weight`: expected a number, found text",
            "t.yaml:5:5: field `parts[1].weight`: it is missing; add it, with a number",
            "t.yaml:5:5: field `parts[1].wieght`: there is no such field; did you mean `weight`?",
            "t.yaml:6:5: field `parts[2]`: expected a map of fields, found a number",
            "t.yaml:7:9: field `colour`: `dark_gren` is not allowed here; did you mean `dark_green`? \
             Allowed: red, dark_green",
            "t.yaml:9:6: field `labels.a`: expected a whole number from 0 to 255, found 256",
        ]
    );
}

#[test]
fn a_name_that_resembles_nothing_gets_the_list_of_what_is_known() {
    assert_eq!(
        faults("name: a\nqqq: 1\n"),
        ["t.yaml:2:1: field `qqq`: there is no such field; \
             known here: name, count, note, parts, colour, labels"]
    );
}

#[test]
fn text_that_looks_like_a_number_must_be_quoted() {
    assert_eq!(
        faults("name: 123"),
        ["t.yaml:1:7: field `name`: expected text, found a number; put it in quotes"]
    );
    assert_eq!(read("name: '123'").unwrap().name, "123");
    assert_eq!(read("name: yes").unwrap().name, "yes");
}

#[test]
fn null_is_absence_only_where_a_field_may_be_null() {
    assert_eq!(
        faults("name: a\nparts:\ncount: null\n"),
        [
            "t.yaml:2:1: field `parts`: expected a list of maps, found nothing (null)",
            "t.yaml:3:1: field `count`: expected a whole number from 0 to 4294967295, \
             found nothing (null)",
        ]
    );
    assert_eq!(read("name: a\nnote:\n").unwrap().note, None);
}

#[test]
fn a_number_that_is_none_is_refused() {
    for bad in [".nan", ".inf", "-.inf", "1e999"] {
        let text = format!("name: a\nparts: [{{weight: {bad}}}]");
        assert!(
            faults(&text)[0].contains("expected a finite number"),
            "{bad}"
        );
    }
}

#[test]
fn what_a_reviewer_could_misread_is_refused() {
    for (text, place, what) in [
        (
            "name: a\nname: b\n",
            "2:1",
            "this key is given twice; the first is at 1:1",
        ),
        ("name: a\n'name': b\n", "2:1", "this key is given twice"),
        ("a: &x 1\nb: *x\n", "2:4", "aliases (`*name`) are not read"),
        ("a: !!str 1\n", "1:4", "tags (`!name`) are not read"),
        ("a: !secret {}\n", "1:4", "tags (`!name`) are not read"),
        ("<<: {a: 1}\n", "1:1", "merge keys (`<<`) are not read"),
        ("1: a\n", "1:1", "a key must be text"),
        ("null: a\n", "1:1", "a key must be text"),
        ("? [a]\n: b\n", "1:3", "a key must be text"),
        ("a: 1\n---\nb: 2\n", "2:1", "a second document begins here"),
        ("a: 1\n---\n", "2:1", "a second document begins here"),
        ("a: [1\n", "", "this is no YAML"),
        ("a: 1\n b: 2\n", "2:3", "this is no YAML"),
        ("a:\n\tb: 1\n", "", "this is no YAML"),
    ] {
        let told = tree(text).unwrap_err().to_string();
        assert!(
            told.starts_with(&format!("t.yaml:{place}")),
            "{text:?}: {told}"
        );
        assert!(told.contains(what), "{text:?}: {told}");
    }
}

#[test]
fn faults_of_the_text_and_of_the_fields_are_told_together_and_not_twice() {
    let told = faults("name: &n a\nnote: *n\nnote: b\ncount: x\n");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("t.yaml:2:7: aliases"), "{told:?}");
    assert!(
        told[1].starts_with("t.yaml:3:1: field `note`: this key is given twice"),
        "{told:?}"
    );
    assert!(told[2].starts_with("t.yaml:4:8: field `count`"), "{told:?}");
}

#[test]
fn quoted_text_stays_text_and_block_text_is_read() {
    let node = tree("a: 'null'\nb: \"1\"\nc: |\n  true\n").unwrap();
    for (key, text) in [("a", "null"), ("b", "1"), ("c", "true\n")] {
        assert_eq!(node.text_field(key), Some(text));
    }
}

#[test]
fn an_empty_text_is_nothing_and_no_record() {
    assert_eq!(tree("# only a comment\n").unwrap().kind, Kind::Null);
    assert_eq!(
        faults(""),
        ["t.yaml:1:1: expected a map of fields, found nothing (null)"]
    );
}

#[test]
fn size_depth_and_count_are_bounded() {
    let long = "x".repeat(MAX_BYTES + 1);
    assert!(
        tree(&long)
            .unwrap_err()
            .to_string()
            .contains("at most 1048576 are read")
    );

    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(tree(&nested(MAX_DEPTH)).is_ok());
    for open in ["[", "{a: ", "- ", "? "] {
        assert!(tree(&open.repeat(20_000)).is_err(), "{open}");
    }
    assert!(
        tree(&nested(MAX_DEPTH + 1))
            .unwrap_err()
            .to_string()
            .contains("nested too deeply")
    );

    let many = |count: usize| format!("[{}]", "1,".repeat(count));
    assert!(tree(&many(MAX_NODES - 1)).is_ok());
    assert!(
        tree(&many(MAX_NODES))
            .unwrap_err()
            .to_string()
            .contains("too many values")
    );

    let mut deep = json!(1);
    for _ in 0..=MAX_DEPTH {
        deep = json!([deep]);
    }
    assert!(
        decode_json::<Node>(&deep)
            .unwrap_err()
            .to_string()
            .contains("too large")
    );
}

#[test]
fn a_long_key_is_cut_where_it_is_quoted() {
    let told = faults(&format!("name: a\n{}: 1\n", "é".repeat(500)));
    assert!(told[0].chars().count() < 300, "{told:?}");
}

#[test]
fn what_a_fault_quotes_cannot_forge_a_line_or_hide() {
    let told = faults("name: a\n\"x\\ny\\u202E\": 1\ncolour: \"red\\nt.yaml:1:1: fine\"\n");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told.iter().all(|fault| !fault.contains(['\n', '\u{202e}'])),
        "{told:#?}"
    );
}

#[test]
fn a_json_value_is_read_the_same_without_places() {
    let thing: Thing =
        decode_json(&json!({"name": "a", "note": null, "parts": [{"weight": 2}]})).unwrap();
    assert_eq!(
        thing.parts[0].weight,
        Located {
            value: 2.0,
            position: None
        }
    );
    let faults = decode_json::<Thing>(&json!({"name": "a", "counts": 1})).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "field `counts`: there is no such field; did you mean `count`?"
    );
    assert!(decode_json::<u64>(&json!(u64::MAX)).is_ok());
}

#[test]
fn values_never_stand_in_a_fault_unless_a_name_was_asked_for() {
    let told = faults("name: [hunter2]\nnote: {hunter3: 1}\nparts: hunter4\n").join("\n");
    assert!(!told.contains("hunter"), "{told}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_never_without_a_reason(text in "[-a-c:#'\"\\[\\]{},&*!|>?%@`~<\\\\ \\n\\t0-9.é\u{feff}\u{85}\\r]{0,60}") {
        if let Err(faults) = tree(&text) {
            prop_assert!(!faults.as_slice().is_empty());
        }
        let _ = read(&text);
    }

    #[test]
    fn json_is_yaml_and_reads_the_same(value in json_value()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let from_text = tree(&pretty).unwrap();
        let from_value: Node = decode_json(&value).unwrap();
        prop_assert_eq!(without_places(from_text), from_value);
    }
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<i64>().prop_map(|int| json!(int)),
        (-1000i32..1000).prop_map(|int| json!(f64::from(int) + 0.5)),
        "[ -~]{0,8}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn without_places(node: Node) -> Node {
    let kind = match node.kind {
        Kind::Seq(items) => Kind::Seq(items.into_iter().map(without_places).collect()),
        Kind::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|entry| Entry {
                    position: None,
                    value: without_places(entry.value),
                    key: entry.key,
                })
                .collect(),
        ),
        other => other,
    };
    Node {
        kind,
        position: None,
    }
}
