//! What the operator says of the door.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::config::Mcp;

impl Mcp {
    /// How long a client may show what it was told, in seconds.
    pub(super) fn list_seconds(&self) -> u64 {
        self.list_seconds.value
    }

    /// Whether a `Host` header is of this kernel. Whoever makes a name lead here cannot make it one of numbers.
    pub(super) fn takes_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<axum::http::uri::Authority>() else {
            return false;
        };
        let name = authority.host();
        is_local(name)
            || address(name).is_some()
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Whether pages of an origin may call.
    pub(super) fn takes_origin(&self, origin: &str) -> bool {
        let Ok(url) = reqwest::Url::parse(origin) else {
            return false;
        };
        // Another spelling is not one that a browser sends.
        if url.origin().ascii_serialization() != origin {
            return false;
        }
        let is_of_here = matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| {
                is_local(host) || address(host).is_some_and(|address| address.is_loopback())
            });
        is_of_here || self.origins.iter().any(|known| known.as_str() == origin)
    }

    /// Where tokens come from, for anybody.
    pub(super) fn metadata(&self) -> Option<Value> {
        let oauth = self.oauth.as_ref()?;
        let issuers: Vec<&str> = oauth.issuers.iter().map(|issuer| issuer.as_str()).collect();
        Some(json!({
            "resource": oauth.resource.as_str(),
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": "actum",
        }))
    }

    /// What a client without a token is told of where to get one.
    pub(super) fn challenge(&self) -> Option<String> {
        let oauth = self.oauth.as_ref()?;
        let mut url = reqwest::Url::parse(&oauth.resource).ok()?;
        url.set_query(None);
        url.set_path("/.well-known/oauth-protected-resource/mcp");
        Some(format!("Bearer resource_metadata=\"{url}\""))
    }
}

fn is_local(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(name).parse().ok()
}
