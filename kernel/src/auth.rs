//! Who is on the other end: task tokens, connector keys, the owner's key.
//!
//! Every secret is 32 random bytes. The kernel keeps SHA-256 of it, which is enough for random
//! secrets, and compares in constant time.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use actum::Digest;
use actum::authority::ManifestSet;
use actum::grant::{SealKey, VerifiedGrant};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;
use ulid::Ulid;

use crate::in_force::InForce;
use crate::store::{Store, StoreError};

/// What every task token begins with, so that a leaked one can be searched for.
const TOKEN_PREFIX: &str = "actum_task_";

/// How many tasks are kept verified in memory.
const CACHED_TASKS: usize = 4_096;

/// 32 random bytes that prove something.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A new one, from the operating system's random numbers.
    ///
    /// # Errors
    /// [`getrandom::Error`] when the system has none to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.0).into())
    }

    /// The bytes, as a key.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hex digits that its holder presents.
    #[must_use]
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads [`reveal`](Self::reveal)'s form.
    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        // The digest's reader knows the same 64 digits.
        actum::Digest::parse(&format!("sha256:{hex}")).map(|digest| Self(*digest.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What is kept of a [`Secret`].
#[derive(Debug, Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Takes a stored hash.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Whether this is the secret, in constant time.
    #[must_use]
    pub fn fits(&self, secret: &Secret) -> bool {
        self.0.ct_eq(&secret.hash().0).into()
    }
}

/// The kernel's keys, one file each.
#[derive(Debug)]
pub struct Keys {
    /// What the owner's command line presents.
    pub owner: Secret,
    /// What the operator's monitoring presents, for the numbers alone.
    pub metrics: Secret,
    /// What seals grants.
    pub seal: SealKey,
    /// What encrypts arguments that have secrets in them.
    pub payloads: Secret,
    /// What approvers besides the owner present, in the order asked for.
    pub approvers: Vec<Secret>,
    /// What connectors present, in the order asked for.
    pub connectors: Vec<Secret>,
}

impl Keys {
    /// Reads the keys in a folder, making those that are missing, readable for this user alone.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] with the file that cannot be read, written or understood.
    pub fn open<'a>(
        folder: &Path,
        connectors: impl Iterator<Item = &'a str>,
        approvers: impl Iterator<Item = &'a str>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            owner: key_file(folder, "owner")?,
            metrics: key_file(folder, "metrics")?,
            seal: SealKey::new(key_file(folder, "seal")?.0),
            payloads: key_file(folder, "payloads")?,
            approvers: approvers
                .map(|id| key_file(folder, &format!("approver-{id}")))
                .collect::<Result<_, _>>()?,
            connectors: connectors
                .map(|id| key_file(folder, &format!("connector-{id}")))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Reads one key that must be there.
///
/// # Errors
/// [`StoreError::Unusable`] with the file that cannot be read or understood.
pub fn read_key(folder: &Path, name: &str) -> Result<Secret, StoreError> {
    let path = folder.join(format!("{name}.key"));
    let unusable = |problem: String| StoreError::Unusable {
        path: path.display().to_string(),
        problem,
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        unusable(format!(
            "cannot be read: {error}; start the kernel once, which makes it"
        ))
    })?;
    Secret::parse(text.trim()).ok_or_else(|| {
        unusable(
            "is no key of 64 hex digits; restore it, or remove it to have a new one made"
                .to_owned(),
        )
    })
}

/// Reads the key that seals grants, which must be there.
///
/// # Errors
/// [`StoreError::Unusable`] with the file that cannot be read or understood.
pub fn read_seal(folder: &Path) -> Result<SealKey, StoreError> {
    read_key(folder, "seal").map(|secret| SealKey::new(secret.0))
}

fn key_file(folder: &Path, name: &str) -> Result<Secret, StoreError> {
    let path = folder.join(format!("{name}.key"));
    if path.exists() {
        return read_key(folder, name);
    }
    let unusable = |problem: String| StoreError::Unusable {
        path: path.display().to_string(),
        problem,
    };
    let secret = Secret::random()
        .map_err(|error| unusable(format!("no random numbers for a new key: {error}")))?;
    let text = format!("{}\n", secret.reveal());
    crate::folder::write_private(&path, &text).map_err(|error| {
        unusable(format!(
            "cannot be written: {error}; check the folder's permissions"
        ))
    })?;
    Ok(secret)
}

/// A task's token: which task, and the proof.
#[derive(Debug, Clone)]
pub struct TaskToken {
    /// The task.
    pub task_id: Ulid,
    /// The proof.
    pub secret: Secret,
}

impl TaskToken {
    /// The text that a worker presents.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{TOKEN_PREFIX}{}_{}", self.task_id, self.secret.reveal())
    }

    /// Reads [`reveal`](Self::reveal)'s form, exactly.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, hex) = text.strip_prefix(TOKEN_PREFIX)?.split_once('_')?;
        let task_id = Ulid::from_string(id)
            .ok()
            .filter(|ulid| ulid.to_string() == id)?;
        Some(Self {
            task_id,
            secret: Secret::parse(hex)?,
        })
    }
}

