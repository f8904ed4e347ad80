//! The configuration of `openapi-gate`: levels of rules, policies and ignored paths.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use contract::node::{Node, Value};
use serde::Deserialize;

use super::catalog;
use super::compare::GracePeriods;
use super::finding::Finding;
use super::policies::{Policies, VERSION_RULES};
use super::rule::Level;

/// The name of the configuration file.
pub(crate) const FILE_NAME: &str = "openapi-gate.toml";

/// The impact and the remedy of a harmless change whose level was raised.
pub(crate) const RAISED: (&str, &str) =
    ("The configuration raised the level of this rule.", "Revert the change, or add a waiver.");

/// The level of a rule in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ConfiguredLevel {
    /// Breaks clients.
    Error,
    /// May break clients.
    Warning,
    /// Breaks no client.
    Info,
    /// Not reported.
    Off,
}

/// The level from which the gate fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailOn {
    /// Breaking changes.
    #[default]
    Error,
    /// Breaking changes and warnings.
    Warning,
}

/// The settings of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// The level from which the gate fails.
    pub fail_on: FailOn,
    /// The path of the waiver file.
    pub waivers: Option<String>,
    ignored_paths: Vec<String>,
    rules: BTreeMap<String, ConfiguredLevel>,
    /// The policies.
    pub policies: Policies,
    /// Whether paths that differ only in the version are the same: for a migration guide, but not for a verdict.
    #[serde(skip)]
    pub aligns_versions: bool,
}

impl Settings {
    /// Returns the settings of this project: all policies apply. Its version increases with a release, so the rules about
    /// the version stay at level info: they are only part of the changelog.
    pub(crate) fn project() -> Self {
        let rules = VERSION_RULES.map(|id| (id.to_owned(), ConfiguredLevel::Info)).into();
        Self { policies: Policies::PROJECT, rules, ..Self::default() }
    }

    /// Parses a configuration file.
    ///
    /// # Errors
    /// Returns an error when the text is not TOML, or contains an unknown key, level or rule, or an invalid value.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let settings: Self =
            toml::from_str(text).with_context(|| format!("cannot read the configuration {name}"))?;
        if let Some(id) = settings.rules.keys().find(|id| catalog::level(id).is_none()) {
            bail!("{name}: `{id}` is not a rule; `openapi-gate rules` lists all rules");
        }
        let Policies { sunset_days, beta_sunset_days, usage, .. } = settings.policies;
        ensure!(sunset_days >= 0 && beta_sunset_days >= 0, "{name}: the days of a policy cannot be negative");
        if let Some(usage) = usage {
            ensure!((1..=90).contains(&usage.days), "{name}: `usage`: `days` must be from 1 to 90");
            ensure!(
                !usage.responses,
                "{name}: `usage`: findings about responses cannot be lowered, because a server does not see which fields a \
                 client reads; remove `responses`"
            );
        }
        if let Some(path) = settings.ignored_paths.iter().find(|path| !path.starts_with(['/', '*'])) {
            bail!("{name}: `ignored-paths`: `{path}` is not a path; write `/{path}`");
        }
        Ok(settings)
    }

    /// Returns how long before its sunset an object must be deprecated.
    pub(crate) const fn grace_periods(&self) -> GracePeriods {
        self.policies.grace_periods()
    }

    /// Removes the ignored paths from a document.
    pub(crate) fn remove_ignored_paths(&self, root: &mut Node) {
        if self.ignored_paths.is_empty() {
            return;
        }
        let Value::Mapping(entries) = &mut root.value else { return };
        for paths in entries.iter_mut().filter(|entry| entry.key.text == "paths") {
            if let Value::Mapping(paths) = &mut paths.value.value {
                paths.retain(|path| {
                    !self.ignored_paths.iter().any(|pattern| matches(pattern, &path.key.text))
                });
            }
        }
    }

    /// Sets the levels of findings, and removes those whose rule is off.
    pub(crate) fn apply(&self, findings: &mut Vec<Finding>) {
        findings.retain_mut(|finding| {
            let level = self.level(&finding.id, finding.level);
            finding.level = level.unwrap_or(Level::Info);
            if finding.level == Level::Info {
                finding.impact.clear();
                finding.remedy.clear();
            } else if finding.impact.is_empty() {
                RAISED.0.clone_into(&mut finding.impact);
                RAISED.1.clone_into(&mut finding.remedy);
            }
            level.is_some()
        });
    }

    /// Returns the level of a finding or a rule that has the level `level` without a configuration, or `None` if it is
    /// not reported. A harmless change by a rule that reports breaking changes too, such as the removal of an operation
    /// after its sunset, stays harmless.
    pub(crate) fn level(&self, id: &str, level: Level) -> Option<Level> {
        let Some(configured) = self.rules.get(id) else { return self.policies.level(id, level) };
        let configured = match configured {
            ConfiguredLevel::Error => Level::Error,
            ConfiguredLevel::Warning => Level::Warning,
            ConfiguredLevel::Info => Level::Info,
            ConfiguredLevel::Off => return None,
        };
        let is_harmless_case = level == Level::Info && catalog::level(id) > Some(Level::Info);
        Some(if is_harmless_case { level } else { configured })
    }
}

