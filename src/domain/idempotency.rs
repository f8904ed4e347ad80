//! Answers kept under an `Idempotency-Key`, so that a repeated POST gets the first answer again.
//!
//! A claim is written before the operation begins, in a transaction of its own; the answer is written in the
//! operation's transaction. A claim whose process died is free again after [`CLAIM_SECONDS`].

use crate::app::App;
use crate::database::Write;
use crate::id::KeyId;

use super::Result;

/// Seconds after which a claim without an answer is free again.
pub const CLAIM_SECONDS: i64 = 60;
/// Hours for which an answer is kept.
pub const KEPT_HOURS: i64 = 24;

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
pub struct Token {
    key: KeyId,
    name: String,
    token: uuid::Uuid,
}

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
/// [`super::Error::Internal`] when the database fails.
pub async fn claim(_app: &App, _key: KeyId, _name: &str, _fingerprint: [u8; 32]) -> Result<Claim> {
    todo!()
}

/// Keeps an answer, in the operation's own transaction.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails, or when another request has taken the claim over; the
/// caller's transaction must then not be committed.
pub async fn keep(
    _write: &mut Write,
    _token: &Token,
    _status: u16,
    _headers: &[(&str, &str)],
    _body: &[u8],
) -> Result<()> {
    todo!()
}

/// Gives a claim back without an answer (a 5xx, or a request refused before the operation began).
///
/// # Errors
/// [`super::Error::Internal`] when the database fails; the claim then ends by itself.
pub async fn release(_app: &App, _token: &Token) -> Result<()> {
    todo!()
}

/// Deletes records whose time is over, in small batches; returns how many.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails.
pub async fn prune(_app: &App) -> Result<u64> {
    todo!()
}
