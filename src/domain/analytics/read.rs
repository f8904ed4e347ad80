//! Reads the sums of the spans between bounds. Bounds are in milliseconds since the epoch, ascending, and at least two.

use std::collections::BTreeMap;

use entity::rollups::{DAY_MS, QUARTER_HOUR_MS, edges};
use entity::{activity_rollups, revenue_rollups};
use uuid::Uuid;

use super::SpanSums;
use super::plan::Plan;
use crate::Result;
use foundation::database::{BoundedConnection, BoundedTransaction};
use foundation::id::{CourseId, WorkspaceId};

/// The sums of each part of a [`Plan`], indexed by part.
struct PartSums {
    revenue: Vec<BTreeMap<String, revenue_rollups::RevenueSums>>,
    activity: Vec<activity_rollups::ActivitySums>,
}

/// Returns the sums of each span between two adjacent bounds. `now_ms` determines which enrollments have expired.
pub(super) async fn spans(
    connection: &BoundedConnection,
    workspace: WorkspaceId,
    course: Option<CourseId>,
    bounds: &[i64],
    now_ms: i64,
) -> Result<Vec<SpanSums>> {
    let (workspace, course) = (workspace.uuid(), course.map(CourseId::uuid));
    let plan = Plan::new(bounds);
    let snapshot = connection.snapshot().await?;
    let parts = read_parts(&snapshot, workspace, course, &plan, bounds[0]).await?;
    let expired = count_expired(&snapshot, workspace, course, bounds, now_ms).await?;
    snapshot.rollback().await?;
    let mut running_total = parts.activity[plan.before_first_bound()];
    running_total += parts.activity[plan.midnight_to(0)];
    let spans = (0..bounds.len() - 1).map(|span| {
        let sums = span_sums(&plan, &parts, span);
        running_total += sums.activity;
        SpanSums {
            students_total: running_total.students_new,
            enrollments_active: running_total.enrollments_active - expired[span],
            ..sums
        }
    });
    Ok(spans.collect())
}

/// Returns the sums of one span: its days, plus the part of its end, minus the part of its start.
fn span_sums(plan: &Plan, parts: &PartSums, span: usize) -> SpanSums {
    let mut revenue = parts.revenue[plan.days_of(span)].clone();
    let mut activity = parts.activity[plan.days_of(span)];
    for (currency, sums) in &parts.revenue[plan.midnight_to(span + 1)] {
        *revenue.entry(currency.clone()).or_default() += *sums;
    }
    for (currency, sums) in &parts.revenue[plan.midnight_to(span)] {
        *revenue.entry(currency.clone()).or_default() += -*sums;
    }
    activity += parts.activity[plan.midnight_to(span + 1)];
    activity += -parts.activity[plan.midnight_to(span)];
    SpanSums { revenue, activity, ..SpanSums::default() }
}

/// Reads all parts of the plan.
async fn read_parts(
    connection: &BoundedTransaction,
    workspace: Uuid,
    course: Option<Uuid>,
    plan: &Plan,
    first_bound: i64,
) -> Result<PartSums> {
    let mut parts = PartSums {
        revenue: vec![BTreeMap::new(); plan.part_count()],
        activity: vec![activity_rollups::ActivitySums::default(); plan.part_count()],
    };
    for (part, currency, sums) in
        revenue_rollups::sums_of(connection, workspace, course, &plan.ranges).await?
    {
        *parts.revenue[part].entry(currency).or_default() += sums;
    }
    let mut ranges = plan.ranges.clone();
    ranges.push(plan.days_before(first_bound));
    for (part, sums) in activity_rollups::sums_of(connection, workspace, course, &ranges).await? {
        parts.activity[part] += sums;
    }
    for &(part, from_ms, to_ms) in &plan.edges {
        for (currency, sums) in edges::revenue(connection, workspace, course, (from_ms, to_ms)).await? {
            *parts.revenue[part].entry(currency).or_default() += sums;
        }
        parts.activity[part] += edges::activity(connection, workspace, course, (from_ms, to_ms)).await?;
    }
    Ok(parts)
}

/// Returns for each span the number of enrollments that were created before its end and have expired while their stored status
/// is still active.
async fn count_expired(
    connection: &BoundedTransaction,
    workspace: Uuid,
    course: Option<Uuid>,
    bounds: &[i64],
    now_ms: i64,
) -> Result<Vec<i64>> {
    let (Some(&to_ms), inner) = (bounds.last(), &bounds[1..bounds.len() - 1]) else { return Ok(Vec::new()) };
    // The query counts by time steps. The step must not contain an inner bound, so it is the longest of these lengths
    // of which every inner bound is a multiple. Without inner bounds, a step of 2^52 ms contains all times. The query
    // ends at the last bound.
    let step_ms = [1 << 52, DAY_MS, QUARTER_HOUR_MS, 1]
        .into_iter()
        .find(|step| inner.iter().all(|bound| bound.rem_euclid(*step) == 0))
        .unwrap_or(1);
    let steps = edges::expired(connection, workspace, course, now_ms, to_ms, step_ms).await?;
    let mut counts = vec![0; bounds.len() - 1];
    for (start_ms, count) in steps {
        let span = bounds[1..].partition_point(|bound| *bound <= start_ms).min(counts.len() - 1);
        counts[span] += count;
    }
    for span in 1..counts.len() {
        counts[span] += counts[span - 1];
    }
    Ok(counts)
}
