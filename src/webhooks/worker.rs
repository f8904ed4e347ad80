//! The loop: takes what is due, sends it, records what came of it.
//!
//! Several workers may run, in one process or in many: what one has taken, the others leave alone. A wake-up is only a
//! hint, the look at the queue alone is sufficient. Whoever is killed loses nothing: its leases end, and what it had in
//! hand is sent again.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use entity::webhook_deliveries::queue;
use futures_util::future::join_all;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};
use tracing::Instrument as _;
use url::Url;

use super::claim::{Lease, Task, Turns};
use super::outbound::{self, Client, DEADLINE, Failure, Outcome, Request};
use super::settle::{Attempted, settle};
use crate::app::App;
use crate::id::{DeliveryId, EventId};
use crate::secret::Seal;

/// Deliveries in flight at once, of all subscriptions together.
const IN_FLIGHT: usize = 2_048;
/// Deliveries of one subscription in flight at once, over all workers.
const PER_SUBSCRIPTION: usize = 64;
/// What is free in parts of which one subscription may take one.
const SHARES: usize = 8;
/// Deliveries taken by one transaction.
const BATCH: usize = 256;
/// Attempts recorded by one transaction.
const RECORDED: usize = 256;
/// How often the queue is looked at when nothing says that there is something.
const POLL: Duration = Duration::from_millis(500);
/// The wait after a failure of the database.
const PAUSE: Duration = Duration::from_millis(250);

/// Sends deliveries.
#[derive(Clone)]
pub struct Worker {
    app: App,
    seal: Arc<Seal>,
    client: Client,
}

/// An attempt that ended, and its place among those in flight.
type Ended = (Attempted, OwnedSemaphorePermit);

impl Worker {
    /// A worker that goes wherever the configuration lets it.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(app: App, seal: Arc<Seal>) -> anyhow::Result<Self> {
        let client = Client::new(outbound::Options::new(&app.config.webhooks.webhook_allow))?;
        Ok(Self { app, seal, client })
    }

    /// Sends all that is due now and records what came of it; says how many attempts that were.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn deliver_due(&self) -> anyhow::Result<usize> {
        let mut turns = Turns::default();
        let mut made = 0;
        loop {
            let tasks = turns.take(&self.app, &self.seal, BATCH, PER_SUBSCRIPTION).await?;
            if tasks.is_empty() {
                return Ok(made);
            }
            let attempts = join_all(tasks.into_iter().map(|task| self.attempt(task))).await;
            let attempts: Vec<Attempted> = attempts.into_iter().flatten().collect();
            settle(&self.app, &attempts).await?;
            made += attempts.len();
        }
    }

    /// Sends what is due until `stopped`. What is in flight then has `patience` to end; the rest is given back.
    pub async fn run(self, stopped: impl Future<Output = ()>, patience: Duration) {
        let (ended, endings) = mpsc::channel(IN_FLIGHT);
        let freed = Arc::new(Notify::new());
        let recorder = tokio::spawn(record(self.app.clone(), endings, Arc::clone(&freed)));
        let mut flight =
            Flight { ended, places: Arc::new(Semaphore::new(IN_FLIGHT)), running: JoinSet::new() };
        let (mut leases, mut turns, mut stopped) = (Leases::default(), Turns::default(), pin!(stopped));
        loop {
            // A stop is heard between two takes and never amid one, so that what was taken is known.
            let place = tokio::select! {
                () = stopped.as_mut() => break,
                place = Arc::clone(&flight.places).acquire_owned() => place,
            };
            let Ok(place) = place else { break };
            let all_taken = self.take(&mut flight, &mut leases, &mut turns, place).await;
            if all_taken {
                tokio::select! {
                    () = stopped.as_mut() => break,
                    () = self.until_due(&freed) => {}
                }
            }
        }
        self.land(flight, leases, recorder, patience).await;
    }

    /// Takes what there is room for and begins to send it; whether that was all that may be sent now.
    async fn take(
        &self,
        flight: &mut Flight,
        leases: &mut Leases,
        turns: &mut Turns,
        place: OwnedSemaphorePermit,
    ) -> bool {
        flight.tidy();
        let free = 1 + flight.places.available_permits();
        let room = free.min(BATCH);
        // The fuller it is, the smaller everybody's share: receivers that hang, however many, leave room for others.
        let cap = (free / SHARES).clamp(1, PER_SUBSCRIPTION);
        let tasks = match turns.take(&self.app, &self.seal, room, cap).await {
            Ok(tasks) => tasks,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "due webhooks could not be taken");
                return true;
            }
        };
        let all = tasks.len() < room;
        leases.note(tasks.first());
        let mut place = Some(place);
        for task in tasks {
            let next = place.take().or_else(|| Arc::clone(&flight.places).try_acquire_owned().ok());
            let Some(place) = next else { break };
            flight.start(self.clone(), task, place);
        }
        all
    }

    /// Returns when something may be due that was not a moment ago: a commit of this process says so, or the queue does.
    async fn until_due(&self, freed: &Notify) {
        let mut committed = pin!(self.app.deliveries_due().notified());
        let mut waited = false;
        loop {
            let now = self.app.clock.now_ms();
            let wait = match queue::oldest_due(self.app.db.read()).await {
                Ok(Some(due)) if due > now => POLL.min(Duration::from_millis((due - now).unsigned_abs())),
                Ok(Some(_)) if waited => return,
                // What was left a moment ago waits for others of its subscription to end.
                _ => POLL,
            };
            tokio::select! {
                () = committed.as_mut() => return,
                () = freed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
            waited = true;
        }
    }

    /// Lets what is in flight end, gives the rest back, and returns once all is recorded.
    async fn land(&self, flight: Flight, leases: Leases, mut recorder: JoinHandle<()>, patience: Duration) {
        let Flight { ended, mut running, .. } = flight;
        drop(ended);
        let landed = async {
            while running.join_next().await.is_some() {}
            (&mut recorder).await
        };
        if tokio::time::timeout(patience, landed).await.is_ok() {
            return;
        }
        let left = leases.live();
        running.shutdown().await;
        // What ended before is still recorded.
        let _ = tokio::time::timeout(PAUSE * 8, &mut recorder).await;
        recorder.abort();
        for lease in left {
            if let Err(error) = give_back(&self.app, lease).await {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    "webhooks in hand could not be given back; they are sent again in a minute"
                );
            }
        }
    }

    /// Makes one attempt; none when the lease may end before it does, since the delivery may then be another's.
    async fn attempt(&self, task: Task) -> Option<Attempted> {
        let left = task.lease.until - self.app.clock.now_ms();
        if left < i64::try_from(DEADLINE.as_millis()).unwrap_or(i64::MAX) {
            return None;
        }
        let claimed = &task.claimed;
        let delivery = DeliveryId::from_uuid(claimed.id);
        let span = tracing::info_span!("webhook", delivery.id = %delivery, attempt = claimed.attempts + 1);
        let started_at = self.app.clock.now_ms();
        let outcome = match Url::parse(&claimed.url) {
            // What nobody could verify is not sent.
            _ if task.keys.is_empty() => unsent(Failure::NoSecret),
            Ok(url) => {
                let request = Request {
                    url: &url,
                    event_id: &EventId::from_uuid(claimed.event_id).to_string(),
                    event_type: &claimed.event_type,
                    delivery_id: &delivery.to_string(),
                    body: task.body.clone(),
                    keys: &task.keys,
                    now: started_at.div_euclid(1000),
                    deadline: DEADLINE,
                };
                outbound::send(&self.client, request).instrument(span).await
            }
            Err(_) => unsent(Failure::BadUrl),
        };
        Some(Attempted { outcome, started_at, ended_at: self.app.clock.now_ms(), task })
    }
}

