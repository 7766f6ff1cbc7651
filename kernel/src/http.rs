//! The HTTP client that the kernel's own requests go through.

/// Begins a client, with TLS by rustls and ring.
pub fn client() -> reqwest::ClientBuilder {
    // The first one installed stays; a binary that installed another has its way.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}
