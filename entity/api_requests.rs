//! The log of API requests: one row per request, stored for one week. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, Keyset, SpanMs, StringMap, api_keys, scope, statement, table};

table::declare!(
    /// One request. Its secrets are masked before the row is stored.
    #[sea_orm(table_name = "api_requests")]
    pub struct Model {
        /// The row's id, generated at `received_at`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace of the API key.
        pub workspace_id: Uuid,
        /// The API key.
        pub key_id: Uuid,
        /// The request id of the response. Not unique: callers may send the same id twice.
        #[sea_orm(column_type = "Text")]
        pub request_id: String,
        /// The id of the operation; `None` when the request was not routed to one.
        #[sea_orm(column_type = "Text", nullable)]
        pub operation: Option<String>,
        /// The HTTP method as sent by the client.
        #[sea_orm(column_type = "Text")]
        pub method: String,
        /// The path and query string.
        #[sea_orm(column_type = "Text")]
        pub target: String,
        /// The HTTP status of the response.
        pub status: i32,
        /// The duration in microseconds.
        pub duration_us: i64,
        /// The client's IP address.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// The request's headers, by lower-case name.
        pub headers: StringMap,
        /// The beginning of the response body, if the request failed.
        pub error: Option<Vec<u8>>,
        /// When the request was received.
        pub received_at: i64,
    }
);
scope::workspace_table!();

/// The name of the table. On PostgreSQL, it has one partition per UTC day of `received_at`.
pub const TABLE: &str = "api_requests";

/// Filters requests. All specified conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRowFilter {
    /// Requests of this API key.
    pub key_id: Option<Uuid>,
    /// Requests with a status in this range: the first value is included, the second is not.
    pub statuses: Option<(i32, i32)>,
    /// Requests of this operation.
    pub operation: Option<String>,
    /// Requests received in this time span.
    pub received: SpanMs,
}

impl RequestRowFilter {
    /// Returns whether the partial index of failed requests (status 400 or above) can be used: the filter selects only
    /// failed requests and is not limited to one key.
    fn uses_index_of_failures(&self) -> bool {
        self.key_id.is_none() && self.statuses.is_some_and(|(from, _)| from >= 400)
    }

    /// Returns the conditions of the filter, without those of the page. Where the position of the page restricts the rows more
    /// than a bound of the time span, that bound is written so that the database does not use it to search the index, see
    /// [`Keyset::span_condition`].
    fn condition(&self, keyset: &Keyset<Column>) -> Condition {
        let in_range = |(from, until)| Column::Status.gte(from).and(Column::Status.lt(until));
        Condition::all()
            .add_option(self.key_id.map(|key| Column::KeyId.eq(key)))
            // The literal condition of the partial index of failures, which is not used otherwise.
            .add_option(self.uses_index_of_failures().then(|| Expr::cust("status >= 400")))
            .add_option(self.statuses.map(in_range))
            .add_option(self.operation.as_deref().map(|operation| Column::Operation.eq(operation)))
            .add(keyset.span_condition(Column::ReceivedAt, self.received))
    }
}

impl InWorkspace<Entity> {
    /// Returns one page of the log, ordered by the time of receipt.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &RequestRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        // With a key, the index on the key is used, which has fewer rows to read than the index on the workspace.
        let rows = if filter.key_id.is_some() { self.select_workspace_unindexed() } else { self.select() };
        statement::all(conn, keyset.page(rows.filter(filter.condition(&keyset)), Column::ReceivedAt)).await
    }

    /// Returns the receipt time and id of the request in row `row_number` of the log, counted from 1 at its start or
    /// after `keyset.after`. If `key` is set, counts only the requests of this key. Returns `None` when no other
    /// request follows that one, or when the key does not belong to the workspace.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn position_at<C: ConnectionTrait>(
        self,
        conn: &C,
        key: Option<Uuid>,
        received: SpanMs,
        keyset: Keyset<Column>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = match key {
            Some(key) => {
                // Checks once that the key belongs to the workspace. The index on the key does not contain the
                // workspace, so checking it in each request would read each row.
                let key_in_workspace =
                    api_keys::in_workspace(self.workspace()).select_by_id(key).into_query();
                Entity::find().filter(Column::KeyId.eq(key)).filter(Expr::exists(key_in_workspace))
            }
            None => self.select(),
        };
        keyset
            .position_at(conn, rows.filter(keyset.span_condition(Column::ReceivedAt, received)), row_number)
            .await
    }

    /// Returns the most recent request with this request id.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_request_id<C: ConnectionTrait>(self, conn: &C, id: &str) -> Result<Option<Model>, DbErr> {
        let rows = self.select().filter(Column::RequestId.eq(id));
        let latest = rows.order_by_desc(Column::ReceivedAt).order_by_desc(Column::Id).limit(1);
        statement::one(conn, latest).await
    }
}

/// Inserts requests of any workspaces, in batches.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, requests: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, requests).await
}

/// Deletes up to `limit` requests received before this time, oldest first, and returns the number of rows deleted. `before_id` is the
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
    let old = "DELETE FROM api_requests WHERE received_at < $2 AND id IN (
        SELECT id FROM api_requests WHERE id < $1 AND received_at < $2 ORDER BY id LIMIT $3)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, old, [before_id.into(), before_ms.into(), limit.into()]).await
}
