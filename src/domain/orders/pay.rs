//! A payment: the order, its items, the right to each course, and access for whoever had none.

use entity::{courses, entitlements, order_items, orders, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::enrollments::{self, Admission, Admitted, EnrollmentSnapshot, EnrollmentSource};
use super::super::faults::Faults;
use super::super::find::{self, fresh, id};
use super::super::rollups::{self, PaidOrder};
use super::super::{Error, Result};
use super::OrderPay;
use super::amounts::{Amounts, add_up};
use super::row::assemble;
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{
    Course as CourseKind, Entitlement as EntitlementKind, Order as OrderKind, OrderId,
    OrderItem as OrderItemKind, Student as StudentKind, WorkspaceId,
};

/// Records a paid order: entitlements and enrolments come of it. Emits `order.paid`, then `enrollment.created`
/// for each pair that has access anew.
///
/// A student who is enrolled already keeps that enrolment; if it was to end, it no longer does, since what was
/// bought does not end.
///
/// # Errors
/// [`Error::NotFound`] for an absent student, [`Error::Invalid`] for an item of an absent course, for a taken key or
/// number and for amounts that do not add up.
pub async fn pay(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    pay: OrderPay,
) -> Result<OrderId> {
    check(&pay)?;
    let amounts = add_up(&pay)?;
    free(write, workspace, &pay).await?;
    let scope = workspace.uuid();
    let mut bought = Vec::with_capacity(pay.items.len());
    for (place, item) in pay.items.iter().enumerate() {
        let rows = courses::in_workspace(scope);
        let course = find::share::<CourseKind, _>(write.conn(), rows, &item.course).await;
        bought.push(course.map_err(|error| of_item(place, error))?);
    }
    let student = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), student, &pay.student).await?;

    let order = row(app, write, workspace, at, &pay, &amounts, &student);
    if !orders::in_workspace(scope).insert_unless_taken(write.conn(), order.clone()).await? {
        return Err(Error::raced());
    }
    let items = items(app, write, &order, &pay, &amounts, &bought);
    order_items::in_workspace(scope).insert_many(write.conn(), items).await?;
    let anew = entitle(app, write, workspace, at, &order, &student, &bought).await?;
    count(write, workspace, at, &order, &bought);

    let order_id = id(order.id);
    let paid = assemble(write.conn(), workspace, vec![order], at.as_millisecond()).await?;
    for order in paid {
        outbox::append(app, write, workspace, at, Event::OrderPaid(order)).await?;
    }
    for snapshot in anew {
        enrollments::announce(app, write, workspace, at, snapshot).await?;
    }
    Ok(order_id)
}

/// A course that is not there, said of the item that names it.
fn of_item(place: usize, error: Error) -> Error {
    match error {
        Error::NotFound(missing) => Error::invalid(format!("items/{place}/course"), missing.to_string()),
        other => other,
    }
}

fn check(pay: &OrderPay) -> Result<()> {
    let mut faults = Faults::default();
    faults.key("key", &pay.key);
    faults.line("number", &pay.number, 255);
    faults.currency("currency", &pay.currency);
    if pay.items.is_empty() || pay.items.len() > 100 {
        faults.add("items", "must have 1 to 100 items");
    }
    for (place, item) in pay.items.iter().enumerate() {
        faults.maybe_line(&format!("items/{place}/title"), item.title.as_ref(), 500);
    }
    if let Some(receipt) = &pay.receipt {
        faults.line("receipt/number", &receipt.number, 255);
        faults.url("receipt/url", receipt.url.as_ref());
    }
    faults.check()
}

/// Key and number must be new.
async fn free(write: &Write, workspace: WorkspaceId, pay: &OrderPay) -> Result<()> {
    let rows = orders::in_workspace(workspace.uuid());
    if rows.by_key(write.conn(), &pay.key).await?.is_some() {
        return Err(Error::invalid("key", "names an order that was paid before"));
    }
    if rows.by_number(write.conn(), &pay.number).await?.is_some() {
        return Err(number_taken());
    }
    Ok(())
}

fn number_taken() -> Error {
    Error::invalid("number", "is the number of another order of this workspace")
}

fn row(
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
        id: fresh::<OrderKind>(app, write),
        workspace_id: workspace.uuid(),
        key: Some(pay.key.clone()),
        number: pay.number.clone(),
        student_id: Some(student.id),
        customer_email: student.email.clone(),
        customer_name: student.name.clone(),
        status: orders::Status::Paid,
        currency: pay.currency.clone(),
        subtotal_amount: amounts.subtotal,
        discount_amount: pay.discount_amount,
        tax_amount: pay.tax_amount,
        total_amount: amounts.total,
        refunded_amount: 0,
        receipt_number: receipt.map_or(&pay.number, |receipt| &receipt.number).clone(),
        receipt_url: receipt.and_then(|receipt| receipt.url.clone()),
        receipt_issued_at: at_ms,
        // One and the same moment: lists look for one by the other.
        paid_at: at_ms,
        created_at: at_ms,
        updated_at: write.now_ms(),
    }
}

fn items(
    app: &App,
    write: &Write,
    order: &orders::Model,
    pay: &OrderPay,
    amounts: &Amounts,
    bought: &[courses::Model],
) -> Vec<order_items::Model> {
    let parts = (1..).zip(&pay.items).zip(bought).zip(&amounts.items);
    parts
        .map(|(((position, item), course), total)| order_items::Model {
            id: fresh::<OrderItemKind>(app, write),
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

/// One entitlement for each course, and access for whoever had none: those enrolments come out, to be announced.
async fn entitle(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    student: &students::Model,
    bought: &[courses::Model],
) -> Result<Vec<EnrollmentSnapshot>> {
    let mut anew = Vec::new();
    let mut rights = Vec::new();
    for (place, course) in bought.iter().enumerate() {
        if bought[..place].iter().any(|before| before.id == course.id) {
            continue;
        }
        let admission = Admission {
            student,
            course,
            source: EnrollmentSource::Order,
            order_id: Some(order.id),
            expires_at: None,
        };
        let admitted = enrollments::admit(app, write, workspace, at, admission).await?;
        match &admitted {
            Admitted::New(row) | Admitted::Reactivated(row) => {
                anew.push(enrollments::snapshot(row, student, course, at));
            }
            Admitted::Already(row) => enrollments::extend(write, workspace, student, row, order.id).await?,
        }
        rights.push(right(app, write, at, order, course.id, admitted.row().id));
    }
    entitlements::in_workspace(workspace.uuid()).insert_many(write.conn(), rights).await?;
    Ok(anew)
}

fn right(
    app: &App,
    write: &Write,
    at: Timestamp,
    order: &orders::Model,
    course: Uuid,
    enrollment: Uuid,
) -> entitlements::Model {
    entitlements::Model {
        id: fresh::<EntitlementKind>(app, write),
        workspace_id: order.workspace_id,
        order_id: order.id,
        course_id: course,
        enrollment_id: Some(enrollment),
        status: entitlements::Status::Active,
        granted_at: at.as_millisecond(),
        expires_at: None,
        revoked_at: None,
    }
}

fn count(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    bought: &[courses::Model],
) {
    let courses: Vec<_> = bought.iter().map(|course| id(course.id)).collect();
    let paid = PaidOrder {
        courses: &courses,
        paid_at: at,
        currency: &order.currency,
        total_amount: order.total_amount,
        discount_amount: order.discount_amount,
        tax_amount: order.tax_amount,
    };
    rollups::order_paid(write, workspace, paid);
}
