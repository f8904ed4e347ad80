//! Caches principals (authenticated callers) by the digest of their secret, so that each key is read from the database
//! at most about once per second.
//!
//! An entry is valid for [`MAX_AGE_MS`], so a key that another process revokes is rejected here within 2 s. A change made by
//! this process invalidates all entries after its commit ([`PrincipalCache::invalidate`]). Lookups lock one shard of a map at a
//! time and never wait for a query.
//!
//! Keys of test workspaces are not cached. When a sandbox is reset, its keys belong to another workspace, and no process may answer
//! from the data of the old one afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use dashmap::DashMap;
use uuid::Uuid;

use super::filter::KeyFilter;
use super::{Mode, Principal};

/// How long an entry is valid, in milliseconds since the start of the query that read it.
const MAX_AGE_MS: i64 = 2_000;
/// The age at which one request reads the entry again while the others keep using it.
const REFRESH_MS: i64 = 1_000;
/// Maximum number of principals. A full map is cleared.
const MAX_PRINCIPALS: usize = 20_000;
/// Maximum number of digests of secrets that belong to no valid key. A full map is cleared.
const MAX_INVALID: usize = 4_096;
/// Minimum time between two recorded uses of a key, in milliseconds.
const USE_RESOLUTION_MS: i64 = 1_000;

/// SHA-256 of a secret.
type SecretDigest = [u8; 32];

/// The recently used keys of a process and when each was last used. Part of the `App`.
#[derive(Debug, Default)]
pub struct PrincipalCache {
    /// Secrets that belonged to a key when it was last read.
    principals: DashMap<SecretDigest, CachedPrincipal>,
    /// Secrets that belonged to no valid key when they were last looked up.
    invalid: DashMap<SecretDigest, Stamp>,
    /// Last uses that are not written to the database yet, by key, in milliseconds since the epoch. 0 means none.
    uses: DashMap<Uuid, Arc<AtomicI64>>,
    /// The number of invalidations. Entries of an earlier epoch are not valid.
    epoch: AtomicU64,
    /// Which keys exist.
    pub(super) filter: KeyFilter,
    /// The number of keys looked up in the database.
    pub(super) lookups: AtomicU64,
}

/// When an entry was read from the database, and in which epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    /// In milliseconds since the epoch.
    read_ms: i64,
    /// The value of [`PrincipalCache::epoch`] at that time.
    epoch: u64,
}

impl Stamp {
    /// Returns the age of the entry in milliseconds, or `None` when it is not valid. A clock that was set back makes it
    /// invalid.
    fn age(self, now: Self) -> Option<i64> {
        let age = now.read_ms - self.read_ms;
        (self.epoch == now.epoch && (0..MAX_AGE_MS).contains(&age)).then_some(age)
    }
}

#[derive(Debug)]
struct CachedPrincipal {
    principal: Principal,
    stamp: Stamp,
    /// Whether a request is reading the entry again.
    refreshing: AtomicBool,
    /// The value of [`PrincipalCache::uses`] for the key.
    used_ms: Arc<AtomicI64>,
}

/// The result of looking up a secret in the cache.
#[derive(Debug)]
pub(super) enum CacheLookup {
    /// The principal is cached.
    Hit(Principal),
    /// The principal is cached. The caller should also read it from the database and insert the result with the stamp.
    Stale(Principal, Stamp),
    /// The secret belongs to no valid key.
    Invalid,
    /// The secret is not cached. The caller must read the principal from the database and insert the result with the stamp.
    Miss(Stamp),
}

