//! The callers of this process and how much they have used.
//!
//! Owns the buckets: exact under concurrency, since a draw happens under its bucket's lock and no lock is held
//! across an await. A key's day count is read from the database before its first draw of a day and written
//! back about every second, which tells what other processes counted meanwhile; an address is counted in memory
//! alone. Idle buckets are dropped.

use std::net::IpAddr;
use std::time::Duration;

use dashmap::DashMap;

use super::store::{self, Count};
use super::window::{self, Draw, Usage, Window};
use super::{Caps, Subject};
use foundation::clock::Clock;
use foundation::database::Database;
use foundation::id::KeyId;

/// How often changed day counts are written.
pub const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// How long an unused key stays in memory.
const IDLE_MS: i64 = 10 * 60_000;
/// From this many addresses on, those that did not call in this minute are forgotten.
const MANY_ADDRESSES: usize = 100_000;

/// The limiter of one process.
#[derive(Debug, Default)]
pub struct Limiter {
    keys: DashMap<KeyId, Usage>,
    addresses: DashMap<IpAddr, Address>,
}

/// What a client address has used, and how many unknown keys are being looked up for it.
#[derive(Debug, Default)]
struct Address {
    usage: Usage,
    look_ups: u32,
}

/// The look-up of an unknown key on behalf of a client address, until this is dropped.
#[derive(Debug)]
pub struct LookUp<'a> {
    limiter: &'a Limiter,
    network: IpAddr,
}

impl Drop for LookUp<'_> {
    fn drop(&mut self) {
        if let Some(mut address) = self.limiter.addresses.get_mut(&self.network) {
            address.look_ups = address.look_ups.saturating_sub(1);
        }
    }
}

impl Limiter {
    /// Counts one request of a caller, when both of its windows have room.
    ///
    /// The database is asked only for a key's first request of a day; while it does not answer, what was counted
    /// here decides alone.
    pub async fn draw(&self, db: &Database, clock: &Clock, subject: Subject, caps: Caps) -> Draw {
        let key = match subject {
            Subject::Address(address) => {
                let mut address = self.addresses.entry(network(address)).or_default();
                return address.usage.draw(caps, clock.now_ms());
            }
            Subject::Key(key) => key,
        };
        if let Some(mut usage) = self.keys.get_mut(&key) {
            let now_ms = clock.now_ms();
            if usage.knows_day(now_ms) {
                return usage.draw(caps, now_ms);
            }
        }
        let day = window::day_of(clock.now_ms());
        // On the heap: it is needed once a day, and the future of every request would hold its place.
        let stored = Box::pin(store::used(db, key, day)).await;
        let mut usage = self.keys.entry(key).or_default();
        match stored {
            Ok(stored) => usage.adopt(day, stored),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(key.id = %key, error, "the day count could not be read");
            }
        }
        usage.draw(caps, clock.now_ms())
    }

    /// Whether an unknown key may be looked up for a client address: as many at once as it has requests left, so that guesses
    /// cause no more look-ups than the limit admits.
    pub fn admit_look_up(&self, clock: &Clock, address: IpAddr, caps: Caps) -> Option<LookUp<'_>> {
        let network = network(address);
        let mut address = self.addresses.entry(network).or_default();
        let standing = address.usage.standing(caps, clock.now_ms());
        if address.look_ups >= standing.minute_left.min(standing.day_left) {
            return None;
        }
        address.look_ups += 1;
        Some(LookUp { limiter: self, network })
    }

    /// Writes what was counted since the last time, and drops idle buckets.
    ///
    /// # Errors
    /// When the database fails; nothing is lost then, the counts wait for the next flush.
    pub async fn flush(&self, db: &Database, clock: &Clock) -> anyhow::Result<()> {
        self.read_unread(db).await;
        let counts: Vec<Count> = self
            .keys
            .iter_mut()
            .flat_map(|mut entry| {
                let key = *entry.key();
                entry.value_mut().depart().into_iter().map(move |(day, count)| Count { key, day, count })
            })
            .collect();
        let outcome = store::add(db, clock, &counts).await;
        for Count { key, day, count } in counts {
            let Some(mut usage) = self.keys.get_mut(&key) else { continue };
            match &outcome {
                Ok(stored) => usage.arrive(day, count, stored.get(&(key, day)).copied()),
                Err(_) => usage.return_home(day, count),
            }
        }
        self.forget_idle(clock.now_ms());
        outcome.map(drop)
    }

    /// Reads the day counts that could not be read when their callers came.
    async fn read_unread(&self, db: &Database) {
        let unread: Vec<(KeyId, i64)> =
            self.keys.iter().filter_map(|usage| Some((*usage.key(), usage.unread_day()?))).collect();
        for (key, day) in unread {
            // Without an answer, they wait for the next flush.
            let Ok(stored) = store::used(db, key, day).await else { return };
            if let Some(mut usage) = self.keys.get_mut(&key) {
                usage.adopt(day, stored);
            }
        }
    }

    fn forget_idle(&self, now_ms: i64) {
        self.keys.retain(|_, usage| {
            usage.forget_saved();
            !usage.is_idle(now_ms, IDLE_MS)
        });
        let window = if self.addresses.len() > MANY_ADDRESSES { Window::Minute } else { Window::Day };
        self.addresses.retain(|_, address| {
            address.usage.forget_others();
            address.look_ups > 0 || address.usage.is_in(window, now_ms)
        });
    }
}

/// The network that counts as one caller: an IPv4 address, or the /64 of an IPv6 address, since whoever has one
/// of those has all.
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
        let text = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(text("2001:db8:1:2:aaaa::1"), "2001:db8:1:2::");
        assert_eq!(text("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(text("192.0.2.7"), "192.0.2.7");
    }
}
