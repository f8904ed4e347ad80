//! Aggregate revenue and completion metrics over a time window.
//!
//! Computes figures from the sums that [`super::rollups`] recorded; [`plan`] decides which rows are read. Never writes.
//! Reads single records only for the part of a quarter-hour at each bound, to count expired enrollments, and to count
//! the completions of each day.

mod daily;
pub(crate) mod intervals;
mod plan;
mod read;

use std::collections::BTreeMap;

use entity::{activity_rollups, revenue_rollups};
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use super::contract::Interval;
pub use daily::{DayFigures, daily_figures};

use super::text_enum::text_enum;
use super::{Error, FieldError, Result};
use crate::app::App;
use foundation::database::StandbyReader;
use foundation::id::{CourseId, WorkspaceId};

/// Length of the default window in days.
const DEFAULT_DAYS: i64 = 30;
/// Maximum length of a window in days.
const MAX_DAYS: i64 = 366;

text_enum!(Interval, "an interval");

/// The query of a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyticsQuery {
    /// Start of the window, inclusive. Requires `to`. Without both, the window is the last 30 days.
    pub from: Option<Timestamp>,
    /// End of the window, exclusive. Later than `from` by at most 366 days.
    pub to: Option<Timestamp>,
    /// IANA time zone that defines the days of the series. The default is UTC.
    pub timezone: Option<String>,
    /// Restricts the figures to this course: to orders with this course, which count in full, and to enrolled students.
    pub course: Option<CourseId>,
    /// Length of the points of the series. `None` returns no series.
    pub interval: Option<Interval>,
}

/// The figures of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyticsSummary {
    /// Start of the window, inclusive.
    pub from: Timestamp,
    /// End of the window, exclusive.
    pub to: Timestamp,
    /// IANA name of the time zone.
    pub timezone: String,
    /// The figures of the whole window.
    pub figures: AnalyticsFigures,
    /// One point per interval that overlaps the window, oldest first. Empty if the query has no interval.
    pub series: Vec<SeriesPoint>,
    /// Everything recorded before this time is counted. It is the time of the query, the start of the oldest write that was
    /// running then, or an earlier time if the figures lag.
    pub data_as_of: Timestamp,
}

/// The figures of one interval of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesPoint {
    /// Start of the interval. The first point starts at `from`.
    pub starts_at: Timestamp,
    /// The figures of the interval.
    pub figures: AnalyticsFigures,
}

/// The figures of a time span.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyticsFigures {
    /// Revenue by currency. Only currencies with an order or a refund.
    pub revenue: Vec<Revenue>,
    /// Number of students created in the span.
    pub students_new: i64,
    /// Number of students created before the end of the span.
    pub students_total: i64,
    /// Number of enrollments created in the span. They are the cohort of the completion figures.
    pub enrollments_created: i64,
    /// Number of enrollments that were revoked in the span and not reactivated since.
    pub enrollments_revoked: i64,
    /// Number of enrollments that were created before the end of the span and are active now.
    pub enrollments_active: i64,
    /// Number of enrollments of the cohort that have every lesson completed.
    pub completed: i64,
    /// `completed` as a percentage of the cohort, rounded down. `None` if the cohort is empty.
    pub completion_rate_percent: Option<i64>,
    /// Mean of `percent_complete` over the cohort, rounded down. `None` if the cohort is empty.
    pub average_percent_complete: Option<i64>,
    /// Number of certificates issued in the span.
    pub certificates_issued: i64,
}

/// Revenue in one currency, in its minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revenue {
    /// ISO 4217 code.
    pub currency: String,
    /// Sum of `total_amount` of the orders paid.
    pub gross_amount: i64,
    /// Sum of `discount_amount` of the same orders.
    pub discount_amount: i64,
    /// Sum of `tax_amount` of the same orders.
    pub tax_amount: i64,
    /// Sum of `amount` of the refunds created.
    pub refunded_amount: i64,
    /// `gross_amount` minus `refunded_amount`.
    pub net_amount: i64,
    /// Number of orders paid.
    pub orders: i64,
    /// Number of refunds created.
    pub refunds: i64,
}

/// Returns the figures of the workspace over the window of the query.
///
/// # Errors
/// Returns [`Error::Invalid`] with every invalid field among `from`, `to` and `timezone`, and [`Error::Internal`] when a query
/// fails.
pub async fn summarize(app: &App, workspace: WorkspaceId, query: AnalyticsQuery) -> Result<AnalyticsSummary> {
    summarize_from(app, None, workspace, query).await
}

/// Like [`summarize`], but the figures may lag by up to [`MAX_LAG`](foundation::database::MAX_LAG), as `data_as_of` shows.
///
/// # Errors
/// Returns the same errors as [`summarize`].
pub async fn summarize_lagging(
    app: &App,
    workspace: WorkspaceId,
    query: AnalyticsQuery,
) -> Result<AnalyticsSummary> {
    summarize_from(app, app.db.standby(), workspace, query).await
}

