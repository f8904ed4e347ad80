//! The charts of the overview. Where there is nothing to draw, there is no chart.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::dashboard::chart::{Chart, Series, Shape};
use crate::dashboard::ui;
use crate::domain::analytics::{DayFigures, Revenue};
use crate::domain::requests::Day;
use crate::domain::webhooks::Hour;

/// The currencies in which something was paid or given back, by name.
pub(super) fn currencies(figures: &[DayFigures]) -> Vec<&str> {
    let names: BTreeSet<&str> =
        figures.iter().flat_map(|day| &day.revenue).map(|row| row.currency.as_str()).collect();
    names.into_iter().collect()
}

/// Paid and refunded per day, a chart for each currency.
pub(super) fn revenue(figures: &[DayFigures]) -> Vec<Chart> {
    let of = |currency: &str| {
        let line = |name: &str, amount: fn(&Revenue) -> i64| {
            let value = |day: &DayFigures| {
                day.revenue.iter().find(|row| row.currency == currency).map_or(0, amount) as f64
            };
            Series { name: name.to_owned(), values: figures.iter().map(|day| Some(value(day))).collect() }
        };
        let written = currency.to_owned();
        Chart {
            title: format!("Revenue per day, {currency}"),
            axis: "Day (UTC)",
            places: figures.iter().map(|day| date(day.starts_at)).collect(),
            series: vec![line("Paid", |row| row.gross_amount), line("Refunded", |row| row.refunded_amount)],
            shape: Shape::Lines,
            write: Box::new(move |value: f64| ui::money(value as i64, &written)),
        }
    };
    currencies(figures).into_iter().map(of).collect()
}

/// New students and completions per day.
pub(super) fn people(figures: &[DayFigures]) -> Option<Chart> {
    let places = figures.iter().map(|day| date(day.starts_at)).collect();
    let series = vec![
        counts("New students", figures.iter().map(|day| day.students_new as f64)),
        counts("Courses completed", figures.iter().map(|day| day.completions as f64)),
    ];
    drawn("Students and completions per day", "Day (UTC)", places, series)
}

/// API calls per day, by what came of them.
pub(super) fn calls(days: &[Day]) -> Option<Chart> {
    let places = days.iter().map(|day| date(day.starts_at)).collect();
    let line =
        |name: &str, count: fn(&Day) -> u64| counts(name, days.iter().map(move |day| count(day) as f64));
    let series = vec![
        line("Succeeded", |day| day.succeeded),
        line("Limited (429)", |day| day.limited),
        line("Refused (other 4xx)", |day| day.refused),
        line("Failed (5xx)", |day| day.failed),
    ];
    drawn("API calls per day", "Day (UTC)", places, series)
}

/// Deliveries per hour, by where they stand now.
pub(super) fn deliveries(hours: &[Hour]) -> Option<Chart> {
    let places = hours.iter().map(|hour| hour.starts_at.strftime("%b %-d, %H:%M").to_string()).collect();
    let line =
        |name: &str, count: fn(&Hour) -> u64| counts(name, hours.iter().map(move |hour| count(hour) as f64));
    let series = vec![
        line("Delivered", |hour| hour.delivered),
        line("Waiting", |hour| hour.waiting),
        line("Failing", |hour| hour.failing),
        line("Given up", |hour| hour.dead),
    ];
    drawn("Webhook deliveries per hour", "Hour (UTC)", places, series)
}

fn counts(name: &str, values: impl Iterator<Item = f64>) -> Series {
    Series { name: name.to_owned(), values: values.map(Some).collect() }
}

/// A chart of counts, unless all of them are zero.
fn drawn(title: &str, axis: &'static str, places: Vec<String>, series: Vec<Series>) -> Option<Chart> {
    let some =
        series.iter().flat_map(|series| &series.values).any(|value| value.is_some_and(|value| value > 0.0));
    let write = Box::new(|value: f64| ui::number(value as i64));
    some.then(|| Chart { title: title.to_owned(), axis, places, series, shape: Shape::Lines, write })
}

/// A day as the axis names it: "Mar 2".
fn date(day: Timestamp) -> String {
    day.strftime("%b %-d").to_string()
}
