//! What a configuration may say, and what is told of one that may not be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

use std::path::{Path, PathBuf};
use std::time::Duration;

use actum::authority::document::{Fault, Located};
use actum_kernel::config::{Config, Limits};
use actum_kernel::connectors::mailbox::Mailbox;
use actum_kernel::load_manifests;
use proptest::prelude::*;

const SAMPLE: &str = include_str!("../sample/actum.yaml");
const HOME: &str = "/home/somebody";

fn parse(text: &str) -> Result<Config, Vec<Fault>> {
    Config::parse("actum.yaml", text, Path::new(HOME)).map_err(|faults| faults.into_vec())
}

fn with(from: &str, to: &str) -> Result<Config, Vec<Fault>> {
    assert!(SAMPLE.contains(from), "the sample has no {from:?}");
    parse(&SAMPLE.replacen(from, to, 1))
}

fn limited(limits: &str) -> Result<Config, Vec<Fault>> {
    parse(&format!("{SAMPLE}\nlimits: {{ {limits} }}\n"))
}

/// The fields and messages of faults, each of which must have its file and its place.
#[track_caller]
fn told(parsed: Result<Config, Vec<Fault>>) -> Vec<(String, String)> {
    let faults = parsed.expect_err("there is a fault");
    faults
        .into_iter()
        .map(|fault| {
            assert_eq!(fault.file.as_deref(), Some("actum.yaml"), "{fault}");
            assert!(fault.position.is_some(), "{fault}");
            (fault.field.clone(), fault.to_string())
        })
        .collect()
}

#[track_caller]
fn assert_told(parsed: Result<Config, Vec<Fault>>, field: &str, wanted: &str) {
    let told = told(parsed);
    assert!(
        told.iter()
            .any(|(at, text)| at == field && text.contains(wanted)),
        "{field}: {wanted}: {told:?}"
    );
}

/// The line of a text in the sample, from 1.
fn line(text: &str) -> usize {
    SAMPLE.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// Every bound by its name, with the least and the most that it may be.
const BOUNDS: [(&str, u64, u64); 8] = [
    ("body_bytes", 1, (usize::MAX >> 3) as u64),
    ("concurrent_requests", 1, (usize::MAX >> 3) as u64),
    ("connections", 1, (usize::MAX >> 3) as u64),
    ("result_bytes", 1, (usize::MAX >> 3) as u64),
    ("request_seconds", 1, 86_400),
    ("handler_seconds", 1, 86_400),
    ("selection_seconds", 1, 86_400),
    ("stop_seconds", 1, 86_400),
];

fn bound(limits: &Limits, name: &str) -> u64 {
    let size = |bound: &Located<usize>| bound.value as u64;
    match name {
        "body_bytes" => size(&limits.body_bytes),
        "concurrent_requests" => size(&limits.concurrent_requests),
        "connections" => size(&limits.connections),
        "result_bytes" => size(&limits.result_bytes),
        "request_seconds" => limits.request_seconds.value,
        "handler_seconds" => limits.handler_seconds.value,
        "selection_seconds" => limits.selection_seconds.value,
        "stop_seconds" => limits.stop_seconds.value,
        other => panic!("there is no bound {other}"),
    }
}

/// A bound, and what else must be said with it so that it is the only one in question.
fn one_limit(name: &str, value: impl std::fmt::Display) -> String {
    match name {
        "request_seconds" => format!("{name}: {value}, handler_seconds: 1"),
        "handler_seconds" => format!("{name}: {value}, request_seconds: 86400"),
        _ => format!("{name}: {value}"),
    }
}

#[test]
fn the_sample_loads_and_all_that_it_names_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
    let config = Config::load(&folder.join("actum.yaml")).unwrap();
    assert!(config.listen.ip().is_loopback());
    assert_eq!(config.data, folder.join("data"));
    let manifests = load_manifests(&config.manifests).unwrap();
    assert!(manifests.routes().count() >= 3);
    assert!(
        !Mailbox::open(config.mailbox.unwrap())
            .unwrap()
            .threads()
            .is_empty()
    );
    assert!(config.accepted_gaps.unwrap().is_file());
    assert!(
        config
            .connectors
            .iter()
            .any(|connector| *connector.id == *config.owner.connector)
    );
    assert!(config.telegram.is_none());
    // The same chat twice, and only the verification differs.
    let chats: Vec<_> = config
        .connectors
        .iter()
        .filter(|c| c.source == "webchat")
        .collect();
    let verified: Vec<bool> = chats
        .iter()
        .map(|chat| chat.verified_source.value)
        .collect();
    assert_eq!(verified, [false, true]);
}

