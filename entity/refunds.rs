//! Refunds of orders. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;

use crate::{Connection, InWorkspace, SpanMs, scope, statement, table};

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
        /// The refunded amount.
        pub amount: i64,
        /// The reason.
        #[sea_orm(column_type = "Text", nullable)]
        pub reason: Option<String>,
        /// When it was refunded.
        pub created_at: i64,
    }
);
scope::workspace_table!(cached);

impl InWorkspace<Entity> {
    /// Returns the refunds of these orders, sorted by order and time.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_orders<C: Connection>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut refunds = self.with_ids_in(conn, Column::OrderId, orders).await?;
        refunds.sort_unstable_by_key(|refund| (refund.order_id, refund.created_at, refund.id));
        Ok(refunds)
    }

    /// Returns the refunds created in a time span, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn created_in<C: Connection>(self, conn: &C, span: SpanMs) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().filter(span.contains(Column::CreatedAt))).await
    }

    /// Keeps the refunds of these orders in the cache of the transaction, if it is active. The transaction must have locked the
    /// student to whom they belong.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn remember_of_orders<C: Connection>(self, conn: &C, orders: &[Uuid]) -> Result<(), DbErr> {
        let rows = self.with_ids_in(conn, Column::OrderId, orders).await?;
        self.remember(conn, rows, orders.iter().map(|id| (Column::OrderId, (*id).into())).collect());
        Ok(())
    }
}
