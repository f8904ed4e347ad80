//! What was paid back of an order.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, Span, scope, statement, table};

table::declare!(
    /// One refund, in minor units of the order's currency.
    #[sea_orm(table_name = "refunds")]
    pub struct Model {
        /// The refund's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The order.
        pub order_id: Uuid,
        /// How much was paid back.
        pub amount: i64,
        /// Why.
        #[sea_orm(column_type = "Text", nullable)]
        pub reason: Option<String>,
        /// When.
        pub created_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The refunds of these orders, by order and time.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_orders<C: ConnectionTrait>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut refunds = self.among(conn, Column::OrderId, orders).await?;
        refunds.sort_unstable_by_key(|refund| (refund.order_id, refund.created_at, refund.id));
        Ok(refunds)
    }

    /// The refunds made in a span. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn created_in<C: ConnectionTrait>(self, conn: &C, span: Span) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().filter(span.holds(Column::CreatedAt))).await
    }
}
