//! Flash messages: shown once at the top of the next page, after a redirect.
//!
//! A message is stored in a cookie with a MAC (message authentication code), whose key is the browser's session or
//! visitor token, so that nobody else can set its text. It is not encrypted.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::Mac;
use secrecy::SecretString;

use super::csrf::mac;

/// Size of the MAC in bytes.
const MAC_BYTES: usize = 32;

/// A message about the action that redirected to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flash {
    /// Whether the action succeeded and changed something.
    pub is_success: bool,
    /// One or more sentences.
    pub text: String,
}

impl Flash {
    /// Returns a success message.
    pub(crate) fn success(text: impl Into<String>) -> Self {
        Self { is_success: true, text: text.into() }
    }

    /// Returns an informational message: the action changed nothing, or failed.
    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { is_success: false, text: text.into() }
    }

    /// Returns the cookie's value: the MAC and the message, whose text is truncated to 400 characters.
    pub(super) fn sign(&self, key: &SecretString) -> String {
        let text: String = self.text.chars().take(400).collect();
        let message = format!("{}{text}", if self.is_success { '+' } else { '-' });
        let mut bytes = mac(key, b"flash", message.as_bytes()).finalize().into_bytes().to_vec();
        bytes.extend_from_slice(message.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the message in a cookie's value if its MAC is valid.
    pub(super) fn verify(key: &SecretString, value: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(value).ok()?;
        let (received_mac, message) = bytes.split_at_checked(MAC_BYTES)?;
        mac(key, b"flash", message).verify_slice(received_mac).ok()?;
        let message = std::str::from_utf8(message).ok()?;
        let text = message.get(1..)?.to_owned();
        Some(Self { is_success: message.starts_with('+'), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_with_a_valid_mac_are_shown() {
        let (ours, theirs) = (SecretString::from("ours"), SecretString::from("theirs"));
        let flash = Flash::success("Revoked \u{201c}ä\u{201d}.");
        assert_eq!(Flash::verify(&ours, &flash.sign(&ours)), Some(flash.clone()));
        assert_eq!(Flash::verify(&theirs, &flash.sign(&ours)), None);
        assert_eq!(Flash::verify(&ours, "nonsense"), None);
    }
}
