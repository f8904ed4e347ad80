//! Webhooks: subscriptions, their secrets, and the deliveries that people look at and send again.
//!
//! Owns what a person may do. Never sends anything: a delivery that is due stands in the queue, and the worker takes
//! it from there.

mod again;
mod counted;
mod deliveries;
mod exchange;
mod outcomes;
mod queue;
mod replays;
mod secrets;
mod standing;
mod subscriptions;
mod url;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::page::Span;
use super::word::words;
use foundation::id::{DeliveryId, EventId, ReplayId, SubscriptionId, WorkspaceId};

pub use again::{count_chosen, replay_chosen, send_again, test, told};
pub use counted::Counted;
pub use deliveries::{dead, deliveries, reach, reach_dead, unreplayed, workspace_of};
pub use exchange::exchange;
pub use outcomes::{Hour, MOST_COUNTED, Outcomes, outcomes};
pub use queue::{Queue, queue};
pub use replays::{Wish, advance, cancel, count_some, replay, running, running_in, start, start_alone, wish};
pub use secrets::{Rotated, live, rotate};
pub use standing::{align, disable, enable, enable_whole, pause, waiting};
pub use subscriptions::{create, delete, edit, erase, find, get, list};

/// Whether a subscription's deliveries are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionState {
    /// They are sent.
    Enabled,
    /// Its owner holds them back.
    Paused,
    /// They are held back since its endpoint failed for seven days (seed 6).
    Disabled,
}

words!(SubscriptionState, "a subscription's state", {
    Enabled = "enabled", Paused = "paused", Disabled = "disabled",
});

/// A subscription: everything but its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Whose events it hears.
    pub workspace: WorkspaceId,
    /// Where they are sent.
    pub url: String,
    /// The types it wants, in the contract's order.
    pub event_types: Vec<String>,
    /// Whether they are sent.
    pub state: SubscriptionState,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    /// When it was disabled.
    pub disabled_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change of what its owner sees.
    pub updated_at: Timestamp,
}

/// A subscription to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// `https`, to a public address unless the operator opens others.
    pub url: String,
    /// At least one of [`crate::outbox::KINDS`], each once.
    pub event_types: Vec<String>,
}

/// A change of a subscription: what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// As in [`NewSubscription`].
    pub url: Option<String>,
    /// As in [`NewSubscription`].
    pub event_types: Option<Vec<String>>,
}

/// What becomes of the deliveries that a subscription held, once it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// They are sent.
    Send,
    /// They are deleted.
    Drop,
}

/// What came of the wish to enable a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enabled {
    /// It, as it is now.
    pub subscription: Subscription,
    /// Whether it was not enabled before.
    pub changed: bool,
    /// Held deliveries that were released at once, more of which may follow, or dropped.
    pub moved: u64,
}

/// Where a delivery stands. A delivered or dead one never changes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is to be sent, or being sent.
    Pending,
    /// It arrived.
    Delivered,
    /// It was given up.
    Dead,
    /// It waits for its subscription to be enabled.
    Held,
}

words!(DeliveryState, "a delivery's state", {
    Pending = "pending", Delivered = "delivered", Dead = "dead", Held = "held",
});

/// Why there is a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Its event happened.
    Event,
    /// A dead delivery is sent again.
    Replay,
    /// A delivered one is sent again.
    Resend,
    /// Its owner tries the subscription.
    Test,
}

words!(Origin, "a delivery's origin", { Event = "event", Replay = "replay", Resend = "resend", Test = "test" });

/// One event on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, which stays the same over its attempts.
    pub id: DeliveryId,
    /// Where it goes.
    pub subscription: SubscriptionId,
    /// What it tells of.
    pub event: EventId,
    /// The event's type.
    pub event_type: String,
    /// Why there is this delivery.
    pub origin: Origin,
    /// The delivery that it sends again; it may be pruned by now.
    pub replayed_from: Option<DeliveryId>,
    /// Where it stands.
    pub state: DeliveryState,
    /// When the next attempt is due, while it is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// When it was delivered or given up.
    pub settled_at: Option<Timestamp>,
    /// The attempts of the last 30 days, in their order.
    pub attempts: Vec<Attempt>,
}

/// One attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The first is 1.
    pub number: i32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The answer's status, when there was an answer.
    pub status: Option<i32>,
    /// The class of what went wrong, when there was none: `timeout`.
    pub error: Option<String>,
}

/// A delivery with all that was exchanged for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The delivery.
    pub delivery: Delivery,
    /// The delivery that it sends again, as long as that is kept.
    pub earlier: Option<DeliveryId>,
    /// The deliveries that send this one again, newest first.
    pub again: Vec<DeliveryId>,
    /// The body of every attempt, to the byte.
    pub body: Vec<u8>,
    /// What was sent and came back besides, one for each of the delivery's attempts, in their order.
    pub messages: Vec<Messages>,
}

/// What one attempt sent, beside the body, and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// The headers that were sent, names in lower case.
    pub request_headers: BTreeMap<String, String>,
    /// The answer, when there was one.
    pub answer: Option<Answer>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its headers, names in lower case; 16 KiB of them at most.
    pub headers: BTreeMap<String, String>,
    /// The first 16 KiB of its body, as it came.
    pub body: Vec<u8>,
}

/// Which deliveries of a subscription are wanted; an empty filter wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// That stand there.
    pub state: Option<DeliveryState>,
    /// Of events of this type.
    pub event_type: Option<String>,
    /// Made in this span.
    pub created: Span,
}

/// Which dead deliveries are wanted; an empty filter wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadFilter {
    /// Of this subscription.
    pub subscription: Option<SubscriptionId>,
    /// Of events of this type.
    pub event_type: Option<String>,
    /// Made in this span.
    pub created: Span,
}

/// How far a replay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayState {
    /// It goes on.
    Running,
    /// All is replayed.
    Done,
    /// It was ended early; what it replayed before is sent.
    Cancelled,
}

words!(ReplayState, "a replay's state", { Running = "running", Done = "done", Cancelled = "cancelled" });

/// What came of the wish for a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It was begun.
    Now(Replay),
    /// One of the same wish still runs, and nothing was begun.
    Before(Replay),
}

/// A job that replays dead deliveries, batch by batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Its id.
    pub id: ReplayId,
    /// Whose deliveries it replays.
    pub workspace: WorkspaceId,
    /// How far it is.
    pub state: ReplayState,
    /// Deliveries to replay when it began.
    pub total: u64,
    /// Of these: replayed.
    pub done: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}
