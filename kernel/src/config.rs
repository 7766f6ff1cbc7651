//! The operator's configuration: one YAML file, all faults at once, before anything starts.
//!
//! Paths are relative to the file. Nothing in it is secret: keys live in files of their own.

mod check;
mod upstream;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use actum::ActionId;
use actum::authority::document::{At, Decode, Faults, Located, Node, Report, record};
use actum::authority::terms::{
    ChannelTrust, DataClassification, InteractionMode, Lane, VerificationMethod,
};
use actum::authority::{IdentityBook, IdentityEntry, Listed};

pub use upstream::{Reached, UpstreamServer};

record! {
    /// The file's content.
    pub struct ConfigFile {
        /// The address to listen on.
        pub listen: Located<String>,
        /// The folder for the store and the keys; made where it is missing.
        pub data: String,
        /// Where the store is, if not in `data`.
        pub store: Option<StorePlace> = None,
        /// The folder of the manifests.
        pub manifests: String,
        /// The list of accepted gaps, for `actum check`.
        pub accepted_gaps: Option<String> = None,
        /// The surface lock: the kernel starts only on the actions that were accepted.
        pub lock: Option<String> = None,
        /// Ids that the manifests speak of and that nothing here dispatches.
        pub known_actions: Vec<Listed> = Vec::new(),
        /// A Maildir or an mbox file.
        pub mailbox: Option<String> = None,
        /// The Maildir that accepted mail drafts are written to.
        pub drafts: Option<Located<String>> = None,
        /// The folder of skills.
        pub skills: Option<String> = None,
        /// What hands in events.
        pub connectors: Vec<Connector>,
        /// The owner's own device.
        pub owner: Owner,
        /// The people the owner knows.
        pub identities: Vec<IdentityEntry> = Vec::new(),
        /// The Telegram bot that `telegram.reply:owner_channel` speaks through.
        pub telegram: Option<Telegram> = None,
        /// Who decides on calls that wait for approval.
        pub approvals: Approvals = Approvals::default(),
        /// The ledger's name, and when its checkpoints are signed.
        pub ledger: Ledger = Ledger::default(),
        /// How calls that were left undone are looked after.
        pub recovery: Recovery = Recovery::default(),
        /// The door for MCP clients.
        pub mcp: Mcp = Mcp::default(),
        /// Third parties' MCP servers, whose tools are put behind the gate.
        pub upstreams: Vec<upstream::Written> = Vec::new(),
        /// Where traces go to; without it nowhere.
        pub traces: Option<Traces> = None,
        /// Bounds of the server.
        pub limits: Limits = Limits::default(),
    }
}

record! {
    /// A store outside of `data`.
    pub struct StorePlace {
        /// A PostgreSQL, which several kernels can share.
        pub postgres: PostgresPlace,
    }
}

record! {
    /// A PostgreSQL.
    pub struct PostgresPlace {
        /// The file that holds its URL, which has a password in it, and nothing else.
        pub url_file: String,
    }
}

record! {
    /// Who decides on calls that wait for approval, and how long there is for it.
    pub struct Approvals {
        /// How long a call waits, in seconds; no longer than its task lives.
        pub expires_seconds: Located<u64> = at_default(900),
        /// How many have to approve, each a person of their own.
        pub quorum: Located<u32> = at_default(1),
        /// Whether the owner may decide on calls of tasks that are the owner's own. Recorded with each
        /// such decision.
        pub solo_owner: bool = false,
        /// People who may decide besides the owner.
        pub approvers: Vec<Approver> = Vec::new(),
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            expires_seconds: at_default(900),
            quorum: at_default(1),
            solo_owner: false,
            approvers: Vec::new(),
        }
    }
}

record! {
    /// A person who may decide, with a key of their own.
    pub struct Approver {
        /// Their name, and that of their key file.
        pub id: Located<String>,
        /// The principal that they are: they decide on no call of a task of their own.
        pub principal_id: String,
    }
}

record! {
    /// Something that hands in events, with a key of its own. What it says of verification, trust
    /// and lane is said here, by the operator, and never in the body of an event.
    pub struct Connector {
        /// Its name, and that of its key file.
        pub id: Located<String>,
        /// Where its events come from, such as `telegram`.
        pub source: String,
        /// The types of events that it may hand in.
        pub event_types: Vec<String>,
        /// What the receiving account is for.
        pub account_role: Option<String> = None,
        /// The kind of business.
        pub lane: Lane,
        /// Whether it verified the sources of its events.
        pub verified_source: Located<bool>,
        /// How it did.
        pub verification_method: VerificationMethod = VerificationMethod::None,
        /// What is known of the channel.
        pub channel_trust: ChannelTrust = ChannelTrust::Unknown,
        /// How its events come about.
        pub interaction_mode: InteractionMode = InteractionMode::InboundMessage,
        /// How private the data of its events is.
        pub data_classification: DataClassification = DataClassification::Private,
    }
}

