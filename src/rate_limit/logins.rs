//! Limits sign-in attempts, codes of second factors and of providers, and requests for password links, whether or not the account
//! exists.
//!
//! An attempt counts for its client network, for its account on that network, and for its account. Strangers can therefore
//! lock an account only from many networks, and only for strangers: a device that signed in to the account before has a count
//! of its own, in which successes count, too. A network is one IPv4 address, or one /64 network of IPv6 addresses.
//!
//! Windows begin with the first attempt. A count that has reached its limit starts again when its window ends; open sessions are
//! not affected. Attempts are counted in the shared limit store, if there is one; otherwise N processes together admit up to N
//! times the limits, which is still too few to guess a password of twelve characters (the minimum).

use std::net::IpAddr;

use dashmap::DashMap;
use dashmap::mapref::one::RefMut;
use entity::rate_windows::SubjectRequests;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::Sha256;

use super::LimitStore;
use super::limiter::network;
use foundation::clock::Clock;
use foundation::secret::SecretKey;

/// The length of a window, in milliseconds.
const WINDOW_MS: i64 = 15 * 60_000;
/// Maximum number of sign-in attempts per window and client network.
const MAX_PER_NETWORK: u32 = 30;
/// Maximum number of sign-in attempts per window and account on one client network.
const MAX_PER_ACCOUNT_AND_NETWORK: u32 = 10;
/// Maximum number of sign-in attempts per window and account on all networks.
const MAX_PER_ACCOUNT: u32 = 100;
/// Maximum number of sign-in attempts per window and known device.
const MAX_PER_DEVICE: u32 = 10;
/// Maximum number of codes per window and account. Only who knows the password can use them up, and six digits need few attempts.
const MAX_CODES_PER_ACCOUNT: u32 = 10;
/// Maximum number of sign-ins with a provider per window and client network. Each sends a request to the provider. Nobody can guess
/// the code of a provider, so an office behind one address gets more of them than of passwords.
const MAX_PROVIDER_CODES_PER_NETWORK: u32 = 100;
/// Maximum number of requests for password links per window and client network.
const MAX_LINKS_PER_NETWORK: u32 = 10;
/// Maximum number of password links that are mailed per window and account.
const MAX_LINKS_PER_ACCOUNT: u32 = 3;
/// Number of windows in memory at which ended ones are removed.
const PRUNE_THRESHOLD: usize = 40_000;

/// An attempt to sign in.
#[derive(Debug, Clone, Copy)]
pub struct SignInAttempt<'a> {
    /// The IP address of the client.
    pub client: IpAddr,
    /// The name of the account, the same for all spellings.
    pub account: &'a str,
    /// The id of the device, if it signed in to the account before.
    pub device: Option<u128>,
}

/// The current window of a subject, such as a network or an account.
#[derive(Debug, Clone, Copy)]
struct AttemptWindow {
    began_ms: i64,
    attempts: u32,
}

/// The recent attempts that this process knows.
#[derive(Debug)]
pub struct Attempts {
    store: LimitStore,
    /// The key of the digests of account names, which are stored outside of this process. It is the same in all processes.
    digest_key: SecretKey,
    /// By subject.
    windows: DashMap<String, AttemptWindow>,
}

impl Attempts {
    /// Creates a value without attempts that uses this store.
    pub fn new(store: LimitStore, digest_key: SecretKey) -> Self {
        Self { store, digest_key, windows: DashMap::default() }
    }

    /// Admits and counts an attempt to sign in if its limits allow it.
    ///
    /// # Errors
    /// Returns the number of seconds until the next attempt is allowed, at least 1. An attempt that a limit rejects still counts
    /// for the limits before it.
    pub async fn admit(&self, clock: &Clock, attempt: SignInAttempt<'_>) -> Result<(), i64> {
        let own = self.own_subject(attempt);
        if attempt.device.is_some() {
            return self.acquire(clock, own, MAX_PER_DEVICE).await;
        }
        let of_network = format!("sign-in:{}", network(attempt.client));
        self.acquire(clock, of_network, MAX_PER_NETWORK).await?;
        self.acquire(clock, own, MAX_PER_ACCOUNT_AND_NETWORK).await?;
        let of_account = format!("sign-in-account:{}", self.digest(attempt.account));
        self.acquire(clock, of_account, MAX_PER_ACCOUNT).await
    }

    /// Resets the attempts at the account on this network after a successful sign-in. The attempts at the account on all networks
    /// still count, since others can have made them. So do those of a known device, since no other limit applies to it: otherwise
    /// a script with a valid password could sign in without end.
    pub fn reset(&self, attempt: SignInAttempt<'_>) {
        if attempt.device.is_some() {
            return;
        }
        let subject = self.own_subject(attempt);
        self.windows.remove(&subject);
        self.store.reset(subject);
    }

    /// Counts a request for a password link, and returns whether a link can be mailed to the account.
    ///
    /// # Errors
    /// Returns the number of seconds until the network can request another link, at least 1.
    pub async fn admit_link(&self, clock: &Clock, client: IpAddr, account: &str) -> Result<bool, i64> {
        let of_network = format!("password-link:{}", network(client));
        self.acquire(clock, of_network, MAX_LINKS_PER_NETWORK).await?;
        let of_account = format!("password-link-account:{}", self.digest(account));
        Ok(self.acquire(clock, of_account, MAX_LINKS_PER_ACCOUNT).await.is_ok())
    }

