//! Stores the request log of API keys for a week, and daily request counts for 90 days.
//!
//! [`Recorder`] keeps requests in memory and never waits; [`flush`] writes them in batches. The caller masks secrets
//! before it records a request. The daily counts include every request of an API key. Requests that arrive faster than
//! they are written are missing from the request log; [`flush`] reports their number as a metric and in the server's
//! log.

mod read;
mod recorder;
mod write;

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;

use super::page::TimeSpan;
use foundation::id::{KeyId, LoggedRequestId, WorkspaceId};

pub use read::{by_request_id, get, list, list_daily, search_end};
pub use recorder::Recorder;
pub use write::{flush, prune, prune_daily};

/// How long requests are stored, in days.
pub const RETENTION_DAYS: i64 = 7;
/// How long daily counts are stored, in days including today, in every time zone.
pub const DAILY_RETENTION_DAYS: i64 = 90;

/// A completed request, to be written to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request id that the response carried.
    pub request_id: String,
    /// The operation, if the request was routed to one, such as `listCourses`.
    pub operation: Option<&'static str>,
    /// The method as sent.
    pub method: String,
    /// Path and query, with secrets masked as `****`.
    pub target: String,
    /// The status of the response.
    pub status: u16,
    /// Microseconds from receiving the request to sending the response.
    pub duration_us: u64,
    /// The client's IP address.
    pub address: IpAddr,
    /// The request headers by lower-case name, with secrets masked as `****`.
    pub headers: BTreeMap<String, String>,
    /// The body of the response before compression, with secrets masked as `****`, if the request failed. At most 8 KiB.
    pub error: Option<Vec<u8>>,
    /// When the request was received.
    pub received_at: Timestamp,
}

/// An entry of the request log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The id of the entry.
    pub id: LoggedRequestId,
    /// The key.
    pub key: KeyId,
    /// The request id that the response carried. Clients can use the same id more than once.
    pub request_id: String,
    /// The operation, if the request was routed to one, such as `listCourses`.
    pub operation: Option<String>,
    /// The method as sent.
    pub method: String,
    /// Path and query, with secrets masked as `****`.
    pub target: String,
    /// The status of the response.
    pub status: u16,
    /// Microseconds from receiving the request to sending the response.
    pub duration_us: u64,
    /// The client's IP address.
    pub address: String,
    /// The request headers by lower-case name, with secrets masked as `****`.
    pub headers: BTreeMap<String, String>,
    /// The body of the response before compression, with secrets masked as `****`, if the request failed. At most 8 KiB.
    pub error: Option<Vec<u8>>,
    /// When the request was received.
    pub received_at: Timestamp,
}

/// A filter of the request log. The default matches all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only requests of this key.
    pub key: Option<KeyId>,
    /// Only requests with these response statuses.
    pub status: Option<StatusFilter>,
    /// Only requests of this operation, such as `listCourses`.
    pub operation: Option<String>,
    /// Only requests received in this time span.
    pub received: TimeSpan,
}

/// A filter of response statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// All statuses with this first digit, such as 4 for 400 to 499.
    Class(u8),
    /// One status.
    Exact(u16),
}

/// The number of requests of a workspace on one day, by response status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyRequests {
    /// The start of the day in the time zone.
    pub starts_at: Timestamp,
    /// Requests with a status below 400.
    pub succeeded: u64,
    /// Requests with a status from 400 to 499, except 429.
    pub rejected: u64,
    /// Requests with status 429.
    pub rate_limited: u64,
    /// Requests with a status of 500 or above.
    pub failed: u64,
}

impl DailyRequests {
    /// Returns the total number of requests.
    pub const fn total(&self) -> u64 {
        self.succeeded + self.rejected + self.rate_limited + self.failed
    }
}
