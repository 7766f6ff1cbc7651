use proptest::prelude::*;
use serde_json::{from_value, json, to_value};

use super::{ApiPath, ApiTarget, MAX_PATH_BYTES, allows, canonical_path};

fn exact(method: &str, path: &str) -> ApiTarget {
    ApiTarget {
        method: method.to_owned(),
        path: ApiPath::Exact(path.to_owned()),
        query: false,
    }
}

fn below(method: &str, path: &str) -> ApiTarget {
    ApiTarget {
        path: ApiPath::Below(path.to_owned()),
        ..exact(method, path)
    }
}

#[test]
fn each_trick_ends_at_the_target_or_is_refused() {
    let targets = [below("GET", "/v1/items"), exact("POST", "/v1/items")];
    for (path, is_allowed) in [
        ("/v1/items", true),
        ("/v1/items/7", true),
        ("/v1/items/", true),
        ("/v1/items/./7", true),
        ("/v1/./items", true),
        ("/v1/x/../items/7", true),
        ("/v1/items/7/../8", true),
        ("/v1/%69tems", true),
        ("/v1/items/a%20b", true),
        ("/v1/items/%C3%A9", true),
        ("/v1/x/%2e%2E/items", true),
        ("/v1/items/...", true),
        ("/v1/items/a;b", true),
        // Another path after all.
        ("/v1/itemsx", false),
        ("/v1/items.json", false),
        ("/v1/items%20", false),
        ("/v1/items;a", false),
        ("/v1", false),
        ("/v1/items/..", false),
        ("/v1/items/../secrets", false),
        ("/v1/items/%2e%2e/secrets", false),
        ("/v1/items/.%2E/secrets", false),
        ("/V1/items", false),
        ("/v1/Items", false),
        ("/v1/%49tems", false),
        // What another reader could read in another way.
        ("/v1/items/..;/secrets", false),
        ("/v1/items/..;a=b/secrets", false),
        ("/v1/items/..%3b/secrets", false),
        ("/v1/items/%2e%2e%20/secrets", false),
        ("/v1/items/.. /secrets", false),
        ("/v1/items/..%2Fsecrets", false),
        ("/v1/items%2f7", false),
        ("/v1%2fitems", false),
        ("/v1/items/%252e%252e/secrets", false),
        ("/v1/items/%2525", false),
        ("/v1/items/..\\secrets", false),
        ("/v1/items/..%5csecrets", false),
        ("//v1/items", false),
        ("/v1//items", false),
        ("/v1/items//", false),
        ("/v1/items//7", false),
        ("/v1/items/%c0%ae%c0%ae/secrets", false),
        ("/v1/items/%ff", false),
        ("/v1/items/%", false),
        ("/v1/items/%2", false),
        ("/v1/items/%zz", false),
        ("/v1/items/%+1", false),
        ("/v1/items/%00", false),
        ("/v1/items/\0", false),
        ("/v1/items/%0d%0aHost:%20x", false),
        ("/v1/items/\r\nHost: x", false),
        ("/v1/items/%7f", false),
        ("/v1/items/%c2%85", false),
        ("/v1/items#a", false),
        ("/v1/items/%23a", false),
        ("/v1/items/%3Fa", false),
        ("/../v1/items", false),
        ("/v1/../../v1/items", false),
        ("", false),
        ("v1/items", false),
        ("*", false),
        ("http://api.example/v1/items", false),
        ("http:/v1/items", false),
        ("//api.example./v1/items", false),
        ("api.example:443/v1/items", false),
        ("/\\api.example/v1/items", false),
        (" /v1/items", false),
        // No query was allowed.
        ("/v1/items?", false),
        ("/v1/items?a=b", false),
        ("/v1/items/7?a", false),
    ] {
        assert_eq!(allows(&targets, "GET", path), is_allowed, "{path:?}");
    }
    for (method, path, is_allowed) in [
        ("get", "/v1/items", true),
        ("GeT", "/v1/items", true),
        ("Post", "/v1/items", true),
        ("POST", "/v1/items/7", false),
        ("POST", "/v1/items/", false),
        ("DELETE", "/v1/items", false),
        ("GET ", "/v1/items", false),
        ("", "/v1/items", false),
        ("GET POST", "/v1/items", false),
    ] {
        assert_eq!(
            allows(&targets, method, path),
            is_allowed,
            "{method:?} {path:?}"
        );
    }
    assert!(!allows(&[], "GET", "/v1/items"));
}

