//! The demo's webhook subscription to every event. Its id and secret are stored in the data folder for the next run.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::{not_read, not_written};
use crate::cli::outcome::CommandError;
use crate::cli::workspaces::find;
use domain::app::App;
use domain::outbox::EVENT_TYPES;
use domain::webhooks::{self, NewSubscription, SubscriptionChange};
use feed::demo;
use foundation::id::SubscriptionId;
use foundation::secret::{MasterKeys, Purpose, Seal, create_private_file};

/// Name of the file in the data folder that holds the [`StoredWebhook`].
const FILE: &str = "demo.webhook";

/// A subscription and the listener of its receiver.
pub(super) struct DemoWebhook {
    /// The socket that the receiver accepts connections on.
    pub(super) listener: TcpListener,
    /// The endpoint URL.
    pub(super) url: String,
    /// The secret that signatures are verified with.
    pub(super) secret: SecretString,
}

/// The content of the file in the data folder.
#[derive(Serialize, Deserialize)]
struct StoredWebhook {
    subscription: String,
    port: u16,
    secret: String,
}

/// Returns the subscription of the previous run if it still exists, or creates one. If the port of the previous run is
/// in use, the subscription's URL is changed to another port.
pub(super) async fn ensure(
    app: &App,
    master: &MasterKeys,
    data_dir: &Path,
    server: SocketAddr,
) -> Result<DemoWebhook, CommandError> {
    let path = data_dir.join(FILE);
    let stored = read(&path)?;
    let listener = listen(server, stored.as_ref().map(|stored| stored.port)).await?;
    let port = listener.local_addr()?.port();
    let url = format!("http://127.0.0.1:{port}/webhooks");
    if let Some(stored) = stored
        && let Ok(id) = stored.subscription.parse::<SubscriptionId>()
        && let Ok(subscription) = webhooks::find(app, id).await
    {
        let stored = StoredWebhook { port, ..stored };
        if subscription.url != url {
            // Pending deliveries are sent to the new URL.
            let change = SubscriptionChange { url: Some(url.clone()), ..SubscriptionChange::default() };
            let mut write = app.begin_write().await?;
            webhooks::edit(app, &mut write, subscription.workspace, id, change).await?;
            store(&path, &stored)?;
            write.commit().await?;
        }
        return Ok(DemoWebhook { listener, url, secret: stored.secret.into() });
    }
    let seal = Seal::new(master, Purpose::WebhookSecrets);
    let workspace = find(app, demo::WORKSPACE).await?.id;
    let mut write = app.begin_write().await?;
    let event_types = EVENT_TYPES.iter().map(|&event_type| event_type.to_owned()).collect();
    let new = NewSubscription { url: url.clone(), event_types, description: None };
    let (created, secret) = webhooks::create(app, &mut write, &seal, workspace, new).await?;
    let stored = StoredWebhook {
        subscription: created.id.to_string(),
        port,
        secret: secret.expose_secret().to_owned(),
    };
    store(&path, &stored)?;
    write.commit().await?;
    Ok(DemoWebhook { listener, url, secret })
}

fn store(path: &Path, stored: &StoredWebhook) -> Result<(), CommandError> {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(not_written(path, &error));
    }
    let text = serde_json::to_string(stored).map_err(anyhow::Error::from)?;
    create_private_file(path, text.as_bytes()).map_err(|error| not_written(path, &error))
}

fn read(path: &Path) -> Result<Option<StoredWebhook>, CommandError> {
    match fs::read(path) {
        // An invalid file counts as missing: another subscription is created.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_read(path, &error)),
    }
}

/// Listens on the port of the previous run, or on the port after the server's, or on any free port.
async fn listen(server: SocketAddr, previous_port: Option<u16>) -> Result<TcpListener, CommandError> {
    let next_port = server.port().checked_add(1);
    for port in [previous_port, next_port].into_iter().flatten() {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
            return Ok(listener);
        }
    }
    Ok(TcpListener::bind(("127.0.0.1", 0)).await?)
}
