//! Secrets that a browser or a link carries: 256 random bits, of which only the SHA-256 is stored.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// Random bytes of a token.
const BYTES: usize = 32;
/// Characters of a token's text: base64url without padding.
const LENGTH: usize = 43;

/// A new token, from the system's generator: 43 characters that may stand in a cookie or an address.
///
/// # Errors
/// When the system's generator fails.
pub fn generate() -> anyhow::Result<SecretString> {
    let mut bytes = [0; BYTES];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(SecretString::from(BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

/// What is stored of a token; `None` for a text that is none, so that nobody is asked about it.
pub(super) fn digest(token: &str) -> Option<[u8; 32]> {
    let shaped =
        token.len() == LENGTH && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    shaped.then(|| Sha256::digest(token.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_token_is_never_the_same_and_known_by_its_digest() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one.expose_secret(), other.expose_secret());
        assert_ne!(digest(one.expose_secret()), digest(other.expose_secret()));
        assert!(digest(one.expose_secret()).is_some());
        for wrong in ["", "short", &"ä".repeat(43), &"a".repeat(44)] {
            assert_eq!(digest(wrong), None, "{wrong}");
        }
    }
}