#[test]
fn paths_are_relative_to_the_file_and_absolute_ones_stay() {
    let bot = "telegram: { base_url: \"https://api.telegram.org\", token_file: bot/token }\nowner:";
    let config = parse(
        &SAMPLE
            .replace(
                "manifests: manifests",
                "manifests: /etc/actum\nlock: ../actum.lock.json\nstore: { postgres: { url_file: secrets/url } }",
            )
            .replace("\nowner:", &format!("\n{bot}")),
    )
    .unwrap();
    let home = Path::new(HOME);
    assert_eq!(config.data, home.join("data"));
    assert_eq!(config.manifests, PathBuf::from("/etc/actum"));
    assert_eq!(config.mailbox, Some(home.join("mail")));
    assert_eq!(config.accepted_gaps, Some(home.join("accepted-gaps.yaml")));
    assert_eq!(config.lock, Some(home.join("../actum.lock.json")));
    assert_eq!(config.postgres_url_file, Some(home.join("secrets/url")));
    let (url, token) = config.telegram.unwrap();
    assert_eq!(url.as_str(), "https://api.telegram.org/");
    assert_eq!(token, home.join("bot/token"));
}

#[test]
fn what_may_be_absent_has_a_default_and_the_rest_is_asked_for_by_name() {
    let config = with("mailbox: mail\n", "").unwrap();
    assert_eq!((config.mailbox, config.lock), (None, None));
    assert_eq!(config.postgres_url_file, None);
    assert_eq!(
        with("accepted_gaps: accepted-gaps.yaml\n", "")
            .unwrap()
            .accepted_gaps,
        None
    );
    for (name, _, _) in BOUNDS {
        assert!(bound(&config.limits, name) >= 1, "{name}");
        assert_eq!(bound(&config.limits, name), bound(&Limits::default(), name));
    }
    assert!(config.known_actions.is_empty());
    for required in ["listen", "data", "manifests", "connectors", "owner"] {
        // Under another name, it is missing, and the other name is one too many.
        let absent = with(&format!("\n{required}:"), &format!("\nx-{required}:"));
        let faults = told(absent);
        let of = |field: &str, wanted: &str| {
            faults
                .iter()
                .any(|(at, text)| at == field && text.contains(wanted))
        };
        assert!(of(required, "it is missing"), "{required}: {faults:?}");
        assert!(
            of(&format!("x-{required}"), "no such field"),
            "{required}: {faults:?}"
        );
    }
}

#[test]
fn an_unknown_key_is_told_at_its_place_on_every_level() {
    for (from, to, field, meant) in [
        ("mailbox: mail", "mail_box: mail", "mail_box", "`mailbox`"),
        ("lane: ext", "lanes: ext", "connectors[0].lanes", "`lane`"),
        (
            "device_id: robins",
            "divice_id: robins",
            "owner.divice_id",
            "`device_id`",
        ),
        (
            "relationship: own",
            "relation: own",
            "identities[0].relation",
            "`relationship`",
        ),
        (
            "kind: handle",
            "kynd: handle",
            "identities[0].identifiers[0].kynd",
            "`kind`",
        ),
    ] {
        let place = format!("actum.yaml:{}:", line(from));
        let faults = told(with(from, to));
        let fault = faults.iter().find(|(at, _)| at == field);
        let (_, text) = fault.unwrap_or_else(|| panic!("{field}: {faults:?}"));
        assert!(text.starts_with(&place), "{place} {text}");
        assert!(text.contains(&format!("did you mean {meant}?")), "{text}");
    }
    assert_told(
        limited("bodybytes: 1"),
        "limits.bodybytes",
        "did you mean `body_bytes`?",
    );
    for (store, field, wanted) in [
        (
            "{ postgress: {} }",
            "store.postgress",
            "did you mean `postgres`?",
        ),
        (
            "{ postgres: {} }",
            "store.postgres.url_file",
            "it is missing",
        ),
        // A URL has a password in it, and this file has none.
        (
            "{ postgres: { url: x } }",
            "store.postgres.url",
            "no such field",
        ),
    ] {
        assert_told(parse(&format!("{SAMPLE}\nstore: {store}\n")), field, wanted);
    }
    assert_told(
        parse(&format!("{SAMPLE}\nlisten: 127.0.0.1:1\n")),
        "listen",
        "",
    );
}

