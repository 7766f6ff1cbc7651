//! Third parties' MCP servers, as the configuration names them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use actum::ActionId;
use actum::authority::document::{Located, Report, record};
use reqwest::Url;

use super::check::{http_url, is_word};

record! {
    /// A third party's MCP server, whose tools are put behind the gate. It has a `command` or a `url`.
    pub struct Written {
        /// Its name, which the ids of its actions begin with.
        pub id: Located<String>,
        /// The manifest that says which of its tools are actions, and on which terms.
        pub manifest: String,
        /// The program that the kernel starts, with its arguments. It speaks on standard input and output.
        pub command: Option<Vec<String>> = None,
        /// The folder that the program runs in; without it, the configuration's.
        pub folder: Option<String> = None,
        /// The program's environment, besides PATH, HOME, LANG and TMPDIR. It has no other.
        pub environment: BTreeMap<String, String> = BTreeMap::new(),
        /// The same for what is secret: each from a file that holds it and nothing else.
        pub environment_files: BTreeMap<String, String> = BTreeMap::new(),
        /// Where a server is that runs already, by Streamable HTTP.
        pub url: Option<Located<String>> = None,
        /// The file that holds the bearer token for it, and nothing else.
        pub token_file: Option<String> = None,
    }
}

/// A third party's MCP server.
#[derive(Debug, Clone)]
pub struct UpstreamServer {
    /// Its name.
    pub id: String,
    /// The manifest of its tools.
    pub manifest: PathBuf,
    /// How it is reached.
    pub reached: Reached,
}

/// How an upstream is reached.
#[derive(Debug, Clone)]
pub enum Reached {
    /// By starting it.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// The folder that it runs in.
        folder: PathBuf,
        /// Its environment, besides the little that every program needs.
        environment: BTreeMap<String, String>,
        /// Files, each with what stands in one of its variables.
        environment_files: BTreeMap<String, PathBuf>,
    },
    /// By Streamable HTTP.
    Url {
        /// Where.
        url: Url,
        /// The file with the bearer token.
        token_file: Option<PathBuf>,
    },
}

/// Checks what is written of upstreams, whose paths are relative to `base`. They need a surface lock.
pub(super) fn checked(
    written: Vec<Written>,
    has_lock: bool,
    base: &Path,
    report: &Report,
) -> Vec<UpstreamServer> {
    // The folder of a configuration that is named without one.
    let folder = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let mut seen = BTreeSet::new();
    let mut servers = Vec::new();
    for (index, written) in written.into_iter().enumerate() {
        let position = written.id.position;
        let fault = |field: &str, what: String, mend: &str| {
            report.fault(position, format!("upstreams[{index}]{field}"), what, mend);
        };
        let id = written.id.value;
        if !is_word(&id) || ActionId::parse(&format!("{id}.tool")).is_err() {
            let mend = "use 1 to 64 lower-case letters, digits and `_`, with a letter first; ids begin with it";
            fault(
                ".id",
                format!("`{}` is no name of an upstream", id.escape_debug()),
                mend,
            );
        }
        if !seen.insert(id.clone()) {
            fault(".id", format!("a second upstream `{id}`"), "rename one");
        }
        if !has_lock && index == 0 {
            let what = "there is no `lock`, which holds what was accepted of an upstream's tools";
            let mend = "name one with `lock:`, and accept them with `actum lock --config`";
            fault("", what.to_owned(), mend);
        }
        let is_of_program = written.folder.is_some()
            || !written.environment.is_empty()
            || !written.environment_files.is_empty();
        let reached = match (written.command, written.url) {
            (Some(command), None) if written.token_file.is_none() => {
                let mut words = command.into_iter();
                words
                    .next()
                    .filter(|program| !program.is_empty())
                    .map(|program| {
                        let files = written.environment_files.into_iter();
                        Reached::Program {
                            program,
                            arguments: words.collect(),
                            folder: written
                                .folder
                                .map_or_else(|| folder.to_owned(), |it| folder.join(it)),
                            environment: written.environment,
                            environment_files: files
                                .map(|(name, file)| (name, base.join(file)))
                                .collect(),
                        }
                    })
            }
            (None, Some(url)) if !is_of_program => {
                let found = http_url(&url);
                if found.is_none() {
                    let what = format!("`{}` is no http or https URL", url.escape_debug());
                    let mend =
                        "write where the server takes MCP, such as http://127.0.0.1:3001/mcp";
                    report.fault(url.position, format!("upstreams[{index}].url"), what, mend);
                    continue;
                }
                let token_file = written.token_file.map(|file| base.join(file));
                found.map(|url| Reached::Url { url, token_file })
            }
            _ => None,
        };
        match reached {
            Some(reached) => servers.push(UpstreamServer {
                id,
                manifest: base.join(written.manifest),
                reached,
            }),
            None => fault(
                "",
                "does not say how it is reached".to_owned(),
                "give `command`, with `folder`, `environment` and `environment_files` where it needs them, or `url`, with `token_file`",
            ),
        }
    }
    servers
}
