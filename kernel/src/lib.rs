//! The Actum kernel: what stands around a registry of annotated handlers.
//!
//! [`Kernel::builder`] takes a configuration and the host's resources, checks everything at once, and
//! gives a kernel; [`Kernel::serve`] runs it. The `actum` binary is this with the shipped actions.
//!
//! From the ground up: [`store`] keeps, [`ledger`] chains and signs, [`auth`] knows who asks, [`mediate`] is
//! the one path of a call, [`ingress`] the one path of an event; the doors and [`router`] are thin.

pub mod actions;
mod approval;
mod artifacts;
pub mod auth;
pub mod calls;
mod check;
pub mod cli;
mod clock;
pub mod config;
mod connector;
pub mod connectors;
mod dispatch;
mod folder;
pub mod handle;
pub mod http;
mod ids;
mod in_force;
pub mod ingress;
mod judgement;
pub mod ledger;
mod lineage;
mod manifests;
mod mcp;
pub mod mediate;
mod metrics;
mod observe;
mod openapi;
mod operator;
pub mod overlay;
mod owner;
mod panics;
pub mod plan;
pub mod preview;
mod printable;
mod recovery;
pub mod replay;
mod reply;
mod request;
mod router;
pub mod sample;
mod sealed;
mod server;
mod settle;
pub mod skills;
pub mod store;
mod surface;
mod telemetry;
mod upstream;
mod views;
mod worker;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, OnceLock, RwLock};
use std::time::Duration;

use actum::authority::{Artifact, IdentityBook};
use actum::grant::SealKey;
use actum::upstream::UpstreamFault;
use actum::{ActionCatalog, Digest, Registry, Resources};
use jiff::Timestamp;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::actions::artifact::Artifacts;
use crate::actions::email::MailSource;
use crate::actions::status::Running;
use crate::actions::telegram::TelegramBot;
use crate::actions::terminal::OwnerTerminal;
use crate::auth::{Keys, LiveTasks, Secret, SecretHash};
use crate::config::{Approvals, Config, Connector, Limits, Owner};
use crate::connectors::drafts::Drafts;
use crate::handle::KernelHandle;
use crate::ledger::notary::Notary;
use crate::ledger::{Entry, Kind};
use crate::mcp::{Announcements, Questions, Sessions};
use crate::metrics::Metrics;
use crate::sealed::Sealer;
use crate::skills::Skills;
use crate::store::{Archive, PostgresStore, SqliteStore, Store, StoreError};
use crate::upstream::Upstreams;
use crate::views::Views;

pub use clock::Clock;
pub use ids::Ids;
pub use in_force::{InForce, NotReloaded, Reloaded};
pub use manifests::load as load_manifests;
pub use panics::{scrub_panics, scrub_panics_into};
pub use router::router;
pub use telemetry::may_be_logged;

/// How long a stopping kernel gives the handlers that it cut off to be dropped, and their calls to be recorded.
const END_TIME: Duration = Duration::from_secs(5);

/// A kernel, checked and ready to serve.
#[derive(Debug)]
pub struct Kernel {
    registry: Registry,
    /// Everything that could be at hand; what a grant can name, and what is stored with it.
    catalog: Arc<ActionCatalog>,
    /// What is at hand now: what workers are shown and the gate decides by.
    at_hand: RwLock<Arc<ActionCatalog>>,
    upstreams: Upstreams,
    /// Keeps the upstreams.
    keeping: TaskTracker,
    catalog_json: String,
    catalog_digest: Digest,
    manifests: Arc<InForce>,
    identities: IdentityBook,
    connectors: Vec<(Connector, SecretHash)>,
    owner: Owner,
    owner_key: SecretHash,
    approvers: Vec<(String, String, SecretHash)>,
    metrics_key: SecretHash,
    mcp: Sessions,
    announcements: Announcements,
    questions: Questions,
    views: Views,
    mcp_settings: config::Mcp,
    metrics: Metrics,
    approvals: Approvals,
    sealer: Sealer,
    seal: SealKey,
    store: Arc<dyn Store>,
    tasks: LiveTasks,
    resources: Arc<Resources>,
    mail: MailSource,
    news: Arc<Notify>,
    /// Rings whenever a call of this kernel ends.
    ended: Notify,
    clock: Clock,
    ids: Ids,
    limits: Limits,
    checkpoint_seconds: Duration,
    look_seconds: Duration,
    places: Semaphore,
    /// Places for what is run because of a look.
    places_to_resume: Arc<Semaphore>,
    running: TaskTracker,
    stopping: CancellationToken,
    /// Handlers that still run are stopped.
    cutting: CancellationToken,
}

