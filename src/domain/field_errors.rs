//! Validation of field values.
//!
//! Limits that the contract defines are the same here. Other fields have limits as well, so that no single change is
//! too large. NUL characters are rejected, because PostgreSQL cannot store them. The length of a text is its number of
//! Unicode code points unless stated otherwise.

use std::collections::{BTreeMap, BTreeSet};

use super::{Error, FieldError, Result, email};

/// The errors found in one record so far, which are reported together.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Adds an error.
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(FieldError { field: field.into(), message: message.into() });
    }

    /// Returns [`Error::Invalid`] when any error was added.
    pub(crate) fn into_result(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }

    /// Checks a single-line string: 1 to `max` characters, no ASCII control characters.
    pub(crate) fn check_single_line(&mut self, field: &str, text: &str, max: usize) {
        if text.is_empty() || text.chars().count() > max {
            self.add(field, format!("must have 1 to {max} characters"));
        } else if text.chars().any(|c| c.is_ascii_control()) {
            self.add(field, "must not contain control characters");
        }
    }

    /// Checks an optional single-line string, see [`Self::check_single_line`].
    pub(crate) fn check_optional_single_line(&mut self, field: &str, text: Option<&String>, max: usize) {
        if let Some(text) = text {
            self.check_single_line(field, text, max);
        }
    }

    /// Checks an optional string that may have several lines: at most `max` characters, no NUL.
    pub(crate) fn check_text(&mut self, field: &str, text: Option<&String>, max: usize) {
        let Some(text) = text else { return };
        if text.chars().count() > max {
            self.add(field, format!("must have at most {max} characters"));
        } else if text.contains('\0') {
            self.add(field, "must not contain a NUL character");
        }
    }

    /// Checks a record's key assigned by the platform: 1 to 255 characters on one line.
    pub(crate) fn check_key(&mut self, field: &str, key: &str) {
        self.check_single_line(field, key, 255);
    }

    /// Checks an email address: at most 320 characters, with the lenient pattern of the contract.
    pub(crate) fn check_email(&mut self, field: &str, email: &str) {
        // The contract's `\s` also matches U+FEFF.
        let is_blank = |c: char| c.is_whitespace() || c.is_ascii_control() || c == '\u{feff}';
        let parts = email.split_once('@');
        let is_valid = parts.is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !email.contains(is_blank)
        });
        if !is_valid || email.chars().count() > 320 {
            let message =
                "must contain one `@` with text on both sides, no whitespace, and at most 320 characters";
            self.add(field, message);
        }
    }

    /// Checks the email address of a person who signs in: additionally the rules of [`email`].
    pub(crate) fn check_sign_in_email(&mut self, field: &str, address: &str) {
        let errors_before = self.0.len();
        self.check_email(field, address);
        if self.0.len() == errors_before
            && let Some(message) = email::sign_in_error(address)
        {
            self.add(field, message);
        }
    }

    /// Checks an optional absolute HTTP URL of at most 2,048 bytes.
    pub(crate) fn check_url(&mut self, field: &str, url: Option<&String>) {
        let Some(url) = url else { return };
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
        if host.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            self.add(field, "must be a URL that begins with `https://` or `http://`");
        } else if url.len() > 2048 {
            self.add(field, "must have at most 2048 bytes");
        }
    }

    /// Checks the form of an ISO 4217 code in upper case. Any three letters pass, because the list of currencies grows.
    pub(crate) fn check_currency(&mut self, field: &str, currency: &str) {
        if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) {
            self.add(field, "must be three uppercase letters, such as `USD`");
        }
    }

    /// Checks the slug of a course, which is its name in URLs.
    pub(crate) fn check_slug(&mut self, field: &str, slug: &str) {
        let is_group = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if slug.len() > 200 || !slug.split('-').all(is_group) {
            let message =
                "must have 1 to 200 characters: groups of `a-z` and `0-9`, joined by single hyphens";
            self.add(field, message);
        }
    }

    /// Checks the form of an optional BCP 47 language tag of at most 35 characters.
    pub(crate) fn check_language(&mut self, field: &str, tag: Option<&String>) {
        let Some(tag) = tag else { return };
        let mut subtags = tag.split('-');
        let is_language_valid = subtags.next().is_some_and(|subtag| {
            (2..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphabetic())
        });
        let are_others_valid = subtags.all(|subtag| {
            (1..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        if !is_language_valid || !are_others_valid || tag.len() > 35 {
            self.add(field, "must be a BCP 47 language tag, such as `en` or `pt-BR`");
        }
    }

    /// Checks that a number is not negative.
    pub(crate) fn check_not_negative(&mut self, field: &str, number: i64) {
        if number < 0 {
            self.add(field, "must not be negative");
        }
    }

    /// Checks an optional duration: 0 to 9,999,999 seconds, so that sums do not overflow.
    pub(crate) fn check_seconds(&mut self, field: &str, seconds: Option<i64>) {
        if seconds.is_some_and(|seconds| !(0..10_000_000).contains(&seconds)) {
            self.add(field, "must be from 0 to 9999999 seconds");
        }
    }

    /// Checks an optional quota of requests: at least 1.
    pub(crate) fn check_quota(&mut self, field: &str, quota: Option<i32>) {
        if quota.is_some_and(|quota| quota < 1) {
            self.add(field, "must be at least 1");
        }
    }

    /// Checks the tags of a student: at most 20, of 1 to 64 characters on one line each, without duplicates.
    pub(crate) fn check_tags(&mut self, tags: &[String]) {
        if tags.len() > 20 {
            self.add("tags", "must have at most 20 items");
        }
        let mut unique = BTreeSet::new();
        for (index, tag) in tags.iter().enumerate() {
            self.check_single_line(&format!("tags/{index}"), tag, 64);
            if !unique.insert(tag) {
                self.add(format!("tags/{index}"), "must not repeat an earlier item");
            }
        }
    }

    /// Checks the metadata of a student: at most 50 keys of 1 to 40 characters on one line, with values of at most 500
    /// characters.
    pub(crate) fn check_metadata(&mut self, metadata: &BTreeMap<String, String>) {
        if metadata.len() > 50 {
            self.add("metadata", "must have at most 50 keys");
        }
        for (key, value) in metadata {
            let field = format!("metadata/{}", key.replace('~', "~0").replace('/', "~1"));
            self.check_single_line(&field, key, 40);
            self.check_text(&field, Some(value), 500);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(errors: FieldErrors) -> Vec<String> {
        errors.0.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn an_email_address_has_one_at_sign_and_no_whitespace() {
        let mut errors = FieldErrors::default();
        for valid in ["a@b", "jörg@exämple.com"] {
            errors.check_email(valid, valid);
        }
        for invalid in ["", "ab", "@b", "a@", "a@b@c", "a @b", "a@b\u{85}", "a@b\n", "\u{feff}a@b"] {
            errors.check_email(invalid, invalid);
        }
        assert_eq!(fields(errors).len(), 9);
    }

    #[test]
    fn every_error_names_its_field() {
        let mut errors = FieldErrors::default();
        errors.check_tags(&["a".into(), String::new(), "a".into()]);
        errors.check_metadata(&BTreeMap::from([("a/b".into(), "\0".into())]));
        errors.check_slug("slug", "double--hyphen");
        errors.check_language("language", Some(&"pt-BR".into()));
        errors.check_language("language", Some(&"p".into()));
        errors.check_url("url", Some(&"ftp://x".into()));
        assert_eq!(fields(errors), ["tags/1", "tags/2", "metadata/a~1b", "slug", "language", "url"]);
    }
}
