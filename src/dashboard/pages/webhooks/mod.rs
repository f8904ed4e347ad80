//! Webhooks: subscriptions, what was sent to them, and the dead letters of all.
//!
//! A subscription's secret is on the one page that answers the form which made it, and nowhere else.

mod dead_letters;
mod delivery;
mod edit;
mod events;
mod filter;
mod list;
mod new;
mod outcomes;
mod replay;
mod rotate;
mod shown;
mod standing;
mod subscription;

use crate::routes::Route;
use crate::ui::{Badge, Tone, badge, number};
use domain::webhooks::{Attempt, Counted, Delivery, DeliveryState, Subscription, SubscriptionState};
use foundation::id::{DeliveryId, ReplayId, SubscriptionId};

pub(super) use outcomes::{newest, outcomes};

/// The list of subscriptions.
const LIST: &str = "/dashboard/developer/webhooks";
/// The dead letters of all.
pub(super) const DEAD_LETTERS: &str = "/dashboard/developer/webhooks/dead-letters";

pub(super) fn routes(route: Route) -> Route {
    let route = list::routes(route);
    let route = new::routes(route);
    let route = dead_letters::routes(route);
    let route = replay::routes(route);
    let route = subscription::routes(route);
    let route = standing::routes(route);
    let route = edit::routes(route);
    let route = rotate::routes(route);
    delivery::routes(route)
}

/// The page of a subscription.
pub(super) fn path(of: &SubscriptionId) -> String {
    format!("{LIST}/{of}")
}

/// The page of a delivery.
fn delivery_path(subscription: &SubscriptionId, delivery: &DeliveryId) -> String {
    format!("{LIST}/{subscription}/deliveries/{delivery}")
}

/// The page of a replay.
fn replay_path(replay: &ReplayId) -> String {
    format!("{LIST}/replays/{replay}")
}

/// How a subscription stands.
fn standing(of: &Subscription) -> Badge<'static> {
    match of.state {
        SubscriptionState::Paused => badge(Tone::Quiet, "paused"),
        SubscriptionState::Disabled => badge(Tone::Bad, "disabled"),
        SubscriptionState::Enabled if of.failing_since.is_some() => badge(Tone::Warn, "failing"),
        SubscriptionState::Enabled => badge(Tone::Good, "enabled"),
    }
}

/// How a delivery stands.
fn state(of: &Delivery) -> Badge<'static> {
    match of.state {
        DeliveryState::Delivered => badge(Tone::Good, "delivered"),
        DeliveryState::Dead => badge(Tone::Bad, "dead"),
        DeliveryState::Held => badge(Tone::Quiet, "held"),
        DeliveryState::Pending if of.attempts.is_empty() => badge(Tone::Busy, "pending"),
        DeliveryState::Pending => badge(Tone::Warn, "retrying"),
    }
}

/// What came of an attempt, in a word: the status, or the class of what went wrong.
fn outcome(of: &Attempt) -> String {
    match (of.status, &of.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.clone(),
        (None, None) => "-".to_owned(),
    }
}

/// The last attempt's outcome; empty while there is none.
fn last(of: &Delivery) -> String {
    of.attempts.last().map(outcome).unwrap_or_default()
}

/// "1,204", "more than 10,000", "at least 5,000".
fn some(count: &Counted) -> String {
    match *count {
        Counted::Exactly(count) => number(count),
        Counted::MoreThan(count) => format!("more than {}", number(count)),
        Counted::AtLeast(count) => format!("at least {}", number(count)),
    }
}

/// "One delivery", "1,204 deliveries", "More than 10,000 deliveries", "At least one delivery".
pub(super) fn counted(count: &Counted) -> String {
    match *count {
        Counted::Exactly(count) => deliveries(count),
        Counted::MoreThan(count) => format!("More than {} deliveries", number(count)),
        Counted::AtLeast(1) => "At least one delivery".to_owned(),
        Counted::AtLeast(count) => format!("At least {}", deliveries(count)),
    }
}

/// "One delivery", "1,204 deliveries".
fn deliveries(count: u64) -> String {
    if count == 1 { "One delivery".to_owned() } else { format!("{} deliveries", number(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_number_is_never_told_as_more() {
        assert_eq!(deliveries(10_001), "10,001 deliveries");
        assert_eq!(counted(&Counted::Exactly(1)), "One delivery");
        assert_eq!(counted(&Counted::MoreThan(10_000)), "More than 10,000 deliveries");
        assert_eq!(some(&Counted::MoreThan(10_000)), "more than 10,000");
        assert_eq!(counted(&Counted::AtLeast(1)), "At least one delivery");
        assert_eq!(counted(&Counted::AtLeast(5_000)), "At least 5,000 deliveries");
    }
}