#[test]
fn a_query_comes_only_where_it_may_and_changes_no_path() {
    let target = ApiTarget {
        query: true,
        ..exact("GET", "/v1/items")
    };
    for (path, is_allowed) in [
        ("/v1/items", true),
        ("/v1/items?", true),
        ("/v1/items?a=%2e%2e/b?c", true),
        ("/v1/items/7?a", false),
        ("/v1/secrets?/../items", false),
        ("/v1/items?a#b", false),
        ("/v1/items?a\r\nb", false),
        ("/v1/items?a\\b", false),
    ] {
        assert_eq!(
            allows(std::slice::from_ref(&target), "GET", path),
            is_allowed,
            "{path:?}"
        );
    }
    let canonical = canonical_path("/a/%2e/b?c=/../d").unwrap();
    assert_eq!(
        (canonical.path.as_str(), canonical.has_query),
        ("/a/b", true)
    );
}

#[test]
fn dot_segments_are_removed_as_in_rfc_3986() {
    for (text, path) in [
        ("/", "/"),
        ("/.", "/"),
        ("/./", "/"),
        ("/a/..", "/"),
        ("/a/.", "/a/"),
        ("/a/b/..", "/a/"),
        ("/a/b/../", "/a/"),
        ("/a/b/c/./../../g", "/a/g"),
        ("/a/b/../../c", "/c"),
    ] {
        assert_eq!(canonical_path(text).unwrap().path, path, "{text}");
    }
    let long = |length: usize| format!("/{}", "a".repeat(length - 1));
    assert!(canonical_path(&long(MAX_PATH_BYTES)).is_some());
    assert!(canonical_path(&long(MAX_PATH_BYTES + 1)).is_none());
}

#[test]
fn below_the_root_is_everything_and_below_a_folder_is_not_the_folder() {
    assert!(allows(&[below("GET", "/")], "GET", "/any/thing"));
    assert!(allows(&[below("GET", "/a/")], "GET", "/a/b"));
    assert!(!allows(&[below("GET", "/a/")], "GET", "/a"));
}

#[test]
fn an_entry_that_no_request_can_match_is_told_with_its_remedy() {
    for (path, remedy) in [
        ("", "does not begin with `/`"),
        ("v1/items", "does not begin with `/`"),
        ("https://api.example/v1", "without scheme and host"),
        ("/v1?a=b", "write `query: true`"),
        ("/v1/../items", "write \"/items\""),
        ("/v1/.", "write \"/v1/\""),
        ("/v1/%69tems", "write \"/v1/items\""),
        ("/v1//items", "is that of no request"),
        ("/v1/%2fitems", "is that of no request"),
        ("/v1/100%", "is that of no request"),
        ("/v1#a", "is that of no request"),
        ("/v1\\a", "is that of no request"),
        ("/..", "is that of no request"),
    ] {
        for target in [exact("GET", path), below("GET", path)] {
            let told = target.check().expect_err(path);
            assert!(told.contains(remedy), "{path:?}: {told}");
            assert!(!allows(&[target], "GET", path), "{path:?}");
        }
    }
    assert!(
        exact("GET", &"/a".repeat(1025))
            .check()
            .unwrap_err()
            .contains("2048")
    );
    // It would cover every path, were it taken for a start.
    assert!(!allows(&[below("GET", "")], "GET", "/v1/items"));
    for method in ["", "GET POST", "GET\n", "GÉT", &"G".repeat(33)] {
        let told = exact(method, "/").check().expect_err(method);
        assert!(told.contains("such as `GET`"), "{told}");
    }
    let told = exact("", "").check().unwrap_err();
    assert!(
        told.contains("method") && told.contains("path"),
        "all at once: {told}"
    );
    for good in ["/", "/v1/items", "/a b/é", "/v1/", "/a:b;c=d@e", "/..."] {
        assert_eq!(exact("M-SEARCH", good).check(), Ok(()), "{good}");
    }
}