/// A task whose token was presented and whose grant's seal was checked.
#[derive(Debug)]
pub struct LiveTask {
    /// Its id.
    pub id: Ulid,
    /// Its grant, as far as its actor still holds what it held.
    pub grant: Arc<VerifiedGrant>,
    /// Its grant as it was issued: what its worker may have been shown.
    pub issued: Arc<VerifiedGrant>,
    /// The revision of the manifests that `grant` is as of.
    pub revision: Digest,
    /// What the event's sender wrote.
    pub message: Option<String>,
    /// Whether it is known to have commissioned no task. Once it does, it is [forgotten](LiveTasks::forget) here, so that
    /// nobody finds this again.
    pub(crate) is_childless: AtomicBool,
    token_hash: SecretHash,
}

impl LiveTask {
    /// A task as of these manifests; `None` where its actor or its scenario is no longer there, so that it is over.
    fn worked_out(
        id: Ulid,
        issued: Arc<VerifiedGrant>,
        manifests: &ManifestSet,
        message: Option<String>,
        token_hash: SecretHash,
    ) -> Option<Self> {
        let held = issued.mandate();
        let left = held.map(|held| manifests.left_of(held));
        let grant = match left {
            None => Arc::clone(&issued),
            Some(left) if left.as_ref() == held => Arc::clone(&issued),
            Some(left) => Arc::new(VerifiedGrant::clone(&issued).within(left.as_ref())?),
        };
        Some(Self {
            id,
            grant,
            issued,
            revision: manifests.revision(),
            message,
            is_childless: AtomicBool::new(false),
            token_hash,
        })
    }
}

/// Tasks that were loaded and verified, by id.
///
/// A grant never changes once it is issued; only revocation, and its worker's report, ends one early. This kernel's own
/// are followed by [`forget`](Self::forget); those of others are for the store to know, which is asked at each use. What its
/// actor still holds follows from the manifests in force, so that a task is worked out anew once those are others.
pub struct LiveTasks {
    store: Arc<dyn Store>,
    seal: SealKey,
    manifests: Arc<InForce>,
    cache: quick_cache::sync::Cache<Ulid, Arc<LiveTask>>,
    /// Counts the tasks forgotten, so that a load that overlaps one does not keep what it read.
    forgotten: AtomicU64,
}

impl fmt::Debug for LiveTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveTasks")
    }
}

