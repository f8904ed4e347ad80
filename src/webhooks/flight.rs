//! What is in flight: attempts under way, their places, and what came of them.
//!
//! Owns how many run at once, in all and toward one subscription. Of the database it asks nothing but where to go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::attempt::attempt;
use super::claim::{Lease, Task};
use super::outbound::Client;
use super::route::LastLook;
use super::settle::Attempted;
use domain::app::App;
use domain::outbox::{BORN_OF_ONE, Place, Room, Share, Shares};
use foundation::secret::Seal;

/// Deliveries in hand at once, of all subscriptions together.
pub(super) const IN_HAND: usize = 2_048;
/// Requests to one subscription's endpoint under way at once.
const AT_ONCE: usize = 64;
/// How long a delivery keeps its turn that could not be sent since this machine had nothing left to make a connection with.
const PAUSE: Duration = Duration::from_secs(1);
const _: () = assert!(BORN_OF_ONE <= AT_ONCE, "what is born in hand is sent at once, well inside its lease");

/// Attempts under way; clones share them.
#[derive(Clone)]
pub(super) struct Flight {
    inner: Arc<Inner>,
}

struct Inner {
    app: App,
    seal: Arc<Seal>,
    client: Client,
    ended: UnboundedSender<Ended>,
    shares: Shares,
    lanes: Mutex<HashMap<Uuid, Arc<Lane>>>,
    running: Mutex<JoinSet<()>>,
    /// Deliveries under way, each with the name of its lease.
    hand: Mutex<HashMap<Uuid, Uuid>>,
    /// When it was last said that this machine had nothing left.
    told: Mutex<Option<Instant>>,
}

/// What is sent to one subscription's endpoint, one after the other where it is much.
struct Lane {
    turns: Semaphore,
    look: LastLook,
}

/// A delivery that left the flight. Its place is another's once this is dropped.
pub(super) struct Ended {
    /// The attempt, or the delivery when none was made.
    pub(super) outcome: Result<Attempted, Task>,
    place: Option<Share>,
    born: Option<Place>,
}

impl Ended {
    /// Whether it has a place until it is dropped.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some() || self.born.is_some()
    }

    /// The workspace.
    pub(super) fn workspace(&self) -> Uuid {
        self.task().claimed.workspace_id
    }

    /// The lease under which it was in hand.
    pub(super) fn lease(&self) -> &Lease {
        &self.task().lease
    }

    /// Whether it had been taken from the queue, and was not born in hand.
    pub(super) fn was_taken(&self) -> bool {
        self.born.is_none()
    }

    /// Whose delivery it is.
    pub(super) fn subscription(&self) -> Uuid {
        self.task().claimed.subscription_id
    }

    fn task(&self) -> &Task {
        match &self.outcome {
            Ok(attempted) => &attempted.task,
            Err(task) => task,
        }
    }
}

impl Flight {
    /// An empty flight, and what comes out of it.
    pub(super) fn new(app: App, seal: Arc<Seal>, client: Client) -> (Self, UnboundedReceiver<Ended>) {
        let (ended, endings) = mpsc::unbounded_channel();
        let shares = Shares::new(IN_HAND);
        let (lanes, running, hand) = (Mutex::default(), Mutex::default(), Mutex::default());
        let told = Mutex::default();
        let inner = Inner { app, seal, client, ended, shares, lanes, running, hand, told };
        (Self { inner: Arc::new(inner) }, endings)
    }

    /// The places, for what is handed over.
    pub(super) fn shares(&self) -> Shares {
        self.inner.shares.clone()
    }

    /// What may be taken once these are recorded, in all and of each workspace.
    pub(super) fn room(&self, ended: &[Ended]) -> Room {
        let mut of = HashMap::new();
        let placed = ended.iter().filter(|ended| ended.has_place());
        placed.for_each(|ended| *of.entry(ended.workspace()).or_default() += 1);
        self.inner.shares.room(&of)
    }

