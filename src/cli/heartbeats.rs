//! Sends the heartbeats of this process while it runs. When they stop, another process declares this one dead and
//! releases its work (see [`domain::processes`]). PostgreSQL only.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::signals::StopSignal;
use domain::app::App;
use domain::processes::{self, Roles};

/// The maximum time for removing the registration when the process ends.
const UNREGISTER_TIMEOUT: Duration = Duration::from_secs(3);

/// The task that sends the heartbeats.
pub(super) struct Heartbeats {
    app: App,
    task: JoinHandle<()>,
}

impl Heartbeats {
    /// Registers this process and starts sending heartbeats. Call it before the process claims anything. When `stop`
    /// resolves, this process stops leading (running the maintenance jobs of its roles), and another one leads.
    pub(super) async fn start(app: &App, roles: Roles, stop: &StopSignal) -> Self {
        if let Err(error) = processes::register(app, roles).await {
            tracing::warn!(%error, "registering this process failed; retrying");
        }
        let task_app = app.clone();
        let stop = stop.clone();
        let task = tokio::spawn(async move {
            let resign = async {
                stop.await;
                // If this fails, another process leads only after this one has ended.
                let _ = processes::change_roles(&task_app, Roles::default()).await;
            };
            tokio::join!(processes::run(&task_app, roles), resign);
        });
        Self { app: app.clone(), task }
    }

    /// Stops the heartbeats, releases the leases and claims of this process, and removes its registration. Call it when
    /// the process ends.
    pub(super) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
        let unregistered = timeout(UNREGISTER_TIMEOUT, processes::unregister(&self.app)).await;
        if !matches!(unregistered, Ok(Ok(()))) {
            tracing::warn!(
                "removing the registration of this process failed; another process will remove it"
            );
        }
    }
}
