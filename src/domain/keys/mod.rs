//! API keys: made, listed, revoked, and recognised at every request.
//!
//! The secret leaves this module once, as the result of [`create`]; what is stored is its SHA-256.

use jiff::Timestamp;

use super::scope::Scopes;
use super::workspaces::Quota;
use foundation::id::{KeyId, WorkspaceId};

mod authenticate;
mod cache;
mod filter;
mod manage;
mod quota;
mod secret;
mod usage;

pub use authenticate::{authenticate, authenticate_limited, flush_used};
pub use cache::Principals;
pub use manage::{create, create_by_member, list, revoke, set_quota};
pub use quota::{EffectiveQuota, Limit, LimitSource};
pub use usage::{KeyUsage, usage};

/// A key as it is shown: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: KeyId,
    /// Where it opens.
    pub workspace: WorkspaceId,
    /// Given by its maker.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// The secret's first 12 characters.
    pub prefix: String,
    /// The secret's last 4 characters.
    pub last4: String,
    /// Its own quota, where it has one. Unless the operator gave it, the workspace's quota limits it.
    pub quota: Quota,
    /// Creation.
    pub created_at: Timestamp,
    /// Last use, up to a minute late.
    pub last_used_at: Option<Timestamp>,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A key to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// 1 to 200 characters.
    pub name: String,
    /// At least one.
    pub scopes: Scopes,
    /// Its own quota.
    pub quota: Quota,
    /// When it ends; must lie in the future.
    pub expires_at: Option<Timestamp>,
}

/// Who calls: what a valid key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    /// The key.
    pub key: KeyId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// What it may do.
    pub scopes: Scopes,
    /// Requests in a clock minute.
    pub per_minute: u32,
    /// Requests in a UTC day.
    pub per_day: u32,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
}
