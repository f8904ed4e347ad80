//! Remembers which platform tokens exist.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use entity::platform_tokens;

use crate::Result;
use foundation::clock::Clock;
use foundation::database::Database;

/// Minimum time between two attempts to read [`KnownTokens`], in milliseconds.
const DIGESTS_MAX_AGE_MS: i64 = 2_000;

/// The digests of the secrets of all tokens, so that guesses from a client address that exhausted its limit are rejected without
/// a query for each.
#[derive(Debug, Default)]
pub(crate) struct KnownTokens {
    digests: RwLock<HashSet<Vec<u8>>>,
    /// Locked while this process reads them. Others wait for the result.
    last_read: tokio::sync::Mutex<LastRead>,
}

/// The last attempts to read [`KnownTokens`], in milliseconds since the epoch.
#[derive(Debug, Default)]
struct LastRead {
    /// When the last successful one began.
    succeeded_ms: Option<i64>,
    /// When the last failed one ended.
    failed_ms: Option<i64>,
}

impl KnownTokens {
    /// Returns whether the digest belongs to a token, which can be revoked or have expired. A token that another process has
    /// created is known within [`DIGESTS_MAX_AGE_MS`].
    ///
    /// # Errors
    /// Returns [`Error::Internal`](crate::Error::Internal) when the tokens cannot be read and were never read before.
    pub(super) async fn contain(&self, db: &Database, clock: &Clock, digest: &[u8; 32]) -> Result<bool> {
        if self.contain_now(digest) {
            return Ok(true);
        }
        let mut last = self.last_read.lock().await;
        let now_ms = clock.now_ms();
        let is_recent = |at: Option<i64>| at.is_some_and(|at| (now_ms - at).abs() < DIGESTS_MAX_AGE_MS);
        if !is_recent(last.succeeded_ms) {
            let read = match is_recent(last.failed_ms) {
                true => Err(anyhow::anyhow!("reading the platform tokens failed less than 2 s ago").into()),
                false => self.read(db).await.inspect_err(|_| last.failed_ms = Some(clock.now_ms())),
            };
            match read {
                Ok(()) => last.succeeded_ms = Some(now_ms),
                // The tokens read earlier still distinguish nearly all tokens from guesses.
                Err(error) => drop(last.succeeded_ms.ok_or(error)?),
            }
        }
        Ok(self.contain_now(digest))
    }

    async fn read(&self, db: &Database) -> Result<()> {
        let tokens = platform_tokens::list(db.read()).await?;
        let digests = tokens.into_iter().map(|token| token.secret_hash).collect();
        *self.digests.write().unwrap_or_else(PoisonError::into_inner) = digests;
        Ok(())
    }

    fn contain_now(&self, digest: &[u8; 32]) -> bool {
        self.digests.read().unwrap_or_else(PoisonError::into_inner).contains(digest.as_slice())
    }
}
