//! Rollups: the sums per day and per quarter-hour that analytics reads, and what each write adds to them.
//!
//! A write that creates, changes or deletes a row that `getAnalyticsSummary` counts must call a function of this module
//! in the same transaction. [`Write`] collects the changes of the sums and writes them as its last statements. The
//! contract's rules on what counts where are implemented here only, not in SQL.
//!
//! | event | function |
//! |---|---|
//! | an order is paid | [`count_paid_order`] |
//! | a refund is created, full or partial | [`count_refund`] |
//! | a student is created, through the API or the change feed | [`count_created_student`] |
//! | a student is deleted | [`count_enrollment`] with `after: None` for each enrollment, then [`count_deleted_student`] |
//! | an enrollment is created | [`count_enrollment`] with `before: None` |
//! | an enrollment changes: progress, completion, revocation, reactivation, lessons of the course | [`count_enrollment`] with `before` and `after` |
//! | a certificate is issued | [`count_certificate`] |
//!
//! Expiry is not recorded, because no write happens when `expires_at` passes. The reader subtracts expired enrollments.
//!
//! On PostgreSQL, a sum consists of several rows (shards). Concurrent writers add to different shards, so that they do
//! not wait for each other. [`merge_shards`] merges the shards of past days.

use std::collections::BTreeSet;

use entity::rollups::{ALL_COURSES, DAY_MS, Grain};
use entity::{activity_rollups, revenue_rollups};
use jiff::Timestamp;
use uuid::Uuid;

use super::Result;
use crate::app::App;
use foundation::database::Write;
use foundation::id::{CourseId, WorkspaceId};

/// Maximum number of rows that one transaction merges.
const MERGE_ROWS: u32 = 2_000;
/// Maximum number of passes over all tables and grains per call of [`merge_shards`].
const MERGE_PASSES: u32 = 4;

/// The amounts that a paid order adds.
#[derive(Debug, Clone, Copy)]
pub struct PaidOrder<'a> {
    /// The courses of its items. Duplicates count once.
    pub courses: &'a [CourseId],
    /// The payment time.
    pub paid_at: Timestamp,
    /// ISO 4217 code of the amounts.
    pub currency: &'a str,
    /// The amount paid by the customer, in minor units.
    pub total_amount: i64,
    /// The discount, in minor units.
    pub discount_amount: i64,
    /// The tax, in minor units.
    pub tax_amount: i64,
}

/// Counts a paid order at its `paid_at`: once for all courses together, and with the full amounts for each of its
/// courses.
pub fn count_paid_order(write: &mut Write, workspace: WorkspaceId, order: PaidOrder<'_>) {
    let sums = revenue_rollups::RevenueSums {
        orders: 1,
        gross_amount: order.total_amount,
        discount_amount: order.discount_amount,
        tax_amount: order.tax_amount,
        ..revenue_rollups::RevenueSums::default()
    };
    let at_ms = order.paid_at.as_millisecond();
    add_revenue(write, workspace, order.courses, at_ms, order.currency, sums);
}

/// Counts a refund at its own `created_at`. `courses` are the courses of the order's items, `amount` is in minor units.
pub fn count_refund(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[CourseId],
    created_at: Timestamp,
    currency: &str,
    amount: i64,
) {
    let sums = revenue_rollups::RevenueSums {
        refunds: 1,
        refunded_amount: amount,
        ..revenue_rollups::RevenueSums::default()
    };
    add_revenue(write, workspace, courses, created_at.as_millisecond(), currency, sums);
}

/// Counts a student at its `created_at`.
pub fn count_created_student(write: &mut Write, workspace: WorkspaceId, created_at: Timestamp) {
    let sums =
        activity_rollups::ActivitySums { students_new: 1, ..activity_rollups::ActivitySums::default() };
    add_activity(write, workspace, &[ALL_COURSES], created_at, sums);
}

/// Removes a deleted student from the count at its `created_at`. Its enrollments are removed with [`count_enrollment`].
pub fn count_deleted_student(write: &mut Write, workspace: WorkspaceId, created_at: Timestamp) {
    let sums =
        activity_rollups::ActivitySums { students_new: -1, ..activity_rollups::ActivitySums::default() };
    add_activity(write, workspace, &[ALL_COURSES], created_at, sums);
}

/// The properties of an enrollment that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedEnrollment {
    /// The course.
    pub course: CourseId,
    /// `created_at` of the student. The students of a course are counted at this time.
    pub student_created_at: Timestamp,
    /// `created_at` of the enrollment, which a reactivation does not change.
    pub created_at: Timestamp,
    /// Whether the stored status is active. It remains active after `expires_at`.
    pub active: bool,
    /// The time of the revocation if the stored status is revoked.
    pub revoked_at: Option<Timestamp>,
    /// Number of lessons completed.
    pub completed_lessons: i32,
    /// Number of lessons of the course.
    pub total_lessons: i32,
}

/// Counts the change of an enrollment. `before` is `None` for a new enrollment, and `after` for a deleted one.
///
/// Call this once per change, with the row before and after. Unchanged properties cancel out.
pub fn count_enrollment(
    write: &mut Write,
    workspace: WorkspaceId,
    before: Option<CountedEnrollment>,
    after: Option<CountedEnrollment>,
) {
    if before == after {
        return;
    }
    for (counted, sign) in [(before, -1), (after, 1)] {
        if let Some(counted) = counted {
            add_enrollment(write, workspace, counted, sign);
        }
    }
}

