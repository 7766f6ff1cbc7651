//! What an action declares to be hidden, and the hiding.

use serde_json::Value;

use super::path::{self, PathFault, RedactionPath};
use super::reach::can_match;

/// The most redactions of one action.
pub const MAX_REDACTIONS: usize = 64;

/// The longest marker, in bytes.
pub const MAX_MARKER_LENGTH: usize = 256;

/// One place to hide, and what is to stand there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// Where.
    pub path: RedactionPath,
    /// The text that is shown instead, whatever the value was.
    pub marker: String,
}

/// All that is to be hidden in one value.
///
/// ```
/// # use actum::redact::Redactions;
/// # use serde_json::json;
/// let redactions = Redactions::parse([("$.headers.authorization", "[REDACTED]")])?;
/// let mut value = json!({"headers": {"Authorization": "Bearer a1b2", "Accept": "*/*"}});
/// redactions.apply(&mut value);
/// assert_eq!(value, json!({"headers": {"Authorization": "[REDACTED]", "Accept": "*/*"}}));
/// # Ok::<(), Vec<actum::redact::RedactionFault>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactions(Vec<Redaction>);

/// Why something cannot be declared to be hidden.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactionFault {
    /// The path cannot be read.
    #[error("the redaction path `{path}` is not well formed, {fault}")]
    Path {
        /// The text given.
        path: String,
        /// What is wrong with it.
        fault: PathFault,
    },
    /// The marker is empty.
    #[error(
        "the redaction of `{path}` has an empty marker, which reads like an empty value; write one such as \"[REDACTED]\""
    )]
    NoMarker {
        /// The path given.
        path: String,
    },
    /// The marker is longer than [`MAX_MARKER_LENGTH`].
    #[error(
        "the redaction of `{path}` has a marker of {bytes} bytes, at most 256 are allowed; write a shorter one"
    )]
    LongMarker {
        /// The path given.
        path: String,
        /// The size found.
        bytes: usize,
    },
    /// There are more than [`MAX_REDACTIONS`].
    #[error("more than 64 redactions; hide what holds the values, or use `[*]`")]
    TooMany,
}

impl Redactions {
    /// Reads pairs of a path and its marker.
    ///
    /// # Errors
    /// All faults, each with its path; never an empty list.
    pub fn parse<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Vec<RedactionFault>> {
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        for (number, (path, marker)) in pairs.into_iter().enumerate() {
            if number == MAX_REDACTIONS {
                faults.push(RedactionFault::TooMany);
                break;
            }
            let text = || path.to_owned();
            let bytes = marker.len();
            if marker.is_empty() {
                faults.push(RedactionFault::NoMarker { path: text() });
            } else if bytes > MAX_MARKER_LENGTH {
                faults.push(RedactionFault::LongMarker {
                    path: text(),
                    bytes,
                });
            }
            match RedactionPath::parse(path) {
                Ok(path) => all.push(Redaction {
                    path,
                    marker: marker.to_owned(),
                }),
                Err(fault) => faults.push(RedactionFault::Path {
                    path: text(),
                    fault,
                }),
            }
        }
        if faults.is_empty() {
            Ok(Self(all))
        } else {
            Err(faults)
        }
    }

    /// Whether nothing is to be hidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The places, in the order in which they were declared.
    pub fn paths(&self) -> impl Iterator<Item = &RedactionPath> {
        self.0.iter().map(|redaction| &redaction.path)
    }

    /// Those whose path can find anything in a value that the schema takes; [`can_match`] tells what
    /// that means.
    #[must_use]
    pub fn part_for(&self, schema: &Value) -> Self {
        let can_match = |redaction: &&Redaction| can_match(&redaction.path, schema);
        Self(self.0.iter().filter(can_match).cloned().collect())
    }

