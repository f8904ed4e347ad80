//! The items of an order.

use sea_orm::entity::prelude::*;

use crate::{Connection, InWorkspace, scope, table};

table::declare!(
    /// One item of an order. Amounts are minor units of the order's currency.
    #[sea_orm(table_name = "order_items")]
    pub struct Model {
        /// The item's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The order.
        pub order_id: Uuid,
        /// The position in the order.
        pub position: i32,
        /// The purchased course.
        pub course_id: Uuid,
        /// The title in the order, by default the course's title at payment.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The quantity.
        pub quantity: i32,
        /// The unit price.
        pub unit_amount: i64,
        /// The total price of the item.
        pub total_amount: i64,
    }
);
scope::workspace_table!(cached);

impl InWorkspace<Entity> {
    /// Returns the items of these orders, sorted by order and position.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_orders<C: Connection>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut items = self.with_ids_in(conn, Column::OrderId, orders).await?;
        items.sort_unstable_by_key(|item| (item.order_id, item.position, item.id));
        Ok(items)
    }

    /// Keeps the items of these orders in the cache of the transaction, if it is active. The transaction must have locked the
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
