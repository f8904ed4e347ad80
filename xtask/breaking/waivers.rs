//! Waivers: breaking changes that were accepted until a date.
//!
//! A waiver file is TOML: each `[[waiver]]` has the `fingerprint` of a finding, or its `rule` and `path`; a `reason`; and the
//! date on which it `expires`. A waiver that has expired and still matches a finding is an error. A waiver that matches no
//! finding is an error too, unless the file is read from a git revision, because waivers are merged before the change that
//! needs them.

use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;
use serde::Deserialize;
use toml::Value;

use super::finding::Finding;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    #[serde(default)]
    waiver: Vec<Waiver>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiver {
    fingerprint: Option<String>,
    rule: Option<String>,
    path: Option<String>,
    reason: String,
    expires: Value,
}

impl Waiver {
    fn matches(&self, finding: &Finding) -> bool {
        if let Some(fingerprint) = &self.fingerprint {
            return *fingerprint == finding.fingerprint;
        }
        self.rule.as_ref() == Some(&finding.id) && self.path.as_ref() == Some(&finding.path)
    }

    /// Returns the name of the waiver in messages: its identifiers, or its number in the file.
    fn named(&self, number: usize) -> String {
        match (&self.fingerprint, &self.rule, &self.path) {
            (Some(fingerprint), ..) => format!("`{fingerprint}`"),
            (None, Some(rule), Some(path)) => format!("`{rule}` at `{path}`"),
            (None, Some(one), None) | (None, None, Some(one)) => format!("`{one}`"),
            (None, None, None) => format!("#{number}"),
        }
    }

    /// Whether the waiver identifies its finding in exactly one way.
    const fn is_unambiguous(&self) -> bool {
        matches!(
            (&self.fingerprint, &self.rule, &self.path),
            (Some(_), None, None) | (None, Some(_), Some(_))
        )
    }

    /// Returns the expiry date, which is a TOML date or a string. Returns the value as written if it is not a date.
    fn day(&self) -> Result<Date, String> {
        let text = match &self.expires {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // The parser also accepts a time of day and a date without hyphens.
        let day = if text.len() == "YYYY-MM-DD".len() { text.parse().ok() } else { None };
        day.ok_or(text)
    }
}

/// The content of a waiver file.
#[derive(Debug)]
pub(crate) struct Waivers {
    /// The name of the file.
    pub name: String,
    /// The TOML text.
    pub text: String,
    /// Whether the file is read from a git revision: the change that it accepts may already be part of that revision, or not be
    /// merged yet.
    pub from_revision: bool,
}

/// Marks waived findings. Returns one message for each unused or expired waiver.
///
/// # Errors
/// Returns an error when the file is not a valid waiver file.
pub(crate) fn apply(waivers: &Waivers, findings: &mut [Finding], today: Date) -> Result<Vec<String>> {
    let Waivers { name, text, from_revision } = waivers;
    let file: WaiverFile =
        toml::from_str(text).with_context(|| format!("cannot read waivers from {name}"))?;
    let mut waiver_errors = Vec::new();
    for (at, waiver) in file.waiver.iter().enumerate() {
        let named = waiver.named(at + 1);
        ensure!(
            waiver.is_unambiguous(),
            "{name}: waiver {named}: expected either a `fingerprint`, or a `rule` and a `path`"
        );
        ensure!(
            !waiver.reason.trim().is_empty(),
            "{name}: waiver {named}: `reason` is empty; explain why the change is accepted"
        );
        let expires = waiver.day().map_err(|text| {
            anyhow::anyhow!("{name}: waiver {named}: `expires`: expected a date (YYYY-MM-DD), got `{text}`")
        })?;
        let mut matched = false;
        for finding in findings.iter_mut().filter(|finding| waiver.matches(finding)) {
            matched = true;
            if today <= expires {
                finding.waived = Some(waiver.reason.clone());
            }
        }
        if !matched && !from_revision {
            waiver_errors.push(format!("{name}: waiver {named} matches no finding; remove it"));
        } else if matched && today > expires {
            waiver_errors.push(format!(
                "{name}: waiver {named} expired on {expires}; review the change again, or revert it"
            ));
        }
    }
    Ok(waiver_errors)
}
