//! Wakes workers in other processes when a server without a worker commits deliveries, through notifications of PostgreSQL.
//!
//! The notification is sent after the commit, so that commits do not wait for each other, and at most once per
//! [`MIN_INTERVAL`]. Like the wake signal, it only shortens the wait: workers also poll.

use std::time::Duration;

use foundation::database::Notifications;
use sea_orm::DbBackend;
use tokio::time::{sleep, timeout};

use crate::app::App;

/// The channel of the notifications.
const CHANNEL: &str = "creator_api_deliveries";
/// The minimum time between two notifications of a process.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// How long [`test_notification_arrives`] waits for its test notification.
const TEST_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause after an error.
const ERROR_PAUSE: Duration = Duration::from_secs(1);
/// The pause after a test notification that did not arrive.
const LOST_TEST_PAUSE: Duration = Duration::from_secs(30);
/// The pause until the next try if a proxy shares the connections to PostgreSQL.
const PROXY_PAUSE: Duration = Duration::from_secs(300);

/// Notifies the workers of other processes when this process has committed due deliveries; wakes within
/// [`MIN_INTERVAL`] share a notification. Runs until the future is dropped. Call it in a process without a worker. Does
/// nothing on SQLite.
pub async fn send(app: &App) {
    if app.db.backend() != DbBackend::Postgres {
        return std::future::pending().await;
    }
    loop {
        let (deliveries, fanouts) = (app.fast_path().wake_signal(), app.fast_path().fanout_signal());
        tokio::select! {
            () = deliveries.notified() => drop(deliveries.take()),
            () = fanouts.notified() => {}
        }
        while let Err(error) = app.db.notify(CHANNEL).await {
            tracing::debug!(%error, "notifying the workers failed; retrying");
            sleep(ERROR_PAUSE).await;
        }
        sleep(MIN_INTERVAL).await;
    }
}

/// Wakes the worker of this process on every notification of another one. Runs until the future is dropped. Does
/// nothing on SQLite.
pub async fn receive(app: &App) {
    if app.db.backend() != DbBackend::Postgres {
        return std::future::pending().await;
    }
    loop {
        let pause = match app.db.listen(CHANNEL).await {
            Ok(Some(mut notifications)) => {
                if test_notification_arrives(app, &mut notifications).await {
                    app.fast_path().wake_signal().set_woken_remotely(true);
                    // Notifications may have been lost before.
                    wake(app);
                    while notifications.next().await.is_ok() {
                        wake(app);
                    }
                    app.fast_path().wake_signal().set_woken_remotely(false);
                    ERROR_PAUSE
                } else {
                    LOST_TEST_PAUSE
                }
            }
            Ok(None) => {
                tracing::info!(
                    "PostgreSQL cannot notify this process through a proxy that shares connections; polling instead"
                );
                PROXY_PAUSE
            }
            Err(error) => {
                tracing::debug!(%error, "listening for notifications failed");
                ERROR_PAUSE
            }
        };
        sleep(pause).await;
    }
}

/// Sends a notification and returns whether it arrives.
async fn test_notification_arrives(app: &App, notifications: &mut Notifications) -> bool {
    if app.db.notify(CHANNEL).await.is_err() {
        return false;
    }
    matches!(timeout(TEST_TIMEOUT, notifications.next()).await, Ok(Ok(())))
}

fn wake(app: &App) {
    app.fast_path().wake_signal().wake();
    app.fast_path().fanout_signal().notify_one();
}
