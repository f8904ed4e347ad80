//! Outcomes of deliveries per hour, for charts and for the success rate of a subscription.

use std::collections::BTreeMap;

use entity::webhook_deliveries::{self as delivery_rows, StoredDeliveryState, outcomes::OutcomeCount};
use jiff::Timestamp;

use super::super::{Error, Result};
use super::{get, list};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;
/// The longest period in hours: 30 days, the time for which deliveries are stored.
const MAX_HOURS: i64 = 30 * 24;
/// If a subscription has at least this number of unsettled (pending or held) deliveries, only this number of its newest
/// deliveries are counted.
pub const MAX_COUNTED: u32 = 5_000;

/// The deliveries that were created in one hour, by their current state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourlyOutcomes {
    /// When the hour begins.
    pub starts_at: Timestamp,
    /// The number of deliveries that were delivered.
    pub delivered: u64,
    /// The number of pending or held deliveries with at least one failed attempt.
    pub failing: u64,
    /// The number of dead deliveries.
    pub dead: u64,
    /// The number of pending or held deliveries without an attempt.
    pub waiting: u64,
}

/// The outcomes of deliveries by the hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcomes {
    /// The hours, oldest first and ending with the current one, including hours without a delivery.
    pub hours: Vec<HourlyOutcomes>,
    /// Whether older deliveries may be missing, because at least [`MAX_COUNTED`] deliveries of a subscription are
    /// unsettled. The hours then begin with the hour of the oldest counted delivery of that subscription. If this is
    /// true of several subscriptions, they begin with the latest of these hours.
    pub is_truncated: bool,
}

impl Outcomes {
    /// Returns the outcomes of the newest `hours` hours only, or of all hours if there are fewer.
    pub fn last(&self, hours: usize) -> Self {
        let skipped = self.hours.len().saturating_sub(hours);
        let hours = self.hours.iter().skip(skipped).copied().collect();
        Self { hours, is_truncated: self.is_truncated && skipped == 0 }
    }
}

impl HourlyOutcomes {
    /// Returns the percentage of attempted deliveries that were delivered in these hours, rounded down. Returns `None` when
    /// none was attempted.
    pub fn success_percent(hours: &[Self]) -> Option<u64> {
        let delivered: u64 = hours.iter().map(|hour| hour.delivered).sum();
        let attempted: u64 = hours.iter().map(|hour| hour.delivered + hour.failing + hour.dead).sum();
        (delivered * 100).checked_div(attempted)
    }

    fn add(&mut self, outcome: OutcomeCount) {
        let count = match outcome.state {
            StoredDeliveryState::Delivered => &mut self.delivered,
            StoredDeliveryState::Dead => &mut self.dead,
            StoredDeliveryState::Pending | StoredDeliveryState::Held if outcome.attempted => {
                &mut self.failing
            }
            StoredDeliveryState::Pending | StoredDeliveryState::Held => &mut self.waiting,
        };
        *count += outcome.count.unsigned_abs();
    }
}

/// Returns the outcomes of the deliveries that were created in the last `hours` hours, including the current one: those
/// of a subscription, or of the whole workspace. When too many deliveries of a subscription are unsettled, only its
/// newest [`MAX_COUNTED`] are counted.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] when `hours` is not 1 to 720.
pub async fn outcomes(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: Option<SubscriptionId>,
    hours: i64,
) -> Result<Outcomes> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(Error::invalid("hours", format!("must be 1 to {MAX_HOURS}")));
    }
    let subscriptions = match subscription_id {
        Some(subscription_id) => vec![get(app, workspace, subscription_id).await?.id],
        None => list(app, workspace).await?.into_iter().map(|subscription| subscription.id).collect(),
    };
    let now_ms = app.clock.now_ms();
    let end = now_ms - now_ms.rem_euclid(HOUR_MS) + HOUR_MS;
    let first = end - hours * HOUR_MS;
    let empty = |starts_at| HourlyOutcomes { starts_at, delivered: 0, failing: 0, dead: 0, waiting: 0 };
    let starts = (0..hours).map(|hour| first + hour * HOUR_MS);
    let mut hourly: BTreeMap<i64, HourlyOutcomes> =
        starts.map(|start| (start, empty(from_ms(start)))).collect();
    let mut truncated_at = None;
    let rows = delivery_rows::in_workspace(workspace.uuid());
    for subscription in subscriptions {
        let (conn, created) = (app.db.read(), (first, end));
        let (counts, are_newest_only) =
            rows.outcomes(conn, subscription.uuid(), created, HOUR_MS, MAX_COUNTED).await?;
        truncated_at = truncated_at.max(if are_newest_only { truncation_start(&counts) } else { None });
        for outcome in counts {
            if let Some(hour) = hourly.get_mut(&outcome.starts_at) {
                hour.add(outcome);
            }
        }
    }
    let hours = hourly.split_off(&truncated_at.unwrap_or(first)).into_values().collect();
    Ok(Outcomes { hours, is_truncated: truncated_at.is_some() })
}

/// Returns the start of the oldest counted hour, in milliseconds since the epoch, if [`MAX_COUNTED`] deliveries were
/// counted. Older deliveries may then be missing. Returns `None` if all deliveries were counted.
fn truncation_start(counts: &[OutcomeCount]) -> Option<i64> {
    let total: i64 = counts.iter().map(|outcome| outcome.count).sum();
    counts.iter().map(|outcome| outcome.starts_at).min().filter(|_| total >= i64::from(MAX_COUNTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hours_are_complete_unless_they_include_the_oldest_counted_one() {
        let hour =
            |ms| HourlyOutcomes { starts_at: from_ms(ms), delivered: 1, failing: 0, dead: 0, waiting: 0 };
        let truncated = Outcomes { hours: (0..3).map(hour).collect(), is_truncated: true };
        assert_eq!(truncated.last(2), Outcomes { hours: vec![hour(1), hour(2)], is_truncated: false });
        assert_eq!((truncated.last(3), truncated.last(24)), (truncated.clone(), truncated.clone()));
    }

    #[test]
    fn the_success_rate_includes_only_attempted_deliveries() {
        let hour = |delivered, failing, dead| HourlyOutcomes {
            starts_at: from_ms(0),
            delivered,
            failing,
            dead,
            waiting: 5,
        };
        assert_eq!(HourlyOutcomes::success_percent(&[hour(1, 1, 0), hour(1, 0, 0)]), Some(66));
        assert_eq!(HourlyOutcomes::success_percent(&[hour(0, 0, 2)]), Some(0));
        assert_eq!(HourlyOutcomes::success_percent(&[hour(0, 0, 0)]), None);
    }
}
