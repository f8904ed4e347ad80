//! Boundaries of the points of a series: days, weeks and months of a time zone, truncated at the ends of the window.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::Interval;
use crate::{Error, Result};

/// Returns the boundaries of all intervals that overlap the window, in milliseconds since the epoch, ascending. The
/// first is `from`, the last is `to`.
///
/// A day with a clock change has fewer or more than 24 hours. If the clock change skips midnight, the day starts at its
/// first instant.
///
/// # Errors
/// Returns [`Error::Internal`] if the first interval would start before the beginning of the calendar.
pub(super) fn bounds(
    from: Timestamp,
    to: Timestamp,
    interval: Interval,
    zone: &TimeZone,
) -> Result<Vec<i64>> {
    let (from_ms, to_ms) = (from.as_millisecond(), to.as_millisecond());
    let mut bounds = vec![from_ms];
    let mut date = start_of(interval, from.to_zoned(zone.clone()).date()).map_err(calendar_error)?;
    loop {
        // No interval starts after the end of the calendar.
        let Ok(next_date) = next(interval, date) else { break };
        date = next_date;
        let midnight = date.to_zoned(zone.clone()).and_then(|zoned| zoned.start_of_day());
        let Ok(start) = midnight.map(|zoned| zoned.timestamp().as_millisecond()) else { break };
        if start >= to_ms {
            break;
        }
        // A date that the time zone skipped starts at the same instant as the next one.
        if bounds.last().is_some_and(|last| start > *last) {
            bounds.push(start);
        }
    }
    bounds.push(to_ms);
    Ok(bounds)
}

/// Returns the boundaries of the last `days` days up to and including today, in milliseconds since the epoch, ascending. The
/// first is the start of the first day, the last is one millisecond after `now`.
///
/// # Errors
/// Returns [`Error::Internal`] at the beginning of the calendar.
pub(crate) fn last_days(now: Timestamp, days: i64, zone: &TimeZone) -> Result<Vec<i64>> {
    let first = now.to_zoned(zone.clone()).date().checked_sub((days - 1).days());
    let from = first.and_then(|date| date.to_zoned(zone.clone())).and_then(|zoned| zoned.start_of_day());
    let end = foundation::clock::from_ms(now.as_millisecond() + 1);
    bounds(from.map_err(calendar_error)?.timestamp(), end, Interval::Day, zone)
}

/// Returns the first date of the interval that contains the date.
fn start_of(interval: Interval, date: Date) -> std::result::Result<Date, jiff::Error> {
    match interval {
        Interval::Day => Ok(date),
        Interval::Week => date.checked_sub(i64::from(date.weekday().since(Weekday::Monday)).days()),
        Interval::Month => Ok(date.first_of_month()),
    }
}

/// Returns the first date of the next interval.
fn next(interval: Interval, date: Date) -> std::result::Result<Date, jiff::Error> {
    date.checked_add(match interval {
        Interval::Day => 1.day(),
        Interval::Week => 1.week(),
        Interval::Month => 1.month(),
    })
}

fn calendar_error(error: jiff::Error) -> Error {
    Error::Internal(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(from: &str, to: &str, interval: Interval, zone: &str) -> Vec<String> {
        let bounds =
            bounds(from.parse().unwrap(), to.parse().unwrap(), interval, &TimeZone::get(zone).unwrap())
                .unwrap();
        bounds.into_iter().map(|ms| Timestamp::from_millisecond(ms).unwrap().to_string()).collect()
    }

    #[test]
    fn days_are_shorter_and_longer_where_the_clocks_change() {
        let spring = starts("2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", Interval::Day, "Europe/Berlin");
        assert_eq!(
            spring,
            ["2026-03-28T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T12:00:00Z"]
        );
        let autumn = starts("2026-10-24T22:00:00Z", "2026-10-26T00:00:00Z", Interval::Day, "Europe/Berlin");
        assert_eq!(autumn, ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26T00:00:00Z"]);
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let weeks = starts("2026-01-01T00:00:00Z", "2026-01-13T00:00:00Z", Interval::Week, "UTC");
        assert_eq!(
            weeks,
            ["2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z", "2026-01-13T00:00:00Z"]
        );
        let months = starts("2025-12-31T23:30:00Z", "2026-02-01T00:00:00Z", Interval::Month, "UTC");
        assert_eq!(months, ["2025-12-31T23:30:00Z", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]);
    }

    #[test]
    fn a_day_without_midnight_starts_at_one() {
        let days = starts("2018-11-03T12:00:00Z", "2018-11-04T12:00:00Z", Interval::Day, "America/Sao_Paulo");
        assert_eq!(days, ["2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-04T12:00:00Z"]);
    }

    #[test]
    fn a_day_that_the_time_zone_skipped_is_no_point() {
        let days = starts("2011-12-29T20:00:00Z", "2011-12-31T20:00:00Z", Interval::Day, "Pacific/Apia");
        assert_eq!(
            days,
            ["2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z", "2011-12-31T20:00:00Z"]
        );
    }
}
