//! An upstream that the kernel starts: here another kernel, by its bridge on standard input and output.

use super::support::kernel::Program;
use super::*;

/// A kernel whose upstream is the sample's kernel, as it is for the owner there.
fn behind(inner: &Program, token: &str, command: &[&str]) -> Home {
    let authority = Authority {
        name: "work",
        allowed: &["inner.status"],
        ..Authority::default()
    };
    let home = Home::desk("chat", &[authority], "");
    let mark = &inner.url;
    home.configure(&format!(
        "lock: {LOCK}
upstreams:
  - id: inner
    manifest: upstreams/inner.yaml
    command: {command:?}
    environment: {{ NO_PROXY: 127.0.0.1, MARK: \"{mark}\" }}
    environment_files: {{ ACTUM_TOKEN: keys/inner.token }}
"
    ));
    home.write("keys/inner.token", &format!("{token}\n"));
    home.write(
        "upstreams/inner.yaml",
        "tools:
  - { tool: openspine-status-read, id: inner.status, approval_required: false, read_only: true }
",
    );
    home
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_actum");

async fn owner(kernel: &Client) -> String {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"},
    });
    kernel.begin("signed_in_chat", &event).await.token
}

#[tokio::test]
async fn a_program_is_an_upstream_as_a_url_is_and_ends_with_the_kernel_and_all_that_it_started() {
    let inner = Program::start(Home::sample());
    // It goes on when nobody asks it anything any more, as a runner with a program of its own may.
    let script = r#""$0" mcp --url "$1"; sleep 600"#;
    let command = ["sh", "-c", script, PROGRAM, &inner.url];
    let home = behind(&inner, &owner(&inner).await, &command);
    accept(&home).await;
    assert_eq!(programs(&inner.url), []);
    let kernel = Program::start(home);
    let token = begin(&kernel).await;
    assert_eq!(kernel.tools(&token).await, ["inner-status"]);
    let status = kernel.ask(&token, "inner.status", json!({})).await;
    assert_eq!(status.json()["result"]["store"], "sqlite", "{status:?}");
    let running = programs(&inner.url);
    assert_eq!(running.len(), 2, "{running:?}");
    for (_, environment) in &running {
        // It knows what it was given, and nothing else of the kernel's, but for what its shell keeps.
        let mut names: Vec<_> = environment.iter().map(|(name, _)| name.as_str()).collect();
        names.retain(|name| {
            ![
                "PATH", "HOME", "LANG", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_",
            ]
            .contains(name)
        });
        names.sort_unstable();
        assert_eq!(names, ["ACTUM_TOKEN", "MARK", "NO_PROXY"]);
    }
    kernel.terminate();
    assert!(kernel.ended().0.success());
    assert_eq!(programs(&inner.url), []);
}

#[tokio::test]
async fn a_program_that_dies_is_started_again_for_the_next_call() {
    let inner = Program::start(Home::sample());
    let command = [PROGRAM, "mcp", "--url", &inner.url];
    let home = behind(&inner, &owner(&inner).await, &command);
    accept(&home).await;
    let kernel = Program::start(home);
    let token = begin(&kernel).await;
    let first = programs(&inner.url)[0].0;
    let killed = Command::new("kill")
        .args(["-KILL", &first.to_string()])
        .status();
    assert!(killed.await.unwrap().success());
    // One call may find the line dead before the kernel has heard of it.
    let waiting = async {
        while kernel.ask(&token, "inner.status", json!({})).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    assert_ne!(programs(&inner.url)[0].0, first);
}

#[tokio::test]
async fn a_program_that_cannot_be_an_upstream_is_told_with_its_reason() {
    let inner = Program::start(Home::sample());
    let command = [PROGRAM, "mcp", "--url", &inner.url];
    let home = behind(&inner, "no token", &command);
    for (what, change, wanted) in [
        ("", "", "does not speak MCP"),
        (
            "command: [",
            "command: [\"/nothing/here\", ",
            "`/nothing/here` cannot be started",
        ),
        (
            "keys/inner.token",
            "keys/gone.token",
            "gone.token: cannot be read",
        ),
    ] {
        let text = std::fs::read_to_string(home.config_file()).unwrap();
        home.write("actum.yaml", &text.replacen(what, change, 1));
        let (code, told) = actum(&home, &["upstreams", "--config", "actum.yaml"]).await;
        assert_eq!(code, 1, "{told}");
        assert!(
            told.contains("inner: ") && told.contains(wanted),
            "{wanted:?}:\n{told}"
        );
    }
}

/// The programs that have this mark in their environment, each with all of that.
fn programs(mark: &str) -> Vec<(u32, Vec<(String, String)>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let id = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        // One that is gone, and one of somebody else's, has none.
        let (Some(id), Ok(all)) = (id, std::fs::read(path.join("environ"))) else {
            continue;
        };
        let all = String::from_utf8_lossy(&all).into_owned();
        let pairs = all.split('\0').filter_map(|pair| pair.split_once('='));
        let pairs: Vec<_> = pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if pairs
            .iter()
            .any(|(name, value)| name == "MARK" && value == mark)
        {
            found.push((id, pairs));
        }
    }
    found
}
