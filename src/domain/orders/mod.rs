//! Orders with their items, receipt, refunds and entitlements.

use jiff::Timestamp;

use super::Named;
use super::page::Span;
use super::word::words;
use foundation::id::{CourseId, EnrollmentId, EntitlementId, OrderId, OrderItemId, RefundId, StudentId};

mod amounts;
mod list;
mod pay;
mod refund;
mod row;

pub use list::{get, list, reach};
pub use pay::pay;
pub use refund::refund;

/// How much of a paid order was given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderStatus {
    /// Nothing.
    Paid,
    /// A part.
    PartiallyRefunded,
    /// All of it.
    Refunded,
}

words!(OrderStatus, "an order status", { Paid = "paid", PartiallyRefunded = "partially_refunded", Refunded = "refunded" });

/// A paid order. `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// As the buyer sees it; unique in the workspace.
    pub number: String,
    /// Who bought; `None` once that student is deleted.
    pub student_id: Option<StudentId>,
    /// The buyer as known at payment.
    pub customer: Customer,
    /// How much was given back.
    pub status: OrderStatus,
    /// ISO 4217, of all amounts here.
    pub currency: String,
    /// Sum of the items.
    pub subtotal_amount: i64,
    /// What was taken off.
    pub discount_amount: i64,
    /// Tax.
    pub tax_amount: i64,
    /// What was paid.
    pub total_amount: i64,
    /// Sum of the refunds.
    pub refunded_amount: i64,
    /// What was bought, in the order given.
    pub items: Vec<OrderItem>,
    /// The receipt.
    pub receipt: Receipt,
    /// Oldest first.
    pub refunds: Vec<Refund>,
    /// One for each course bought.
    pub entitlements: Vec<Entitlement>,
    /// Payment.
    pub paid_at: Timestamp,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change.
    pub updated_at: Timestamp,
}

/// The buyer, a snapshot taken at payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// Email.
    pub email: String,
    /// Full name.
    pub name: Option<String>,
}

/// A course bought with an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderItem {
    /// Its id.
    pub id: OrderItemId,
    /// The course.
    pub course_id: CourseId,
    /// Its title at payment.
    pub title: String,
    /// At least 1.
    pub quantity: i32,
    /// Price of one.
    pub unit_amount: i64,
    /// `unit_amount` times `quantity`.
    pub total_amount: i64,
}

/// The receipt of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number.
    pub number: String,
    /// Where it can be read.
    pub url: Option<String>,
    /// When it was issued.
    pub issued_at: Timestamp,
}

/// Money given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// In the order's currency.
    pub amount: i64,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

/// Whether an entitlement still gives access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntitlementStatus {
    /// It does.
    Active,
    /// It was taken away.
    Revoked,
    /// Its time is over.
    Expired,
}

words!(EntitlementStatus, "an entitlement status", { Active = "active", Revoked = "revoked", Expired = "expired" });

/// The right to a course that an order gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlement {
    /// Its id.
    pub id: EntitlementId,
    /// The course.
    pub course_id: CourseId,
    /// The enrolment through which it is used; `None` once that is gone.
    pub enrollment_id: Option<EnrollmentId>,
    /// Whether it gives access.
    pub status: EntitlementStatus,
    /// When it was given.
    pub granted_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was taken away.
    pub revoked_at: Option<Timestamp>,
}

/// Filters of the order list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Bought by this student.
    pub student: Option<StudentId>,
    /// Holds an item of this course.
    pub course: Option<CourseId>,
    /// Has this status.
    pub status: Option<OrderStatus>,
    /// In this currency.
    pub currency: Option<String>,
    /// Exact number.
    pub number: Option<String>,
    /// Has this text in its number or its customer's address or name, without regard to case; an id means the order with
    /// it.
    pub search: Option<String>,
    /// By creation.
    pub created: Span,
    /// By last change.
    pub updated: Span,
    /// By payment.
    pub paid: Span,
}

/// What `order.pay` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPay {
    /// The platform's own key, new.
    pub key: String,
    /// As the buyer sees it, new.
    pub number: String,
    /// Who bought.
    pub student: Named,
    /// ISO 4217, upper case.
    pub currency: String,
    /// At least one.
    pub items: Vec<ItemPay>,
    /// 0 to the subtotal.
    pub discount_amount: i64,
    /// 0 or more.
    pub tax_amount: i64,
    /// Without one, the receipt bears the order's number.
    pub receipt: Option<ReceiptPay>,
}

/// An item of [`OrderPay`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemPay {
    /// The course, of any status.
    pub course: Named,
    /// The course's title unless said otherwise.
    pub title: Option<String>,
    /// At least 1.
    pub quantity: i32,
    /// Price of one.
    pub unit_amount: i64,
}

/// The receipt of [`OrderPay`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptPay {
    /// Its number.
    pub number: String,
    /// Where it can be read.
    pub url: Option<String>,
}

/// A refund that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refunded {
    /// Its id.
    pub id: RefundId,
    /// What it gives back, in the order's minor units.
    pub amount: i64,
    /// What earlier refunds had given back.
    pub refunded_before: i64,
}

/// What `order.refund` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefund {
    /// The order.
    pub order: Named,
    /// At most what is left; `None` is what is left.
    pub amount: Option<i64>,
    /// Why.
    pub reason: Option<String>,
}
