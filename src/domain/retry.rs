//! Runs a transaction again when it lost a conflict with another one.
//!
//! # Lock order
//!
//! PostgreSQL locks row by row, so every transaction takes its locks in this order, and rows of one kind by ascending id:
//!
//! 1. the records of applied changes, which are inserted first,
//! 2. workspaces, then people (`users`), and then what belongs to one of them: sessions, links and mails,
//! 3. courses: shared by those who enroll students or record progress, exclusive for those who change a course or its lessons,
//! 4. students, and then what belongs to one of them: orders, enrollments, entitlements, certificates,
//! 5. live sessions,
//! 6. replay jobs, webhook subscriptions, and then what belongs to one of them: deliveries, secrets,
//! 7. the version of the catalogue, the record of an idempotency key, the events, and the rollups, which are written last,
//!    at the commit.
//!
//! Rows that belong to a student, a person or a subscription have no order among themselves: only a transaction that has
//! locked their owner changes them. Shared locks of courses have none either, since no transaction locks two courses exclusively.
//! Counts that a process writes for itself (`rate_usage`, `api_request_days`) have transactions of their own, sorted by key.
//!
//! A transaction of many changes takes the locks of all of them before it applies the first one, see [`locks`](super::locks). What
//! remains are waits for unique values (two transactions that insert the same two keys in opposite order), which
//! PostgreSQL resolves by rolling one of them back: [`retrying`] runs that one again. Commands are not run again, they can be
//! repeated. SQLite runs one write at a time.

use std::time::{Duration, Instant};

use super::error::{Error, is_conflict};

/// The waits before the second and each further try, 635 ms in all.
const WAITS_MS: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];
/// A transaction that lost a conflict so long after the first try is not tried again: on SQLite, each try waits for up to 5 s
/// while other processes lock the file.
const PATIENCE: Duration = Duration::from_secs(12);

/// An error that may be a conflict between two transactions.
pub trait Conflict {
    /// Whether the transaction was rolled back because of another one, so that it may succeed when it runs again.
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

/// Runs `transaction`, which begins and commits a write, until it does not lose a conflict, eight times at most.
///
/// # Errors
/// The error of the last try.
pub async fn retrying<T, E, F>(transaction: impl Fn() -> F) -> std::result::Result<T, E>
where
    E: Conflict,
    F: Future<Output = std::result::Result<T, E>>,
{
    let begun = Instant::now();
    for wait_ms in WAITS_MS {
        match transaction().await {
            Err(error) if error.is_conflict() && begun.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
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
    async fn a_conflict_is_tried_again_until_the_tries_are_used_up() {
        let tries = Cell::new(0);
        let conflicts = async |conflicts: usize| {
            tries.set(0);
            let transaction = async || {
                tries.set(tries.get() + 1);
                if tries.get() <= conflicts { Err(Error::raced()) } else { Ok(()) }
            };
            retrying(transaction).await
        };
        assert!(conflicts(1).await.is_ok());
        assert_eq!(tries.get(), 2);
        assert!(conflicts(8).await.unwrap_err().is_conflict());
        assert_eq!(tries.get(), 8);
    }

    #[tokio::test]
    async fn what_is_no_conflict_is_not_tried_again() {
        let tries = Cell::new(0);
        let refused = retrying(async || {
            tries.set(tries.get() + 1);
            Err::<(), _>(Error::invalid("email", "is taken"))
        });
        assert!(!refused.await.unwrap_err().is_conflict());
        assert_eq!(tries.get(), 1);
    }
}
