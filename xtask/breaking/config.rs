//! The configuration of `openapi-gate`: levels of rules, policies and ignored paths.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use contract::node::{Node, Value};
use serde::Deserialize;

use super::catalog;
use super::compare::GracePeriods;
use super::finding::Finding;
use super::rule::Level;

/// The name of the configuration file.
pub(crate) const FILE_NAME: &str = "openapi-gate.toml";

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

/// Expectations beyond compatibility. Without a configuration, none applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Policies {
    sunset_days: i32,
    beta_sunset_days: i32,
    raised_security: bool,
    version_bump: bool,
}

impl Default for Policies {
    fn default() -> Self {
        let GracePeriods { days, beta_days } = GracePeriods::NONE;
        Self { sunset_days: days, beta_sunset_days: beta_days, raised_security: false, version_bump: false }
    }
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
    policies: Policies,
}

impl Settings {
    /// Returns the settings of this project: all policies apply.
    pub(crate) fn project() -> Self {
        let GracePeriods { days, beta_days } = GracePeriods::PROJECT;
        let policies = Policies {
            sunset_days: days,
            beta_sunset_days: beta_days,
            raised_security: true,
            version_bump: true,
        };
        Self { policies, ..Self::default() }
    }

    /// Parses a configuration file.
    ///
    /// # Errors
    /// Returns an error when the text is not TOML, or contains an unknown key, level or rule, or an invalid value.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let settings: Self =
            toml::from_str(text).with_context(|| format!("cannot read the configuration {name}"))?;
        if let Some(id) = settings.rules.keys().find(|id| !catalog::is_rule(id)) {
            bail!("{name}: `{id}` is not a rule; `openapi-gate rules` lists all rules");
        }
        let Policies { sunset_days, beta_sunset_days, .. } = settings.policies;
        ensure!(sunset_days >= 0 && beta_sunset_days >= 0, "{name}: the days of a policy cannot be negative");
        if let Some(path) = settings.ignored_paths.iter().find(|path| !path.starts_with(['/', '*'])) {
            bail!("{name}: `ignored-paths`: `{path}` is not a path; write `/{path}`");
        }
        Ok(settings)
    }

    /// Returns how long before its sunset an object must be deprecated.
    pub(crate) const fn grace_periods(&self) -> GracePeriods {
        GracePeriods { days: self.policies.sunset_days, beta_days: self.policies.beta_sunset_days }
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
            let configured = self.rules.get(&finding.id).copied();
            let Some(level) = configured.or_else(|| self.policy_level(&finding.id)) else { return true };
            let level = match level {
                ConfiguredLevel::Error => Level::Error,
                ConfiguredLevel::Warning => Level::Warning,
                ConfiguredLevel::Info => Level::Info,
                ConfiguredLevel::Off => return false,
            };
            if finding.impact.is_empty() && level > Level::Info {
                "The configuration raised the level of this rule.".clone_into(&mut finding.impact);
                "Revert the change, or add a waiver.".clone_into(&mut finding.remedy);
            }
            finding.level = level;
            true
        });
    }

    /// Returns the level of a rule that belongs to a policy, if the policy does not apply.
    fn policy_level(&self, id: &str) -> Option<ConfiguredLevel> {
        let is_security = id.starts_with("api-security-") || id.starts_with("api-global-security-");
        let is_version = ["api-version-not-bumped", "api-version-decreased", "api-major-version-not-bumped"];
        match () {
            () if is_security && !self.policies.raised_security => Some(ConfiguredLevel::Info),
            () if is_version.contains(&id) && !self.policies.version_bump => Some(ConfiguredLevel::Off),
            () => None,
        }
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
        assert!(error("ignored-paths = ['internal']").ends_with("is not a path; write `/internal`"));
        assert!(error("[rules").starts_with("cannot read the configuration openapi-gate.toml"));
        assert_eq!(Settings::parse("a.toml", "").unwrap(), Settings::default());
    }
}
