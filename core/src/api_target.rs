//! Stand-in until the module comes in.
use serde::{Deserialize, Serialize};
/// x
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ApiTarget {
    /// m
    pub method: String,
    /// p
    #[serde(flatten)]
    pub path: ApiPath,
    /// q
    #[serde(default)]
    pub query: bool,
}
/// x
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ApiPath {
    /// e
    #[serde(rename = "path")]
    Exact(String),
    /// b
    #[serde(rename = "below")]
    Below(String),
}
impl ApiTarget {
    /// x
    /// # Errors
    /// x
    pub fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
/// x
#[must_use]
pub fn allows<'a>(
    targets: impl IntoIterator<Item = &'a ApiTarget>,
    method: &str,
    path: &str,
) -> bool {
    targets.into_iter().any(|t| {
        t.method.eq_ignore_ascii_case(method) && matches!(&t.path, ApiPath::Exact(p) if p == path)
    })
}
