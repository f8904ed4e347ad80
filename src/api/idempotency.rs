//! A POST done once per `Idempotency-Key`, and its answer repeated byte for byte.
//!
//! The claim is written first, on its own; the answer in the transaction of the change itself, so that there is
//! never one without the other. What is kept is the operation's own answer, a refusal by the domain (404, 422)
//! included; an answer of 5xx is not.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};

use super::call::Call;
use super::error::{ApiError, Reply};
use contract_runtime::answer::{Answer, Parts};
use domain::app::App;
use domain::idempotency::{self, Claim, Token};
use domain::retry::retrying;
use foundation::database::Write;

/// The headers that an answer can have of its own.
const KEPT_HEADERS: [&str; 2] = ["Location", "Link"];

/// Runs a write operation in a transaction of its own, at most once for the call's `Idempotency-Key`.
///
/// With a key the operation goes on to its end even when the caller hangs up, so that asking again finds the
/// answer and not a claim.
///
/// # Errors
/// What the operation says; 409 while the first request runs, 422 when it was another one.
pub(crate) async fn once<T, F>(app: &App, call: Call, key: Option<String>, operation: F) -> Reply<T>
where
    T: Answer + Send + 'static,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>> + Send + Sync + 'static,
{
    let Some(name) = key else {
        return retrying(|| run(app, &operation)).await;
    };
    let app = app.clone();
    let work = async move {
        match idempotency::claim(&app, call.key, &name, fingerprint(&call)).await? {
            Claim::Fresh(token) => first(&app, &call, &token, operation).await,
            Claim::Kept(answer) => {
                call.mark_replayed();
                restore(answer)
            }
            Claim::Running => Err(ApiError::key_in_use()),
            Claim::Mismatch => Err(ApiError::key_reused()),
        }
    };
    match tokio::spawn(work).await {
        Ok(reply) => reply,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(failure) => Err(ApiError::internal(failure.into())),
        },
    }
}

/// Runs the operation under a fresh claim, and keeps what it answers.
async fn first<T, F>(app: &App, call: &Call, token: &Token, operation: F) -> Reply<T>
where
    T: Answer,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let attempts = retrying(|| run_and_keep(app, call, token, &operation));
    let attempt = AssertUnwindSafe(attempts).catch_unwind().await;
    if !matches!(attempt, Ok(Ok(_))) {
        // The claim ends by itself when even this fails.
        if let Err(error) = idempotency::release(app, token).await {
            let error = error.to_string();
            tracing::warn!(request.id = call.request_id, error, "the claim could not be given back");
        }
    }
    match attempt {
        Ok(reply) => reply,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

async fn run<T, F>(app: &App, operation: &F) -> Reply<T>
where
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let mut write = begin(app).await?;
    let answer = operation(&mut write).await?;
    commit(write).await?;
    Ok(answer)
}

async fn run_and_keep<T, F>(app: &App, call: &Call, token: &Token, operation: &F) -> Reply<T>
where
    T: Answer,
    F: for<'w> Fn(&'w mut Write) -> BoxFuture<'w, Reply<T>>,
{
    let mut write = begin(app).await?;
    let parts = match operation(&mut write).await {
        Ok(answer) => answer.into_parts(),
        Err(error) if error.status.is_server_error() => return Err(error),
        Err(error) => {
            // What the operation began is taken back; the refusal is kept on its own.
            drop(write);
            write = begin(app).await?;
            error.into_parts(call)
        }
    };
    let headers: Vec<(&str, &str)> =
        parts.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let body = parts.body.clone().unwrap_or_default();
    idempotency::keep(&mut write, token, parts.status, &headers, &body).await?;
    commit(write).await?;
    assemble(parts)
}

/// A kept answer as the operation's own type.
fn restore<T: Answer>(answer: idempotency::Answer) -> Reply<T> {
    let headers = answer.headers.into_iter().filter_map(|(name, value)| {
        let known = KEPT_HEADERS.into_iter().find(|known| known.eq_ignore_ascii_case(&name))?;
        Some((known, value))
    });
    assemble(Parts { status: answer.status, headers: headers.collect(), body: Some(answer.body.into()) })
}

fn assemble<T: Answer>(parts: Parts) -> Reply<T> {
    let status = parts.status;
    T::from_parts(parts)
        .ok_or_else(|| ApiError::internal(anyhow::anyhow!("the contract has no status {status} here")))
}

async fn begin(app: &App) -> Reply<Write> {
    Ok(app.begin_write().await.map_err(domain::Error::from)?)
}

async fn commit(write: Write) -> Reply<()> {
    Ok(write.commit().await.map_err(domain::Error::from)?)
}

/// What makes two requests the same: the operation and the body, byte for byte.
fn fingerprint(call: &Call) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(call.operation.id.as_bytes());
    digest.update([0]);
    digest.update(call.body());
    digest.finalize().into()
}
