//! The claims whose release has failed, in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use entity::idempotency_records::ClaimRequest;

/// Maximum number of claims to be released later. Those beyond it expire.
const MAX_DEFERRED: usize = 10_000;

/// Claims to be released when the database is available.
#[derive(Debug, Default)]
pub(crate) struct DeferredReleases(Mutex<Vec<DeferredRelease>>);

#[derive(Debug, Clone)]
pub(super) struct DeferredRelease {
    pub(super) claim: ClaimRequest,
    /// Whether the claim may be committed later, so that its release must be repeated until it has an effect.
    pub(super) may_be_uncommitted: bool,
}

impl DeferredReleases {
    /// Adds a claim, unless there are too many.
    pub(super) fn add(&self, release: DeferredRelease) {
        let mut releases = self.list();
        if releases.len() < MAX_DEFERRED {
            releases.push(release);
        }
    }

    /// Takes all claims.
    pub(super) fn take(&self) -> Vec<DeferredRelease> {
        std::mem::take(&mut *self.list())
    }

    /// Adds taken claims that must be released again.
    pub(super) fn restore(&self, releases: &[DeferredRelease]) {
        self.list().extend_from_slice(releases);
    }

    fn list(&self) -> MutexGuard<'_, Vec<DeferredRelease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
