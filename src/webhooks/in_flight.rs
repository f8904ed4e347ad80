//! The in-flight set: the deliveries that are being sent or wait for their endpoint, their slots, and their completions.
//!
//! Limits the number of these deliveries in total, and of concurrent requests to one endpoint. Reads only targets from the database. A delivery
//! is either claimed from the queue, or pre-leased: committed under this worker's lease and passed to it by the fast
//! path, with a permit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use entity::webhook_deliveries::queue::MAX_LEASED_WITH_RATE;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::attempt::{CompletedAttempt, attempt};
use super::claim::{Lease, LeasedDelivery};
use super::outbound::WebhookClient;
use super::target::CachedTarget;
use domain::app::App;
use domain::outbox::{
    Capacity, DeliverySlot, DeliverySlots, FastPathPermit, MAX_PRE_LEASED_PER_SUBSCRIPTION,
};
use foundation::secret::Seal;

/// Maximum number of deliveries in flight in one worker.
pub(super) const MAX_IN_FLIGHT: usize = 2_048;
/// Maximum number of concurrent requests to one subscription's endpoint.
const MAX_REQUESTS_PER_ENDPOINT: usize = 64;
/// How long a delivery keeps its slot when it could not be sent for lack of local resources. Also the minimum interval
/// between warnings about this.
const EXHAUSTED_PAUSE: Duration = Duration::from_secs(1);
const _: () = assert!(
    MAX_PRE_LEASED_PER_SUBSCRIPTION <= MAX_REQUESTS_PER_ENDPOINT,
    "pre-leased deliveries must be sent at once, well before their lease expires"
);
const _: () = assert!(
    MAX_LEASED_WITH_RATE as usize <= MAX_REQUESTS_PER_ENDPOINT,
    "deliveries that a rate has counted must be sent at once"
);

/// The in-flight set of a worker. Clones share it.
#[derive(Clone)]
pub(super) struct InFlight {
    shared: Arc<InFlightState>,
}

struct InFlightState {
    app: App,
    seal: Arc<Seal>,
    client: WebhookClient,
    completions: UnboundedSender<Completion>,
    slots: DeliverySlots,
    endpoint_slots: Mutex<HashMap<Uuid, Arc<EndpointSlot>>>,
    running: Mutex<JoinSet<()>>,
    /// The lease token of each running delivery, by delivery id.
    leases: Mutex<HashMap<Uuid, Uuid>>,
    /// When the most recent warning about exhausted local resources was logged.
    last_warning: Mutex<Option<Instant>>,
}

/// What the deliveries to one subscription's endpoint share: the limit of concurrent requests and the target.
struct EndpointSlot {
    requests: Semaphore,
    target: CachedTarget,
}

/// A delivery that has left the in-flight set, or could not enter it. Dropping it frees the slot of the delivery, if it has one.
pub(super) struct Completion {
    /// The attempt, or the delivery when it was not sent.
    pub(super) outcome: Result<CompletedAttempt, LeasedDelivery>,
    /// The slot of a claimed delivery. `None` for a pre-leased delivery, or if the delivery never had a slot: none was free, or its
    /// claim returned an error.
    slot: Option<DeliverySlot>,
    /// The permit of a pre-leased delivery, which includes a slot. `None` for a claimed delivery.
    permit: Option<FastPathPermit>,
}

impl Completion {
    /// Returns the completion of a delivery that was never in the in-flight set.
    pub(super) fn unsent(delivery: LeasedDelivery) -> Self {
        Self { outcome: Err(delivery), slot: None, permit: None }
    }

    /// Returns whether the delivery still occupies a slot.
    pub(super) fn has_slot(&self) -> bool {
        self.slot.is_some() || self.permit.is_some()
    }

    /// Returns the delivery's workspace.
    pub(super) fn workspace(&self) -> Uuid {
        self.leased().delivery.workspace_id
    }

    /// Returns the lease under which the delivery was in flight.
    pub(super) fn lease(&self) -> &Lease {
        &self.leased().lease
    }

    /// Returns whether the delivery was claimed from the queue, and not pre-leased.
    pub(super) fn was_claimed(&self) -> bool {
        self.permit.is_none()
    }

    /// Returns the delivery's subscription.
    pub(super) fn subscription(&self) -> Uuid {
        self.leased().delivery.subscription_id
    }

    fn leased(&self) -> &LeasedDelivery {
        match &self.outcome {
            Ok(attempt) => &attempt.leased,
            Err(leased) => leased,
        }
    }
}

impl InFlight {
    /// Creates an empty in-flight set, and the receiver of its completions.
    pub(super) fn new(
        app: App,
        seal: Arc<Seal>,
        client: WebhookClient,
    ) -> (Self, UnboundedReceiver<Completion>) {
        let (completions, receiver) = mpsc::unbounded_channel();
        let slots = DeliverySlots::new(MAX_IN_FLIGHT);
        let (endpoint_slots, running, leases) = (Mutex::default(), Mutex::default(), Mutex::default());
        let last_warning = Mutex::default();
        let shared = InFlightState {
            app,
            seal,
            client,
            completions,
            slots,
            endpoint_slots,
            running,
            leases,
            last_warning,
        };
        (Self { shared: Arc::new(shared) }, receiver)
    }

    /// Returns the worker's slots, for pre-leased deliveries.
    pub(super) fn slots(&self) -> DeliverySlots {
        self.shared.slots.clone()
    }

