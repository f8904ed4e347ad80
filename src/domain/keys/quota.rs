//! Which quota applies to a key: the operator's, its own, its workspace's or the default.

use entity::{api_keys, workspaces};

use crate::workspaces::Quota;
use foundation::config::Limits;

/// The limits that apply to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveQuota {
    /// Requests in a clock minute.
    pub per_minute: Limit,
    /// Requests in a UTC day.
    pub per_day: Limit,
}

/// A number of requests, and what sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// At least 1.
    pub requests: u32,
    /// Where the number comes from.
    pub source: LimitSource,
}

/// What sets a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSource {
    /// The operator gave it to the key.
    Operator,
    /// A person of the workspace gave it to the key.
    Key,
    /// The operator gave it to the workspace.
    Workspace,
    /// The configuration.
    Default,
}

impl LimitSource {
    /// Its name in lists.
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
    /// The quota of a workspace, which applies to its keys without one of their own.
    pub fn of_workspace(quota: Quota, defaults: &Limits) -> Self {
        let limit = |own: Option<i32>, default: u32| match own {
            Some(own) => Limit { requests: own.unsigned_abs(), source: LimitSource::Workspace },
            None => Limit { requests: default, source: LimitSource::Default },
        };
        Self {
            per_minute: limit(quota.per_minute, defaults.default_per_minute.get()),
            per_day: limit(quota.per_day, defaults.default_per_day.get()),
        }
    }

    /// The quota of a key in a workspace with this one.
    pub(super) fn of_key(self, key: &api_keys::Model) -> Self {
        let limit = |own: Option<i32>, workspace: Limit| match own.map(i32::unsigned_abs) {
            Some(requests) if key.operator_quota => Limit { requests, source: LimitSource::Operator },
            Some(requests) if requests <= workspace.requests => Limit { requests, source: LimitSource::Key },
            _ => workspace,
        };
        Self { per_minute: limit(key.per_minute, self.per_minute), per_day: limit(key.per_day, self.per_day) }
    }
}

/// The quota that a workspace's row gives.
pub(super) fn of_row(workspace: Option<&workspaces::Model>, defaults: &Limits) -> EffectiveQuota {
    let own = workspace
        .map_or_else(Quota::default, |row| Quota { per_minute: row.per_minute, per_day: row.per_day });
    EffectiveQuota::of_workspace(own, defaults)
}
