//! The log of API requests: what each key asked, for a week, and how many requests there were, for 90 days.
//!
//! Requests are noted in memory ([`Recorder`]), which never waits, and written together by [`flush`]. What is noted
//! holds no secret: whoever notes it masks them. The sums count every request; the log leaves some out when they come
//! faster than they can be written, and says so.

mod read;
mod recorder;
mod write;

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;

use super::page::Span;
use foundation::id::{KeyId, LoggedRequestId, WorkspaceId};

pub use read::{by_request_id, days, get, list, reach};
pub use recorder::Recorder;
pub use write::{flush, forget_old, prune};

/// Days for which a request is kept.
pub const KEPT_DAYS: i64 = 7;
/// Days for which the sums are kept, today included.
pub const COUNTED_DAYS: i64 = 90;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request's id, as its answer carried it.
    pub request_id: String,
    /// The operation, when the request came so far.
    pub operation: Option<&'static str>,
    /// The method as it was sent.
    pub method: String,
    /// Path and query, secrets masked.
    pub target: String,
    /// The answer's status.
    pub status: u16,
    /// Microseconds from its receipt to its answer.
    pub duration_us: u64,
    /// The client's address.
    pub address: IpAddr,
    /// The request's headers by their names in lower case, secrets masked.
    pub headers: BTreeMap<String, String>,
    /// The answer's body, when the request failed.
    pub error: Option<Vec<u8>>,
    /// When it came.
    pub received_at: Timestamp,
}

/// A request as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The entry's own id.
    pub id: LoggedRequestId,
    /// The key.
    pub key: KeyId,
    /// The request's id, as its answer carried it; a caller may use one twice.
    pub request_id: String,
    /// The operation, when the request came so far: `listCourses`.
    pub operation: Option<String>,
    /// The method as it was sent.
    pub method: String,
    /// Path and query, secrets masked as `****`.
    pub target: String,
    /// The answer's status.
    pub status: u16,
    /// Microseconds from its receipt to its answer.
    pub duration_us: u64,
    /// The client's address.
    pub address: String,
    /// The request's headers by their names in lower case, secrets masked as `****`.
    pub headers: BTreeMap<String, String>,
    /// The answer's body, when the request failed: the bytes as they were sent, before compression, 8 KiB at most.
    pub error: Option<Vec<u8>>,
    /// When it came.
    pub received_at: Timestamp,
}

/// Which requests are wanted; an empty filter wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Of this key.
    pub key: Option<KeyId>,
    /// Answered so.
    pub status: Option<StatusFilter>,
    /// Of this operation: `listCourses`.
    pub operation: Option<String>,
    /// Received in this span.
    pub received: Span,
}

/// Which answers are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// Those of a class, by its first digit: 4 is 400 to 499.
    Class(u8),
    /// Those with this status.
    Exact(u16),
}

/// How many requests a workspace made on a UTC day, by what came of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// When the day begins.
    pub starts_at: Timestamp,
    /// Answered below 400.
    pub succeeded: u64,
    /// Answered from 400 to 499, without those of `limited`.
    pub refused: u64,
    /// Answered with 429.
    pub limited: u64,
    /// Answered from 500 on.
    pub failed: u64,
}

impl Day {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.succeeded + self.refused + self.limited + self.failed
    }
}