impl LiveTasks {
    /// None loaded yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, seal: SealKey, manifests: Arc<InForce>) -> Self {
        Self {
            store,
            seal,
            manifests,
            cache: quick_cache::sync::Cache::new(CACHED_TASKS),
            forgotten: AtomicU64::new(0),
        }
    }

    /// The task of a presented token, if it is right and not over. Which of the reasons there were
    /// is nobody's business who could not present one.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say.
    pub async fn authenticate(
        &self,
        presented: &str,
        now: Timestamp,
    ) -> Result<Option<Arc<LiveTask>>, StoreError> {
        let Some(token) = TaskToken::parse(presented) else {
            return Ok(None);
        };
        let Some(task) = self.load(token.task_id).await? else {
            return Ok(None);
        };
        let fits = task.token_hash.fits(&token.secret);
        Ok((fits && now < task.grant.expires_at()).then_some(task))
    }

    /// A task that is not over, without a token: for the kernel's own use.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say.
    pub(crate) async fn live(
        &self,
        id: Ulid,
        now: Timestamp,
    ) -> Result<Option<Arc<LiveTask>>, StoreError> {
        let task = self.load(id).await?;
        Ok(task.filter(|task| now < task.grant.expires_at()))
    }

    async fn load(&self, id: Ulid) -> Result<Option<Arc<LiveTask>>, StoreError> {
        if let Some(task) = self.cache.get(&id) {
            let forgotten = self.forgotten.load(Ordering::SeqCst);
            if !self.store.is_still_live(id).await? {
                self.forget(id);
                return Ok(None);
            }
            let seen = self.store.artifact_changes_seen();
            let manifests = Arc::clone(&self.manifests.as_of(seen).await?.manifests);
            if task.revision == manifests.revision() {
                return Ok(Some(task));
            }
            let anew = LiveTask::worked_out(
                id,
                Arc::clone(&task.issued),
                &manifests,
                task.message.clone(),
                task.token_hash,
            );
            return Ok(self.kept(id, anew, forgotten));
        }
        let forgotten = self.forgotten.load(Ordering::SeqCst);
        let Some(stored) = self.store.task(id).await?.filter(|task| !task.is_over()) else {
            return Ok(None);
        };
        let grant = stored.grant.verify(&self.seal).ok();
        // A grant is for one task; that of another one was put into this one's place.
        let Some(grant) = grant.filter(|grant| grant.task_id() == id) else {
            tracing::error!(task = %id, "a stored grant's seal is broken, or it is another task's; the task is refused");
            return Ok(None);
        };
        let task = LiveTask::worked_out(
            id,
            Arc::new(grant),
            &self.manifests.up_to_date().await?.manifests,
            stored.message,
            SecretHash::new(stored.token_hash),
        );
        Ok(self.kept(id, task, forgotten))
    }

    /// Keeps a task in memory, unless one was forgotten since this one was looked up: it may have been this one.
    fn kept(&self, id: Ulid, task: Option<LiveTask>, forgotten: u64) -> Option<Arc<LiveTask>> {
        let Some(task) = task.map(Arc::new) else {
            self.cache.remove(&id);
            return None;
        };
        self.cache.insert(id, Arc::clone(&task));
        if self.forgotten.load(Ordering::SeqCst) != forgotten {
            self.cache.remove(&id);
        }
        Some(task)
    }

    /// Forgets a task that is over.
    pub fn forget(&self, id: Ulid) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.cache.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_exactly_and_no_other_spelling_does() {
        let token = TaskToken {
            task_id: Ulid(42),
            secret: Secret::random().unwrap(),
        };
        let text = token.reveal();
        let back = TaskToken::parse(&text).unwrap();
        assert_eq!(back.task_id, token.task_id);
        assert!(token.secret.hash().fits(&back.secret));
        for bad in [
            String::new(),
            text.to_uppercase(),
            text.to_lowercase(),
            format!("{text} "),
            format!("{text}0"),
            text[..text.len() - 1].to_owned(),
            text.replace("actum_task_", "actum-task-"),
        ] {
            assert!(TaskToken::parse(&bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_hash_fits_its_own_secret_alone_and_debug_prints_hide_it() {
        let (one, two) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert!(one.hash().fits(&one) && !one.hash().fits(&two));
        assert_eq!(format!("{one:?}"), "Secret(..)");
    }

    #[test]
    fn keys_are_made_once_for_this_user_alone_and_a_damaged_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let first = Keys::open(folder.path(), ["web"].into_iter(), std::iter::empty()).unwrap();
        let again = Keys::open(folder.path(), ["web"].into_iter(), std::iter::empty()).unwrap();
        assert!(first.owner.hash().fits(&again.owner));
        assert!(first.connectors[0].hash().fits(&again.connectors[0]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.path().join("owner.key"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(folder.path().join("seal.key"), "nonsense").unwrap();
        let told = Keys::open(folder.path(), std::iter::empty(), std::iter::empty())
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("seal.key") && told.contains("64 hex digits"),
            "{told}"
        );
    }
}
