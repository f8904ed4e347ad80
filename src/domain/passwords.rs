//! Passwords: argon2id, off the threads that answer requests, and only so many at once.
//!
//! Whoever asks with an address that nobody has waits for the same work as with a wrong password.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use super::{Error, Result, token};
use crate::app::App;

/// Characters of a password at least (NIST SP 800-63B asks for 8, and for 15 where nothing else protects an account).
pub(crate) const SHORTEST: usize = 12;
/// Bytes of a password at most, so that nobody makes the server chew on megabytes.
pub(crate) const LONGEST_BYTES: usize = 1024;

/// OWASP's recommendation for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Passwords worked on at once, each on a thread and in memory of its own; the others wait.
const AT_ONCE: usize = 2;

/// The work on passwords in one process.
#[derive(Debug)]
pub struct Passwords {
    working: Arc<Semaphore>,
    verified: AtomicU64,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { working: Arc::new(Semaphore::new(AT_ONCE)), verified: AtomicU64::new(0) }
    }
}

impl Passwords {
    /// How many passwords were held against a hash so far, be it nobody's.
    pub fn verified(&self) -> u64 {
        self.verified.load(Ordering::Relaxed)
    }
}

/// The hash of a password that nobody knows: what is verified in place of one that is not there.
static NOBODYS: LazyLock<anyhow::Result<String>> =
    LazyLock::new(|| hash_now(token::generate()?.expose_secret()));

/// Whether a new password may be taken.
///
/// # Errors
/// [`Error::Invalid`] for the field `password`.
pub(super) fn check(password: &str) -> Result<()> {
    if password.chars().count() < SHORTEST {
        return Err(Error::invalid("password", format!("must have at least {SHORTEST} characters")));
    }
    if password.len() > LONGEST_BYTES {
        return Err(Error::invalid("password", format!("must have at most {LONGEST_BYTES} bytes")));
    }
    Ok(())
}

/// The text that is stored of a password: its parameters, a salt of its own, the hash.
///
/// # Errors
/// [`Error::Internal`] when the system gives no random salt.
pub(super) async fn hash(app: &App, password: &SecretString) -> Result<String> {
    let password = password.clone();
    Ok(work(app, move |_| hash_now(password.expose_secret())).await?)
}

/// Whether this is the password that the hash was made of. Without a hash it is not, after the same work.
///
/// # Errors
/// [`Error::Internal`] when the stored text is no hash.
pub(super) async fn verify(app: &App, password: &SecretString, hash: Option<String>) -> Result<bool> {
    let password = password.clone();
    Ok(work(app, move |on| verify_now(on, password.expose_secret(), hash.as_deref())).await?)
}

/// Runs heavy work on a thread where it may block, when it is its turn.
async fn work<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Passwords) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    // The turn ends with the work, which goes on when nobody waits for it any more.
    let turn = Arc::clone(&app.passwords().working).acquire_owned().await?;
    let app = app.clone();
    let worked = move || {
        let outcome = work(app.passwords());
        drop(turn);
        outcome
    };
    tokio::task::spawn_blocking(worked).await?
}

fn argon2() -> anyhow::Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(anyhow::Error::msg)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash_now(password: &str) -> anyhow::Result<String> {
    let hash = argon2()?.hash_password(password.as_bytes()).map_err(anyhow::Error::msg)?;
    Ok(hash.to_string())
}

fn verify_now(on: &Passwords, password: &str, hash: Option<&str>) -> anyhow::Result<bool> {
    // Longer ones are never set.
    let password = if password.len() > LONGEST_BYTES { "" } else { password };
    let stored = match hash {
        Some(hash) => hash,
        None => NOBODYS.as_deref().map_err(|error| anyhow::anyhow!("no hash can be made: {error:#}"))?,
    };
    let verified = argon2()?.verify_password(password.as_bytes(), stored);
    on.verified.fetch_add(1, Ordering::Relaxed);
    match verified {
        Ok(()) => Ok(hash.is_some()),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(anyhow::Error::msg(error)).context("a stored password hash cannot be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_and_no_other_is() {
        let password = "correct horse battery";
        let stored = hash_now(password).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(stored, hash_now(password).unwrap(), "each hash has a salt of its own");
        let on = Passwords::default();
        let verify = |password: &str, hash: Option<&str>| verify_now(&on, password, hash);
        assert!(verify(password, Some(&stored)).unwrap());
        assert!(!verify("wrong horse battery", Some(&stored)).unwrap());
        assert!(!verify(password, None).unwrap());
        assert_eq!(on.verified(), 3, "where there is no hash, too");
        assert!(verify(password, Some("nonsense")).is_err());
    }

    #[test]
    fn a_new_password_is_neither_short_nor_endless() {
        check(&"ä".repeat(12)).unwrap();
        assert!(check("elevenchars").is_err());
        assert!(check(&"a".repeat(1025)).is_err());
    }
}
