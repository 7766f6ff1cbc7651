//! The shapes of answers, for every HTTP door.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A JSON answer. Nothing here may be kept by a cache: it belongs to one presented token.
#[must_use]
pub fn json_text(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A JSON answer.
#[must_use]
pub fn json_value(status: StatusCode, body: &Value) -> Response {
    json_text(status, body.to_string())
}

/// A refusal: what kind, of which operation if any, why in one word, and in a sentence.
#[derive(Debug)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The code: for a call, one of the four of the denial taxonomy.
    pub code: &'static str,
    /// The operation as the caller named it.
    pub operation_id: Option<String>,
    /// One word.
    pub reason: &'static str,
    /// A sentence.
    pub message: String,
    /// More, under keys of its own.
    pub more: Option<Box<(&'static str, Value)>>,
    /// The claims of an operation that the caller was shown.
    pub authorization: Option<Box<Value>>,
}

impl Refusal {
    /// A refusal of a request that names no operation.
    #[must_use]
    pub fn new(
        status: StatusCode,
        code: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code,
            operation_id: None,
            reason,
            message: message.into(),
            more: None,
            authorization: None,
        }
    }

    /// The caller did not prove who it is. One answer, whatever was wrong with the proof.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthenticated",
            "token_invalid",
            "present a valid token: `Authorization: Bearer <token>`",
        )
    }

    /// Too much is under way.
    #[must_use]
    pub fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "operation_unsupported",
            "busy",
            "too many requests are under way; try again",
        )
    }

    /// There is nothing at this path.
    #[must_use]
    pub fn nothing_here() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "input_invalid",
            "unknown_path",
            "there is nothing at this path",
        )
    }

    /// The request cannot be read.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "input_invalid",
            "request_malformed",
            message,
        )
    }

    /// The kernel could not make its decision durable, so it took none.
    #[must_use]
    pub fn store(error: &crate::store::StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "operation_unsupported",
            "unavailable",
            "the kernel cannot record anything now, so it does nothing; try again later",
        )
    }

    /// The refusal of an operation.
    #[must_use]
    pub fn of(mut self, operation_id: impl Into<String>) -> Self {
        self.operation_id = Some(operation_id.into());
        self
    }

    /// With the claims that were considered.
    #[must_use]
    pub fn authorized_by(mut self, claims: Value) -> Self {
        self.authorization = Some(Box::new(claims));
        self
    }

    /// With more to say.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: Value) -> Self {
        self.more = Some(Box::new((key, value)));
        self
    }
}

impl Refusal {
    /// The refusal as a worker is told it.
    #[must_use]
    pub fn body(self) -> Value {
        let mut error = json!({
            "code": self.code,
            "operation_id": self.operation_id,
            "reason": self.reason,
            "message": self.message,
        });
        if let (Some(error), Some(more)) = (error.as_object_mut(), self.more) {
            let (key, value) = *more;
            error.insert(key.to_owned(), value);
        }
        let mut body = json!({"ok": false, "error": error});
        if let (Some(body), Some(claims)) = (body.as_object_mut(), self.authorization) {
            body.insert("authorization".to_owned(), *claims);
        }
        body
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = json_value(status, &self.body());
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<crate::store::StoreError> for Refusal {
    fn from(error: crate::store::StoreError) -> Self {
        Self::store(&error)
    }
}