    /// What has a place: promised, under way, or ended and not recorded yet.
    pub(super) fn in_hand(&self) -> usize {
        IN_HAND - self.inner.shares.free()
    }

    /// What is under way toward one subscription, or waits for its turn.
    pub(super) fn of(&self, subscription: Uuid) -> usize {
        locked(&self.inner.lanes).get(&subscription).map_or(0, |lane| Arc::strong_count(lane) - 1)
    }

    /// Begins with an attempt. A delivery for which there is no place comes out as it is.
    pub(super) fn start(&self, task: Task, born: Option<Place>) {
        // What was handed over has its place since it was promised one.
        let place = match born {
            Some(_) => None,
            None => match self.inner.shares.any(task.claimed.workspace_id) {
                None => return self.refuse(task, born),
                place => place,
            },
        };
        let lane = self.lane(task.claimed.subscription_id);
        let inner = Arc::clone(&self.inner);
        let (delivery, lease) = (task.claimed.id, task.lease.token);
        locked(&self.inner.hand).insert(delivery, lease);
        locked(&self.inner.running).spawn(async move {
            let outcome = inner.attempt(&lane, task).await;
            locked(&inner.hand).remove(&delivery);
            let _ = inner.ended.send(Ended { outcome, place, born });
        });
    }

    /// Lets a delivery out as it is.
    pub(super) fn refuse(&self, task: Task, born: Option<Place>) {
        let _ = self.inner.ended.send(Ended { outcome: Err(task), place: None, born });
    }

    /// Forgets attempts that ended, and lanes that nobody uses.
    pub(super) fn tidy(&self) {
        while let Some(ended) = locked(&self.inner.running).try_join_next() {
            if let Err(error) = ended
                && error.is_panic()
            {
                tracing::error!(%error, "an attempt panicked; its delivery is sent again when its lease ends");
            }
        }
        locked(&self.inner.lanes).retain(|_, lane| Arc::strong_count(lane) > 1);
    }

    /// All that is still under way, which is then no longer the flight's. What waits for its turn comes out as it is.
    pub(super) fn land(&self) -> JoinSet<()> {
        locked(&self.inner.lanes).values().for_each(|lane| lane.turns.close());
        std::mem::take(&mut *locked(&self.inner.running))
    }

    /// Deliveries that never came out, each with the name of its lease: once nothing is under way any more.
    pub(super) fn left(&self) -> Vec<(Uuid, Uuid)> {
        locked(&self.inner.hand).drain().collect()
    }

    fn lane(&self, subscription: Uuid) -> Arc<Lane> {
        let mut lanes = locked(&self.inner.lanes);
        let new = || Arc::new(Lane { turns: Semaphore::new(AT_ONCE), look: LastLook::default() });
        Arc::clone(lanes.entry(subscription).or_insert_with(new))
    }
}

impl Inner {
    /// Makes an attempt when it is its turn, to where its subscription wants it by then. What it does not want any more, or
    /// not yet, comes out as it is; so does what this machine could not send, which is not the receiver's fault.
    async fn attempt(&self, lane: &Lane, mut task: Task) -> Result<Attempted, Task> {
        let Ok(_turn) = lane.turns.acquire().await else { return Err(task) };
        if !task.route.is_fresh() {
            match lane.look.route(&self.app, &self.seal, task.claimed.subscription_id).await {
                Some(route) => task.route = route,
                None => return Err(task),
            }
        }
        let attempted = attempt(&self.app, &self.client, task).await?;
        if attempted.is_exhausted() {
            self.tell_of_exhaustion();
            sleep(PAUSE).await;
            return Err(attempted.task);
        }
        Ok(attempted)
    }

    /// Says once in a while, of however many attempts, that they could not be made.
    fn tell_of_exhaustion(&self) {
        let mut told = locked(&self.told);
        if told.is_none_or(|at| at.elapsed() >= PAUSE) {
            *told = Some(Instant::now());
            tracing::warn!(
                "webhooks wait: no file is left for a connection, or a workspace has used up its share of name look-ups"
            );
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
