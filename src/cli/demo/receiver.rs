//! The demo's receiver of webhooks: what an integrator's own would begin with.
//!
//! Verifies each request over its raw bytes, drops doubles by the event's id, answers quickly, and prints a line.

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

/// Bytes of a body at most; an event is far smaller.
const BODY_CAP: usize = 1 << 20;
/// Events remembered at most.
const REMEMBERED: usize = 10_000;

/// Receives until it is dropped.
pub(super) async fn run(listener: TcpListener, secret: SecretString) -> std::io::Result<()> {
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    let receiver = std::sync::Arc::new(Receiver { secret, clock: Clock::system(), seen: Mutex::default() });
    let endpoint = make(move |request| {
        let receiver = std::sync::Arc::clone(&receiver);
        async move { Ok::<_, poem::Error>(receiver.receive(request).await) }
    });
    Server::new_with_acceptor(acceptor).run(endpoint).await
}

struct Receiver {
    secret: SecretString,
    clock: Clock,
    seen: Mutex<HashSet<String>>,
}

impl Receiver {
    async fn receive(&self, mut request: Request) -> StatusCode {
        let signature = request.header("x-svc-signature").unwrap_or_default().to_owned();
        let Ok(body) = request.take_body().into_bytes_limit(BODY_CAP).await else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
        let secrets = [self.secret.expose_secret()];
        if let Err(rejected) = verify(&body, &signature, &secrets, self.clock.now().as_second(), TOLERANCE) {
            output::say(format_args!("webhook refused: {rejected}"));
            return StatusCode::UNAUTHORIZED;
        }
        let Ok(event) = serde_json::from_slice::<Value>(&body) else { return StatusCode::BAD_REQUEST };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&event["id"]);
        let (kind, about) = (text(&event["type"]), text(&event["data"]["id"]));
        let again = if self.is_new(&id) { "" } else { "  (again: dropped)" };
        // Nobody may be reading.
        let _ = output::line(format_args!("webhook  {kind:<22} {about}  {id}  signature verified{again}"));
        StatusCode::NO_CONTENT
    }

    fn is_new(&self, id: &str) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(id.to_owned())
    }
}
