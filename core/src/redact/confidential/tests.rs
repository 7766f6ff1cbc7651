use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::{Value, json, to_string, to_value};

use super::{Confidential, MODE, Mode};
use crate::redact::redactions::tests::values;
use crate::redact::{MARKER, Redactions, Secret};

#[derive(Serialize)]
struct Found {
    name: &'static str,
    value: Secret<&'static str>,
}

fn found() -> Found {
    Found {
        name: "key",
        value: Secret::new("xyzzy"),
    }
}

/// Writes itself by a function of the test's.
struct Written<F>(F);

impl<F: Fn() -> Result<Value, String>> Serialize for Written<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)().map_err(S::Error::custom)?.serialize(serializer)
    }
}

fn paths(paths: &[&str]) -> Redactions {
    Redactions::parse(paths.iter().map(|path| (*path, "X"))).unwrap()
}

#[test]
fn only_delivery_has_the_raw_value() {
    let outcome = Confidential::of(&found()).unwrap();
    let shown = json!({"name": "key", "value": MARKER});
    assert!(outcome.is_secret());
    assert_eq!(outcome.redacted(), &shown);
    assert_eq!(to_value(&outcome).unwrap(), shown);
    let copy = outcome.clone();
    for printed in [format!("{outcome:?}"), format!("{copy:#?}")] {
        assert!(
            printed.contains("key") && !printed.contains("xyzzy"),
            "{printed}"
        );
    }
    assert!(!copy.is_secret());
    let delivered = copy.deliver();
    assert_eq!((delivered.value, delivered.model_only), (shown, false));

    let delivery = outcome.deliver();
    assert!(!format!("{delivery:?}").contains("xyzzy"));
    assert!(delivery.model_only);
    assert_eq!(delivery.value, json!({"name": "key", "value": "xyzzy"}));
}

#[test]
fn what_has_no_secret_is_written_once_and_delivered_as_it_is() {
    let times = std::cell::Cell::new(0);
    let counted = Written(|| {
        times.set(times.get() + 1);
        Ok(json!({"n": 1}))
    });
    let mut outcome = Confidential::of(&counted).unwrap();
    outcome.redact(&paths(&["$.other"]));
    assert_eq!(times.get(), 1);
    assert!(!outcome.is_secret());
    let delivery = outcome.deliver();
    assert_eq!(
        (delivery.value, delivery.model_only),
        (json!({"n": 1}), false)
    );
}

#[test]
fn paths_hide_more_and_the_raw_value_stays_what_the_handler_gave() {
    let both = json!({"name": "key", "value": "xyzzy"});
    let mut outcome = Confidential::of(&found()).unwrap();
    outcome.redact(&paths(&["$.name"]));
    outcome.redact(&paths(&["$.value"]));
    assert_eq!(outcome.redacted(), &json!({"name": "X", "value": "X"}));
    assert_eq!(outcome.deliver().value, both);

    let mut outcome = Confidential::of(&both).unwrap();
    outcome.redact(&paths(&["$.name"]));
    outcome.redact(&paths(&["$"]));
    assert_eq!(
        (outcome.redacted(), outcome.is_secret()),
        (&json!("X"), true)
    );
    assert_eq!(outcome.deliver().value, both);
}

#[test]
fn secrets_in_secrets_come_out_whole() {
    let outcome = Confidential::of(&Secret::new(vec![found()])).unwrap();
    assert_eq!(outcome.redacted(), MARKER);
    assert_eq!(
        outcome.deliver().value,
        json!([{"name": "key", "value": "xyzzy"}])
    );
}

#[test]
fn a_value_that_is_written_within_another_keeps_its_secret() {
    // The raw form of the outer value holds the redacted one of the inner.
    let inner = Written(|| {
        let inner = Confidential::of(&found()).unwrap();
        assert_eq!(
            to_string(&Secret::new("plugh")).unwrap().contains("plugh"),
            MODE.get() == Mode::Revealing
        );
        Ok(to_value(&inner).unwrap())
    });
    let outcome = Confidential::of(&(inner, Secret::new("outer"))).unwrap();
    let shown = json!({"name": "key", "value": MARKER});
    assert_eq!(outcome.redacted(), &json!([shown, MARKER]));
    assert_eq!(outcome.deliver().value, json!([shown, "outer"]));
}

#[test]
fn an_error_or_a_panic_in_the_midst_leaves_secrets_hidden_and_is_not_told() {
    let hides = || {
        assert!(MODE.get() == Mode::Outside);
        assert_eq!(to_value(found()).unwrap()["value"], MARKER);
    };
    // Fails or panics as soon as it is written raw, by the secret's own value.
    let is_raw = || to_string(&Secret::new("plugh")).unwrap().contains("plugh");
    let failing = Written(|| {
        if is_raw() {
            Err("xyzzy".to_owned())
        } else {
            Ok(json!(1))
        }
    });
    let told = Confidential::of(&failing).unwrap_err().to_string();
    assert!(
        !told.contains("xyzzy") && told.contains("cannot be written"),
        "{told}"
    );
    hides();
    let panicking = Written(|| {
        if is_raw() {
            panic!("as it is to")
        } else {
            Ok(json!(1))
        }
    });
    assert!(catch_unwind(AssertUnwindSafe(|| Confidential::of(&panicking))).is_err());
    hides();
    let never = Written(|| panic!("as it is to"));
    assert!(catch_unwind(AssertUnwindSafe(|| Confidential::of(&never))).is_err());
    hides();
    assert!(Confidential::of(&Written(|| Err("no".to_owned()))).is_err());
    hides();
}

#[test]
fn what_was_hidden_is_what_is_scrubbed() {
    let mut outcome = Confidential::of(&found()).unwrap();
    outcome.redact(&paths(&["$.name"]));
    assert_eq!(outcome.secrets().scrub("the key xyzzy"), "the key [SECRET]");
    let harmless = Confidential::of(&json!({"name": "harmless"})).unwrap();
    assert_eq!(harmless.secrets().scrub("harmless"), "harmless");
}

/// The same value, with each leaf a secret.
struct Hidden<'a>(&'a Value);

impl Serialize for Hidden<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(all) => serializer.collect_seq(all.iter().map(Hidden)),
            Value::Object(all) => {
                let mut map = serializer.serialize_map(Some(all.len()))?;
                for (name, one) in all {
                    map.serialize_entry(name, &Hidden(one))?;
                }
                map.end()
            }
            leaf => Secret::new(leaf.clone()).serialize(serializer),
        }
    }
}

proptest! {
    #[test]
    fn no_secret_is_in_any_form_and_the_delivery_is_the_value(value in values()) {
        let outcome = Confidential::of(&Hidden(&value)).unwrap();
        let forms = format!("{} {outcome:?} {:?}", to_string(&outcome).unwrap(), outcome.clone());
        prop_assert!(!forms.contains("leaf"), "{}", forms);
        let shown = outcome.secrets().scrub(&value.to_string()).into_owned();
        prop_assert!(!shown.contains("leaf"), "{}", shown);
        prop_assert_eq!(outcome.deliver().value, value);
    }
}