/// Whether a path matches a pattern, in which `*` matches any characters.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == path };
    let (parts, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let remaining = path.strip_prefix(start).and_then(|path| path.strip_suffix(end));
    // The first occurrence of each part leaves the most characters for the others.
    let after_part = |path: &str, part: &str| path.find(part).map(|at| at + part.len());
    let mut parts = parts.split('*');
    remaining.is_some_and(|remaining| {
        parts.try_fold(remaining, |path, part| Some(&path[after_part(path, part)?..])).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_any_characters_at_its_stars() {
        for (pattern, path, expected) in [
            ("/a", "/a", true),
            ("/a", "/a/b", false),
            ("/internal/*", "/internal/a/b", true),
            ("/internal/*", "/internal", false),
            ("*/health", "/v1/health", true),
            ("/*/é*", "/v1/éa", true),
            ("/*/x", "/v1/y", false),
            ("/a*a", "/a", false),
            ("/a*a", "/aa", true),
            ("/*ab*ab*b", "/abab", false),
            ("/*ab*ab*b", "/xabxabxb", true),
            ("**", "/a", true),
            ("*a**b*", "/xaybz", true),
            ("*b*a*", "/ab", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_configuration_with_an_unknown_rule_level_or_key_is_rejected() {
        let error = |text: &str| format!("{:#}", Settings::parse("openapi-gate.toml", text).unwrap_err());
        assert_eq!(
            error("[rules]\nno-such-rule = 'error'"),
            "openapi-gate.toml: `no-such-rule` is not a rule; `openapi-gate rules` lists all rules"
        );
        assert!(error("[rules]\nendpoint-added = 'fatal'").contains("unknown variant `fatal`"));
        assert!(error("levels = 1").contains("unknown field `levels`"));
        assert!(error("[policies]\nsunset = 1").contains("unknown field `sunset`"));
        assert!(error("[policies]\nsunset-days = -1").ends_with("cannot be negative"));
        let usage = |policy: &str| error(&format!("[policies]\nusage = {{ {policy} }}"));
        assert!(usage("days = 0").ends_with("`usage`: `days` must be from 1 to 90"));
        assert!(usage("responses = true").contains("findings about responses cannot be lowered"));
        assert!(usage("level = 'info'").contains("unknown field `level`"));
        assert!(error("ignored-paths = ['internal']").ends_with("is not a path; write `/internal`"));
        assert!(error("[rules").starts_with("cannot read the configuration openapi-gate.toml"));
        assert_eq!(Settings::parse("a.toml", "").unwrap(), Settings::default());
    }
}
