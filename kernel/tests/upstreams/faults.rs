//! What is wrong is told at once; what is not there is waited for.

use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_kernel_starts_without_its_upstream_and_shows_its_tools_once_it_is_there() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let home = home(&upstream, MANIFEST);
    accept(&home).await;
    let address = upstream.url.clone();
    let address = address
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    upstream.stop();
    drop(upstream);
    let kernel = Here::start(home).await;
    let token = begin(&kernel).await;
    assert_eq!(kernel.tools(&token).await, ["openspine-status-read"]);
    let listener = TcpListener::bind(address).await.unwrap();
    let upstream = Upstream::serve(listener, &[tool("say", "Say it.")]);
    until_shown(&kernel, &token, "other.say", true).await;
    assert_eq!(say(&kernel, &token, "hello").await.status, 200);

    // It goes away, and comes back with something else in the same place.
    upstream.stop();
    drop(upstream);
    let listener = loop {
        // Its connections may take a moment to be gone.
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let upstream = Upstream::serve(listener, &[tool("say", "Another.")]);
    // The session of before leads nowhere, which a call finds out.
    say(&kernel, &token, "hello").await;
    until_shown(&kernel, &token, "other.say", false).await;
    assert_eq!(upstream.calls(), []);
}

#[tokio::test]
async fn every_fault_of_configuration_and_manifest_is_told_at_once() {
    let home = Home::desk("chat", &[], "");
    home.configure(
        "upstreams:
  - { id: Files, manifest: a.yaml, url: \"http://127.0.0.1:1/mcp\" }
  - { id: web, manifest: a.yaml, url: \"ftp://127.0.0.1\" }
  - { id: web, manifest: a.yaml }
  - { id: both, manifest: a.yaml, url: \"http://127.0.0.1:1/mcp\", command: [cat] }
  - { id: none, manifest: a.yaml, command: [] }
  - { id: odd, manifest: a.yaml, url: \"http://127.0.0.1:1/mcp\", environment: { A: b } }
",
    );
    let faults = actum_kernel::config::Config::load(&home.config_file()).unwrap_err();
    let faults = faults.to_string();
    for wanted in [
        "field `upstreams[0]`: there is no `lock`",
        "field `upstreams[0].id`: `Files` is no name of an upstream",
        "field `upstreams[1].url`: `ftp://127.0.0.1` is no http or https URL",
        "field `upstreams[2].id`: a second upstream `web`",
        "field `upstreams[2]`: does not say how it is reached; give `command`",
        "field `upstreams[3]`: does not say how it is reached",
        "field `upstreams[4]`: does not say how it is reached",
        "field `upstreams[5]`: does not say how it is reached",
    ] {
        assert!(faults.contains(wanted), "{wanted:?} is not told:\n{faults}");
    }
    assert_eq!(faults.lines().count(), 8, "{faults}");

    let upstream = Upstream::start(&[]).await;
    let manifest = "tools:
  - { tool: say }
  - { tool: say }
  - { tool: Odd Name }
  - { tool: sign-off, id: elsewhere.sign }
  - { tool: hold, bound_arguments: [{ at: text, within: /srv }] }
  - { tool: more, aproval_required: false }
";
    let home = super::home(&upstream, manifest);
    actum(&home, &["lock"]).await;
    let faults = actum_kernel::Kernel::builder(home.config()).build().await;
    let faults = faults.unwrap_err().to_string();
    for wanted in [
        "did you mean `approval_required`?",
        "`text` is no JSON Pointer",
    ] {
        assert!(faults.contains(wanted), "{wanted:?} is not told:\n{faults}");
    }
    let readable = manifest
        .replace("at: text", "at: /text")
        .replace("aproval", "approval");
    home.write("upstreams/other.yaml", &readable);
    let faults = actum_kernel::Kernel::builder(home.config()).build().await;
    let faults = faults.unwrap_err().to_string();
    for wanted in [
        "other.yaml:3:13: field `tools[1].tool`: `say` a second time",
        "field `tools[2].id`: `other.odd name` is no action id",
        "field `tools[3].id`: `elsewhere.sign` does not begin with `other.`",
    ] {
        assert!(faults.contains(wanted), "{wanted:?} is not told:\n{faults}");
    }
}

#[tokio::test]
async fn terms_that_do_not_fit_a_tool_leave_it_out_and_say_so() {
    let upstream = Upstream::start(&[tool("say", "Say it."), tool("sign-off", "Sign.")]).await;
    let manifest = "tools:
  - { tool: say, bound_arguments: [{ at: /path, within: /srv }] }
  - { tool: sign-off, id: other.sign, redact: { $.nothing: hidden } }
  - { tool: gone }
";
    let home = home(&upstream, manifest);
    accept(&home).await;
    let (code, told) = actum(&home, &["upstreams", "--config", "actum.yaml"]).await;
    assert_eq!(code, 0, "{told}");
    for wanted in [
        "other: 1 named and not offered, 2 unusable",
        "gone: `other.gone`, absent: it is not offered",
        "no call of it could keep what `/path` is held to",
        "its redaction of `$.nothing` finds nothing",
    ] {
        assert!(told.contains(wanted), "{wanted:?} is not told:\n{told}");
    }
}
