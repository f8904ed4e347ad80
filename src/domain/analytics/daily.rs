//! Daily figures for a chart: one point per day, with the completions of that day.

use entity::enrollments;
use entity::rollups::{DAY_MS, QUARTER_HOUR_MS};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::intervals::last_days;
use super::{AnalyticsQuery, Interval, Revenue, summarize};
use crate::app::App;
use crate::{Error, Result};
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;

/// Maximum number of days.
const MAX_DAYS: i64 = 365;

/// The figures of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayFigures {
    /// The start of the day in the time zone.
    pub starts_at: Timestamp,
    /// Revenue by currency, in minor units. Only currencies with an order or a refund.
    pub revenue: Vec<Revenue>,
    /// Number of students created.
    pub students_new: i64,
    /// Number of enrollments that were completed on this day and still have every lesson completed, including those
    /// that were revoked since.
    pub completions: i64,
}

/// Returns the figures of a workspace for the last `days` days including today, oldest first. `zone` is an IANA time zone.
///
/// # Errors
/// Returns [`Error::Invalid`] if `days` is not between 1 and 365.
pub async fn daily_figures(
    app: &App,
    workspace: WorkspaceId,
    days: i64,
    zone: &TimeZone,
) -> Result<Vec<DayFigures>> {
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(Error::invalid("days", format!("must be from 1 to {MAX_DAYS}")));
    }
    let bounds = last_days(app.clock.now(), days, zone)?;
    let (Some(&start_ms), Some(&end_ms)) = (bounds.first(), bounds.last()) else { return Ok(Vec::new()) };
    let query = AnalyticsQuery {
        from: Some(from_ms(start_ms)),
        to: Some(from_ms(end_ms)),
        timezone: zone.iana_name().map(str::to_owned),
        course: None,
        interval: Some(Interval::Day),
    };
    let series = summarize(app, workspace, query).await?.series;
    let mut figures: Vec<DayFigures> = series
        .into_iter()
        .map(|point| DayFigures {
            starts_at: point.starts_at,
            revenue: point.figures.revenue,
            students_new: point.figures.students_new,
            completions: 0,
        })
        .collect();
    // The days of every time zone start at a multiple of a quarter-hour, those of UTC at a multiple of a day.
    let step = if *zone == TimeZone::UTC { DAY_MS } else { QUARTER_HOUR_MS };
    let rows = enrollments::in_workspace(workspace.uuid());
    let span = (start_ms, end_ms);
    for (at, count) in rows.count_completed_in(app.db.read(), span, step).await? {
        let started_days = figures.partition_point(|day| day.starts_at.as_millisecond() <= at);
        if let Some(day) = started_days.checked_sub(1).and_then(|index| figures.get_mut(index)) {
            day.completions += count;
        }
    }
    Ok(figures)
}
