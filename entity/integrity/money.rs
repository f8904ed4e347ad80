//! Orders whose amounts contradict each other, their items or their refunds.

use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, DbErr};

use super::{Batch, MAX_FOUND};
use crate::statement;

/// The amounts of an order, in minor units of its currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSums {
    /// The order.
    pub order: Uuid,
    /// The stored status.
    pub status: String,
    /// The stored subtotal.
    pub subtotal: i64,
    /// The stored total.
    pub total: i64,
    /// The subtotal minus the discount plus the tax.
    pub calculated_total: i64,
    /// The stored refunded amount.
    pub refunded: i64,
    /// The sum of the totals of the items.
    pub items: i64,
    /// The number of items whose total is not their quantity times their unit amount.
    pub wrong_items: i64,
    /// The sum of the refunds.
    pub refunds: i64,
    /// The number of refunds.
    pub refund_count: i64,
}

impl OrderSums {
    /// Returns the status that follows from the amounts.
    pub fn calculated_status(&self) -> &'static str {
        match (self.refund_count > 0, self.refunds >= self.total) {
            (false, _) => "paid",
            (true, false) => "partially_refunded",
            (true, true) => "refunded",
        }
    }
}

/// Returns the orders of a batch whose amounts contradict each other.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn find<C: ConnectionTrait>(conn: &C, batch: Batch) -> Result<Vec<OrderSums>, DbErr> {
    let sum = |expression: &str, table: &str| {
        format!(
            "CAST(coalesce((SELECT sum({expression}) FROM {table} AS t WHERE t.order_id = o.id), 0) AS BIGINT)"
        )
    };
    let items = sum("t.total_amount", "order_items");
    let wrong_items =
        sum("CASE WHEN t.total_amount = t.quantity * t.unit_amount THEN 0 ELSE 1 END", "order_items");
    let (refunds, refund_count) = (sum("t.amount", "refunds"), sum("1", "refunds"));
    let sql = format!(
        "SELECT * FROM (SELECT o.id, o.status, o.subtotal_amount, o.total_amount,
             o.subtotal_amount - o.discount_amount + o.tax_amount AS calculated_total, o.refunded_amount,
             {items} AS items, {wrong_items} AS wrong_items, {refunds} AS refunds, {refund_count} AS refund_count
             FROM orders AS o WHERE o.id > $1 AND o.id <= $2) AS sums
         WHERE total_amount <> calculated_total OR subtotal_amount <> items OR wrong_items > 0
             OR refunded_amount <> refunds OR status <> CASE WHEN refund_count = 0 THEN 'paid'
                 WHEN refunds < total_amount THEN 'partially_refunded' ELSE 'refunded' END
         ORDER BY id LIMIT {MAX_FOUND}"
    );
    let rows =
        conn.query_all_raw(statement::raw(conn, &sql, [batch.after.into(), batch.up_to.into()])).await?;
    let order = |row: &sea_orm::QueryResult| {
        Ok(OrderSums {
            order: row.try_get_by_index(0)?,
            status: row.try_get_by_index(1)?,
            subtotal: row.try_get_by_index(2)?,
            total: row.try_get_by_index(3)?,
            calculated_total: row.try_get_by_index(4)?,
            refunded: row.try_get_by_index(5)?,
            items: row.try_get_by_index(6)?,
            wrong_items: row.try_get_by_index(7)?,
            refunds: row.try_get_by_index(8)?,
            refund_count: row.try_get_by_index(9)?,
        })
    };
    rows.iter().map(order).collect()
}