#[test]
fn each_bound_takes_its_least_and_its_most_and_nothing_beyond() {
    for (name, least, most) in BOUNDS {
        for value in [least, most] {
            let config = limited(&one_limit(name, value)).unwrap();
            assert_eq!(bound(&config.limits, name), value, "{name}");
        }
        let field = format!("limits.{name}");
        assert_told(
            limited(&one_limit(name, least - 1)),
            &field,
            "is out of bounds",
        );
        assert_told(
            limited(&one_limit(name, most + 1)),
            &field,
            "is out of bounds",
        );
        for no_number in [
            "-1",
            "1.5",
            "many",
            "\"5\"",
            "[]",
            "1e3",
            "99999999999999999999999",
        ] {
            assert_told(limited(&one_limit(name, no_number)), &field, "expected");
        }
    }
    assert_eq!(
        Config::seconds(&Limits::default().stop_seconds),
        Duration::from_secs(10)
    );
    // A request includes its handler.
    assert!(limited("handler_seconds: 5, request_seconds: 5").is_ok());
    let longer = limited("handler_seconds: 6, request_seconds: 5");
    assert_told(
        longer,
        "limits.handler_seconds",
        "more than `request_seconds`",
    );
    assert_told(
        limited("handler_seconds: 31"),
        "limits.handler_seconds",
        "`request_seconds`",
    );
    assert_told(
        limited("request_seconds: 19"),
        "limits.handler_seconds",
        "`request_seconds`",
    );
}

#[test]
fn an_address_is_an_address_and_a_port() {
    for good in ["127.0.0.1:0", "0.0.0.0:80", "\"[::1]:7373\""] {
        assert!(with("127.0.0.1:7373", good).is_ok(), "{good}");
    }
    for bad in [
        "127.0.0.1",
        "localhost:80",
        "127.0.0.1:65536",
        "127.0.0.1:x",
        "\"\"",
        "\" 127.0.0.1:1\"",
    ] {
        assert_told(with("127.0.0.1:7373", bad), "listen", "is no address");
    }
    assert_told(with("127.0.0.1:7373", "7373"), "listen", "expected text");
}

#[test]
fn a_connectors_id_is_one_word_and_its_own() {
    let long = "c".repeat(65);
    for bad in [
        "Public",
        "public chat",
        "../keys",
        "a/b",
        "a.b",
        "a-b",
        "\"\"",
        "ä",
        &long,
    ] {
        let parsed = with("id: public_chat", &format!("id: {bad}"));
        assert_told(parsed, "connectors[0].id", "is no connector id");
    }
    assert!(with("id: public_chat", &format!("id: {}", &long[1..])).is_ok());
    let twice = with("id: public_chat", "id: signed_in_chat");
    assert_told(
        twice,
        "connectors[1].id",
        "a second connector `signed_in_chat`",
    );
}

#[test]
fn a_connector_that_verifies_says_how_and_one_that_does_not_has_no_method() {
    let claims = with("    verified_source: false", "    verified_source: true");
    assert_told(
        claims,
        "connectors[0].verified_source",
        "`verification_method`",
    );
    let denies = with("    verified_source: true", "    verified_source: false");
    assert_told(
        denies,
        "connectors[1].verified_source",
        "`verification_method`",
    );
    let unknown = with("oauth_session", "because_i_say_so");
    assert_told(
        unknown,
        "connectors[1].verification_method",
        "oauth_session",
    );
    let text = with(
        "    verified_source: false",
        "    verified_source: \"false\"",
    );
    assert_told(text, "connectors[0].verified_source", "expected");
}

#[test]
fn the_owners_connector_is_one_of_the_connectors() {
    let nobody = with("connector: owner_terminal", "connector: owners_terminal");
    assert_told(
        nobody,
        "owner.connector",
        "there is no connector `owners_terminal`",
    );
}

