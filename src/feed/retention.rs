//! Deletes the records of changes that were applied long ago.

use domain::app::App;
use entity::applied_changes;
use entity::rollups::DAY_MS;
use foundation::database::DELETE_BATCH;

/// How many days the id of an applied change is stored. Until then, a change that is imported again is skipped.
const RETENTION_DAYS: i64 = 90;

/// Deletes the ids of changes that were applied more than 90 days ago. Returns the number of ids deleted.
///
/// # Errors
/// Returns an error when a query fails.
pub async fn prune(app: &App) -> anyhow::Result<u64> {
    let changes = app.db.delete_in_batches(&app.clock, |write| {
        let before = write.now_ms() - RETENTION_DAYS * DAY_MS;
        Box::pin(applied_changes::prune(write.conn(), before, DELETE_BATCH))
    });
    Ok(changes.await?)
}
