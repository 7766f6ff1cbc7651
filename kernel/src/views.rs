//! What tasks were told of their tools, ready to be told again.
//!
//! A view is a pure function of a grant and a catalog, and both are values that never change. INVARIANT: what is found here was
//! written of the very grant and the very catalog that it is asked for, so that it is what would be written now.

use std::sync::Arc;

use actum::ActionCatalog;
use actum::grant::VerifiedGrant;
use actum::provider::Provider;
use axum::body::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use ulid::Ulid;

use crate::auth::LiveTask;

/// The most that is kept, in bytes of answers, and how many answers are expected to be in it.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
const EXPECTED: usize = 4_096;

/// What a view was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// `GET /v1/task`, in a provider's shape or in our own.
    Task(Option<Provider>),
    /// The first page of MCP's `tools/list`.
    Page,
}

/// What was written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) text: Bytes,
    /// Where the next page begins, of those that have one.
    pub(crate) next: Option<String>,
}

/// What was written, and of what.
#[derive(Debug, Clone)]
struct Kept {
    grant: Arc<VerifiedGrant>,
    catalog: Arc<ActionCatalog>,
    written: Written,
}

#[derive(Debug, Clone)]
struct Length;

impl Weighter<(Ulid, Form), Kept> for Length {
    fn weight(&self, _: &(Ulid, Form), kept: &Kept) -> u64 {
        kept.written.text.len() as u64
    }
}

/// What is ready.
#[derive(Debug)]
pub(crate) struct Views(Cache<(Ulid, Form), Kept, Length>);

impl Default for Views {
    fn default() -> Self {
        Self(Cache::with_weighter(EXPECTED, MOST_BYTES, Length))
    }
}

impl Views {
    /// Lets go of everything, since the catalog is another: what was written of the one before is of no use, and keeps it.
    pub(crate) fn clear(&self) {
        self.0.clear();
    }

    /// What is told of a task's tools: as it is ready, or as it is written now.
    pub(crate) fn of(
        &self,
        task: &LiveTask,
        catalog: &Arc<ActionCatalog>,
        form: Form,
        write: impl FnOnce() -> Written,
    ) -> Written {
        let key = (task.id, form);
        let is_it = |kept: &Kept| {
            Arc::ptr_eq(&kept.grant, &task.grant) && Arc::ptr_eq(&kept.catalog, catalog)
        };
        if let Some(kept) = self.0.get(&key).filter(is_it) {
            return kept.written;
        }
        let written = write();
        let kept = Kept {
            grant: Arc::clone(&task.grant),
            catalog: Arc::clone(catalog),
            written: written.clone(),
        };
        self.0.insert(key, kept);
        written
    }
}
