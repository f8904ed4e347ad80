//! What runs beside the server, or without it: the worker that sends webhooks, their upkeep, and mail.
//!
//! Started together and stopped together; owns nothing of what they do.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};

use super::failure::Failure;
use super::signals::Stop;
use domain::app::App;
use foundation::secret::{MasterKey, Purpose, Seal};
use mail::Transport;
use webhooks::{Worker, upkeep};

/// What the parts have at least to record what they did and to give back what they had in hand.
const SHORTEST: Duration = Duration::from_secs(3);
/// So much earlier than all must have stopped, the worker has.
const MARGIN: Duration = Duration::from_millis(500);

/// The parts that run.
pub(super) struct Background {
    stop: Stop,
    patience: Duration,
    parts: JoinSet<()>,
}

impl Background {
    /// Starts all parts; they stop when `stop` is done.
    pub(super) fn start(app: &App, master: &MasterKey, stop: &Stop) -> Result<Self, Failure> {
        let seal = Arc::new(Seal::new(master, Purpose::WebhookSecrets));
        let worker = Worker::new(app.clone(), seal)?;
        let transport = Transport::open(&app.config.mail, &app.config.storage.data_dir)?;
        let patience = Duration::from_secs(u64::from(app.config.server.shutdown_seconds.get()));
        let mut parts = JoinSet::new();
        let patience = patience.max(SHORTEST);
        parts.spawn(worker.run(stop.clone(), patience - MARGIN));
        parts.spawn(upkeep::run(app.clone(), stop.clone()));
        let (app, asked) = (app.clone(), stop.clone());
        parts.spawn(async move {
            let parts = mail::queue::Parts { db: &app.db, clock: &app.clock, ids: &app.ids };
            mail::queue::run(parts, &transport, asked).await;
        });
        Ok(Self { stop: stop.clone(), patience, parts })
    }

    /// Returns once all parts have stopped, within the time that a stop may take. A mail that is still under way then is
    /// due again when its lease ends.
    pub(super) async fn ended(mut self) {
        while let Some(ended) = self.early().await {
            tell(ended);
        }
        self.finish().await;
    }

    /// As [`ended`](Self::ended), or as soon as a part has failed: who runs nothing else goes on for nothing then.
    ///
    /// # Errors
    /// A part failed; what it had in hand is done again later.
    pub(super) async fn ended_or_failed(mut self) -> Result<(), Failure> {
        if let Some(ended) = self.early().await {
            tell(ended);
            self.parts.shutdown().await;
            return Err(Failure::new("a part of the worker has failed, as the log tells; start it again"));
        }
        self.finish().await;
        Ok(())
    }

    /// What came of a part that ended before all were to stop; `None` once they are.
    async fn early(&mut self) -> Option<Result<(), JoinError>> {
        tokio::select! {
            biased;
            () = self.stop.clone() => None,
            Some(ended) = self.parts.join_next() => Some(ended),
        }
    }

    async fn finish(mut self) {
        let all = async {
            while let Some(ended) = self.parts.join_next().await {
                tell(ended);
            }
        };
        if tokio::time::timeout(self.patience, all).await.is_err() {
            tracing::warn!(
                "what runs beside the server did not end in time; what it had in hand is done again later"
            );
            self.parts.shutdown().await;
        }
    }
}

/// Tells of a part that did not end by itself.
fn tell(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a part that runs beside the server ended early");
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_worker_ends_with_the_first_part_that_fails() {
        let mut parts = JoinSet::new();
        parts.spawn(std::future::pending());
        parts.spawn(async { panic!("the story wants it so") });
        let stop: Stop = std::future::pending().boxed().shared();
        let background = Background { stop, patience: SHORTEST, parts };
        let failed = background.ended_or_failed().await.unwrap_err();
        assert!(format!("{failed:?}").contains("start it again"), "{failed:?}");
    }
}
