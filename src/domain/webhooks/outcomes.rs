//! What came of deliveries, hour by hour: for charts and for the success rate of a subscription.

use std::collections::BTreeMap;

use entity::webhook_deliveries::{self as rows, State, outcomes::Outcomes as Step};
use jiff::Timestamp;

use super::super::{Error, Result};
use super::{get, list};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;
/// Hours that can be looked back at: as long as deliveries are kept.
const MOST_HOURS: i64 = 30 * 24;
/// Deliveries of one subscription that are counted, the newest, when so many of them wait.
pub const MOST_COUNTED: u32 = 5_000;

/// The deliveries that were made in one hour, by where they stand now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    /// When the hour begins.
    pub starts_at: Timestamp,
    /// Arrived.
    pub delivered: u64,
    /// Failed so far, and tried again.
    pub failing: u64,
    /// Given up.
    pub dead: u64,
    /// Not tried yet, or held back.
    pub waiting: u64,
}

/// What came of deliveries, hour by hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcomes {
    /// The hours, the running one last; those without a delivery are there too.
    pub hours: Vec<Hour>,
    /// Whether older ones may have been left out, since [`MOST_COUNTED`] of a subscription wait. The hours then begin with
    /// that of the oldest that was counted; for several such subscriptions, with the latest of these hours.
    pub is_cut: bool,
}

impl Outcomes {
    /// The last of these hours, so many at most.
    pub fn last(&self, hours: usize) -> Self {
        let rest = self.hours.len().saturating_sub(hours);
        Self { hours: self.hours.iter().skip(rest).copied().collect(), is_cut: self.is_cut && rest == 0 }
    }
}

impl Hour {
    /// How many of a hundred that were tried have arrived, over all of these hours, rounded down; `None` when none was
    /// tried.
    pub fn success_percent(hours: &[Self]) -> Option<u64> {
        let delivered: u64 = hours.iter().map(|hour| hour.delivered).sum();
        let tried: u64 = hours.iter().map(|hour| hour.delivered + hour.failing + hour.dead).sum();
        (delivered * 100).checked_div(tried)
    }

    fn add(&mut self, outcomes: Step) {
        let count = match outcomes.state {
            State::Delivered => &mut self.delivered,
            State::Dead => &mut self.dead,
            State::Pending | State::Held if outcomes.attempted => &mut self.failing,
            State::Pending | State::Held => &mut self.waiting,
        };
        *count += outcomes.count.unsigned_abs();
    }
}

/// The deliveries of a subscription, or of all of the workspace, that were made in the last hours, the running one
/// last. Of a subscription of which many wait, the newest [`MOST_COUNTED`] are counted.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] on `hours` for less than 1 or more than 720.
pub async fn outcomes(
    app: &App,
    workspace: WorkspaceId,
    of: Option<SubscriptionId>,
    hours: i64,
) -> Result<Outcomes> {
    if !(1..=MOST_HOURS).contains(&hours) {
        return Err(Error::invalid("hours", format!("must be 1 to {MOST_HOURS}")));
    }
    let subscriptions = match of {
        Some(of) => vec![get(app, workspace, of).await?.id],
        None => list(app, workspace).await?.into_iter().map(|found| found.id).collect(),
    };
    let now_ms = app.clock.now_ms();
    let until = now_ms - now_ms.rem_euclid(HOUR_MS) + HOUR_MS;
    let first = until - hours * HOUR_MS;
    let empty = |starts_at| Hour { starts_at, delivered: 0, failing: 0, dead: 0, waiting: 0 };
    let starts = (0..hours).map(|hour| first + hour * HOUR_MS);
    let mut counted: BTreeMap<i64, Hour> = starts.map(|start| (start, empty(from_ms(start)))).collect();
    let mut oldest = None;
    let log = rows::in_workspace(workspace.uuid());
    for subscription in subscriptions {
        let (conn, made) = (app.db.read(), (first, until));
        let (found, newest) = log.outcomes(conn, subscription.uuid(), made, HOUR_MS, MOST_COUNTED).await?;
        oldest = oldest.max(if newest { cut(&found) } else { None });
        for outcomes in found {
            if let Some(hour) = counted.get_mut(&outcomes.starts_at) {
                hour.add(outcomes);
            }
        }
    }
    let hours = counted.split_off(&oldest.unwrap_or(first)).into_values().collect();
    Ok(Outcomes { hours, is_cut: oldest.is_some() })
}

/// When the oldest hour begins that was counted, where older ones may have been left out.
fn cut(found: &[Step]) -> Option<i64> {
    let all: i64 = found.iter().map(|one| one.count).sum();
    found.iter().map(|one| one.starts_at).min().filter(|_| all >= i64::from(MOST_COUNTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hours_are_whole_unless_the_first_counted_is_among_them() {
        let hour = |n| Hour { starts_at: from_ms(n), delivered: 1, failing: 0, dead: 0, waiting: 0 };
        let cut = Outcomes { hours: (0..3).map(hour).collect(), is_cut: true };
        assert_eq!(cut.last(2), Outcomes { hours: vec![hour(1), hour(2)], is_cut: false });
        assert_eq!((cut.last(3), cut.last(24)), (cut.clone(), cut.clone()));
    }

    #[test]
    fn the_success_rate_is_of_those_that_were_tried() {
        let hour =
            |delivered, failing, dead| Hour { starts_at: from_ms(0), delivered, failing, dead, waiting: 5 };
        assert_eq!(Hour::success_percent(&[hour(1, 1, 0), hour(1, 0, 0)]), Some(66));
        assert_eq!(Hour::success_percent(&[hour(0, 0, 2)]), Some(0));
        assert_eq!(Hour::success_percent(&[hour(0, 0, 0)]), None);
    }
}
