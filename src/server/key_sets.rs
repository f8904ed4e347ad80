//! The public keys that verify the webhooks of a workspace, at `/webhooks/{workspace}/jwks.json`: a JSON Web Key Set
//! (RFC 7517) of Ed25519 keys (RFC 8037).
//!
//! Anyone can read them, so they are cached, and read from the database one workspace at a time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use poem::http::{StatusCode, header};
use poem::{Body, Response};
use serde_json::json;
use tokio::time::timeout;

use domain::app::App;
use domain::webhooks::signing_keys::{self, CACHE_SECONDS, PublicKey};
use foundation::id::WorkspaceId;
use web::public_response;

/// How long a key set is served after it was read. Keys are published longer than this and the cache of receivers
/// together before they sign.
const TTL_MS: i64 = 10_000;
/// Maximum number of workspaces with a cached key set. Beyond it, the entry that expires first is removed.
const MAX_WORKSPACES: usize = 1_024;
/// How long a request waits for the reads of other requests. Then it gets a 503.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Serves key sets.
pub(super) struct KeySets {
    app: App,
    /// The key sets, each with the time until which it is served, in milliseconds since the epoch.
    cached: Mutex<HashMap<WorkspaceId, (i64, Bytes)>>,
    reading: tokio::sync::Mutex<()>,
}

impl KeySets {
    pub(super) fn new(app: App) -> Self {
        Self { app, cached: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// Returns the response for a path without its prefix `/webhooks/`. A workspace that does not exist has no keys.
    pub(super) async fn response(&self, path: &str) -> Response {
        let workspace = path.strip_suffix("/jwks.json").and_then(|workspace| workspace.parse().ok());
        let Some(workspace) = workspace else { return public_response::not_found() };
        match self.key_set(workspace).await {
            Ok(None) => unavailable(),
            Ok(Some(body)) => {
                let response = Response::builder()
                    .content_type("application/jwk-set+json")
                    .header(header::CACHE_CONTROL, format!("public, max-age={CACHE_SECONDS}"));
                public_response::with_security_headers(
                    response.body(Body::from_bytes(body)),
                    public_response::FILE_POLICY,
                )
            }
            Err(error) => {
                tracing::warn!(%error, "reading the public keys of webhooks failed");
                unavailable()
            }
        }
    }

    /// Returns the key set of a workspace, or `None` if the reads of others take too long.
    async fn key_set(&self, workspace: WorkspaceId) -> domain::Result<Option<Bytes>> {
        if let Some(body) = self.cached(workspace) {
            return Ok(Some(body));
        }
        let Ok(_reading) = timeout(MAX_WAIT, self.reading.lock()).await else { return Ok(None) };
        if let Some(body) = self.cached(workspace) {
            return Ok(Some(body));
        }
        let key = |key: &PublicKey| json!({"kty": "OKP", "crv": "Ed25519", "x": key.x(), "kid": key.id.to_string(), "alg": "EdDSA", "use": "sig"});
        let keys: Vec<_> = signing_keys::list(&self.app, workspace).await?.iter().map(key).collect();
        let body = Bytes::from(json!({ "keys": keys }).to_string());
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        insert(&mut cached, workspace, (self.app.clock.now_ms() + TTL_MS, body.clone()));
        Ok(Some(body))
    }

    fn cached(&self, workspace: WorkspaceId) -> Option<Bytes> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, body) = cached.get(&workspace)?;
        (*until > self.app.clock.now_ms()).then(|| body.clone())
    }
}

/// Caches a key set. Removes the entry that expires first if there are too many.
fn insert(cached: &mut HashMap<WorkspaceId, (i64, Bytes)>, workspace: WorkspaceId, entry: (i64, Bytes)) {
    cached.insert(workspace, entry);
    if cached.len() > MAX_WORKSPACES {
        let first = cached.iter().min_by_key(|(_, (until, _))| *until).map(|(workspace, _)| *workspace);
        first.and_then(|workspace| cached.remove(&workspace));
    }
}

fn unavailable() -> Response {
    public_response::plain(StatusCode::SERVICE_UNAVAILABLE, "The keys cannot be read now. Try again.\n")
}
