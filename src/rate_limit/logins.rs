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

/// How many attempts a subject has in a window.
#[derive(Debug, Clone, Copy)]
struct Limit {
    attempts: u32,
    /// The length of the window, in milliseconds.
    window_ms: i64,
}

const fn per_quarter_hour(attempts: u32) -> Limit {
    Limit { attempts, window_ms: 15 * 60_000 }
}

const fn per_day(attempts: u32) -> Limit {
    Limit { attempts, window_ms: 24 * 60 * 60_000 }
}

/// Sign-in attempts per client network.
const PER_NETWORK: Limit = per_quarter_hour(30);
/// Sign-in attempts per account on one client network.
const PER_ACCOUNT_AND_NETWORK: Limit = per_quarter_hour(10);
/// Sign-in attempts per account on all networks.
const PER_ACCOUNT: Limit = per_quarter_hour(100);
/// Sign-in attempts per known device.
const PER_DEVICE: Limit = per_quarter_hour(10);
/// Codes of the second factor: per known device, and per account on all other devices. Only who has proved the first factor can use
/// them up.
const CODES: Limit = per_quarter_hour(10);
/// Codes per account: on all known devices together, and on all others together. A guess is right with a probability of 3 in a
/// million, since three codes are valid at a time. Guessing on every day for a year succeeds with a probability of 5 percent, and of
/// 10 percent for who can also make devices known by setting passwords.
const CODES_PER_DAY: Limit = per_day(50);
/// Wrong codes per account before it is notified.
const UNNOTICED_CODES: Limit = per_day(4);
/// Notices of wrong codes per account.
const CODE_NOTICES: Limit = per_day(1);
/// Sign-ins with a provider per client network. Each sends a request to the provider. Nobody can guess the code of a provider, so an
/// office behind one address gets more of them than of passwords.
const PROVIDER_CODES_PER_NETWORK: Limit = per_quarter_hour(100);
/// Requests for password links per client network.
const LINKS_PER_NETWORK: Limit = per_quarter_hour(10);
/// Password links that are mailed per account.
const LINKS_PER_ACCOUNT: Limit = per_quarter_hour(3);
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
    length_ms: i64,
    attempts: u32,
}

impl AttemptWindow {
    /// Returns whether the window has not ended. If the clock was set back by its length or more, it has ended, too.
    fn is_running(&self, now_ms: i64) -> bool {
        (now_ms - self.began_ms).abs() < self.length_ms
    }
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
            return self.acquire(clock, own, PER_DEVICE).await;
        }
        let of_network = format!("sign-in:{}", network(attempt.client));
        self.acquire(clock, of_network, PER_NETWORK).await?;
        self.acquire(clock, own, PER_ACCOUNT_AND_NETWORK).await?;
        let of_account = format!("sign-in-account:{}", self.digest(attempt.account));
        self.acquire(clock, of_account, PER_ACCOUNT).await
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
        self.acquire(clock, of_network, LINKS_PER_NETWORK).await?;
        let of_account = format!("password-link-account:{}", self.digest(account));
        Ok(self.acquire(clock, of_account, LINKS_PER_ACCOUNT).await.is_ok())
    }

    /// Admits and counts a code of a second factor, whichever network it comes from. Right ones count, too. Devices that signed in to
    /// the account before have counts of their own, so that no stranger can use up their codes.
    ///
    /// # Errors
    /// Returns the number of seconds until the next code is allowed, at least 1.
    pub async fn admit_code(&self, clock: &Clock, account: &str, device: Option<u128>) -> Result<(), i64> {
        let account = self.digest(account);
        let (own, of_day) = match device {
            Some(device) => (format!("device:{device:032x}"), format!("devices:{account}")),
            None => (account.clone(), account),
        };
        self.acquire(clock, format!("second-factor:{own}"), CODES).await?;
        self.acquire(clock, format!("second-factor-day:{of_day}"), CODES_PER_DAY).await
    }

    /// Counts a wrong code of a second factor, and returns whether the account has to be notified: of the fifth one in a day.
    pub async fn is_notice_due(&self, clock: &Clock, account: &str) -> bool {
        let account = self.digest(account);
        self.acquire(clock, format!("wrong-code:{account}"), UNNOTICED_CODES).await.is_err()
            && self.acquire(clock, format!("wrong-code-notice:{account}"), CODE_NOTICES).await.is_ok()
    }

    /// Admits and counts the return of a browser from a provider for single sign-on, before its code is exchanged.
    ///
    /// # Errors
    /// Returns the number of seconds until the network can return again, at least 1.
    pub async fn admit_provider_code(&self, clock: &Clock, client: IpAddr) -> Result<(), i64> {
        let of_network = format!("provider-code:{}", network(client));
        self.acquire(clock, of_network, PROVIDER_CODES_PER_NETWORK).await
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

    /// Counts an attempt in the current window of the subject, unless the limit is reached. The error is the number of seconds until
    /// the window ends, at least 1.
    async fn acquire(&self, clock: &Clock, subject: String, limit: Limit) -> Result<(), i64> {
        let Some(shared) = self.store.shared() else {
            return acquire(&self.windows, subject, limit, self.store.now_ms(clock));
        };
        let counted = shared.count(subject_request(subject, limit), 0).await;
        if counted.is_admitted {
            return Ok(());
        }
        Err(seconds_left(counted.short_start + limit.window_ms, self.store.now_ms(clock)))
    }
}

/// Returns an attempt as the shared store counts it. Its limits per calendar day are not used.
fn subject_request(subject: String, limit: Limit) -> SubjectRequests {
    SubjectRequests {
        subject,
        requested: 1,
        short_limit: i64::from(limit.attempts),
        short_length: limit.window_ms,
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
    length_ms: i64,
    now_ms: i64,
) -> RefMut<'_, String, AttemptWindow> {
    if windows.len() >= PRUNE_THRESHOLD {
        windows.retain(|_, window| window.is_running(now_ms));
    }
    let new = AttemptWindow { began_ms: now_ms, length_ms, attempts: 0 };
    let mut window = windows.entry(subject).or_insert(new);
    if !window.is_running(now_ms) {
        *window = new;
    }
    window
}

/// Like [`Attempts::acquire`], with the counts of this process.
fn acquire(
    windows: &DashMap<String, AttemptWindow>,
    subject: String,
    limit: Limit,
    now_ms: i64,
) -> Result<(), i64> {
    let mut window = current_window(windows, subject, limit.window_ms, now_ms);
    // If the clock is set back by less than a window, the window is moved back, too. This allows no additional attempts
    // and makes no wait longer than a window.
    window.began_ms = window.began_ms.min(now_ms);
    if window.attempts >= limit.attempts {
        return Err(seconds_left(window.began_ms + limit.window_ms, now_ms));
    }
    window.attempts += 1;
    Ok(())
}

/// Returns the number of seconds until a window ends, rounded up and at least 1.
fn seconds_left(ends_ms: i64, now_ms: i64) -> i64 {
    ((ends_ms - now_ms + 999) / 1000).max(1)
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
        attempts.admit(address(1), "ada@example.com", day - 60_000 - PER_ACCOUNT.window_ms).await.unwrap();
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