/// All that keeps a kernel from starting, at once.
#[derive(Debug)]
pub struct StartFaults(Vec<String>);

impl StartFaults {
    /// Every fault.
    #[must_use]
    pub fn all(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for StartFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.join("\n"))
    }
}

impl std::error::Error for StartFaults {}

/// A kernel in the making.
#[derive(Debug)]
pub struct KernelBuilder {
    config: Config,
    registry: Option<Registry>,
    resources: Resources,
    clock: Clock,
    ids: Ids,
}

impl KernelBuilder {
    /// Gives handlers that take `&T` this value.
    #[must_use]
    pub fn resource<T: Any + Send + Sync>(mut self, resource: T) -> Self {
        self.resources = self.resources.with(resource);
        self
    }

    /// Gives the kernel this registry, instead of that of every action that is linked in.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Takes new ids from another source than the system's.
    #[must_use]
    pub fn ids(mut self, ids: Ids) -> Self {
        self.ids = ids;
        self
    }

    /// Tells the kernel the time by another clock than the system's.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Checks everything, and opens the store only when all else is in order.
    ///
    /// # Errors
    /// [`StartFaults`] with everything that is wrong.
    pub async fn build(self) -> Result<Arc<Kernel>, StartFaults> {
        let Self {
            config,
            registry,
            resources,
            clock,
            ids,
        } = self;
        let mut faults = Vec::new();
        let files = gather(&mut faults, manifests::read_files(&config.manifests));
        let artifacts = archived_artifacts(&config).await;
        let manifests = files
            .as_ref()
            .map(|files| manifests::set_of(files, &artifacts, &config.manifests));
        let manifests = manifests.and_then(|set| gather(&mut faults, set));
        let registry = gather(&mut faults, registry.map_or_else(Registry::linked, Ok));
        let mail = config
            .mailbox
            .as_deref()
            .map_or(Ok(MailSource::none()), MailSource::at);
        let mail = gather(&mut faults, mail);
        let telegram = gather(&mut faults, telegram_bot(&config));
        let drafts = config.drafts.as_deref();
        let drafts = gather(&mut faults, drafts.map_or(Ok(Drafts::none()), Drafts::at));
        let skills = config.skills.as_deref();
        let skills = gather(
            &mut faults,
            skills.map_or_else(|| Ok(Skills::default()), Skills::read),
        );
        if let (Some(path), Some(registry)) = (&config.lock, &registry) {
            // The lock is about what is linked; the configuration's known ids are not of it.
            faults.extend(surface::drift(path, &registry.catalog()));
        }
        let upstreams = Upstreams::read(&config.upstreams, config.lock.as_deref());
        let upstreams = upstreams.map_err(|more| faults.extend(more)).ok();
        let registry = registry
            .zip(upstreams.as_ref())
            .and_then(|(registry, upstreams)| {
                let joined = registry.and_upstream(upstreams.actions());
                let told =
                    |more: Vec<UpstreamFault>| faults.extend(more.iter().map(ToString::to_string));
                joined.map_err(told).ok()
            });
        let catalog = registry
            .as_ref()
            .zip(upstreams.as_ref())
            .map(|(registry, upstreams)| {
                registry
                    .catalog()
                    .and_known(config.known_actions.iter().cloned())
                    .and_known(upstreams.unaccepted())
            });
        if let Some(catalog) = &catalog {
            faults.extend(catalog.faults().iter().map(ToString::to_string));
            if let Some(manifests) = &manifests {
                faults.extend(manifests::faults(manifests, catalog, &config.manifests));
            }
        }
        let (
            Some(files),
            Some(registry),
            Some(catalog),
            Some(upstreams),
            Some(mail),
            Some(telegram),
            Some(drafts),
            Some(skills),
            true,
        ) = (
            files.filter(|_| manifests.is_some()),
            registry,
            catalog,
            upstreams,
            mail,
            telegram,
            drafts,
            skills,
            faults.is_empty(),
        )
        else {
            return Err(StartFaults(faults));
        };

        let connector_ids = config
            .connectors
            .iter()
            .map(|connector| connector.id.as_str());
        let approvers = &config.approvals.approvers;
        let approver_ids = approvers.iter().map(|approver| approver.id.as_str());
        let keys = Keys::open(&config.data.join("keys"), connector_ids, approver_ids)
            .map_err(StartFaults::one)?;
        let store = open_store(&config).await.map_err(StartFaults::one)?;
        let news = Arc::new(Notify::new());
        let since = clock.now();
        let catalog = Arc::new(catalog);
        // Once more with the artifacts that the opened store has: nobody else changes those of SQLite from here on.
        let manifests = InForce::open(
            files,
            config.manifests.clone(),
            Arc::clone(&catalog),
            Arc::clone(&store),
            clock.clone(),
        );
        let manifests = Arc::new(manifests.await.map_err(StartFaults)?);
        let resources = resources
            .with(Artifacts(Arc::clone(&manifests)))
            .with(Running {
                store: Arc::clone(&store),
                since,
                clock: clock.clone(),
            })
            .with(OwnerTerminal {
                store: Arc::clone(&store),
                news: Arc::clone(&news),
            })
            .with(mail.clone())
            .with(telegram)
            .with(drafts)
            .with(skills)
            .with(KernelHandle::default());
        registry
            .check_resources(&resources)
            .map_err(StartFaults::one)?;

        let catalog_json = catalog.to_canonical_json().map_err(StartFaults::one)?;
        let catalog_digest = Digest::of_bytes(&catalog_json);
        for problem in catalog.inexpressible() {
            tracing::warn!(
                "{problem}\n  It is left out of this provider's shape, and of no other."
            );
        }
        let connector_keys = keys.connectors.iter().map(Secret::hash);
        let kernel = Arc::new(Kernel {
            tasks: LiveTasks::new(
                Arc::clone(&store),
                keys.seal.clone(),
                Arc::clone(&manifests),
            ),
            connectors: config.connectors.into_iter().zip(connector_keys).collect(),
            owner_key: keys.owner.hash(),
            approvers: config
                .approvals
                .approvers
                .iter()
                .zip(&keys.approvers)
                .map(|(approver, key)| {
                    let id = approver.id.to_string();
                    (id, approver.principal_id.clone(), key.hash())
                })
                .collect(),
            approvals: config.approvals,
            metrics_key: keys.metrics.hash(),
            mcp: Sessions::default(),
            announcements: Announcements::default(),
            questions: Questions::default(),
            views: Views::default(),
            mcp_settings: config.mcp,
            metrics: Metrics::new(since, catalog_digest),
            sealer: Sealer::new(&keys.payloads),
            seal: keys.seal,
            catalog_json: String::from_utf8(catalog_json).map_err(StartFaults::one)?,
            catalog_digest,
            at_hand: RwLock::new(Arc::new(catalog.without(&upstreams.accepted()))),
            upstreams,
            keeping: TaskTracker::new(),
            catalog,
            registry,
            manifests,
            identities: config.identities,
            owner: config.owner,
            store,
            resources: Arc::new(resources),
            mail,
            news,
            ended: Notify::new(),
            clock,
            ids,
            places: Semaphore::new(config.limits.concurrent_requests.value),
            limits: config.limits,
            checkpoint_seconds: Config::seconds(&config.ledger.checkpoint_seconds),
            look_seconds: Config::seconds(&config.recovery.look_seconds),
            places_to_resume: Arc::new(Semaphore::new(recovery::AT_ONCE)),
            running: TaskTracker::new(),
            stopping: CancellationToken::new(),
            cutting: CancellationToken::new(),
        });
        if let Some(handle) = kernel.resources.get::<KernelHandle>() {
            handle.give(&kernel);
        }
        kernel.record_start(since).await.map_err(StartFaults::one)?;
        kernel.keep_upstreams().await;
        Ok(kernel)
    }
}