record! {
    /// The owner's own device.
    pub struct Owner {
        /// The connector that the owner's selections come by.
        pub connector: Located<String>,
        /// The device id that the identity book knows the owner by.
        pub device_id: String,
    }
}

record! {
    /// A Telegram bot.
    pub struct Telegram {
        /// The Bot API.
        pub base_url: Located<String>,
        /// The file that holds the bot's token, and nothing else.
        pub token_file: String,
    }
}

record! {
    /// The ledger's name, and when its checkpoints are signed.
    pub struct Ledger {
        /// The name that its checkpoints begin with, such as `example.org/actum`; without it, one is made with the
        /// key. It stays what it was when the key was made.
        pub origin: Option<Located<String>> = None,
        /// A checkpoint is signed at the latest when so many records came since the last.
        pub checkpoint_records: Located<u64> = at_default(1024),
        /// A checkpoint is signed at the latest when a record is so many seconds old.
        pub checkpoint_seconds: Located<u64> = at_default(60),
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            origin: None,
            checkpoint_records: at_default(1024),
            checkpoint_seconds: at_default(60),
        }
    }
}

record! {
    /// How calls that were left undone are looked after: approved ones that nobody began, and those that were cut off.
    pub struct Recovery {
        /// How long it is from one look to the next, in seconds.
        pub look_seconds: Located<u64> = at_default(10),
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            look_seconds: at_default(10),
        }
    }
}

record! {
    /// The door for MCP clients.
    pub struct Mcp {
        /// How long a client may show the tools that it was told, in seconds: for so long at most one that was taken back is
        /// still shown.
        pub list_seconds: Located<u64> = at_default(60),
        /// Names that the kernel is reached by, besides `localhost` and addresses in numbers.
        pub hosts: Vec<Located<String>> = Vec::new(),
        /// Origins of pages that may call, besides those of this machine.
        pub origins: Vec<Located<String>> = Vec::new(),
        /// Where clients get tokens, if not from whoever starts them.
        pub oauth: Option<OAuth> = None,
    }
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            list_seconds: at_default(60),
            hosts: Vec::new(),
            origins: Vec::new(),
            oauth: None,
        }
    }
}

record! {
    /// Where clients get tokens: RFC 9728.
    pub struct OAuth {
        /// The URL of `/mcp` as clients know it.
        pub resource: Located<String>,
        /// The issuers of the tokens.
        pub issuers: Vec<Located<String>>,
    }
}

record! {
    /// Where traces go to.
    pub struct Traces {
        /// Where the collector takes traces by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`.
        pub endpoint: Located<String>,
        /// Of so many traces one is kept.
        pub one_in: Located<u64> = at_default(1),
    }
}

record! {
    /// Bounds of the server. Every one is at least 1.
    pub struct Limits {
        /// The largest request body, in bytes.
        pub body_bytes: Located<usize> = at_default(256 * 1024),
        /// The longest that a request may take, handler included, in seconds.
        pub request_seconds: Located<u64> = at_default(30),
        /// The longest that a handler may take, in seconds.
        pub handler_seconds: Located<u64> = at_default(20),
        /// The most requests under way at once; further ones are turned away.
        pub concurrent_requests: Located<usize> = at_default(256),
        /// The most open connections; further ones wait.
        pub connections: Located<usize> = at_default(1024),
        /// The largest result of a handler, in bytes of JSON.
        pub result_bytes: Located<usize> = at_default(1024 * 1024),
        /// How long a selection token lives, in seconds.
        pub selection_seconds: Located<u64> = at_default(300),
        /// How long a stopping kernel waits for calls under way, in seconds.
        pub stop_seconds: Located<u64> = at_default(10),
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: at_default(256 * 1024),
            request_seconds: at_default(30),
            handler_seconds: at_default(20),
            concurrent_requests: at_default(256),
            connections: at_default(1024),
            result_bytes: at_default(1024 * 1024),
            selection_seconds: at_default(300),
            stop_seconds: at_default(10),
        }
    }
}

