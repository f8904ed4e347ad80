//! Daily figures for a chart: one point per day, with the completions of that day.

use entity::enrollments;
use entity::rollups::{DAY_MS, QUARTER_HOUR_MS};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::{AnalyticsQuery, Interval, Revenue, field_error, summarize};
use crate::app::App;
use crate::{Error, Result};
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

/// Returns the figures of a workspace for the last `days` days including today, oldest first. `timezone` is an IANA
/// name; `None` means UTC.
///
/// # Errors
/// Returns [`Error::Invalid`] if `days` is not between 1 and 365, or if `timezone` is unknown.
pub async fn daily_figures(
    app: &App,
    workspace: WorkspaceId,
    days: i64,
    timezone: Option<&str>,
) -> Result<Vec<DayFigures>> {
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(Error::invalid("days", format!("must be from 1 to {MAX_DAYS}")));
    }
    let name = timezone.unwrap_or("UTC");
    let zone = TimeZone::get(name).map_err(|_| {
        let message = format!("{name:?} is not an IANA time zone, such as `Europe/Berlin`");
        Error::Invalid(vec![field_error("timezone", message)])
    })?;
    let now = app.clock.now();
    let first = now.to_zoned(zone.clone()).date().checked_sub((days - 1).days());
    let from = first.and_then(|date| date.to_zoned(zone)).and_then(|zoned| zoned.start_of_day());
    let from = from.map_err(|error| Error::Internal(error.into()))?.timestamp();
    // The end of the window is exclusive, so it is one millisecond after the current time.
    let end_ms = now.as_millisecond() + 1;
    let query = AnalyticsQuery {
        from: Some(from),
        to: Some(foundation::clock::from_ms(end_ms)),
        timezone: Some(name.to_owned()),
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
    let step = if timezone.is_none() { DAY_MS } else { QUARTER_HOUR_MS };
    let rows = enrollments::in_workspace(workspace.uuid());
    let span = (from.as_millisecond(), end_ms);
    for (at, count) in rows.count_completed_in(app.db.read(), span, step).await? {
        let started_days = figures.partition_point(|day| day.starts_at.as_millisecond() <= at);
        if let Some(day) = started_days.checked_sub(1).and_then(|index| figures.get_mut(index)) {
            day.completions += count;
        }
    }
    Ok(figures)
}
