//! A value that is for the model alone.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{MARKER, confidential, watch};

/// A value that is for the model alone: whatever it is printed or written into has
/// [`MARKER`] in its place.
///
/// ```
/// # use actum::redact::Secret;
/// #[derive(Debug, serde::Serialize)]
/// struct Credentials {
///     user: String,
///     password: Secret<String>,
/// }
///
/// let found = Credentials {
///     user: "ada".to_owned(),
///     password: Secret::new("correct horse".to_owned()),
/// };
/// assert_eq!(serde_json::to_string(&found)?, r#"{"user":"ada","password":"[SECRET]"}"#);
/// assert_eq!(format!("{found:?}"), r#"Credentials { user: "ada", password: Secret(..) }"#);
/// assert_eq!(found.password.expose(), "correct horse");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// A handler returns it in its output, and the kernel gives the model the value: its schema is that
/// of `T`. A payload may have one too, such as a key that the model passes on.
///
/// - [`expose`](Self::expose) is the one way to the value. It is neither displayed nor compared, nor
///   does it deref to its value.
/// - Serde cannot write a text as a part of another object: a field of this type has no
///   `#[serde(flatten)]`. Make the fields in it secret instead.
/// - Making one tells the [`Watch`](super::Watch) of the thread, so that errors and panics of a
///   handler do not show it. That is what `T: Serialize` is for.
#[derive(Clone)]
pub struct Secret<T>(T);

impl<T: Serialize> Secret<T> {
    /// Makes a value secret.
    #[must_use]
    pub fn new(value: T) -> Self {
        watch::note_secret(&value);
        Self(value)
    }
}

impl<T> Secret<T> {
    /// The value. What is made of it is no longer secret, so put it where nobody looks.
    #[must_use]
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Writes [`MARKER`]. The value itself is written by nothing but
/// [`Confidential::of`](super::Confidential::of), which keeps it apart.
impl<T: Serialize> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if confidential::reveals_this_secret() {
            self.0.serialize(serializer)
        } else {
            serializer.serialize_str(MARKER)
        }
    }
}

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Serde's own words for a value that does not fit have the value in them.
        let fault = || D::Error::custom("a secret value that does not fit its type");
        let given = Value::deserialize(deserializer).map_err(|_| fault())?;
        // As it came, whatever `T` makes of it: that is what the arguments have.
        watch::note_given(&given);
        let value = T::deserialize(given).map_err(|_| fault())?;
        Ok(Self::new(value))
    }
}

/// That of `T`: it is what the model passes, and what it gets.
impl<T: JsonSchema> JsonSchema for Secret<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{arguments_of, result_of};
    use serde_json::{from_value, json, to_value};

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct With<T> {
        value: T,
    }

    #[test]
    fn nothing_that_is_written_or_printed_of_it_has_the_value() {
        let secret = Secret::new(json!({"token": "xyzzy", "n": 987654}));
        let written = to_value(With {
            value: vec![secret.clone()],
        })
        .unwrap();
        assert_eq!(written, json!({"value": [MARKER]}));
        assert_eq!(to_value(secret.clone()).unwrap(), json!(MARKER));
        let printed = format!("{secret:?} {:#?}", Some(&secret));
        assert!(
            !printed.contains("xyzzy") && !printed.contains("987654"),
            "{printed}"
        );
        assert_eq!(secret.expose()["token"], "xyzzy");
    }

    #[test]
    fn its_schema_is_that_of_its_value() {
        #[derive(Serialize, Deserialize, JsonSchema)]
        struct Plain {
            value: String,
            more: Option<Vec<Inner>>,
        }
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[schemars(rename = "Plain")]
        struct Hidden {
            value: Secret<String>,
            more: Option<Secret<Vec<Secret<Inner>>>>,
        }
        #[derive(Serialize, Deserialize, JsonSchema)]
        struct Inner {
            n: u8,
        }
        assert_eq!(arguments_of::<Hidden>(), arguments_of::<Plain>());
        assert_eq!(result_of::<Hidden>(), result_of::<Plain>());
    }

    #[test]
    fn a_payload_may_have_one_and_a_value_that_does_not_fit_is_not_told() {
        let read: With<Secret<String>> = from_value(json!({"value": "xyzzy"})).unwrap();
        assert_eq!(read.value.expose(), "xyzzy");
        let read: With<Option<Secret<u8>>> = from_value(json!({"value": null})).unwrap();
        assert!(read.value.is_none());
        for wrong in [json!({"value": "xyzzy"}), json!({"value": {"xyzzy": 1}})] {
            let told = from_value::<With<Secret<u8>>>(wrong)
                .err()
                .unwrap()
                .to_string();
            assert!(!told.contains("xyzzy") && told.contains("secret"), "{told}");
        }
    }
}
