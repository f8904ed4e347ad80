//! The fast path hands new deliveries over to the worker of the same process right after the commit.
//!
//! While a worker is registered, a transaction may write a new delivery that is already leased to the worker
//! (pre-leased). After the commit, the delivery is handed over to the worker, which need not claim it. The number of
//! pre-leased deliveries is limited for each subscription, so that an endpoint that hangs does not block the others,
//! and for each workspace to its share of the worker's slots (see [`DeliverySlots`]). All others go through the queue.
//! A delivery that is lost after it was handed over is due again when its lease expires. The fast path never queries
//! the database. It also holds the [`WakeSignal`] for deliveries that go through the queue.
//!
//! Without permits, all deliveries go through the queue. The maximum rate on SQLite is then lower, and the time from the commit to
//! the receipt longer on both databases (medians of five alternating runs of the scenario `events` of `cargo xtask bench`):
//!
//! | | SQLite, with | without | PostgreSQL, with | without |
//! |---|---|---|---|---|
//! | 200 events/s to 1 subscription, p95 | 0.63 ms | 1.10 ms | 0.65 ms | 1.72 ms |
//! | 200 events/s to 10 subscriptions, p95 | 1.09 ms | 1.64 ms | 0.97 ms | 4.92 ms |
//! | maximum rate to 1 subscription, deliveries/s | 6,304 | 5,800 | 6,785 | 6,813 |
//! | maximum rate to 10 subscriptions, deliveries/s | 12,992 | 10,610 | 10,511 | 10,112 |

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use entity::webhook_deliveries::Model;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use uuid::Uuid;

use super::slots::{DeliverySlot, DeliverySlots};
use super::wake_signal::WakeSignal;

/// Maximum number of pre-leased deliveries of one subscription.
pub const MAX_PRE_LEASED_PER_SUBSCRIPTION: usize = 64;
/// Maximum number of pre-leased deliveries of all subscriptions.
const MAX_PRE_LEASED: usize = 1_024;
/// A subscription gets another permit only while it has fewer than the number of unused permits divided by this. Two
/// dozen endpoints that hang therefore leave permits for others.
const SHARE_DIVISOR: usize = 4;

/// Hands new deliveries over to the worker of this process. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct FastPath {
    state: Arc<Mutex<FastPathState>>,
    wake_signal: Arc<WakeSignal>,
    fanout_signal: Arc<Notify>,
}

#[derive(Debug, Default)]
struct FastPathState {
    worker: Option<RegisteredWorker>,
    /// The number of granted permits of each subscription that has any.
    permits: HashMap<Uuid, usize>,
    /// The number of granted permits of all subscriptions.
    permit_count: usize,
}

/// A worker that receives pre-leased deliveries.
#[derive(Debug)]
struct RegisteredWorker {
    lease_token: Uuid,
    lease: Duration,
    sender: UnboundedSender<PreLeasedDelivery>,
    slots: DeliverySlots,
}

/// A delivery that was committed with the lease of the worker of this process.
#[derive(Debug)]
pub struct PreLeasedDelivery {
    /// The delivery's row.
    pub delivery: Model,
    /// The exact bytes of the event's body.
    pub body: Bytes,
    /// The context of the span that appended the event, as the header `traceparent`. `None` if its trace is not recorded.
    pub traceparent: Option<String>,
    /// When the lease expires, by the clock of this process, in milliseconds since the epoch.
    pub lease_ends_ms: i64,
    /// The permit of the delivery. Dropping it releases the permit and its slot.
    pub permit: FastPathPermit,
}

/// The permission to hand over one delivery of a subscription to the worker. Dropping it releases the permit and its
/// slot.
#[derive(Debug)]
pub struct FastPathPermit {
    state: Arc<Mutex<FastPathState>>,
    subscription: Uuid,
    sender: UnboundedSender<PreLeasedDelivery>,
    /// Identifies the worker's lease.
    pub lease_token: Uuid,
    lease: Duration,
    /// The worker's slot for the delivery.
    _slot: DeliverySlot,
}

impl FastPath {
    /// Returns the signal that wakes the worker for due deliveries that are not pre-leased.
    pub fn wake_signal(&self) -> &WakeSignal {
        &self.wake_signal
    }

    /// Returns the signal that wakes the task that writes the deliveries of events with many subscriptions. Like the
    /// wake signal, it is only a hint: the task also polls.
    pub fn fanout_signal(&self) -> &Notify {
        &self.fanout_signal
    }

