//! Custom request headers of a subscription: validates, encrypts and decrypts them.
//!
//! A header is a line `Name: value`. Values are encrypted like secrets, each bound to its subscription and name, and are
//! never shown again: a value is shown as [`MASK`]. In a change, this mask stands for the stored value.

use std::collections::BTreeMap;

use entity::StringMap;
use secrecy::SecretString;
use uuid::Uuid;

use crate::Result;
use foundation::secret::{Seal, SealError};

/// Shown instead of a value.
pub const MASK: &str = "****";
/// Maximum number of headers of a subscription.
const MAX_HEADERS: usize = 10;
/// Maximum length of a value in bytes.
const MAX_VALUE_BYTES: usize = 4_096;
/// Maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 100;
/// Names that this server sets, and those that concern only one connection (RFC 9110, 7.6.1).
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// The beginnings of names that this server sets.
const RESERVED_PREFIXES: &[&str] = &["content-", "webhook-", "x-svc-"];

/// Validates headers, and encrypts their values. `stored` are the current ones. Returns the errors with the indexes of their
/// lines.
pub(super) fn encrypt(
    seal: &Seal,
    subscription: Uuid,
    lines: &[String],
    stored: Option<&StringMap>,
) -> Result<std::result::Result<StringMap, Vec<(usize, String)>>> {
    let (mut headers, mut errors) = (BTreeMap::new(), Vec::new());
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = match parse(line) {
            Ok(header) => header,
            Err(message) => {
                errors.push((index, message));
                continue;
            }
        };
        let encrypted = match stored.and_then(|stored| stored.0.get(&name)).filter(|_| value == MASK) {
            Some(encrypted) => encrypted.clone(),
            None => hex::encode(
                seal.encrypt(value.as_bytes(), &owner(subscription, &name)).map_err(anyhow::Error::from)?,
            ),
        };
        if value == MASK && stored.is_none_or(|stored| !stored.0.contains_key(&name)) {
            errors.push((
                index,
                format!("`{name}` has no stored value that `{MASK}` could keep; enter its value"),
            ));
        } else if headers.len() == MAX_HEADERS && !headers.contains_key(&name) {
            errors.push((index, format!("a subscription has at most {MAX_HEADERS} headers; remove one")));
        } else if headers.insert(name.clone(), encrypted).is_some() {
            errors.push((index, format!("`{name}` is repeated; remove one of the lines")));
        }
    }
    Ok(if errors.is_empty() { Ok(StringMap(headers)) } else { Err(errors) })
}

/// Parses and validates a header. Returns its name in lower case, and its value. Messages never contain the value.
fn parse(line: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or("expected `Name: value`")?;
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim_matches([' ', '\t']));
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_token) {
        return Err(format!(
            "the name of a header must have 1 to {MAX_NAME_BYTES} letters, digits and hyphens, without spaces"
        ));
    }
    // Some servers, such as those with CGI, do not distinguish underscores from hyphens.
    let hyphenated = name.replace('_', "-");
    let is_reserved = RESERVED.contains(&&*hyphenated)
        || RESERVED_PREFIXES.iter().any(|prefix| hyphenated.starts_with(prefix));
    if is_reserved {
        return Err(format!("`{name}` is reserved: this server or the connection sets it; use another name"));
    }
    if value.is_empty() || value.len() > MAX_VALUE_BYTES {
        return Err(format!("the value of `{name}` must have 1 to {MAX_VALUE_BYTES} characters"));
    }
    if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return Err(format!(
            "the value of `{name}` must be visible ASCII characters on one line, without line breaks; encode others"
        ));
    }
    Ok((name, value.to_owned()))
}

/// Returns the owner that the value of a header is encrypted for.
fn owner(subscription: Uuid, name: &str) -> Vec<u8> {
    [subscription.as_bytes(), name.as_bytes()].concat()
}

/// Decrypts the stored headers of a subscription: pairs of name and value.
///
/// # Errors
/// Returns the errors of [`Seal::decrypt`].
pub fn decrypt(
    seal: &Seal,
    subscription: Uuid,
    stored: &StringMap,
) -> std::result::Result<Vec<(String, SecretString)>, SealError> {
    let decrypt = |(name, encrypted): (&String, &String)| {
        let encrypted = hex::decode(encrypted).map_err(|_| SealError::Invalid)?;
        let value = seal.decrypt(&encrypted, &owner(subscription, name))?;
        let value = std::str::from_utf8(&value).map_err(|_| SealError::Invalid)?;
        Ok((name.clone(), SecretString::from(value)))
    };
    stored.0.iter().map(decrypt).collect()
}

/// Encrypts the stored values with the first key of the seal. Returns `None` if all are already.
pub(crate) fn reseal(
    seal: &Seal,
    subscription: Uuid,
    stored: &StringMap,
) -> std::result::Result<Option<StringMap>, SealError> {
    let (mut headers, mut changed) = (BTreeMap::new(), false);
    for (name, text) in &stored.0 {
        let encrypted = hex::decode(text).map_err(|_| SealError::Invalid)?;
        let new = match seal.reseal(&encrypted, &owner(subscription, name))? {
            foundation::secret::Resealed::Unchanged => text.clone(),
            foundation::secret::Resealed::New(new) => {
                changed = true;
                hex::encode(new)
            }
        };
        headers.insert(name.clone(), new);
    }
    Ok(changed.then_some(StringMap(headers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_header_is_refused_without_showing_its_value() {
        let long = format!("x-long: {}", "s".repeat(65_536));
        for (line, message) in [
            ("authorization", "expected `Name: value`"),
            ("x y: secret", "the name of a header must have"),
            (": secret", "the name of a header must have"),
            ("Host: secret", "`host` is reserved"),
            ("Content-Type: secret", "`content-type` is reserved"),
            ("X-SVC-Anything: secret", "`x-svc-anything` is reserved"),
            ("Webhook-Id: secret", "`webhook-id` is reserved"),
            ("webhook_signature: secret", "`webhook_signature` is reserved"),
            ("X_SVC-Signature: secret", "`x_svc-signature` is reserved"),
            ("content_type: secret", "`content_type` is reserved"),
            ("TraceParent: secret", "`traceparent` is reserved"),
            ("tracestate: secret", "`tracestate` is reserved"),
            ("User-Agent: secret", "`user-agent` is reserved"),
            ("Transfer-Encoding: secret", "`transfer-encoding` is reserved"),
            ("x-empty: ", "the value of `x-empty` must have 1 to 4096"),
            ("x-lines: secret\r\nHost: example.com", "the value of `x-lines` must be visible ASCII"),
            ("x-lines: secret\n", "the value of `x-lines` must be visible ASCII"),
            ("x-text: sécret", "the value of `x-text` must be visible ASCII"),
            (&long, "the value of `x-long` must have 1 to 4096"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.starts_with(message) && !error.contains("cret"), "{line}: {error}");
        }
        let header = parse("Authorization:  Bearer a:b ").unwrap();
        assert_eq!(header, ("authorization".to_owned(), "Bearer a:b".to_owned()));
    }
}