/// What is in flight.
struct Flight {
    ended: mpsc::Sender<Ended>,
    places: Arc<Semaphore>,
    running: JoinSet<()>,
}

impl Flight {
    fn start(&mut self, worker: Worker, task: Task, place: OwnedSemaphorePermit) {
        let ended = self.ended.clone();
        self.running.spawn(async move {
            let Some(attempted) = worker.attempt(task).await else { return };
            // There is room for each that has a place; only a worker that is gone takes no more.
            let _ = ended.send((attempted, place)).await;
        });
    }

    /// Forgets those that ended.
    fn tidy(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            if let Err(error) = ended
                && error.is_panic()
            {
                tracing::error!(%error, "an attempt panicked; its delivery is sent again when its lease ends");
            }
        }
    }
}

/// The leases under which something may still be in hand.
#[derive(Debug, Default)]
struct Leases(Vec<Weak<Lease>>);

impl Leases {
    fn note(&mut self, task: Option<&Task>) {
        let Some(task) = task else { return };
        if self.0.len() >= 64 {
            self.0.retain(|lease| lease.strong_count() > 0);
        }
        self.0.push(Arc::downgrade(&task.lease));
    }

    fn live(&self) -> Vec<Arc<Lease>> {
        self.0.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Records attempts as they end, those that end together in one transaction.
async fn record(app: App, mut endings: mpsc::Receiver<Ended>, freed: Arc<Notify>) {
    let mut batch: Vec<Ended> = Vec::with_capacity(RECORDED);
    while endings.recv_many(&mut batch, RECORDED).await > 0 {
        let (attempts, places): (Vec<Attempted>, Vec<OwnedSemaphorePermit>) = batch.drain(..).unzip();
        let lease_ends = attempts.iter().map(|attempt| attempt.task.lease.until).min().unwrap_or(0);
        while let Err(error) = settle(&app, &attempts).await {
            let error = format!("{error:#}");
            tracing::warn!(error, attempts = attempts.len(), "attempts could not be recorded");
            if app.clock.now_ms() > lease_ends {
                // Others may send them by now.
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        drop(places);
        freed.notify_one();
    }
}

fn unsent(failure: Failure) -> Outcome {
    Outcome { request_headers: Default::default(), result: Err(failure) }
}

async fn give_back(app: &App, lease: Arc<Lease>) -> anyhow::Result<()> {
    let write = app.begin_write().await?;
    queue::give_back(write.conn(), lease.token).await?;
    write.commit().await?;
    Ok(())
}
