//! The limits of PostgreSQL for a transaction.

use std::time::Duration;

use sea_orm::Value;

/// The limits, in milliseconds. They derive from the timeout of a call at the start of the transaction, so that the server
/// usually cancels a statement before the client stops waiting for it.
pub(super) struct TransactionLimits {
    /// The longest time that a statement runs.
    statement_ms: u128,
    /// The longest time that a statement waits for a row that another transaction has locked.
    lock_ms: u128,
    /// The longest time between two statements. When a process is suspended, its transactions end after this time, which
    /// releases their locks.
    idle_ms: u128,
}

/// The shortest [`TransactionLimits::idle_ms`].
const MIN_IDLE_MS: u128 = 4_000;

impl TransactionLimits {
    pub(super) fn new(call_timeout: Duration) -> Self {
        let timeout_ms = call_timeout.as_millis();
        // PostgreSQL reads 0 as no limit.
        Self {
            statement_ms: (timeout_ms * 8 / 10).max(1),
            lock_ms: (timeout_ms * 7 / 10).max(1),
            idle_ms: timeout_ms.max(MIN_IDLE_MS),
        }
    }

    /// Returns the values of the settings `statement_timeout`, `lock_timeout` and `idle_in_transaction_session_timeout`.
    pub(super) fn settings(self) -> [Value; 3] {
        let Self { statement_ms, lock_ms, idle_ms } = self;
        [statement_ms, lock_ms, idle_ms].map(|milliseconds| milliseconds.to_string().into())
    }

    /// Returns the statements that limit a transaction that writes.
    pub(super) fn write_settings(&self) -> String {
        let Self { statement_ms, lock_ms, idle_ms } = self;
        format!(
            "SET LOCAL statement_timeout = {statement_ms};
             SET LOCAL lock_timeout = {lock_ms};
             SET LOCAL idle_in_transaction_session_timeout = {idle_ms}"
        )
    }

    /// Returns the statements that limit a transaction that reads, and make all its queries see the same snapshot.
    pub(super) fn snapshot_settings(&self) -> String {
        let Self { statement_ms, idle_ms, .. } = self;
        format!(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
             SET LOCAL statement_timeout = {statement_ms};
             SET LOCAL idle_in_transaction_session_timeout = {idle_ms}"
        )
    }
}
