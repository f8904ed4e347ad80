//! Webhooks: subscriptions, their secrets and delivery controls, and the deliveries that users view and send again.
//!
//! Never sends anything: a due delivery is a row in the queue, and the worker claims it. A delivery is settled once it
//! is delivered or dead, and unsettled while it is pending or held.

mod capped_count;
pub mod controls;
mod deliveries;
mod delivery_detail;
pub mod headers;
mod outcomes;
mod queue;
pub mod recovery;
pub mod replays;
mod resend;
mod row;
mod secrets;
pub mod signing_keys;
mod state;
mod subscriptions;
mod url;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::page::TimeSpan;
use super::text_enum::text_enum;
use foundation::id::{DeliveryId, EventId, ReplayId, SubscriptionId, WorkspaceId};

pub use capped_count::CappedCount;
pub use deliveries::{
    dead_deliveries, dead_search_end, deliveries, deliveries_of_all, search_end, unreplayed_deliveries,
    workspace_of,
};
pub use delivery_detail::delivery_detail;
pub use outcomes::{HourlyOutcomes, MAX_COUNTED, Outcomes, outcomes};
pub use queue::{QueueStatus, earliest_due_ms, queue_status};
pub use replays::ReplayPreview;
pub use resend::{audit_entry, count_replayable, replay_chosen, send_again, send_one_again, send_test};
pub use secrets::{RotatedSecret, active_secrets, rotate};
pub use state::{align_deliveries, count_unsettled, disable, enable, enable_in_batches, pause};
pub use subscriptions::{create, delete, edit, find, get, get_locked, list, list_page, purge_deleted};
pub use url::is_same_server;

/// Whether a subscription's deliveries are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionState {
    /// Its deliveries are sent.
    Enabled,
    /// A user paused it: deliveries are held.
    Paused,
    /// Every attempt failed for seven days: deliveries are held.
    Disabled,
}

text_enum!(SubscriptionState, "a subscription's state", {
    Enabled = "enabled", Paused = "paused", Disabled = "disabled",
});

/// A subscription without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The subscription's id.
    pub id: SubscriptionId,
    /// The workspace whose events it receives.
    pub workspace: WorkspaceId,
    /// The URL of its endpoint.
    pub url: String,
    /// What the endpoint is for, for display.
    pub description: Option<String>,
    /// The types of events that it receives, in the contract's order.
    pub event_types: Vec<String>,
    /// Whether its deliveries are sent.
    pub state: SubscriptionState,
    /// The time since which every attempt has failed. `None` if the most recent attempt succeeded, or if there was none
    /// since the subscription was created or enabled or its URL changed.
    pub failing_since: Option<Timestamp>,
    /// When it was disabled. `None` unless it is disabled.
    pub disabled_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its URL, description, event types, state or delivery controls last changed.
    pub updated_at: Timestamp,
    /// The conditions that events must meet, one per line; empty without conditions. See [`crate::outbox::filters`].
    pub filter: String,
    /// The names of its custom request headers, in lower case.
    pub header_names: Vec<String>,
    /// The maximum number of deliveries per second, if it has one.
    pub rate: Option<i32>,
    /// Whether its requests also have an Ed25519 signature.
    pub ed25519: bool,
    /// The offer to replay what died during an outage, if there is one.
    pub offer: Option<recovery::Offer>,
}

/// A subscription to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// An `https` URL with a public address, unless the operator allows others.
    pub url: String,
    /// At least one of [`crate::outbox::EVENT_TYPES`], each once.
    pub event_types: Vec<String>,
    /// What the endpoint is for: one line of at most 200 characters.
    pub description: Option<String>,
}

/// A change of a subscription. Fields that are `None` remain unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// As in [`NewSubscription`].
    pub url: Option<String>,
    /// As in [`NewSubscription`].
    pub event_types: Option<Vec<String>>,
    /// As in [`NewSubscription`]. Empty for none.
    pub description: Option<String>,
}

/// What happens to a subscription's held deliveries when it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldAction {
    /// They are sent.
    Send,
    /// They are deleted, as are pending deliveries that are not in flight.
    Drop,
}

/// The result of enabling a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnabledSubscription {
    /// The subscription after the change.
    pub subscription: Subscription,
    /// Whether this call enabled it. False if it was already enabled.
    pub changed: bool,
    /// With [`HeldAction::Drop`], the number of deliveries that were dropped. With [`HeldAction::Send`], the number of
    /// held deliveries that were released in the same transaction; the worker releases the rest of a long queue.
    pub released_or_dropped: u64,
}

