//! The short way from a commit to the worker of the same process: deliveries that are born in its hand.
//!
//! While a worker has the desk open, a new delivery may be written with the worker's lease on it, and is handed over
//! once it is committed: nobody has to claim it. A few of each subscription at a time, so that one whose endpoint
//! hangs leaves the others their turns, and of each workspace no more than its share of the worker's places; the rest takes
//! the way through the queue. What is handed over and lost is due
//! again when its lease ends. Beside it hangs the bell for what goes through the queue. Never asks the database anything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use entity::webhook_deliveries::Model;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use uuid::Uuid;

use super::bell::Bell;
use super::shares::{Share, Shares};

/// Deliveries of one subscription that are born in hand at once, at most.
pub const OF_ONE: usize = 64;
/// Deliveries of all subscriptions.
const OF_ALL: usize = 1_024;
/// What is left of these in parts of which one subscription may have one: two dozen that hang leave room for others. Past
/// that, what is new goes through the queue.
const SHARES: usize = 4;

/// Where new deliveries and the worker meet; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Handoff {
    state: Arc<Mutex<State>>,
    bell: Arc<Bell>,
    fanout: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    desk: Option<Desk>,
    /// Taken places, by subscription.
    taken: HashMap<Uuid, usize>,
    all: usize,
}

/// A worker that takes deliveries over.
#[derive(Debug)]
struct Desk {
    lease_token: Uuid,
    lease: Duration,
    sender: UnboundedSender<Born>,
    shares: Shares,
}

/// A delivery that was committed under the lease of the worker of this process.
#[derive(Debug)]
pub struct Born {
    /// Its row.
    pub delivery: Model,
    /// The event's body, to the byte.
    pub body: Bytes,
    /// When the lease ends by the clock of this process, in milliseconds since the epoch.
    pub lease_ends_ms: i64,
    /// Its place, which is another's once this is dropped.
    pub place: Place,
}

/// The right to hand over one delivery of a subscription.
#[derive(Debug)]
pub struct Place {
    state: Arc<Mutex<State>>,
    subscription: Uuid,
    sender: UnboundedSender<Born>,
    /// Names the lease.
    pub lease_token: Uuid,
    lease: Duration,
    /// The worker's place for it.
    _share: Share,
}

impl Handoff {
    /// Rings for what is due and was not handed over.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Wakes whoever writes the deliveries of events that many subscriptions want. Only a hint, too.
    pub fn fanout(&self) -> &Notify {
        &self.fanout
    }

    /// Opens the desk for a worker whose leases have this name and length; what is handed over comes out of the
    /// receiver. Each takes one of the worker's places. `None` while another worker of this process has it.
    pub fn open(
        &self,
        lease_token: Uuid,
        lease: Duration,
        shares: Shares,
    ) -> Option<UnboundedReceiver<Born>> {
        let mut state = locked(&self.state);
        if state.desk.is_some() {
            return None;
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        state.desk = Some(Desk { lease_token, lease, sender, shares });
        Some(receiver)
    }

    /// Closes the desk. What was promised a place before may still come.
    pub fn close(&self) {
        locked(&self.state).desk = None;
    }

    /// A place for a new delivery of this subscription of a workspace, while there is one.
    pub(super) fn place(&self, workspace: Uuid, subscription: Uuid) -> Option<Place> {
        let mut state = locked(&self.state);
        let State { desk, taken, all } = &mut *state;
        let desk = desk.as_ref()?;
        let share = ((OF_ALL - *all) / SHARES).min(OF_ONE);
        if taken.get(&subscription).copied().unwrap_or_default() >= share {
            return None;
        }
        let share = desk.shares.within(workspace)?;
        *taken.entry(subscription).or_default() += 1;
        *all += 1;
        Some(Place {
            state: Arc::clone(&self.state),
            subscription,
            sender: desk.sender.clone(),
            lease_token: desk.lease_token,
            lease: desk.lease,
            _share: share,
        })
    }
}

impl Place {
    /// Hands a committed delivery over. One that nobody takes is due when its lease ends.
    pub(super) fn hand_over(self, delivery: Model, body: Bytes, lease_ends_ms: i64) {
        let sender = self.sender.clone();
        let _ = sender.send(Born { delivery, body, lease_ends_ms, place: self });
    }

    /// The length of the lease in milliseconds.
    pub(super) fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        state.all -= 1;
        if let Some(of_one) = state.taken.get_mut(&self.subscription) {
            *of_one -= 1;
            if *of_one == 0 {
                state.taken.remove(&self.subscription);
            }
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Nothing panics while it holds the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const ACME: Uuid = Uuid::from_u128(100);

    /// A desk with so many places.
    fn open(handoff: &Handoff, places: usize) -> Option<UnboundedReceiver<Born>> {
        handoff.open(Uuid::nil(), LEASE, Shares::new(places))
    }

    #[test]
    fn nothing_is_handed_over_while_no_worker_is_there() {
        let handoff = Handoff::default();
        assert!(handoff.place(ACME, Uuid::from_u128(1)).is_none());
        let receiver = open(&handoff, 2_048);
        assert!(receiver.is_some() && open(&handoff, 2_048).is_none());
        assert!(handoff.place(ACME, Uuid::from_u128(1)).is_some());
        handoff.close();
        assert!(handoff.place(ACME, Uuid::from_u128(1)).is_none());
    }

    #[test]
    fn a_subscription_has_a_few_places_and_gets_them_back() {
        let handoff = Handoff::default();
        let _receiver = open(&handoff, 2_048);
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut places: Vec<Place> = (0..OF_ONE).filter_map(|_| handoff.place(ACME, one)).collect();
        assert_eq!(places.len(), OF_ONE);
        assert!(handoff.place(ACME, one).is_none());
        assert!(handoff.place(ACME, other).is_some());
        places.pop();
        assert!(handoff.place(ACME, one).is_some());
        drop(places);
        assert_eq!(locked(&handoff.state).all, 0);
    }

    #[test]
    fn two_dozen_that_hang_leave_room_for_another() {
        let handoff = Handoff::default();
        let _receiver = open(&handoff, 2_048);
        let mut held = Vec::new();
        for number in 0..25 {
            let before = held.len();
            let of = Uuid::from_u128(number);
            held.extend(std::iter::from_fn(|| handoff.place(of, of)));
            assert!(held.len() > before, "subscription {number} finds a place");
        }
        assert!(held.len() <= OF_ALL);
    }

    #[test]
    fn subscriptions_of_one_workspace_leave_the_others_their_places() {
        let handoff = Handoff::default();
        let _receiver = open(&handoff, 400);
        let ours = (0..1_000).filter_map(|number| handoff.place(ACME, Uuid::from_u128(number)));
        let ours: Vec<Place> = ours.collect();
        assert_eq!(ours.len(), 100, "a quarter of the worker's places");
        assert!(handoff.place(Uuid::from_u128(101), Uuid::from_u128(5_000)).is_some());
    }
}
