//! Reading requests: the bearer token, and a bounded body.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::auth::{Secret, SecretHash};
use crate::reply::Refusal;

/// The longest that a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The bearer token, if there is exactly one.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (one, None) = (all.next()?, all.next()) else {
        return None;
    };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Whether a request presents this key.
///
/// # Errors
/// The one answer for whoever does not.
pub(crate) fn presents(headers: &HeaderMap, key: &SecretHash) -> Result<(), Refusal> {
    match bearer(headers).and_then(Secret::parse) {
        Some(presented) if key.fits(&presented) => Ok(()),
        _ => Err(Refusal::unauthenticated()),
    }
}

/// The body as JSON: bounded in size, depth and time, UTF-8, without duplicate keys.
///
/// # Errors
/// [`Refusal`] that says what is wrong and where.
pub async fn json_body(body: Body, limit: usize) -> Result<Value, Refusal> {
    let bytes = read_body(body, limit).await?;
    actum::json::parse(&bytes).map_err(|fault| {
        Refusal::invalid(format!("the body is no JSON that is taken here: {fault}"))
    })
}

/// The body's bytes, bounded in size and time.
///
/// # Errors
/// [`Refusal`] that says what is wrong.
pub async fn read_body(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    read_timely(body, limit, BODY_TIME).await
}

async fn read_timely(body: Body, limit: usize, time: Duration) -> Result<Bytes, Refusal> {
    let read = tokio::time::timeout(time, Limited::new(body, limit).collect());
    Ok(match read.await {
        Ok(Ok(read)) => read.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "input_invalid",
                "request_too_large",
                format!("the body is over {limit} bytes"),
            ));
        }
        Ok(Err(_)) => return Err(Refusal::invalid("the body could not be read to its end")),
        Err(_) => {
            return Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "input_invalid",
                "request_too_slow",
                "the body did not arrive in time",
            ));
        }
    })
}

/// A body of a known shape.
///
/// # Errors
/// [`Refusal`] that says what is wrong.
pub async fn shaped_body<T: DeserializeOwned>(body: Body, limit: usize) -> Result<T, Refusal> {
    let value = json_body(body, limit).await?;
    if !value.is_object() {
        return Err(Refusal::invalid("the body is a JSON object"));
    }
    serde_json::from_value(value).map_err(|error| Refusal::invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;
    use std::future::{pending, ready};
    use std::io;

    /// The first half of a body.
    fn half() -> impl axum::body::HttpBody<Data = axum::body::Bytes, Error = io::Error> {
        Full::new(axum::body::Bytes::from("{")).map_err(|never| match never {})
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_given_up() {
        let body = Body::new(half().with_trailers(pending()));
        let brief = Duration::from_millis(20);
        let refusal = read_timely(body, 100, brief).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::REQUEST_TIMEOUT);
        assert_eq!(refusal.reason, "request_too_slow");
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_refused() {
        let broken = io::Error::from(io::ErrorKind::ConnectionReset);
        let body = Body::new(half().with_trailers(ready(Some(Err(broken)))));
        let refusal = json_body(body, 100).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert!(
            refusal.message.contains("to its end"),
            "{}",
            refusal.message
        );
    }
}
