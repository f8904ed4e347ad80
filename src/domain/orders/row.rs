//! Converts order rows, with their items, refunds and entitlements.

use entity::Connection;
use entity::{entitlements, order_items, orders, refunds};
use uuid::Uuid;

use super::super::Result;
use super::super::records::id;
use super::{Customer, Entitlement, EntitlementStatus, Order, OrderItem, OrderStatus, Receipt, Refund};
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;

/// Converts rows to orders with their items, refunds and entitlements, in the same order. `now_ms` determines which
/// entitlements have expired. Runs three queries in total.
pub(super) async fn with_details(
    conn: &impl Connection,
    workspace: WorkspaceId,
    rows: Vec<orders::Model>,
    now_ms: i64,
) -> Result<Vec<Order>> {
    let workspace_uuid = workspace.uuid();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let items = order_items::in_workspace(workspace_uuid).of_orders(conn, &ids).await?;
    let refunds = refunds::in_workspace(workspace_uuid).of_orders(conn, &ids).await?;
    let entitlements = entitlements::in_workspace(workspace_uuid).of_orders(conn, &ids).await?;
    let order = |row: orders::Model| {
        // Each list is sorted by order id, so the rows of one order are adjacent.
        let items = rows_of_order(&items, row.id, |item| item.order_id);
        let refunds = rows_of_order(&refunds, row.id, |refund| refund.order_id);
        let entitlements = rows_of_order(&entitlements, row.id, |entitlement| entitlement.order_id);
        order(row, items, refunds, entitlements, now_ms)
    };
    Ok(rows.into_iter().map(order).collect())
}

/// Returns the rows of one order from a list that is sorted by order id.
fn rows_of_order<M>(rows: &[M], order_id: Uuid, order_id_of: impl Fn(&M) -> Uuid) -> &[M] {
    let start = rows.partition_point(|row| order_id_of(row) < order_id);
    let end = rows.partition_point(|row| order_id_of(row) <= order_id);
    &rows[start..end]
}

fn order(
    row: orders::Model,
    items: &[order_items::Model],
    refunds: &[refunds::Model],
    entitlements: &[entitlements::Model],
    now_ms: i64,
) -> Order {
    // Computed from the refunds that were read, not taken from the row: a refund may have been committed between the
    // queries.
    let refunded_amount = refunds.iter().map(|refund| refund.amount).sum();
    Order {
        id: id(row.id),
        number: row.number,
        student_id: row.student_id.map(id),
        customer: Customer { email: row.customer_email, name: row.customer_name },
        status: status(row.total_amount, refunded_amount, !refunds.is_empty()),
        currency: row.currency,
        subtotal_amount: row.subtotal_amount,
        discount_amount: row.discount_amount,
        tax_amount: row.tax_amount,
        total_amount: row.total_amount,
        refunded_amount,
        items: items.iter().map(item).collect(),
        receipt: Receipt {
            number: row.receipt_number,
            url: row.receipt_url,
            issued_at: from_ms(row.receipt_issued_at),
        },
        refunds: refunds.iter().map(refund).collect(),
        entitlements: entitlements.iter().map(|row| entitlement(row, now_ms)).collect(),
        paid_at: from_ms(row.paid_at),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}

/// Returns the refund status of an order. An order with the total 0 is refunded once it has a refund.
pub(super) const fn status(total_amount: i64, refunded_amount: i64, has_refund: bool) -> OrderStatus {
    match (has_refund, refunded_amount >= total_amount) {
        (false, _) => OrderStatus::Paid,
        (true, false) => OrderStatus::PartiallyRefunded,
        (true, true) => OrderStatus::Refunded,
    }
}

/// Converts a status to its stored form.
pub(super) const fn stored_status(status: OrderStatus) -> orders::StoredOrderStatus {
    match status {
        OrderStatus::Paid => orders::StoredOrderStatus::Paid,
        OrderStatus::PartiallyRefunded => orders::StoredOrderStatus::PartiallyRefunded,
        OrderStatus::Refunded => orders::StoredOrderStatus::Refunded,
    }
}

fn item(row: &order_items::Model) -> OrderItem {
    OrderItem {
        id: id(row.id),
        course_id: id(row.course_id),
        title: row.title.clone(),
        quantity: row.quantity,
        unit_amount: row.unit_amount,
        total_amount: row.total_amount,
    }
}

/// Converts a row to a refund.
pub(super) fn refund(row: &refunds::Model) -> Refund {
    Refund {
        id: id(row.id),
        amount: row.amount,
        reason: row.reason.clone(),
        created_at: from_ms(row.created_at),
    }
}

fn entitlement(row: &entitlements::Model, now_ms: i64) -> Entitlement {
    let is_expired = row.expires_at.is_some_and(|end| end <= now_ms);
    Entitlement {
        id: id(row.id),
        course_id: id(row.course_id),
        enrollment_id: row.enrollment_id.map(id),
        status: match row.status {
            entitlements::StoredEntitlementStatus::Active if is_expired => EntitlementStatus::Expired,
            entitlements::StoredEntitlementStatus::Active => EntitlementStatus::Active,
            entitlements::StoredEntitlementStatus::Revoked => EntitlementStatus::Revoked,
            entitlements::StoredEntitlementStatus::Expired => EntitlementStatus::Expired,
        },
        granted_at: from_ms(row.granted_at),
        expires_at: row.expires_at.map(from_ms),
        revoked_at: row.revoked_at.map(from_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_refunded_once_no_amount_remains() {
        assert_eq!(status(100, 0, false), OrderStatus::Paid);
        assert_eq!(status(100, 99, true), OrderStatus::PartiallyRefunded);
        assert_eq!(status(100, 100, true), OrderStatus::Refunded);
        assert_eq!(status(0, 0, false), OrderStatus::Paid);
        assert_eq!(status(0, 0, true), OrderStatus::Refunded);
    }
}
