//! What runs beside the server, or without it: the worker that sends webhooks, their upkeep, and mail.
//!
//! Started together and stopped together; owns nothing of what they do.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::failure::Failure;
use crate::app::App;
use crate::mail::{self, Transport};
use crate::secret::{MasterKey, Purpose, Seal};
use crate::webhooks::{Worker, upkeep};

/// The parts that run.
pub(super) struct Background {
    stop: watch::Sender<bool>,
    parts: JoinSet<()>,
}

impl Background {
    /// Starts all parts.
    pub(super) fn start(app: &App, master: &MasterKey) -> Result<Self, Failure> {
        let seal = Arc::new(Seal::new(master, Purpose::WebhookSecrets));
        let worker = Worker::new(app.clone(), seal)?;
        let transport = Transport::open(&app.config.mail, &app.config.storage.data_dir)?;
        let patience = Duration::from_secs(u64::from(app.config.server.shutdown_seconds.get()));
        let (stop, stopped) = watch::channel(false);
        let asked = || {
            let mut stopped = stopped.clone();
            // Ends too when whoever could ask is gone.
            async move { drop(stopped.wait_for(|stopped| *stopped).await) }
        };
        let mut parts = JoinSet::new();
        parts.spawn(worker.run(asked(), patience));
        parts.spawn(upkeep::run(app.clone(), asked()));
        let (app, asked) = (app.clone(), asked());
        parts.spawn(async move {
            let parts = mail::queue::Parts { db: &app.db, clock: &app.clock, ids: &app.ids };
            mail::queue::run(parts, &transport, asked).await;
        });
        Ok(Self { stop, parts })
    }

    /// Stops all parts, after what they have in hand.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.parts.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a part that ran beside the server ended early");
            }
        }
    }
}
