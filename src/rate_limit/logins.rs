//! How often somebody may try to sign in: per client address, and per account whether there is one or not.
//!
//! Counted in memory, in windows that begin with the first attempt. What an account's owner is kept out by ends with its
//! window; sessions that are open go on. Each process counts for itself: with several, an account has as many times ten,
//! which guesses no password of twelve characters, and signing in does not depend on a store.

use std::hash::Hash;
use std::net::IpAddr;

use dashmap::DashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::memory::network;

/// The length of a window.
const WINDOW_MS: i64 = 15 * 60_000;
/// Attempts that one client address has in a window.
const PER_ADDRESS: u32 = 30;
/// Attempts that one account has in a window.
const PER_ACCOUNT: u32 = 10;
/// Entries from which on those of past windows are forgotten.
const MANY: usize = 20_000;

/// A running window.
#[derive(Debug, Clone, Copy)]
struct Window {
    began_ms: i64,
    used: u32,
}

/// The attempts of late.
#[derive(Debug, Default)]
pub struct Attempts {
    addresses: DashMap<IpAddr, Window>,
    /// By the digest of the name, so that memory holds no list of them and none is long.
    accounts: DashMap<u128, Window>,
}

impl Attempts {
    /// Counts an attempt, when it may be made.
    ///
    /// # Errors
    /// The seconds until the next one may be, at least 1. An attempt that the account refuses still counts
    /// for the client address.
    pub fn admit(&self, address: IpAddr, account: &str, now_ms: i64) -> Result<(), i64> {
        let account = xxh3_128(account.as_bytes());
        draw(&self.addresses, network(address), PER_ADDRESS, now_ms)?;
        draw(&self.accounts, account, PER_ACCOUNT, now_ms)
    }

    /// Forgets an account's attempts: its owner came in.
    pub fn succeeded(&self, account: &str) {
        self.accounts.remove(&xxh3_128(account.as_bytes()));
    }
}

fn draw<K: Eq + Hash>(windows: &DashMap<K, Window>, key: K, most: u32, now_ms: i64) -> Result<(), i64> {
    // One that lies further ahead than its own length is over, too: the clock had jumped.
    let runs = |window: &Window| (now_ms - window.began_ms).abs() < WINDOW_MS;
    if windows.len() >= MANY {
        windows.retain(|_, window| runs(window));
    }
    let mut window = windows.entry(key).or_insert(Window { began_ms: now_ms, used: 0 });
    if !runs(&window) {
        *window = Window { began_ms: now_ms, used: 0 };
    }
    // A clock that is set back by a little takes the window along: it gives no new attempts, and nobody waits longer.
    window.began_ms = window.began_ms.min(now_ms);
    if window.used >= most {
        return Err(((window.began_ms + WINDOW_MS - now_ms + 999) / 1000).max(1));
    }
    window.used += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn an_account_has_ten_attempts_from_wherever() {
        let attempts = Attempts::default();
        for n in 0..10 {
            attempts.admit(from(n), "ada@example.com", 0).unwrap();
        }
        assert_eq!(attempts.admit(from(11), "ada@example.com", 1), Err(900));
        attempts.admit(from(11), "eve@example.com", 1).unwrap();
        attempts.admit(from(11), "ada@example.com", WINDOW_MS).unwrap();
    }

    #[test]
    fn an_address_has_thirty_attempts_at_whatever() {
        let attempts = Attempts::default();
        for n in 0..30 {
            attempts.admit(from(1), &n.to_string(), 0).unwrap();
        }
        assert!(attempts.admit(from(1), "another", WINDOW_MS - 1).is_err());
        attempts.admit(from(2), "another", WINDOW_MS - 1).unwrap();
    }

    #[test]
    fn a_clock_that_is_set_back_neither_locks_out_nor_lets_in() {
        let attempts = Attempts::default();
        let day = 86_400_000;
        for n in 0..10 {
            attempts.admit(from(n), "ada@example.com", day).unwrap();
        }
        assert_eq!(attempts.admit(from(10), "ada@example.com", day - 60_000), Err(900));
        attempts.admit(from(10), "ada@example.com", day - 60_000 - WINDOW_MS).unwrap();
    }

    #[test]
    fn whoever_comes_in_begins_anew() {
        let attempts = Attempts::default();
        for _ in 0..9 {
            attempts.admit(from(1), "ada", 0).unwrap();
        }
        attempts.succeeded("ada");
        for _ in 0..10 {
            attempts.admit(from(1), "ada", 0).unwrap();
        }
    }
}
