//! Limits sign-in attempts per client address and per account, whether or not the account exists.
//!
//! Windows begin with the first attempt. An account that has reached its limit is unlocked when its window ends; its open
//! sessions are not affected. Attempts are counted in the shared limit store, if there is one; otherwise N processes together
//! admit up to N times the limits, which is still too few to guess a password of twelve characters (the minimum).

use std::hash::Hash;
use std::net::IpAddr;

use dashmap::DashMap;
use dashmap::mapref::one::RefMut;
use entity::rate_windows::SubjectRequests;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::Sha256;

use super::limiter::network;
use super::{LimitStore, limit_store::Counted};
use foundation::clock::Clock;
use foundation::secret::SecretKey;

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

/// The recent sign-in attempts that this process knows.
#[derive(Debug)]
pub struct Attempts {
    store: LimitStore,
    /// The key of the digests of account names, which are stored outside of this process. It is the same in all processes.
    digest_key: SecretKey,
    addresses: DashMap<IpAddr, AttemptWindow>,
    /// By a digest of the account name.
    accounts: DashMap<u128, AttemptWindow>,
}

impl Attempts {
    /// Creates a value without attempts that uses this store.
    pub fn new(store: LimitStore, digest_key: SecretKey) -> Self {
        Self { store, digest_key, addresses: DashMap::default(), accounts: DashMap::default() }
    }

    /// Admits and counts an attempt if the limits of its client address and its account allow it.
    ///
    /// # Errors
    /// Returns the number of seconds until the next attempt is allowed, at least 1. An attempt that the account's limit rejects
    /// still counts for the client address.
    pub async fn admit(&self, clock: &Clock, address: IpAddr, account: &str) -> Result<(), i64> {
        let (address, account) = (network(address), self.digest(account));
        let subject = format!("sign-in:{address}");
        self.acquire(clock, &self.addresses, address, subject, MAX_PER_ADDRESS).await?;
        self.acquire(clock, &self.accounts, account, account_subject(account), MAX_PER_ACCOUNT).await
    }

    /// Returns a digest of an account name, which has a fixed size and does not reveal the name.
    fn digest(&self, account: &str) -> u128 {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.digest_key.expose_secret()).expect("keys have any length");
        mac.update(account.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let (first_half, _) = digest.split_at(16);
        first_half.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    /// Resets the attempts of an account after a successful sign-in.
    pub fn reset(&self, account: &str) {
        let account = self.digest(account);
        self.accounts.remove(&account);
        self.store.reset(account_subject(account));
    }

    /// Counts an attempt in the current window of `key`, unless the window already has `max_attempts`. The error is the
    /// number of seconds until the window ends, at least 1.
    async fn acquire<K: Eq + Hash>(
        &self,
        clock: &Clock,
        windows: &DashMap<K, AttemptWindow>,
        key: K,
        subject: String,
        max_attempts: u32,
    ) -> Result<(), i64> {
        let counted = match self.store.shared() {
            Some(shared) => shared.count(subject_request(subject, max_attempts), 0).await,
            None => None,
        };
        let now_ms = self.store.now_ms(clock);
        match counted {
            Some(counted) => record(windows, key, &counted, now_ms),
            None => acquire(windows, key, max_attempts, now_ms),
        }
    }
}

/// Returns the name of an account in the shared store.
fn account_subject(digest: u128) -> String {
    format!("sign-in-account:{digest:032x}")
}

/// Returns an attempt as the shared store counts it. Attempts have no limit per day.
fn subject_request(subject: String, max_attempts: u32) -> SubjectRequests {
    SubjectRequests {
        subject,
        requested: 1,
        short_limit: i64::from(max_attempts),
        short_length: WINDOW_MS,
        short_alignment: 1,
        short_known_start: 0,
        // A successful sign-in through another process may have reset the count that this process knows.
        short_known: 0,
        day_limit: i64::from(u32::MAX),
        day_known_start: 0,
        day_known: 0,
    }
}

/// Returns the current window of a key. Removes ended windows if there are many.
fn current_window<K: Eq + Hash>(
    windows: &DashMap<K, AttemptWindow>,
    key: K,
    now_ms: i64,
) -> RefMut<'_, K, AttemptWindow> {
    // If the clock was set back by a window or more, the window has ended, too.
    let is_running = |window: &AttemptWindow| (now_ms - window.began_ms).abs() < WINDOW_MS;
    if windows.len() >= PRUNE_THRESHOLD {
        windows.retain(|_, window| is_running(window));
    }
    let mut window = windows.entry(key).or_insert(AttemptWindow { began_ms: now_ms, attempts: 0 });
    if !is_running(&window) {
        *window = AttemptWindow { began_ms: now_ms, attempts: 0 };
    }
    window
}

