//! A fixed receiver of webhooks, on a thread of its own: answers 204 at once and notes what came when.
//!
//! Reads no more of a request than it must: an event is known by the number in its student's email.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// What stands before an event's number in its body.
pub const MARK: &str = "event-";

/// Headers a request may have.
const HEADERS: usize = 32;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// One event as it came.
#[derive(Debug, Clone, Copy)]
pub struct Receipt {
    pub number: u64,
    pub at: Instant,
}

/// Listens until it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    receipts: Mutex<Vec<Receipt>>,
    count: AtomicU64,
    room: Option<Arc<Semaphore>>,
}

impl Receiver {
    /// Starts to listen; gives a permit back to `room` for each request that came.
    ///
    /// # Errors
    /// There is no port.
    pub fn start(room: Option<Arc<Semaphore>>) -> Result<Self> {
        let seen = Arc::new(Seen { room, ..Seen::default() });
        let shared = Arc::clone(&seen);
        let address = listen(move |stream| {
            let seen = Arc::clone(&shared);
            async move { drop(receive(stream, &seen).await) }
        })?;
        Ok(Self { address, seen })
    }

    /// Where it takes webhooks.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Requests so far.
    pub fn count(&self) -> u64 {
        self.seen.count.load(Ordering::Relaxed)
    }

    /// All requests so far, in the order in which they came.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.seen.receipts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An endpoint that takes connections and never answers; its URL.
///
/// # Errors
/// There is no port.
pub fn hung() -> Result<String> {
    let address = listen(|mut stream| async move {
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest).await);
    })?;
    Ok(format!("http://{address}/hook"))
}

/// Does this with every connection, on a thread of its own that ends with the process.
fn listen<F: Future<Output = ()> + 'static>(
    each: impl Fn(TcpStream) -> F + Send + 'static,
) -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no port")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::Builder::new().name("receiver".to_owned()).spawn(move || {
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(each(stream));
            }
        });
    })?;
    Ok(address)
}

/// Answers one request after the other until the other side closes.
async fn receive(mut stream: TcpStream, seen: &Seen) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 << 10);
    loop {
        while let Some((start, end)) = whole(&buffer)? {
            seen.note(number(&buffer[start..end]));
            buffer.drain(..end);
            stream.write_all(ANSWER).await?;
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// Where the body of the first request begins and ends, once all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<(usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(start) = request.parse(bytes)? else { return Ok(None) };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("a request without a length")?;
    let end = start + std::str::from_utf8(length.value)?.parse::<usize>()?;
    Ok((bytes.len() >= end).then_some((start, end)))
}

/// The number of the event with this body; 0 when it has none.
fn number(body: &[u8]) -> u64 {
    let mark = body.windows(MARK.len()).position(|window| window == MARK.as_bytes());
    let digits = mark.map_or(&[][..], |mark| &body[mark + MARK.len()..]);
    digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

impl Seen {
    fn note(&self, number: u64) {
        let at = Instant::now();
        self.receipts.lock().unwrap_or_else(PoisonError::into_inner).push(Receipt { number, at });
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(room) = &self.room {
            room.add_permits(1);
        }
    }
}
