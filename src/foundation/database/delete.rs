//! Deletes many rows in short transactions.

use std::future::Future;
use std::pin::Pin;

use sea_orm::DbErr;

use super::{Database, Write};
use crate::clock::Clock;

/// The number of rows that one transaction of [`Database::delete_in_batches`] deletes, so that other writes wait only briefly.
pub const DELETE_BATCH: u64 = 500;

/// The maximum number of transactions of a call of [`Database::delete_in_batches`], so that other jobs of the caller run in time.
const MAX_BATCHES: u32 = 120;

/// The number of rows deleted, once the statement has run.
type Deletion<'a> = Pin<Box<dyn Future<Output = Result<u64, DbErr>> + Send + 'a>>;

impl Database {
    /// Calls `delete` in transactions of their own until it deletes fewer than [`DELETE_BATCH`] rows, but at most 120 times: a later
    /// call deletes the others. `delete` deletes up to that number of rows, and returns the number. Returns the total.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails. Rows deleted before remain deleted.
    pub async fn delete_in_batches(
        &self,
        clock: &Clock,
        delete: impl for<'a> Fn(&'a Write) -> Deletion<'a> + Send + Sync,
    ) -> Result<u64, DbErr> {
        let mut deleted = 0;
        for _ in 0..MAX_BATCHES {
            let write = self.begin_write(clock).await?;
            let batch = delete(&write).await?;
            write.commit().await?;
            deleted += batch;
            if batch < DELETE_BATCH {
                break;
            }
        }
        Ok(deleted)
    }
}
