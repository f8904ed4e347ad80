//! Determines which limits apply to a key: those that the operator or a user set for the key, those of its workspace,
//! or the default ones.

use entity::{api_keys, workspaces};

use crate::workspaces::Quota;
use foundation::config::LimitsConfig;

/// The limits that apply to a key, or to the keys of a workspace that have no custom quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveQuota {
    /// The limit per clock minute.
    pub per_minute: Limit,
    /// The limit per UTC day.
    pub per_day: Limit,
}

/// A maximum number of requests and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Maximum number of requests, at least 1.
    pub requests: u32,
    /// Where the limit comes from.
    pub source: LimitSource,
}

/// Where a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSource {
    /// The operator set it for the key.
    Operator,
    /// A user of the workspace set it for the key.
    Key,
    /// The operator set it for the workspace.
    Workspace,
    /// The server's configuration defines it.
    Default,
}

impl LimitSource {
    /// Returns the name shown in lists of keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Key => "key",
            Self::Workspace => "workspace",
            Self::Default => "default",
        }
    }
}

impl EffectiveQuota {
    /// Returns the limits of a workspace with this custom quota. They apply to keys without a custom quota.
    pub fn of_workspace(quota: Quota, defaults: &LimitsConfig) -> Self {
        let limit = |custom: Option<i32>, default: u32| match custom {
            Some(custom) => Limit { requests: custom.unsigned_abs(), source: LimitSource::Workspace },
            None => Limit { requests: default, source: LimitSource::Default },
        };
        Self {
            per_minute: limit(quota.per_minute, defaults.default_per_minute.get()),
            per_day: limit(quota.per_day, defaults.default_per_day.get()),
        }
    }

    /// Returns the limits of a key in a workspace with these limits. A limit that a user set for the key applies only
    /// if it is not above the workspace's.
    pub(super) fn of_key(self, key: &api_keys::Model) -> Self {
        let limit = |custom: Option<i32>, workspace: Limit| match custom.map(i32::unsigned_abs) {
            Some(requests) if key.operator_quota => Limit { requests, source: LimitSource::Operator },
            Some(requests) if requests <= workspace.requests => Limit { requests, source: LimitSource::Key },
            _ => workspace,
        };
        Self { per_minute: limit(key.per_minute, self.per_minute), per_day: limit(key.per_day, self.per_day) }
    }
}

/// Returns the limits of the workspace of a row, or the default limits without a row.
pub(super) fn workspace_quota(
    workspace: Option<&workspaces::Model>,
    defaults: &LimitsConfig,
) -> EffectiveQuota {
    let custom = workspace
        .map_or_else(Quota::default, |row| Quota { per_minute: row.per_minute, per_day: row.per_day });
    EffectiveQuota::of_workspace(custom, defaults)
}
