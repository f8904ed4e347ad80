//! Starts and stops the background tasks of `serve`, `worker` and `demo`: webhook delivery, its maintenance jobs, and
//! mail.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};

use super::outcome::CommandError;
use super::signals::StopSignal;
use domain::app::App;
use domain::outbox::remote_wakes;
use domain::processes::{self, Roles};
use foundation::secret::{MasterKeys, Purpose, Seal};
use mail::Transport;
use webhooks::{Progress, Worker, maintenance};

/// The minimum time that tasks have at shutdown to record results and release their leases, the time-limited claims on
/// deliveries and mail.
const MIN_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);
/// How much earlier than the shutdown timeout the delivery worker stops, so that [`Background`] does not cancel it.
const WORKER_MARGIN: Duration = Duration::from_millis(500);
/// How long the tasks except the delivery of webhooks wait at the start, so that they do not delay the first requests.
const START_DELAY: Duration = Duration::from_secs(1);

/// The running background tasks.
pub(super) struct Background {
    stop: StopSignal,
    shutdown_timeout: Duration,
    tasks: JoinSet<()>,
    progress: Progress,
}

impl Background {
    /// Starts all tasks. They stop when `stop` resolves.
    pub(super) fn start(app: &App, master: &MasterKeys, stop: &StopSignal) -> Result<Self, CommandError> {
        let seal = Arc::new(Seal::new(master, Purpose::WebhookSecrets));
        let worker = Worker::new(app.clone(), seal)?;
        let progress = worker.progress();
        let transport = Transport::open(&app.config.mail, &app.config.storage.data_dir)?;
        let shutdown_timeout = Duration::from_secs(u64::from(app.config.server.shutdown_seconds.get()));
        let mut tasks = JoinSet::new();
        let shutdown_timeout = shutdown_timeout.max(MIN_SHUTDOWN_TIMEOUT);
        tasks.spawn(worker.run(stop.clone(), shutdown_timeout - WORKER_MARGIN));
        tasks.spawn(after_start(stop.clone(), maintenance::run(app.clone(), stop.clone())));
        let (app_of_wakes, stopped) = (app.clone(), stop.clone());
        tasks.spawn(after_start(stop.clone(), async move {
            tokio::select! {
                () = stopped => {}
                () = remote_wakes::receive(&app_of_wakes) => {}
            }
        }));
        let (app_of_mail, stopped) = (app.clone(), stop.clone());
        tasks.spawn(after_start(stop.clone(), async move {
            let app = app_of_mail;
            let context = mail::queue::QueueContext { db: &app.db, clock: &app.clock, ids: &app.ids };
            // One worker sends all mail, so that the others do not poll for it.
            let leads = || app.process().leads_workers();
            mail::queue::run(context, &transport, leads, stopped).await;
        }));
        Ok(Self { stop: stop.clone(), shutdown_timeout, tasks, progress })
    }

    /// Returns the progress of the delivery loop.
    pub(super) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Waits until `stop` resolves, and then until all tasks have stopped, at most for the shutdown timeout. A task
    /// that fails is logged, the others continue, and another worker runs the maintenance jobs. If the sending of a
    /// mail has not ended after the timeout, the mail is sent again when its lease expires.
    pub(super) async fn wait(mut self, app: &App) {
        while let Some(result) = self.next_early_exit().await {
            log_failure(result);
            // Only `serve` and `demo` call this function, and both serve requests.
            let roles = Roles { serves: true, runs_worker: false };
            if let Err(error) = processes::change_roles(app, roles).await {
                tracing::warn!(
                    %error,
                    "no other worker can run the maintenance jobs of this process, one of whose tasks has ended"
                );
            }
        }
        self.finish().await;
    }

    /// Like [`wait`](Self::wait), but cancels all tasks and returns as soon as one of them ends before `stop` resolves.
    /// For a process that runs nothing else.
    ///
    /// # Errors
    /// Returns an error when a task ends before `stop` resolves. Unfinished work is retried later.
    pub(super) async fn wait_or_fail(mut self) -> Result<(), CommandError> {
        if let Some(result) = self.next_early_exit().await {
            log_failure(result);
            self.tasks.shutdown().await;
            return Err(CommandError::new(
                "a background task failed; see the log for the cause, then restart the worker",
            ));
        }
        self.finish().await;
        Ok(())
    }

    /// Returns the result of the next task that ends before `stop` resolves, or `None` once it resolves.
    async fn next_early_exit(&mut self) -> Option<Result<(), JoinError>> {
        tokio::select! {
            biased;
            () = self.stop.clone() => None,
            Some(result) = self.tasks.join_next() => Some(result),
        }
    }

    /// Waits for the remaining tasks within the shutdown timeout, then cancels them.
    async fn finish(mut self) {
        let all = async {
            while let Some(result) = self.tasks.join_next().await {
                log_failure(result);
            }
        };
        if tokio::time::timeout(self.shutdown_timeout, all).await.is_err() {
            tracing::warn!("background tasks did not stop in time; unfinished work is retried later");
            self.tasks.shutdown().await;
        }
    }
}

/// Runs a task after [`START_DELAY`], unless `stop` resolves before.
async fn after_start(stop: StopSignal, task: impl Future<Output = ()>) {
    tokio::select! {
        () = stop => {}
        () = tokio::time::sleep(START_DELAY) => task.await,
    }
}

/// Logs a task that panicked or was canceled.
fn log_failure(result: Result<(), JoinError>) {
    if let Err(error) = result {
        tracing::error!(%error, "a background task ended early");
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn waiting_fails_when_one_task_fails() {
        let mut tasks = JoinSet::new();
        tasks.spawn(std::future::pending());
        tasks.spawn(async { panic!("expected by the test") });
        let stop: StopSignal = std::future::pending().boxed().shared();
        let background =
            Background { stop, shutdown_timeout: MIN_SHUTDOWN_TIMEOUT, tasks, progress: Progress::default() };
        let error = background.wait_or_fail().await.unwrap_err();
        assert!(format!("{error:?}").contains("restart the worker"), "{error:?}");
    }
}
