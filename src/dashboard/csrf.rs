//! The token in every form: proof that the form came from a page of ours, shown to this very browser.
//!
//! A token is a random number and its MAC under the browser's session (or visitor) token, so that it ends with the session
//! and differs on every page: what a compressed page's length tells cannot be gathered over several.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The name of the field.
pub(super) const FIELD: &str = "csrf";
/// Random bytes before the MAC.
const NONCE: usize = 16;

/// A new token for a form of this browser; empty, and so refused, when the system gives no random bytes.
pub(super) fn token(key: &SecretString) -> String {
    let mut bytes = vec![0; NONCE];
    if SysRng.try_fill_bytes(&mut bytes).is_err() {
        return String::new();
    }
    let mac = mac(key, b"form", &bytes).finalize().into_bytes();
    bytes.extend_from_slice(&mac);
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Whether the token was made for this browser.
pub(super) fn is_ours(key: &SecretString, token: &str) -> bool {
    let Ok(bytes) = BASE64_URL_SAFE_NO_PAD.decode(token) else { return false };
    let Some((nonce, tag)) = bytes.split_at_checked(NONCE) else { return false };
    mac(key, b"form", nonce).verify_slice(tag).is_ok()
}

/// The random bytes of a token that [`is_ours`]: which form of all this is.
pub(super) fn nonce(token: &str) -> Option<[u8; NONCE]> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
    bytes.first_chunk().copied()
}

/// A MAC under the browser's token, for one purpose.
pub(super) fn mac(key: &SecretString, purpose: &[u8], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes())
        .expect("a MAC takes a key of any length");
    mac.update(purpose);
    mac.update(&[0]);
    mac.update(message);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_browser_alone() {
        let (ours, theirs) = (SecretString::from("ours"), SecretString::from("theirs"));
        let one = token(&ours);
        assert_ne!(one, token(&ours));
        assert!(is_ours(&ours, &one));
        assert!(!is_ours(&theirs, &one));
        assert_ne!(nonce(&one), nonce(&token(&ours)));
        for wrong in ["", "AAAA", &one[1..], &one[..one.len() - 2]] {
            assert!(!is_ours(&ours, wrong), "{wrong}");
        }
    }
}
