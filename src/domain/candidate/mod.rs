//! Which requests a candidate contract would reject, per UTC day, API key and operation.
//!
//! A [`Usage`] keeps the counts and findings of a process in memory; [`flush`] adds them to the database. Everything is stored for 90
//! days. Of each key and day, the first [`MAX_CODES`] findings are stored; the others are one finding with the code `other`.

mod flush;
mod read;
mod usage;

use foundation::id::{KeyId, WorkspaceId};

pub use flush::{finish, flush, prune};
pub use read::{CandidateUsage, FindingRow, KeyNames, RequestRow, since};
pub use usage::Usage;

/// How long rows are stored, in days.
pub const RETENTION_DAYS: i64 = 90;
/// The maximum number of findings of a key and day.
pub const MAX_CODES: usize = 200;
/// The code of all further findings of a key and day.
pub const OTHER: &str = "other";
/// The prefix of the codes of findings about responses.
pub const RESPONSE_PREFIX: &str = "response-";

/// An operation that a server compares with a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedOperation {
    /// The operation id in the contract that the server serves.
    pub id: &'static str,
    /// The digest of the operation in this contract.
    pub base: String,
    /// The digest of the operation in the candidate.
    pub candidate: String,
}

/// The key that sent a request, and the index of the operation in the list of observed operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The key.
    pub key: KeyId,
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The index of the operation.
    pub operation: usize,
}

/// A request that was selected for validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Who sent it.
    pub caller: Caller,
    /// The number of requests for which it stands: the inverse of the sampling probability.
    pub weight: u32,
    /// When it was received, in milliseconds since the epoch.
    pub received_ms: i64,
    /// The request id of the response.
    pub request_id: String,
}

/// Why the candidate rejects a request or its response. Contains no values of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part of the message and the keyword, such as `request-body-max-length`.
    pub code: String,
    /// The JSON pointer of the failing keyword in the candidate.
    pub pointer: String,
    /// The property or parameter, or `*` if clients choose the name.
    pub name: String,
    /// What is expected.
    pub reason: String,
}
