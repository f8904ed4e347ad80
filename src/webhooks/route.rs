//! Where the deliveries of a subscription go, and what signs them: made ready once for all that are sent together, and believed
//! for a moment only, since its owner may pause it, edit it or end a secret.

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

/// How long what was looked up is believed.
const BELIEVED: Duration = Duration::from_millis(250);

/// The way to one subscription's endpoint.
#[derive(Debug)]
pub(super) struct Route {
    /// The address as it is stored.
    text: String,
    /// Where it stands; none when what is stored is no URL.
    pub(super) url: Option<Url>,
    /// The live secrets, newest first; none when they cannot be opened.
    pub(super) keys: Vec<SigningKey>,
    /// When it was looked up.
    at: Instant,
}

impl Route {
    /// One that leads nowhere, for what is not to be sent.
    pub(super) fn nowhere() -> Arc<Self> {
        Arc::new(Self { text: String::new(), url: None, keys: Vec::new(), at: Instant::now() })
    }

    /// Whether it leads to where this subscription wants its deliveries.
    pub(super) fn leads_to(&self, subscription: &Subscription) -> bool {
        self.text == subscription.url
    }

    /// Whether it was looked up just now.
    pub(super) fn is_fresh(&self) -> bool {
        is_fresh(self.at)
    }
}

fn is_fresh(at: Instant) -> bool {
    at.elapsed() < BELIEVED
}

/// Routes by subscription.
pub(super) type Routes = HashMap<Uuid, Arc<Route>>;

/// The routes to the subscriptions with these URLs, each of which gets one. `at` is from before the URLs were read.
///
/// # Errors
/// When the database fails.
pub(super) async fn routes(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    urls: HashMap<Uuid, String>,
    now: i64,
    at: Instant,
) -> anyhow::Result<Routes> {
    let mut subscriptions: Vec<Uuid> = urls.keys().copied().collect();
    subscriptions.sort_unstable();
    let mut secrets = webhooks::live(conn, seal, &subscriptions, now).await?;
    let mut route = |id: Uuid, text: String| {
        // One that is no secret holds up nobody else: without any, nothing is sent and the log says why.
        let keys = secrets.remove(&id).unwrap_or_default();
        let keys = keys.iter().filter_map(|secret| SigningKey::new(secret.expose_secret()).ok()).collect();
        Arc::new(Route { url: Url::parse(&text).ok(), text, keys, at })
    };
    Ok(urls.into_iter().map(|(id, url)| (id, route(id, url))).collect())
}

/// The routes to those of these subscriptions that are enabled.
///
/// # Errors
/// When the database fails.
pub(super) async fn look_up(app: &App, seal: &Seal, mut subscriptions: Vec<Uuid>) -> anyhow::Result<Routes> {
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let at = Instant::now();
    let urls = webhook_subscriptions::routes(app.db.read(), &subscriptions).await?;
    routes(app.db.read(), seal, urls.into_iter().collect(), app.clock.now_ms(), at).await
}

/// The last look at one subscription, shared by all that wait to be sent there.
#[derive(Debug, Default)]
pub(super) struct LastLook(tokio::sync::Mutex<Option<(Instant, Option<Arc<Route>>)>>);

impl LastLook {
    /// The route by now; `None` while the subscription takes nothing, or the database does not say.
    pub(super) async fn route(&self, app: &App, seal: &Seal, of: Uuid) -> Option<Arc<Route>> {
        let mut last = self.0.lock().await;
        if let Some((_, route)) = last.as_ref().filter(|(at, _)| is_fresh(*at)) {
            return route.clone();
        }
        let at = Instant::now();
        *last = Some(match look_up(app, seal, vec![of]).await {
            Ok(mut routes) => (at, routes.remove(&of)),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "where webhooks go could not be looked up; they wait in the queue");
                (Instant::now(), None)
            }
        });
        last.as_ref().and_then(|(_, route)| route.clone())
    }
}
