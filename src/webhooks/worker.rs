//! The loop: takes what is due, sends it, records what came of it.
//!
//! Several workers may run, in one process or in many: what one has taken, the others leave alone. A wake-up is only a
//! hint, the look at the queue alone is sufficient. Whoever is killed loses nothing: its leases end, and what it had in
//! hand is sent again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::attempt::attempt;
use super::born;
use super::claim::{Turns, Wanted};
use super::flight::Flight;
use super::outbound::{self, Client};
use super::round::Round;
use super::schedule::LEASE;
use super::settle::{Attempted, settle, tell};
use domain::app::App;
use foundation::id::Delivery;
use foundation::secret::Seal;

/// Deliveries of one subscription in hand at once, over all workers; those of them that are sent at once are fewer.
pub(super) const PER_SUBSCRIPTION: usize = 256;
/// Deliveries taken by one transaction.
pub(super) const BATCH: usize = 256;

/// Sends deliveries.
#[derive(Clone)]
pub struct Worker {
    pub(super) app: App,
    pub(super) seal: Arc<Seal>,
    client: Client,
}

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
            let write = self.app.begin_write().await?;
            let tasks = turns.take(&self.app, &self.seal, &write, &Wanted::batch()).await?;
            write.commit().await?;
            if tasks.is_empty() {
                return Ok(made);
            }
            let attempts = tasks.into_iter().map(|task| attempt(&self.app, &self.client, task));
            let made_now = join_all(attempts).await.into_iter().flatten();
            let mut attempts: Vec<Attempted> = made_now.filter(|attempt| !attempt.is_exhausted()).collect();
            let mut write = self.app.begin_write().await?;
            let ahead_ms = write.now_ms() - self.app.clock.now_ms();
            attempts.iter_mut().for_each(|attempt| attempt.ahead_ms = ahead_ms);
            let attempts: Vec<&Attempted> = attempts.iter().collect();
            let settled = settle(&self.app, &mut write, &attempts).await?;
            write.commit().await?;
            attempts.iter().for_each(|attempt| tell(attempt, &settled));
            made += attempts.len();
        }
    }

    /// Sends what is due until `stopped`. What is in flight then may end, and all is given back or recorded within
    /// `patience`.
    pub async fn run(self, stopped: impl Future<Output = ()>, patience: Duration) {
        let (flight, endings) = Flight::new(self.app.clone(), Arc::clone(&self.seal), self.client.clone());
        let token = self.app.ids.next::<Delivery>(self.app.clock.now()).uuid();
        let handed = self.app.handoff().open(token, LEASE, flight.shares());
        let born = handed.map(|handed| {
            let (app, seal) = (self.app.clone(), Arc::clone(&self.seal));
            (token, tokio::spawn(born::run(app, seal, flight.clone(), handed)))
        });
        let mut round = Round::new(self, flight, endings);
        let mut stopped = pin!(stopped);
        // A stop is heard between two turns and never amid one, so that what was taken is known.
        while round.wait(stopped.as_mut()).await {
            round.turn().await;
        }
        round.land(born, patience).await;
    }
}
