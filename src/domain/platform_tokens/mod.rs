//! Tokens with which the platform's back end calls the Platform API. A token is valid for all workspaces.
//!
//! Only [`create`] returns a token's secret. The database stores its SHA-256 digest.

mod known;
mod uses;

use entity::StringList;
use entity::platform_tokens::{self, Model};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::field_errors::FieldErrors;
use super::records::{id, new_uuid, not_found};
use super::text_enum::text_enum;
use super::{Result, WriteOutcome, bearer_secret};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{PlatformToken as PlatformTokenIdKind, PlatformTokenId};

pub use super::platform_contract::Scope as PlatformScope;
pub(crate) use known::KnownTokens;
pub(crate) use uses::TokenUses;

text_enum!(PlatformScope, "a scope of platform tokens");

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformTokenRecord {
    /// The token's id.
    pub id: PlatformTokenId,
    /// The name chosen at creation.
    pub name: String,
    /// The scopes of the token.
    pub scopes: Vec<PlatformScope>,
    /// The secret's last 4 characters.
    pub last4: String,
    /// When the token was created.
    pub created_at: Timestamp,
    /// When the token was last used, `None` if never. At most a minute too early.
    pub last_used_at: Option<Timestamp>,
    /// When the token expires. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// When the token was revoked. `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

impl PlatformTokenRecord {
    /// Returns whether the token is neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }
}

/// A token to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlatformToken {
    /// The name, 1 to 200 characters on one line.
    pub name: String,
    /// The scopes of the token, at least one.
    pub scopes: Vec<PlatformScope>,
    /// When the token expires. Must be in the future. `None` means never.
    pub expires_at: Option<Timestamp>,
}

/// Creates a token, and returns it with its secret. The secret cannot be retrieved later.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when the token has no scope, an invalid name, or an expiry in the past.
pub async fn create(
    app: &App,
    write: &mut Write,
    new: NewPlatformToken,
) -> Result<(PlatformTokenRecord, SecretString)> {
    let mut errors = FieldErrors::default();
    errors.check_single_line("name", &new.name, 200);
    if new.scopes.is_empty() {
        errors.add("scopes", "must have at least one scope");
    }
    if new.expires_at.is_some_and(|end| end.as_millisecond() <= write.now_ms()) {
        errors.add("expires_at", "must be in the future");
    }
    errors.into_result()?;
    let secret = bearer_secret::generate(bearer_secret::PLATFORM_TOKEN)?;
    let plain_text = secret.expose_secret();
    let scopes = PlatformScope::ALL.iter().filter(|scope| new.scopes.contains(scope));
    let row = Model {
        id: new_uuid::<PlatformTokenIdKind>(app, write),
        name: new.name,
        scopes: StringList(scopes.map(ToString::to_string).collect()),
        secret_hash: bearer_secret::digest(plain_text).to_vec(),
        last4: plain_text[plain_text.len() - 4..].to_owned(),
        created_at: write.now_ms(),
        last_used_at: None,
        expires_at: new.expires_at.map(Timestamp::as_millisecond),
        revoked_at: None,
    };
    platform_tokens::insert(write.conn(), row.clone()).await?;
    Ok((record(row), secret))
}

/// Returns all tokens, newest first, including revoked and expired tokens.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn list(app: &App) -> Result<Vec<PlatformTokenRecord>> {
    Ok(platform_tokens::list(app.db.read()).await?.into_iter().rev().map(record).collect())
}

/// Revokes a token. Takes effect at the next request. Revoking a revoked token changes nothing.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the token does not exist.
pub async fn revoke(write: &mut Write, token: PlatformTokenId) -> Result<WriteOutcome<PlatformTokenRecord>> {
    let changed = platform_tokens::revoke(write.conn(), token.uuid(), write.now_ms()).await?;
    let row = platform_tokens::by_id(write.conn(), token.uuid()).await?;
    let token = record(row.ok_or_else(|| not_found::<PlatformTokenIdKind>(token))?);
    Ok(if changed { WriteOutcome::changed(token) } else { WriteOutcome::unchanged(token) })
}

/// Returns the token with this secret, or `None` when the secret is malformed, unknown, expired or revoked.
///
/// A secret with a wrong checksum causes no database query. If `admit` returns false, the secret is only looked up if it belongs
/// to one of the tokens that this process knows. It tries to read them at most every 2 s.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn authenticate(
    app: &App,
    presented: &str,
    admit: impl FnOnce() -> bool,
) -> Result<Option<PlatformTokenRecord>> {
    if !bearer_secret::is_well_formed(bearer_secret::PLATFORM_TOKEN, presented) {
        return Ok(None);
    }
    let digest = bearer_secret::digest(presented);
    if !admit() && !app.known_platform_tokens().contain(&app.db, &app.clock, &digest).await? {
        return Ok(None);
    }
    let row = platform_tokens::by_secret_hash(app.db.read(), &digest).await?;
    let now = app.clock.now();
    let Some(token) = row.map(record).filter(|token| token.is_valid(now)) else { return Ok(None) };
    if app.platform_token_uses().is_due(token.id, now.as_millisecond()) {
        let (app, token) = (app.clone(), token.id);
        // Requests do not wait for it, and do not fail with it.
        tokio::spawn(async move {
            if let Err(error) = record_use(&app, token, now.as_millisecond()).await {
                tracing::warn!(%error, "could not write the last use of a platform token");
            }
        });
    }
    Ok(Some(token))
}

async fn record_use(app: &App, token: PlatformTokenId, at_ms: i64) -> Result<()> {
    let write = app.begin_write().await?;
    platform_tokens::touch(write.conn(), token.uuid(), at_ms).await?;
    write.commit().await?;
    Ok(())
}

/// Returns whether a token is still valid: neither revoked nor expired.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn is_valid(app: &App, token: PlatformTokenId) -> Result<bool> {
    let row = platform_tokens::by_id(app.db.read(), token.uuid()).await?;
    Ok(row.is_some_and(|row| record(row).is_valid(app.clock.now())))
}

fn record(row: Model) -> PlatformTokenRecord {
    PlatformTokenRecord {
        id: id(row.id),
        name: row.name,
        scopes: row.scopes.0.iter().filter_map(|scope| scope.parse().ok()).collect(),
        last4: row.last4,
        created_at: from_ms(row.created_at),
        last_used_at: row.last_used_at.map(from_ms),
        expires_at: row.expires_at.map(from_ms),
        revoked_at: row.revoked_at.map(from_ms),
    }
}
