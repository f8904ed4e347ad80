//! Executes a write at most once per `Idempotency-Key` and returns the stored response to repeated requests.
//!
//! First, a separate transaction claims the key: it marks the key as used by this request. The response is stored in
//! the transaction of the change: either both are committed or neither. All responses of the operation are stored,
//! including rejections by the domain (404, 409, 422), except 5xx. The bodies of operations that return secrets are encrypted.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::call::Call;
use super::error::{ApiError, Reply};
use super::generated::operations::OPERATIONS;
use contract_runtime::contract::ParameterLocation;
use contract_runtime::response::{OperationResponse, ResponseParts};
use domain::app::App;
use domain::idempotency::{self, Claim, ClaimToken};
use domain::retry::retry_on_conflict;
use domain::workspaces::{self, Mode};
use foundation::database::{Write, inherit_wait_budget, with_wait_budget};
use foundation::secret::Seal;
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
pub async fn run_once<T, F>(app: &App, call: Call, idempotency_key: Option<String>, operation: F) -> Reply<T>
where
    T: OperationResponse + Send + 'static,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>> + Send + Sync + 'static,
{
    run(app, call, idempotency_key, None, operation).await
}

/// Runs a write operation as [`run_once`] does, and encrypts the stored response, which contains a secret.
///
/// # Errors
/// Returns the errors of [`run_once`], and 500 if the stored response was encrypted with a key that this server does not have.
pub(crate) async fn run_once_sealed<T, F>(
    app: &App,
    call: Call,
    idempotency_key: Option<String>,
    seal: &Arc<Seal>,
    operation: F,
) -> Reply<T>
where
    T: OperationResponse + Send + 'static,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>> + Send + Sync + 'static,
{
    let idempotency_key_bytes = idempotency_key.as_deref().unwrap_or_default().as_bytes();
    let owner = [&call.key.uuid().as_bytes()[..], idempotency_key_bytes].concat();
    let sealing = Sealing { seal: Arc::clone(seal), owner };
    run(app, call, idempotency_key, Some(sealing), operation).await
}

/// Encrypts and decrypts one stored response.
struct Sealing {
    seal: Arc<Seal>,
    /// The API key and the idempotency key that the response is stored for.
    owner: Vec<u8>,
}

async fn run<T, F>(
    app: &App,
    call: Call,
    idempotency_key: Option<String>,
    sealing: Option<Sealing>,
    operation: F,
) -> Reply<T>
where
    T: OperationResponse + Send + 'static,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>> + Send + Sync + 'static,
{
    let Some(idempotency_key) = idempotency_key else {
        return retry_on_conflict(|| run_in_transaction(app, &call, &operation)).await;
    };
    let app = app.clone();
    let claim_and_run = async move {
        let fingerprint = fingerprint(&call);
        let claim = || idempotency::claim(&app, call.key, &idempotency_key, fingerprint);
        match retry_on_conflict(claim).await? {
            Claim::Acquired(token) => run_claimed(&app, &call, &token, sealing.as_ref(), operation).await,
            Claim::Completed(stored) => {
                let reply = restore(stored, sealing.as_ref())?;
                call.mark_replayed();
                Ok(reply)
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
async fn run_claimed<T, F>(
    app: &App,
    call: &Call,
    token: &ClaimToken,
    sealing: Option<&Sealing>,
    operation: F,
) -> Reply<T>
where
    T: OperationResponse,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let reply = retry_on_conflict(|| run_and_store(app, call, token, sealing, &operation));
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
async fn run_in_transaction<T, F>(app: &App, call: &Call, operation: &F) -> Reply<T>
where
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let mut write = begin(app).await?;
    let response = operation(&mut write).await?;
    check_workspace(call, &write).await?;
    commit(write).await?;
    Ok(response)
}

/// Runs the operation in a transaction and stores its response, in the same transaction if the operation succeeds.
async fn run_and_store<T, F>(
    app: &App,
    call: &Call,
    token: &ClaimToken,
    sealing: Option<&Sealing>,
    operation: &F,
) -> Reply<T>
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
    let body = parts.body.as_deref().unwrap_or_default();
    let body = match sealing {
        None => Cow::Borrowed(body),
        Some(Sealing { seal, owner }) => {
            Cow::Owned(seal.encrypt(body, owner).map_err(|error| ApiError::internal(error.into()))?)
        }
    };
    check_workspace(call, &write).await?;
    idempotency::store_response(&mut write, token, parts.status, &headers, &body).await?;
    commit(write).await?;
    response_from_parts(parts)
}

/// Converts a stored response into the operation's type. Ignores headers that are not in [`STORED_HEADERS`].
fn restore<T: OperationResponse>(stored: idempotency::StoredResponse, sealing: Option<&Sealing>) -> Reply<T> {
    let body = match sealing {
        None => stored.body,
        Some(Sealing { seal, owner }) => {
            let body = seal.decrypt(&stored.body, owner);
            body.map_err(|error| ApiError::internal(error.into()))?.to_vec()
        }
    };
    let headers = stored.headers.into_iter().filter_map(|(name, value)| {
        let name = STORED_HEADERS.into_iter().find(|header| header.eq_ignore_ascii_case(&name))?;
        Some((name, value))
    });
    response_from_parts(ResponseParts {
        status: stored.status,
        headers: headers.collect(),
        body: Some(body.into()),
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

/// Refuses the request if the sandbox of the key was reset or deleted since the request arrived: what it wrote would be lost.
async fn check_workspace(call: &Call, write: &Write) -> Reply<()> {
    if call.mode == Mode::Test && !workspaces::lock_shared(write, call.workspace).await? {
        let message = "The sandbox was reset or deleted during the request. Send it again.";
        return Err(ApiError::conflict(message.to_owned()));
    }
    Ok(())
}

async fn commit(write: Write) -> Reply<()> {
    Ok(write.commit().await.map_err(domain::Error::from)?)
}

/// Returns a digest (SHA-256) that identifies a request by its method, path, query and the bytes of its body.
///
/// An operation of v1 whose requests differ only in their bodies is identified by its id, as in releases before the Developer API. A
/// request that is repeated during or after an upgrade then gets the response that a server of the other release has stored.
fn fingerprint(call: &Call) -> [u8; 32] {
    let operation = call.operation;
    let is_target = |location| matches!(location, ParameterLocation::Path | ParameterLocation::Query);
    let has_target = operation.parameters.iter().any(|parameter| is_target(parameter.location));
    let is_v1 = OPERATIONS.iter().any(|of_v1| std::ptr::eq(*of_v1, operation));
    let mut digest = Sha256::new();
    if is_v1 && !has_target {
        digest.update(operation.id);
    } else {
        let path: Vec<&str> = call.path().iter().map(|(_, value)| value.as_str()).collect();
        let query: Vec<_> =
            call.query().iter().map(|parameter| (&parameter.name, &parameter.value)).collect();
        digest.update(json!([operation.method, operation.path, path, query]).to_string());
    }
    digest.update([0]);
    digest.update(call.body());
    digest.finalize().into()
}
