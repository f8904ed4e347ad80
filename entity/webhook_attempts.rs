//! The log of delivery attempts, each with the headers of its request, and with its response.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect, QueryTrait};

use crate::{InWorkspace, StringMap, scope, statement, table};

table::declare!(
    /// One attempt at a delivery.
    #[sea_orm(table_name = "webhook_attempts")]
    pub struct Model {
        /// The attempt's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The delivery.
        pub delivery_id: Uuid,
        /// The number of the attempt; a delivery's first attempt is 1.
        pub number: i32,
        /// When it began.
        pub started_at: i64,
        /// When it ended.
        pub ended_at: i64,
        /// The status of the response; `None` without a response.
        pub status: Option<i32>,
        /// The code of the failure when there was no response, such as `timeout` or `connect`.
        #[sea_orm(column_type = "Text", nullable)]
        pub error: Option<String>,
        /// The headers that were sent.
        pub request_headers: StringMap,
        /// The headers of the response; `None` without a response.
        pub response_headers: Option<StringMap>,
        /// The beginning of the response body, not decoded; `None` without a response.
        pub response_body: Option<Vec<u8>>,
    }
);
scope::workspace_table!();

/// The name of the table. On PostgreSQL, it has one partition per UTC day of `ended_at`.
pub const TABLE: &str = "webhook_attempts";

/// An attempt without its headers and response body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSummaryRow {
    /// The delivery.
    pub delivery_id: Uuid,
    /// The number of the attempt; a delivery's first attempt is 1.
    pub number: i32,
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: i64,
    /// The status of the response; `None` without a response.
    pub status: Option<i32>,
    /// The code of the failure when there was no response.
    pub error: Option<String>,
}

impl InWorkspace<Entity> {
    /// Returns all attempts at a delivery with their headers and response bodies, ordered by number.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_delivery<C: ConnectionTrait>(
        self,
        conn: &C,
        delivery: Uuid,
    ) -> Result<Vec<Model>, DbErr> {
        let attempts = self
            .select_workspace_unindexed()
            .filter(Column::DeliveryId.eq(delivery))
            .order_by_asc(Column::Number);
        statement::all(conn, attempts).await
    }

    /// Returns all attempts at these deliveries without their headers and response bodies, ordered by delivery and
    /// number.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn summaries<C: ConnectionTrait>(
        self,
        conn: &C,
        deliveries: &[Uuid],
    ) -> Result<Vec<AttemptSummaryRow>, DbErr> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let columns = [
            Column::DeliveryId,
            Column::Number,
            Column::StartedAt,
            Column::EndedAt,
            Column::Status,
            Column::Error,
        ];
        let attempts = self
            .select_workspace_unindexed()
            .select_only()
            .columns(columns)
            .filter(Column::DeliveryId.is_in(statement::padded(deliveries)))
            .order_by_asc(Column::DeliveryId)
            .order_by_asc(Column::Number);
        let rows = conn.query_all(&attempts.into_query()).await?;
        rows.iter()
            .map(|row| {
                Ok(AttemptSummaryRow {
                    delivery_id: row.try_get_by_index(0)?,
                    number: row.try_get_by_index(1)?,
                    started_at: row.try_get_by_index(2)?,
                    ended_at: row.try_get_by_index(3)?,
                    status: row.try_get_by_index(4)?,
                    error: row.try_get_by_index(5)?,
                })
            })
            .collect()
    }
}

/// Inserts attempts at deliveries of any workspaces, in batches.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, attempts: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, attempts).await
}

/// Deletes up to `limit` attempts that ended before this time, oldest first, and returns the number of rows deleted. `before_id` is the
/// first id of that time. With the time, PostgreSQL skips the partitions of later days.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(
    conn: &C,
    before_id: Uuid,
    before_ms: i64,
    limit: u64,
) -> Result<u64, DbErr> {
    let old = "DELETE FROM webhook_attempts WHERE ended_at < $2 AND id IN (
        SELECT id FROM webhook_attempts WHERE id < $1 AND ended_at < $2 ORDER BY id LIMIT $3)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, old, [before_id.into(), before_ms.into(), limit.into()]).await
}
