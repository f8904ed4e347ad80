//! Masks the secrets of this service in texts that clients choose, before they are logged or stored.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The text that replaces a secret.
pub const MASK: &str = "****";
/// The prefixes of secrets: API keys, platform tokens and webhook secrets.
const PREFIXES: [&str; 3] = ["svc_live_", "svc_plat_", "whsec_"];
/// Characters between words, none of which is part of a secret.
const DELIMITERS: &[char] =
    &[' ', '\n', '\t', '"', '\'', '`', '\\', ',', ';', ':', '&', '?', '(', ')', '[', ']', '{', '}', '<', '>'];

/// Returns whether a text contains a secret, percent-encoded any number of times or not at all.
pub fn contains_secret(text: &str) -> bool {
    let mut text = Cow::Borrowed(text);
    loop {
        if PREFIXES.iter().any(|prefix| text.contains(prefix)) {
            return true;
        }
        let decoded = percent_decode_str(&text).decode_utf8_lossy();
        if decoded.len() == text.len() {
            return false;
        }
        text = Cow::Owned(decoded.into_owned());
    }
}

/// Masks each word of a text that contains a secret.
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    if !contains_secret(text) {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    for part in text.split_inclusive(DELIMITERS) {
        let word = part.trim_end_matches(DELIMITERS);
        masked.push_str(if contains_secret(word) { MASK } else { word });
        masked.push_str(&part[word.len()..]);
    }
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_that_contains_a_secret_is_masked() {
        for (text, masked) in [
            ("`svc_live_Ab-_9` is not an id", "`****` is not an id"),
            ("{\"got\":\"whsec_a+b/c=\",\"or\":\"svc_plat_1\"}", "{\"got\":\"****\",\"or\":\"****\"}"),
            ("see my-svc%5Flive_abc, and svc%255Flive_abc", "see ****, and ****"),
            ("/api/v1/courses: 100% of 3", "/api/v1/courses: 100% of 3"),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }
}
