//! The demo's webhook: subscribed to every event, kept in the data folder with its secret, so that the next run goes on
//! with it.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::cli::failure::Failure;
use crate::cli::workspaces::find;
use domain::app::App;
use domain::outbox::KINDS;
use domain::webhooks::{self, NewSubscription, SubscriptionChange};
use feed::demo;
use foundation::id::SubscriptionId;
use foundation::secret::{MasterKey, Purpose, Seal, write_private};

/// The webhook in the data folder.
const FILE: &str = "demo.webhook";

/// A webhook whose receiver is about to run.
pub(super) struct Webhook {
    /// Where its receiver listens.
    pub(super) listener: TcpListener,
    /// Its address.
    pub(super) url: String,
    /// What it verifies with.
    pub(super) secret: SecretString,
}

/// What is kept of it.
#[derive(Serialize, Deserialize)]
struct Kept {
    subscription: String,
    port: u16,
    secret: String,
}

/// The webhook of the last run when it is still there, led to another port if its own is taken; or a new one.
pub(super) async fn ready(
    app: &App,
    master: &MasterKey,
    data_dir: &Path,
    server: SocketAddr,
) -> Result<Webhook, Failure> {
    let path = data_dir.join(FILE);
    let kept = read(&path)?;
    let listener = listen(server, kept.as_ref().map(|kept| kept.port)).await?;
    let port = listener.local_addr()?.port();
    let url = format!("http://127.0.0.1:{port}/webhooks");
    if let Some(kept) = kept
        && let Ok(id) = kept.subscription.parse::<SubscriptionId>()
        && let Ok(known) = webhooks::find(app, id).await
    {
        let kept = Kept { port, ..kept };
        if known.url != url {
            // What still waits goes to the new address.
            let change = SubscriptionChange { url: Some(url.clone()), event_types: None };
            let mut write = app.begin_write().await?;
            webhooks::edit(app, &mut write, known.workspace, id, change).await?;
            keep(&path, &kept)?;
            write.commit().await?;
        }
        return Ok(Webhook { listener, url, secret: kept.secret.into() });
    }
    let seal = Seal::new(master, Purpose::WebhookSecrets);
    let workspace = find(app, demo::WORKSPACE).await?.id;
    let mut write = app.begin_write().await?;
    let event_types = KINDS.iter().map(|&kind| kind.to_owned()).collect();
    let new = NewSubscription { url: url.clone(), event_types };
    let (made, secret) = webhooks::create(app, &mut write, &seal, workspace, new).await?;
    let kept = Kept { subscription: made.id.to_string(), port, secret: secret.expose_secret().to_owned() };
    keep(&path, &kept)?;
    write.commit().await?;
    Ok(Webhook { listener, url, secret })
}

fn keep(path: &Path, kept: &Kept) -> Result<(), Failure> {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error.into());
    }
    Ok(write_private(path, serde_json::to_string(kept).map_err(anyhow::Error::from)?.as_bytes())?)
}

fn read(path: &Path) -> Result<Option<Kept>, Failure> {
    match fs::read(path) {
        // What cannot be read as it was written is made anew.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}; make it readable", path.display()))),
    }
}

/// The port of the last run, or the one behind the server's, or any that is free.
async fn listen(server: SocketAddr, kept: Option<u16>) -> Result<TcpListener, Failure> {
    let behind = server.port().checked_add(1);
    for port in [kept, behind].into_iter().flatten() {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
            return Ok(listener);
        }
    }
    Ok(TcpListener::bind(("127.0.0.1", 0)).await?)
}