impl StartFaults {
    fn one(fault: impl fmt::Display) -> Self {
        Self(vec![fault.to_string()])
    }
}

async fn open_store(config: &Config) -> Result<Arc<dyn Store>, StoreError> {
    let notary = || {
        Notary::open(
            &config.data.join("keys"),
            config.ledger.origin.as_ref().map(|origin| origin.as_str()),
            config.ledger.checkpoint_records.value,
        )
    };
    Ok(match &config.postgres_url_file {
        None => {
            let store = SqliteStore::open(&config.data).await?;
            // After the lock of the store: of two kernels at their first start, one makes the key.
            Arc::new(store.signed_by(notary()?).await?)
        }
        Some(url_file) => {
            let store = PostgresStore::open(url_file).await?;
            Arc::new(store.signed_by(notary()?).await?)
        }
    })
}

/// The artifacts that are active, so that their faults are told with all others before anything is opened. What
/// keeps them from being read keeps the store from being opened, and is told then.
async fn archived_artifacts(config: &Config) -> Vec<Artifact> {
    let read = async || {
        let url_file = config.postgres_url_file.as_deref();
        let mut archive = Archive::open(&config.data, url_file).await?;
        archive.active_artifacts().await
    };
    read()
        .await
        .map(|active| active.artifacts)
        .unwrap_or_default()
}

