//! Findings that someone has judged and lets pass, for a time.
//!
//! A file of waivers is TOML: `[[waiver]]` with the finding's `fingerprint`, or its `rule` and `path`, a `reason`, and the
//! day on which it `expires`. One that has expired and still matches is a fault; so is one that matches nothing, unless it is
//! read from a revision, since it is merged before the change that needs it.

use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;
use serde::Deserialize;
use toml::Value;

use super::finding::Finding;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
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

    /// What people know it by: what it says, or else its number in the file.
    fn named(&self, number: usize) -> String {
        match (&self.fingerprint, &self.rule, &self.path) {
            (Some(fingerprint), ..) => format!("`{fingerprint}`"),
            (None, Some(rule), Some(path)) => format!("`{rule}` at `{path}`"),
            (None, Some(one), None) | (None, None, Some(one)) => format!("`{one}`"),
            (None, None, None) => format!("number {number}"),
        }
    }

    /// Whether it says in one way which finding it means.
    const fn is_plain(&self) -> bool {
        matches!(
            (&self.fingerprint, &self.rule, &self.path),
            (Some(_), None, None) | (None, Some(_), Some(_))
        )
    }

    /// Its last day, as TOML's own date or in quotes; else what is written there.
    fn day(&self) -> Result<Date, String> {
        let text = match &self.expires {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // A time of day, or one without dashes, would be read too.
        let day = if text.len() == "YYYY-MM-DD".len() { text.parse().ok() } else { None };
        day.ok_or(text)
    }
}

/// The text of a file of waivers.
#[derive(Debug)]
pub(crate) struct Waivers {
    /// How the file is called.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Whether it is read from a revision: what it lets pass may be in that one already, or be yet to come.
    pub of_another: bool,
}

/// Marks what is waived; answers with what is wrong with the waivers, one sentence each.
///
/// # Errors
/// When the file is not a file of waivers.
pub(crate) fn apply(waivers: &Waivers, findings: &mut [Finding], today: Date) -> Result<Vec<String>> {
    let Waivers { name, text, of_another } = waivers;
    let file: File = toml::from_str(text).with_context(|| format!("cannot read the waivers in {name}"))?;
    let mut faults = Vec::new();
    for (at, waiver) in file.waiver.iter().enumerate() {
        let named = waiver.named(at + 1);
        ensure!(
            waiver.is_plain(),
            "{name}: the waiver {named} must have a `fingerprint` alone, or else a `rule` and a `path`"
        );
        ensure!(
            !waiver.reason.trim().is_empty(),
            "{name}: the waiver {named} has no reason; say why it may pass"
        );
        let expires = waiver.day().map_err(|text| {
            anyhow::anyhow!("{name}: the waiver {named} expires on `{text}`, which is not a day (YYYY-MM-DD)")
        })?;
        let mut matched = false;
        for finding in findings.iter_mut().filter(|finding| waiver.matches(finding)) {
            matched = true;
            if today <= expires {
                finding.waived = Some(waiver.reason.clone());
            }
        }
        if !matched && !of_another {
            faults.push(format!("{name}: the waiver {named} matches nothing; take it out"));
        } else if matched && today > expires {
            faults.push(format!(
                "{name}: the waiver {named} expired on {expires}; judge the change anew, or undo it"
            ));
        }
    }
    Ok(faults)
}
