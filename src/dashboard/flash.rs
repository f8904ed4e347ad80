//! What the next page says at its top, after a redirect.
//!
//! It travels in a cookie with a MAC under the browser's token, so that nobody else puts words there.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::Mac;
use secrecy::SecretString;

use super::csrf::mac;

/// Bytes of the MAC.
const TAG: usize = 32;

/// A message about what was just done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flash {
    /// Whether it was done, or why not.
    pub done: bool,
    /// One sentence.
    pub text: String,
}

impl Flash {
    /// It was done.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { done: true, text: text.into() }
    }

    /// It was not done, or not by this.
    pub(crate) fn note(text: impl Into<String>) -> Self {
        Self { done: false, text: text.into() }
    }

    /// The cookie's value.
    pub(super) fn seal(&self, key: &SecretString) -> String {
        let text: String = self.text.chars().take(400).collect();
        let message = format!("{}{text}", if self.done { '+' } else { '-' });
        let mut bytes = mac(key, b"flash", message.as_bytes()).finalize().into_bytes().to_vec();
        bytes.extend_from_slice(message.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a cookie says, when it is ours.
    pub(super) fn open(key: &SecretString, value: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(value).ok()?;
        let (tag, message) = bytes.split_at_checked(TAG)?;
        mac(key, b"flash", message).verify_slice(tag).ok()?;
        let message = std::str::from_utf8(message).ok()?;
        let text = message.get(1..)?.to_owned();
        Some(Self { done: message.starts_with('+'), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_words_are_shown() {
        let (ours, theirs) = (SecretString::from("ours"), SecretString::from("theirs"));
        let flash = Flash::done("Revoked \u{201c}ä\u{201d}.");
        assert_eq!(Flash::open(&ours, &flash.seal(&ours)), Some(flash.clone()));
        assert_eq!(Flash::open(&theirs, &flash.seal(&ours)), None);
        assert_eq!(Flash::open(&ours, "nonsense"), None);
    }
}
