//! Records paid orders, with their items, entitlements and enrollments.

use entity::{courses, entitlements, order_items, orders, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::enrollments::{self, AccessOutcome, AccessRequest, EnrollmentSnapshot, EnrollmentSource};
use super::super::field_errors::FieldErrors;
use super::super::records::{self, id, new_uuid};
use super::super::rollups::{self, PaidOrder};
use super::super::{Error, Result};
use super::OrderPay;
use super::amounts::{Amounts, calculate};
use super::row::with_details;
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{
    Course as CourseIdKind, Entitlement as EntitlementIdKind, Order as OrderIdKind, OrderId,
    OrderItem as OrderItemIdKind, Student as StudentIdKind, WorkspaceId,
};

/// Records a paid order, creates its entitlements, and enrolls the student. Emits `order.paid`, then `enrollment.created` for
/// each enrollment that is new or gives access again.
///
/// An enrollment that already gives access is kept. Its expiry is removed, because access through an order does not
/// expire.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student does not exist. Returns [`Error::Invalid`] if a course does not exist, the key or
/// the number is taken, or a value is invalid.
pub async fn pay(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    pay: OrderPay,
) -> Result<OrderId> {
    validate(&pay)?;
    let amounts = calculate(&pay)?;
    check_unused(write, workspace, &pay).await?;
    let workspace_uuid = workspace.uuid();
    let mut item_courses = Vec::with_capacity(pay.items.len());
    for (index, item) in pay.items.iter().enumerate() {
        let rows = courses::in_workspace(workspace_uuid);
        let course = records::lock_shared::<CourseIdKind, _>(write.conn(), rows, &item.course).await;
        item_courses.push(course.map_err(|error| item_error(index, error))?);
    }
    let student = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), student, &pay.student).await?;

    let order = order_row(app, write, workspace, at, &pay, &amounts, &student);
    if !orders::in_workspace(workspace_uuid).insert_unless_taken(write.conn(), order.clone()).await? {
        return Err(Error::lost_race());
    }
    let items = item_rows(app, write, &order, &pay, &amounts, &item_courses);
    order_items::in_workspace(workspace_uuid).insert_many(write.conn(), items).await?;
    let new_enrollments =
        create_entitlements(app, write, workspace, at, &order, &student, &item_courses).await?;
    count_revenue(write, workspace, at, &order, &item_courses);

    let order_id = id(order.id);
    let paid_orders = with_details(write.conn(), workspace, vec![order], at.as_millisecond()).await?;
    for order in paid_orders {
        outbox::append(app, write, workspace, at, Event::OrderPaid(order)).await?;
    }
    for snapshot in new_enrollments {
        enrollments::append_created_event(app, write, workspace, at, snapshot).await?;
    }
    Ok(order_id)
}

/// Converts the error for a missing course to an error in the item that refers to it.
fn item_error(index: usize, error: Error) -> Error {
    match error {
        Error::NotFound(error) => Error::invalid(format!("items/{index}/course"), error.to_string()),
        error => error,
    }
}

fn validate(pay: &OrderPay) -> Result<()> {
    let mut errors = FieldErrors::default();
    errors.check_key("key", &pay.key);
    errors.check_single_line("number", &pay.number, 255);
    errors.check_currency("currency", &pay.currency);
    if pay.items.is_empty() || pay.items.len() > 100 {
        errors.add("items", "must have 1 to 100 items");
    }
    for (index, item) in pay.items.iter().enumerate() {
        errors.check_optional_single_line(&format!("items/{index}/title"), item.title.as_ref(), 500);
    }
    if let Some(receipt) = &pay.receipt {
        errors.check_single_line("receipt/number", &receipt.number, 255);
        errors.check_url("receipt/url", receipt.url.as_ref());
    }
    errors.into_result()
}

/// Checks that no other order has this key or number.
async fn check_unused(write: &Write, workspace: WorkspaceId, pay: &OrderPay) -> Result<()> {
    let rows = orders::in_workspace(workspace.uuid());
    if rows.by_key(write.conn(), &pay.key).await?.is_some() {
        return Err(Error::invalid("key", "is the key of an existing order"));
    }
    if rows.by_number(write.conn(), &pay.number).await?.is_some() {
        return Err(number_taken());
    }
    Ok(())
}

fn number_taken() -> Error {
    Error::invalid("number", "is already used by another order of this workspace")
}