fn gather<T, E: fmt::Display>(faults: &mut Vec<String>, result: Result<T, E>) -> Option<T> {
    result.map_err(|error| faults.push(error.to_string())).ok()
}

fn telegram_bot(config: &Config) -> Result<TelegramBot, String> {
    let Some((base_url, token_file)) = &config.telegram else {
        return Ok(TelegramBot::none());
    };
    let token = read_token(token_file)?;
    TelegramBot::new(base_url.clone(), token).map_err(|error| format!("telegram: {error}"))
}

fn read_token(path: &Path) -> Result<String, String> {
    let told = |problem: &str| {
        format!(
            "{}: {problem}; it holds the bot's token and nothing else",
            path.display()
        )
    };
    let text =
        std::fs::read_to_string(path).map_err(|error| told(&format!("cannot be read: {error}")))?;
    let token = text.trim();
    let fits = !token.is_empty()
        && token.len() <= 256
        && token
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-'));
    if fits {
        Ok(token.to_owned())
    } else {
        Err(told("is no bot token"))
    }
}

impl Kernel {
    /// Begins a kernel.
    #[must_use]
    pub fn builder(config: Config) -> KernelBuilder {
        KernelBuilder {
            config,
            registry: None,
            resources: Resources::new(),
            clock: Clock::system(),
            ids: Ids::random(),
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The manifests that are in force, which can be loaded anew while the kernel runs.
    #[must_use]
    pub fn manifests(&self) -> &InForce {
        &self.manifests
    }

    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &ActionCatalog {
        &self.catalog
    }

    /// Says that what is read at an address is another by now. MCP clients that watch it, and whose grant lets them read
    /// it, are told within two seconds.
    pub fn announce(&self, uri: &str) {
        self.announcements.make(uri);
    }

    /// The connector that presents this key. Every key is compared.
    fn connector_of(&self, key: &str) -> Option<&Connector> {
        let secret = Secret::parse(key)?;
        self.connectors
            .iter()
            .fold(None, |found, (connector, hash)| {
                if hash.fits(&secret) {
                    Some(connector)
                } else {
                    found
                }
            })
    }

    /// The connector that the owner's own selections come by; the configuration's check saw that it
    /// is there.
    fn owner_connector(&self) -> Option<&Connector> {
        let owner = &self.owner.connector;
        self.connectors
            .iter()
            .map(|(connector, _)| connector)
            .find(|c| *c.id == **owner)
    }

    /// Ends what was cut off and is not resumed, and records the start.
    async fn record_start(&self, at: Timestamp) -> Result<(), StoreError> {
        let cut_off = self.give_up_calls().await?;
        let body = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "catalog": self.catalog_digest,
            "policy": self.manifests.now().revision(),
            "interrupted": cut_off.given_up + cut_off.to_resume.len(),
        });
        let kind = Kind::KernelStarted;
        self.store.record(Entry { at, kind, body }).await?;
        self.store.checkpoint(at).await.map(drop)
    }

