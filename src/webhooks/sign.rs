//! The proof of where a webhook comes from: an HMAC over its time and its very bytes, in two forms.
//!
//! Owns the form of a secret and of both signature headers. Never reads a clock.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::zeroize::Zeroizing;
use sha2::Sha256;

/// What each secret begins with.
pub const SECRET_PREFIX: &str = "whsec_";

/// The text is no secret: `whsec_` and the standard base64 of at least one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` and base64")]
pub struct NoSecret;

/// A secret made ready for signing, so that no signature begins with working on the key. Wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    /// Keyed with the text as it was shown.
    shown: Hmac<Sha256>,
    /// Keyed with the bytes that the text stands for.
    decoded: Hmac<Sha256>,
}

impl SigningKey {
    /// Makes a secret ready; `secret` is the text as it was shown to the subscription's owner.
    ///
    /// # Errors
    /// [`NoSecret`], which does not repeat the text.
    pub fn new(secret: &str) -> Result<Self, NoSecret> {
        let text = secret.strip_prefix(SECRET_PREFIX).filter(|text| !text.is_empty()).ok_or(NoSecret)?;
        let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| NoSecret)?);
        Ok(Self { shown: keyed(secret.as_bytes()), decoded: keyed(&bytes) })
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(****)")
    }
}

/// `X-SVC-Signature`: `t=` and the Unix seconds, then `v1=` and the hexadecimal HMAC-SHA256 of them, a dot and the body;
/// one for each key, in the order of `keys` (seed 6).
pub fn svc(keys: &[SigningKey], unix_seconds: i64, body: &[u8]) -> String {
    let mut header = String::with_capacity(16 + keys.len() * 68);
    let _ = write!(header, "t={unix_seconds}");
    let stamp = header.len();
    for key in keys {
        let mut mac = key.shown.clone();
        mac.update(&header.as_bytes()[2..stamp]);
        mac.update(b".");
        mac.update(body);
        header.push_str(",v1=");
        hex(&mac.finalize().into_bytes(), &mut header);
    }
    header
}

/// `webhook-signature`: `v1,` and the base64 of the HMAC-SHA256 of id, dot, Unix seconds, dot and body; one for each
/// key, in the order of `keys`, with a space between them (Standard Webhooks 1.0).
pub fn standard(keys: &[SigningKey], id: &str, unix_seconds: i64, body: &[u8]) -> String {
    let stamp = unix_seconds.to_string();
    let mut header = String::with_capacity(keys.len() * 48);
    for key in keys {
        let mut mac = key.decoded.clone();
        for part in [id.as_bytes(), b".", stamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        header.push_str(if header.is_empty() { "v1," } else { " v1," });
        STANDARD.encode_string(mac.finalize().into_bytes(), &mut header);
    }
    header
}

pub(super) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a MAC takes a key of any length")
}

/// Appends the bytes as hexadecimal digits, in lower case.
pub(super) fn hex(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests;
