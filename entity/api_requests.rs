//! The log of API requests: one row for each, for a week.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, Keyset, Span, StringMap, api_keys, scope, statement, table};

table::declare!(
    /// One request. No secret is in it.
    #[sea_orm(table_name = "api_requests")]
    pub struct Model {
        /// The row's id, made at `received_at`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace of the key.
        pub workspace_id: Uuid,
        /// The key.
        pub key_id: Uuid,
        /// The request's id as its answer carried it; callers may send the same twice.
        #[sea_orm(column_type = "Text")]
        pub request_id: String,
        /// The operation, when the request came so far.
        #[sea_orm(column_type = "Text", nullable)]
        pub operation: Option<String>,
        /// The method as it was sent.
        #[sea_orm(column_type = "Text")]
        pub method: String,
        /// Path and query.
        #[sea_orm(column_type = "Text")]
        pub target: String,
        /// The answer's status.
        pub status: i32,
        /// How long it took, in microseconds.
        pub duration_us: i64,
        /// The client's address.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// The request's headers.
        pub headers: StringMap,
        /// The answer's body, when the request failed.
        pub error: Option<Vec<u8>>,
        /// When it came.
        pub received_at: i64,
    }
);
scope::tenant!();

/// Which requests are wanted. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Of this key.
    pub key_id: Option<Uuid>,
    /// Answered with a status from the first up to but without the second.
    pub statuses: Option<(i32, i32)>,
    /// Of this operation.
    pub operation: Option<String>,
    /// Received in this span.
    pub received: Span,
}

impl RequestFilter {
    /// Whether only failures are wanted, of whichever key: these have an index of their own.
    fn is_failed(&self) -> bool {
        self.key_id.is_none() && self.statuses.is_some_and(|(from, _)| from >= 400)
    }

    fn condition(&self, keyset: &Keyset<Column>) -> Condition {
        let among = |(from, until)| Column::Status.gte(from).and(Column::Status.lt(until));
        Condition::all()
            .add_option(self.key_id.map(|key| Column::KeyId.eq(key)))
            // Spelled out for the sake of the index that holds failures only.
            .add_option(self.is_failed().then(|| Expr::cust("status >= 400")))
            .add_option(self.statuses.map(among))
            .add_option(self.operation.as_deref().map(|operation| Column::Operation.eq(operation)))
            .add(keyset.within(Column::ReceivedAt, self.received))
    }
}

impl InWorkspace<Entity> {
    /// A page of the log, ordered by the time of receipt.
    ///
    /// # Errors
    /// When the database does.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &RequestFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        // A key has an index of its own, by which fewer rows are read.
        let rows = if filter.key_id.is_some() { self.checked() } else { self.select() };
        statement::all(conn, keyset.page(rows.filter(filter.condition(&keyset)), Column::ReceivedAt)).await
    }

    /// When the request came that stands so many places down the log, or down that of this key, and its id; none where no
    /// other follows it.
    ///
    /// # Errors
    /// When the database does.
    pub async fn reach<C: ConnectionTrait>(
        self,
        conn: &C,
        key: Option<Uuid>,
        received: Span,
        keyset: Keyset<Column>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = match key {
            Some(key) => {
                // One check of the key in place of one a row, which the index could not make.
                let ours = api_keys::in_workspace(self.workspace()).identified(key).into_query();
                Entity::find().filter(Column::KeyId.eq(key)).filter(Expr::exists(ours))
            }
            None => self.select(),
        };
        keyset.reach(conn, rows.filter(keyset.within(Column::ReceivedAt, received)), many).await
    }

    /// The latest request with this id of its answer.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_request_id<C: ConnectionTrait>(self, conn: &C, id: &str) -> Result<Option<Model>, DbErr> {
        let rows = self.select().filter(Column::RequestId.eq(id));
        let latest = rows.order_by_desc(Column::ReceivedAt).order_by_desc(Column::Id).limit(1);
        statement::one(conn, latest).await
    }
}

/// Writes requests of any workspaces, many a statement.
///
/// # Errors
/// When the database does.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, requests: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, requests).await
}

/// Deletes requests whose ids were made before this one, as many as the limit at most, and says how many.
///
/// # Errors
/// When the database does.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: Uuid, limit: u64) -> Result<u64, DbErr> {
    let old = Entity::find().filter(Column::Id.lt(before)).order_by_asc(Column::Id).limit(limit);
    scope::delete_selected(conn, old).await
}
