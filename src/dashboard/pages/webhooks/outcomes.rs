//! What came of deliveries, drawn: hour by hour for a page, and small for a row of a table.

use crate::dashboard::chart::{Chart, Series, Spark};
use crate::dashboard::ui;
use crate::domain::webhooks::Hour;

/// Deliveries per hour, by where they stand now; none when there were none.
pub(in super::super) fn outcomes(hours: &[Hour]) -> Option<Chart> {
    let places = hours.iter().map(|hour| hour.starts_at.strftime("%b %-d, %H:%M").to_string()).collect();
    let line = |name: &str, count: fn(&Hour) -> u64| {
        Series::counts(name, hours.iter().map(move |hour| count(hour) as f64))
    };
    let series = vec![
        line("Delivered", |hour| hour.delivered),
        line("Waiting", |hour| hour.waiting),
        line("Failing", |hour| hour.failing),
        line("Given up", |hour| hour.dead),
    ];
    Chart::of_counts("Webhook deliveries per hour", "Hour (UTC)", places, series)
}

/// The success rate over some hours.
pub(super) struct Rate {
    pub(super) spark: Spark,
    /// "98 % of 1,204"; "nothing sent" when there was nothing to send.
    pub(super) text: String,
}

impl Rate {
    pub(super) fn of(hours: &[Hour]) -> Self {
        let tried = |hour: &Hour| hour.delivered + hour.failing + hour.dead;
        let all: u64 = hours.iter().map(tried).sum();
        let text = match Hour::success_percent(hours) {
            Some(percent) => format!("{percent} % of {}", ui::number(all)),
            None => "nothing sent".to_owned(),
        };
        Self { spark: Spark(hours.iter().map(|hour| (hour.delivered, tried(hour))).collect()), text }
    }
}
