//! Authenticates API keys and records when they were last used.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use entity::{api_keys, old_key_secrets, workspaces};
use futures_util::future::BoxFuture;

use super::super::records::id;
use super::cache::CacheLookup;
use super::{Principal, manage, quota};
use crate::Result;
use crate::app::App;
use crate::bearer_secret;
use crate::scope::Scope;
use crate::workspaces::Mode;
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;

/// Returns the principal of an API key's secret, or `None` when the secret is malformed, unknown, expired or revoked.
///
/// A secret with a wrong checksum causes no database query. A secret that was authenticated within the last 2 s is usually
/// answered from the cache.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn authenticate(app: &App, presented: &str) -> Result<Option<Principal>> {
    authenticate_limited(app, presented, || true).await
}

/// Authenticates a secret as [`authenticate`] does, and limits the queries for guessed secrets. Calls `admit` before it
/// reads a key that is not cached. If `admit` returns false, the key is read only if it exists according to the key
/// filter, which learns of keys created by other processes within 2 s.
///
/// # Errors
/// Returns the errors of [`authenticate`].
pub async fn authenticate_limited(
    app: &App,
    presented: &str,
    admit: impl FnOnce() -> bool,
) -> Result<Option<Principal>> {
    let prefixes = [bearer_secret::LIVE_KEY, bearer_secret::TEST_KEY];
    if !prefixes.iter().any(|prefix| bearer_secret::is_well_formed(prefix, presented)) {
        return Ok(None);
    }
    let digest = bearer_secret::digest(presented);
    let now_ms = app.clock.now_ms();
    let principal = match app.principals.lookup(&digest, now_ms) {
        CacheLookup::Hit(principal) => Some(principal),
        CacheLookup::Invalid => None,
        CacheLookup::Stale(principal, stamp) => match read_boxed(app, &digest).await {
            Ok(principal) => {
                app.principals.insert(digest, stamp, principal.clone());
                principal
            }
            // The cached principal is still valid for up to one second, so requests succeed during a short database
            // failure.
            Err(_) => Some(principal),
        },
        CacheLookup::Miss(stamp) => {
            if !admit() && !Box::pin(app.principals.filter.may_exist(&app.db, &app.clock, &digest)).await? {
                return Ok(None);
            }
            let principal = read_boxed(app, &digest).await?;
            app.principals.insert(digest, stamp, principal.clone());
            principal
        }
    };
    Ok(principal.filter(|principal| is_valid(principal, now_ms)))
}

fn is_valid(principal: &Principal, now_ms: i64) -> bool {
    principal.expires_at.is_none_or(|end| end.as_millisecond() > now_ms)
}

/// Returns the mode of the workspace of a key. The prefix of its secret shows it.
pub fn mode_of(secret: &str) -> Mode {
    if secret.starts_with(bearer_secret::TEST_KEY) { Mode::Test } else { Mode::Live }
}

/// Returns whether the secret with this digest is still valid, belongs to this workspace, and may be used from this address for
/// operations with this scope. The key of a sandbox belongs to another workspace after a reset. Reads the database.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn is_usable(
    app: &App,
    digest: &[u8; 32],
    workspace: WorkspaceId,
    scope: Scope,
    client: IpAddr,
) -> Result<bool> {
    let principal = read(app, digest).await?.filter(|principal| is_valid(principal, app.clock.now_ms()));
    Ok(principal.is_some_and(|principal| {
        principal.workspace == workspace
            && principal.scopes.contains(scope)
            && principal.is_allowed_from(client)
    }))
}

/// Writes the time of the most recent use of each key that was used since the previous flush. The server calls it
/// periodically and on shutdown. Returns the number of keys written.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails. The uses are written by the next flush.
pub async fn flush_uses(app: &App) -> Result<usize> {
    let uses = app.principals.take_uses();
    if uses.is_empty() {
        return Ok(0);
    }
    let outcome = write_uses(app, &uses).await;
    if outcome.is_err() {
        app.principals.restore_uses(uses);
        return outcome.map(|()| 0);
    }
    Ok(uses.len())
}

/// Writes uses in one transaction: the id of a key, and when it was used, in milliseconds since the epoch.
async fn write_uses(app: &App, uses: &[(uuid::Uuid, i64)]) -> Result<()> {
    let write = app.begin_write().await?;
    for (key, used_ms) in uses {
        api_keys::touch(write.conn(), *key, *used_ms).await?;
    }
    Ok(write.commit().await?)
}

/// Calls [`read`] with its future on the heap. Most requests are answered from the cache, so their futures stay small.
fn read_boxed<'a>(app: &'a App, digest: &'a [u8; 32]) -> BoxFuture<'a, Result<Option<Principal>>> {
    Box::pin(read(app, digest))
}

/// Reads the principal of a secret from the database, with the limits that apply to its key. `None` for an unknown
/// secret, for an old secret that has expired, for a revoked key, and for a key of a deleted workspace. The caller
/// checks whether the key has expired.
async fn read(app: &App, digest: &[u8; 32]) -> Result<Option<Principal>> {
    app.principals.lookups.fetch_add(1, Ordering::Relaxed);
    let now_ms = app.clock.now_ms();
    let Some(key) = api_keys::by_secret_hash(app.db.read(), digest, now_ms).await? else { return Ok(None) };
    let old_until = if key.secret_hash == digest {
        None
    } else {
        let old = old_key_secrets::of_key(app.db.read(), key.id, now_ms).await?;
        let Some(old) = old.filter(|old| old.secret_hash == digest) else { return Ok(None) };
        Some(old.expires_at)
    };
    if key.revoked_at.is_some() {
        return Ok(None);
    }
    let workspace = workspaces::by_id(app.db.read(), key.workspace_id).await?;
    let Some(workspace) = workspace else { return Ok(None) };
    let quota = quota::workspace_quota(Some(&workspace), &app.config.limits).of_key(&key);
    // A list that cannot be read allows nobody.
    let networks = key.networks.is_some().then(|| manage::networks(&key).into());
    Ok(Some(Principal {
        key: id(key.id),
        workspace: id(key.workspace_id),
        mode: Mode::from_column(&workspace.mode),
        secret_digest: *digest,
        scopes: key.scopes.0.iter().filter_map(|scope| scope.parse().ok()).collect(),
        per_minute: quota.per_minute.requests,
        per_day: quota.per_day.requests,
        expires_at: key.expires_at.into_iter().chain(old_until).min().map(from_ms),
        sunset_extended_until: key.sunset_extended_until.map(from_ms),
        networks,
    }))
}
