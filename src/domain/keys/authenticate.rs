//! Recognising a presented secret.

use std::sync::atomic::Ordering;

use entity::{api_keys, workspaces};
use futures_util::future::BoxFuture;

use super::super::find::id;
use super::cache::Seen;
use super::{Principal, quota, secret};
use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;

/// Who a presented secret stands for; `None` when it is malformed, unknown, expired or revoked.
///
/// A secret with a wrong checksum never reaches the database, and one that was asked for within the last 2 s seldom
/// does.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn authenticate(app: &App, presented: &str) -> Result<Option<Principal>> {
    authenticate_limited(app, presented, || true).await
}

/// [`authenticate`] for a caller who may be guessing. `admit` is called before the database is asked for an unknown key. When it
/// returns false, the database is asked for keys that exist and for no others: a key that another process created is known within
/// 2 s.
///
/// # Errors
/// As [`authenticate`].
pub async fn authenticate_limited(
    app: &App,
    presented: &str,
    admit: impl FnOnce() -> bool,
) -> Result<Option<Principal>> {
    if !secret::well_formed(presented) {
        return Ok(None);
    }
    let digest = secret::digest(presented);
    let now_ms = app.clock.now_ms();
    let principal = match app.principals.look_up(&digest, now_ms) {
        Seen::Known(principal) => Some(principal),
        Seen::Unknown => None,
        Seen::Refresh(principal, stamp) => match asked(app, &digest).await {
            Ok(principal) => {
                app.principals.note(digest, stamp, principal);
                principal
            }
            // What is known holds until it is too old; only then does a request fail with the database.
            Err(_) => Some(principal),
        },
        Seen::Ask(stamp) => {
            if !admit() && !Box::pin(app.principals.filter.may_exist(app, &digest)).await? {
                return Ok(None);
            }
            let principal = asked(app, &digest).await?;
            app.principals.note(digest, stamp, principal);
            principal
        }
    };
    let lives = |principal: &Principal| principal.expires_at.is_none_or(|end| end.as_millisecond() > now_ms);
    Ok(principal.filter(lives))
}

/// Writes the last use of each key used since the last flush; the server calls it now and then and at its end.
/// Returns how many keys.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails; the uses are then kept for the next
/// flush.
pub async fn flush_used(app: &App) -> Result<usize> {
    let uses = app.principals.take_uses();
    if uses.is_empty() {
        return Ok(0);
    }
    let outcome = write_uses(app, &uses).await;
    if outcome.is_err() {
        app.principals.give_back(uses);
        return outcome.map(|()| 0);
    }
    Ok(uses.len())
}

async fn write_uses(app: &App, uses: &[(uuid::Uuid, i64)]) -> Result<()> {
    let write = app.begin_write().await?;
    for (key, used_ms) in uses {
        api_keys::touch(write.conn(), *key, *used_ms).await?;
    }
    Ok(write.commit().await?)
}

/// [`read`] on the heap: most requests need not ask, and their futures stay small.
fn asked<'a>(app: &'a App, digest: &'a [u8; 32]) -> BoxFuture<'a, Result<Option<Principal>>> {
    Box::pin(read(app, digest))
}

/// What the database says of a secret: its key, unless revoked, with the quota that holds for it.
async fn read(app: &App, digest: &[u8; 32]) -> Result<Option<Principal>> {
    app.principals.look_ups.fetch_add(1, Ordering::Relaxed);
    let Some(key) = api_keys::by_secret_hash(app.db.read(), digest).await? else { return Ok(None) };
    if key.revoked_at.is_some() {
        return Ok(None);
    }
    let workspace = workspaces::by_id(app.db.read(), key.workspace_id).await?;
    let quota = quota::of_row(workspace.as_ref(), &app.config.limits).of_key(&key);
    Ok(Some(Principal {
        key: id(key.id),
        workspace: id(key.workspace_id),
        scopes: key.scopes.0.iter().filter_map(|scope| scope.parse().ok()).collect(),
        per_minute: quota.per_minute.requests,
        per_day: quota.per_day.requests,
        expires_at: key.expires_at.map(from_ms),
    }))
}
