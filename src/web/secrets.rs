//! Masks the secrets of this service in texts that clients choose, before they are logged or stored.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The text that replaces a secret.
pub const MASK: &str = "****";
/// The prefixes of secrets: API keys of live and of test workspaces, platform tokens and webhook secrets.
const PREFIXES: [&str; 4] = ["svc_live_", "svc_test_", "svc_plat_", "whsec_"];
/// Maximum number of times that a text is decoded, because each time takes as long as the text.
const MAX_DECODES: usize = 4;
/// Characters between words, none of which is part of a secret.
const DELIMITERS: &[char] =
    &[' ', '\n', '\t', '"', '\'', '`', '\\', ',', ';', ':', '&', '?', '(', ')', '[', ']', '{', '}', '<', '>'];

/// Returns whether a text contains a secret, percent-encoded or not. Text that is percent-encoded more than [`MAX_DECODES`]
/// times can contain one, so the result is true.
pub fn contains_secret(text: &str) -> bool {
    // Each prefix has an underscore, which can be percent-encoded. Almost no text has either.
    if !text.bytes().any(|byte| byte == b'_' || byte == b'%') {
        return false;
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..=MAX_DECODES {
        if PREFIXES.iter().any(|prefix| text.contains(prefix)) {
            return true;
        }
        let decoded = percent_decode_str(&text).decode_utf8_lossy();
        if decoded.len() == text.len() {
            return false;
        }
        text = Cow::Owned(decoded.into_owned());
    }
    true
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
            ("my key is svc_test_abc", "my key is ****"),
            ("/api/v1/courses: 100% of 3", "/api/v1/courses: 100% of 3"),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }

    #[test]
    fn text_that_is_encoded_too_many_times_is_a_secret() {
        let encode = |times: usize| format!("/x/svc%{}5Flive_abc", "25".repeat(times - 1));
        assert!((1..=2 * MAX_DECODES).all(|times| contains_secret(&encode(times))));
        let harmless = |times: usize| format!("/x/a%{}20b", "25".repeat(times - 1));
        assert!(!contains_secret(&harmless(MAX_DECODES)));
        assert!(contains_secret(&harmless(MAX_DECODES + 1)));
        // Decoding as often as possible would take half a minute.
        let started = std::time::Instant::now();
        let long = format!("/dashboard/%{}", "25".repeat(32 * 1024));
        assert!(contains_secret(&long));
        assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
    }
}