    /// Returns how many deliveries may be claimed once these completions are recorded, in total and of each workspace.
    pub(super) fn capacity_after(&self, completions: &[Completion]) -> Capacity {
        let mut freed = HashMap::new();
        let with_slot = completions.iter().filter(|completion| completion.has_slot());
        with_slot.for_each(|completion| *freed.entry(completion.workspace()).or_default() += 1);
        self.shared.slots.capacity_after(&freed)
    }

    /// Returns the number of slots occupied by permits, running attempts, and completions that are not recorded yet.
    pub(super) fn occupied_slots(&self) -> usize {
        MAX_IN_FLIGHT - self.shared.slots.free()
    }

    /// Returns the number of a subscription's deliveries that are being sent or wait for a concurrent request to
    /// finish.
    pub(super) fn count_of(&self, subscription: Uuid) -> usize {
        locked(&self.shared.endpoint_slots).get(&subscription).map_or(0, |slot| Arc::strong_count(slot) - 1)
    }

    /// Starts an attempt. Without a free slot, the delivery becomes an unsent completion.
    pub(super) fn start(&self, leased: LeasedDelivery, permit: Option<FastPathPermit>) {
        // A pre-leased delivery has had a slot since its permit was granted.
        let slot = match permit {
            Some(_) => None,
            None => match self.shared.slots.acquire(leased.delivery.workspace_id) {
                None => return self.return_unsent(leased, permit),
                slot => slot,
            },
        };
        let endpoint_slot = self.endpoint_slot(leased.delivery.subscription_id);
        let shared = Arc::clone(&self.shared);
        let (delivery, lease) = (leased.delivery.id, leased.lease.token);
        locked(&self.shared.leases).insert(delivery, lease);
        locked(&self.shared.running).spawn(async move {
            let outcome = shared.attempt(&endpoint_slot, leased).await;
            locked(&shared.leases).remove(&delivery);
            let _ = shared.completions.send(Completion { outcome, slot, permit });
        });
    }

    /// Adds a delivery to the completions without sending it.
    pub(super) fn return_unsent(&self, leased: LeasedDelivery, permit: Option<FastPathPermit>) {
        let _ = self.shared.completions.send(Completion { outcome: Err(leased), slot: None, permit });
    }

    /// Removes finished tasks, logs their panics, and removes unused endpoint slots.
    pub(super) fn clean_up(&self) {
        while let Some(finished) = locked(&self.shared.running).try_join_next() {
            if let Err(error) = finished
                && error.is_panic()
            {
                tracing::error!(%error, "an attempt panicked; its delivery is sent again when its lease expires");
            }
        }
        locked(&self.shared.endpoint_slots).retain(|_, slot| Arc::strong_count(slot) > 1);
    }

    /// Removes the running attempts from the set and returns them. Deliveries that wait for a concurrent request to
    /// finish become unsent completions.
    pub(super) fn drain(&self) -> JoinSet<()> {
        locked(&self.shared.endpoint_slots).values().for_each(|slot| slot.requests.close());
        std::mem::take(&mut *locked(&self.shared.running))
    }

    /// Removes and returns the deliveries that never completed, each with its lease token. Call it when no attempt is
    /// running.
    pub(super) fn take_unfinished(&self) -> Vec<(Uuid, Uuid)> {
        locked(&self.shared.leases).drain().collect()
    }

    fn endpoint_slot(&self, subscription: Uuid) -> Arc<EndpointSlot> {
        let mut slots = locked(&self.shared.endpoint_slots);
        let new = || {
            Arc::new(EndpointSlot {
                requests: Semaphore::new(MAX_REQUESTS_PER_ENDPOINT),
                target: CachedTarget::default(),
            })
        };
        Arc::clone(slots.entry(subscription).or_insert_with(new))
    }
}

impl InFlightState {
    /// Waits until the endpoint may receive another request, then makes an attempt at the subscription's current
    /// target.
    ///
    /// Returns the delivery unsent when the set is drained, when the subscription is no longer enabled or belongs to another
    /// workspace, when its target cannot be read, when the lease is about to expire, or when this machine lacks the resources
    /// to send. None of these is the receiver's failure.
    async fn attempt(
        &self,
        endpoint_slot: &EndpointSlot,
        mut leased: LeasedDelivery,
    ) -> Result<CompletedAttempt, LeasedDelivery> {
        let Ok(_permit) = endpoint_slot.requests.acquire().await else { return Err(leased) };
        if !leased.target.is_fresh() {
            let subscription = leased.delivery.subscription_id;
            match endpoint_slot.target.get(&self.app, &self.seal, subscription).await {
                Some(target) => leased.target = target,
                None => return Err(leased),
            }
        }
        if !leased.target.belongs_to(leased.delivery.workspace_id) {
            return Err(leased);
        }
        let completed = attempt(&self.app, &self.client, leased).await?;
        if completed.is_exhausted() {
            self.warn_of_exhaustion();
            sleep(EXHAUSTED_PAUSE).await;
            return Err(completed.leased);
        }
        Ok(completed)
    }

    /// Logs a warning that this machine lacks the resources for attempts, at most once per [`EXHAUSTED_PAUSE`].
    fn warn_of_exhaustion(&self) {
        let mut last_warning = locked(&self.last_warning);
        if last_warning.is_none_or(|at| at.elapsed() >= EXHAUSTED_PAUSE) {
            *last_warning = Some(Instant::now());
            tracing::warn!(
                "webhooks are delayed: this machine lacks file descriptors or memory for connections, or a limit of concurrent DNS lookups is reached"
            );
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
