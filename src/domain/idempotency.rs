//! Answers kept under an `Idempotency-Key`, so that a repeated POST gets the first answer again.
//!
//! A claim is written before the operation begins, in a transaction of its own; the answer is written in the
//! operation's transaction. A claim whose process died is free again after [`CLAIM_SECONDS`].

use entity::idempotency_records::{self, Claimed, Model, State};

use super::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{KeyId, Request as RequestKind};

/// Seconds after which a claim without an answer is free again; longer than any request may take.
pub const CLAIM_SECONDS: i64 = 60;
/// Hours for which an answer is kept.
pub const KEPT_HOURS: i64 = 24;
/// Records deleted by one statement of [`prune`].
const BATCH: u64 = 500;

/// What a request under an idempotency key meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: the operation may run, and its answer is kept with [`keep`].
    Fresh(Token),
    /// The first answer, to be repeated.
    Kept(Answer),
    /// The first request, still running.
    Running,
    /// An earlier request with another body or on another operation.
    Mismatch,
}

/// The right to keep an answer, fenced: once another request has taken the claim over, it is worth nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(idempotency_records::Claim);

/// An answer as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// The headers that belong to the answer itself.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
}

/// Claims an idempotency key for a request; `fingerprint` is a digest of operation and body.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn claim(app: &App, key: KeyId, name: &str, fingerprint: [u8; 32]) -> Result<Claim> {
    let write = app.begin_write().await?;
    let now = write.now_ms();
    let claim = idempotency_records::Claim {
        api_key_id: key.uuid(),
        idempotency_key: name.to_owned(),
        fingerprint,
        token: app.ids.next::<RequestKind>(from_ms(now)).uuid(),
        now,
        until: now + CLAIM_SECONDS * 1000,
        expires_at: now + KEPT_HOURS * 3_600_000,
    };
    match claim.take(write.conn()).await? {
        Claimed::Mine => {
            write.commit().await?;
            Ok(Claim::Fresh(Token(claim)))
        }
        Claimed::Taken(record) => met(*record, &fingerprint),
    }
}

/// What a request with this fingerprint meets in another's record.
fn met(record: Model, fingerprint: &[u8; 32]) -> Result<Claim> {
    if record.fingerprint != fingerprint {
        return Ok(Claim::Mismatch);
    }
    let (State::Done, Some(status)) = (record.state, record.status) else { return Ok(Claim::Running) };
    Ok(Claim::Kept(Answer {
        status: u16::try_from(status).map_err(anyhow::Error::from)?,
        headers: lines(&record.headers.unwrap_or_default()),
        body: record.body.unwrap_or_default(),
    }))
}

/// Keeps an answer, in the operation's own transaction.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails, or when another request has taken the claim
/// over; the caller's transaction must then not be committed.
pub async fn keep(
    write: &mut Write,
    token: &Token,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<()> {
    let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let answer = idempotency_records::Answer { status: i32::from(status), headers, body: body.to_vec() };
    if !token.0.finish(write.conn(), answer).await? {
        return Err(anyhow::anyhow!("the claim ran out and another request took it over").into());
    }
    Ok(())
}

/// Gives a claim back without an answer (a 5xx, or a request refused before the operation began).
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails; the claim then ends by itself.
pub async fn release(app: &App, token: &Token) -> Result<()> {
    let write = app.begin_write().await?;
    token.0.release(write.conn()).await?;
    Ok(write.commit().await?)
}

/// Deletes records whose time is over, in small batches; returns how many.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn prune(app: &App) -> Result<u64> {
    let mut pruned = 0;
    loop {
        let write = app.begin_write().await?;
        let batch = idempotency_records::delete_expired(write.conn(), write.now_ms(), BATCH).await?;
        write.commit().await?;
        pruned += batch;
        if batch < BATCH {
            return Ok(pruned);
        }
    }
}

/// Headers as [`keep`] wrote them, one a line.
fn lines(headers: &str) -> Vec<(String, String)> {
    let line = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    headers.lines().filter_map(line).collect()
}
