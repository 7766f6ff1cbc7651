//! An answer as it came, so that two can be compared byte for byte.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// Status, headers and body.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Every header, by its name in lower case, `date` left out.
    pub headers: BTreeMap<String, Vec<Vec<u8>>>,
    pub body: Vec<u8>,
}

impl Answer {
    pub async fn of(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let mut headers: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for (name, value) in response.headers() {
            if name != "date" {
                let values = headers.entry(name.to_string()).or_default();
                values.push(value.as_bytes().to_vec());
            }
        }
        Self {
            status,
            headers,
            body: response.bytes().await.unwrap().to_vec(),
        }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(&self.body)))
    }

    /// The text at a JSON Pointer.
    pub fn at(&self, pointer: &str) -> String {
        match self.json().pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            other => panic!("{pointer} is {other:?} in {}", self.text()),
        }
    }

    /// Status, code and reason of a refusal, whose shape is checked on the way.
    pub fn refusal(&self) -> (u16, String, String) {
        let body = self.json();
        assert_eq!(body["ok"], false, "{body}");
        let mut keys: Vec<&str> = body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        assert_eq!(keys, ["error", "ok"], "{body}");
        assert!(!self.at("/error/message").is_empty());
        assert_eq!(self.headers["content-type"], [b"application/json"]);
        assert_eq!(self.headers["cache-control"], [b"no-store"]);
        (
            self.status,
            self.at("/error/code"),
            self.at("/error/reason"),
        )
    }

    /// Asserts that it is this refusal, which may say more.
    #[track_caller]
    pub fn refused_with_more(&self, status: u16, code: &str, reason: &str) {
        let is = (
            self.status,
            self.at("/error/code"),
            self.at("/error/reason"),
        );
        assert_eq!(is, (status, code.to_owned(), reason.to_owned()), "{self:?}");
    }

    /// Asserts that it is this refusal.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str, reason: &str) {
        let (is_status, is_code, is_reason) = self.refusal();
        assert_eq!(
            (is_status, is_code.as_str(), is_reason.as_str()),
            (status, code, reason),
            "{}",
            self.text()
        );
    }

    /// The answer with the operation's id, wherever it is echoed, replaced by one word: what is left
    /// must not depend on the id.
    pub fn without_operation(&self, operation: &str) -> Self {
        let mut headers = self.headers.clone();
        headers.remove("content-length");
        let echo = format!("\"operation_id\":{}", serde_json::Value::from(operation));
        let [before, after] = self.text().split(&echo).collect::<Vec<_>>()[..] else {
            panic!("{operation:?} is not echoed once: {self:?}");
        };
        Self {
            status: self.status,
            headers,
            body: [before, after]
                .join("\"operation_id\":\"OPERATION\"")
                .into_bytes(),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        for (name, values) in &self.headers {
            for value in values {
                write!(f, " {name}: {};", String::from_utf8_lossy(value))?;
            }
        }
        write!(f, " {}", String::from_utf8_lossy(&self.body))
    }
}
