//! Principals by the digest of their secret, so that a request asks the database for its key every other second at
//! most.
//!
//! An entry is believed for [`MAX_AGE_MS`], so that what another process revokes is refused here within 2 s. What this
//! process changes ends all entries at once, by [`Principals::forget`] after its commit. Nothing here waits: the maps
//! are locked for the length of one look-up, shard by shard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use dashmap::DashMap;
use uuid::Uuid;

use super::Principal;
use super::filter::KeyFilter;

/// How long an entry is believed, in milliseconds after the database was asked.
const MAX_AGE_MS: i64 = 2_000;
/// The age at which one request asks again while the others go on.
const REFRESH_MS: i64 = 1_000;
/// Entries at most; beyond, all are forgotten and the database is asked again.
const MOST_KNOWN: usize = 20_000;
/// Entries of secrets that nobody has at most.
const MOST_UNKNOWN: usize = 4_096;
/// A use is noted no more often than this.
const USE_MS: i64 = 1_000;

/// SHA-256 of a secret.
type SecretDigest = [u8; 32];

/// The keys seen of late, and when each was last used; one stands in the `App` of a process.
#[derive(Debug, Default)]
pub struct Principals {
    known: DashMap<SecretDigest, Known>,
    unknown: DashMap<SecretDigest, Stamp>,
    /// Last uses not yet written, by key; 0 is none.
    uses: DashMap<Uuid, Arc<AtomicI64>>,
    /// Counts what ended all entries; one of an earlier epoch is not believed.
    epoch: AtomicU64,
    /// Which keys exist.
    pub(super) filter: KeyFilter,
    /// Keys that were looked up in the database.
    pub(super) look_ups: AtomicU64,
}

/// When the database was asked, and in which epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    asked_ms: i64,
    epoch: u64,
}

impl Stamp {
    /// The age of the answer, when it may be believed. A clock that was set back makes it too old.
    fn age(self, now: Self) -> Option<i64> {
        let age = now.asked_ms - self.asked_ms;
        (self.epoch == now.epoch && (0..MAX_AGE_MS).contains(&age)).then_some(age)
    }
}

#[derive(Debug)]
struct Known {
    principal: Principal,
    stamp: Stamp,
    refreshing: AtomicBool,
    used_ms: Arc<AtomicI64>,
}

/// What is known of a secret.
#[derive(Debug)]
pub(super) enum Seen {
    /// Whom it stands for.
    Known(Principal),
    /// Whom it stands for, and that the database should be asked again: what it says is to be noted with the stamp.
    Refresh(Principal, Stamp),
    /// That it stands for nobody.
    Unknown,
    /// Nothing: the database must be asked, and the answer noted with the stamp.
    Ask(Stamp),
}

