//! stub
/// l
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// m
    pub max_model_calls: u32,
    /// a
    pub max_artifacts: u32,
    /// r
    pub max_runtime_seconds: u64,
}
