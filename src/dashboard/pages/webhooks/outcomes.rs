//! What came of deliveries, drawn: hour by hour for a page, and small for a row of a table.

use crate::chart::{Chart, Series, Spark};
use crate::ui;
use domain::webhooks::{Hour, MOST_COUNTED, Outcomes};

/// Deliveries per hour, by where they stand now; none when there were none.
pub(in super::super) fn outcomes(of: &Outcomes) -> Option<Chart> {
    let hours = &of.hours;
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
    let title = match of.is_cut {
        true => format!("Webhook deliveries per hour, {} of a webhook", newest()),
        false => "Webhook deliveries per hour".to_owned(),
    };
    Chart::of_counts(&title, "Hour (UTC)", places, series)
}

/// What is counted where there are more than are counted.
pub(in super::super) fn newest() -> String {
    format!("of the newest {}", ui::number(MOST_COUNTED))
}

/// The success rate over some hours.
pub(super) struct Rate {
    pub(super) spark: Spark,
    /// "98 % of 1,204"; "nothing sent" when there was nothing to send.
    pub(super) text: String,
    /// Whether it is of the newest deliveries alone, and so perhaps of fewer hours.
    pub(super) is_cut: bool,
}

impl Rate {
    pub(super) fn of(outcomes: &Outcomes) -> Self {
        let hours = &outcomes.hours;
        let tried = |hour: &Hour| hour.delivered + hour.failing + hour.dead;
        let all: u64 = hours.iter().map(tried).sum();
        let mut text = match Hour::success_percent(hours) {
            Some(percent) => format!("{percent} % of {}", ui::number(all)),
            None => "nothing sent".to_owned(),
        };
        if outcomes.is_cut {
            text = format!("{text}, {}", newest());
        }
        let spark = Spark(hours.iter().map(|hour| (hour.delivered, tried(hour))).collect());
        Self { spark, text, is_cut: outcomes.is_cut }
    }
}
