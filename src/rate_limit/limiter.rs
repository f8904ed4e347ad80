//! Counts the requests of each caller, and decides whether they are admitted.
//!
//! Without a shared limit store, counts are exact in this process: each request is counted under the lock of its caller, and no
//! lock is held across an await. With a shared store, counts are exact over all processes, and while it does not
//! respond, each process admits its share of the limits (`limit_store`). Requests of a caller that is known to
//! be exhausted do not reach the store. For high limits, a process reserves requests in the store, in proportion to those that it
//! has admitted in the minute, and admits them without a round trip. Reserved requests that are not used reduce the limit, by
//! at most 5 %.
//!
//! The daily count of a key is read from the database when it is not in memory: before the first request of the day, and
//! before the first request after the key was idle. About every second, new requests are added to the count in the database,
//! and the new count is read, which includes the requests of other processes. A shared store that has lost its data learns the
//! count from there. Daily counts of client addresses are not stored. Idle callers are removed.

use std::net::IpAddr;
use std::time::Duration;

use dashmap::DashMap;

use super::day_counts::{self, DayCount};
use super::window::{self, Decision, KnownCounts, Usage, Window};
use super::{LimitStore, Limits, MINUTE_MS, Subject};
use entity::rate_windows::SubjectRequests;
use foundation::clock::Clock;
use foundation::database::Database;
use foundation::id::KeyId;

/// How often changed daily counts are written.
pub const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// How long an idle key stays in memory, in milliseconds.
const IDLE_MS: i64 = 10 * 60_000;
/// Number of client addresses in memory above which those without a request in the current minute are removed.
const ADDRESS_PRUNE_THRESHOLD: usize = 100_000;

/// The rate limiter of a process.
#[derive(Debug, Default)]
pub struct Limiter {
    store: LimitStore,
    keys: DashMap<KeyId, Usage>,
    addresses: DashMap<IpAddr, AddressUsage>,
}

/// The requests of a client address, and the number of its lookups of unknown keys that are in flight.
#[derive(Debug, Default)]
struct AddressUsage {
    usage: Usage,
    lookups: u32,
}

/// A lookup in the database of an unknown key that a client address has sent. Ends when this value is dropped.
#[derive(Debug)]
pub struct KeyLookup<'a> {
    limiter: &'a Limiter,
    network: IpAddr,
}

impl Drop for KeyLookup<'_> {
    fn drop(&mut self) {
        if let Some(mut address) = self.limiter.addresses.get_mut(&self.network) {
            address.lookups = address.lookups.saturating_sub(1);
        }
    }
}

/// Requests that the shared store is asked to reserve. They are lost when this value is dropped before the store has responded,
/// for example because the client disconnects.
struct Reservation<'a> {
    limiter: &'a Limiter,
    subject: Subject,
    count: u32,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.limiter.with_usage(self.subject, |usage| usage.lose_reservation(self.count));
        }
    }
}

impl Limiter {
    /// Creates a limiter without counts that uses this store.
    pub fn new(store: LimitStore) -> Self {
        Self { store, ..Self::default() }
    }

    #[cfg(test)]
    pub(crate) fn store(&self) -> &LimitStore {
        &self.store
    }

    /// Admits and counts a request if neither window of its caller is exhausted.
    ///
    /// Reads from the database only if the key's count of the day is not in memory. If the query fails, the decision uses the
    /// counts that this process knows; if the shared limit store fails, also the share of this process.
    pub async fn acquire(&self, db: &Database, clock: &Clock, subject: Subject, limits: Limits) -> Decision {
        if let Subject::Key(key) = subject {
            self.load_day(db, clock, key).await;
        }
        let shared = match (self.store.shared(), subject) {
            // Written to the database, from where all processes learn it.
            (Some(shared), Subject::Key(_)) => shared.with_known_days(),
            (Some(shared), Subject::Address(_)) => shared,
            (None, _) => {
                return self.with_usage(subject, |usage| usage.acquire(limits, self.store.now_ms(clock)));
            }
        };
        let decision_or_request =
            self.with_usage(subject, |usage| match usage.decide(limits, self.store.now_ms(clock)) {
                Some(decision) => Err(decision),
                None => {
                    let reserve = if shared.is_available() { usage.begin_reservation(limits) } else { 0 };
                    Ok((subject_request(subject, limits, usage.known()), reserve))
                }
            });
        let (request, reserve) = match decision_or_request {
            Ok(request) => request,
            Err(decision) => return decision,
        };
        let mut reservation = Reservation { limiter: self, subject, count: reserve };
        let counted = shared.count(request, reserve).await;
        if !counted.is_from_share {
            reservation.count = 0;
        }
        drop(reservation);
        self.with_usage(subject, |usage| usage.record(limits, &counted, self.store.now_ms(clock)))
    }

    /// Like [`acquire`](Self::acquire), but counts only in this process, without waiting.
    pub fn acquire_alone(&self, clock: &Clock, address: IpAddr, limits: Limits) -> Decision {
        self.with_usage(Subject::Address(address), |usage| usage.acquire(limits, self.store.now_ms(clock)))
    }

