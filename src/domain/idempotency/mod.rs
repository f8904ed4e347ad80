//! Stores responses by `Idempotency-Key`, so that a repeated POST gets the response of the first request.
//!
//! A request claims its key in a separate transaction before the operation begins. The response is stored in the operation's
//! transaction. If the process stops before that, the claim expires after [`CLAIM_SECONDS`]. On PostgreSQL, another
//! process releases the claim earlier, see [`processes`](super::processes).

mod deferred;

use std::time::Duration;

use entity::idempotency_records::{self, ClaimResult, IdempotencyState, Model};

use super::Result;
use crate::app::App;
use foundation::database::{DELETE_BATCH, Write};
use foundation::id::KeyId;

use deferred::DeferredRelease;
pub(crate) use deferred::DeferredReleases;

/// Seconds after which a claim without a response expires. Longer than any request can take.
pub const CLAIM_SECONDS: i64 = 60;
/// How long a response is stored after its request claimed the key, in hours.
pub const RETENTION_HOURS: i64 = 24;
/// The result of claiming an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The key was not in use. The caller runs the operation and calls [`store_response`].
    Acquired(ClaimToken),
    /// The first request has completed. The caller repeats its response.
    Completed(StoredResponse),
    /// The first request is still in progress.
    InProgress,
    /// The key was used with another request.
    Mismatch,
}

/// Proves that a request has acquired a claim. No longer valid once the claim was released, or expired and was acquired
/// by another request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimToken(idempotency_records::ClaimRequest);

/// A response as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The status code.
    pub status: u16,
    /// The headers that the operation set.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// Claims an idempotency key for a request, in a transaction of its own. Idempotency keys are unique per API key.
/// `fingerprint` is a digest of the method, the path, the query and the body.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the transaction fails.
pub async fn claim(app: &App, key: KeyId, idempotency_key: &str, fingerprint: [u8; 32]) -> Result<Claim> {
    let write = app.begin_write().await?;
    let now = write.now_ms();
    let claim = idempotency_records::ClaimRequest {
        api_key_id: key.uuid(),
        idempotency_key: idempotency_key.to_owned(),
        fingerprint,
        claim_token: app.process().next_token(),
        now,
        claimed_until: now + CLAIM_SECONDS * 1000,
        expires_at: now + RETENTION_HOURS * 3_600_000,
    };
    match claim.acquire(write.conn()).await? {
        ClaimResult::Acquired => {
            if let Err(error) = write.commit().await {
                // The commit may have taken effect.
                app.deferred_releases().add(DeferredRelease { claim, may_be_uncommitted: true });
                return Err(error.into());
            }
            Ok(Claim::Acquired(ClaimToken(claim)))
        }
        ClaimResult::Existing(record) => existing_claim(*record, &fingerprint),
    }
}

/// Returns the result for a request with this fingerprint. `record` is the existing record of its key.
fn existing_claim(record: Model, fingerprint: &[u8; 32]) -> Result<Claim> {
    if record.fingerprint != fingerprint {
        return Ok(Claim::Mismatch);
    }
    let (IdempotencyState::Done, Some(status)) = (record.state, record.status) else {
        return Ok(Claim::InProgress);
    };
    Ok(Claim::Completed(StoredResponse {
        status: u16::try_from(status).map_err(anyhow::Error::from)?,
        headers: parse_headers(&record.headers.unwrap_or_default()),
        body: record.body.unwrap_or_default(),
    }))
}

/// Stores the response in the operation's transaction.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the update fails, or when the token is no longer valid. The
/// caller must then roll the transaction back.
pub async fn store_response(
    write: &mut Write,
    token: &ClaimToken,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<()> {
    let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let response =
        idempotency_records::RecordedResponse { status: i32::from(status), headers, body: body.to_vec() };
    if !token.0.finish(write.conn(), response).await? {
        return Err(anyhow::anyhow!("the idempotency claim expired and another request acquired it").into());
    }
    Ok(())
}

/// Releases a claim without storing a response: after a 5xx response, or when the request was rejected before the
/// operation began.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the transaction fails. The claim then remains until it
/// expires.
pub async fn release(app: &App, token: &ClaimToken) -> Result<()> {
    let write = app.begin_write().await?;
    token.0.release(write.conn()).await?;
    Ok(write.commit().await?)
}

/// Number of claims released per transaction of [`release_deferred`].
const RELEASE_BATCH: usize = 100;
/// How long one call of such a transaction waits for PostgreSQL.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Releases a claim in the next [`release_deferred`], because [`release`] has failed.
pub fn release_later(app: &App, token: ClaimToken) {
    app.deferred_releases().add(DeferredRelease { claim: token.0, may_be_uncommitted: false });
}

/// Releases the claims of [`release_later`]. Queries nothing if there are none.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a transaction fails. The next call tries again, until the claims
/// expire.
pub async fn release_deferred(app: &App) -> Result<()> {
    let mut releases = app.deferred_releases().take();
    let now = app.clock.now_ms();
    releases.retain(|release| release.claim.claimed_until > now);
    let mut outcome = Ok(());
    for batch in releases.chunks(RELEASE_BATCH) {
        match release_batch(app, batch).await {
            Ok(again) => app.deferred_releases().restore(&again),
            Err(error) => {
                app.deferred_releases().restore(batch);
                outcome = Err(error);
            }
        }
    }
    outcome
}

/// Releases claims in one transaction. Returns those that must be released again.
async fn release_batch(app: &App, batch: &[DeferredRelease]) -> Result<Vec<DeferredRelease>> {
    let write = app.db.with_timeout(RELEASE_TIMEOUT).begin_write(&app.clock).await?;
    let mut again = Vec::new();
    for release in batch {
        let has_released = release.claim.release(write.conn()).await?;
        if !has_released && release.may_be_uncommitted {
            again.push(release.clone());
        }
    }
    write.commit().await?;
    Ok(again)
}

/// Deletes expired records in small batches. Returns the number of records deleted.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a transaction fails. The batches before it remain deleted.
pub async fn prune(app: &App) -> Result<u64> {
    let delete = app.db.delete_in_batches(&app.clock, |write| {
        Box::pin(idempotency_records::delete_expired(write.conn(), write.now_ms(), DELETE_BATCH))
    });
    Ok(delete.await?)
}

/// Parses headers as [`store_response`] writes them, one per line.
fn parse_headers(headers: &str) -> Vec<(String, String)> {
    let parse = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    headers.lines().filter_map(parse).collect()
}