    /// Hides what stands at each path, whatever it is, `null` and containers included. What is
    /// absent stays absent.
    ///
    /// What is hidden depends neither on the order nor on the number of times that a path is given:
    /// a path never leads into a marker, and one that ends further out hides all that is in there.
    /// Where two paths end at one place, the later one's marker is shown.
    pub fn apply(&self, value: &mut Value) {
        for Redaction { path, marker } in &self.0 {
            path::replace(path.steps(), value, marker);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::path::tests::paths;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn redacted(paths: &[&str], mut value: Value) -> Value {
        let pairs = paths.iter().map(|path| (*path, "X"));
        Redactions::parse(pairs).unwrap().apply(&mut value);
        value
    }

    #[test]
    fn names_have_no_case_and_every_member_that_matches_is_hidden() {
        assert_eq!(
            redacted(
                &["$.headers.authorization", "$.HEADERS['set-cookie']"],
                json!({"headers": {"Authorization": "a", "AUTHORIZATION": "b", "Set-Cookie": ["c"], "x": 1}}),
            ),
            json!({"headers": {"Authorization": "X", "AUTHORIZATION": "X", "Set-Cookie": "X", "x": 1}}),
        );
        // ASCII letters only, as in HTTP.
        assert_eq!(redacted(&["$.É"], json!({"é": 1})), json!({"é": 1}));
    }

    #[test]
    fn any_type_is_replaced_and_what_is_absent_stays_absent() {
        assert_eq!(
            redacted(
                &["$[*].v"],
                json!([{"v": null}, {"v": {"a": 1}}, {"v": [2]}, {"v": 3}, {}, 4])
            ),
            json!([{"v": "X"}, {"v": "X"}, {"v": "X"}, {"v": "X"}, {}, 4]),
        );
        assert_eq!(redacted(&["$"], json!({"a": 1})), json!("X"));
        assert_eq!(redacted(&["$[1]"], json!([0, 1, 2])), json!([0, "X", 2]));
        assert_eq!(redacted(&["$[1]"], json!([0])), json!([0]));
        assert_eq!(redacted(&["$[0]"], json!({"0": 1})), json!({"0": 1}));
        assert_eq!(redacted(&["$['0']"], json!([1])), json!([1]));
        assert_eq!(
            redacted(&["$.*"], json!({"a": 1, "b": [2]})),
            json!({"a": "X", "b": "X"})
        );
    }

    #[test]
    fn all_faults_are_told_at_once_each_with_its_path() {
        let long = "x".repeat(MAX_MARKER_LENGTH + 1);
        let faults = Redactions::parse([
            ("$..a", "X"),
            ("$.a", ""),
            ("b", long.as_str()),
            ("$.c", "X"),
        ]);
        let told: Vec<_> = faults
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(
            told[0].contains("`$..a`") && told[0].contains("at character 3"),
            "{told:#?}"
        );
        assert!(told[1].contains("`$.a` has an empty marker"), "{told:#?}");
        assert!(told[2].contains("257 bytes"), "{told:#?}");
        assert!(told[3].contains("`b`"), "{told:#?}");

        let many = vec![("$.a", "X"); MAX_REDACTIONS + 1];
        assert!(Redactions::parse(many[..MAX_REDACTIONS].iter().copied()).is_ok());
        assert_eq!(Redactions::parse(many), Err(vec![RedactionFault::TooMany]));
    }

    /// Values of few names; each leaf is a text of its own, to be looked for.
    pub(in crate::redact) fn values() -> impl Strategy<Value = Value> {
        let leaf = Just(json!("leaf"));
        let shape = leaf.prop_recursive(4, 24, 4, |inner| {
            let names = "[abAB]|x-y|it's";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(names, inner, 0..4).prop_map(|map| json!(map)),
            ]
        });
        shape.prop_map(|mut value| {
            number_leaves(&mut value, &mut 0);
            value
        })
    }

    fn number_leaves(value: &mut Value, next: &mut u32) {
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(|one| number_leaves(one, next)),
            Value::Object(members) => members
                .values_mut()
                .for_each(|one| number_leaves(one, next)),
            leaf => {
                *next += 1;
                *leaf = json!(format!("leaf{next}."));
            }
        }
    }

    /// What a path means, told apart from how it is applied: each leaf with the way to it.
    fn leaves(
        value: &Value,
        way: Vec<Result<String, usize>>,
    ) -> Vec<(Vec<Result<String, usize>>, String)> {
        let step = |last| way.iter().cloned().chain([last]).collect::<Vec<_>>();
        match value {
            Value::Array(all) => all
                .iter()
                .enumerate()
                .flat_map(|(i, one)| leaves(one, step(Err(i))))
                .collect(),
            Value::Object(all) => all
                .iter()
                .flat_map(|(n, one)| leaves(one, step(Ok(n.clone()))))
                .collect(),
            leaf => vec![(way, leaf.as_str().unwrap().to_owned())],
        }
    }

    fn is_at_or_in(way: &[Result<String, usize>], path: &RedactionPath) -> bool {
        use super::super::path::Step;
        let steps = path.steps();
        way.len() >= steps.len()
            && way.iter().zip(steps).all(|pair| match pair {
                (_, Step::Every) => true,
                (Ok(name), Step::Member(wanted)) => name.to_lowercase() == wanted.to_lowercase(),
                (Err(index), Step::Element(wanted)) => index == wanted,
                _ => false,
            })
    }

    fn all(paths: &[RedactionPath]) -> Redactions {
        let one = |path: &RedactionPath| Redaction {
            path: path.clone(),
            marker: "X".to_owned(),
        };
        Redactions(paths.iter().map(one).collect())
    }

    proptest! {
        #[test]
        fn exactly_the_values_at_and_in_a_path_are_gone(value in values(), paths in prop::collection::vec(paths(), 0..4)) {
            let mut redacted = value.clone();
            all(&paths).apply(&mut redacted);
            let shown = redacted.to_string();
            for (way, leaf) in leaves(&value, Vec::new()) {
                let hidden = paths.iter().any(|path| is_at_or_in(&way, path));
                prop_assert_eq!(shown.contains(&leaf), !hidden, "{} in {}", leaf, shown);
            }
        }

        #[test]
        fn twice_is_once_and_neither_order_nor_repetition_matters(value in values(), paths in prop::collection::vec(paths(), 0..4)) {
            let (mut once, mut again) = (value.clone(), value);
            all(&paths).apply(&mut once);
            let backwards: Vec<_> = paths.iter().rev().chain(&paths).cloned().collect();
            all(&backwards).apply(&mut again);
            prop_assert_eq!(&once, &again);
            all(&paths).apply(&mut again);
            prop_assert_eq!(once, again);
        }
    }
}
