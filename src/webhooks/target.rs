//! The target of a subscription's deliveries: its URL, its signing keys and its custom request headers.
//!
//! A target is read once for all deliveries that are sent together. It is reused only briefly, since a user may pause
//! the subscription, edit its URL or revoke a secret in the meantime.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use entity::webhook_subscriptions::{self, Endpoint, Model as Subscription};
use hyper::header::{HeaderName, HeaderValue};
use sea_orm::ConnectionTrait;
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;

use super::sign::SigningKey;
use domain::app::App;
use domain::webhooks::{self, headers, signing_keys};
use domain::workspaces::Mode;
use foundation::id::SubscriptionId;
use foundation::secret::Seal;

/// How long a target is used after it was read.
const TIME_TO_LIVE: Duration = Duration::from_millis(250);

/// The URL, the signing keys and the custom headers of one subscription.
#[derive(Debug)]
pub(super) struct Target {
    /// The workspace of the subscription.
    workspace: Uuid,
    /// The mode of the workspace.
    pub(super) mode: Mode,
    /// The URL as it is stored.
    stored_url: String,
    /// The parsed URL; `None` when the stored one is invalid.
    pub(super) url: Option<Url>,
    /// The keys of the unexpired secrets, newest first; empty when none can be decrypted.
    pub(super) keys: Vec<SigningKey>,
    /// The workspace's Ed25519 keys, newest first; empty unless the subscription has Ed25519 signatures.
    pub(super) ed25519_keys: Vec<ed25519_dalek::SigningKey>,
    /// The custom request headers.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// When it was read.
    read_at: Instant,
}

impl Target {
    /// Returns a target without a URL, for a delivery that must not be sent.
    pub(super) fn empty() -> Arc<Self> {
        Arc::new(Self {
            workspace: Uuid::nil(),
            mode: Mode::Live,
            stored_url: String::new(),
            url: None,
            keys: Vec::new(),
            ed25519_keys: Vec::new(),
            headers: Vec::new(),
            read_at: Instant::now(),
        })
    }

    /// Returns whether the target's URL equals the URL of this subscription row.
    pub(super) fn has_url_of(&self, subscription: &Subscription) -> bool {
        self.stored_url == subscription.url
    }

    /// Returns whether the target is that of deliveries of this workspace. The subscriptions of a sandbox belong to another
    /// workspace after a reset, unlike the deliveries from before.
    pub(super) fn belongs_to(&self, workspace: Uuid) -> bool {
        self.workspace == workspace
    }

    /// Returns whether it was read recently enough to be used.
    pub(super) fn is_fresh(&self) -> bool {
        is_fresh(self.read_at)
    }
}

fn is_fresh(read_at: Instant) -> bool {
    read_at.elapsed() < TIME_TO_LIVE
}

/// Targets by subscription.
pub(super) type Targets = HashMap<Uuid, Arc<Target>>;

