//! Signs webhooks in two header formats: an HMAC over the time and the exact bytes of the body, and an HMAC that also
//! covers the event id (Standard Webhooks), to which Ed25519 signatures of the same content can be added.
//!
//! Defines the format of a secret and of both signature headers. Never reads a clock.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signer as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::zeroize::Zeroizing;
use sha2::Sha256;

/// The prefix of every secret.
pub const SECRET_PREFIX: &str = "whsec_";

/// The error of a string that is not a secret: `whsec_` followed by the standard base64 encoding of at least one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid webhook secret: expected `whsec_` followed by base64")]
pub struct InvalidSecret;

/// A secret prepared for signing, so that the key is not processed again for each signature. Zeroized when dropped.
#[derive(Clone)]
pub struct SigningKey {
    /// Keyed with the bytes of the whole string, for `X-SVC-Signature`.
    whole: Hmac<Sha256>,
    /// Keyed with the decoded bytes, for `webhook-signature`.
    decoded: Hmac<Sha256>,
}

impl SigningKey {
    /// Prepares a secret, the whole string as it was shown to the subscription's owner.
    ///
    /// # Errors
    /// Returns [`InvalidSecret`], which does not contain the string.
    pub fn new(secret: &str) -> Result<Self, InvalidSecret> {
        let encoded = secret.strip_prefix(SECRET_PREFIX).filter(|encoded| !encoded.is_empty());
        let encoded = encoded.ok_or(InvalidSecret)?;
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| InvalidSecret)?);
        Ok(Self { whole: new_hmac(secret.as_bytes()), decoded: new_hmac(&bytes) })
    }
}

/// Returns the secret with these bytes.
pub fn secret_of(bytes: &[u8]) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes))
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(****)")
    }
}

/// Returns the value of `X-SVC-Signature`: `t=` and the Unix seconds, then for each key, in the order of `keys`, `v1=`
/// and the hexadecimal HMAC-SHA256 of the seconds, a dot and the body.
pub fn svc_signature(keys: &[SigningKey], unix_seconds: i64, body: &[u8]) -> String {
    let mut header = String::with_capacity(16 + keys.len() * 68);
    let _ = write!(header, "t={unix_seconds}");
    let timestamp_end = header.len();
    for key in keys {
        let mut mac = key.whole.clone();
        mac.update(&header.as_bytes()["t=".len()..timestamp_end]);
        mac.update(b".");
        mac.update(body);
        header.push_str(",v1=");
        header.push_str(&hex::encode(mac.finalize().into_bytes()));
    }
    header
}

/// Returns the value of `webhook-signature`: for each key, in the order of `keys`, `v1,` and the base64 of the
/// HMAC-SHA256 of the event id, dot, Unix seconds, dot and body, separated by spaces (Standard Webhooks 1.0). Then the same
/// with `v1a,` and the signature for each Ed25519 key.
pub fn standard_signature(
    keys: &[SigningKey],
    ed25519_keys: &[ed25519_dalek::SigningKey],
    id: &str,
    unix_seconds: i64,
    body: &[u8],
) -> String {
    let timestamp = unix_seconds.to_string();
    let mut header = String::with_capacity(keys.len() * 48 + ed25519_keys.len() * 93);
    for key in keys {
        let mut mac = key.decoded.clone();
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        header.push_str(if header.is_empty() { "v1," } else { " v1," });
        STANDARD.encode_string(mac.finalize().into_bytes(), &mut header);
    }
    if !ed25519_keys.is_empty() {
        let content = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
        for key in ed25519_keys {
            header.push_str(if header.is_empty() { "v1a," } else { " v1a," });
            STANDARD.encode_string(key.sign(&content).to_bytes(), &mut header);
        }
    }
    header
}

/// Returns an HMAC-SHA256 with this key.
pub(super) fn new_hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC accepts a key of any length")
}

#[cfg(test)]
mod tests;
