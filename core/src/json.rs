//! JSON from outside: one value, bounded, with no duplicate key.
//!
//! `serde_json` keeps the last of two equal keys. At a gate that is one parser's opinion, and the
//! next one may keep the first; so duplicates are refused. Integers that a double cannot hold exactly
//! are refused too: canonical JSON (RFC 8785) writes numbers as doubles, so that two such integers
//! can have one digest, and an approval of the one would cover the other.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting that is taken.
pub const MAX_DEPTH: usize = 32;

/// The largest integer that is taken, and with a minus the smallest: every smaller one is exact as a
/// double.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// What is wrong with a text that should be JSON.
#[derive(Debug, thiserror::Error)]
pub enum JsonFault {
    /// It is not UTF-8.
    #[error("the body is not UTF-8 (at byte {0})")]
    NotUtf8(usize),
    /// It is not JSON, nests too deeply, or has a key twice. The message has line and column.
    #[error("{0}")]
    Malformed(String),
}

/// Reads one JSON value.
///
/// # Errors
/// [`JsonFault`], with line and column.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonFault> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| JsonFault::NotUtf8(error.valid_up_to()))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let malformed = |error: serde_json::Error| JsonFault::Malformed(error.to_string());
    let value = Strict { depth: 0 }
        .deserialize(&mut reader)
        .map_err(malformed)?;
    reader.end().map_err(malformed)?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!(
                "nested more than {MAX_DEPTH} levels deep"
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

fn exact<E: Error>(magnitude: u64) -> Result<(), E> {
    if magnitude > MAX_INTEGER {
        return Err(E::custom(format_args!(
            "an integer beyond {MAX_INTEGER}, which is not exact for every reader; send it as text"
        )));
    }
    Ok(())
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        exact(value.unsigned_abs())?;
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        exact(value)?;
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{key}` stands twice in one object"
                )));
            }
            map.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn duplicates_depth_trailing_text_and_bad_bytes_are_refused_with_their_place() {
        let told = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        assert!(told(br#"{"a":{"b":1,"b":2}}"#).contains("`b` stands twice"));
        assert!(told(br#"{"a":1} x"#).contains("line 1 column 9"));
        assert!(told(b"{").contains("line 1 column 1"));
        assert!(told(b"\"\xff\"").contains("not UTF-8 (at byte 1)"));
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(told(nested(MAX_DEPTH + 1).as_bytes()).contains("nested more than 32"));
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn integers_that_could_share_a_digest_are_refused() {
        for good in ["9007199254740991", "-9007199254740991", "0"] {
            assert!(parse(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "18446744073709551615",
        ] {
            let told = parse(format!(r#"{{"amount":{bad}}}"#).as_bytes())
                .unwrap_err()
                .to_string();
            assert!(
                told.contains("send it as text") && told.contains("line 1"),
                "{told}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_serde_json_writes_is_read_back(keys in proptest::collection::btree_map("[a-z]{1,4}", -9i64..9, 0..6)) {
            let value = json!({"list": [keys.clone(), null, 1.5, "x"], "map": keys});
            prop_assert_eq!(parse(value.to_string().as_bytes()).unwrap(), value);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
