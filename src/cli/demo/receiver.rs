//! The demo's webhook receiver. Integrators can use it as a starting point.
//!
//! Verifies the signature of each raw body, detects duplicates by event id, prints a line, and responds with 204.

use std::collections::HashSet;
use std::sync::Mutex;

use poem::endpoint::make;
use poem::http::StatusCode;
use poem::listener::TcpAcceptor;
use poem::{Request, Server};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::cli::output;
use foundation::clock::Clock;
use webhooks::verify::{TOLERANCE, verify};

/// The largest accepted body. Events are much smaller.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The maximum number of event ids stored for deduplication. When it is reached, all stored ids are deleted.
const MAX_EVENT_IDS: usize = 10_000;

/// Receives webhooks until the future is dropped.
pub(super) async fn run(listener: TcpListener, secret: SecretString) -> std::io::Result<()> {
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    let receiver =
        std::sync::Arc::new(DemoReceiver { secret, clock: Clock::system(), event_ids: Mutex::default() });
    let endpoint = make(move |request| {
        let receiver = std::sync::Arc::clone(&receiver);
        async move { Ok::<_, poem::Error>(receiver.receive(request).await) }
    });
    Server::new_with_acceptor(acceptor).run(endpoint).await
}

struct DemoReceiver {
    secret: SecretString,
    clock: Clock,
    event_ids: Mutex<HashSet<String>>,
}

impl DemoReceiver {
    async fn receive(&self, mut request: Request) -> StatusCode {
        let signature = request.header("x-svc-signature").unwrap_or_default().to_owned();
        let Ok(body) = request.take_body().into_bytes_limit(MAX_BODY_BYTES).await else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
        let secrets = [self.secret.expose_secret()];
        if let Err(rejected) = verify(&body, &signature, &secrets, self.clock.now().as_second(), TOLERANCE) {
            output::eprint(format_args!("webhook rejected: {rejected}"));
            return StatusCode::UNAUTHORIZED;
        }
        let Ok(event) = serde_json::from_slice::<Value>(&body) else { return StatusCode::BAD_REQUEST };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&event["id"]);
        let (event_type, subject) = (text(&event["type"]), text(&event["data"]["id"]));
        let duplicate = if self.is_new(&id) { "" } else { "  (duplicate, ignored)" };
        // When printing fails, as on a full disk, the receiver continues.
        let _ = output::print(format_args!(
            "webhook  {event_type:<22} {subject}  {id}  signature verified{duplicate}"
        ));
        StatusCode::NO_CONTENT
    }

    /// Stores the id of an event. Returns whether it is new.
    fn is_new(&self, id: &str) -> bool {
        let mut event_ids = self.event_ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if event_ids.len() >= MAX_EVENT_IDS {
            event_ids.clear();
        }
        event_ids.insert(id.to_owned())
    }
}
