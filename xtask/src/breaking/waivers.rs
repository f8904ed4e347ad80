//! Findings that someone has judged and lets pass, for a time.
//!
//! A file of waivers is TOML: `[[waiver]]` with the finding's `fingerprint`, or its `rule` and `path`, a `reason`, and the
//! day on which it `expires`. It is read beside the base. One that matches nothing or has expired is a fault, so that the
//! list stays short.

use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;
use serde::Deserialize;

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
    expires: String,
}

impl Waiver {
    fn matches(&self, finding: &Finding) -> bool {
        if let Some(fingerprint) = &self.fingerprint {
            return *fingerprint == finding.fingerprint;
        }
        self.rule.as_ref() == Some(&finding.id) && self.path.as_ref() == Some(&finding.path)
    }

    fn named(&self) -> String {
        match (&self.fingerprint, &self.rule, &self.path) {
            (Some(fingerprint), ..) => format!("`{fingerprint}`"),
            (None, rule, path) => {
                format!(
                    "`{}` at `{}`",
                    rule.as_deref().unwrap_or_default(),
                    path.as_deref().unwrap_or_default()
                )
            }
        }
    }
}

/// Marks what is waived; answers with what is wrong with the waivers, one sentence each.
///
/// # Errors
/// When the file is not a file of waivers.
pub fn apply(name: &str, text: &str, findings: &mut [Finding], today: Date) -> Result<Vec<String>> {
    let file: File = toml::from_str(text).with_context(|| format!("cannot read the waivers in {name}"))?;
    let mut faults = Vec::new();
    for waiver in &file.waiver {
        let named = waiver.named();
        ensure!(
            waiver.fingerprint.is_some() != (waiver.rule.is_some() && waiver.path.is_some()),
            "{name}: the waiver {named} must have a `fingerprint`, or else a `rule` and a `path`"
        );
        ensure!(
            !waiver.reason.trim().is_empty(),
            "{name}: the waiver {named} has no reason; say why it may pass"
        );
        let expires: Date = waiver.expires.parse().map_err(|_| {
            anyhow::anyhow!(
                "{name}: the waiver {named} expires on `{}`, which is not a day (YYYY-MM-DD)",
                waiver.expires
            )
        })?;
        let mut matched = false;
        for finding in findings.iter_mut().filter(|finding| waiver.matches(finding)) {
            matched = true;
            if today <= expires {
                finding.waived = Some(waiver.reason.clone());
            }
        }
        if !matched {
            faults.push(format!("{name}: the waiver {named} matches nothing; take it out"));
        } else if today > expires {
            faults.push(format!(
                "{name}: the waiver {named} expired on {expires}; judge the change anew, or undo it"
            ));
        }
    }
    Ok(faults)
}
