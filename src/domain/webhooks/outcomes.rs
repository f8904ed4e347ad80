//! Outcomes of deliveries by the hour, for charts and for the success rate of a subscription.

use std::collections::BTreeMap;

use entity::webhook_deliveries::{self as rows, StoredDeliveryState, outcomes::OutcomeCounts};
use jiff::Timestamp;

use super::super::{Error, Result};
use super::{get, list};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;
/// The longest period in hours: as long as deliveries are stored.
const MAX_HOURS: i64 = 30 * 24;
/// When this number of a subscription's deliveries is unsettled, only its newest deliveries are counted, up to this number.
pub const MAX_COUNTED: u32 = 5_000;

/// The deliveries that were created in one hour, by their current state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourlyOutcomes {
    /// When the hour begins.
    pub starts_at: Timestamp,
    /// Delivered.
    pub delivered: u64,
    /// Failed so far, and to be retried.
    pub failing: u64,
    /// Dead.
    pub dead: u64,
    /// Not attempted yet, or held without an attempt.
    pub waiting: u64,
}

/// The outcomes of deliveries by the hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcomes {
    /// The hours, oldest first and ending with the current one, including hours without a delivery.
    pub hours: Vec<HourlyOutcomes>,
    /// Whether older deliveries may be missing, because [`MAX_COUNTED`] deliveries of a subscription are unsettled. Then the
    /// hours begin with that of the oldest counted delivery; with several such subscriptions, with the latest of these hours.
    pub is_cut: bool,
}

impl Outcomes {
    /// Returns the last of these hours, up to `hours`.
    pub fn last(&self, hours: usize) -> Self {
        let rest = self.hours.len().saturating_sub(hours);
        Self { hours: self.hours.iter().skip(rest).copied().collect(), is_cut: self.is_cut && rest == 0 }
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

    fn add(&mut self, outcomes: OutcomeCounts) {
        let count = match outcomes.state {
            StoredDeliveryState::Delivered => &mut self.delivered,
            StoredDeliveryState::Dead => &mut self.dead,
            StoredDeliveryState::Pending | StoredDeliveryState::Held if outcomes.attempted => {
                &mut self.failing
            }
            StoredDeliveryState::Pending | StoredDeliveryState::Held => &mut self.waiting,
        };
        *count += outcomes.count.unsigned_abs();
    }
}

/// Returns the outcomes of the deliveries of a subscription, or of the whole workspace, that were created in the last hours, up
/// to the current one. When too many deliveries of a subscription are unsettled, only its newest [`MAX_COUNTED`] are counted.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] when `hours` is not 1 to 720.
pub async fn outcomes(
    app: &App,
    workspace: WorkspaceId,
    of: Option<SubscriptionId>,
    hours: i64,
) -> Result<Outcomes> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(Error::invalid("hours", format!("must be 1 to {MAX_HOURS}")));
    }
    let subscriptions = match of {
        Some(of) => vec![get(app, workspace, of).await?.id],
        None => list(app, workspace).await?.into_iter().map(|subscription| subscription.id).collect(),
    };
    let now_ms = app.clock.now_ms();
    let until = now_ms - now_ms.rem_euclid(HOUR_MS) + HOUR_MS;
    let first = until - hours * HOUR_MS;
    let empty = |starts_at| HourlyOutcomes { starts_at, delivered: 0, failing: 0, dead: 0, waiting: 0 };
    let starts = (0..hours).map(|hour| first + hour * HOUR_MS);
    let mut counted: BTreeMap<i64, HourlyOutcomes> =
        starts.map(|start| (start, empty(from_ms(start)))).collect();
    let mut oldest = None;
    let log = rows::in_workspace(workspace.uuid());
    for subscription in subscriptions {
        let (conn, created) = (app.db.read(), (first, until));
        let (found, is_newest) =
            log.outcomes(conn, subscription.uuid(), created, HOUR_MS, MAX_COUNTED).await?;
        oldest = oldest.max(if is_newest { cut(&found) } else { None });
        for outcomes in found {
            if let Some(hour) = counted.get_mut(&outcomes.starts_at) {
                hour.add(outcomes);
            }
        }
    }
    let hours = counted.split_off(&oldest.unwrap_or(first)).into_values().collect();
    Ok(Outcomes { hours, is_cut: oldest.is_some() })
}

/// Returns when the oldest counted hour begins, if older deliveries may be missing.
fn cut(found: &[OutcomeCounts]) -> Option<i64> {
    let total: i64 = found.iter().map(|counts| counts.count).sum();
    found.iter().map(|counts| counts.starts_at).min().filter(|_| total >= i64::from(MAX_COUNTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hours_are_complete_unless_they_include_the_oldest_counted_one() {
        let hour =
            |n| HourlyOutcomes { starts_at: from_ms(n), delivered: 1, failing: 0, dead: 0, waiting: 0 };
        let cut = Outcomes { hours: (0..3).map(hour).collect(), is_cut: true };
        assert_eq!(cut.last(2), Outcomes { hours: vec![hour(1), hour(2)], is_cut: false });
        assert_eq!((cut.last(3), cut.last(24)), (cut.clone(), cut.clone()));
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
