//! The target of a subscription's deliveries: its URL and its signing keys.
//!
//! A target is read once for all deliveries that are sent together. It is reused only briefly, since a user may pause
//! the subscription, edit its URL or revoke a secret in the meantime.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use entity::webhook_subscriptions::{self, Model as Subscription};
use sea_orm::ConnectionTrait;
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;

use super::sign::SigningKey;
use domain::app::App;
use domain::webhooks;
use foundation::secret::Seal;

/// How long a target is used after it was read.
const TIME_TO_LIVE: Duration = Duration::from_millis(250);

/// The URL and the signing keys of one subscription.
#[derive(Debug)]
pub(super) struct Target {
    /// The URL as it is stored.
    stored_url: String,
    /// The parsed URL; `None` when the stored one is invalid.
    pub(super) url: Option<Url>,
    /// The keys of the unexpired secrets, newest first; empty when none can be decrypted.
    pub(super) keys: Vec<SigningKey>,
    /// When it was read.
    read_at: Instant,
}

impl Target {
    /// Returns a target without a URL, for a delivery that must not be sent.
    pub(super) fn empty() -> Arc<Self> {
        Arc::new(Self { stored_url: String::new(), url: None, keys: Vec::new(), read_at: Instant::now() })
    }

    /// Returns whether the target's URL equals the URL of this subscription row.
    pub(super) fn has_url_of(&self, subscription: &Subscription) -> bool {
        self.stored_url == subscription.url
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

/// Builds the targets of subscriptions from their URLs. Reads the secrets that have not expired at `now_ms`, in
/// milliseconds since the epoch. `read_at` is a time before the URLs were read.
///
/// # Errors
/// Returns an error when the query of the secrets fails.
pub(super) async fn build_targets(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    urls: HashMap<Uuid, String>,
    now_ms: i64,
    read_at: Instant,
) -> anyhow::Result<Targets> {
    let mut subscriptions: Vec<Uuid> = urls.keys().copied().collect();
    subscriptions.sort_unstable();
    let mut secrets = webhooks::active_secrets(conn, seal, &subscriptions, now_ms).await?;
    let mut build_target = |id: Uuid, stored_url: String| {
        // An invalid secret is skipped. If no key remains, nothing is sent, and the attempt fails with `no_secret`.
        let secrets = secrets.remove(&id).unwrap_or_default();
        let keys = secrets.iter().filter_map(|secret| SigningKey::new(secret.expose_secret()).ok()).collect();
        Arc::new(Target { url: Url::parse(&stored_url).ok(), stored_url, keys, read_at })
    };
    Ok(urls.into_iter().map(|(id, url)| (id, build_target(id, url))).collect())
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
    let urls = webhook_subscriptions::enabled_urls(app.db.read(), &subscriptions).await?;
    build_targets(app.db.read(), seal, urls.into_iter().collect(), app.clock.now_ms(), read_at).await
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
