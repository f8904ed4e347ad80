//! Money given back, and what a full refund takes away.

use entity::{Set, courses, enrollments as pairs, entitlements, order_items, orders, refunds, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::enrollments::{self, EnrollmentSnapshot};
use super::super::faults::Faults;
use super::super::find::{self, absent, fresh, id};
use super::super::{Error, Result, rollups};
use super::row::{assemble, refund as record, status, stored_status};
use super::{OrderRefund, Refunded};
use crate::app::App;
use crate::outbox::{self, Event, OrderRefunded};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Order as OrderKind, Refund as RefundKind, WorkspaceId};

/// Gives money back; emits `order.refunded`. A full refund also revokes what the order gave, and then emits
/// `enrollment.revoked` for each enrolment that ends.
///
/// An enrollment that another order of the student still entitles to stays active and counts as that order's; one that was
/// granted as well stays active until the end of the grant.
///
/// # Errors
/// [`Error::NotFound`] for an absent order, [`Error::Invalid`] on `amount` for more than is left and on `order` for one
/// that was paid after the refund's time.
pub async fn refund(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    refund: OrderRefund,
) -> Result<Refunded> {
    let mut faults = Faults::default();
    faults.prose("reason", refund.reason.as_ref(), 1000);
    faults.check()?;
    let (before, student) = hold(write, workspace, &refund).await?;
    let (amount, refunded_before) = (amount(&before, refund.amount)?, before.refunded_amount);
    if at.as_millisecond() < before.paid_at {
        let message = format!("names an order that was paid only later, at {}", from_ms(before.paid_at));
        return Err(Error::invalid("order", message));
    }
    let row = refunds::Model {
        id: fresh::<RefundKind>(app, write),
        workspace_id: workspace.uuid(),
        order_id: before.id,
        amount,
        reason: refund.reason,
        created_at: at.as_millisecond(),
    };
    refunds::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    let order = settle(write, workspace, before, amount).await?;
    count(write, workspace, at, &order, amount).await?;
    let ended = match order.status {
        orders::Status::Refunded => take_back(write, workspace, at, &order, student.as_ref()).await?,
        orders::Status::Paid | orders::Status::PartiallyRefunded => Vec::new(),
    };
    for order in assemble(write.conn(), workspace, vec![order], at.as_millisecond()).await? {
        let refunded = OrderRefunded { order, refund: record(&row) };
        outbox::append(app, write, workspace, at, Event::OrderRefunded(refunded)).await?;
    }
    for snapshot in ended {
        outbox::append(app, write, workspace, at, Event::EnrollmentRevoked(snapshot)).await?;
    }
    Ok(Refunded { id: id(row.id), amount, refunded_before })
}

/// The order and its student, both held: the student first, as every writer does.
async fn hold(
    write: &Write,
    workspace: WorkspaceId,
    refund: &OrderRefund,
) -> Result<(orders::Model, Option<students::Model>)> {
    let rows = orders::in_workspace(workspace.uuid());
    let seen = find::read::<OrderKind, _>(write.conn(), rows, &refund.order).await?;
    let student = match seen.student_id {
        Some(student) => students::in_workspace(workspace.uuid()).lock(write.conn(), student).await?,
        None => None,
    };
    let order = rows.lock(write.conn(), seen.id).await?.ok_or_else(|| absent::<OrderKind>(&refund.order))?;
    Ok((order, student))
}

/// What is given back: what was asked for, if so much is left, or all that is left.
fn amount(order: &orders::Model, asked: Option<i64>) -> Result<i64> {
    let left = order.total_amount - order.refunded_amount;
    if order.status == orders::Status::Refunded {
        return Err(Error::invalid("order", "names an order that is refunded already"));
    }
    let amount = asked.unwrap_or(left);
    if amount > left {
        let message = format!("must be at most {left}, which is what is left of the order");
        return Err(Error::invalid("amount", message));
    }
    if amount < left.min(1) {
        return Err(Error::invalid("amount", "must be at least 1"));
    }
    Ok(amount)
}

/// Writes the order with this much more given back.
async fn settle(
    write: &Write,
    workspace: WorkspaceId,
    mut order: orders::Model,
    amount: i64,
) -> Result<orders::Model> {
    order.refunded_amount += amount;
    order.status = stored_status(status(order.total_amount, order.refunded_amount, true));
    order.updated_at = write.now_ms();
    let changes = orders::ActiveModel {
        refunded_amount: Set(order.refunded_amount),
        status: Set(order.status),
        updated_at: Set(order.updated_at),
        ..Default::default()
    };
    orders::in_workspace(workspace.uuid()).update(write.conn(), order.id, changes).await?;
    Ok(order)
}

async fn count(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    amount: i64,
) -> Result<()> {
    let items = order_items::in_workspace(workspace.uuid()).of_orders(write.conn(), &[order.id]).await?;
    let courses: Vec<_> = items.iter().map(|item| id(item.course_id)).collect();
    rollups::refunded(write, workspace, &courses, at, &order.currency, amount);
    Ok(())
}

/// Revokes the order's entitlements and the enrolments that it gave; those come out, to be announced.
async fn take_back(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    order: &orders::Model,
    student: Option<&students::Model>,
) -> Result<Vec<EnrollmentSnapshot>> {
    let rights = entitlements::in_workspace(workspace.uuid());
    for right in rights.of_orders(write.conn(), &[order.id]).await? {
        if right.status == entitlements::Status::Active {
            rights.revoke(write.conn(), right.id, at.as_millisecond()).await?;
        }
    }
    // Without the student, the enrolments are gone already.
    let Some(student) = student else { return Ok(Vec::new()) };
    let rows = pairs::in_workspace(workspace.uuid());
    let given: Vec<Uuid> =
        rows.of_orders(write.conn(), &[order.id]).await?.iter().map(|row| row.id).collect();
    let given = rows.lock_many(write.conn(), &given).await?;
    let courses: Vec<Uuid> = given.iter().map(|row| row.course_id).collect();
    let courses = courses::in_workspace(workspace.uuid()).by_ids(write.conn(), &courses).await?;
    let mut ended = Vec::new();
    for row in given {
        if row.status == pairs::Status::Revoked {
            continue;
        }
        if let Some(other) = other_right(write, workspace, order.id, row.id).await? {
            enrollments::hand_over(write, workspace, student, &row, other).await?;
            continue;
        }
        if enrollments::fall_back_to_grants(write, workspace, at, student, &row).await? {
            continue;
        }
        let reason = Some(format!("order {} was refunded", order.number));
        let revoked = enrollments::take_away(write, workspace, at, student, &row, reason).await?;
        let course = courses.iter().find(|course| course.id == row.course_id);
        if let Some((revoked, course)) = revoked.zip(course) {
            ended.push(enrollments::snapshot(&revoked, student, course, at));
        }
    }
    Ok(ended)
}

/// Another order that still entitles to this enrolment.
async fn other_right(
    write: &Write,
    workspace: WorkspaceId,
    order: Uuid,
    enrollment: Uuid,
) -> Result<Option<Uuid>> {
    let rights = entitlements::in_workspace(workspace.uuid());
    let rights = rights.of_enrollments(write.conn(), &[enrollment]).await?;
    let other = |right: &&entitlements::Model| {
        right.order_id != order && right.status == entitlements::Status::Active
    };
    Ok(rights.iter().filter(other).max_by_key(|right| right.granted_at).map(|right| right.order_id))
}
