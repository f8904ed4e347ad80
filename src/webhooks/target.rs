//! The target of a subscription's deliveries: its URL and its signing keys.
//!
//! Read once for all deliveries that are sent together, and trusted only briefly, since the owner may pause the subscription,
//! edit its URL or revoke a secret.

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

/// How long a target that was read is trusted.
const TIME_TO_LIVE: Duration = Duration::from_millis(250);

/// The URL and the signing keys of one subscription.
#[derive(Debug)]
pub(super) struct Target {
    /// The URL as it is stored.
    stored_url: String,
    /// The parsed URL; `None` when the stored one is invalid.
    pub(super) url: Option<Url>,
    /// The keys of the unexpired secrets, newest first; empty when no secret can be decrypted.
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

    /// Whether it was read recently enough to be trusted.
    pub(super) fn is_fresh(&self) -> bool {
        is_fresh(self.read_at)
    }
}

fn is_fresh(read_at: Instant) -> bool {
    read_at.elapsed() < TIME_TO_LIVE
}

/// Targets by subscription.
pub(super) type Targets = HashMap<Uuid, Arc<Target>>;

/// Returns a target for each of these subscriptions, whose URLs are known. `read_at` is a time before the URLs were read.
///
/// # Errors
/// Returns an error when the query of the secrets fails.
pub(super) async fn targets(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    urls: HashMap<Uuid, String>,
    now: i64,
    read_at: Instant,
) -> anyhow::Result<Targets> {
    let mut subscriptions: Vec<Uuid> = urls.keys().copied().collect();
    subscriptions.sort_unstable();
    let mut secrets = webhooks::active_secrets(conn, seal, &subscriptions, now).await?;
    let mut target = |id: Uuid, stored_url: String| {
        // An invalid secret is skipped and affects no other. Without any key, nothing is sent and the attempt records the
        // reason.
        let keys = secrets.remove(&id).unwrap_or_default();
        let keys = keys.iter().filter_map(|secret| SigningKey::new(secret.expose_secret()).ok()).collect();
        Arc::new(Target { url: Url::parse(&stored_url).ok(), stored_url, keys, read_at })
    };
    Ok(urls.into_iter().map(|(id, url)| (id, target(id, url))).collect())
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
    targets(app.db.read(), seal, urls.into_iter().collect(), app.clock.now_ms(), read_at).await
}

/// The last target that was read of one subscription, shared by all deliveries that wait to be sent to it.
#[derive(Debug, Default)]
pub(super) struct CachedTarget(tokio::sync::Mutex<Option<(Instant, Option<Arc<Target>>)>>);

impl CachedTarget {
    /// Returns the current target; `None` when the subscription is not enabled, or the query failed.
    pub(super) async fn get(&self, app: &App, seal: &Seal, subscription: Uuid) -> Option<Arc<Target>> {
        let mut last = self.0.lock().await;
        if let Some((_, target)) = last.as_ref().filter(|(read_at, _)| is_fresh(*read_at)) {
            return target.clone();
        }
        let read_at = Instant::now();
        *last = Some(match read_targets(app, seal, vec![subscription]).await {
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
        last.as_ref().and_then(|(_, target)| target.clone())
    }
}
