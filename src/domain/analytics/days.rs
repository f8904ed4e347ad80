//! The last days as a chart shows them: one point a day, with the completions that happened on it.

use entity::enrollments;
use entity::rollups::{DAY_MS, QUARTER_MS};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::{AnalyticsQuery, Interval, Revenue, fault, summary};
use crate::app::App;
use crate::{Error, Result};
use foundation::id::WorkspaceId;

/// Days at most.
const MOST_DAYS: i64 = 365;

/// What happened on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayFigures {
    /// When the day begins in the time zone.
    pub starts_at: Timestamp,
    /// By currency, in its minor units; only those with an order or a refund.
    pub revenue: Vec<Revenue>,
    /// Students created.
    pub students_new: i64,
    /// Enrolments in which the last lesson was done on this day.
    pub completions: i64,
}

/// The last days of a workspace, today last; `timezone` is an IANA name, UTC without one.
///
/// # Errors
/// [`Error::Invalid`] on `days` for less than 1 or more than 365, and on `timezone`.
pub async fn days(
    app: &App,
    workspace: WorkspaceId,
    days: i64,
    timezone: Option<&str>,
) -> Result<Vec<DayFigures>> {
    if !(1..=MOST_DAYS).contains(&days) {
        return Err(Error::invalid("days", format!("must be 1 to {MOST_DAYS}")));
    }
    let name = timezone.unwrap_or("UTC");
    let zone = TimeZone::get(name).map_err(|_| {
        let message = format!("{name:?} is not an IANA time zone, such as `Europe/Berlin`");
        Error::Invalid(vec![fault("timezone", message)])
    })?;
    let now = app.clock.now();
    let first = now.to_zoned(zone.clone()).date().checked_sub((days - 1).days());
    let from = first.and_then(|date| date.to_zoned(zone)).and_then(|zoned| zoned.start_of_day());
    let from = from.map_err(|error| Error::Internal(error.into()))?.timestamp();
    // The window ends behind this millisecond, so that what happens in it counts.
    let until = now.as_millisecond() + 1;
    let query = AnalyticsQuery {
        from: Some(from),
        to: Some(foundation::clock::from_ms(until)),
        timezone: Some(name.to_owned()),
        course: None,
        interval: Some(Interval::Day),
    };
    let series = summary(app, workspace, query).await?.series;
    let mut found: Vec<DayFigures> = series
        .into_iter()
        .map(|point| DayFigures {
            starts_at: point.starts_at,
            revenue: point.figures.revenue,
            students_new: point.figures.students_new,
            completions: 0,
        })
        .collect();
    // Every time zone's days begin at a quarter-hour, those of UTC at a day's multiple.
    let step = if timezone.is_none() { DAY_MS } else { QUARTER_MS };
    let rows = enrollments::in_workspace(workspace.uuid());
    let span = (from.as_millisecond(), until);
    for (at, count) in rows.completed_in(app.db.read(), span, step).await? {
        let after = found.partition_point(|day| day.starts_at.as_millisecond() <= at);
        if let Some(day) = after.checked_sub(1).and_then(|place| found.get_mut(place)) {
            day.completions += count;
        }
    }
    Ok(found)
}
