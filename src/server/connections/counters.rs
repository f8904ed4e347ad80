//! Counts connections that were rejected, that failed before they were accepted, or that were closed because the client
//! did not read. Reports them in at most one log line per second, and rejected ones as a metric.

use std::sync::atomic::{AtomicU64, Ordering};

use super::limits::ExceededLimit;

/// Events since the previous log line.
#[derive(Debug, Default)]
pub(super) struct ConnectionCounters {
    /// Connections beyond the limit of the whole server.
    over_total: AtomicU64,
    /// Connections beyond the limit of their client address.
    over_address: AtomicU64,
    /// Connections closed because the client did not read its response.
    pub(super) stalled: AtomicU64,
    /// Connections that were not accepted: the system failed to accept them, or the client closed them first.
    pub(super) not_accepted: AtomicU64,
}

impl ConnectionCounters {
    /// Counts a connection beyond this limit.
    pub(super) fn count_rejected(&self, exceeded: ExceededLimit) {
        let (count, reason) = match exceeded {
            ExceededLimit::Total => (&self.over_total, "server_limit"),
            ExceededLimit::Address => (&self.over_address, "address_limit"),
        };
        count.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("http_server_rejected_connections_total", "reason" => reason).increment(1);
    }

    /// Writes the log line and resets the counts, if any is not zero.
    pub(super) fn report(&self) {
        let [over_total, over_address, stalled, not_accepted] =
            [&self.over_total, &self.over_address, &self.stalled, &self.not_accepted]
                .map(|count| count.swap(0, Ordering::Relaxed));
        if over_total + over_address + stalled + not_accepted > 0 {
            tracing::warn!(
                over_total,
                over_address,
                stalled,
                not_accepted,
                "connections were rejected, or failed before they were accepted, or were closed because the client did not \
                 read"
            );
        }
    }
}
