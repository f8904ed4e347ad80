//! Reads the sums of the spans between some bounds.

use std::collections::BTreeMap;

use entity::rollups::{DAY_MS, QUARTER_MS, edges};
use entity::{activity_rollups, revenue_rollups};
use sea_orm::DatabaseTransaction;
use uuid::Uuid;

use super::Sums;
use super::plan::Plan;
use crate::Result;
use crate::app::App;
use foundation::id::{CourseId, WorkspaceId};

/// What each part of a plan sums up to.
struct Parts {
    revenue: Vec<BTreeMap<String, revenue_rollups::Sums>>,
    activity: Vec<activity_rollups::Sums>,
}

/// The sums of each span between two neighbouring bounds.
pub(super) async fn spans(
    app: &App,
    workspace: WorkspaceId,
    course: Option<CourseId>,
    bounds: &[i64],
    now_ms: i64,
) -> Result<Vec<Sums>> {
    let (workspace, course) = (workspace.uuid(), course.map(CourseId::uuid));
    let plan = Plan::new(bounds);
    let snapshot = app.db.snapshot().await?;
    let parts = parts(&snapshot, workspace, course, &plan, bounds[0]).await?;
    let expired = expired(&snapshot, workspace, course, bounds, now_ms).await?;
    snapshot.rollback().await?;
    let mut reached = parts.activity[plan.before()];
    reached += parts.activity[plan.midnight_to(0)];
    let spans = (0..bounds.len() - 1).map(|span| {
        let sums = between(&plan, &parts, span);
        reached += sums.activity;
        Sums {
            students_total: reached.students_new,
            enrollments_active: reached.enrollments_active - expired[span],
            ..sums
        }
    });
    Ok(spans.collect())
}

/// One span: its days, plus what its last day has before the end, less what its first has before the start.
fn between(plan: &Plan, parts: &Parts, span: usize) -> Sums {
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
    Sums { revenue, activity, ..Sums::default() }
}

/// Reads every part of the plan.
async fn parts(
    connection: &DatabaseTransaction,
    workspace: Uuid,
    course: Option<Uuid>,
    plan: &Plan,
    first: i64,
) -> Result<Parts> {
    let mut parts = Parts {
        revenue: vec![BTreeMap::new(); plan.parts()],
        activity: vec![activity_rollups::Sums::default(); plan.parts()],
    };
    for (part, currency, sums) in
        revenue_rollups::sums_of(connection, workspace, course, &plan.pieces).await?
    {
        *parts.revenue[part].entry(currency).or_default() += sums;
    }
    let mut pieces = plan.pieces.clone();
    pieces.push(plan.beginning(first));
    for (part, sums) in activity_rollups::sums_of(connection, workspace, course, &pieces).await? {
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

/// For each span, how many enrolments created before its end are over though their status says active.
async fn expired(
    connection: &DatabaseTransaction,
    workspace: Uuid,
    course: Option<Uuid>,
    bounds: &[i64],
    now_ms: i64,
) -> Result<Vec<i64>> {
    let (Some(&to_ms), inner) = (bounds.last(), &bounds[1..bounds.len() - 1]) else { return Ok(Vec::new()) };
    // The longest step at which every inner bound is one; the last bound is held by the statement itself.
    let step_ms = [1 << 52, DAY_MS, QUARTER_MS, 1]
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