/// The state of a delivery. [`Delivered`](Self::Delivered) and [`Dead`](Self::Dead) are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is to be sent, or in flight.
    Pending,
    /// It was delivered.
    Delivered,
    /// It was dead-lettered: it failed and is not retried automatically.
    Dead,
    /// It is sent only after its subscription is enabled.
    Held,
}

text_enum!(DeliveryState, "a delivery's state", {
    Pending = "pending", Delivered = "delivered", Dead = "dead", Held = "held",
});

/// Why a delivery was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOrigin {
    /// For its event.
    Event,
    /// To send a dead delivery again.
    Replay,
    /// To send a delivery again that was delivered.
    Resend,
    /// To test the subscription.
    Test,
}

text_enum!(DeliveryOrigin, "a delivery's origin", { Event = "event", Replay = "replay", Resend = "resend", Test = "test" });

/// The delivery of an event to a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The delivery's id, the same for all its attempts.
    pub id: DeliveryId,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The event.
    pub event: EventId,
    /// The event's type.
    pub event_type: String,
    /// Why the delivery was created.
    pub origin: DeliveryOrigin,
    /// The delivery that it sends again, if any. That delivery may have been pruned since.
    pub replayed_from: Option<DeliveryId>,
    /// Its state.
    pub state: DeliveryState,
    /// When the next attempt is due. `None` unless it is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// Whether a worker has leased it to send it. The lease of a worker that was killed may have expired.
    pub is_leased: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it became delivered or dead. `None` before that.
    pub settled_at: Option<Timestamp>,
    /// The attempts of the last 30 days, in order.
    pub attempts: Vec<Attempt>,
}

impl Delivery {
    /// Returns whether it waits only because of the rate of its subscription: it is due, and not being sent.
    pub fn waits_for_rate(&self, subscription: &Subscription, now: Timestamp) -> bool {
        subscription.rate.is_some()
            && subscription.state == SubscriptionState::Enabled
            && !self.is_leased
            && self.next_attempt_at.is_some_and(|at| at <= now)
    }
}

/// One attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The number of the attempt; the first is 1.
    pub number: i32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The status of the response; `None` without a response.
    pub status: Option<i32>,
    /// The code of the failure when there was no response, such as `timeout`.
    pub error: Option<String>,
}

/// A delivery with the requests and responses of all stored attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryDetail {
    /// The delivery.
    pub delivery: Delivery,
    /// The delivery that it sends again, if any. `None` after that delivery was pruned.
    pub original: Option<DeliveryId>,
    /// The deliveries that send this one again, newest first.
    pub replays: Vec<DeliveryId>,
    /// The exact bytes of the body, which are the same in every attempt.
    pub body: Vec<u8>,
    /// The request headers and the response of each of `delivery.attempts`, in the same order.
    pub messages: Vec<AttemptMessages>,
}

/// The request headers and the response of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptMessages {
    /// The headers that were sent, with names in lower case.
    pub request_headers: BTreeMap<String, String>,
    /// The response, when there was one.
    pub response: Option<AttemptResponse>,
}

/// The response to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResponse {
    /// The headers, with names in lower case, at most 16 KiB.
    pub headers: BTreeMap<String, String>,
    /// The first 16 KiB of the body, not decoded.
    pub body: Vec<u8>,
}

/// A filter of a subscription's deliveries. The default matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Only deliveries of events of this type.
    pub event_type: Option<String>,
    /// Only deliveries created in this span.
    pub created: TimeSpan,
}

/// A filter of a workspace's dead deliveries. The default matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadFilter {
    /// Only deliveries of this subscription.
    pub subscription: Option<SubscriptionId>,
    /// Only deliveries of events of this type.
    pub event_type: Option<String>,
    /// Only deliveries created in this span.
    pub created: TimeSpan,
}

/// The state of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayState {
    /// Deliveries may remain to be replayed.
    Running,
    /// All deliveries were replayed, or skipped because another delivery already sends them again.
    Done,
    /// It was canceled. Deliveries that it had already created are still sent.
    Canceled,
}

text_enum!(ReplayState, "a replay's state", { Running = "running", Done = "done", Canceled = "cancelled" });

/// The result of starting a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayStart {
    /// The replay was started.
    Started(Replay),
    /// A replay with the same filter is already running, so none was started.
    AlreadyRunning(Replay),
}

/// A job that replays dead deliveries in batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The replay's id.
    pub id: ReplayId,
    /// The workspace whose deliveries it replays.
    pub workspace: WorkspaceId,
    /// Its state.
    pub state: ReplayState,
    /// The number of deliveries to replay, counted shortly before it started.
    pub total: u64,
    /// The number of deliveries replayed so far.
    pub done: u64,
    /// When it started.
    pub created_at: Timestamp,
    /// When it ended. `None` while it is running.
    pub ended_at: Option<Timestamp>,
}