fn at_default<T>(value: T) -> Located<T> {
    Located {
        value,
        position: None,
    }
}

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The folder for the store and the keys.
    pub data: PathBuf,
    /// The file with the URL of the PostgreSQL that is the store; without it, SQLite in `data` is.
    pub postgres_url_file: Option<PathBuf>,
    /// The folder of the manifests.
    pub manifests: PathBuf,
    /// The list of accepted gaps.
    pub accepted_gaps: Option<PathBuf>,
    /// The surface lock.
    pub lock: Option<PathBuf>,
    /// Ids that exist besides those of the linked actions.
    pub known_actions: Vec<ActionId>,
    /// A Maildir or an mbox file.
    pub mailbox: Option<PathBuf>,
    /// The Maildir that accepted mail drafts are written to.
    pub drafts: Option<PathBuf>,
    /// The folder of skills.
    pub skills: Option<PathBuf>,
    /// What hands in events.
    pub connectors: Vec<Connector>,
    /// The owner's own device.
    pub owner: Owner,
    /// The people the owner knows.
    pub identities: IdentityBook,
    /// The Telegram bot: its base URL and the file with its token.
    pub telegram: Option<(reqwest::Url, PathBuf)>,
    /// Who decides on calls that wait for approval.
    pub approvals: Approvals,
    /// The ledger's name, and when its checkpoints are signed.
    pub ledger: Ledger,
    /// How calls that were left undone are looked after.
    pub recovery: Recovery,
    /// The door for MCP clients.
    pub mcp: Mcp,
    /// Third parties' MCP servers.
    pub upstreams: Vec<UpstreamServer>,
    /// Where traces go to.
    pub traces: Option<Traces>,
    /// Bounds of the server.
    pub limits: Limits,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Every fault of the file at once, each with its line and column.
    pub fn load(path: &Path) -> Result<Self, Faults> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(
                &name,
                &text,
                path.parent().unwrap_or_else(|| Path::new(".")),
            ),
            Err(error) => {
                let report = Report::of_file(&name);
                report.fault(
                    None,
                    "",
                    format!("cannot be read: {error}"),
                    "name a file with `--config`",
                );
                report.finish(None)
            }
        }
    }

    /// Checks a text whose paths are relative to `base`.
    ///
    /// # Errors
    /// Every fault of the text at once.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, Faults> {
        let report = Report::of_file(name);
        let file = Node::from_yaml(text, &report)
            .and_then(|node| ConfigFile::decode(&At::root(&node, &report)));
        let config = file.and_then(|file| Self::check(file, base, &report));
        report.finish(config)
    }

    fn check(file: ConfigFile, base: &Path, report: &Report) -> Option<Self> {
        let listen = file.listen.parse().map_err(|_| {
            report.fault(
                file.listen.position,
                "listen",
                format!("`{}` is no address", file.listen),
                "write an address and a port, such as 127.0.0.1:7373",
            );
        });
        check::connectors(&file.connectors, report);
        if !file
            .connectors
            .iter()
            .any(|connector| *connector.id == *file.owner.connector)
        {
            report.fault(
                file.owner.connector.position,
                "owner.connector",
                format!("there is no connector `{}`", file.owner.connector),
                "name one of `connectors`",
            );
        }
        if let (Some(drafts), Some(mailbox)) = (&file.drafts, &file.mailbox)
            && base.join(&drafts.value) == base.join(mailbox)
        {
            report.fault(
                drafts.position,
                "drafts",
                "is the mailbox, where a draft would be a mail that came in",
                "name a folder of its own, beside the mailbox",
            );
        }
        check::limits(&file.limits, report);
        check::approvals(&file.approvals, report);
        check::ledger(&file.ledger, report);
        check::recovery(&file.recovery, report);
        check::mcp(&file.mcp, report);
        if let Some(traces) = &file.traces {
            check::traces(traces, report);
        }
        let telegram = file.telegram.map(|telegram| {
            let url = check::http_url(&telegram.base_url);
            if url.is_none() {
                report.fault(
                    telegram.base_url.position,
                    "telegram.base_url",
                    format!("`{}` is no http or https URL", telegram.base_url),
                    "write a URL such as https://api.telegram.org",
                );
            }
            url.map(|url| (url, base.join(telegram.token_file)))
        });
        let has_lock = file.lock.is_some();
        Some(Self {
            listen: listen.ok()?,
            data: base.join(file.data),
            postgres_url_file: file.store.map(|store| base.join(store.postgres.url_file)),
            manifests: base.join(file.manifests),
            accepted_gaps: file.accepted_gaps.map(|path| base.join(path)),
            lock: file.lock.map(|path| base.join(path)),
            known_actions: check::known_actions(&file.known_actions, report),
            drafts: file.drafts.map(|path| base.join(path.value)),
            skills: file.skills.map(|path| base.join(path)),
            mailbox: file.mailbox.map(|path| base.join(path)),
            connectors: file.connectors,
            owner: file.owner,
            identities: IdentityBook::new(file.identities),
            telegram: telegram.flatten(),
            approvals: file.approvals,
            ledger: file.ledger,
            recovery: file.recovery,
            mcp: file.mcp,
            upstreams: upstream::checked(file.upstreams, has_lock, base, report),
            traces: file.traces,
            limits: file.limits,
        })
    }

    /// A bound in seconds.
    #[must_use]
    pub fn seconds(bound: &Located<u64>) -> Duration {
        Duration::from_secs(bound.value)
    }
}