fn order_row(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    pay: &OrderPay,
    amounts: &Amounts,
    student: &students::Model,
) -> orders::Model {
    let at_ms = at.as_millisecond();
    let receipt = pay.receipt.as_ref();
    orders::Model {
        id: new_uuid::<OrderIdKind>(app, write),
        workspace_id: workspace.uuid(),
        key: Some(pay.key.clone()),
        number: pay.number.clone(),
        student_id: Some(student.id),
        customer_email: student.email.clone(),
        customer_name: student.name.clone(),
        status: orders::StoredOrderStatus::Paid,
        currency: pay.currency.clone(),
        subtotal_amount: amounts.subtotal,
        discount_amount: pay.discount_amount,
        tax_amount: pay.tax_amount,
        total_amount: amounts.total,
        refunded_amount: 0,
        receipt_number: receipt.map_or(&pay.number, |receipt| &receipt.number).clone(),
        receipt_url: receipt.and_then(|receipt| receipt.url.clone()),
        receipt_issued_at: at_ms,
        // `paid_at` and `created_at` must be equal: a list combines the filters on the two times and applies them to
        // the column that sorts it.
        paid_at: at_ms,
        created_at: at_ms,
        updated_at: write.recorded_ms(),
    }
}

fn item_rows(
    app: &App,
    write: &Write,
    order: &orders::Model,
    pay: &OrderPay,
    amounts: &Amounts,
    item_courses: &[courses::Model],
) -> Vec<order_items::Model> {
    let lines = (1..).zip(&pay.items).zip(item_courses).zip(&amounts.items);
    lines
        .map(|(((position, item), course), total)| order_items::Model {
            id: new_uuid::<OrderItemIdKind>(app, write),
            workspace_id: order.workspace_id,
            order_id: order.id,
            position,
            course_id: course.id,
            title: item.title.as_ref().unwrap_or(&course.title).clone(),
            quantity: item.quantity,
            unit_amount: item.unit_amount,
            total_amount: *total,
        })
        .collect()
}

/// Creates one entitlement per course, and gives the student access to these courses. Returns snapshots of the
/// enrollments that are new or give access again. `item_courses` holds the course of each item and may contain
/// duplicates.
async fn create_entitlements(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    student: &students::Model,
    item_courses: &[courses::Model],
) -> Result<Vec<EnrollmentSnapshot>> {
    let mut new_enrollments = Vec::new();
    let mut entitlement_rows = Vec::new();
    for (index, course) in item_courses.iter().enumerate() {
        if item_courses[..index].iter().any(|earlier| earlier.id == course.id) {
            continue;
        }
        let request = AccessRequest {
            student,
            course,
            source: EnrollmentSource::Order,
            order_id: Some(order.id),
            expires_at: None,
        };
        let access = enrollments::give_access(app, write, workspace, at, request).await?;
        match &access {
            AccessOutcome::New(row) | AccessOutcome::Reactivated(row) => {
                new_enrollments.push(enrollments::snapshot(row, student, course, at));
            }
            AccessOutcome::Existing(row) => {
                enrollments::remove_expiry(write, workspace, student, row, order.id).await?
            }
        }
        entitlement_rows.push(entitlement(app, write, at, order, course.id, access.row().id));
    }
    entitlements::in_workspace(workspace.uuid()).insert_many(write.conn(), entitlement_rows).await?;
    Ok(new_enrollments)
}

fn entitlement(
    app: &App,
    write: &Write,
    at: Timestamp,
    order: &orders::Model,
    course: Uuid,
    enrollment: Uuid,
) -> entitlements::Model {
    entitlements::Model {
        id: new_uuid::<EntitlementIdKind>(app, write),
        workspace_id: order.workspace_id,
        order_id: order.id,
        course_id: course,
        enrollment_id: Some(enrollment),
        status: entitlements::StoredEntitlementStatus::Active,
        granted_at: at.as_millisecond(),
        expires_at: None,
        revoked_at: None,
    }
}

fn count_revenue(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    item_courses: &[courses::Model],
) {
    let courses: Vec<_> = item_courses.iter().map(|course| id(course.id)).collect();
    let paid_order = PaidOrder {
        courses: &courses,
        paid_at: at,
        currency: &order.currency,
        total_amount: order.total_amount,
        discount_amount: order.discount_amount,
        tax_amount: order.tax_amount,
    };
    rollups::count_paid_order(write, workspace, paid_order);
}
