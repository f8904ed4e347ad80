//! What a value must look like to be taken, and the list of those that do not.
//!
//! The bounds are the contract's where it states them; the rest keeps a single change from growing without end.
//! Whatever the database cannot hold (NUL) is refused here.

use std::collections::{BTreeMap, BTreeSet};

use super::{Error, Fault, Result};

/// Faults found so far; all of one record are reported together.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// One more.
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault { field: field.into(), message: message.into() });
    }

    /// `Ok` when there are none.
    pub(crate) fn check(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }

    /// One line of text: 1 to `max` characters, none of them a control character.
    pub(crate) fn line(&mut self, field: &str, text: &str, max: usize) {
        if text.is_empty() || text.chars().count() > max {
            self.add(field, format!("must have 1 to {max} characters"));
        } else if text.chars().any(|c| c.is_ascii_control()) {
            self.add(field, "must not hold control characters");
        }
    }

    /// [`Self::line`] for a value that may be missing.
    pub(crate) fn maybe_line(&mut self, field: &str, text: Option<&String>, max: usize) {
        if let Some(text) = text {
            self.line(field, text, max);
        }
    }

    /// Text of many lines: up to `max` characters.
    pub(crate) fn prose(&mut self, field: &str, text: Option<&String>, max: usize) {
        let Some(text) = text else { return };
        if text.chars().count() > max {
            self.add(field, format!("must have at most {max} characters"));
        } else if text.contains('\0') {
            self.add(field, "must not hold a NUL character");
        }
    }

    /// The platform's own key.
    pub(crate) fn key(&mut self, field: &str, key: &str) {
        self.line(field, key, 255);
    }

    /// An email address, as loosely as the contract says.
    pub(crate) fn email(&mut self, field: &str, email: &str) {
        let blank = |c: char| c.is_whitespace() || c.is_ascii_control();
        let parts = email.split_once('@');
        let shaped = parts.is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !email.contains(blank)
        });
        if !shaped || email.chars().count() > 320 {
            let message = "must hold one `@` with something on both sides and no blanks, and have at most 320 \
                           characters";
            self.add(field, message);
        }
    }

    /// An absolute web address.
    pub(crate) fn url(&mut self, field: &str, url: Option<&String>) {
        let Some(url) = url else { return };
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
        if host.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            self.add(field, "must be an address that begins with `https://` or `http://`");
        } else if url.len() > 2048 {
            self.add(field, "must have at most 2048 characters");
        }
    }

    /// ISO 4217 in upper case; the list of codes is not checked, since it grows.
    pub(crate) fn currency(&mut self, field: &str, currency: &str) {
        if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) {
            self.add(field, "must be three upper-case letters, such as `USD`");
        }
    }

    /// A course's name in addresses.
    pub(crate) fn slug(&mut self, field: &str, slug: &str) {
        let part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if slug.len() > 200 || !slug.split('-').all(part) {
            let message = "must have 1 to 200 of `a-z` and `0-9`, in groups joined by single hyphens";
            self.add(field, message);
        }
    }

    /// A BCP 47 language tag, by its shape.
    pub(crate) fn language(&mut self, field: &str, tag: Option<&String>) {
        let Some(tag) = tag else { return };
        let mut parts = tag.split('-');
        let first = parts.next().is_some_and(|part| {
            (2..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic())
        });
        let rest = parts
            .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()));
        if !first || !rest || tag.len() > 35 {
            self.add(field, "must be a BCP 47 language tag, such as `en` or `pt-BR`");
        }
    }

    /// A number that must not be negative.
    pub(crate) fn not_negative(&mut self, field: &str, number: i64) {
        if number < 0 {
            self.add(field, "must not be negative");
        }
    }

    /// A length of time: not negative, and less than 10 million seconds, so that sums stay small.
    pub(crate) fn seconds(&mut self, field: &str, seconds: Option<i64>) {
        if seconds.is_some_and(|seconds| !(0..10_000_000).contains(&seconds)) {
            self.add(field, "must be 0 to 9999999 seconds");
        }
    }

    /// A custom cap of requests.
    pub(crate) fn cap(&mut self, field: &str, cap: Option<i32>) {
        if cap.is_some_and(|cap| cap < 1) {
            self.add(field, "must be at least 1");
        }
    }

    /// A student's labels: at most 20, each once.
    pub(crate) fn tags(&mut self, tags: &[String]) {
        if tags.len() > 20 {
            self.add("tags", "must have at most 20 items");
        }
        let mut seen = BTreeSet::new();
        for (place, tag) in tags.iter().enumerate() {
            self.line(&format!("tags/{place}"), tag, 64);
            if !seen.insert(tag) {
                self.add(format!("tags/{place}"), "must not be given twice");
            }
        }
    }

    /// A student's metadata: at most 50 keys of 1 to 40 characters, values of at most 500.
    pub(crate) fn metadata(&mut self, metadata: &BTreeMap<String, String>) {
        if metadata.len() > 50 {
            self.add("metadata", "must have at most 50 keys");
        }
        for (key, value) in metadata {
            let field = format!("metadata/{}", key.replace('~', "~0").replace('/', "~1"));
            self.line(&field, key, 40);
            self.prose(&field, Some(value), 500);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(faults: Faults) -> Vec<String> {
        faults.0.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn an_email_has_one_at_sign_and_no_blanks() {
        let mut faults = Faults::default();
        for good in ["a@b", "jörg@exämple.com"] {
            faults.email(good, good);
        }
        for bad in ["", "ab", "@b", "a@", "a@b@c", "a @b", "a@b\u{85}", "a@b\n"] {
            faults.email(bad, bad);
        }
        assert_eq!(fields(faults).len(), 8);
    }

    #[test]
    fn every_fault_is_reported_at_its_place() {
        let mut faults = Faults::default();
        faults.tags(&["a".into(), String::new(), "a".into()]);
        faults.metadata(&BTreeMap::from([("a/b".into(), "\0".into())]));
        faults.slug("slug", "double--hyphen");
        faults.language("language", Some(&"pt-BR".into()));
        faults.language("language", Some(&"p".into()));
        faults.url("url", Some(&"ftp://x".into()));
        assert_eq!(fields(faults), ["tags/1", "tags/2", "metadata/a~1b", "slug", "language", "url"]);
    }
}