    /// Registers a worker whose leases have this token and duration. Returns the receiver of its pre-leased deliveries, each of
    /// which occupies one of its slots. Returns `None` while another worker of this process is registered.
    pub fn register(
        &self,
        lease_token: Uuid,
        lease: Duration,
        slots: DeliverySlots,
    ) -> Option<UnboundedReceiver<PreLeasedDelivery>> {
        let mut state = locked(&self.state);
        if state.worker.is_some() {
            return None;
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        state.worker = Some(RegisteredWorker { lease_token, lease, sender, slots });
        Some(receiver)
    }

    /// Removes the registration of the worker. Deliveries that already have a permit may still be handed over.
    pub fn unregister(&self) {
        locked(&self.state).worker = None;
    }

    /// Returns a permit for a new delivery of this subscription of a workspace. Returns `None` when no worker is
    /// registered, or when the subscription has its maximum number of permits or the workspace its maximum number of
    /// slots.
    pub(super) fn acquire_permit(&self, workspace: Uuid, subscription: Uuid) -> Option<FastPathPermit> {
        let mut state = locked(&self.state);
        let FastPathState { worker, permits, permit_count } = &mut *state;
        let worker = worker.as_ref()?;
        let limit = ((MAX_PRE_LEASED - *permit_count) / SHARE_DIVISOR).min(MAX_PRE_LEASED_PER_SUBSCRIPTION);
        if permits.get(&subscription).copied().unwrap_or_default() >= limit {
            return None;
        }
        let slot = worker.slots.acquire_within_share(workspace)?;
        *permits.entry(subscription).or_default() += 1;
        *permit_count += 1;
        Some(FastPathPermit {
            state: Arc::clone(&self.state),
            subscription,
            sender: worker.sender.clone(),
            lease_token: worker.lease_token,
            lease: worker.lease,
            _slot: slot,
        })
    }
}

impl FastPathPermit {
    /// Hands a committed delivery over to the worker. If no worker receives it, it is due when its lease expires.
    pub(super) fn hand_over(
        self,
        delivery: Model,
        body: Bytes,
        traceparent: Option<String>,
        lease_ends_ms: i64,
    ) {
        let sender = self.sender.clone();
        let _ = sender.send(PreLeasedDelivery { delivery, body, traceparent, lease_ends_ms, permit: self });
    }

    /// Returns the duration of the lease in milliseconds.
    pub(super) fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

impl Drop for FastPathPermit {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        state.permit_count -= 1;
        if let Some(count) = state.permits.get_mut(&self.subscription) {
            *count -= 1;
            if *count == 0 {
                state.permits.remove(&self.subscription);
            }
        }
    }
}

fn locked(state: &Mutex<FastPathState>) -> MutexGuard<'_, FastPathState> {
    // No code panics while it holds the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const ACME: Uuid = Uuid::from_u128(100);

    /// Registers a worker with this number of slots.
    fn register(fast_path: &FastPath, slots: usize) -> Option<UnboundedReceiver<PreLeasedDelivery>> {
        fast_path.register(Uuid::nil(), LEASE, DeliverySlots::new(slots))
    }

    #[test]
    fn no_permit_is_granted_without_a_registered_worker() {
        let fast_path = FastPath::default();
        assert!(fast_path.acquire_permit(ACME, Uuid::from_u128(1)).is_none());
        let receiver = register(&fast_path, 2_048);
        assert!(receiver.is_some() && register(&fast_path, 2_048).is_none());
        assert!(fast_path.acquire_permit(ACME, Uuid::from_u128(1)).is_some());
        fast_path.unregister();
        assert!(fast_path.acquire_permit(ACME, Uuid::from_u128(1)).is_none());
    }

    #[test]
    fn a_subscription_has_a_limit_of_permits_and_can_reuse_dropped_ones() {
        let fast_path = FastPath::default();
        let _receiver = register(&fast_path, 2_048);
        let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut permits: Vec<FastPathPermit> = (0..MAX_PRE_LEASED_PER_SUBSCRIPTION)
            .filter_map(|_| fast_path.acquire_permit(ACME, first))
            .collect();
        assert_eq!(permits.len(), MAX_PRE_LEASED_PER_SUBSCRIPTION);
        assert!(fast_path.acquire_permit(ACME, first).is_none());
        assert!(fast_path.acquire_permit(ACME, second).is_some());
        permits.pop();
        assert!(fast_path.acquire_permit(ACME, first).is_some());
        drop(permits);
        assert_eq!(locked(&fast_path.state).permit_count, 0);
    }

    #[test]
    fn two_dozen_subscriptions_that_hang_leave_permits_for_another() {
        let fast_path = FastPath::default();
        let _receiver = register(&fast_path, 2_048);
        let mut permits = Vec::new();
        for number in 0..25 {
            let before = permits.len();
            let id = Uuid::from_u128(number);
            permits.extend(std::iter::from_fn(|| fast_path.acquire_permit(id, id)));
            assert!(permits.len() > before, "subscription {number} gets a permit");
        }
        assert!(permits.len() <= MAX_PRE_LEASED);
    }

    #[test]
    fn subscriptions_of_one_workspace_leave_slots_for_others() {
        let fast_path = FastPath::default();
        let _receiver = register(&fast_path, 400);
        let _other = fast_path.acquire_permit(Uuid::from_u128(101), Uuid::from_u128(5_001));
        let permits = (0..1_000).filter_map(|number| fast_path.acquire_permit(ACME, Uuid::from_u128(number)));
        let permits: Vec<FastPathPermit> = permits.collect();
        assert_eq!(permits.len(), 100, "a quarter of the worker's slots");
        assert!(fast_path.acquire_permit(Uuid::from_u128(101), Uuid::from_u128(5_000)).is_some());
    }
}
