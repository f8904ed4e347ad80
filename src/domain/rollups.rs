//! What a change adds to the sums that analytics read.
//!
//! Every write that makes, changes or removes a row counted by `getAnalyticsSummary` records it here, in the same
//! transaction; the additions are collected in the [`Write`] and written as its last statements. The rules of the
//! contract on what counts where stand here and nowhere else; no SQL does.
//!
//! | change | recorded with |
//! |---|---|
//! | an order is paid | [`order_paid`] |
//! | a refund is made, whole or partial | [`refunded`] |
//! | a student is created, by the API or a change | [`student_created`] |
//! | a student is deleted | [`enrollment`] with `after: None` for each enrolment, then [`student_deleted`] |
//! | an enrolment is made | [`enrollment`] with `before: None` |
//! | an enrolment changes: progress, completion, revoked, active again, its course's lessons | [`enrollment`] with both |
//! | a certificate is issued | [`certificate_issued`] |
//!
//! Expiry is not recorded: no write happens when `expires_at` passes, and the reader subtracts it.
//!
//! On PostgreSQL writers that run together add to different shards of a sum; [`fold`] brings those of old days together.

use std::collections::BTreeSet;

use entity::rollups::{ALL_COURSES, DAY_MS, Grain};
use entity::{activity_rollups, revenue_rollups};
use jiff::Timestamp;
use uuid::Uuid;

use super::Result;
use crate::app::App;
use foundation::database::Write;
use foundation::id::{CourseId, WorkspaceId};

/// Rows of each of the two tables that one transaction folds at most.
const FOLDED: u32 = 2_000;
/// Transactions of one call at most.
const FOLDS: u32 = 4;

/// What an order adds when it is paid.
#[derive(Debug, Clone, Copy)]
pub struct PaidOrder<'a> {
    /// The courses of its items; doubles count once.
    pub courses: &'a [CourseId],
    /// When it was paid.
    pub paid_at: Timestamp,
    /// ISO 4217.
    pub currency: &'a str,
    /// `total_amount`, in minor units: what the customer paid.
    pub total_amount: i64,
    /// `discount_amount`.
    pub discount_amount: i64,
    /// `tax_amount`.
    pub tax_amount: i64,
}

/// Counts a paid order at its `paid_at`, and with its whole amount for each course that it holds.
pub fn order_paid(write: &mut Write, workspace: WorkspaceId, order: PaidOrder<'_>) {
    let sums = revenue_rollups::Sums {
        orders: 1,
        gross_amount: order.total_amount,
        discount_amount: order.discount_amount,
        tax_amount: order.tax_amount,
        ..revenue_rollups::Sums::default()
    };
    let at_ms = order.paid_at.as_millisecond();
    add_revenue(write, workspace, order.courses, at_ms, order.currency, sums);
}

/// Counts a refund at its own `created_at`; `courses` are those of the order's items.
pub fn refunded(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[CourseId],
    created_at: Timestamp,
    currency: &str,
    amount: i64,
) {
    let sums =
        revenue_rollups::Sums { refunds: 1, refunded_amount: amount, ..revenue_rollups::Sums::default() };
    add_revenue(write, workspace, courses, created_at.as_millisecond(), currency, sums);
}

/// Counts a student at its `created_at`.
pub fn student_created(write: &mut Write, workspace: WorkspaceId, created_at: Timestamp) {
    let sums = activity_rollups::Sums { students_new: 1, ..activity_rollups::Sums::default() };
    add_activity(write, workspace, &[ALL_COURSES], created_at, sums);
}

/// Takes a deleted student back out of the count. Its enrolments go by [`enrollment`].
pub fn student_deleted(write: &mut Write, workspace: WorkspaceId, created_at: Timestamp) {
    let sums = activity_rollups::Sums { students_new: -1, ..activity_rollups::Sums::default() };
    add_activity(write, workspace, &[ALL_COURSES], created_at, sums);
}

/// What is counted of one enrolment, as it stands at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnrollmentFacts {
    /// Its course.
    pub course: CourseId,
    /// `created_at` of its student: the students of a course are counted there.
    pub student_created_at: Timestamp,
    /// Its own `created_at`, which stays when it is revoked and made active again.
    pub created_at: Timestamp,
    /// The stored status is active, whether or not `expires_at` has passed.
    pub active: bool,
    /// When it was revoked, if the stored status is revoked; `None` for any other status.
    pub revoked_at: Option<Timestamp>,
    /// Lessons done.
    pub completed_lessons: i32,
    /// Lessons of the course.
    pub total_lessons: i32,
}

/// Counts what became of an enrolment: `before` is `None` for a new one, `after` for one that is deleted.
///
/// Call it once per change with the row as it was and as it is; what stayed the same cancels out.
pub fn enrollment(
    write: &mut Write,
    workspace: WorkspaceId,
    before: Option<EnrollmentFacts>,
    after: Option<EnrollmentFacts>,
) {
    if before == after {
        return;
    }
    for (facts, sign) in [(before, -1), (after, 1)] {
        if let Some(facts) = facts {
            count_enrollment(write, workspace, facts, sign);
        }
    }
}

