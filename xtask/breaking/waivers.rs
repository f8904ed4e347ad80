//! Waivers: findings, such as breaking changes, that are accepted until a date.
//!
//! A waiver file is TOML: each `[[waiver]]` has the `fingerprint` of a finding, or its `rule` and `path`; a `reason`;
//! and the date on which it `expires`. A waiver that has expired and still matches a finding is an error. A waiver that
//! matches no finding is an error too, unless the file is read from a git revision, because waivers are merged before
//! the change that needs them.

use anyhow::{Context as _, Result, ensure};
use contract::plain_text::plain_text;
use jiff::civil::Date;
use serde::Deserialize;
use toml::Value;

use super::finding::Finding;
use super::names::TextFile;

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

    /// Returns the name of the waiver in messages: its fingerprint, or its rule and path, or else `number`, its place
    /// in the file counted from 1.
    fn display_name(&self, number: usize) -> String {
        match (&self.fingerprint, &self.rule, &self.path) {
            (Some(fingerprint), ..) => format!("`{fingerprint}`"),
            (None, Some(rule), Some(path)) => format!("`{rule}` at `{path}`"),
            (None, Some(identifier), None) | (None, None, Some(identifier)) => format!("`{identifier}`"),
            (None, None, None) => format!("#{number}"),
        }
    }

    /// Whether the waiver identifies its finding in exactly one way: by the fingerprint, or by the rule and the path.
    const fn is_unambiguous(&self) -> bool {
        matches!(
            (&self.fingerprint, &self.rule, &self.path),
            (Some(_), None, None) | (None, Some(_), Some(_))
        )
    }

    /// Returns the last day on which the waiver applies, from a TOML date or a string. The error is the text of a value
    /// that is not a date.
    fn expiry_date(&self) -> Result<Date, String> {
        let text = match &self.expires {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        // The parser would also accept a time of day and a date without hyphens.
        let date = if text.len() == "YYYY-MM-DD".len() { text.parse().ok() } else { None };
        date.ok_or(text)
    }
}

/// The content of a waiver file. Waivers of a git revision need not match a finding: the changes that they accept may
/// already be part of that revision, or not be merged yet.
pub(crate) type Waivers = TextFile;

/// Marks the findings that waivers accept. Returns a message for each expired waiver that matches a finding and, if the
/// file was not read from a git revision, for each waiver that matches none. A waiver applies until the end of the day
/// (UTC) on which it expires.
///
/// # Errors
/// Returns an error when the file is not TOML or has unknown keys, or when a waiver identifies its finding in no way or
/// in two ways, has no reason, or has no valid date.
pub(crate) fn apply(waivers: &Waivers, findings: &mut [Finding], today: Date) -> Result<Vec<String>> {
    let Waivers { name, text, is_from_git } = waivers;
    let file: WaiverFile =
        toml::from_str(text).with_context(|| format!("cannot read waivers from {name}"))?;
    let mut waiver_errors = Vec::new();
    for (index, waiver) in file.waiver.iter().enumerate() {
        let display_name = plain_text(&waiver.display_name(index + 1));
        ensure!(
            waiver.is_unambiguous(),
            "{name}: waiver {display_name}: expected either a `fingerprint`, or a `rule` and a `path`"
        );
        ensure!(
            !waiver.reason.trim().is_empty(),
            "{name}: waiver {display_name}: `reason` is empty; explain why the change is accepted"
        );
        let expires = waiver.expiry_date().map_err(|text| {
            anyhow::anyhow!(
                "{name}: waiver {display_name}: `expires`: expected a date (YYYY-MM-DD), got `{text}`"
            )
        })?;
        let mut has_match = false;
        for finding in findings.iter_mut().filter(|finding| waiver.matches(finding)) {
            has_match = true;
            if today <= expires {
                finding.waived = Some(plain_text(&waiver.reason));
            }
        }
        if !has_match && !is_from_git {
            waiver_errors.push(format!("{name}: waiver {display_name} matches no finding; remove it"));
        } else if has_match && today > expires {
            waiver_errors.push(format!(
                "{name}: waiver {display_name} expired on {expires}; revert the change, or review it and set a later `expires`"
            ));
        }
    }
    Ok(waiver_errors)
}
