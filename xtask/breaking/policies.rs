//! Policies: expectations beyond compatibility, which apply only if they are configured.

use serde::Deserialize;

use super::compare::GracePeriods;
use super::rule::Level;

/// The rules about the version of a document.
pub(crate) const VERSION_RULES: [&str; 3] =
    ["api-version-not-bumped", "api-version-decreased", "api-major-version-not-bumped"];

/// The policies of a configuration. Without one, none applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Policies {
    /// The minimum number of days between today and the sunset of a deprecated object.
    pub sunset_days: i32,
    /// The same at stability level beta.
    pub beta_sunset_days: i32,
    /// Whether changes of security schemes, and operations that require fewer schemes or scopes, are errors.
    pub raised_security: bool,
    /// Whether a version that did not increase as expected is a warning.
    pub version_bump: bool,
    /// Whether breaking changes of requests that nobody sends are warnings.
    pub usage: Option<UsagePolicy>,
}

/// The policy about breaking changes of requests that nobody sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UsagePolicy {
    /// The number of days before the usage report in which requests count.
    pub days: i32,
    /// The maximum number of broken requests with which a finding counts as unused.
    pub threshold: u64,
    /// Whether findings about responses are lowered too. Only `false` is valid.
    pub responses: bool,
}

impl Default for UsagePolicy {
    fn default() -> Self {
        Self { days: 30, threshold: 0, responses: false }
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self::new(GracePeriods::NONE, false)
    }
}

impl Policies {
    /// The policies of this project: all apply.
    pub(crate) const PROJECT: Self = Self::new(GracePeriods::PROJECT, true);

    const fn new(grace_periods: GracePeriods, applies: bool) -> Self {
        let GracePeriods { days, beta_days } = grace_periods;
        Self {
            sunset_days: days,
            beta_sunset_days: beta_days,
            raised_security: applies,
            version_bump: applies,
            usage: None,
        }
    }

    /// Returns how long before its sunset an object must be deprecated.
    pub(crate) const fn grace_periods(self) -> GracePeriods {
        GracePeriods { days: self.sunset_days, beta_days: self.beta_sunset_days }
    }

    /// Returns the level of a finding or a rule that has the level `level` without policies, or `None` if it is not
    /// reported. Without the policy about security, changes of schemes are warnings, an operation that requires fewer
    /// schemes is one too, and a scope that is no longer required is harmless.
    pub(crate) fn level(self, id: &str, level: Level) -> Option<Level> {
        match Policy::of_rule(id) {
            Some(Policy::Security) if !self.raised_security => {
                let is_harmless = id.ends_with("-scope-removed") && !id.contains("-component-");
                Some(level.min(if is_harmless { Level::Info } else { Level::Warning }))
            }
            Some(Policy::Version) => self.version_bump.then_some(Level::Warning),
            Some(Policy::Security | Policy::Sunset) | None => Some(level),
        }
    }

    /// Returns the lines of the policies in the configuration.
    pub(crate) fn lines(self) -> [String; 4] {
        [
            format!("sunset-days = {}", self.sunset_days),
            format!("beta-sunset-days = {}", self.beta_sunset_days),
            format!("raised-security = {}", self.raised_security),
            format!("version-bump = {}", self.version_bump),
        ]
    }
}

/// A policy to which rules belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// `sunset-days` and `beta-sunset-days`.
    Sunset,
    /// `raised-security`.
    Security,
    /// `version-bump`.
    Version,
}

impl Policy {
    /// Returns the policy to which a rule belongs.
    pub(crate) fn of_rule(id: &str) -> Option<Self> {
        let depends_on_days = ["sunset-missing", "sunset-date-too-small", "sunset-date-changed-too-small"];
        match () {
            () if id.starts_with("api-security-component-") => Some(Self::Security),
            () if is_about_access(id) => Some(Self::Security),
            () if VERSION_RULES.contains(&id) => Some(Self::Version),
            () if depends_on_days.iter().any(|ending| id.ends_with(ending)) => Some(Self::Sunset),
            () => None,
        }
    }

    /// Returns the line of the policy in the configuration.
    pub(crate) fn line(self, policies: Policies) -> String {
        let [sunset, _, security, version] = policies.lines();
        match self {
            Self::Sunset => sunset,
            Self::Security => security,
            Self::Version => version,
        }
    }
}

/// Whether a rule reports that an operation requires less than before.
fn is_about_access(id: &str) -> bool {
    let is_about_requirements = id.starts_with("api-security-") || id.starts_with("api-global-security-");
    is_about_requirements && ["-loosened", "-scope-removed"].iter().any(|ending| id.ends_with(ending))
}
