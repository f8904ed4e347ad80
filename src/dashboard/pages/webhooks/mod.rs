//! Webhooks: subscriptions, their deliveries, and dead letters. Pages call a subscription a webhook.
//!
//! A secret is shown only once, in the response to the form that created the subscription or rotated the secret.

mod body;
mod controls;
mod dead_letters;
mod delivery;
mod edit;
mod event_types;
mod filter;
mod list;
mod new;
mod outcomes;
mod replay;
mod rotate;
mod signing_keys;
mod state;
mod subscription;

use crate::routes::RouteTable;
use crate::ui::{Badge, Tone, badge, number};
use domain::webhooks::{
    Attempt, CappedCount, Delivery, DeliveryOrigin, DeliveryState, Subscription, SubscriptionState,
};
use foundation::id::{DeliveryId, ReplayId, SubscriptionId};

pub(super) use outcomes::{newest_label, outcomes_chart};
pub(super) use rotate::{OVERLAPS, overlap};

/// Path of the list of subscriptions.
const LIST: &str = "/dashboard/developer/webhooks";
/// Path of the dead letters of all subscriptions.
pub(super) const DEAD_LETTERS: &str = "/dashboard/developer/webhooks/dead-letters";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    let route = list::routes(route);
    let route = new::routes(route);
    let route = dead_letters::routes(route);
    let route = replay::routes(route);
    let route = signing_keys::routes(route);
    let route = controls::routes(route);
    let route = subscription::routes(route);
    let route = state::routes(route);
    let route = edit::routes(route);
    let route = rotate::routes(route);
    delivery::routes(route)
}

/// Returns the path of a subscription's page.
pub(super) fn path(subscription: &SubscriptionId) -> String {
    format!("{LIST}/{subscription}")
}

/// Returns the path of a delivery's page.
fn delivery_path(subscription: &SubscriptionId, delivery: &DeliveryId) -> String {
    format!("{LIST}/{subscription}/deliveries/{delivery}")
}

/// Returns the path of a replay's page.
fn replay_path(replay: &ReplayId) -> String {
    format!("{LIST}/replays/{replay}")
}

/// Renders the state of a subscription.
fn subscription_badge(subscription: &Subscription) -> Badge<'static> {
    match subscription.state {
        SubscriptionState::Paused => badge(Tone::Quiet, "paused"),
        SubscriptionState::Disabled => badge(Tone::Bad, "disabled"),
        SubscriptionState::Enabled if subscription.failing_since.is_some() => badge(Tone::Warn, "failing"),
        SubscriptionState::Enabled => badge(Tone::Good, "enabled"),
    }
}

/// Renders the state of a delivery.
fn delivery_badge(delivery: &Delivery) -> Badge<'static> {
    match delivery.state {
        DeliveryState::Delivered => badge(Tone::Good, "delivered"),
        DeliveryState::Dead => badge(Tone::Bad, "dead"),
        DeliveryState::Held => badge(Tone::Quiet, "held"),
        DeliveryState::Pending if delivery.attempts.is_empty() => badge(Tone::Busy, "pending"),
        DeliveryState::Pending => badge(Tone::Warn, "retrying"),
    }
}

/// Returns the outcome of an attempt: the response status, the failure code, or a dash if it has neither.
fn attempt_outcome(attempt: &Attempt) -> String {
    match (attempt.status, &attempt.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.clone(),
        (None, None) => "-".to_owned(),
    }
}

/// Returns the outcome of the most recent attempt, or an empty string without attempts.
fn last_outcome(delivery: &Delivery) -> String {
    delivery.attempts.last().map(attempt_outcome).unwrap_or_default()
}

/// Renders why the delivery was created, unless it is for a new event.
fn origin_badge(delivery: &Delivery) -> Option<Badge<'static>> {
    (delivery.origin != DeliveryOrigin::Event).then(|| badge(Tone::Quiet, delivery.origin.as_str()))
}

/// Formats a count: "1,204", "more than 10,000", "at least 5,000".
fn format_count(count: &CappedCount) -> String {
    match *count {
        CappedCount::Exactly(count) => number(count),
        CappedCount::MoreThan(count) => format!("more than {}", number(count)),
        CappedCount::AtLeast(count) => format!("at least {}", number(count)),
    }
}

/// Formats a number of deliveries: "One delivery", "1,204 deliveries", "More than 10,000 deliveries", "At least one delivery".
pub(super) fn delivery_count(count: &CappedCount) -> String {
    match *count {
        CappedCount::Exactly(count) => exact_delivery_count(count),
        CappedCount::MoreThan(count) => format!("More than {} deliveries", number(count)),
        CappedCount::AtLeast(1) => "At least one delivery".to_owned(),
        CappedCount::AtLeast(count) => format!("At least {}", exact_delivery_count(count)),
    }
}

/// Formats an exact number of deliveries: "One delivery", "1,204 deliveries".
fn exact_delivery_count(count: u64) -> String {
    if count == 1 { "One delivery".to_owned() } else { format!("{} deliveries", number(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_shows_whether_it_is_exact() {
        assert_eq!(exact_delivery_count(10_001), "10,001 deliveries");
        assert_eq!(delivery_count(&CappedCount::Exactly(1)), "One delivery");
        assert_eq!(delivery_count(&CappedCount::MoreThan(10_000)), "More than 10,000 deliveries");
        assert_eq!(format_count(&CappedCount::MoreThan(10_000)), "more than 10,000");
        assert_eq!(delivery_count(&CappedCount::AtLeast(1)), "At least one delivery");
        assert_eq!(delivery_count(&CappedCount::AtLeast(5_000)), "At least 5,000 deliveries");
    }
}