impl PrincipalCache {
    /// Invalidates all entries, so that the next request of each key reads from the database. Must be called after the commit
    /// of every change to an existing key or to a quota.
    pub fn invalidate(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the number of keys looked up in the database.
    pub fn lookups(&self) -> u64 {
        self.lookups.load(Ordering::Relaxed)
    }

    /// Returns the number of SQL queries that read which keys exist.
    pub fn existing_key_queries(&self) -> u64 {
        self.filter.statements()
    }

    /// Looks up a secret at `now_ms`, and records a use of its key if the principal is cached.
    pub(super) fn lookup(&self, digest: &SecretDigest, now_ms: i64) -> CacheLookup {
        let now = Stamp { read_ms: now_ms, epoch: self.epoch.load(Ordering::Acquire) };
        if let Some(cached) = self.principals.get(digest) {
            if let Some(age) = cached.stamp.age(now) {
                record_use(&cached.used_ms, now_ms);
                if age >= REFRESH_MS && !cached.refreshing.swap(true, Ordering::Relaxed) {
                    return CacheLookup::Stale(cached.principal.clone(), now);
                }
                return CacheLookup::Hit(cached.principal.clone());
            }
        } else if self.invalid.get(digest).is_some_and(|stamp| stamp.age(now).is_some()) {
            return CacheLookup::Invalid;
        }
        CacheLookup::Miss(now)
    }

    /// Inserts the principal that was read from the database, or `None` if the secret belongs to no valid key. `stamp`
    /// was taken before the query, so an invalidation in the meantime also invalidates this entry.
    pub(super) fn insert(&self, digest: SecretDigest, stamp: Stamp, principal: Option<Principal>) {
        let Some(principal) = principal else {
            self.principals.remove(&digest);
            clear_if_full(&self.invalid, MAX_INVALID);
            self.invalid.insert(digest, stamp);
            return;
        };
        let used_ms = Arc::clone(&self.uses.entry(principal.key.uuid()).or_default());
        record_use(&used_ms, stamp.read_ms);
        self.invalid.remove(&digest);
        if principal.mode == Mode::Test {
            return;
        }
        clear_if_full(&self.principals, MAX_PRINCIPALS);
        self.principals.insert(
            digest,
            CachedPrincipal { principal, stamp, refreshing: AtomicBool::new(false), used_ms },
        );
    }

    /// Takes the uses recorded since the previous call: the ids of the keys, each with the time of its most recent use
    /// in milliseconds since the epoch. Sorted by key.
    pub(super) fn take_uses(&self) -> Vec<(Uuid, i64)> {
        let mut uses = Vec::new();
        self.uses.retain(|key, used_ms| match used_ms.swap(0, Ordering::Relaxed) {
            // Removes a key that was not used since the previous call and is no longer cached.
            0 => Arc::strong_count(used_ms) > 1,
            used => {
                uses.push((*key, used));
                true
            }
        });
        uses.sort_unstable();
        uses
    }

    /// Restores uses that could not be written, unless a later use was recorded since.
    pub(super) fn restore_uses(&self, uses: Vec<(Uuid, i64)>) {
        for (key, used) in uses {
            self.uses.entry(key).or_default().fetch_max(used, Ordering::Relaxed);
        }
    }
}

/// Records a use at most once per [`USE_RESOLUTION_MS`], to avoid contention between threads that serve the same key.
fn record_use(used_ms: &AtomicI64, now_ms: i64) {
    if now_ms - used_ms.load(Ordering::Relaxed) >= USE_RESOLUTION_MS {
        used_ms.fetch_max(now_ms, Ordering::Relaxed);
    }
}

/// Clears a map that is full. Its entries are valid for only 2 s, so clearing it costs little.
fn clear_if_full<V>(map: &DashMap<SecretDigest, V>, max: usize) {
    if map.len() >= max {
        map.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scopes;
    use foundation::id::Id;

    fn principal() -> Principal {
        Principal {
            key: Id::from_uuid(Uuid::from_u128(7)),
            workspace: Id::from_uuid(Uuid::from_u128(1)),
            mode: Mode::Live,
            secret_digest: [1; 32],
            scopes: Scopes::all(),
            per_minute: 60,
            per_day: 1000,
            expires_at: None,
            sunset_extended_until: None,
            networks: None,
        }
    }

    fn miss_or_stale(principals: &PrincipalCache, now_ms: i64) -> Stamp {
        match principals.lookup(&[1; 32], now_ms) {
            CacheLookup::Miss(stamp) | CacheLookup::Stale(_, stamp) => stamp,
            lookup => panic!("{lookup:?}"),
        }
    }

    fn is_hit(principals: &PrincipalCache, now_ms: i64) -> bool {
        matches!(principals.lookup(&[1; 32], now_ms), CacheLookup::Hit(_))
    }

    #[test]
    fn an_entry_is_valid_for_less_than_two_seconds() {
        let principals = PrincipalCache::default();
        principals.insert([1; 32], miss_or_stale(&principals, 10_000), Some(principal()));
        assert!(is_hit(&principals, 10_999));
        miss_or_stale(&principals, 11_000);
        assert!(is_hit(&principals, 11_000), "one request refreshes the entry, the others use it");
        assert!(is_hit(&principals, 11_999));
        miss_or_stale(&principals, 12_000);
        miss_or_stale(&principals, 9_999);
    }

    #[test]
    fn an_invalidation_discards_an_entry_that_is_being_read() {
        let principals = PrincipalCache::default();
        let before = miss_or_stale(&principals, 10_000);
        principals.invalidate();
        principals.insert([1; 32], before, Some(principal()));
        let after = miss_or_stale(&principals, 10_000);
        principals.insert([1; 32], after, None);
        assert!(matches!(principals.lookup(&[1; 32], 10_001), CacheLookup::Invalid));
    }

    #[test]
    fn a_key_of_a_test_workspace_is_read_for_each_request() {
        let principals = PrincipalCache::default();
        let test_key = Principal { mode: Mode::Test, ..principal() };
        principals.insert([1; 32], miss_or_stale(&principals, 10_000), Some(test_key));
        assert!(matches!(principals.lookup(&[1; 32], 10_000), CacheLookup::Miss(_)));
        assert_eq!(principals.take_uses(), [(Uuid::from_u128(7), 10_000)]);
    }

    #[test]
    fn the_number_of_cached_invalid_secrets_is_limited() {
        let principals = PrincipalCache::default();
        for guess in 0..10_000_u32 {
            let mut digest = [0; 32];
            digest[..4].copy_from_slice(&guess.to_be_bytes());
            principals.insert(digest, Stamp { read_ms: 0, epoch: 0 }, None);
        }
        assert!(principals.invalid.len() <= MAX_INVALID);
    }

    #[test]
    fn uses_are_taken_once_and_can_be_restored() {
        let principals = PrincipalCache::default();
        principals.insert([1; 32], miss_or_stale(&principals, 10_000), Some(principal()));
        let uses = principals.take_uses();
        assert_eq!(uses, [(Uuid::from_u128(7), 10_000)]);
        assert!(principals.take_uses().is_empty());
        principals.restore_uses(uses);
        assert!(is_hit(&principals, 10_500));
        assert_eq!(principals.take_uses(), [(Uuid::from_u128(7), 10_000)]);
        assert!(is_hit(&principals, 10_600));
        assert_eq!(principals.take_uses(), [(Uuid::from_u128(7), 10_600)]);
    }
}