    /// Serves until `stop`, then finishes what has begun and closes the store.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, stop: impl Future<Output = ()>) {
        let patience = Config::seconds(&self.limits.stop_seconds);
        let kernel = Arc::clone(&self);
        // When the patience is over, once the stop has come.
        let until = Arc::new(OnceLock::new());
        let stopped_until = Arc::clone(&until);
        let stop = async move {
            stop.await;
            tracing::info!("stopping: no new connections; calls under way are finished");
            stopped_until.get_or_init(|| Instant::now() + patience);
            kernel.stopping.cancel();
            // Whoever waits for messages is let go.
            kernel.news.notify_waiters();
        };
        let looking = tokio::spawn(Arc::clone(&self).look_at_intervals());
        let notary = tokio::spawn(Arc::clone(&self).sign_at_intervals());
        let router = router(Arc::clone(&self));
        server::serve(
            listener,
            router,
            self.limits.connections.value,
            stop,
            patience,
        )
        .await;
        // It ends by itself when the kernel stops, and begins nothing more then.
        let _ = looking.await;
        self.running.close();
        self.keeping.close();
        let until = *until.get_or_init(Instant::now);
        let all_ended = self.running.wait();
        tokio::pin!(all_ended);
        if tokio::time::timeout_at(until, &mut all_ended)
            .await
            .is_err()
        {
            tracing::warn!("some calls did not end in time and are cut off");
            self.cutting.cancel();
            if tokio::time::timeout(END_TIME, all_ended).await.is_err() {
                tracing::error!(
                    "the end of some calls could not be recorded; it is at the next start"
                );
            }
        }
        let entry = Entry {
            at: self.now(),
            kind: Kind::KernelStopped,
            body: json!({}),
        };
        // They end by themselves when the kernel stops; what is signed meanwhile is signed.
        let _ = notary.await;
        let _ = tokio::time::timeout(upstream::END, self.keeping.wait()).await;
        if let Err(error) = self.store.record(entry).await {
            tracing::error!(%error, "the stop could not be recorded");
        }
        if let Err(error) = self.store.checkpoint(self.now()).await {
            tracing::error!(%error, "the ledger's last checkpoint could not be signed");
        }
        self.store.close().await;
    }

    /// Signs the ledger from time to time, so that no record is long without a checkpoint.
    async fn sign_at_intervals(self: Arc<Self>) {
        let stopped = self.stopping.cancelled();
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                () = &mut stopped => return,
                () = tokio::time::sleep(self.checkpoint_seconds) => {}
            }
            if let Err(error) = self.store.checkpoint(self.now()).await {
                tracing::error!(%error, "the ledger could not be signed");
            }
        }
    }
}