/// Builds the targets of subscriptions from their endpoints. Reads the secrets that have not expired at `now_ms`, in
/// milliseconds since the epoch, and the Ed25519 keys of workspaces only if an endpoint uses them. `read_at` is a time
/// before the endpoints were read.
///
/// # Errors
/// Returns an error when a query of the secrets or keys fails.
pub(super) async fn build_targets(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    endpoints: HashMap<Uuid, Endpoint>,
    now_ms: i64,
    read_at: Instant,
) -> anyhow::Result<Targets> {
    let mut subscriptions: Vec<Uuid> = endpoints.keys().copied().collect();
    subscriptions.sort_unstable();
    let with_ed25519 = endpoints.values().filter(|endpoint| endpoint.ed25519);
    let mut workspaces: Vec<Uuid> = with_ed25519.map(|endpoint| endpoint.workspace_id).collect();
    workspaces.sort_unstable();
    workspaces.dedup();
    let ed25519_keys = signing_keys::signing(conn, seal, &workspaces, now_ms).await?;
    let mut secrets = webhooks::active_secrets(conn, seal, &subscriptions, now_ms).await?;
    let mut build_target = |id: Uuid, endpoint: Endpoint| {
        // An invalid secret is skipped. If no key remains, nothing is sent, and the attempt fails with `no_secret`.
        let secrets = secrets.remove(&id).unwrap_or_default();
        let mut keys: Vec<SigningKey> =
            secrets.iter().filter_map(|secret| SigningKey::new(secret.expose_secret()).ok()).collect();
        let ed25519_keys = match ed25519_keys.get(&endpoint.workspace_id).filter(|_| endpoint.ed25519) {
            Some(Ok(keys)) => keys.clone(),
            None => Vec::new(),
            // The receiver may rely on this signature, or on the headers below. Without them, nothing is sent, either.
            Some(Err(_)) => {
                keys.clear();
                Vec::new()
            }
        };
        let headers = decrypt_headers(seal, &endpoint).unwrap_or_else(|| {
            keys.clear();
            Vec::new()
        });
        let url = Url::parse(&endpoint.url).ok();
        let (workspace, mode) = (endpoint.workspace_id, Mode::from_column(&endpoint.mode));
        Arc::new(Target {
            workspace,
            mode,
            url,
            stored_url: endpoint.url,
            keys,
            ed25519_keys,
            headers,
            read_at,
        })
    };
    Ok(endpoints.into_iter().map(|(id, endpoint)| (id, build_target(id, endpoint))).collect())
}

/// Decrypts the custom headers of an endpoint. Returns `None` if that fails. The log contains a warning.
fn decrypt_headers(seal: &Seal, endpoint: &Endpoint) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let Some(stored) = &endpoint.headers else { return Some(Vec::new()) };
    let decrypted = headers::decrypt(seal, endpoint.id, stored).inspect_err(|error| {
        let subscription = SubscriptionId::from_uuid(endpoint.id);
        tracing::warn!(subscription.id = %subscription, %error, "the headers of a webhook cannot be decrypted");
    });
    let header = |(name, value): (String, secrecy::SecretString)| {
        let mut value = HeaderValue::try_from(value.expose_secret()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name).ok()?, value))
    };
    decrypted.ok()?.into_iter().map(header).collect()
}

/// Reads the targets of these subscriptions. Those that are not enabled are omitted.
///
/// # Errors
/// Returns an error when a query fails.
pub(super) async fn read_targets(
    app: &App,
    seal: &Seal,
    mut subscriptions: Vec<Uuid>,
) -> anyhow::Result<Targets> {
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let read_at = Instant::now();
    let endpoints = webhook_subscriptions::enabled_endpoints(app.db.read(), &subscriptions).await?;
    let endpoints = endpoints.into_iter().map(|endpoint| (endpoint.id, endpoint)).collect();
    build_targets(app.db.read(), seal, endpoints, app.clock.now_ms(), read_at).await
}

/// The most recent read of one subscription's target: its time, and the target or `None` if the subscription was not
/// enabled or the query failed. Shared by all deliveries that wait to be sent to the subscription's endpoint.
#[derive(Debug, Default)]
pub(super) struct CachedTarget(tokio::sync::Mutex<Option<(Instant, Option<Arc<Target>>)>>);

impl CachedTarget {
    /// Returns the target, at most [`TIME_TO_LIVE`] old, or `None` if the subscription is not enabled or the query
    /// failed.
    pub(super) async fn get(&self, app: &App, seal: &Seal, subscription: Uuid) -> Option<Arc<Target>> {
        let mut cached = self.0.lock().await;
        if let Some((_, target)) = cached.as_ref().filter(|(read_at, _)| is_fresh(*read_at)) {
            return target.clone();
        }
        let read_at = Instant::now();
        *cached = Some(match read_targets(app, seal, vec![subscription]).await {
            Ok(mut targets) => (read_at, targets.remove(&subscription)),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    "reading the target of a webhook subscription failed; its deliveries stay queued"
                );
                (Instant::now(), None)
            }
        });
        cached.as_ref().and_then(|(_, target)| target.clone())
    }
}
