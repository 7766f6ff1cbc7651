//! The command line.

mod approvals;
mod artifacts;
mod cases;
mod catalog;
mod check;
mod client;
mod diff;
mod explain;
mod ledger;
mod lock;
mod mcp;
mod origin;
mod previews;
mod project;
mod recover;
mod serve;
mod session;
mod upstreams;

use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use actum::provider::Provider;
use clap::{Parser, Subcommand};

use crate::KernelBuilder;

/// Where a kernel without `--config` lives.
const HOME: &str = "actum-data";

/// An action registry and the kernel around it: agents see and do exactly what their grant allows.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the kernel. Without a configuration it starts on a sample in ./actum-data.
    Serve {
        /// The configuration.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// List the actions that are linked in.
    Catalog {
        /// As JSON, with schemas and everything else that the catalog holds.
        #[arg(long)]
        json: bool,
        /// The tools in the shape that this provider's API takes, as JSON: openai, openai-responses,
        /// anthropic, gemini or mcp. Fails when there is a tool that it cannot be told.
        #[arg(long, value_name = "NAME", conflicts_with = "json")]
        provider: Option<Provider>,
    },
    /// Check that nothing is missing: every dispatchable action has a descriptor, and every granted
    /// one is dispatched, unless a person accepted that it is not. If the configuration names a surface
    /// lock, that it holds too.
    Check {
        /// The configuration that names the manifests.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The folder of the manifests, instead of the configuration's.
        #[arg(long, value_name = "FOLDER")]
        manifests: Option<PathBuf>,
        /// The list of accepted gaps, instead of the configuration's.
        #[arg(long, value_name = "FILE")]
        accepted: Option<PathBuf>,
    },
    /// Keep the tool surface under review: what models are told, and what is asked of a call.
    ///
    /// Writes the lock file if there is none. With one, it compares the linked actions with those that were
    /// accepted, prints each change and whether it narrows, keeps or widens what a model can do, and
    /// exits with 1 if there is any. What cannot be proved to take nothing new widens. With a configuration, the same for
    /// the tools of its upstreams.
    Lock(lock::Ask),
    /// Connect to the configuration's upstreams, and tell of each of their tools how it stands.
    ///
    /// A tool is an action once the upstream's manifest names it and it was accepted as it is, by `actum lock --config`.
    Upstreams {
        /// The configuration.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Show what an event would lead to: the route, the grant, and the tools of its view.
    Project {
        /// The configuration.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The event: JSON as a connector posts it, with the `connector`'s id.
        #[arg(long, value_name = "FILE")]
        event: PathBuf,
        /// As JSON, with the tools as a worker gets them.
        #[arg(long)]
        json: bool,
    },
    /// Say why each action is exposed or absent, for an event or for a task that was issued.
    ///
    /// For the owner and the auditor: each action with its reason and the line of the manifests that decided. With an
    /// action, the whole story: its class, the claims that it requires and who brought them, and every line about
    /// it. No worker is told any of this.
    Explain(explain::Ask),
    /// Compare what two events or tasks can do.
    ///
    /// Each difference says whether it widens or narrows what a worker can do; what is not proved to allow nothing
    /// new widens. Exits with 0, and with `--check` with 1 where the two are different.
    Diff(diff::Ask),
    /// Tell what a task could see and did, from what was stored with it.
    ///
    /// Works beside a running kernel and without one, on tasks that are over too. Holds the stored records
    /// against each other, and fails in words where they do not agree.
    Session(session::Ask),
    /// Run recorded authority cases against this version.
    ///
    /// For operators who keep their own cases of who may do what. A file has one JSON object a line,
    /// with its inputs and an `expect`; whether it is about routes, composition or the gate is told by
    /// its fields. Each mismatch is printed with both sides. Exits with 1 on any mismatch, and with 2
    /// when a file cannot be read.
    Test {
        /// What exists: a JSON list of ids, or an object with `ids`, `egress`, `kernel_origin` and
        /// `token_requiring`. Without it, the actions that are linked in.
        #[arg(long, value_name = "FILE")]
        catalog: Option<PathBuf>,
        /// Files of cases.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Serve a task's tools over MCP on standard input and output, from a running kernel.
    ///
    /// For MCP clients that start their servers as programs. The task's token comes by the environment, in ACTUM_TOKEN.
    /// Clients that speak Streamable HTTP need no such program: the kernel's /mcp takes the same token as a bearer
    /// token.
    Mcp {
        /// The configuration of the running kernel, which says where it listens.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Where the kernel is, instead, such as http://127.0.0.1:7373.
        #[arg(long, value_name = "URL", conflicts_with = "config")]
        url: Option<String>,
    },
    /// Show the owner's messages, and the calls that wait for approval, as they come in.
    Attach {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Show what there is and stop.
        #[arg(long)]
        once: bool,
    },
    /// See the calls that wait for approval, and decide on them.
    Approvals {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE", global = true)]
        config: Option<PathBuf>,
        /// Decide as this approver of the configuration, instead of the owner.
        #[arg(long = "as", value_name = "NAME", global = true)]
        approver: Option<String>,
        #[command(subcommand)]
        ask: Option<approvals::Ask>,
    },
    /// See the drafts that workers showed, exactly, each with its digest.
    Previews {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The preview; without it, they are listed, the newest first.
        preview: Option<String>,
    },
    /// See the calls of unknown outcome, and settle them.
    ///
    /// A call is of unknown outcome when its handler was cut off, by a crash or by a bound, and nobody knows whether it
    /// did what it was asked. A person looks, and says so; nothing runs by it.
    Recover(recover::Ask),
    /// See the manifests that were proposed and approved, and what of them the operator shall take over.
    Artifacts {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE", global = true)]
        config: Option<PathBuf>,
        #[command(subcommand)]
        ask: Option<artifacts::Ask>,
    },
    /// Select a mail thread: a task for it begins, with a token for that thread alone.
    Select {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The thread; without it, the threads are listed.
        thread: Option<String>,
    },
    /// Take a task back, with all that it commissioned: their tokens stop working at once.
    Revoke {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The task's id.
        task: String,
    },
    /// Have the running kernel read its manifests anew, as SIGHUP does. Faulty ones change nothing, and are told.
    Reload {
        /// The configuration of the running kernel.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Print the OpenAPI document of /v1: the shapes of requests and answers, and no action.
    Openapi,
    /// Verify the ledger, prove a record, keep checkpoints as a witness, export it.
    #[command(subcommand)]
    Ledger(ledger::Ask),
}

/// Runs the command line, with the actions that are linked into the calling binary.
#[must_use]
pub fn main() -> ExitCode {
    main_with(|builder| builder)
}

/// Runs the command line; `prepare` gives the kernel the resources that the calling binary's handlers
/// take by reference.
#[must_use]
pub fn main_with(prepare: impl FnOnce(KernelBuilder) -> KernelBuilder) -> ExitCode {
    main_try_with(async |builder| Ok::<_, Infallible>(prepare(builder)))
}

/// [`main_with`] for resources that are opened first, such as a database: what cannot be opened stops
/// the start, with its own words, before the kernel touches its store or listens.
#[must_use]
pub fn main_try_with<E: Display>(
    prepare: impl AsyncFnOnce(KernelBuilder) -> Result<KernelBuilder, E>,
) -> ExitCode {
    crate::scrub_panics();
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("the runtime cannot start: {error}")),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve { config } => serve::run(config, prepare).await,
            Command::Catalog {
                provider: Some(provider),
                ..
            } => catalog::shapes(provider),
            Command::Catalog { json, .. } => catalog::run(json),
            Command::Check {
                config,
                manifests,
                accepted,
            } => check::run(config, manifests, accepted),
            Command::Lock(ask) => lock::run(ask).await,
            Command::Upstreams { config } => upstreams::run(config).await,
            Command::Project {
                config,
                event,
                json,
            } => project::run(config, &event, json),
            Command::Explain(ask) => explain::run(&ask).await,
            Command::Diff(ask) => diff::run(&ask).await,
            Command::Session(ask) => session::run(&ask).await,
            Command::Test { catalog, files } => return cases::run(catalog.as_deref(), &files),
            Command::Mcp { config, url } => mcp::run(config, url).await,
            Command::Attach { config, once } => client::attach(config, once).await,
            Command::Approvals {
                config,
                approver,
                ask,
            } => approvals::run(config, approver, ask).await,
            Command::Previews { config, preview } => previews::run(config, preview).await,
            Command::Recover(ask) => recover::run(ask).await,
            Command::Artifacts { config, ask } => artifacts::run(config, ask).await,
            Command::Select { config, thread } => client::select(config, thread).await,
            Command::Revoke { config, task } => client::revoke(config, &task).await,
            Command::Reload { config } => client::reload(config).await,
            Command::Openapi => crate::openapi::text()
                .map_err(|error| error.to_string())
                .and_then(|text| say(&text)),
            Command::Ledger(ask) => ledger::run(ask).await,
        }
        .map_or_else(|message| fail(&message), |()| ExitCode::SUCCESS)
    });
    // A handler that does not end must not keep the process.
    runtime.shutdown_background();
    done
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}

#[cfg(test)]
pub(crate) use check::run as check;

/// The configuration's path: the one named, or the sample's.
fn config_path(named: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(|| PathBuf::from(HOME).join(crate::sample::CONFIG))
}

/// The configuration, named or the sample's.
fn load_config(named: Option<PathBuf>) -> Result<crate::config::Config, String> {
    let asked = named.is_some();
    let path = config_path(named);
    if !asked && !path.exists() {
        return Err(format!(
            "{}: there is no configuration; run `actum serve` once, which writes a sample, or name one with `--config`",
            path.display()
        ));
    }
    crate::config::Config::load(&path).map_err(|faults| faults.to_string())
}

/// Prints to standard output; a reader that has gone away is no failure.
fn say(text: &str) -> Result<(), String> {
    use std::io::{ErrorKind, Write as _};
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}
