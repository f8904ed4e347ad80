//! Manages API keys and authenticates requests with them.
//!
//! Only [`create`], [`create_by_member`] and [`rotate`] return a key's secret. The database stores its SHA-256 digest.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;

use super::scope::Scopes;
use super::workspaces::{Mode, Quota};
use foundation::config::Network;
use foundation::id::{KeyId, WorkspaceId};

mod authenticate;
mod cache;
mod edit;
mod filter;
mod manage;
mod quota;
mod reminders;
mod rotate;
mod usage;

pub use authenticate::{authenticate, authenticate_limited, flush_uses, is_usable, mode_of};
pub use cache::PrincipalCache;
pub use edit::{KeyChange, describe_edit, edit};
pub use manage::{create, create_by_member, extend_sunset, list, revoke, set_networks, set_quota};
pub use quota::{EffectiveQuota, Limit, LimitSource};
pub use reminders::remind;
pub use rotate::{KeyRotation, OldSecret, RotatedKey, end_old_secret, notify_owners, rotate};
pub use usage::{KeyUsage, actor, daily_quota_resets_at, get, list_usage};

/// The maximum number of networks of a key.
pub const MAX_NETWORKS: usize = 20;

/// An API key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key's id.
    pub id: KeyId,
    /// The workspace that the key gives access to.
    pub workspace: WorkspaceId,
    /// The name.
    pub name: String,
    /// The scopes of the key.
    pub scopes: Scopes,
    /// The secret's first 12 characters.
    pub prefix: String,
    /// The secret's last 4 characters.
    pub last4: String,
    /// The custom quota of the key, if any. The workspace's quota limits a quota that a member set, but not one that
    /// the operator set.
    pub quota: Quota,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key was last used, `None` if never. Written with a delay of up to one minute.
    pub last_used_at: Option<Timestamp>,
    /// When the key expires. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked. `None` if it was not.
    pub revoked_at: Option<Timestamp>,
    /// Until when deprecated operations work for the key after their sunset. `None` if they stop at the sunset.
    pub sunset_extended_until: Option<Timestamp>,
    /// The networks from which the key may be used. Empty means from everywhere.
    pub networks: Vec<Network>,
}

impl KeyRecord {
    /// Returns whether the key is neither revoked nor expired at this time.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// Returns from where the key may be used: `may be used from 192.0.2.0/24, 2001:db8::/32`.
    pub fn allowed_from(&self) -> String {
        let networks: Vec<String> = self.networks.iter().map(Network::to_string).collect();
        let networks = if networks.is_empty() { "everywhere".to_owned() } else { networks.join(", ") };
        format!("may be used from {networks}")
    }

    /// Returns the detail of the audit log entry about the creation of the key: its name, and its networks if it has any.
    pub fn creation_detail(&self) -> String {
        match self.networks.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", shorten(&self.name), self.allowed_from()),
        }
    }
}

/// Shortens a text of an audit log entry, so that the entry has space for the others.
fn shorten(text: &str) -> String {
    text.chars().take(50).collect()
}

/// Returns the part of a secret that is shown.
fn masked(prefix: &str, last4: &str) -> String {
    format!("{prefix}...{last4}")
}

/// A key to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The name, 1 to 200 characters on one line.
    pub name: String,
    /// The scopes of the key, at least one.
    pub scopes: Scopes,
    /// The custom quota of the key.
    pub quota: Quota,
    /// When the key expires. Must be in the future. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// The networks from which the key may be used, at most [`MAX_NETWORKS`]. Empty means from everywhere.
    pub networks: Vec<Network>,
}

/// The authenticated caller of a request: a valid key with the limits that apply to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The key.
    pub key: KeyId,
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// Whether the data of the workspace is live data or test data.
    pub mode: Mode,
    /// SHA-256 of the secret.
    pub secret_digest: [u8; 32],
    /// The scopes of the key.
    pub scopes: Scopes,
    /// Maximum number of requests per clock minute.
    pub per_minute: u32,
    /// Maximum number of requests per UTC day.
    pub per_day: u32,
    /// When the secret expires: with the key, or earlier if it is the old secret. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// Until when deprecated operations work for the key after their sunset. `None` if they stop at the sunset.
    pub sunset_extended_until: Option<Timestamp>,
    /// The networks from which the key may be used. `None` means from everywhere.
    pub networks: Option<Arc<[Network]>>,
}

impl Principal {
    /// Returns whether the key may be used from this address.
    pub fn is_allowed_from(&self, client: IpAddr) -> bool {
        self.networks.as_ref().is_none_or(|networks| networks.iter().any(|network| network.contains(client)))
    }
}
