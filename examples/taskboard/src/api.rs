//! The company's API: an address that the host gives, and one request at a time to what is below it.
//!
//! Which methods and paths may be asked for is not decided here: the gate holds them against the
//! scenario's targets. What was judged is what is sent. The path goes out in its one spelling,
//! redirects are not followed, and no header goes along that could lead the request elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use actum::ActionError;
use actum::api_target::canonical_path;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use reqwest::{Method, Url};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::store::Payload;

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 256 * 1024;
/// The longest that a request may take with its answer.
const TIME: Duration = Duration::from_secs(10);

/// Headers of the connection and of the message's own length, which are the client's to write
/// (RFC 9110, sections 6.6.2, 7.6.1, 8.6 and 10.1.1, <https://www.rfc-editor.org/rfc/rfc9110>).
const OF_THE_CONNECTION: [&str; 8] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Words of headers for proxies, and of those by which some servers answer for another host, path or
/// method than the request line's, such as `X-Forwarded-Host`, `X-Original-URL` (CVE-2018-14773,
/// <https://symfony.com/blog/cve-2018-14773-remove-support-for-legacy-and-risky-http-headers>) and
/// `X-HTTP-Method-Override`.
const OF_ANOTHER_TARGET: [&str; 10] = [
    "forwarded",
    "host",
    "method",
    "original",
    "override",
    "path",
    "proxy",
    "rewrite",
    "uri",
    "url",
];

/// The company's API, or that the host gave none.
pub struct CompanyApi(Option<Endpoint>);

struct Endpoint {
    client: reqwest::Client,
    base: Url,
}

/// Why nothing could be sent to an address.
#[derive(Debug, thiserror::Error)]
pub enum BadAddress {
    /// It is no address of an API. It is not repeated here, since it may hold a password.
    #[error(
        "this is no address of an API; write one such as `https://api.example.org`, without user, query and fragment"
    )]
    NotOfAnApi,
    /// There is no client to send with.
    #[error("no HTTP client can be made")]
    NoClient(#[from] reqwest::Error),
}

/// What to send. Not to be printed: its headers may say who the sender is.
#[derive(Clone, Copy)]
pub struct ApiRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, in any spelling, with or without a query.
    pub path: &'a str,
    /// The headers.
    pub headers: &'a BTreeMap<String, String>,
    /// The body; none is sent where it is empty.
    pub body: &'a Payload,
}

/// What came back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiAnswer {
    /// The status, such as 200; 302 and the like are not followed.
    pub status: u16,
    /// The headers, but for cookies that were set.
    pub headers: BTreeMap<String, String>,
    /// The body: as JSON where it is some, or else as text.
    pub body: Value,
}

impl fmt::Debug for CompanyApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(endpoint) => write!(f, "CompanyApi({})", endpoint.base),
            None => f.write_str("CompanyApi(none)"),
        }
    }
}

impl CompanyApi {
    /// There is none.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// The API below an address, by HTTP or HTTPS, with a client that the host begins. It has TLS, without
    /// which no client can be made of it: `actum_kernel::http::client()` gives one.
    ///
    /// # Errors
    /// [`BadAddress`].
    pub fn at(address: &str, client: reqwest::ClientBuilder) -> Result<Self, BadAddress> {
        let base = Url::parse(address).map_err(|_| BadAddress::NotOfAnApi)?;
        let plain = matches!(base.scheme(), "http" | "https")
            && base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none()
            && base.fragment().is_none();
        if !plain {
            return Err(BadAddress::NotOfAnApi);
        }
        let client = client
            .timeout(TIME)
            // Another place, by a redirect or a proxy, is not the one that was allowed.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self(Some(Endpoint { client, base })))
    }

    /// Sends a request, and reads its answer.
    ///
    /// # Errors
    /// [`ActionError`]: unavailable when there is no API or it cannot be reached, failed when the
    /// request is none that is sent, of unknown outcome when its answer did not come whole.
    pub async fn send(&self, ask: ApiRequest<'_>) -> Result<ApiAnswer, ActionError> {
        let Some(Endpoint { client, base }) = &self.0 else {
            return Err(ActionError::unavailable(
                "no API is configured (`TASKBOARD_API`)",
            ));
        };
        let mut request = client
            .request(method(ask.method)?, below(base, ask.path)?)
            .headers(headers(ask.headers)?);
        if !ask.body.0.is_empty() {
            if !ask.headers.keys().any(|name| CONTENT_TYPE == name.as_str()) {
                request = request.header(CONTENT_TYPE, "application/json");
            }
            request = request.body(serde_json::to_vec(ask.body)?);
        }
        let answer = request.send().await.map_err(not_sent)?;
        let status = answer.status().as_u16();
        let headers = told(answer.headers());
        let body = read(answer).await?;
        Ok(ApiAnswer {
            status,
            headers,
            body: serde_json::from_slice(&body)
                .unwrap_or_else(|_| String::from_utf8_lossy(&body).into()),
        })
    }
}

/// The method as servers compare it: targets are compared without case.
fn method(text: &str) -> Result<Method, ActionError> {
    let method = Method::from_bytes(text.to_ascii_uppercase().as_bytes())?;
    match method {
        // It has no path, so that no allowed path would bind it.
        Method::CONNECT => Err(ActionError::failed("CONNECT asks for no path")),
        method => Ok(method),
    }
}

/// The address of a path below the base, in its one spelling and encoded anew.
fn below(base: &Url, path: &str) -> Result<Url, ActionError> {
    let refused = || ActionError::failed("the path can be read in more than one way");
    let canonical = canonical_path(path).ok_or_else(refused)?;
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| refused())?
        .pop_if_empty()
        .extend(canonical.path.split('/').skip(1));
    url.set_query(path.split_once('?').map(|(_, query)| query));
    Ok(url)
}

fn headers(asked: &BTreeMap<String, String>) -> Result<HeaderMap, ActionError> {
    let mut headers = HeaderMap::new();
    for (name, value) in asked {
        let name = HeaderName::from_bytes(name.as_bytes())?;
        if is_not_for_callers(name.as_str()) {
            return Err(ActionError::failed(format!(
                "the header `{name}` could lead the request elsewhere; leave it out"
            )));
        }
        let mut value = HeaderValue::from_str(value)?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Whether a header's name, in lower case, is one that a caller may not write.
fn is_not_for_callers(name: &str) -> bool {
    OF_THE_CONNECTION.contains(&name)
        || name
            .split(['-', '_'])
            .any(|word| OF_ANOTHER_TARGET.contains(&word))
}

/// Headers of an answer, several of one name joined. A cookie that was set would open a session to
/// whoever reads it, and is of no use to a model.
fn told(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers.iter().filter(|(name, _)| *name != SET_COOKIE) {
        let value = String::from_utf8_lossy(value.as_bytes());
        all.entry(name.to_string())
            .and_modify(|joined| {
                joined.push_str(", ");
                joined.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    all
}

/// What a failed request says of its effect. The client's errors name the URL, which may hold what a
/// caller wrote, so it is left out.
fn not_sent(error: reqwest::Error) -> ActionError {
    let unreachable = error.is_connect() || error.is_builder();
    let told = format!("the API: {}", error.without_url());
    match unreachable {
        true => ActionError::unavailable(told),
        false => ActionError::outcome_unknown(told),
    }
}

async fn read(mut answer: reqwest::Response) -> Result<Vec<u8>, ActionError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(not_sent)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_ANSWER {
            return Err(ActionError::outcome_unknown(format!(
                "the API answered with more than {MAX_ANSWER} bytes"
            )));
        }
    }
    Ok(bytes)
}
