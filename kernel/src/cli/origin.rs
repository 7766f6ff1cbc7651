//! Where a grant comes from that a command looks at: an event that is composed now, or a task that was issued.

use std::path::Path;

use actum::authority::ManifestSet;
use actum::grant::SealKey;
use actum::{ActionCatalog, Digest, Registry, SealedGrant, VerifiedGrant};
use ulid::Ulid;

use crate::clock::Clock;
use crate::config::Config;
use crate::ids::Ids;
use crate::ingress::{Composer, PostedEvent};
use crate::store::{Archive, ArchivedTask};
use crate::upstream::Upstreams;

/// How many tasks are named to somebody who named one that does not exist.
const NEWEST: i64 = 3;

/// A grant, with all that it was made from or is looked at with.
pub(super) struct Origin {
    /// The route that decided; it is not stored with a task but among its sources.
    pub(super) route: Option<String>,
    pub(super) grant: VerifiedGrant,
    /// The catalog that it is projected over: of a task, the one that it was issued under.
    pub(super) catalog: ActionCatalog,
    /// The manifests of now; `None` where those of a task's configuration cannot be read.
    pub(super) manifests: Option<ManifestSet>,
    /// What a reader must know of the above.
    pub(super) notes: Vec<String>,
}

/// The catalog of what is linked, of what was accepted of upstreams, and of what the configuration knows besides.
pub(super) fn linked_catalog(config: &Config) -> Result<ActionCatalog, String> {
    let registry = Registry::linked().map_err(|faults| faults.to_string())?;
    let upstreams = Upstreams::read(&config.upstreams, config.lock.as_deref());
    let upstreams = upstreams.map_err(|faults| faults.join("\n"))?;
    let joined = registry.and_upstream(upstreams.actions());
    let registry = joined.map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        faults.join("\n")
    })?;
    Ok(registry
        .catalog()
        .and_known(config.known_actions.iter().cloned())
        .and_known(upstreams.unaccepted()))
}

impl Origin {
    /// Works out what an event leads to by the manifests in a folder. Nothing is stored.
    pub(super) fn of_event(
        config: &Config,
        manifests: &Path,
        event: &Path,
    ) -> Result<Self, String> {
        let told = |problem: String| format!("{}: {problem}", event.display());
        let bytes =
            std::fs::read(event).map_err(|error| told(format!("cannot be read: {error}")))?;
        let value = actum::json::parse(&bytes).map_err(|fault| told(fault.to_string()))?;
        let posted: PostedEvent =
            serde_json::from_value(value).map_err(|error| told(error.to_string()))?;
        let names: Vec<&str> = config
            .connectors
            .iter()
            .map(|connector| connector.id.as_str())
            .collect();
        let connector = config
            .connectors
            .iter()
            .find(|connector| posted.connector.as_deref() == Some(connector.id.as_str()))
            .ok_or_else(|| told(format!("`connector` names one of {}", names.join(", "))))?;

        let catalog = linked_catalog(config)?;
        let manifests = crate::load_manifests(manifests).map_err(|faults| faults.to_string())?;
        let composer = Composer {
            manifests: &manifests,
            identities: &config.identities,
            catalog: &catalog,
            catalog_digest: catalog.digest().map_err(|error| error.to_string())?,
            ids: &Ids::random(),
            selection_lifetime: Config::seconds(&config.limits.selection_seconds),
        };
        let composed = composer
            .compose(connector, &posted, Clock::system().now())
            .map_err(|turned| {
                told(format!(
                    "leads to no task: {} ({})",
                    turned.message, turned.reason
                ))
            })?;
        // A view is made of a verified grant alone, so this one is sealed, with a key that nobody keeps.
        let key = SealKey::new([0; 32]);
        let grant = SealedGrant::seal(composed.grant, &key)
            .map_err(|error| error.to_string())?
            .verify(&key)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            route: Some(composed.route),
            grant,
            catalog,
            manifests: Some(manifests),
            notes: Vec::new(),
        })
    }

    /// The grant of a task as it was issued, with the catalog of then and the manifests of now.
    pub(super) async fn of_task(
        config: &Config,
        archive: &mut Archive,
        id: Ulid,
    ) -> Result<(Self, ArchivedTask), String> {
        let task = archive.task(id).await.map_err(|error| error.to_string())?;
        let Some(task) = task else {
            return Err(unknown_task(config, archive, id).await?);
        };
        let keys = config.data.join("keys");
        let key = crate::auth::read_seal(&keys).map_err(|error| error.to_string())?;
        let grant = task.grant.clone().verify(&key).map_err(|broken| {
            format!(
                "task {id}: {broken}: it was changed after it was issued, or {} is not the key of then",
                keys.join("seal.key").display()
            )
        })?;
        let catalog = stored_catalog(archive, id, grant.catalog_digest()).await?;
        let mut notes = Vec::new();
        let manifests = match crate::load_manifests(&config.manifests) {
            Ok(manifests) => {
                notes.extend(other_revision(&grant, &manifests));
                Some(manifests)
            }
            Err(faults) => {
                notes.push(format!(
                    "the manifests of now cannot be read, so that no line of them is told:\n{faults}"
                ));
                None
            }
        };
        let origin = Self {
            route: None,
            grant,
            catalog,
            manifests,
            notes,
        };
        Ok((origin, task))
    }
}

/// Opens the store of a configuration.
pub(super) async fn archive(config: &Config) -> Result<Archive, String> {
    Archive::open(&config.data, config.postgres_url_file.as_deref())
        .await
        .map_err(|error| error.to_string())
}

/// A task's id, as it was printed.
pub(super) fn task_id(text: &str) -> Result<Ulid, String> {
    Ulid::from_string(text).map_err(|_| {
        format!(
            "`{}` is no task's id, which is 26 letters and digits",
            text.escape_debug()
        )
    })
}

async fn unknown_task(config: &Config, archive: &mut Archive, id: Ulid) -> Result<String, String> {
    let newest = archive.newest_tasks(NEWEST).await;
    let newest = newest.map_err(|error| error.to_string())?;
    let hint = match newest.as_slice() {
        [] => "it has none yet".to_owned(),
        ids => format!("the newest are {}", ids.join(", ")),
    };
    let store = match &config.postgres_url_file {
        None => config.data.join("actum.db"),
        Some(url_file) => url_file.clone(),
    };
    Ok(format!(
        "{}: there is no task {id}; {hint}",
        store.display()
    ))
}

async fn stored_catalog(
    archive: &mut Archive,
    task: Ulid,
    digest: Digest,
) -> Result<ActionCatalog, String> {
    let stored = archive.catalog(digest).await;
    let stored = stored
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("task {task}: its catalog {digest} is not in the store any more"))?;
    let found = Digest::of_bytes(stored.as_bytes());
    if found != digest {
        return Err(format!(
            "task {task}: its stored catalog was changed: it is named {digest}, and its digest is {found}"
        ));
    }
    ActionCatalog::from_canonical_json(stored.as_bytes())
        .map_err(|error| format!("task {task}: its stored catalog {digest}: {error}"))
}

fn other_revision(grant: &VerifiedGrant, manifests: &ManifestSet) -> Option<String> {
    let (then, now) = (grant.root().policy_revision, manifests.revision());
    (then != now).then(|| {
        format!("the manifests have another revision by now, so that every line is one of now ({now}; the task's was {then})")
    })
}
