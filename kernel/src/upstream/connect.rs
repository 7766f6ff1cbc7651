//! Connecting to an upstream: its program is started, or its URL is called.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ServiceExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, Command};

use crate::config::Reached;
use crate::printable;

/// The longest that an upstream may take until it can be asked. A program may have to fetch itself first.
const CONNECT: Duration = Duration::from_secs(30);
/// What a program has of the kernel's environment, which holds more than is anybody's business.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// The longest line of a program's errors that is logged, and the most of one that is read.
const MAX_LINE: usize = 400;
const MAX_READ: u64 = 64 * 1024;

/// Connects and shakes hands.
///
/// # Errors
/// What went wrong, for the operator.
pub(super) async fn connect<C: ClientHandler>(
    id: &str,
    reached: &Reached,
    client: C,
) -> Result<RunningService<RoleClient, C>, String> {
    let connecting = async {
        match reached {
            Reached::Program { .. } => client
                .serve(started(id, reached)?)
                .await
                .map_err(|error| format!("it was started and does not speak MCP: {error}")),
            Reached::Url { url, token_file } => {
                let config = to(url.as_str(), token_file.as_deref())?;
                let http = crate::http::client()
                    // What an answer leads to is not where the operator said that it is.
                    .redirect(reqwest::redirect::Policy::none())
                    .build()
                    .map_err(|error| error.to_string())?;
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let served = client.serve(transport).await;
                served.map_err(|error| format!("{url} does not speak MCP: {error}"))
            }
        }
    };
    let connected = tokio::time::timeout(CONNECT, connecting).await;
    connected.unwrap_or_else(|_| {
        Err(format!(
            "it did not speak within {} seconds",
            CONNECT.as_secs()
        ))
    })
}

fn started(id: &str, reached: &Reached) -> Result<TokioChildProcess, String> {
    let Reached::Program {
        program,
        arguments,
        folder,
        environment,
        environment_files,
    } = reached
    else {
        return Err("it is no program".to_owned());
    };
    // A path is one from the folder that it runs in, whatever the system makes of it.
    let program = match program.contains('/') {
        true => std::path::absolute(folder.join(program)),
        false => Ok(PathBuf::from(program)),
    };
    let program = program.map_err(|error| error.to_string())?;
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(folder).env_clear();
    for name in INHERITED {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command.envs(environment);
    for (name, file) in environment_files {
        command.env(name, secret(file)?);
    }
    let mut command = CommandWrap::from(command);
    // Runners such as npx start the server as a program of its own: all of them end together.
    #[cfg(unix)]
    command.wrap(ProcessGroup::leader());
    let spawned = TokioChildProcess::builder(command).stderr(Stdio::piped());
    let (transport, errors) = spawned.spawn().map_err(|error| {
        format!(
            "`{}` cannot be started in {}: {error}",
            program.display(),
            folder.display()
        )
    })?;
    if let Some(errors) = errors {
        tokio::spawn(log(id.to_owned(), errors));
    }
    Ok(transport)
}

fn to(url: &str, token_file: Option<&Path>) -> Result<StreamableHttpClientTransportConfig, String> {
    let config = StreamableHttpClientTransportConfig::with_uri(Arc::from(url))
        // It would be another server by then, perhaps with other tools: it is connected to and looked at anew.
        .reinit_on_expired_session(false);
    Ok(match token_file {
        Some(file) => config.auth_header(secret(file)?),
        None => config,
    })
}

/// What a file holds and nothing else.
fn secret(file: &Path) -> Result<String, String> {
    let told = |problem: &str| format!("{}: {problem}", file.display());
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| told(&format!("cannot be read: {error}")))?;
    match text.trim() {
        "" => Err(told("is empty; it holds the secret and nothing else")),
        secret => Ok(secret.to_owned()),
    }
}

/// Logs what a program says to its standard error, until it ends.
async fn log(id: String, errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut errors).take(MAX_READ);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let told = printable::line(&String::from_utf8_lossy(&line), MAX_LINE);
                tracing::info!(upstream = id, "{told}");
            }
        }
    }
}
