//! CSRF tokens, which prove that a form was rendered by the dashboard for this browser and the workspace that it shows.
//!
//! A token is a random nonce, the workspace, and their MAC under the browser's session or visitor token. It is valid until the session
//! ends, or until the browser gets another visitor token. It differs on every page, which prevents attacks on the
//! length of compressed responses (BREACH).
//!
//! A session can show the sandbox of its workspace instead. A form that was loaded before it was entered, left, reset or deleted does
//! not act on the other data.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use uuid::Uuid;

/// The name of the form field.
pub(super) const FIELD: &str = "csrf";
/// Size in bytes of the random nonce in front of the MAC.
const NONCE_BYTES: usize = 16;

/// Whether a token is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenCheck {
    Valid,
    /// It was created for this browser, when it showed another workspace.
    OtherWorkspace,
    Invalid,
}

/// Returns a new token for a form about a workspace; the nil UUID stands for none. Returns an empty string, which is never valid, when
/// the system provides no random bytes.
pub(super) fn token(key: &SecretString, workspace: Uuid) -> String {
    let mut bytes = vec![0; NONCE_BYTES];
    if SysRng.try_fill_bytes(&mut bytes).is_err() {
        return String::new();
    }
    bytes.extend_from_slice(workspace.as_bytes());
    let mac = mac(key, b"form", &bytes).finalize().into_bytes();
    bytes.extend_from_slice(&mac);
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Checks whether the token was created for this browser and workspace.
pub(super) fn check(key: &SecretString, workspace: Uuid, token: &str) -> TokenCheck {
    let Ok(bytes) = BASE64_URL_SAFE_NO_PAD.decode(token) else { return TokenCheck::Invalid };
    let Some((message, tag)) = bytes.split_at_checked(NONCE_BYTES + size_of::<Uuid>()) else {
        return TokenCheck::Invalid;
    };
    match mac(key, b"form", message).verify_slice(tag) {
        Err(_) => TokenCheck::Invalid,
        Ok(()) if message[NONCE_BYTES..] == workspace.as_bytes()[..] => TokenCheck::Valid,
        Ok(()) => TokenCheck::OtherWorkspace,
    }
}

/// Returns the nonce of a valid token (see [`check`]), which identifies one rendered form. Returns `None` if the
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
    fn a_token_is_valid_for_its_browser_and_workspace_only() {
        let (ours, theirs) = (SecretString::from("ours"), SecretString::from("theirs"));
        let (live, sandbox) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let valid = token(&ours, live);
        assert_ne!(valid, token(&ours, live));
        assert_eq!(check(&ours, live, &valid), TokenCheck::Valid);
        assert_eq!(check(&ours, sandbox, &valid), TokenCheck::OtherWorkspace);
        assert_eq!(check(&theirs, live, &valid), TokenCheck::Invalid);
        assert_ne!(nonce(&valid), nonce(&token(&ours, live)));
        for invalid in ["", "AAAA", &valid[1..], &valid[..valid.len() - 2]] {
            assert_eq!(check(&ours, live, invalid), TokenCheck::Invalid, "{invalid}");
        }
    }
}