/// Reads from the standby if there is one, otherwise from the primary.
async fn summarize_from(
    app: &App,
    standby: Option<StandbyReader>,
    workspace: WorkspaceId,
    query: AnalyticsQuery,
) -> Result<AnalyticsSummary> {
    let now = app.clock.now();
    let (from, to, zone) = window(&query, now)?;
    let bounds = match query.interval {
        Some(interval) => intervals::bounds(from, to, interval, &zone)?,
        None => vec![from.as_millisecond(), to.as_millisecond()],
    };
    let (visible_until_ms, spans) =
        read_spans(app, standby, workspace, query.course, &bounds, now.as_millisecond()).await?;
    let series = match query.interval {
        Some(_) => points(&bounds, &spans),
        None => Vec::new(),
    };
    Ok(AnalyticsSummary {
        from,
        to,
        timezone: query.timezone.unwrap_or_else(|| "UTC".to_owned()),
        figures: figures(&total(&spans)),
        series,
        data_as_of: foundation::clock::from_ms(visible_until_ms.min(now.as_millisecond())),
    })
}

/// Reads the sums of the spans from the standby, otherwise from the primary. Also returns a time before which everything is
/// counted, in milliseconds since the epoch.
async fn read_spans(
    app: &App,
    standby: Option<StandbyReader>,
    workspace: WorkspaceId,
    course: Option<CourseId>,
    bounds: &[i64],
    now_ms: i64,
) -> Result<(i64, Vec<SpanSums>)> {
    if let Some(standby) = standby
        && let Some(spans) =
            standby.attempt(read::spans(standby.connection(), workspace, course, bounds, now_ms)).await
    {
        return Ok((standby.visible_until(), spans));
    }
    // Determined before any row is read, because a write that is running now may commit after the rows are read.
    let visible_until_ms = app.db.visible_until(&app.clock).await?;
    Ok((visible_until_ms, read::spans(app.db.read(), workspace, course, bounds, now_ms).await?))
}

/// Returns the start and the end of the requested or default window, and the time zone.
fn window(query: &AnalyticsQuery, now: Timestamp) -> Result<(Timestamp, Timestamp, TimeZone)> {
    let mut errors = Vec::new();
    let (from, to) = match (query.from, query.to) {
        (Some(from), Some(to)) => (ceil(from), ceil(to)),
        (None, None) => (days_before(now, DEFAULT_DAYS), now),
        (from, _) => {
            let (missing, present) = if from.is_some() { ("to", "from") } else { ("from", "to") };
            errors.push(field_error(
                missing,
                format!("`{missing}` is required together with `{present}`; send both or neither"),
            ));
            (now, now)
        }
    };
    if errors.is_empty() && from >= to {
        errors.push(field_error("to", "the window is empty; `to` must be later than `from`"));
    }
    if to.as_millisecond() - from.as_millisecond() > MAX_DAYS * entity::rollups::DAY_MS {
        errors.push(field_error(
            "to",
            format!("the window is too long; `to` must be at most {MAX_DAYS} days later than `from`"),
        ));
    }
    let name = query.timezone.as_deref().unwrap_or("UTC");
    let zone = TimeZone::get(name).unwrap_or_else(|_| {
        errors.push(field_error(
            "timezone",
            format!("{name:?} is not an IANA time zone, such as `Europe/Berlin`"),
        ));
        TimeZone::UTC
    });
    if errors.is_empty() { Ok((from, to, zone)) } else { Err(Error::Invalid(errors)) }
}

fn field_error(field: &str, message: impl Into<String>) -> FieldError {
    FieldError { field: field.to_owned(), message: message.into() }
}

fn days_before(time: Timestamp, days: i64) -> Timestamp {
    foundation::clock::from_ms(time.as_millisecond() - days * entity::rollups::DAY_MS)
}

/// Rounds up to a whole millisecond. Stored times have whole milliseconds, so this does not change which rows are in
/// the window.
fn ceil(time: Timestamp) -> Timestamp {
    let floor = foundation::clock::truncate_to_ms(time);
    match time.as_nanosecond() - floor.as_nanosecond() {
        0 => floor,
        1.. => foundation::clock::from_ms(floor.as_millisecond() + 1),
        // Truncation rounds toward the epoch, so before the epoch it rounds up.
        _ => floor,
    }
}

/// The sums of the span between two adjacent bounds, or of several spans together.
#[derive(Debug, Clone, Default)]
struct SpanSums {
    /// Revenue in the span, by currency.
    revenue: BTreeMap<String, revenue_rollups::RevenueSums>,
    /// Activity in the span.
    activity: activity_rollups::ActivitySums,
    /// Number of students created before the end of the span.
    students_total: i64,
    /// Number of enrollments that were created before the end of the span and are active now.
    enrollments_active: i64,
}

