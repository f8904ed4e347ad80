//! The usage report: which API keys send requests that a candidate contract would reject.
//!
//! `creator-api candidate report --json` writes it, and `openapi-gate check --usage` reads it.

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The version of the format. It increases when a field is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// Which requests and responses a candidate contract would reject, by operation and API key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageReport {
    /// The version of the format.
    pub version: u32,
    /// When the report was created.
    pub created_at: Timestamp,
    /// The first day (UTC) of the report. The last one is the day of `created_at`.
    pub since: Date,
    /// The operations that were observed. An operation occurs once for each version of the contracts.
    pub operations: Vec<OperationUsage>,
    /// What the candidate would reject.
    pub findings: Vec<UsageFinding>,
}

/// The requests of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationUsage {
    /// The operation id in the base.
    pub operation: String,
    /// The digest of the operation in the contract that the server serves.
    pub base: String,
    /// The digest of the operation in the candidate, or `removed`.
    pub candidate: String,
    /// The number of keys that called the operation.
    pub keys: u64,
    /// These keys with all of their requests, in the order of their ids. The first and the last request are known by their days.
    #[serde(default)]
    pub callers: Vec<KeyUsage>,
    /// The days on which a server observed the operation, oldest first. A day without requests counts.
    pub days: Vec<DayUsage>,
}

/// The accepted requests of an operation on one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayUsage {
    /// The day (UTC).
    pub day: Date,
    /// All requests.
    pub seen: u64,
    /// The requests that were validated.
    pub checked: u64,
    /// The requests that were selected, but not validated because the queue was full.
    pub dropped: u64,
}

/// Whether the request or the response is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The candidate rejects the request.
    Request,
    /// The candidate does not describe the response.
    Response,
}

/// A reason for which the candidate rejects requests or responses of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageFinding {
    /// The operation id in the base.
    pub operation: String,
    /// The digest of the operation in the contract that the server serves.
    pub base: String,
    /// The digest of the operation in the candidate, or `removed`.
    pub candidate: String,
    /// Whether the request or the response is not valid.
    pub direction: Direction,
    /// The part of the message and the keyword, such as `request-body-max-length`. `other` stands for the codes of a key beyond the
    /// first 200 on a day.
    pub code: String,
    /// The JSON pointer of the failing keyword in the candidate.
    pub pointer: String,
    /// The property, or the location and name of the parameter, such as `query limit`. `*` if clients choose the name, and empty if the
    /// finding is about no single one.
    pub name: String,
    /// Why the value is rejected, without the value.
    pub reason: String,
    /// The keys that sent such requests.
    pub keys: Vec<KeyUsage>,
}

/// The requests of one key with the same finding, or to the same operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsage {
    /// The key of the workspace.
    pub workspace: String,
    /// The name of the workspace.
    pub workspace_name: String,
    /// The id of the API key.
    pub key: String,
    /// The name of the API key.
    pub key_name: String,
    /// The number of requests, estimated from the sample.
    pub requests: u64,
    /// The number of requests in the sample.
    pub sampled: u64,
    /// The first request in the sample.
    pub first_at: Timestamp,
    /// The last request in the sample.
    pub last_at: Timestamp,
    /// The request id of an example, while the request log contains it.
    pub request_id: Option<String>,
}

impl UsageReport {
    /// Parses a report. `name` is the name of the file in errors.
    ///
    /// # Errors
    /// Returns an error if the text is not a report, is cut short, has another version, or was created after `now`.
    pub fn parse(name: &str, text: &str, now: Timestamp) -> anyhow::Result<Self> {
        const REMEDY: &str = "create it with `creator-api candidate report --json`";
        #[derive(Deserialize)]
        struct Header {
            version: u32,
        }
        let value: serde_json::Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) if error.is_eof() => bail!("the usage report {name} is cut short; {REMEDY} again"),
            Err(error) => bail!("the usage report {name} is not JSON: {error}; {REMEDY}"),
        };
        let header = Header::deserialize(&value);
        let header = header.with_context(|| format!("{name} is not a usage report; {REMEDY}"))?;
        ensure!(
            header.version == VERSION,
            "the usage report {name} has version {}, but this program reads version {VERSION}; use programs of the same \
             release",
            header.version
        );
        let report = Self::deserialize(value);
        let report = report.with_context(|| format!("{name} is not a usage report; {REMEDY}"))?;
        ensure!(
            report.created_at <= now,
            "the usage report {name} was created at {}, which is in the future; correct the clock of this machine or of \
             the server",
            report.created_at
        );
        Ok(report)
    }

    /// Returns the day (UTC) on which the report was created.
    pub fn last_day(&self) -> Date {
        self.created_at.to_zoned(jiff::tz::TimeZone::UTC).date()
    }
}
