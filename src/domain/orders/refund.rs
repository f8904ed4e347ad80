//! Refunds orders, and revokes access after a full refund.

use entity::{
    Set, courses, enrollments as enrollment_rows, entitlements, order_items, orders, refunds, students,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::enrollments::{self, EnrollmentSnapshot};
use super::super::field_errors::FieldErrors;
use super::super::records::{self, id, new_uuid, not_found};
use super::super::{Error, Result, rollups};
use super::row::{refund as to_refund, status, stored_status, with_details};
use super::{CreatedRefund, OrderRefund};
use crate::app::App;
use crate::outbox::{self, Event, OrderRefunded};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Order as OrderIdKind, Refund as RefundIdKind, WorkspaceId};

/// Refunds an order. Emits `order.refunded`. A full refund also revokes the entitlements of the order and the access
/// that they give, and then emits `enrollment.revoked` for each enrollment that was revoked.
///
/// An enrollment that another order of the student pays for keeps access and is assigned to that order. An enrollment
/// that was also granted keeps access until the grant ends.
///
/// # Errors
/// Returns [`Error::NotFound`] if the order does not exist. Returns [`Error::Invalid`] on `order` if it is already
/// fully refunded or was paid later than `at`, on `amount` if it is less than 1 or more than the remaining amount, and
/// on `reason` if it is too long.
pub async fn refund(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    refund: OrderRefund,
) -> Result<CreatedRefund> {
    let mut errors = FieldErrors::default();
    errors.check_text("reason", refund.reason.as_ref(), 1000);
    errors.into_result()?;
    let (before, student) = lock_order(write, workspace, &refund).await?;
    let (amount, refunded_before) = (refund_amount(&before, refund.amount)?, before.refunded_amount);
    if at.as_millisecond() < before.paid_at {
        let message = format!("was paid after the refund, at {}", from_ms(before.paid_at));
        return Err(Error::invalid("order", message));
    }
    let row = refunds::Model {
        id: new_uuid::<RefundIdKind>(app, write),
        workspace_id: workspace.uuid(),
        order_id: before.id,
        amount,
        reason: refund.reason,
        created_at: at.as_millisecond(),
    };
    refunds::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    let order = save_refunded_amount(write, workspace, before, amount).await?;
    count_refund(write, workspace, at, &order, amount).await?;
    let revoked_enrollments = match order.status {
        orders::StoredOrderStatus::Refunded => {
            revoke_order_access(write, workspace, at, &order, student.as_ref()).await?
        }
        orders::StoredOrderStatus::Paid | orders::StoredOrderStatus::PartiallyRefunded => Vec::new(),
    };
    for order in with_details(write.conn(), workspace, vec![order], at.as_millisecond()).await? {
        let refunded = OrderRefunded { order, refund: to_refund(&row) };
        outbox::append(app, write, workspace, at, Event::OrderRefunded(refunded)).await?;
    }
    for snapshot in revoked_enrollments {
        outbox::append(app, write, workspace, at, Event::EnrollmentRevoked(snapshot)).await?;
    }
    Ok(CreatedRefund { id: id(row.id), amount, refunded_before })
}

/// Locks the student of the order, then the order, as the lock order requires. The student is `None` if deleted.
async fn lock_order(
    write: &Write,
    workspace: WorkspaceId,
    refund: &OrderRefund,
) -> Result<(orders::Model, Option<students::Model>)> {
    let rows = orders::in_workspace(workspace.uuid());
    let unlocked = records::read::<OrderIdKind, _>(write.conn(), rows, &refund.order).await?;
    let student = match unlocked.student_id {
        Some(student) => students::in_workspace(workspace.uuid()).lock(write.conn(), student).await?,
        None => None,
    };
    let order =
        rows.lock(write.conn(), unlocked.id).await?.ok_or_else(|| not_found::<OrderIdKind>(&refund.order))?;
    Ok((order, student))
}

/// Returns the amount to refund: the requested amount, or the remaining amount of the order if `requested` is `None`.
/// Rejects an order that is fully refunded, and a requested amount below 1 or above the remaining one. An order with
/// the total 0 can be refunded once, with the amount 0.
fn refund_amount(order: &orders::Model, requested: Option<i64>) -> Result<i64> {
    let remaining = order.total_amount - order.refunded_amount;
    if order.status == orders::StoredOrderStatus::Refunded {
        return Err(Error::invalid("order", "is already fully refunded"));
    }
    let amount = requested.unwrap_or(remaining);
    if amount > remaining {
        let message = format!("must be at most {remaining}, the remaining amount of the order");
        return Err(Error::invalid("amount", message));
    }
    if amount < remaining.min(1) {
        return Err(Error::invalid("amount", "must be at least 1"));
    }
    Ok(amount)
}

