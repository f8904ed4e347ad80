//! Executes a POST at most once per `Idempotency-Key` and returns the stored response to repeated requests.
//!
//! First, a separate transaction claims the key: it marks the key as used by this request. The response is stored in
//! the transaction of the change: either both are committed or neither. All responses of the operation are stored,
//! including rejections by the domain (404, 422), except 5xx.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};

use super::call::Call;
use super::error::{ApiError, Reply};
use contract_runtime::response::{OperationResponse, ResponseParts};
use domain::app::App;
use domain::idempotency::{self, Claim, ClaimToken};
use domain::retry::retry_on_conflict;
use foundation::database::{Write, inherit_wait_budget, with_wait_budget};
use foundation::telemetry::activity::inherit_activity;

/// The headers that a stored response can have.
const STORED_HEADERS: [&str; 2] = ["Location", "Link"];

/// How long the release of a claim waits for the database after the operation failed.
const RELEASE_BUDGET: Duration = Duration::from_millis(300);

/// Runs a write operation in a transaction. If the request has an `Idempotency-Key`, runs it at most once per key.
///
/// With a key, the operation runs to completion even if the client disconnects, so that a repeated request gets the
/// stored response instead of a 409.
///
/// # Errors
/// Returns the error of the operation, 409 while the first request is still running, and 422 if the key was used with a
/// different request.
pub(crate) async fn run_once<T, F>(
    app: &App,
    call: Call,
    idempotency_key: Option<String>,
    operation: F,
) -> Reply<T>
where
    T: OperationResponse + Send + 'static,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>> + Send + Sync + 'static,
{
    let Some(idempotency_key) = idempotency_key else {
        return retry_on_conflict(|| run_in_transaction(app, &operation)).await;
    };
    let app = app.clone();
    let claim_and_run = async move {
        let fingerprint = fingerprint(&call);
        let claim = || idempotency::claim(&app, call.key, &idempotency_key, fingerprint);
        match retry_on_conflict(claim).await? {
            Claim::Acquired(token) => run_claimed(&app, &call, &token, operation).await,
            Claim::Completed(stored) => {
                call.mark_replayed();
                restore(stored)
            }
            Claim::InProgress => Err(ApiError::idempotency_key_in_use()),
            Claim::Mismatch => Err(ApiError::idempotency_key_reused()),
        }
    };
    match tokio::spawn(inherit_activity(inherit_wait_budget(claim_and_run))).await {
        Ok(reply) => reply,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(ApiError::internal(error.into())),
        },
    }
}

/// Runs the operation for a new claim and stores its response. Releases the claim if the operation fails with a 5xx or
/// panics, or if the response cannot be stored.
async fn run_claimed<T, F>(app: &App, call: &Call, token: &ClaimToken, operation: F) -> Reply<T>
where
    T: OperationResponse,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let reply = retry_on_conflict(|| run_and_store(app, call, token, &operation));
    let outcome = AssertUnwindSafe(reply).catch_unwind().await;
    if !matches!(outcome, Ok(Ok(_))) {
        // Otherwise, a repeated request would get a 409 until the claim expires.
        let release = retry_on_conflict(|| idempotency::release(app, token));
        // The operation may have used up the time of the request.
        if let Err(error) = with_wait_budget(RELEASE_BUDGET, release).await {
            let error = error.to_string();
            tracing::warn!(
                request.id = call.request_id,
                error,
                "failed to release an idempotency claim; retrying"
            );
            idempotency::release_later(app, token.clone());
        }
    }
    match outcome {
        Ok(reply) => reply,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs the operation in a transaction, without an idempotency key.
async fn run_in_transaction<T, F>(app: &App, operation: &F) -> Reply<T>
where
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let mut write = begin(app).await?;
    let response = operation(&mut write).await?;
    commit(write).await?;
    Ok(response)
}

/// Runs the operation in a transaction and stores its response, in the same transaction if the operation succeeds.
async fn run_and_store<T, F>(app: &App, call: &Call, token: &ClaimToken, operation: &F) -> Reply<T>
where
    T: OperationResponse,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let mut write = begin(app).await?;
    let parts = match operation(&mut write).await {
        Ok(response) => response.into_parts(),
        Err(error) if error.status.is_server_error() => return Err(error),
        Err(error) => {
            // Roll back the changes of the operation, and store the rejection in a new transaction.
            drop(write);
            write = begin(app).await?;
            error.into_parts(call)
        }
    };
    let headers: Vec<(&str, &str)> =
        parts.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let body = parts.body.clone().unwrap_or_default();
    idempotency::store_response(&mut write, token, parts.status, &headers, &body).await?;
    commit(write).await?;
    response_from_parts(parts)
}

/// Converts a stored response into the operation's type. Ignores headers that are not in [`STORED_HEADERS`].
fn restore<T: OperationResponse>(stored: idempotency::StoredResponse) -> Reply<T> {
    let headers = stored.headers.into_iter().filter_map(|(name, value)| {
        let name = STORED_HEADERS.into_iter().find(|header| header.eq_ignore_ascii_case(&name))?;
        Some((name, value))
    });
    response_from_parts(ResponseParts {
        status: stored.status,
        headers: headers.collect(),
        body: Some(stored.body.into()),
    })
}

/// Converts the parts of a response into the operation's type.
fn response_from_parts<T: OperationResponse>(parts: ResponseParts) -> Reply<T> {
    let status = parts.status;
    T::from_parts(parts).ok_or_else(|| {
        ApiError::internal(anyhow::anyhow!(
            "the contract does not document the status {status} for this operation"
        ))
    })
}

async fn begin(app: &App) -> Reply<Write> {
    Ok(app.begin_write().await.map_err(domain::Error::from)?)
}

async fn commit(write: Write) -> Reply<()> {
    Ok(write.commit().await.map_err(domain::Error::from)?)
}

/// Returns a digest (SHA-256) that identifies a request by its operation and the bytes of its body.
fn fingerprint(call: &Call) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(call.operation.id.as_bytes());
    digest.update([0]);
    digest.update(call.body());
    digest.finalize().into()
}
