//! CSRF tokens, which prove that a form was rendered by the dashboard for this browser.
//!
//! A token is a random nonce and its MAC under the browser's session or visitor token. It is valid until the session
//! ends, or until the browser gets another visitor token. It differs on every page, which prevents attacks on the
//! length of compressed responses (BREACH).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The name of the form field.
pub(super) const FIELD: &str = "csrf";
/// Size in bytes of the random nonce in front of the MAC.
const NONCE_BYTES: usize = 16;

/// Returns a new token for a form. Returns an empty string, which is never valid, when the system provides no random bytes.
pub(super) fn token(key: &SecretString) -> String {
    let mut bytes = vec![0; NONCE_BYTES];
    if SysRng.try_fill_bytes(&mut bytes).is_err() {
        return String::new();
    }
    let mac = mac(key, b"form", &bytes).finalize().into_bytes();
    bytes.extend_from_slice(&mac);
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns whether the token was created for this browser.
pub(super) fn is_valid(key: &SecretString, token: &str) -> bool {
    let Ok(bytes) = BASE64_URL_SAFE_NO_PAD.decode(token) else { return false };
    let Some((nonce, tag)) = bytes.split_at_checked(NONCE_BYTES) else { return false };
    mac(key, b"form", nonce).verify_slice(tag).is_ok()
}

/// Returns the nonce of a valid token (see [`is_valid`]), which identifies one rendered form. Returns `None` if the
/// token is malformed.
pub(super) fn nonce(token: &str) -> Option<[u8; NONCE_BYTES]> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
    bytes.first_chunk().copied()
}

/// Returns the MAC of a message under the browser's token. MACs for different purposes differ.
pub(super) fn mac(key: &SecretString, purpose: &[u8], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes())
        .expect("HMAC accepts keys of any length");
    mac.update(purpose);
    mac.update(&[0]);
    mac.update(message);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_browser_only() {
        let (ours, theirs) = (SecretString::from("ours"), SecretString::from("theirs"));
        let valid = token(&ours);
        assert_ne!(valid, token(&ours));
        assert!(is_valid(&ours, &valid));
        assert!(!is_valid(&theirs, &valid));
        assert_ne!(nonce(&valid), nonce(&token(&ours)));
        for invalid in ["", "AAAA", &valid[1..], &valid[..valid.len() - 2]] {
            assert!(!is_valid(&ours, invalid), "{invalid}");
        }
    }
}
