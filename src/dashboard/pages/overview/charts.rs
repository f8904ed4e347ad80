//! The charts of the overview. Where there is nothing to draw, there is no chart.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::chart::{Chart, Series};
use crate::ui;
use domain::analytics::{DayFigures, Revenue};
use domain::requests::Day;

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
            write: Box::new(move |value: f64| ui::money(value as i64, &written)),
        }
    };
    currencies(figures).into_iter().map(of).collect()
}

/// New students and completions per day.
pub(super) fn people(figures: &[DayFigures]) -> Option<Chart> {
    let places = figures.iter().map(|day| date(day.starts_at)).collect();
    let series = vec![
        Series::counts("New students", figures.iter().map(|day| day.students_new as f64)),
        Series::counts("Courses completed", figures.iter().map(|day| day.completions as f64)),
    ];
    Chart::of_counts("Students and completions per day", "Day (UTC)", places, series)
}

/// API calls per day, by what came of them.
pub(super) fn calls(days: &[Day]) -> Option<Chart> {
    let places = days.iter().map(|day| date(day.starts_at)).collect();
    let line = |name: &str, count: fn(&Day) -> u64| {
        Series::counts(name, days.iter().map(move |day| count(day) as f64))
    };
    let series = vec![
        line("Succeeded", |day| day.succeeded),
        line("Limited (429)", |day| day.limited),
        line("Refused (other 4xx)", |day| day.refused),
        line("Failed (5xx)", |day| day.failed),
    ];
    Chart::of_counts("API calls per day", "Day (UTC)", places, series)
}

/// A day as the axis names it: "Mar 2".
fn date(day: Timestamp) -> String {
    day.strftime("%b %-d").to_string()
}
