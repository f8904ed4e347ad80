//! Conversions of orders with their items, receipt, refunds and entitlements.

use super::{enum_map, id_string, optional_id_string};
use crate::generated::schemas;
use domain::orders::{
    Customer, Entitlement, EntitlementStatus, Order, OrderItem, OrderStatus, Receipt, Refund,
};

enum_map!(OrderStatus => schemas::OrderStatus, and back);
enum_map!(EntitlementStatus => schemas::EntitlementStatus);

impl From<Order> for schemas::Order {
    fn from(order: Order) -> Self {
        Self {
            id: id_string(order.id),
            number: order.number,
            student_id: optional_id_string(order.student_id),
            customer: order.customer.into(),
            status: order.status.into(),
            currency: order.currency,
            subtotal_amount: order.subtotal_amount,
            discount_amount: order.discount_amount,
            tax_amount: order.tax_amount,
            total_amount: order.total_amount,
            refunded_amount: order.refunded_amount,
            items: order.items.into_iter().map(Into::into).collect(),
            receipt: Some(order.receipt.into()),
            refunds: order.refunds.into_iter().map(Into::into).collect(),
            entitlements: order.entitlements.into_iter().map(Into::into).collect(),
            paid_at: order.paid_at.into(),
            created_at: order.created_at.into(),
            updated_at: order.updated_at.into(),
        }
    }
}

impl From<Customer> for schemas::OrderCustomer {
    fn from(customer: Customer) -> Self {
        Self { email: customer.email, name: customer.name }
    }
}

impl From<OrderItem> for schemas::OrderItem {
    fn from(item: OrderItem) -> Self {
        Self {
            id: id_string(item.id),
            course_id: id_string(item.course_id),
            title: item.title,
            quantity: item.quantity,
            unit_amount: item.unit_amount,
            total_amount: item.total_amount,
        }
    }
}

impl From<Receipt> for schemas::Receipt {
    fn from(receipt: Receipt) -> Self {
        Self { number: receipt.number, url: receipt.url, issued_at: receipt.issued_at.into() }
    }
}

impl From<Refund> for schemas::Refund {
    fn from(refund: Refund) -> Self {
        Self {
            id: id_string(refund.id),
            amount: refund.amount,
            reason: refund.reason,
            created_at: refund.created_at.into(),
        }
    }
}

impl From<Entitlement> for schemas::Entitlement {
    fn from(entitlement: Entitlement) -> Self {
        Self {
            id: id_string(entitlement.id),
            course_id: id_string(entitlement.course_id),
            enrollment_id: optional_id_string(entitlement.enrollment_id),
            status: entitlement.status.into(),
            granted_at: entitlement.granted_at.into(),
            expires_at: entitlement.expires_at.map(Into::into),
            revoked_at: entitlement.revoked_at.map(Into::into),
        }
    }
}
