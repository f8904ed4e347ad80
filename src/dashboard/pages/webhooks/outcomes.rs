//! Charts and success rates of deliveries.

use crate::chart::{Chart, Series, Sparkline};
use crate::ui::{self, PageZone};
use domain::webhooks::{HourlyOutcomes, MAX_COUNTED, Outcomes};

/// Creates the chart of deliveries per hour by current state. Returns `None` without deliveries.
pub(in super::super) fn outcomes_chart(outcomes: &Outcomes, zone: &PageZone) -> Option<Chart> {
    let hours = &outcomes.hours;
    let labels = hours.iter().map(|hour| zone.hour(&hour.starts_at)).collect();
    let counts = |name: &str, count: fn(&HourlyOutcomes) -> u64| {
        Series::counts(name, hours.iter().map(move |hour| count(hour) as f64))
    };
    let series = vec![
        counts("Delivered", |hour| hour.delivered),
        counts("Not yet attempted", |hour| hour.waiting),
        counts("Retrying", |hour| hour.failing),
        counts("Dead", |hour| hour.dead),
    ];
    let title = match outcomes.is_truncated {
        true => format!("Webhook deliveries per hour ({} per webhook)", newest_label()),
        false => "Webhook deliveries per hour".to_owned(),
    };
    Chart::of_counts(&title, "Hour", labels, series)
}

/// Describes the counted deliveries of a webhook with too many to count all: "newest 5,000".
pub(in super::super) fn newest_label() -> String {
    format!("newest {}", ui::number(MAX_COUNTED))
}

/// The share of attempted deliveries that succeeded, over a number of hours.
pub(super) struct SuccessRate {
    pub(super) sparkline: Sparkline,
    /// The rate as text: "98% of 1,204", or "nothing sent".
    pub(super) text: String,
    /// Whether only the newest deliveries were counted, which may cover fewer hours.
    pub(super) is_limited: bool,
}

impl SuccessRate {
    pub(super) fn new(outcomes: &Outcomes) -> Self {
        let hours = &outcomes.hours;
        let attempted = |hour: &HourlyOutcomes| hour.delivered + hour.failing + hour.dead;
        let total: u64 = hours.iter().map(attempted).sum();
        let mut text = match HourlyOutcomes::success_percent(hours) {
            Some(percent) => format!("{percent}% of {}", ui::number(total)),
            None => "nothing sent".to_owned(),
        };
        if outcomes.is_truncated {
            text = format!("{text} ({})", newest_label());
        }
        let sparkline = Sparkline(hours.iter().map(|hour| (hour.delivered, attempted(hour))).collect());
        Self { sparkline, text, is_limited: outcomes.is_truncated }
    }
}
