//! The log of deliveries: each attempt, what was sent with it and what came back.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect, QueryTrait};

use crate::{InWorkspace, StringMap, scope, statement, table};

table::declare!(
    /// One attempt at one delivery.
    #[sea_orm(table_name = "webhook_attempts")]
    pub struct Model {
        /// The attempt's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The delivery.
        pub delivery_id: Uuid,
        /// The delivery's first attempt is 1.
        pub number: i32,
        /// When it began.
        pub started_at: i64,
        /// When it ended.
        pub ended_at: i64,
        /// The answer's status, when there was an answer.
        pub status: Option<i32>,
        /// The class of what went wrong, when there was no answer: `timeout`, `connect`.
        #[sea_orm(column_type = "Text", nullable)]
        pub error: Option<String>,
        /// The headers that were sent.
        pub request_headers: StringMap,
        /// The headers that came back.
        pub response_headers: Option<StringMap>,
        /// The beginning of the body that came back, as it came.
        pub response_body: Option<Vec<u8>>,
    }
);
scope::tenant!();

/// An attempt without what was sent and came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The delivery.
    pub delivery_id: Uuid,
    /// The delivery's first attempt is 1.
    pub number: i32,
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: i64,
    /// The answer's status, when there was an answer.
    pub status: Option<i32>,
    /// The class of what went wrong, when there was no answer.
    pub error: Option<String>,
}

impl InWorkspace<Entity> {
    /// The attempts at a delivery with all that was sent and came back, in their order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_delivery<C: ConnectionTrait>(
        self,
        conn: &C,
        delivery: Uuid,
    ) -> Result<Vec<Model>, DbErr> {
        let attempts = self.checked().filter(Column::DeliveryId.eq(delivery)).order_by_asc(Column::Number);
        statement::all(conn, attempts).await
    }

    /// The attempts at these deliveries, each delivery's in their order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn summaries<C: ConnectionTrait>(
        self,
        conn: &C,
        deliveries: &[Uuid],
    ) -> Result<Vec<Summary>, DbErr> {
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
            .checked()
            .select_only()
            .columns(columns)
            .filter(Column::DeliveryId.is_in(statement::padded(deliveries)))
            .order_by_asc(Column::DeliveryId)
            .order_by_asc(Column::Number);
        let rows = conn.query_all(&attempts.into_query()).await?;
        rows.iter()
            .map(|row| {
                Ok(Summary {
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

/// Writes attempts at deliveries of any workspaces, many a statement.
///
/// # Errors
/// When the database does.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, attempts: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, attempts).await
}

/// Deletes attempts whose ids were made before this one, as many as the limit at most, and says how many.
///
/// # Errors
/// When the database does.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: Uuid, limit: u64) -> Result<u64, DbErr> {
    let old = Entity::find().filter(Column::Id.lt(before)).order_by_asc(Column::Id).limit(limit);
    scope::delete_selected(conn, old).await
}
