//! Aggregate revenue and completion metrics over a window of time.
//!
//! Owns the meaning of the figures on the reading side: which spans are read ([`plan`]), and how sums become
//! figures. The sums are those that [`super::rollups`] recorded. Never writes, and never looks at single orders
//! or students, except at the two edges of a window that are shorter than a quarter-hour.

mod days;
mod intervals;
mod plan;
mod read;

use std::collections::BTreeMap;

use entity::{activity_rollups, revenue_rollups};
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use days::{DayFigures, days};

use super::word::words;
use super::{Error, Fault, Result};
use crate::app::App;
use foundation::id::{CourseId, WorkspaceId};

/// Days of the window when none is given.
const DEFAULT_DAYS: i64 = 30;
/// Days of a window at most.
const MAX_DAYS: i64 = 366;

/// Length of a point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// From midnight.
    Day,
    /// From Monday.
    Week,
    /// From the first.
    Month,
}

words!(Interval, "an interval", { Day = "day", Week = "week", Month = "month" });

/// What to sum up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyticsQuery {
    /// Begin, inclusive; given together with `to`. Without both the window is the last 30 days.
    pub from: Option<Timestamp>,
    /// End, exclusive; after `from`, by 366 days at most.
    pub to: Option<Timestamp>,
    /// IANA time zone in which the points of the series begin; UTC without one.
    pub timezone: Option<String>,
    /// Only what concerns this course.
    pub course: Option<CourseId>,
    /// Length of the points of the series; without one there is no series.
    pub interval: Option<Interval>,
}

/// The figures of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyticsSummary {
    /// Begin, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// IANA name of the time zone.
    pub timezone: String,
    /// Over the whole window.
    pub figures: Figures,
    /// One point for each interval that touches the window, oldest first.
    pub series: Vec<Point>,
    /// What was recorded before this time is counted: now, or when the oldest write began that was still running.
    pub data_as_of: Timestamp,
}

/// The figures of one interval of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Begin of the interval: of the first one `from`.
    pub starts_at: Timestamp,
    /// Over the interval.
    pub figures: Figures,
}

/// What happened in a span of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// By currency; only those with an order or a refund.
    pub revenue: Vec<Revenue>,
    /// Students created in the span.
    pub students_new: i64,
    /// Students created before its end.
    pub students_total: i64,
    /// Enrolments created in the span: also the completion cohort.
    pub enrollments_created: i64,
    /// Enrolments revoked in the span and not made active again since.
    pub enrollments_revoked: i64,
    /// Enrolments created before its end that are active now.
    pub enrollments_active: i64,
    /// Those of the cohort in which every lesson is done.
    pub completed: i64,
    /// `completed` as a share of the cohort, rounded down; `None` of an empty one.
    pub completion_rate_percent: Option<i64>,
    /// Mean of `percent_complete` over the cohort, rounded down; `None` of an empty one.
    pub average_percent_complete: Option<i64>,
    /// Certificates issued in the span.
    pub certificates_issued: i64,
}

/// Revenue in one currency, in its minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revenue {
    /// ISO 4217.
    pub currency: String,
    /// `total_amount` of the orders paid.
    pub gross_amount: i64,
    /// `discount_amount` of the same orders.
    pub discount_amount: i64,
    /// `tax_amount` of the same orders.
    pub tax_amount: i64,
    /// `amount` of the refunds made.
    pub refunded_amount: i64,
    /// Gross less refunded.
    pub net_amount: i64,
    /// Orders paid.
    pub orders: i64,
    /// Refunds made.
    pub refunds: i64,
}

/// Sums up what happened in the workspace in the window.
///
/// # Errors
/// [`Error::Invalid`] on `from`, `to` and `timezone`, all faults at once; [`Error::Internal`] when the database
/// fails.
pub async fn summary(app: &App, workspace: WorkspaceId, query: AnalyticsQuery) -> Result<AnalyticsSummary> {
    let now = app.clock.now();
    let (from, to, zone) = window(&query, now)?;
    let bounds = match query.interval {
        Some(interval) => intervals::bounds(from, to, interval, &zone)?,
        None => vec![from.as_millisecond(), to.as_millisecond()],
    };
    // Asked for before anything is read: what runs now may come too late to be counted.
    let settled_ms = app.db.settled_until(&app.clock).await?;
    let spans = read::spans(app, workspace, query.course, &bounds, now.as_millisecond()).await?;
    let series = match query.interval {
        Some(_) => points(&bounds, &spans)?,
        None => Vec::new(),
    };
    Ok(AnalyticsSummary {
        from,
        to,
        timezone: query.timezone.unwrap_or_else(|| "UTC".to_owned()),
        figures: figures(&whole(&spans)),
        series,
        data_as_of: foundation::clock::from_ms(settled_ms.min(now.as_millisecond())),
    })
}

/// The window asked for, or the default one, and the time zone.
fn window(query: &AnalyticsQuery, now: Timestamp) -> Result<(Timestamp, Timestamp, TimeZone)> {
    let mut faults = Vec::new();
    let (from, to) = match (query.from, query.to) {
        (Some(from), Some(to)) => (ceil(from), ceil(to)),
        (None, None) => (days_before(now, DEFAULT_DAYS), now),
        (given, _) => {
            let (field, other) = if given.is_some() { ("to", "from") } else { ("from", "to") };
            faults.push(fault(
                field,
                format!("`{field}` is missing; give it together with `{other}`, or neither"),
            ));
            (now, now)
        }
    };
    if faults.is_empty() && from >= to {
        faults.push(fault("to", "the window is empty; `to` must be later than `from`"));
    }
    if to.as_millisecond() - from.as_millisecond() > MAX_DAYS * entity::rollups::DAY_MS {
        faults.push(fault(
            "to",
            format!("the window is too long; `to` is later than `from` by {MAX_DAYS} days at most"),
        ));
    }
    let name = query.timezone.as_deref().unwrap_or("UTC");
    let zone = TimeZone::get(name).unwrap_or_else(|_| {
        faults.push(fault("timezone", format!("{name:?} is not an IANA time zone, such as `Europe/Berlin`")));
        TimeZone::UTC
    });
    if faults.is_empty() { Ok((from, to, zone)) } else { Err(Error::Invalid(faults)) }
}

