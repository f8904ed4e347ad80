//! Retries of transactions that failed because of a conflict with another transaction, and the lock order.
//!
//! # Lock order
//!
//! PostgreSQL locks row by row, so every transaction acquires its locks in this order, and rows of one kind by ascending id:
//!
//! 1. the records of applied changes, which are inserted first,
//! 2. workspaces, then `users`, then people, then the rows of a user: sessions, links and mails,
//! 3. courses: in shared mode to enroll students or record progress, exclusively to change a course or its lessons,
//! 4. students, then the rows of a student: orders, enrollments, entitlements, certificates,
//! 5. live sessions,
//! 6. replay jobs, webhook subscriptions, then the rows of a subscription: deliveries, secrets,
//! 7. the version of a workspace's courses (see [`catalog`](super::courses::catalog)), the record of an idempotency key, the
//!    events, and the rollups. Events and rollups are written at the commit.
//!
//! Rows that belong to a student, a user or a subscription need no order among themselves, because only a transaction that has
//! locked that student, user or subscription changes them. Shared locks of courses need no order either, because no
//! transaction locks two courses exclusively. A request of an API key, or a form, that changes a sandbox locks its workspace in
//! shared mode after the records; if it deadlocks with a transaction that locks the workspace first, such as a reset, it is
//! retried. Counters that a process writes on its own (`rate_usage`, `api_request_days`) use separate transactions, sorted by key.
//!
//! A transaction of several changes acquires the locks of all of them before it applies the first one, see
//! [`locks`](super::locks). It inserts new rows later, after it has locked subscriptions; only a transaction that inserts the same
//! unique value waits for these rows. One kind of deadlock remains: two transactions insert the same two unique values in
//! opposite order. PostgreSQL rolls one of them back, and [`retry_on_conflict`] retries it. Commands of the CLI are not
//! retried; run them again. SQLite runs one write at a time.

use std::time::{Duration, Instant};

use super::error::{Error, is_conflict};
use foundation::database::wait_budget_left;

/// The delays before the second and each later attempt at a transaction, in milliseconds; 635 ms in total.
const CONFLICT_RETRY_DELAYS_MS: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];
/// Time since the first attempt after which a transaction is not retried. On SQLite, each attempt waits for up to 10 s
/// while another process locks the file; on PostgreSQL, for up to 7 s while another transaction locks a row. A request has less
/// time, see [`with_wait_budget`](foundation::database::with_wait_budget).
const MAX_RETRY_TIME: Duration = Duration::from_secs(12);

/// The time that a request must have left to wait for the database, so that a retry can succeed.
const MIN_TIME_LEFT: Duration = Duration::from_millis(300);

/// An error that can be caused by a conflict between two transactions.
pub trait Conflict {
    /// Returns whether the transaction failed because of another transaction, so that a retry can succeed.
    fn is_conflict(&self) -> bool;
}

impl Conflict for Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Internal(cause) if is_conflict(cause))
    }
}

impl Conflict for anyhow::Error {
    fn is_conflict(&self) -> bool {
        is_conflict(self)
    }
}

/// Runs `transaction`, which begins and commits a write, and retries it after a conflict. Makes at most eight attempts.
///
/// # Errors
/// Returns the error of the last attempt.
pub async fn retry_on_conflict<T, E, F>(transaction: impl Fn() -> F) -> std::result::Result<T, E>
where
    E: Conflict,
    F: Future<Output = std::result::Result<T, E>>,
{
    let started = Instant::now();
    for delay_ms in CONFLICT_RETRY_DELAYS_MS {
        match transaction().await {
            Err(error)
                if error.is_conflict()
                    && started.elapsed() < MAX_RETRY_TIME
                    && wait_budget_left().is_none_or(|left| left > MIN_TIME_LEFT) =>
            {
                metrics::counter!("database_retried_transactions_total").increment(1);
                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            }
            outcome => return outcome,
        }
    }
    transaction().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_conflict_is_retried_until_the_eighth_attempt() {
        let attempts = Cell::new(0);
        let run_with_conflicts = async |conflicts: usize| {
            attempts.set(0);
            let transaction = async || {
                attempts.set(attempts.get() + 1);
                if attempts.get() <= conflicts { Err(Error::lost_race()) } else { Ok(()) }
            };
            retry_on_conflict(transaction).await
        };
        assert!(run_with_conflicts(1).await.is_ok());
        assert_eq!(attempts.get(), 2);
        assert!(run_with_conflicts(8).await.unwrap_err().is_conflict());
        assert_eq!(attempts.get(), 8);
    }

    #[tokio::test]
    async fn other_errors_are_not_retried() {
        let attempts = Cell::new(0);
        let result = retry_on_conflict(async || {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(Error::invalid("email", "is taken"))
        });
        assert!(!result.await.unwrap_err().is_conflict());
        assert_eq!(attempts.get(), 1);
    }
}