/// Like [`Attempts::acquire`], with the counts of this process.
fn acquire<K: Eq + Hash>(
    windows: &DashMap<K, AttemptWindow>,
    key: K,
    max_attempts: u32,
    now_ms: i64,
) -> Result<(), i64> {
    let mut window = current_window(windows, key, now_ms);
    // If the clock is set back by less than a window, the window is moved back, too. This allows no additional attempts
    // and makes no wait longer than a window.
    window.began_ms = window.began_ms.min(now_ms);
    if window.attempts >= max_attempts {
        return Err(seconds_left(window.began_ms, now_ms));
    }
    window.attempts += 1;
    Ok(())
}

/// Records the decision of the shared store about an attempt, and returns it.
fn record<K: Eq + Hash>(
    windows: &DashMap<K, AttemptWindow>,
    key: K,
    counted: &Counted,
    now_ms: i64,
) -> Result<(), i64> {
    let attempts = u32::try_from(counted.short_used).unwrap_or(u32::MAX);
    *current_window(windows, key, now_ms) = AttemptWindow { began_ms: counted.short_start, attempts };
    if counted.is_admitted { Ok(()) } else { Err(seconds_left(counted.short_start, now_ms)) }
}

/// Returns the number of seconds until a window ends, rounded up and at least 1.
fn seconds_left(began_ms: i64, now_ms: i64) -> i64 {
    ((began_ms + WINDOW_MS - now_ms + 999) / 1000).max(1)
}

#[cfg(test)]
mod tests {
    use foundation::clock::from_ms;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Counts attempts at a simulated time.
    struct TestAttempts {
        attempts: Attempts,
        clock: Clock,
    }

    impl TestAttempts {
        fn new() -> Self {
            Self {
                attempts: Attempts::new(LimitStore::default(), SecretKey::from(Box::new([7; 32]))),
                clock: Clock::simulated(from_ms(0)),
            }
        }

        async fn admit(&self, address: IpAddr, account: &str, now_ms: i64) -> Result<(), i64> {
            self.clock.set(from_ms(now_ms));
            self.attempts.admit(&self.clock, address, account).await
        }
    }

    #[tokio::test]
    async fn an_account_has_ten_attempts_from_any_address() {
        let attempts = TestAttempts::new();
        for n in 0..10 {
            attempts.admit(address(n), "ada@example.com", 0).await.unwrap();
        }
        assert_eq!(attempts.admit(address(11), "ada@example.com", 1).await, Err(900));
        attempts.admit(address(11), "eve@example.com", 1).await.unwrap();
        attempts.admit(address(11), "ada@example.com", WINDOW_MS).await.unwrap();
    }

    #[tokio::test]
    async fn an_address_has_thirty_attempts_at_any_account() {
        let attempts = TestAttempts::new();
        for n in 0..30 {
            attempts.admit(address(1), &n.to_string(), 0).await.unwrap();
        }
        assert!(attempts.admit(address(1), "another", WINDOW_MS - 1).await.is_err());
        attempts.admit(address(2), "another", WINDOW_MS - 1).await.unwrap();
    }

    #[tokio::test]
    async fn setting_the_clock_back_allows_no_additional_attempts_and_no_longer_wait() {
        let attempts = TestAttempts::new();
        let day = 86_400_000;
        for n in 0..10 {
            attempts.admit(address(n), "ada@example.com", day).await.unwrap();
        }
        assert_eq!(attempts.admit(address(10), "ada@example.com", day - 60_000).await, Err(900));
        attempts.admit(address(10), "ada@example.com", day - 60_000 - WINDOW_MS).await.unwrap();
    }

    #[tokio::test]
    async fn a_successful_sign_in_resets_the_attempts() {
        let attempts = TestAttempts::new();
        for _ in 0..9 {
            attempts.admit(address(1), "ada", 0).await.unwrap();
        }
        attempts.attempts.reset("ada");
        for _ in 0..10 {
            attempts.admit(address(1), "ada", 0).await.unwrap();
        }
    }
}
