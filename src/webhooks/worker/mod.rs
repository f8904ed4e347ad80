//! The delivery worker: claims due deliveries, sends them, and records the results.
//!
//! Several workers may run, in one process or in many: a lease prevents the others from sending a claimed delivery.
//! Wake signals only save time; polling alone is sufficient. A killed worker loses nothing: its leases expire, and its
//! deliveries in flight are sent again.

mod delivery_loop;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use crate::attempt::{CompletedAttempt, attempt};
use crate::claim::{ClaimLimits, RoundRobin};
use crate::in_flight::InFlight;
use crate::outbound::{self, WebhookClient};
use crate::pre_leased;
use crate::progress::Progress;
use crate::schedule::LEASE;
use crate::settle::{ensure_partitions, report, settle};
use domain::app::App;
use foundation::secret::Seal;

use delivery_loop::DeliveryLoop;

/// Sends webhook deliveries.
#[derive(Clone)]
pub struct Worker {
    app: App,
    seal: Arc<Seal>,
    client: WebhookClient,
    progress: Progress,
}

impl Worker {
    /// Creates a worker that may connect to public addresses and to those that the configuration allows.
    ///
    /// # Errors
    /// Returns an error when TLS cannot be set up or no thread can be started.
    pub fn new(app: App, seal: Arc<Seal>) -> anyhow::Result<Self> {
        let client = WebhookClient::new(outbound::ClientOptions::new(&app.config.webhooks.webhook_allow))?;
        Ok(Self { app, seal, client, progress: Progress::default() })
    }

    /// Returns the progress of the delivery loop.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Claims and sends due deliveries until none is left, and records the results. Returns the number of attempts. A
    /// delivery that this machine cannot send is not counted, and is due again when its lease expires.
    ///
    /// # Errors
    /// Returns an error when a query fails.
    pub async fn deliver_due(&self) -> anyhow::Result<usize> {
        let mut round_robin = RoundRobin::default();
        let mut attempt_count = 0;
        loop {
            let write = self.app.begin_write().await?;
            let deliveries = round_robin.claim(&self.app, &self.seal, &write, &ClaimLimits::batch()).await?;
            write.commit().await?;
            if deliveries.is_empty() {
                return Ok(attempt_count);
            }
            let attempts = deliveries.into_iter().map(|delivery| attempt(&self.app, &self.client, delivery));
            let completed = join_all(attempts).await.into_iter().flatten();
            let mut attempts: Vec<CompletedAttempt> =
                completed.filter(|attempt| !attempt.is_exhausted()).collect();
            ensure_partitions(&self.app, attempts.iter().map(CompletedAttempt::ended_ms).collect()).await?;
            let mut write = self.app.begin_write().await?;
            let clock_offset_ms = write.now_ms() - self.app.clock.now_ms();
            attempts.iter_mut().for_each(|attempt| attempt.clock_offset_ms = clock_offset_ms);
            let attempts: Vec<&CompletedAttempt> = attempts.iter().collect();
            let settled = settle(&self.app, &mut write, &attempts).await?;
            write.commit().await?;
            attempts.iter().for_each(|attempt| report(attempt, &settled));
            attempt_count += attempts.len();
        }
    }

    /// Sends due deliveries until `stopped` resolves. Then waits for the attempts in flight, and records or releases
    /// every delivery, within about `timeout` if it is at least 4 seconds.
    pub async fn run(self, stopped: impl Future<Output = ()>, timeout: Duration) {
        let (in_flight, completions) =
            InFlight::new(self.app.clone(), Arc::clone(&self.seal), self.client.clone());
        let fast_path_lease = self.app.process().next_token();
        let receiver = self.app.fast_path().register(fast_path_lease, LEASE, in_flight.slots());
        let pre_leased = receiver.map(|receiver| {
            let (app, seal) = (self.app.clone(), Arc::clone(&self.seal));
            (fast_path_lease, tokio::spawn(pre_leased::run(app, seal, in_flight.clone(), receiver)))
        });
        let mut delivery_loop = DeliveryLoop::new(self, in_flight, completions);
        let mut stopped = pin!(stopped);
        // A tick is never interrupted, so every claimed delivery is in the in-flight set.
        while delivery_loop.wait(stopped.as_mut()).await {
            delivery_loop.tick().await;
        }
        delivery_loop.drain(pre_leased, timeout).await;
    }
}
