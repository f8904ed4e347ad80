//! Generates tokens of 256 random bits, such as those of sessions and password links. The database stores only the
//! SHA-256 digest of a token.

use anyhow::Context;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// Number of random bytes of a token.
const BYTES: usize = 32;
/// Number of characters of a token in base64url without padding.
const LENGTH: usize = 43;

/// Generates a token of 43 characters, which can be used in cookies and URLs.
///
/// # Errors
/// Returns an error when the operating system's random generator fails.
pub fn generate() -> anyhow::Result<SecretString> {
    let mut bytes = [0; BYTES];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(SecretString::from(BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

/// Generates a token, and returns it with its digest.
///
/// # Errors
/// Returns an error when the operating system's random generator fails.
pub(super) fn generate_with_digest() -> anyhow::Result<(SecretString, [u8; 32])> {
    let token = generate()?;
    let digest = digest(token.expose_secret()).context("the new token is malformed")?;
    Ok((token, digest))
}

/// Returns the digest of a token, which is stored and used for lookups. Returns `None` for a string that does not have the
/// format of a token, so that the caller needs no query.
pub(super) fn digest(token: &str) -> Option<[u8; 32]> {
    let is_well_formed =
        token.len() == LENGTH && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_well_formed.then(|| Sha256::digest(token.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_their_digests_are_unique() {
        let (first, second) = (generate().unwrap(), generate().unwrap());
        assert_ne!(first.expose_secret(), second.expose_secret());
        assert_ne!(digest(first.expose_secret()), digest(second.expose_secret()));
        assert!(digest(first.expose_secret()).is_some());
        for wrong in ["", "short", &"ä".repeat(43), &"a".repeat(44)] {
            assert_eq!(digest(wrong), None, "{wrong}");
        }
    }
}
