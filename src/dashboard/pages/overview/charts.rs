//! The charts of the overview. A chart whose counts are all zero is `None`.

use std::collections::BTreeSet;

use crate::chart::{Chart, Series};
use crate::ui::{self, PageZone};
use domain::analytics::{DayFigures, Revenue};
use domain::requests::DailyRequests;

/// Returns the currencies of payments and refunds, sorted by code.
pub(super) fn currencies(figures: &[DayFigures]) -> Vec<&str> {
    let currencies: BTreeSet<&str> =
        figures.iter().flat_map(|day| &day.revenue).map(|row| row.currency.as_str()).collect();
    currencies.into_iter().collect()
}

/// Creates a chart of payments and refunds per day for each currency.
pub(super) fn revenue(figures: &[DayFigures], zone: &PageZone) -> Vec<Chart> {
    let chart = |currency: &str| {
        let series = |name: &str, amount: fn(&Revenue) -> i64| {
            let value = |day: &DayFigures| {
                day.revenue.iter().find(|row| row.currency == currency).map_or(0, amount) as f64
            };
            Series { name: name.to_owned(), values: figures.iter().map(|day| Some(value(day))).collect() }
        };
        let currency_name = currency.to_owned();
        Chart {
            title: format!("Revenue per day, {currency}"),
            axis_title: "Day",
            labels: figures.iter().map(|day| zone.day(&day.starts_at)).collect(),
            series: vec![
                series("Paid", |row| row.gross_amount),
                series("Refunded", |row| row.refunded_amount),
            ],
            format: Box::new(move |value: f64| ui::money(value as i64, &currency_name)),
        }
    };
    currencies(figures).into_iter().map(chart).collect()
}

/// Creates the chart of new students and completions per day.
pub(super) fn students(figures: &[DayFigures], zone: &PageZone) -> Option<Chart> {
    let labels = figures.iter().map(|day| zone.day(&day.starts_at)).collect();
    let series = vec![
        Series::counts("New students", figures.iter().map(|day| day.students_new as f64)),
        Series::counts("Courses completed", figures.iter().map(|day| day.completions as f64)),
    ];
    Chart::of_counts("Students and completions per day", "Day", labels, series)
}

/// Creates the chart of API requests per day, by outcome.
pub(super) fn requests(days: &[DailyRequests], zone: &PageZone) -> Option<Chart> {
    let labels = days.iter().map(|day| zone.day(&day.starts_at)).collect();
    let counts = |name: &str, count: fn(&DailyRequests) -> u64| {
        Series::counts(name, days.iter().map(move |day| count(day) as f64))
    };
    let series = vec![
        counts("Succeeded", |day| day.succeeded),
        counts("Rate limited (429)", |day| day.rate_limited),
        counts("Rejected (other 4xx)", |day| day.rejected),
        counts("Failed (5xx)", |day| day.failed),
    ];
    Chart::of_counts("API requests per day", "Day", labels, series)
}