impl Principals {
    /// Ends all entries: the next request of each key asks the database. To be called after the commit of whatever
    /// changes what a key stands for.
    pub fn forget(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// How many keys were looked up in the database.
    pub fn look_ups(&self) -> u64 {
        self.look_ups.load(Ordering::Relaxed)
    }

    /// How many statements read which keys exist.
    pub fn filter_statements(&self) -> u64 {
        self.filter.statements()
    }

    /// What is known of a secret at `now_ms`; a known one counts as used.
    pub(super) fn look_up(&self, digest: &SecretDigest, now_ms: i64) -> Seen {
        let now = Stamp { asked_ms: now_ms, epoch: self.epoch.load(Ordering::Acquire) };
        if let Some(known) = self.known.get(digest) {
            if let Some(age) = known.stamp.age(now) {
                note_use(&known.used_ms, now_ms);
                if age >= REFRESH_MS && !known.refreshing.swap(true, Ordering::Relaxed) {
                    return Seen::Refresh(known.principal, now);
                }
                return Seen::Known(known.principal);
            }
        } else if self.unknown.get(digest).is_some_and(|stamp| stamp.age(now).is_some()) {
            return Seen::Unknown;
        }
        Seen::Ask(now)
    }

    /// Notes what the database answered; `stamp` is from before it was asked, so that a revocation in between wins.
    pub(super) fn note(&self, digest: SecretDigest, stamp: Stamp, principal: Option<Principal>) {
        let Some(principal) = principal else {
            self.known.remove(&digest);
            make_room(&self.unknown, MOST_UNKNOWN);
            self.unknown.insert(digest, stamp);
            return;
        };
        let used_ms = Arc::clone(&self.uses.entry(principal.key.uuid()).or_default());
        note_use(&used_ms, stamp.asked_ms);
        self.unknown.remove(&digest);
        make_room(&self.known, MOST_KNOWN);
        self.known.insert(digest, Known { principal, stamp, refreshing: AtomicBool::new(false), used_ms });
    }

    /// The uses since they were last taken, sorted by key.
    pub(super) fn take_uses(&self) -> Vec<(Uuid, i64)> {
        let mut uses = Vec::new();
        self.uses.retain(|key, used_ms| match used_ms.swap(0, Ordering::Relaxed) {
            // A key that is idle and no longer remembered needs no place.
            0 => Arc::strong_count(used_ms) > 1,
            used => {
                uses.push((*key, used));
                true
            }
        });
        uses.sort_unstable();
        uses
    }

    /// Gives uses back that could not be written.
    pub(super) fn give_back(&self, uses: Vec<(Uuid, i64)>) {
        for (key, used) in uses {
            self.uses.entry(key).or_default().fetch_max(used, Ordering::Relaxed);
        }
    }
}

/// Notes a use, but seldom: requests of one key on many threads would otherwise fight for the place.
fn note_use(used_ms: &AtomicI64, now_ms: i64) {
    if now_ms - used_ms.load(Ordering::Relaxed) >= USE_MS {
        used_ms.fetch_max(now_ms, Ordering::Relaxed);
    }
}

/// Empties a map that is full. Its entries live for 2 s, so that little is lost.
fn make_room<V>(map: &DashMap<SecretDigest, V>, most: usize) {
    if map.len() >= most {
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
            scopes: Scopes::all(),
            per_minute: 60,
            per_day: 1000,
            expires_at: None,
        }
    }

    fn ask(principals: &Principals, now_ms: i64) -> Stamp {
        match principals.look_up(&[1; 32], now_ms) {
            Seen::Ask(stamp) | Seen::Refresh(_, stamp) => stamp,
            seen => panic!("{seen:?}"),
        }
    }

    fn knows(principals: &Principals, now_ms: i64) -> bool {
        matches!(principals.look_up(&[1; 32], now_ms), Seen::Known(_))
    }

    #[test]
    fn an_answer_is_believed_for_less_than_two_seconds() {
        let principals = Principals::default();
        principals.note([1; 32], ask(&principals, 10_000), Some(principal()));
        assert!(knows(&principals, 10_999));
        ask(&principals, 11_000);
        assert!(knows(&principals, 11_000), "one asks again, the others go on");
        assert!(knows(&principals, 11_999));
        ask(&principals, 12_000);
        ask(&principals, 9_999);
    }

    #[test]
    fn forgetting_wins_over_an_answer_that_is_under_way() {
        let principals = Principals::default();
        let before = ask(&principals, 10_000);
        principals.forget();
        principals.note([1; 32], before, Some(principal()));
        let after = ask(&principals, 10_000);
        principals.note([1; 32], after, None);
        assert!(matches!(principals.look_up(&[1; 32], 10_001), Seen::Unknown));
    }

    #[test]
    fn guesses_take_a_bounded_place() {
        let principals = Principals::default();
        for guess in 0..10_000_u32 {
            let mut digest = [0; 32];
            digest[..4].copy_from_slice(&guess.to_be_bytes());
            principals.note(digest, Stamp { asked_ms: 0, epoch: 0 }, None);
        }
        assert!(principals.unknown.len() <= MOST_UNKNOWN);
    }

    #[test]
    fn uses_are_taken_once_and_can_be_given_back() {
        let principals = Principals::default();
        principals.note([1; 32], ask(&principals, 10_000), Some(principal()));
        let uses = principals.take_uses();
        assert_eq!(uses, [(Uuid::from_u128(7), 10_000)]);
        assert!(principals.take_uses().is_empty());
        principals.give_back(uses);
        assert!(knows(&principals, 10_500));
        assert_eq!(principals.take_uses(), [(Uuid::from_u128(7), 10_000)]);
        assert!(knows(&principals, 10_600));
        assert_eq!(principals.take_uses(), [(Uuid::from_u128(7), 10_600)]);
    }
}
