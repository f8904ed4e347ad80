//! A minimal webhook receiver on a separate thread. It responds 204 immediately and records what it receives.
//!
//! It reads only the event's number, which is part of the student's email address.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The text before the event's number in its body.
pub const EVENT_MARKER: &str = "event-";

/// The maximum number of request headers.
const MAX_HEADERS: usize = 32;

const RESPONSE: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// The receipt of one webhook.
#[derive(Debug, Clone, Copy)]
pub struct WebhookReceipt {
    /// The number of the event.
    pub number: u64,
    pub received_at: Instant,
}

/// A receiver that listens until the process ends.
pub struct BenchReceiver {
    pub address: SocketAddr,
    state: Arc<ReceiverState>,
}

#[derive(Default)]
struct ReceiverState {
    receipts: Mutex<Vec<WebhookReceipt>>,
    count: AtomicU64,
    /// Gets one permit for each received webhook.
    permits: Option<Arc<Semaphore>>,
}

impl BenchReceiver {
    /// Starts to listen. Adds a permit to `permits` for each received webhook.
    ///
    /// # Errors
    /// Returns an error when no port is free.
    pub fn start(permits: Option<Arc<Semaphore>>) -> Result<Self> {
        let state = Arc::new(ReceiverState { permits, ..ReceiverState::default() });
        let shared = Arc::clone(&state);
        let address = listen(move |stream| {
            let state = Arc::clone(&shared);
            async move { drop(receive(stream, &state).await) }
        })?;
        Ok(Self { address, state })
    }

    /// Returns the URL for webhooks.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns the number of webhooks received so far.
    pub fn count(&self) -> u64 {
        self.state.count.load(Ordering::Relaxed)
    }

    /// Returns the receipts of all webhooks so far, in order of receipt.
    pub fn receipts(&self) -> Vec<WebhookReceipt> {
        self.state.receipts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Starts an endpoint that accepts connections and never responds, and returns its URL.
///
/// # Errors
/// Returns an error when no port is free.
pub fn start_hung_endpoint() -> Result<String> {
    let address = listen(|mut stream| async move {
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest).await);
    })?;
    Ok(format!("http://{address}/hook"))
}

/// Listens on a free port and calls `handle` for each connection, on a separate thread that ends with the process.
fn listen<F: Future<Output = ()> + 'static>(
    handle: impl Fn(TcpStream) -> F + Send + 'static,
) -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::Builder::new().name("receiver".to_owned()).spawn(move || {
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(handle(stream));
            }
        });
    })?;
    Ok(address)
}

/// Responds to one request after the other until the client closes the connection.
async fn receive(mut stream: TcpStream, state: &ReceiverState) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 << 10);
    loop {
        while let Some((start, end)) = find_body(&buffer)? {
            state.record(number(&buffer[start..end]));
            buffer.drain(..end);
            stream.write_all(RESPONSE).await?;
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// Returns the range of the first request's body once it is complete.
fn find_body(bytes: &[u8]) -> Result<Option<(usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(start) = request.parse(bytes)? else { return Ok(None) };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("a request without Content-Length")?;
    let end = start + std::str::from_utf8(length.value)?.parse::<usize>()?;
    Ok((bytes.len() >= end).then_some((start, end)))
}

/// Returns the number of the event with this body; 0 if it has none.
fn number(body: &[u8]) -> u64 {
    let marker = body.windows(EVENT_MARKER.len()).position(|window| window == EVENT_MARKER.as_bytes());
    let digits = marker.map_or(&[][..], |marker| &body[marker + EVENT_MARKER.len()..]);
    digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

impl ReceiverState {
    fn record(&self, number: u64) {
        let received_at = Instant::now();
        self.receipts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(WebhookReceipt { number, received_at });
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(permits) = &self.permits {
            permits.add_permits(1);
        }
    }
}
