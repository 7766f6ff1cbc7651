//! Small programs on top of Actum; each is a binary of its own under `src/bin`.

pub mod agentdojo;

/// Every Rust snippet of the Markdown files compiles.
#[cfg(doctest)]
mod snippets {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/actions.md")]
    struct Actions;
    #[doc = include_str!("../../docs/coming-from.md")]
    struct ComingFrom;
    #[doc = include_str!("../../docs/configuration.md")]
    struct Configuration;
    #[doc = include_str!("../../docs/manifests.md")]
    struct Manifests;
    #[doc = include_str!("../../docs/mcp.md")]
    struct Mcp;
    #[doc = include_str!("../../docs/workers.md")]
    struct Workers;
    #[doc = include_str!("../../ARCHITECTURE.md")]
    struct Architecture;
}
