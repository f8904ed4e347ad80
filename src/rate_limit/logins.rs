//! Limits sign-in attempts per client address and per account, whether or not the account exists.
//!
//! Attempts are counted in memory, in windows that begin with the first attempt. An account that has reached its limit
//! is unlocked when its window ends; its open sessions are not affected. Each process counts separately, so N processes
//! together admit up to N times the limits. These attempts are still too few to guess a password of twelve characters
//! (the minimum), and signing in depends on no shared store.

use std::hash::Hash;
use std::net::IpAddr;

use dashmap::DashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::memory::network;

/// The length of a window, in milliseconds.
const WINDOW_MS: i64 = 15 * 60_000;
/// Maximum number of attempts per window and client address.
const MAX_PER_ADDRESS: u32 = 30;
/// Maximum number of attempts per window and account.
const MAX_PER_ACCOUNT: u32 = 10;
/// Number of addresses or accounts in memory at which those with ended windows are removed.
const PRUNE_THRESHOLD: usize = 20_000;

/// The current window of a client address or an account.
#[derive(Debug, Clone, Copy)]
struct AttemptWindow {
    began_ms: i64,
    attempts: u32,
}

/// The recent sign-in attempts that this process has counted.
#[derive(Debug, Default)]
pub struct Attempts {
    addresses: DashMap<IpAddr, AttemptWindow>,
    /// By a digest of the account name, which has a fixed size and does not reveal the name.
    accounts: DashMap<u128, AttemptWindow>,
}

impl Attempts {
    /// Admits and counts an attempt if the limits of its client address and its account allow it.
    ///
    /// # Errors
    /// Returns the number of seconds until the next attempt is allowed, at least 1. An attempt that the account's limit rejects
    /// still counts for the client address.
    pub fn admit(&self, address: IpAddr, account: &str, now_ms: i64) -> Result<(), i64> {
        let account = xxh3_128(account.as_bytes());
        acquire(&self.addresses, network(address), MAX_PER_ADDRESS, now_ms)?;
        acquire(&self.accounts, account, MAX_PER_ACCOUNT, now_ms)
    }

    /// Resets the attempts of an account after a successful sign-in.
    pub fn reset(&self, account: &str) {
        self.accounts.remove(&xxh3_128(account.as_bytes()));
    }
}

/// Counts an attempt in the current window of `key`, unless the window already has `max_attempts`. The error is the
/// number of seconds until the window ends, at least 1.
fn acquire<K: Eq + Hash>(
    windows: &DashMap<K, AttemptWindow>,
    key: K,
    max_attempts: u32,
    now_ms: i64,
) -> Result<(), i64> {
    // If the clock was set back by a window or more, the window has ended, too.
    let is_running = |window: &AttemptWindow| (now_ms - window.began_ms).abs() < WINDOW_MS;
    if windows.len() >= PRUNE_THRESHOLD {
        windows.retain(|_, window| is_running(window));
    }
    let mut window = windows.entry(key).or_insert(AttemptWindow { began_ms: now_ms, attempts: 0 });
    if !is_running(&window) {
        *window = AttemptWindow { began_ms: now_ms, attempts: 0 };
    }
    // If the clock is set back by less than a window, the window is moved back, too. This allows no additional attempts
    // and makes no wait longer than a window.
    window.began_ms = window.began_ms.min(now_ms);
    if window.attempts >= max_attempts {
        return Err(((window.began_ms + WINDOW_MS - now_ms + 999) / 1000).max(1));
    }
    window.attempts += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn an_account_has_ten_attempts_from_any_address() {
        let attempts = Attempts::default();
        for n in 0..10 {
            attempts.admit(address(n), "ada@example.com", 0).unwrap();
        }
        assert_eq!(attempts.admit(address(11), "ada@example.com", 1), Err(900));
        attempts.admit(address(11), "eve@example.com", 1).unwrap();
        attempts.admit(address(11), "ada@example.com", WINDOW_MS).unwrap();
    }

    #[test]
    fn an_address_has_thirty_attempts_at_any_account() {
        let attempts = Attempts::default();
        for n in 0..30 {
            attempts.admit(address(1), &n.to_string(), 0).unwrap();
        }
        assert!(attempts.admit(address(1), "another", WINDOW_MS - 1).is_err());
        attempts.admit(address(2), "another", WINDOW_MS - 1).unwrap();
    }

    #[test]
    fn setting_the_clock_back_allows_no_additional_attempts_and_no_longer_wait() {
        let attempts = Attempts::default();
        let day = 86_400_000;
        for n in 0..10 {
            attempts.admit(address(n), "ada@example.com", day).unwrap();
        }
        assert_eq!(attempts.admit(address(10), "ada@example.com", day - 60_000), Err(900));
        attempts.admit(address(10), "ada@example.com", day - 60_000 - WINDOW_MS).unwrap();
    }

    #[test]
    fn a_successful_sign_in_resets_the_attempts() {
        let attempts = Attempts::default();
        for _ in 0..9 {
            attempts.admit(address(1), "ada", 0).unwrap();
        }
        attempts.reset("ada");
        for _ in 0..10 {
            attempts.admit(address(1), "ada", 0).unwrap();
        }
    }
}
