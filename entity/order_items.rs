//! What was bought with an order.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, table};

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
        /// Its place in the order.
        pub position: i32,
        /// The course that was bought.
        pub course_id: Uuid,
        /// The course's title at payment.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// How many were bought.
        pub quantity: i32,
        /// The price of one.
        pub unit_amount: i64,
        /// The price of all.
        pub total_amount: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The items of these orders, by order and place.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_orders<C: ConnectionTrait>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut items = self.among(conn, Column::OrderId, orders).await?;
        items.sort_unstable_by_key(|item| (item.order_id, item.position, item.id));
        Ok(items)
    }
}