/// Combines adjacent spans, oldest first: adds up their sums, and takes `students_total` and `enrollments_active` from
/// the last span.
fn total(spans: &[SpanSums]) -> SpanSums {
    let mut total = SpanSums::default();
    for span in spans {
        for (currency, sums) in &span.revenue {
            *total.revenue.entry(currency.clone()).or_default() += *sums;
        }
        total.activity += span.activity;
        total.students_total = span.students_total;
        total.enrollments_active = span.enrollments_active;
    }
    total
}

/// Returns one point per span, which starts at the bound with the same index.
fn points(bounds: &[i64], spans: &[SpanSums]) -> Vec<SeriesPoint> {
    let point = |(start, sums): (&i64, &SpanSums)| SeriesPoint {
        starts_at: foundation::clock::from_ms(*start),
        figures: figures(sums),
    };
    bounds.iter().zip(spans).map(point).collect()
}

/// Converts sums to the figures of the contract. Percentages are rounded down, so they are 100 only if
/// all lessons of all enrollments are completed.
fn figures(sums: &SpanSums) -> AnalyticsFigures {
    let cohort = sums.activity.enrollments_created;
    let per_enrollment = |sum: i64| (cohort > 0).then(|| sum / cohort);
    AnalyticsFigures {
        revenue: sums.revenue.iter().filter_map(|(currency, sums)| revenue(currency, sums)).collect(),
        students_new: sums.activity.students_new,
        students_total: sums.students_total,
        enrollments_created: cohort,
        enrollments_revoked: sums.activity.enrollments_revoked,
        enrollments_active: sums.enrollments_active,
        completed: sums.activity.cohort_completed,
        completion_rate_percent: per_enrollment(sums.activity.cohort_completed * 100),
        average_percent_complete: per_enrollment(sums.activity.cohort_percent_sum),
        certificates_issued: sums.activity.certificates_issued,
    }
}

/// Returns the revenue in a currency, or `None` if it has neither an order nor a refund.
fn revenue(currency: &str, sums: &revenue_rollups::RevenueSums) -> Option<Revenue> {
    (sums.orders != 0 || sums.refunds != 0).then(|| Revenue {
        currency: currency.to_owned(),
        gross_amount: sums.gross_amount,
        discount_amount: sums.discount_amount,
        tax_amount: sums.tax_amount,
        refunded_amount: sums.refunded_amount,
        net_amount: sums.gross_amount - sums.refunded_amount,
        orders: sums.orders,
        refunds: sums.refunds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn errors(query: AnalyticsQuery) -> Vec<String> {
        match window(&query, time("2026-03-04T09:00:00Z")) {
            Err(Error::Invalid(errors)) => errors.into_iter().map(|error| error.field).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn the_default_window_is_the_last_thirty_days() {
        let now = time("2026-03-04T09:00:00.125Z");
        let (from, to, zone) = window(&AnalyticsQuery::default(), now).unwrap();
        assert_eq!((from, to, zone), (time("2026-02-02T09:00:00.125Z"), now, TimeZone::UTC));
    }

    #[test]
    fn every_invalid_field_of_a_window_is_reported() {
        let query = AnalyticsQuery {
            to: Some(time("2026-01-01T00:00:00Z")),
            timezone: Some("Mars/Olympus".into()),
            ..Default::default()
        };
        assert_eq!(errors(query), ["from", "timezone"]);
        let query_from_2024 = |to| AnalyticsQuery {
            from: Some(time("2024-01-01T00:00:00Z")),
            to: Some(time(to)),
            ..Default::default()
        };
        assert_eq!(errors(query_from_2024("2025-01-01T00:00:00Z")), [""; 0]);
        assert_eq!(errors(query_from_2024("2025-01-01T00:00:00.001Z")), ["to"]);
        assert_eq!(errors(query_from_2024("2024-01-01T00:00:00Z")), ["to"]);
    }

    #[test]
    fn a_bound_between_two_milliseconds_is_rounded_up() {
        assert_eq!(ceil(time("2026-01-01T00:00:00.0005Z")), time("2026-01-01T00:00:00.001Z"));
        assert_eq!(ceil(time("1960-01-01T00:00:00.0005Z")), time("1960-01-01T00:00:00.001Z"));
        assert_eq!(ceil(time("2026-01-01T00:00:00.001Z")), time("2026-01-01T00:00:00.001Z"));
    }

    #[test]
    fn a_rate_of_an_empty_cohort_is_none_and_others_are_rounded_down() {
        assert_eq!(figures(&SpanSums::default()).completion_rate_percent, None);
        let activity = activity_rollups::ActivitySums {
            enrollments_created: 3,
            cohort_completed: 2,
            cohort_percent_sum: 299,
            ..activity_rollups::ActivitySums::default()
        };
        let figures = figures(&SpanSums { activity, ..SpanSums::default() });
        assert_eq!((figures.completion_rate_percent, figures.average_percent_complete), (Some(66), Some(99)));
    }
}
