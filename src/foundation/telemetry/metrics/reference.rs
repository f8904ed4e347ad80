//! All metrics. xtask/dist/OPERATIONS.md contains this table.

use super::ProcessKind;

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only increases while the process runs.
    Counter,
    /// A number that increases and decreases.
    Gauge,
    /// The number of observed values in each bucket.
    Histogram,
}

impl MetricKind {
    /// Returns the name of the type in the Prometheus text format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name. It ends in the base unit, if it has one.
    pub name: &'static str,
    /// The type.
    pub kind: MetricKind,
    /// The labels and their values. The values of `operation` are not listed: the operation ids of the contract, `dashboard` and
    /// `other`. No client determines a value.
    pub labels: &'static [(&'static str, &'static [&'static str])],
    /// What it measures.
    pub description: &'static str,
    /// Whether a worker without a server records it.
    in_worker: bool,
}

impl Metric {
    /// Returns whether this kind of process records the metric.
    pub fn is_in(&self, process: ProcessKind) -> bool {
        process == ProcessKind::Server || self.in_worker
    }
}

/// Declares metrics: `server` metrics are recorded by servers only, `every` metrics by servers and workers.
macro_rules! metrics {
    ($($place:ident $kind:ident $name:literal { $($label:literal: [$($value:literal),*]),* } $description:literal;)*) => {
        &[$(Metric {
            name: $name,
            kind: MetricKind::$kind,
            labels: &[$(($label, &[$($value),*])),*],
            description: $description,
            in_worker: metrics!(@in_worker $place),
        }),*]
    };
    (@in_worker server) => { false };
    (@in_worker every) => { true };
}

/// All metrics, grouped by subject.
pub const METRICS: &[Metric] = metrics! {
    every Histogram "http_server_request_duration_seconds"
        { "operation": [], "status": ["1xx", "2xx", "3xx", "4xx", "5xx", "canceled", "failed"] }
        "Duration of requests until the response was ready, or until the end of a streamed response. `operation`: the operation id of the contract, `dashboard`, or `other`, which includes API requests that are rejected before their operation is known. `canceled`: the client disconnected before, or an import ended early without a failure of the server. `failed`: a streamed response failed after its headers were sent.";
    every Gauge "http_server_active_requests" {} "Requests that are being processed.";
    every Counter "http_server_rejected_connections_total" { "reason": ["server_limit", "address_limit"] }
        "Connections beyond the limit of the server or of their client address. Health checks and `/metrics` on them are answered, everything else is rejected.";
    server Counter "api_rejected_requests_total" { "reason": ["unauthorized", "forbidden", "removed", "minute_limit", "day_limit"] }
        "Requests to the API that were rejected: without a valid key, without the scope of the operation or from a network that the key does not allow, to a removed operation, or over a rate limit.";
    server Gauge "rate_limit_store_available" {}
        "1 if requests are counted in the shared limit store, 0 if this process admits its share of the limits because the store is not available. Missing without a shared store.";
    server Counter "rate_limit_local_decisions_total" {}
        "Rate limit decisions of this process from its share of the limits, because the shared limit store was not available.";
    server Histogram "rate_limit_store_duration_seconds" {} "Duration of round trips to the shared limit store.";
    server Counter "imported_changes_total" { "result": ["applied", "duplicate", "rejected"] }
        "Changes that the Platform API imported.";
    server Counter "request_log_dropped_total" {} "Requests not written to the request log because they exceeded its rate.";
    server Counter "candidate_requests_total" { "result": ["conforming", "rejected", "dropped", "failed"] }
        "Requests that were compared with the candidate contract. `rejected`: the candidate rejects the request or does not describe its response. `dropped`: too many were waiting. `failed`: the comparison failed.";
    every Counter "log_lines_dropped_total" {} "Log lines that were not written because stderr was too slow.";
    every Gauge "database_available" {} "1 if the database is available to this process, otherwise 0. On PostgreSQL, whether the last heartbeat succeeded, which has a connection of its own. On SQLite, whether the file can be read, and after a failed write also whether it can be written.";
    every Histogram "database_call_duration_seconds" {} "Duration of calls of the database, including the wait for a connection.";
    every Counter "database_failed_calls_total" { "reason": ["timeout", "connection", "deadlock", "lock_timeout", "conflict", "constraint", "other"] }
        "Calls of the database that failed. `lock_timeout`: the call waited too long for a lock. `conflict`: another transaction was in the way, so the transaction can be retried. `constraint`: a value exists already or refers to a missing row.";
    every Counter "database_retried_transactions_total" {} "Transactions that were retried after a conflict with another one.";
    every Gauge "database_connections" { "state": ["in_use", "idle"] } "Connections in the pools of this process. Those for heartbeats, rate limits and notifications are not counted.";
    every Gauge "database_connections_max" {} "Maximum number of connections in these pools.";
    every Gauge "database_schema_version" {} "Number of the newest migration that was applied to the database.";
    every Counter "events_appended_total" {} "Events that were appended to the outbox, including those of transactions that failed later.";
    every Gauge "webhook_deliveries" { "state": ["pending", "in_flight", "held", "dead"] } "Deliveries in the queue. `pending`: those that are to be sent and are not `in_flight`.";
    every Gauge "webhook_oldest_due_seconds" {} "Time since the oldest due delivery became due.";
    every Counter "webhook_attempts_total" { "outcome": ["delivered", "retry", "dead", "lost"] }
        "Delivery attempts. `lost`: the lease expired before the outcome was recorded, so the delivery is sent again.";
    every Counter "webhook_failed_attempts_total"
        { "reason": ["status", "bad_url", "no_secret", "forbidden_address", "dns", "connect", "tls", "certificate_expired", "reset", "closed", "protocol", "interim_responses", "timeout"] }
        "Delivery attempts that failed. `status`: the status of the response was not 2xx. Otherwise there was no response.";
    every Histogram "webhook_attempt_seconds" {} "Duration of delivery attempts.";
    every Gauge "mail_queue_length" {} "Mails that are to be sent.";
    every Gauge "mail_oldest_due_seconds" {} "Time since the oldest due mail became due.";
    every Counter "mail_attempts_total" { "outcome": ["sent", "retry", "dead"] } "Attempts to send a mail.";
    every Counter "trace_spans_dropped_total" { "reason": ["queue_full", "export_failed"] }
        "Spans of traces that were not exported, because too many were waiting or the endpoint did not accept them.";
    every Gauge "data_folder_free_bytes" {} "Free space of the file system with the SQLite database, or with the data folder.";
    every Gauge "data_folder_size_bytes" {} "Size of this file system.";
    every Gauge "build_info" { "version": [] } "1, with the version of the program.";
    every Counter "process_cpu_seconds_total" {} "Processor time of this process.";
    every Gauge "process_resident_memory_bytes" {} "Memory of this process that is in RAM.";
    every Gauge "process_virtual_memory_bytes" {} "Address space of this process.";
    every Gauge "process_virtual_memory_max_bytes" {} "Limit of the address space of this process.";
    every Gauge "process_open_fds" {} "Open file descriptors of this process.";
    every Gauge "process_max_fds" {} "Maximum number of open file descriptors of this process.";
    every Gauge "process_threads" {} "Threads of this process.";
    every Gauge "process_start_time_seconds" {} "Start of this process, as a Unix time.";
};