#[test]
fn its_written_form_is_strict_and_stable() {
    for (written, target) in [
        (json!({"method": "GET", "path": "/a"}), exact("GET", "/a")),
        (json!({"method": "GET", "below": "/a"}), below("GET", "/a")),
        (
            json!({"method": "GET", "path": "/a", "query": true}),
            ApiTarget {
                query: true,
                ..exact("GET", "/a")
            },
        ),
    ] {
        assert_eq!(to_value(&target).unwrap(), written);
        assert_eq!(from_value::<ApiTarget>(written).unwrap(), target);
    }
    let lower: ApiTarget =
        from_value(json!({"method": "get", "path": "/a", "query": false})).unwrap();
    assert_eq!(lower, exact("GET", "/a"));
    for (wrong, told) in [
        (json!({"method": "GET"}), "needs `path`, or `below`"),
        (
            json!({"method": "GET", "path": "/a", "below": "/a"}),
            "not both",
        ),
        (
            json!({"method": "GET", "path": "/a", "host": "b"}),
            "unknown field `host`",
        ),
        (json!({"path": "/a"}), "missing field `method`"),
    ] {
        let error = from_value::<ApiTarget>(wrong).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// A simple model: decodes by text replacement until nothing changes, and walks the segments.
fn resolved(path: &str) -> Vec<String> {
    let mut text = path.split('?').next().unwrap().to_owned();
    while let Some(at) = (0..text.len()).find(|at| {
        text.get(*at..at + 3).is_some_and(|escape| {
            escape.starts_with('%') && escape[1..].chars().all(|digit| digit.is_ascii_hexdigit())
        })
    }) {
        let byte = u8::from_str_radix(&text[at + 1..at + 3], 16).unwrap();
        text.replace_range(at..at + 3, &char::from(byte).to_string());
    }
    let mut walked: Vec<String> = Vec::new();
    for segment in text
        .split(['/', '\\'])
        .filter(|segment| !segment.is_empty())
    {
        match segment.split(';').next().unwrap() {
            "." => {}
            ".." => drop(walked.pop()),
            _ => walked.push(segment.to_owned()),
        }
    }
    walked
}

fn tricky_path() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/", "/", "/", "a", "a", "b", "A", ".", "..", "/..", "/../", "%2e", "%2E", "%2f", "%5c",
        "%61", "%252e", "%25", "%", "\\", "//", ";", "?", "#", "%3f", "%23", "%00", " ", "%c0%ae",
    ]);
    prop::collection::vec(piece, 0..10).prop_map(|pieces| format!("/{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_allowed_is_at_or_below_an_entry_for_a_reader_that_decodes_all(path in tricky_path(), query in any::<bool>()) {
        let entries = [
            ApiTarget { query, ..exact("GET", "/a") },
            ApiTarget { query, ..below("GET", "/a/b") },
            ApiTarget { query, ..exact("GET", "/b/") },
        ];
        if allows(&entries, "GET", &path) {
            let walked = resolved(&path);
            let walked: Vec<_> = walked.iter().map(String::as_str).collect();
            prop_assert!(walked == ["a"] || walked == ["b"] || walked.starts_with(&["a", "b"]), "{} {:?}", path, walked);
            prop_assert!(query || !path.contains('?'));
        }
    }

    #[test]
    fn a_canonical_path_is_its_own_and_has_nothing_left_to_undo(path in tricky_path()) {
        if let Some(canonical) = canonical_path(&path) {
            prop_assert!(!canonical.path.contains(['%', '\\', '?', '#']) && !canonical.path.contains("//"));
            let segments: Vec<_> = canonical.path.split('/').collect();
            prop_assert!(!segments.contains(&".") && !segments.contains(&".."));
            let again = canonical_path(&canonical.path).map(|again| again.path);
            prop_assert_eq!(again, Some(canonical.path));
        }
    }

    #[test]
    fn each_spelling_of_a_plain_path_is_allowed(segments in prop::collection::vec("[a-z]{1,3}", 1..4), encoded in any::<u16>()) {
        let plain = format!("/{}", segments.join("/"));
        let spelt: String = plain.chars().enumerate().map(|(at, c)| {
            let is_encoded = c != '/' && encoded >> (at % 16) & 1 == 1;
            if is_encoded { format!("%{:02x}", u32::from(c)) } else { c.to_string() }
        }).collect();
        prop_assert!(allows(&[exact("GET", &plain)], "GET", &spelt), "{}", spelt);
    }
}