    /// Admits and counts a code of a second factor. Codes count for their account only, whichever network they come from, and right
    /// ones count, too.
    ///
    /// # Errors
    /// Returns the number of seconds until the next code is allowed, at least 1.
    pub async fn admit_code(&self, clock: &Clock, account: &str) -> Result<(), i64> {
        self.acquire(clock, format!("second-factor:{}", self.digest(account)), MAX_CODES_PER_ACCOUNT).await
    }

    /// Returns whether the account was not yet notified of too many codes in this window, and counts the notice.
    pub async fn admit_code_notice(&self, clock: &Clock, account: &str) -> bool {
        let of_account = format!("second-factor-notice:{}", self.digest(account));
        self.acquire(clock, of_account, 1).await.is_ok()
    }

    /// Admits and counts the return of a browser from a provider for single sign-on, before its code is exchanged.
    ///
    /// # Errors
    /// Returns the number of seconds until the network can return again, at least 1.
    pub async fn admit_provider_code(&self, clock: &Clock, client: IpAddr) -> Result<(), i64> {
        let of_network = format!("provider-code:{}", network(client));
        self.acquire(clock, of_network, MAX_PROVIDER_CODES_PER_NETWORK).await
    }

    /// Returns the subject that only attempts of the same device, or of the same network at the same account, count for.
    fn own_subject(&self, attempt: SignInAttempt<'_>) -> String {
        match attempt.device {
            Some(device) => format!("sign-in-device:{device:032x}"),
            None => {
                format!("sign-in-account:{}:{}", self.digest(attempt.account), network(attempt.client))
            }
        }
    }

    /// Returns a digest of an account name, which has a fixed size and does not reveal the name.
    fn digest(&self, account: &str) -> String {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.digest_key.expose_secret()).expect("keys have any length");
        mac.update(account.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let (first_half, _) = digest.split_at(16);
        hex::encode(first_half)
    }

    /// Counts an attempt in the current window of the subject, unless the window already has `max_attempts`. The error is the
    /// number of seconds until the window ends, at least 1.
    async fn acquire(&self, clock: &Clock, subject: String, max_attempts: u32) -> Result<(), i64> {
        let Some(shared) = self.store.shared() else {
            return acquire(&self.windows, subject, max_attempts, self.store.now_ms(clock));
        };
        let counted = shared.count(subject_request(subject, max_attempts), 0).await;
        if counted.is_admitted {
            return Ok(());
        }
        Err(seconds_left(counted.short_start, self.store.now_ms(clock)))
    }
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

/// Returns the current window of a subject. Removes ended windows if there are many.
fn current_window(
    windows: &DashMap<String, AttemptWindow>,
    subject: String,
    now_ms: i64,
) -> RefMut<'_, String, AttemptWindow> {
    // If the clock was set back by a window or more, the window has ended, too.
    let is_running = |window: &AttemptWindow| (now_ms - window.began_ms).abs() < WINDOW_MS;
    if windows.len() >= PRUNE_THRESHOLD {
        windows.retain(|_, window| is_running(window));
    }
    let mut window = windows.entry(subject).or_insert(AttemptWindow { began_ms: now_ms, attempts: 0 });
    if !is_running(&window) {
        *window = AttemptWindow { began_ms: now_ms, attempts: 0 };
    }
    window
}

/// Like [`Attempts::acquire`], with the counts of this process.
fn acquire(
    windows: &DashMap<String, AttemptWindow>,
    subject: String,
    max_attempts: u32,
    now_ms: i64,
) -> Result<(), i64> {
    let mut window = current_window(windows, subject, now_ms);
    // If the clock is set back by less than a window, the window is moved back, too. This allows no additional attempts
    // and makes no wait longer than a window.
    window.began_ms = window.began_ms.min(now_ms);
    if window.attempts >= max_attempts {
        return Err(seconds_left(window.began_ms, now_ms));
    }
    window.attempts += 1;
    Ok(())
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

        async fn admit(&self, client: IpAddr, account: &str, now_ms: i64) -> Result<(), i64> {
            self.clock.set(from_ms(now_ms));
            self.attempts.admit(&self.clock, SignInAttempt { client, account, device: None }).await
        }
    }

    #[tokio::test]
    async fn setting_the_clock_back_allows_no_additional_attempts_and_no_longer_wait() {
        let attempts = TestAttempts::new();
        let day = 86_400_000;
        for _ in 0..10 {
            attempts.admit(address(1), "ada@example.com", day).await.unwrap();
        }
        assert_eq!(attempts.admit(address(1), "ada@example.com", day - 60_000).await, Err(900));
        attempts.admit(address(1), "ada@example.com", day - 60_000 - WINDOW_MS).await.unwrap();
    }

    #[tokio::test]
    async fn a_successful_sign_in_resets_the_attempts_on_its_network() {
        let attempts = TestAttempts::new();
        for n in 1..=2 {
            for _ in 0..10 {
                attempts.admit(address(n), "ada", 0).await.unwrap();
            }
        }
        attempts.attempts.reset(SignInAttempt { client: address(1), account: "ada", device: None });
        for _ in 0..10 {
            attempts.admit(address(1), "ada", 0).await.unwrap();
        }
        assert_eq!(attempts.admit(address(2), "ada", 0).await, Err(900));
    }
}
