//! Orders with their items, receipt, refunds and entitlements.

use jiff::Timestamp;

use super::IdOrKey;
use super::page::TimeSpan;
use super::text_enum::text_enum;
use foundation::id::{CourseId, EnrollmentId, EntitlementId, OrderId, OrderItemId, RefundId, StudentId};

mod amounts;
mod list;
mod pay;
mod refund;
mod row;

pub use super::contract::{EntitlementStatus, OrderStatus};
pub use list::{get, list, list_lagging, search_end};
pub use pay::pay;
pub use refund::refund;

text_enum!(OrderStatus, "an order status");

/// A paid order. `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`, all in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// The order number shown to the customer, unique in the workspace.
    pub number: String,
    /// The student who bought. `None` after that student was deleted.
    pub student_id: Option<StudentId>,
    /// The customer at the time of payment.
    pub customer: Customer,
    /// The refund status.
    pub status: OrderStatus,
    /// ISO 4217 code of all amounts.
    pub currency: String,
    /// Sum of the items.
    pub subtotal_amount: i64,
    /// The discount.
    pub discount_amount: i64,
    /// The tax.
    pub tax_amount: i64,
    /// The amount paid.
    pub total_amount: i64,
    /// Sum of the refunds.
    pub refunded_amount: i64,
    /// The items, in the original order.
    pub items: Vec<OrderItem>,
    /// The receipt.
    pub receipt: Receipt,
    /// The refunds, oldest first.
    pub refunds: Vec<Refund>,
    /// One entitlement per course bought.
    pub entitlements: Vec<Entitlement>,
    /// Time of payment.
    pub paid_at: Timestamp,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the most recent recorded change.
    pub updated_at: Timestamp,
}

/// The customer of an order, as a snapshot at the time of payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// Email address.
    pub email: String,
    /// Full name, if known.
    pub name: Option<String>,
}

/// A course bought with an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderItem {
    /// Its id.
    pub id: OrderItemId,
    /// The course.
    pub course_id: CourseId,
    /// The title in the order, by default the title of the course at the time of payment.
    pub title: String,
    /// The quantity, at least 1.
    pub quantity: i32,
    /// The price of one unit, in minor units of the order's currency.
    pub unit_amount: i64,
    /// `unit_amount` times `quantity`.
    pub total_amount: i64,
}

/// The receipt of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number.
    pub number: String,
    /// The URL of the receipt.
    pub url: Option<String>,
    /// The time of issue.
    pub issued_at: Timestamp,
}

/// A refund of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// The refunded amount, in minor units of the order's currency.
    pub amount: i64,
    /// The reason.
    pub reason: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
}

text_enum!(EntitlementStatus, "an entitlement status");

/// The right to access a course, created by an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlement {
    /// Its id.
    pub id: EntitlementId,
    /// The course.
    pub course_id: CourseId,
    /// The enrollment that uses it. `None` after that enrollment was deleted.
    pub enrollment_id: Option<EnrollmentId>,
    /// The status.
    pub status: EntitlementStatus,
    /// The time at which it was created.
    pub granted_at: Timestamp,
    /// The time at which it expires. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// The time at which it was revoked. `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

/// Filters of the order list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Only orders of this student.
    pub student: Option<StudentId>,
    /// Only orders with an item of this course.
    pub course: Option<CourseId>,
    /// Only orders with this status.
    pub status: Option<OrderStatus>,
    /// Only orders in this currency.
    pub currency: Option<String>,
    /// Only the order with exactly this number.
    pub number: Option<String>,
    /// Only orders whose number, or whose customer's email address or name, contains this text, ignoring case. An order
    /// id matches that order.
    pub search: Option<String>,
    /// Only orders created in this span.
    pub created: TimeSpan,
    /// Only orders whose most recent recorded change is in this span.
    pub updated: TimeSpan,
    /// Only orders paid in this span.
    pub paid: TimeSpan,
}

/// The data of an `order.pay` change. Amounts are in minor units of the currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPay {
    /// The platform's key of the order, which must be new.
    pub key: String,
    /// The order number shown to the customer, which must be new.
    pub number: String,
    /// The student who bought.
    pub student: IdOrKey,
    /// ISO 4217 code, upper case.
    pub currency: String,
    /// The items, at least one.
    pub items: Vec<OrderPayItem>,
    /// The discount, at most the subtotal.
    pub discount_amount: i64,
    /// The tax, 0 or more.
    pub tax_amount: i64,
    /// The receipt. `None` creates a receipt with the order number and without a URL.
    pub receipt: Option<OrderPayReceipt>,
}

/// An item of [`OrderPay`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPayItem {
    /// The course, of any status.
    pub course: IdOrKey,
    /// The title. `None` uses the title of the course.
    pub title: Option<String>,
    /// The quantity, at least 1.
    pub quantity: i32,
    /// The price of one unit, in minor units.
    pub unit_amount: i64,
}

/// The receipt of [`OrderPay`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPayReceipt {
    /// Its number.
    pub number: String,
    /// The URL of the receipt.
    pub url: Option<String>,
}

/// A refund that was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedRefund {
    /// Its id.
    pub id: RefundId,
    /// The refunded amount, in minor units of the order's currency.
    pub amount: i64,
    /// The sum of all earlier refunds of the order, in the same units.
    pub refunded_before: i64,
}

/// The data of an `order.refund` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefund {
    /// The order.
    pub order: IdOrKey,
    /// The amount in minor units, from 1 to the amount that is not refunded yet. `None` refunds that whole amount.
    pub amount: Option<i64>,
    /// The reason.
    pub reason: Option<String>,
}
