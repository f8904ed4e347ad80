//! Sends events to local servers, with the headers and the signature of a delivery.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::event::{Event, EventPattern};
use crate::cli::outcome::CommandError;
use domain::keys;
use domain::workspaces::Mode;
use foundation::clock::Clock;
use foundation::config::Network;
use foundation::id::{DeliveryId, Ids, WorkspaceId};
use webhooks::outbound::{
    self, ATTEMPT_TIMEOUT, ClientOptions, DeliveryVerdict, WebhookClient, WebhookRequest,
};
use webhooks::sign::{self, SigningKey};

/// All addresses: a developer chooses where events are sent.
const ALL_NETWORKS: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// Where the events of some types are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pattern: EventPattern,
    url: Url,
}

impl FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (pattern, url) =
            text.split_once('=').ok_or("expected TYPE=URL, such as order.*=http://localhost:3000")?;
        Ok(Self { pattern: pattern.parse()?, url: super::parse_url(url)? })
    }
}

/// Sends events.
pub(super) struct Forwarder {
    client: WebhookClient,
    mode: Mode,
    secret: SecretString,
    key: SigningKey,
    routes: Vec<Route>,
    default: Option<Url>,
    clock: Clock,
    ids: Ids,
}

/// A request, and its result.
pub(super) struct SentEvent {
    /// The URL.
    pub(super) url: Url,
    /// The status of the response, or the code of the failure.
    pub(super) result: String,
    /// Whether the status is 2xx.
    pub(super) is_accepted: bool,
    /// The time until the response.
    pub(super) duration: Duration,
}

impl Forwarder {
    /// Creates a forwarder. Its secret is the same for each run with the same API key. Without a key, it is random.
    pub(super) fn new(
        clock: &Clock,
        api_key: Option<&SecretString>,
        routes: Vec<Route>,
        default: Option<Url>,
    ) -> Result<Self, CommandError> {
        let ids = Ids::default();
        let mode = api_key.map_or(Mode::Live, |key| keys::mode_of(key.expose_secret()));
        let seed = match api_key {
            Some(api_key) => api_key.expose_secret().to_owned(),
            // Only examples are signed with it.
            None => ids.next::<foundation::id::Secret>(clock.now()).to_string(),
        };
        let digest = Sha256::new().chain_update("creator-api listen\0").chain_update(seed).finalize();
        let secret = sign::secret_of(&digest);
        let key = SigningKey::new(&secret).map_err(|error| anyhow!(error))?;
        let networks: Vec<Network> = ALL_NETWORKS.iter().filter_map(|text| text.parse().ok()).collect();
        let client = WebhookClient::new(ClientOptions::new(&networks))?;
        Ok(Self { client, mode, secret: secret.into(), key, routes, default, clock: clock.clone(), ids })
    }

    /// Returns the secret that signs the requests.
    pub(super) fn secret(&self) -> &SecretString {
        &self.secret
    }

    /// Sends an event. Returns `None` if no route matches it.
    pub(super) async fn send(&self, event: &Event) -> Option<SentEvent> {
        let route = self.routes.iter().find(|route| route.pattern.matches(&event.event_type));
        let url = route.map(|route| &route.url).or(self.default.as_ref())?;
        let (now, started) = (self.clock.now(), Instant::now());
        let delivery: DeliveryId = self.ids.next(now);
        let workspace = event.workspace.parse().ok().map(WorkspaceId::uuid).unwrap_or_default();
        let request = WebhookRequest {
            workspace,
            mode: self.mode,
            url,
            event_id: &event.id,
            event_type: &event.event_type,
            delivery_id: &delivery.to_string(),
            body: event.body.clone(),
            keys: std::slice::from_ref(&self.key),
            ed25519_keys: &[],
            custom_headers: &[],
            now: now.as_second(),
            timeout: ATTEMPT_TIMEOUT,
            traceparent: None,
        };
        let outcome = outbound::send(&self.client, request).await;
        let result = match &outcome.result {
            Ok(response) => response.status.to_string(),
            Err(failure) => failure.to_string(),
        };
        let is_accepted = outcome.verdict() == DeliveryVerdict::Delivered;
        Some(SentEvent { url: url.clone(), result, is_accepted, duration: started.elapsed() })
    }
}