    /// Reads the stored count of the current day of a key, unless it is in memory.
    async fn load_day(&self, db: &Database, clock: &Clock, key: KeyId) {
        let now_ms = self.store.now_ms(clock);
        if self.keys.get(&key).is_some_and(|usage| usage.has_stored_count(now_ms)) {
            return;
        }
        let day = window::day_of(now_ms);
        // Boxed, because this future runs once a day but would enlarge the future of every request.
        match Box::pin(day_counts::used(db, key, day)).await {
            Ok(stored) => self.keys.entry(key).or_default().set_stored(day, stored),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(key.id = %key, error, "reading the daily request count failed");
            }
        }
    }

    /// Calls a function with the counts of a caller, under their lock. The function must read the clock itself.
    fn with_usage<T>(&self, subject: Subject, call: impl FnOnce(&mut Usage) -> T) -> T {
        match subject {
            Subject::Key(key) => call(&mut self.keys.entry(key).or_default()),
            Subject::Address(address) => call(&mut self.addresses.entry(network(address)).or_default().usage),
        }
    }

    /// Admits the lookup of an unknown key for a client address. Returns `None` when the number of the address's
    /// lookups in flight has reached the number of its remaining requests. Guessing keys therefore causes at most one
    /// lookup for each request that the limits allow.
    pub fn admit_lookup(&self, clock: &Clock, address: IpAddr, limits: Limits) -> Option<KeyLookup<'_>> {
        let network = network(address);
        let mut address = self.addresses.entry(network).or_default();
        let status = address.usage.status(limits, self.store.now_ms(clock));
        if address.lookups >= status.minute_left.min(status.day_left) {
            return None;
        }
        address.lookups += 1;
        Some(KeyLookup { limiter: self, network })
    }

    /// Writes the requests counted since the previous flush and removes idle callers.
    ///
    /// # Errors
    /// Returns an error when the transaction fails. No counts are lost: the next flush writes them.
    pub async fn flush(&self, db: &Database, clock: &Clock) -> anyhow::Result<()> {
        self.read_missing_counts(db).await;
        let counts: Vec<DayCount> = self
            .keys
            .iter_mut()
            .flat_map(|mut entry| {
                let key = *entry.key();
                entry.value_mut().take_pending().into_iter().map(move |(day, count)| DayCount {
                    key,
                    day,
                    count,
                })
            })
            .collect();
        let outcome = day_counts::add(db, clock, &counts).await;
        for DayCount { key, day, count } in counts {
            let Some(mut usage) = self.keys.get_mut(&key) else { continue };
            match &outcome {
                Ok(stored) => usage.confirm(day, count, stored.get(&(key, day)).copied()),
                Err(_) => usage.restore_pending(day, count),
            }
        }
        self.drop_idle(self.store.now_ms(clock));
        self.store.drop_ended(clock);
        outcome.map(drop)
    }

    /// Reads the daily counts that could not be read when they were needed.
    async fn read_missing_counts(&self, db: &Database) {
        let unread: Vec<(KeyId, i64)> =
            self.keys.iter().filter_map(|usage| Some((*usage.key(), usage.unread_day()?))).collect();
        for (key, day) in unread {
            // If a query fails, the next flush tries again.
            let Ok(stored) = day_counts::used(db, key, day).await else { return };
            if let Some(mut usage) = self.keys.get_mut(&key) {
                usage.set_stored(day, stored);
            }
        }
    }

    /// Removes keys that were idle for [`IDLE_MS`] and addresses without requests in the current day, or in the current
    /// minute if there are many addresses.
    fn drop_idle(&self, now_ms: i64) {
        self.keys.retain(|_, usage| {
            usage.drop_saved_days();
            !usage.is_idle(now_ms, IDLE_MS)
        });
        let window =
            if self.addresses.len() > ADDRESS_PRUNE_THRESHOLD { Window::Minute } else { Window::Day };
        self.addresses.retain(|_, address| {
            address.usage.drop_other_days();
            address.lookups > 0 || address.usage.is_in(window, now_ms)
        });
    }
}

/// Returns a request as the shared store counts it.
fn subject_request(subject: Subject, limits: Limits, known: KnownCounts) -> SubjectRequests {
    let subject = match subject {
        Subject::Key(key) => key.to_string(),
        Subject::Address(address) => format!("address:{}", network(address)),
    };
    SubjectRequests {
        subject,
        requested: 1,
        short_limit: i64::from(limits.per_minute),
        short_length: MINUTE_MS,
        short_alignment: MINUTE_MS,
        short_known_start: known.minute_start_ms,
        short_known: i64::from(known.minute_used),
        day_limit: i64::from(limits.per_day),
        day_known_start: known.day_start_ms,
        day_known: known.day_used.min(u64::from(u32::MAX)).cast_signed(),
    }
}

/// Returns the network that counts as one caller: an IPv4 address, or the /64 network of an IPv6 address, which usually belongs
/// to one client.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_is_one_caller() {
        let network = |address: &str| network(address.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:aaaa::1"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
    }
}
