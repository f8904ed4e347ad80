//! A webhook receiver that verifies signatures and counts the receipts of each event.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use foundation::clock::Clock;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use webhooks::verify::{TOLERANCE, verify};

use crate::commands::Commands;

/// The maximum number of request headers.
const MAX_HEADERS: usize = 32;

/// The receipts of one event by one subscription.
#[derive(Debug, Clone)]
pub struct EventReceipts {
    /// The email address of the created student.
    pub email: String,
    pub first_at: Instant,
    pub count: usize,
}

#[derive(Default)]
struct ReceiverState {
    /// The secret of each subscription.
    secrets: Vec<String>,
    /// By subscription and id of the event.
    events: HashMap<(usize, String), EventReceipts>,
    /// When webhooks arrived, repeated ones included.
    arrivals: Vec<Instant>,
    invalid: usize,
}

/// A receiver that listens until it is dropped.
pub struct WebhookReceiver {
    state: Arc<Mutex<ReceiverState>>,
    task: JoinHandle<()>,
}

impl WebhookReceiver {
    /// Starts a receiver that waits for `delay` before each response, and subscribes it `subscriptions` times.
    ///
    /// # Errors
    /// Returns an error when no port is free or a command fails.
    pub async fn start(commands: &Commands, subscriptions: usize, delay: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port is free")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(ReceiverState::default()));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                connections.spawn(async move { drop(receive(stream, &state, delay).await) });
                while connections.try_join_next().is_some() {}
            }
        });
        let receiver = Self { state, task };
        for number in 0..subscriptions {
            let url = format!("http://127.0.0.1:{port}/{number}");
            let secret = commands.subscribe(&url).await?;
            receiver.state().secrets.push(secret);
        }
        Ok(receiver)
    }

    fn state(&self) -> MutexGuard<'_, ReceiverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of subscriptions.
    pub fn subscriptions(&self) -> usize {
        self.state().secrets.len()
    }

    /// Returns the received events with valid signatures, by subscription and id of the event.
    pub fn events(&self) -> HashMap<(usize, String), EventReceipts> {
        self.state().events.clone()
    }

    /// Returns the number of webhooks since `start`, repeated ones included.
    pub fn arrivals_since(&self, start: Instant) -> usize {
        self.state().arrivals.iter().filter(|arrival| **arrival >= start).count()
    }

    /// Returns the number of webhooks with an invalid signature.
    pub fn invalid(&self) -> usize {
        self.state().invalid
    }
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Responds to one request after the other until the client closes the connection.
async fn receive(mut stream: TcpStream, state: &Mutex<ReceiverState>, delay: Duration) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 << 10);
    loop {
        while let Some(length) = handle_request(&buffer, state)? {
            buffer.drain(..length);
            tokio::time::sleep(delay).await;
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// Records the first request once it is complete, and returns its length.
fn handle_request(bytes: &[u8], state: &Mutex<ReceiverState>) -> Result<Option<usize>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(start) = request.parse(bytes)? else { return Ok(None) };
    let header = |name: &str| {
        let header = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.and_then(|header| std::str::from_utf8(header.value).ok()).unwrap_or_default()
    };
    let length: usize = header("content-length").parse().context("a webhook without Content-Length")?;
    let Some(body) = bytes.get(start..start + length) else { return Ok(None) };
    let subscription = request.path.and_then(|path| path.strip_prefix('/')?.parse().ok());
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    match subscription
        .and_then(|number| Some((number, verified_event(&state, number, header("x-svc-signature"), body)?)))
    {
        Some((number, (id, email))) => {
            let now = Instant::now();
            state.arrivals.push(now);
            let new = EventReceipts { email, first_at: now, count: 0 };
            state.events.entry((number, id)).or_insert(new).count += 1;
        }
        None => state.invalid += 1,
    }
    Ok(Some(start + length))
}

/// Returns the id of the event and the email address of the student, if the signature is valid.
fn verified_event(
    state: &ReceiverState,
    number: usize,
    signature: &str,
    body: &[u8],
) -> Option<(String, String)> {
    let secret = state.secrets.get(number)?;
    let now = Clock::system().now_ms() / 1000;
    verify(body, signature, &[secret], now, TOLERANCE).ok()?;
    let event: Value = serde_json::from_slice(body).ok()?;
    Some((event["id"].as_str()?.to_owned(), event["data"]["email"].as_str()?.to_owned()))
}
