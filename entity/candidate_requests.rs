//! The accepted requests that a candidate contract was compared with, per UTC day, API key and operation. Times are
//! milliseconds since the epoch.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{rollups, statement, table};

table::declare!(
    /// The requests of one key to one operation on one day.
    #[sea_orm(table_name = "candidate_requests")]
    pub struct Model {
        /// The start of the day.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// The API key. Zeros if the row records that a server observed the operation.
        #[sea_orm(primary_key, auto_increment = false)]
        pub key_id: Uuid,
        /// The operation id in the base.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub operation: String,
        /// The digest of the operation in the contract that the server serves.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub base: String,
        /// The digest of the operation in the candidate.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub candidate: String,
        /// The workspace of the key.
        pub workspace_id: Uuid,
        /// All requests.
        pub seen: i64,
        /// The requests that were validated.
        pub checked: i64,
        /// The requests that were selected, but not validated.
        pub dropped: i64,
        /// The sum of the inverse sampling probabilities of the validated requests.
        pub weight: i64,
    }
);

/// Adds these requests to the stored counts. Each key of a row may occur only once.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut rows: Vec<Model>) -> Result<(), DbErr> {
    // A fixed order prevents deadlocks between two processes that write at the same time.
    rows.sort_unstable_by(|left, right| {
        (left.day, left.key_id, &left.operation).cmp(&(right.day, right.key_id, &right.operation))
    });
    let key = [Column::Day, Column::KeyId, Column::Operation, Column::Base, Column::Candidate];
    let counts = [Column::Seen, Column::Checked, Column::Dropped, Column::Weight];
    rollups::add::<_, Entity>(conn, rows, key, counts).await
}

/// Returns the rows from this day on, in all workspaces, oldest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn since<C: ConnectionTrait>(conn: &C, day: i64) -> Result<Vec<Model>, DbErr> {
    let rows = Entity::find().filter(Column::Day.gte(day));
    statement::all(conn, rows.order_by_asc(Column::Day).order_by_asc(Column::KeyId)).await
}

/// Deletes the days before this one, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