fn fault(field: &str, message: impl Into<String>) -> Fault {
    Fault { field: field.to_owned(), message: message.into() }
}

fn days_before(time: Timestamp, days: i64) -> Timestamp {
    foundation::clock::from_ms(time.as_millisecond() - days * entity::rollups::DAY_MS)
}

/// The first whole millisecond at or after `time`: what is stored has whole ones, so the same rows are inside.
fn ceil(time: Timestamp) -> Timestamp {
    let floor = foundation::clock::truncate(time);
    match time.as_nanosecond() - floor.as_nanosecond() {
        0 => floor,
        1.. => foundation::clock::from_ms(floor.as_millisecond() + 1),
        // Truncation goes towards the epoch, so before it the floor is the ceiling.
        _ => floor,
    }
}

/// The sums of one span of time between two neighbouring bounds, or of several together.
#[derive(Debug, Clone, Default)]
struct Sums {
    /// By currency.
    revenue: BTreeMap<String, revenue_rollups::Sums>,
    /// In the span.
    activity: activity_rollups::Sums,
    /// Students created before the span's end.
    students_total: i64,
    /// Enrolments created before the span's end that are active now.
    enrollments_active: i64,
}

/// All spans together: what is in a span adds up, what counts up to an end is that of the last.
fn whole(spans: &[Sums]) -> Sums {
    let mut whole = Sums::default();
    for span in spans {
        for (currency, sums) in &span.revenue {
            *whole.revenue.entry(currency.clone()).or_default() += *sums;
        }
        whole.activity += span.activity;
        whole.students_total = span.students_total;
        whole.enrollments_active = span.enrollments_active;
    }
    whole
}

fn points(bounds: &[i64], spans: &[Sums]) -> Result<Vec<Point>> {
    let point = |(start, sums): (&i64, &Sums)| Point {
        starts_at: foundation::clock::from_ms(*start),
        figures: figures(sums),
    };
    Ok(bounds.iter().zip(spans).map(point).collect())
}

/// Sums as the contract shows them. Percentages are rounded down, as a student's own are: 100 means all.
fn figures(sums: &Sums) -> Figures {
    let cohort = sums.activity.enrollments_created;
    let share = |part: i64| (cohort > 0).then(|| part / cohort);
    Figures {
        revenue: sums.revenue.iter().filter_map(|(currency, sums)| revenue(currency, sums)).collect(),
        students_new: sums.activity.students_new,
        students_total: sums.students_total,
        enrollments_created: cohort,
        enrollments_revoked: sums.activity.enrollments_revoked,
        enrollments_active: sums.enrollments_active,
        completed: sums.activity.cohort_completed,
        completion_rate_percent: share(sums.activity.cohort_completed * 100),
        average_percent_complete: share(sums.activity.cohort_percent_sum),
        certificates_issued: sums.activity.certificates_issued,
    }
}

/// Revenue of a currency in which an order was paid or a refund made.
fn revenue(currency: &str, sums: &revenue_rollups::Sums) -> Option<Revenue> {
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

    fn faults(query: AnalyticsQuery) -> Vec<String> {
        match window(&query, time("2026-03-04T09:00:00Z")) {
            Err(Error::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect(),
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
    fn every_fault_of_a_window_is_named() {
        let query = AnalyticsQuery {
            to: Some(time("2026-01-01T00:00:00Z")),
            timezone: Some("Mars/Olympus".into()),
            ..Default::default()
        };
        assert_eq!(faults(query), ["from", "timezone"]);
        let year = |to| AnalyticsQuery {
            from: Some(time("2024-01-01T00:00:00Z")),
            to: Some(time(to)),
            ..Default::default()
        };
        assert_eq!(faults(year("2025-01-01T00:00:00Z")), [""; 0]);
        assert_eq!(faults(year("2025-01-01T00:00:00.001Z")), ["to"]);
        assert_eq!(faults(year("2024-01-01T00:00:00Z")), ["to"]);
    }

    #[test]
    fn a_bound_between_two_milliseconds_holds_the_same_rows_as_the_later_one() {
        assert_eq!(ceil(time("2026-01-01T00:00:00.0005Z")), time("2026-01-01T00:00:00.001Z"));
        assert_eq!(ceil(time("1960-01-01T00:00:00.0005Z")), time("1960-01-01T00:00:00.001Z"));
        assert_eq!(ceil(time("2026-01-01T00:00:00.001Z")), time("2026-01-01T00:00:00.001Z"));
    }

    #[test]
    fn a_rate_over_nothing_is_none_and_others_are_rounded_down() {
        assert_eq!(figures(&Sums::default()).completion_rate_percent, None);
        let activity = activity_rollups::Sums {
            enrollments_created: 3,
            cohort_completed: 2,
            cohort_percent_sum: 299,
            ..activity_rollups::Sums::default()
        };
        let figures = figures(&Sums { activity, ..Sums::default() });
        assert_eq!((figures.completion_rate_percent, figures.average_percent_complete), (Some(66), Some(99)));
    }
}
