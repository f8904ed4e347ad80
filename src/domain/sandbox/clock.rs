//! Advances the clock of a server that runs for the tests of a client.

use std::time::Duration;

use entity::idempotency_records;
use entity::webhook_deliveries::queue;
use jiff::Timestamp;

use crate::app::App;
use crate::{Error, Result};
use foundation::database::Write;

/// How far the clock can be advanced in total, since the server was started.
pub const MAX_TOTAL: Duration = Duration::from_hours(366 * 24);

/// The clock after it was advanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvancedClock {
    /// The time.
    pub now: Timestamp,
    /// How far it was advanced in total.
    pub total: Duration,
}

/// Advances the clock, and wakes what waits for a time. Call it last in a write: the clock is not set back if the commit fails.
///
/// Attempts in progress keep their leases, and so the worker sends no delivery twice. Idempotency keys keep the time that is left, so
/// that a repeated request does not advance the clock again. SQLite runs one write at a time, so no other write is recorded between
/// the two times.
///
/// # Errors
/// Returns [`Error::Invalid`] on `advance_seconds` when the total would exceed [`MAX_TOTAL`].
pub async fn advance(app: &App, write: &mut Write, by: Duration) -> Result<AdvancedClock> {
    let left = MAX_TOTAL.saturating_sub(total(app));
    if by > left {
        let message = format!(
            "must be at most {}: the clock can be advanced by {} seconds in total; start the server again to go further",
            left.as_secs(),
            MAX_TOTAL.as_secs()
        );
        return Err(Error::invalid("advance_seconds", message));
    }
    let by_ms = i64::try_from(by.as_millis()).map_err(anyhow::Error::from)?;
    queue::extend_leases(write.conn(), by_ms).await?;
    idempotency_records::extend(write.conn(), by_ms).await?;
    app.clock.advance(by);
    app.fast_path().wake_signal().wake();
    Ok(AdvancedClock { now: app.clock.now(), total: total(app) })
}

/// Returns how far the clock was advanced.
fn total(app: &App) -> Duration {
    Duration::from_millis(app.clock.moved_ms().unsigned_abs())
}
