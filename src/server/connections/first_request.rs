//! Limits how many new connections begin to process their first request at the same time. A connection releases its
//! permit as soon as it waits, for example for the database. Health checks are not limited.
//!
//! The runtime runs tasks in the order in which they become ready. Without these permits, a burst of thousands of
//! connections would make thousands of tasks ready at once, and a health check would wait for all of them.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::exchange::Exchange;

/// The paths of health checks and metrics, all called health checks here. They are also served to connections beyond
/// the limits.
const HEALTH_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// The number of bytes that are read to recognize a health check.
const FIRST_BYTES: usize = 32;

/// Returns the number of permits: one fewer than the runtime has worker threads, but at least one. The remaining thread
/// accepts connections and serves health checks.
pub(super) fn max_concurrent() -> usize {
    Handle::current().metrics().num_workers().saturating_sub(1).max(1)
}

/// Returns whether a request for this path is a health check.
pub(super) fn is_health_path(path: &str) -> bool {
    HEALTH_PATHS.contains(&path)
}

/// Returns whether these bytes start a health check.
fn begins_health_check(bytes: &[u8]) -> bool {
    let target = bytes.strip_prefix(b"GET ").or_else(|| bytes.strip_prefix(b"HEAD "));
    let path = target.and_then(|target| target.split(|byte| matches!(byte, b' ' | b'?')).next());
    path.and_then(|path| str::from_utf8(path).ok()).is_some_and(is_health_path)
}

/// Returns whether a request has arrived that is not a health check, or the connection was closed or failed. Leaves the
/// bytes in the socket.
pub(super) fn has_other_request(stream: &TcpStream) -> bool {
    let mut bytes = [0; FIRST_BYTES];
    match recv(stream, &mut bytes, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((read, _)) => !begins_health_check(&bytes[..read]),
        Err(error) => error != Errno::WOULDBLOCK,
    }
}

/// The wait of a connection for its first request, and then for a permit.
pub(super) struct FirstRequest {
    permits: Arc<Semaphore>,
    state: FirstRequestState,
}

enum FirstRequestState {
    /// No byte has arrived.
    Expected,
    /// The request has begun to arrive and waits for a permit.
    Queued(Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>),
    /// The request can be read.
    Started,
}

impl FirstRequest {
    /// Creates the wait of a new connection. It needs one of these permits unless its first request is a health check.
    pub(super) fn new(permits: Arc<Semaphore>) -> Self {
        Self { permits, state: FirstRequestState::Expected }
    }

    /// Polls until the first request can be read from the socket: immediately for a health check, otherwise with a
    /// permit.
    pub(super) fn poll_start(
        &mut self,
        stream: &TcpStream,
        exchange: &Exchange,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        loop {
            match &mut self.state {
                FirstRequestState::Started => return Poll::Ready(Ok(())),
                FirstRequestState::Expected => {
                    let mut bytes = [0; FIRST_BYTES];
                    let mut buf = ReadBuf::new(&mut bytes);
                    let peeked = stream.poll_peek(cx, &mut buf);
                    exchange.set_polled();
                    ready!(peeked)?;
                    if begins_health_check(buf.filled()) {
                        self.state = FirstRequestState::Started;
                    } else {
                        exchange.set_queued(true);
                        self.state =
                            FirstRequestState::Queued(Box::pin(Arc::clone(&self.permits).acquire_owned()));
                    }
                }
                FirstRequestState::Queued(permit) => {
                    let permit = ready!(permit.as_mut().poll(cx));
                    exchange.set_queued(false);
                    exchange.set_permit(permit.ok());
                    self.state = FirstRequestState::Started;
                }
            }
        }
    }
}

/// Runs a connection to completion and ignores its result. Releases its permit at the end of each poll.
pub(super) async fn run(connection: impl Future, exchange: &Exchange) {
    let mut connection = pin!(connection);
    poll_fn(|cx| {
        let _permit = PermitGuard(exchange);
        connection.as_mut().poll(cx).map(|_| ())
    })
    .await;
}

/// Releases the permit of a connection on drop, including after a panic.
struct PermitGuard<'a>(&'a Exchange);

impl Drop for PermitGuard<'_> {
    fn drop(&mut self) {
        self.0.set_permit(None);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    /// Returns the server and the client side of a connection over which these bytes were sent.
    async fn connection(bytes: &[u8]) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        client.write_all(bytes).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        server.readable().await.unwrap();
        (server, client)
    }

    #[tokio::test]
    async fn a_health_check_needs_no_permit_and_any_other_request_waits_for_one() {
        let permits = Arc::new(Semaphore::new(0));
        let exchange = Exchange::default();
        let (stream, _client) = connection(b"GET /healthz HTTP/1.1\r\n\r\n").await;
        assert!(!has_other_request(&stream));
        let mut first = FirstRequest::new(Arc::clone(&permits));
        poll_fn(|cx| first.poll_start(&stream, &exchange, cx)).await.unwrap();
        assert!(!exchange.is_queued());

        let (stream, _client) = connection(b"GET /docs/ HTTP/1.1\r\n\r\n").await;
        assert!(has_other_request(&stream));
        let mut first = FirstRequest::new(Arc::clone(&permits));
        let is_pending =
            poll_fn(|cx| Poll::Ready(first.poll_start(&stream, &exchange, cx).is_pending())).await;
        assert!(is_pending && exchange.is_queued());
        permits.add_permits(1);
        poll_fn(|cx| first.poll_start(&stream, &exchange, cx)).await.unwrap();
        assert!(!exchange.is_queued());
        assert_eq!(permits.available_permits(), 0);
        run(std::future::ready(()), &exchange).await;
        assert_eq!(permits.available_permits(), 1, "the first poll releases the permit");
    }

    #[test]
    fn a_health_check_is_recognized_by_its_first_bytes() {
        for request in ["GET /healthz HTTP/1.1\r\n", "HEAD /readyz HTTP/1.0\r\n", "GET /metrics?x=1 HTTP/1.1"]
        {
            assert!(begins_health_check(request.as_bytes()), "{request}");
        }
        for request in ["", "GET /heal", "GET /healthzz HTTP/1.1", "POST /healthz HTTP/1.1", "GET  /healthz"]
        {
            assert!(!begins_health_check(request.as_bytes()), "{request}");
        }
    }
}