#[test]
fn telegram_is_reached_by_http_and_nothing_else() {
    let at = |url: &str| {
        parse(&format!(
            "{SAMPLE}\ntelegram: {{ base_url: \"{url}\", token_file: t }}\n"
        ))
    };
    for good in [
        "https://api.telegram.org",
        "http://127.0.0.1:8081",
        "https://[::1]/bots",
    ] {
        assert!(at(good).is_ok(), "{good}");
    }
    for bad in [
        "ftp://host",
        "file:///etc/passwd",
        "api.telegram.org",
        "http://",
        "",
        "data:,x",
    ] {
        assert_told(at(bad), "telegram.base_url", "is no http or https URL");
    }
}

#[test]
fn drafts_go_to_a_folder_of_their_own() {
    let into_the_mailbox = with("drafts: drafts", "drafts: mail");
    assert_told(into_the_mailbox, "drafts", "is the mailbox");
}

#[test]
fn further_known_actions_are_action_ids() {
    let known = |list: &str| parse(&format!("{SAMPLE}\nknown_actions: {list}\n"));
    let config = known("[email.send, \"memory.read:own\"]").unwrap();
    let ids: Vec<String> = config
        .known_actions
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ids, ["email.send", "memory.read:own"]);
    assert_told(
        known("[email.send, Email.Send]"),
        "known_actions[1]",
        "`Email.Send`",
    );
    assert_told(known("email.send"), "known_actions", "expected a list");
}

#[test]
fn all_faults_of_a_file_are_told_at_once_and_in_order() {
    let text = SAMPLE
        .replace("127.0.0.1:7373", "nowhere")
        .replace("mailbox:", "malbox:")
        .replace("id: public_chat", "id: Public")
        .replace("connector: owner_terminal", "connector: nobody");
    let faults = told(parse(&format!(
        "{text}\nlimits: {{ connections: 0, stop_seconds: 0 }}\n"
    )));
    let fields: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
    let expected = [
        "listen",
        "malbox",
        "connectors[0].id",
        "owner.connector",
        "limits.connections",
        "limits.stop_seconds",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn a_file_that_cannot_be_read_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Config::load(&folder.path().join("none.yaml"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("none.yaml: cannot be read") && missing.contains("--config"));
    let bytes = folder.path().join("bytes.yaml");
    std::fs::write(&bytes, b"listen: \xff\n").unwrap();
    let unreadable = Config::load(&bytes).unwrap_err().to_string();
    assert!(
        unreadable.contains("bytes.yaml: cannot be read"),
        "{unreadable}"
    );
    assert!(
        Config::load(folder.path()).is_err(),
        "a folder is no configuration"
    );
}

proptest! {
    #[test]
    fn a_number_within_its_bounds_is_taken_as_it_is_and_any_other_is_refused(
        index in 0..BOUNDS.len(),
        value in prop_oneof![any::<u64>(), 0..100_000u64],
    ) {
        let (name, least, most) = BOUNDS[index];
        match limited(&one_limit(name, value)) {
            Ok(config) => {
                prop_assert!((least..=most).contains(&value));
                prop_assert_eq!(bound(&config.limits, name), value);
            }
            Err(faults) => {
                prop_assert!(!(least..=most).contains(&value), "{:?}", faults);
                let field = format!("limits.{name}");
                prop_assert!(faults.iter().any(|fault| fault.field == field), "{:?}", faults);
            }
        }
    }

    /// Whatever becomes of a file on its way, it is taken or told, and never a crash.
    #[test]
    fn a_mangled_file_is_taken_or_told(
        cut in 0..SAMPLE.len(),
        gone in 0..80usize,
        put in "[ -~\\n\\t\u{e4}]{0,12}",
    ) {
        let start = SAMPLE.floor_char_boundary(cut);
        let end = SAMPLE.floor_char_boundary((start + gone).min(SAMPLE.len()));
        let text = [&SAMPLE[..start], &put, &SAMPLE[end..]].concat();
        if let Err(faults) = parse(&text) {
            prop_assert!(!faults.is_empty());
            for fault in faults {
                prop_assert_eq!(fault.file.as_deref(), Some("actum.yaml"));
                prop_assert!(!fault.message.is_empty());
            }
        }
    }
}
