//! Digests: `sha256:<64 hex>` over RFC 8785 canonical JSON.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:<64 lower-case hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A value that has no canonical JSON form: a map with keys that are not strings, or a number that
/// is not finite.
#[derive(Debug, thiserror::Error)]
#[error("no canonical JSON for this value: {0}")]
pub struct NotCanonical(#[from] serde_json::Error);

/// RFC 8785 canonical JSON.
///
/// # Errors
/// [`NotCanonical`] for a value that JSON cannot hold.
pub fn canonical_json(value: &impl Serialize) -> Result<Vec<u8>, NotCanonical> {
    Ok(serde_json_canonicalizer::to_vec(value)?)
}

impl Digest {
    /// The digest of bytes as they are.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a value's canonical JSON.
    ///
    /// # Errors
    /// [`NotCanonical`] for a value that JSON cannot hold.
    pub fn of_json(value: &impl Serialize) -> Result<Self, NotCanonical> {
        Ok(Self::of_bytes(&canonical_json(value)?))
    }

    /// Takes 32 bytes that are a digest.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?;
        if hex.len() != 64 {
            return None;
        }
        let digit = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'a'..=b'f' => Some(b - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |nibble: u8| match nibble {
            0..=9 => b'0' + nibble,
            _ => b'a' + (nibble - 10),
        };
        let mut hex = [0u8; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
        f.write_str("sha256:")?;
        f.write_str(std::str::from_utf8(&hex).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom("a digest is `sha256:` and 64 lower-case hex digits")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_whitespace_do_not_matter_and_content_does() {
        let one: serde_json::Value = serde_json::from_str(r#"{"b":1,"a":[1.0,"x"]}"#).unwrap();
        let two: serde_json::Value = serde_json::from_str(r#"{ "a": [1, "x"], "b": 1 }"#).unwrap();
        let digest = |v: &serde_json::Value| Digest::of_json(v).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&json!({"a": [1, "y"], "b": 1})));
    }

    #[test]
    fn the_written_form_reads_back_and_other_spellings_do_not() {
        let digest = Digest::of_bytes(b"");
        let text = digest.to_string();
        assert_eq!(
            text,
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(Digest::parse(&text), Some(digest));
        assert_eq!(Digest::parse(&text.to_uppercase()), None);
        assert_eq!(Digest::parse(&text[..70]), None);
        assert_eq!(Digest::parse("e3b0"), None);
    }
}