/// Adds the counts of one enrollment, or subtracts them with `sign` -1.
fn add_enrollment(write: &mut Write, workspace: WorkspaceId, counted: CountedEnrollment, sign: i64) {
    let course = counted.course.uuid();
    let percent = percent_complete(counted.completed_lessons, counted.total_lessons);
    let created = activity_rollups::ActivitySums {
        enrollments_created: sign,
        enrollments_active: if counted.active { sign } else { 0 },
        cohort_completed: if percent == 100 { sign } else { 0 },
        cohort_percent_sum: sign * i64::from(percent),
        ..activity_rollups::ActivitySums::default()
    };
    add_activity(write, workspace, &[ALL_COURSES, course], counted.created_at, created);
    let student =
        activity_rollups::ActivitySums { students_new: sign, ..activity_rollups::ActivitySums::default() };
    add_activity(write, workspace, &[course], counted.student_created_at, student);
    if let Some(revoked_at) = counted.revoked_at {
        let revoked = activity_rollups::ActivitySums {
            enrollments_revoked: sign,
            ..activity_rollups::ActivitySums::default()
        };
        add_activity(write, workspace, &[ALL_COURSES, course], revoked_at, revoked);
    }
}

/// Counts a certificate at its `issued_at`. Certificates still count after their student was deleted.
pub fn count_certificate(write: &mut Write, workspace: WorkspaceId, course: CourseId, issued_at: Timestamp) {
    let sums = activity_rollups::ActivitySums {
        certificates_issued: 1,
        ..activity_rollups::ActivitySums::default()
    };
    add_activity(write, workspace, &[ALL_COURSES, course.uuid()], issued_at, sums);
}

/// Merges the shards of days that ended at least one day ago, and of their quarter-hours, so that a query of a year reads the
/// same number of rows after concurrent writes as after sequential ones.
///
/// The number of passes is limited, so that the call returns soon. Returns the number of rows merged into others. Does
/// nothing on SQLite, whose sums are not sharded.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails. Batches that are committed stay merged.
pub async fn merge_shards(app: &App) -> Result<u64> {
    let mut merged = 0;
    if !app.db.is_sharded() {
        return Ok(merged);
    }
    for _ in 0..MERGE_PASSES {
        let mut largest_batch = 0;
        for grain in Grain::ALL {
            for is_revenue in [true, false] {
                let batch = merge_batch(app, grain, is_revenue).await?;
                merged += batch;
                largest_batch = largest_batch.max(batch);
            }
        }
        if largest_batch < u64::from(MERGE_ROWS) {
            break;
        }
    }
    Ok(merged)
}

/// Merges one batch of the revenue rollups, or of the activity rollups if `is_revenue` is false, in its own
/// transaction. Returns the number of rows merged into others.
async fn merge_batch(app: &App, grain: Grain, is_revenue: bool) -> Result<u64> {
    let write = app.begin_write().await?;
    let before_ms = Grain::Day.floor(write.now_ms()) - DAY_MS;
    let merged = match is_revenue {
        true => revenue_rollups::merge_shards(write.conn(), grain, before_ms, MERGE_ROWS).await?,
        false => activity_rollups::merge_shards(write.conn(), grain, before_ms, MERGE_ROWS).await?,
    };
    write.commit().await?;
    Ok(merged)
}

/// Returns the percentage of lessons completed, 0 to 100, rounded down: 100 only if every lesson is completed, 0 for a course
/// without lessons.
pub fn percent_complete(completed_lessons: i32, total_lessons: i32) -> i32 {
    if total_lessons <= 0 {
        return 0;
    }
    let percent = i64::from(completed_lessons.max(0)) * 100 / i64::from(total_lessons);
    i32::try_from(percent.min(100)).unwrap_or(100)
}

/// Adds revenue to the sums of all courses together, and to those of each of these courses. Duplicates count once.
fn add_revenue(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[CourseId],
    at_ms: i64,
    currency: &str,
    sums: revenue_rollups::RevenueSums,
) {
    let courses: BTreeSet<Uuid> =
        courses.iter().map(|course| course.uuid()).chain(std::iter::once(ALL_COURSES)).collect();
    for course_id in courses {
        for grain in Grain::ALL {
            let bucket = revenue_rollups::RevenueBucket {
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

/// Adds activity to the sums of each of these courses, which may include [`ALL_COURSES`].
fn add_activity(
    write: &mut Write,
    workspace: WorkspaceId,
    courses: &[Uuid],
    at: Timestamp,
    sums: activity_rollups::ActivitySums,
) {
    for &course_id in courses {
        for grain in Grain::ALL {
            let starts_at = grain.floor(at.as_millisecond());
            let bucket = activity_rollups::ActivityBucket {
                workspace_id: workspace.uuid(),
                course_id,
                grain,
                starts_at,
            };
            write.add_activity(bucket, sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_percent_means_all_lessons() {
        assert_eq!(percent_complete(199, 200), 99);
        assert_eq!(percent_complete(200, 200), 100);
        assert_eq!(percent_complete(0, 0), 0);
    }
}
