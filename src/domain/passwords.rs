//! Hashes and verifies passwords with argon2id.
//!
//! Hashing runs on blocking threads, with limited concurrency. Verifying a password for an unknown email address takes as long
//! as verifying a wrong password.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use zxcvbn::{Score, zxcvbn};

use super::{Error, Result, token};

/// Minimum number of characters of a password. NIST SP 800-63B requires 8, or 15 if the password is the only factor.
pub(crate) const MIN_CHARACTERS: usize = 12;
/// Maximum number of bytes of a password. Limits the cost of hashing.
pub(crate) const MAX_BYTES: usize = 1024;

/// How many characters are examined for how easy they are to guess. The time grows much faster than the length.
const EXAMINED_CHARACTERS: usize = 32;

/// Memory per hash in KiB. OWASP recommends 19 MiB, two passes and one lane for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Maximum number of concurrent hash computations, each with its own thread and memory. Further ones wait.
const MAX_CONCURRENT: usize = 2;

/// Limits the concurrent hash computations of a process and counts verifications. Clones share the state.
#[derive(Debug, Clone)]
pub struct Passwords {
    permits: Arc<Semaphore>,
    verifications: Arc<AtomicU64>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONCURRENT)), verifications: Arc::default() }
    }
}

impl Passwords {
    /// Returns the number of password verifications, successful or not, including those against the dummy hash.
    pub fn verifications(&self) -> u64 {
        self.verifications.load(Ordering::Relaxed)
    }
}

/// The hash of a random password. If there is no user or the user has no hash, the password is verified against this
/// one, so that the verification takes the same time.
static DUMMY_HASH: LazyLock<anyhow::Result<String>> =
    LazyLock::new(|| hash_blocking(token::generate()?.expose_secret()));

/// Validates the new password of the person with this email address, and hashes it with a new salt. Returns the parameters, the salt
/// and the hash in one string.
///
/// # Errors
/// Returns [`Error::Invalid`] for the field `password` when it is too short, too long or easy to guess, and [`Error::Internal`] when
/// the operating system's random generator fails.
pub(super) async fn validate_and_hash(
    passwords: &Passwords,
    password: &SecretString,
    address: &str,
) -> Result<String> {
    check_length(password.expose_secret())?;
    let (password, address) = (password.clone(), address.to_owned());
    let compute = move |_: &Passwords| {
        let password = password.expose_secret();
        if is_easy_to_guess(password, &address) { Ok(None) } else { hash_blocking(password).map(Some) }
    };
    let hash = run_blocking(passwords, compute).await?;
    let problem = "is easy to guess; use several words that do not belong together";
    hash.ok_or_else(|| Error::invalid("password", problem))
}

fn check_length(password: &str) -> Result<()> {
    if password.chars().count() < MIN_CHARACTERS {
        return Err(Error::invalid("password", format!("must have at least {MIN_CHARACTERS} characters")));
    }
    if password.len() > MAX_BYTES {
        return Err(Error::invalid("password", format!("must have at most {MAX_BYTES} bytes")));
    }
    Ok(())
}

/// Returns whether fewer than 100 million guesses find the beginning of the password, by lists of common passwords and words, patterns
/// of the keyboard, repetitions, dates, and the parts of the person's email address.
fn is_easy_to_guess(password: &str, address: &str) -> bool {
    let password: String = password.chars().take(EXAMINED_CHARACTERS).collect();
    let own_words: Vec<&str> = address.split(|c: char| !c.is_alphanumeric()).chain([address]).collect();
    zxcvbn(&password, &own_words).score() < Score::Three
}

/// Returns whether a password matches a hash. Without a hash, or for a password longer than [`MAX_BYTES`], returns
/// false after the same amount of work.
///
/// # Errors
/// Returns [`Error::Internal`] when the stored hash is malformed or the operating system's random generator fails.
pub(super) async fn verify(
    passwords: &Passwords,
    password: &SecretString,
    hash: Option<String>,
) -> Result<bool> {
    let password = password.clone();
    let verify =
        move |passwords: &Passwords| verify_blocking(passwords, password.expose_secret(), hash.as_deref());
    Ok(run_blocking(passwords, verify).await?)
}

/// Runs a computation on a blocking thread, once a permit is available.
async fn run_blocking<T: Send + 'static>(
    passwords: &Passwords,
    compute: impl FnOnce(&Passwords) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    // The computation holds the permit until it ends, even if the caller is canceled.
    let permit = Arc::clone(&passwords.permits).acquire_owned().await?;
    let passwords = passwords.clone();
    let task = move || {
        let outcome = compute(&passwords);
        drop(permit);
        outcome
    };
    tokio::task::spawn_blocking(task).await?
}

fn argon2() -> anyhow::Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(anyhow::Error::msg)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash_blocking(password: &str) -> anyhow::Result<String> {
    let hash = argon2()?.hash_password(password.as_bytes()).map_err(anyhow::Error::msg)?;
    Ok(hash.to_string())
}

fn verify_blocking(passwords: &Passwords, password: &str, hash: Option<&str>) -> anyhow::Result<bool> {
    // A longer password matches no hash, because new passwords are limited to this length. The empty password matches
    // none either, and is cheaper to verify.
    let password = if password.len() > MAX_BYTES { "" } else { password };
    let stored = match hash {
        Some(hash) => hash,
        None => DUMMY_HASH
            .as_deref()
            .map_err(|error| anyhow::anyhow!("cannot create the dummy hash: {error:#}"))?,
    };
    let result = argon2()?.verify_password(password.as_bytes(), stored);
    passwords.verifications.fetch_add(1, Ordering::Relaxed);
    match result {
        Ok(()) => Ok(hash.is_some()),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(anyhow::Error::msg(error)).context("the stored password hash is malformed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_matches_its_hash() {
        let password = "correct horse battery";
        let stored = hash_blocking(password).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(stored, hash_blocking(password).unwrap(), "each hash has its own salt");
        let passwords = Passwords::default();
        let verify = |password: &str, hash: Option<&str>| verify_blocking(&passwords, password, hash);
        assert!(verify(password, Some(&stored)).unwrap());
        assert!(!verify("wrong horse battery", Some(&stored)).unwrap());
        assert!(!verify(password, None).unwrap());
        assert_eq!(passwords.verifications(), 3, "a verification without a stored hash counts, too");
        assert!(verify(password, Some("nonsense")).is_err());
    }

    #[test]
    fn a_new_password_must_not_be_too_short_or_too_long() {
        check_length(&"ä".repeat(12)).unwrap();
        assert!(check_length("elevenchars").is_err());
        assert!(check_length(&"a".repeat(1025)).is_err());
    }

    #[test]
    fn a_new_password_must_not_be_easy_to_guess() {
        for easy in [
            "password1234",
            "123456789012",
            "qwertyuiop[]",
            "aaaaaaaaaaaaaaaa",
            "P@ssw0rd2026!",
            "ada.lovelace",
            "ada.lovelace@acme.example",
            "lovelace2026",
        ] {
            assert!(is_easy_to_guess(easy, "ada.lovelace@acme.example"), "{easy}");
        }
        for good in ["correct horse battery", "7vQ-mT2xpLw9", "größe käfig wolke"] {
            assert!(!is_easy_to_guess(good, "ada.lovelace@acme.example"), "{good}");
        }
    }
}
