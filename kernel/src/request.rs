//! Reading requests: the bearer token, and a bounded body.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;

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

/// The body as JSON: bounded in size, depth and time, UTF-8, without duplicate keys.
///
/// # Errors
/// [`Refusal`] that says what is wrong and where.
pub async fn json_body(body: Body, limit: usize) -> Result<Value, Refusal> {
    let read = tokio::time::timeout(BODY_TIME, Limited::new(body, limit).collect());
    let bytes = match read.await {
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
    };
    actum::json::parse(&bytes).map_err(|fault| {
        Refusal::invalid(format!("the body is no JSON that is taken here: {fault}"))
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
