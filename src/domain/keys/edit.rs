//! Changes of API keys by members.

use entity::Set;
use entity::api_keys::{self, ActiveModel};
use foundation::config::Network;
use foundation::database::Write;
use foundation::id::{KeyId, WorkspaceId};
use jiff::Timestamp;

use super::manage::{check_fields, check_networks, lock_valid, networks_column, record, scopes_column};
use super::{KeyRecord, reminders, shorten};
use crate::Result;
use crate::app::App;
use crate::field_errors::FieldErrors;
use crate::scope::Scopes;

/// The fields of a key that a member can change, with their new values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// The name, 1 to 200 characters on one line.
    pub name: String,
    /// The scopes, at least one.
    pub scopes: Scopes,
    /// When the key expires. Must be in the future. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// The networks from which the key may be used, at most [`MAX_NETWORKS`](super::MAX_NETWORKS). Empty means from everywhere.
    pub networks: Vec<Network>,
}

/// Changes a key on behalf of a member. Takes effect in this process at the commit, in other processes within 2 s. Returns the key
/// before and after the change; if they are equal, nothing was written.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such key. Returns
/// [`Error::Invalid`](crate::Error::Invalid) for `key` when the key is revoked or expired, and for each field that is not valid.
pub async fn edit(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: KeyId,
    change: KeyChange,
) -> Result<(KeyRecord, KeyRecord)> {
    let mut row = lock_valid(write, Some(workspace), key).await?;
    let mut errors = FieldErrors::default();
    check_fields(&mut errors, write, &change.name, change.scopes, change.expires_at);
    check_networks(&mut errors, &change.networks);
    errors.into_result()?;
    let before = record(row.clone());
    row.name = change.name;
    row.scopes = scopes_column(change.scopes);
    row.expires_at = change.expires_at.map(Timestamp::as_millisecond);
    row.networks = networks_column(&change.networks);
    let after = record(row.clone());
    if after == before {
        return Ok((before, after));
    }
    if after.expires_at != before.expires_at {
        reminders::restart(write, &row).await?;
    }
    let changes = ActiveModel {
        name: Set(row.name),
        scopes: Set(row.scopes),
        expires_at: Set(row.expires_at),
        networks: Set(row.networks),
        ..Default::default()
    };
    api_keys::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    let app = app.clone();
    write.after_commit(move || app.principals.invalidate());
    Ok((before, after))
}

/// Describes a change for the audit log: `CRM (expires never; scopes +write:students -read:orders)`.
pub fn describe_edit(before: &KeyRecord, after: &KeyRecord) -> String {
    let added = after.scopes.iter().filter(|scope| !before.scopes.contains(*scope));
    let removed = before.scopes.iter().filter(|scope| !after.scopes.contains(*scope));
    let scopes = added.map(|scope| format!(" +{scope}")).chain(removed.map(|scope| format!(" -{scope}")));
    let scopes: String = scopes.collect();
    let expiry = || after.expires_at.map_or_else(|| "never".to_owned(), |end| format!("{end:.3}"));
    let changes = [
        (after.expires_at != before.expires_at).then(|| format!("expires {}", expiry())),
        (after.networks != before.networks).then(|| shorten(&after.allowed_from())),
        (after.name != before.name).then(|| format!("was named {}", shorten(&before.name))),
        (!scopes.is_empty()).then(|| format!("scopes{scopes}")),
    ];
    let changes: Vec<String> = changes.into_iter().flatten().collect();
    format!("{} ({})", shorten(&after.name), changes.join("; "))
}