/// Adds a refund to the order's refunded amount, and updates its status.
async fn save_refunded_amount(
    write: &Write,
    workspace: WorkspaceId,
    mut order: orders::Model,
    amount: i64,
) -> Result<orders::Model> {
    order.refunded_amount += amount;
    let has_refund = true;
    order.status = stored_status(status(order.total_amount, order.refunded_amount, has_refund));
    order.updated_at = write.recorded_ms();
    let changes = orders::ActiveModel {
        refunded_amount: Set(order.refunded_amount),
        status: Set(order.status),
        updated_at: Set(order.updated_at),
        ..Default::default()
    };
    orders::in_workspace(workspace.uuid()).update(write.conn(), order.id, changes).await?;
    Ok(order)
}

async fn count_refund(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    amount: i64,
) -> Result<()> {
    let items = order_items::in_workspace(workspace.uuid()).of_orders(write.conn(), &[order.id]).await?;
    let courses: Vec<_> = items.iter().map(|item| id(item.course_id)).collect();
    rollups::count_refund(write, workspace, &courses, at, &order.currency, amount);
    Ok(())
}

/// Revokes the entitlements of the order, and its enrollments unless another order or a grant gives access. Returns
/// snapshots of the enrollments that were revoked.
async fn revoke_order_access(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    student: Option<&students::Model>,
) -> Result<Vec<EnrollmentSnapshot>> {
    let entitlements = entitlements::in_workspace(workspace.uuid());
    for entitlement in entitlements.of_orders(write.conn(), &[order.id]).await? {
        if entitlement.status == entitlements::StoredEntitlementStatus::Active {
            entitlements.revoke(write.conn(), entitlement.id, at.as_millisecond()).await?;
        }
    }
    // A deleted student has no enrollments.
    let Some(student) = student else { return Ok(Vec::new()) };
    let rows = enrollment_rows::in_workspace(workspace.uuid());
    let order_enrollments: Vec<Uuid> =
        rows.of_orders(write.conn(), &[order.id]).await?.iter().map(|row| row.id).collect();
    let order_enrollments = rows.lock_many(write.conn(), &order_enrollments).await?;
    let courses: Vec<Uuid> = order_enrollments.iter().map(|row| row.course_id).collect();
    let courses = courses::in_workspace(workspace.uuid()).by_ids(write.conn(), &courses).await?;
    let mut revoked_enrollments = Vec::new();
    for row in order_enrollments {
        if row.status == enrollment_rows::StoredEnrollmentStatus::Revoked {
            continue;
        }
        if let Some(other_order) = other_entitled_order(write, workspace, order.id, row.id).await? {
            enrollments::assign_order(write, workspace, student, &row, other_order).await?;
            continue;
        }
        if enrollments::fall_back_to_grants(write, workspace, at, student, &row).await? {
            continue;
        }
        let reason = Some(format!("order {} was refunded", order.number));
        let revoked = enrollments::revoke_access(write, workspace, at, student, &row, reason).await?;
        let course = courses.iter().find(|course| course.id == row.course_id);
        if let Some((revoked, course)) = revoked.zip(course) {
            revoked_enrollments.push(enrollments::snapshot(&revoked, student, course, at));
        }
    }
    Ok(revoked_enrollments)
}

/// Returns the id of another order that pays for this enrollment: the one with the newest active entitlement, if any.
async fn other_entitled_order(
    write: &Write,
    workspace: WorkspaceId,
    order: Uuid,
    enrollment: Uuid,
) -> Result<Option<Uuid>> {
    let entitlements = entitlements::in_workspace(workspace.uuid());
    let entitlements = entitlements.of_enrollments(write.conn(), &[enrollment]).await?;
    let is_of_other_order = |entitlement: &&entitlements::Model| {
        entitlement.order_id != order && entitlement.status == entitlements::StoredEntitlementStatus::Active
    };
    Ok(entitlements
        .iter()
        .filter(is_of_other_order)
        .max_by_key(|entitlement| entitlement.granted_at)
        .map(|entitlement| entitlement.order_id))
}