/// Adds (or with `sign` -1 takes away) everything one enrolment counts for.
fn count_enrollment(write: &mut Write, workspace: WorkspaceId, facts: EnrollmentFacts, sign: i64) {
    let course = facts.course.uuid();
    let percent = percent_complete(facts.completed_lessons, facts.total_lessons);
    let created = activity_rollups::Sums {
        enrollments_created: sign,
        enrollments_active: if facts.active { sign } else { 0 },
        cohort_completed: if percent == 100 { sign } else { 0 },
        cohort_percent_sum: sign * i64::from(percent),
        ..activity_rollups::Sums::default()
    };
    add_activity(write, workspace, &[ALL_COURSES, course], facts.created_at, created);
    let student = activity_rollups::Sums { students_new: sign, ..activity_rollups::Sums::default() };
    add_activity(write, workspace, &[course], facts.student_created_at, student);
    if let Some(revoked_at) = facts.revoked_at {
        let revoked =
            activity_rollups::Sums { enrollments_revoked: sign, ..activity_rollups::Sums::default() };
        add_activity(write, workspace, &[ALL_COURSES, course], revoked_at, revoked);
    }
}

/// Counts a certificate at its `issued_at`. Certificates stay when their student is deleted.
pub fn certificate_issued(write: &mut Write, workspace: WorkspaceId, course: CourseId, issued_at: Timestamp) {
    let sums = activity_rollups::Sums { certificates_issued: 1, ..activity_rollups::Sums::default() };
    add_activity(write, workspace, &[ALL_COURSES, course.uuid()], issued_at, sums);
}

/// Brings the shards of days that ended a day ago or earlier into one, and those of their quarter-hours, so that as many rows are
/// read of a year whether one wrote at a time or many did. A few batches, so that it is soon done: says how many rows went, none
/// once all have.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails; what was brought together stays.
pub async fn fold(app: &App) -> Result<u64> {
    let mut folded = 0;
    if !app.db.is_sharded() {
        return Ok(folded);
    }
    for _ in 0..FOLDS {
        let mut most = 0;
        for grain in Grain::ALL {
            for is_revenue in [true, false] {
                let moved = fold_some(app, grain, is_revenue).await?;
                folded += moved;
                most = most.max(moved);
            }
        }
        if most < u64::from(FOLDED) {
            break;
        }
    }
    Ok(folded)
}

async fn fold_some(app: &App, grain: Grain, is_revenue: bool) -> Result<u64> {
    let write = app.begin_write().await?;
    let before = Grain::Day.floor(write.now_ms()) - DAY_MS;
    let moved = match is_revenue {
        true => revenue_rollups::fold(write.conn(), grain, before, FOLDED).await?,
        false => activity_rollups::fold(write.conn(), grain, before, FOLDED).await?,
    };
    write.commit().await?;
    Ok(moved)
}

/// The share of lessons that are done, 0 to 100, rounded down: 100 only when every lesson is done, and 0 of a
/// course without lessons.
pub fn percent_complete(completed_lessons: i32, total_lessons: i32) -> i32 {
    if total_lessons <= 0 {
        return 0;
    }
    let percent = i64::from(completed_lessons.max(0)) * 100 / i64::from(total_lessons);
    i32::try_from(percent.min(100)).unwrap_or(100)
}

/// Adds revenue once over all courses, and once for each of the courses, doubles counting once.
fn add_revenue(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[CourseId],
    at_ms: i64,
    currency: &str,
    sums: revenue_rollups::Sums,
) {
    let courses: BTreeSet<Uuid> =
        courses.iter().map(|course| course.uuid()).chain(std::iter::once(ALL_COURSES)).collect();
    for course_id in courses {
        for grain in Grain::ALL {
            let bucket = revenue_rollups::Bucket {
                workspace_id: workspace.uuid(),
                course_id,
                grain,
                starts_at: grain.floor(at_ms),
                currency: currency.to_owned(),
            };
            write.add_revenue(bucket, sums);
        }
    }
}

/// Adds activity for each of the courses.
fn add_activity(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[Uuid],
    at: Timestamp,
    sums: activity_rollups::Sums,
) {
    for &course_id in courses {
        for grain in Grain::ALL {
            let starts_at = grain.floor(at.as_millisecond());
            let bucket =
                activity_rollups::Bucket { workspace_id: workspace.uuid(), course_id, grain, starts_at };
            write.add_activity(bucket, sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_lessons_are_a_hundred_percent() {
        assert_eq!(percent_complete(199, 200), 99);
        assert_eq!(percent_complete(200, 200), 100);
        assert_eq!(percent_complete(0, 0), 0);
    }
}
