//! Accepts connections, limits their number and duration, and closes them gracefully.
//!
//! Replaces the accept loop of the framework, which has no timeouts. Every request head is validated ([`head`]) before
//! the HTTP library parses it, so that HTTP errors have the same response format as all others.

mod chunks;
mod counters;
mod exchange;
mod first_request;
mod framing;
mod head;
mod io;
mod limits;
mod overflow;
mod write_progress;

use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use poem::http::HeaderValue;
use poem::http::header::CONNECTION;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint};
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use counters::ConnectionCounters;
use exchange::Exchange;
use first_request::FirstRequest;
use io::ConnectionIo;
use limits::ConnectionSlots;
pub use limits::{ConnectionLimits, Timeouts};
use overflow::Overflow;
use web::rejection::Rejection;

/// The size of the send buffer of a socket. By default, the system buffers megabytes for each client, and the progress
/// of a slow client is not visible until it has read a third of that.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// The pause after a failed accept, such as with too many open files, so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The minimum time between two log lines of [`ConnectionCounters`].
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The buffer size of the HTTP library: more than a valid head needs.
const LIBRARY_BUFFER_BYTES: usize = 2 * head::MAX_HEAD_BYTES;

/// How often a draining server checks whether all connections are closed.
const DRAIN_POLL: Duration = Duration::from_millis(10);

/// How a server stops after the shutdown signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shutdown {
    /// How long to continue to serve. Every response closes its connection, so that clients that keep connections open use
    /// another server for their next request.
    pub(super) drain: Duration,
    /// Whether to accept connections in this time. Otherwise, they wait in the listening socket, which another process
    /// must hold open, and the time ends when all connections are closed.
    pub(super) accepts_while_draining: bool,
    /// How long to wait for requests in flight after that.
    pub(super) timeout: Duration,
}

/// Serves connections until `signal` resolves, and then stops as described by `shutdown`.
pub(super) async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    limits: ConnectionLimits,
    signal: impl Future<Output = ()>,
    shutdown: Shutdown,
) where
    E: Endpoint + 'static,
{
    let mut acceptor = Acceptor::new(endpoint, limits);
    acceptor.accept_until(&listener, signal).await;
    acceptor.is_draining.store(true, Ordering::Relaxed);
    let drained = tokio::time::sleep(shutdown.drain);
    if shutdown.accepts_while_draining {
        acceptor.accept_until(&listener, drained).await;
        drop(listener);
    } else {
        drop(listener);
        tokio::select! {
            () = drained => {}
            () = acceptor.all_closed() => {}
        }
    }
    acceptor.counters.report();
    if tokio::time::timeout(shutdown.timeout, acceptor.graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and were canceled");
    }
}

/// Returns whether an accept failed because the client closed the connection first.
fn is_client_abort(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}

/// Starts a task for each accepted connection.
struct Acceptor<E> {
    endpoint: Arc<E>,
    limits: ConnectionLimits,
    slots: Arc<ConnectionSlots>,
    overflow: Overflow,
    counters: Arc<ConnectionCounters>,
    graceful: GracefulShutdown,
    /// Whether every response closes its connection.
    is_draining: Arc<AtomicBool>,
    /// Limits how many connections begin to process their first request at the same time.
    first_request_permits: Arc<Semaphore>,
    within_limits: ConnectionClass,
    beyond_limits: ConnectionClass,
}

/// The settings that differ between connections within the limits and beyond them.
struct ConnectionClass {
    is_beyond_limits: bool,
    builder: http1::Builder,
}

impl<E: Endpoint + 'static> Acceptor<E> {
    fn new(endpoint: E, limits: ConnectionLimits) -> Self {
        let mut single_request = builder(limits.overflow_head_timeout);
        single_request.keep_alive(false);
        Self {
            endpoint: Arc::new(endpoint),
            slots: ConnectionSlots::new(&limits),
            overflow: Overflow::new(&limits),
            counters: Arc::default(),
            graceful: GracefulShutdown::new(),
            is_draining: Arc::default(),
            first_request_permits: Arc::new(Semaphore::new(first_request::max_concurrent())),
            within_limits: ConnectionClass {
                is_beyond_limits: false,
                builder: builder(limits.timeouts.head),
            },
            beyond_limits: ConnectionClass { is_beyond_limits: true, builder: single_request },
            limits,
        }
    }

    /// Accepts connections until `end` resolves.
    async fn accept_until(&mut self, listener: &TcpListener, end: impl Future<Output = ()>) {
        let mut report = tokio::time::interval(REPORT_INTERVAL);
        report.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = tokio::select! {
                () = &mut end => return,
                accepted = listener.accept() => accepted,
                _ = report.tick() => {
                    self.counters.report();
                    continue;
                }
            };
            match accepted {
                Ok((stream, peer)) => self.start(stream, peer).await,
                Err(error) => {
                    self.counters.not_accepted.fetch_add(1, Ordering::Relaxed);
                    if !is_client_abort(&error) {
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        }
    }

    /// Waits until no connection is open.
    async fn all_closed(&self) {
        while self.graceful.count() > 0 {
            tokio::time::sleep(DRAIN_POLL).await;
        }
    }

    /// Serves a connection within the limits, or one request of a connection beyond them. Closes the connection if
    /// there is no slot for it.
    async fn start(&mut self, stream: TcpStream, peer: SocketAddr) {
        let exchange = Arc::new(Exchange::default());
        let exceeded = match self.slots.acquire(peer.ip()) {
            Ok(slot) => {
                let connection = self.connection(&self.within_limits, stream, peer, &exchange);
                tokio::spawn(async move {
                    first_request::run(connection, &exchange).await;
                    drop(slot);
                });
                return;
            }
            Err(exceeded) => exceeded,
        };
        self.counters.count_rejected(exceeded);
        if let Some(slot) = self.overflow.acquire(&stream).await {
            let connection = self.connection(&self.beyond_limits, stream, peer, &exchange);
            let task_exchange = Arc::clone(&exchange);
            let task = tokio::spawn(async move {
                first_request::run(connection, &task_exchange).await;
                drop(slot);
            });
            self.overflow.push(task.abort_handle(), exchange);
        }
    }

    /// Returns a future that passes each request of a connection to the endpoint.
    fn connection(
        &self,
        class: &ConnectionClass,
        stream: TcpStream,
        peer: SocketAddr,
        exchange: &Arc<Exchange>,
    ) -> impl Future + Send + 'static + use<E> {
        set_options(&stream, &self.limits.timeouts);
        let local = LocalAddr(stream.local_addr().map_or(Addr::custom("tcp", ""), Addr::socket));
        let remote = RemoteAddr(Addr::socket(peer));
        let first_request = FirstRequest::new(Arc::clone(&self.first_request_permits));
        let (timeouts, counters) = (&self.limits.timeouts, Arc::clone(&self.counters));
        let io = ConnectionIo::new(stream, first_request, timeouts, Arc::clone(exchange), counters);
        let (endpoint, exchange) = (Arc::clone(&self.endpoint), Arc::clone(exchange));
        let is_beyond_limits = class.is_beyond_limits;
        let is_draining = Arc::clone(&self.is_draining);
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            exchange.set_responding(true);
            if let Some(rejected) = exchange.next_request() {
                rejected.restore(&mut request);
            } else if is_beyond_limits && !first_request::is_health_path(request.uri().path()) {
                request.extensions_mut().insert(Rejection::BUSY);
            }
            let request = (request, local.clone(), remote.clone(), Scheme::HTTP).into();
            let (endpoint, exchange) = (Arc::clone(&endpoint), Arc::clone(&exchange));
            let is_draining = Arc::clone(&is_draining);
            // Boxed, since the library moves the future several times, and it is large.
            Box::pin(async move {
                let mut response: hyper::Response<_> = endpoint.get_response(request).await.into();
                exchange.set_responding(false);
                if is_draining.load(Ordering::Relaxed) {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response)
            })
        });
        self.graceful.watch(class.builder.serve_connection(TokioIo::new(io), service))
    }
}

/// Sets the options of the socket. One that cannot be set is ignored: the connection is then slower, or already closed.
fn set_options(stream: &TcpStream, timeouts: &Timeouts) {
    let _ = stream.set_nodelay(true);
    let _ = set_socket_send_buffer_size(stream, SEND_BUFFER_BYTES);
    #[cfg(target_os = "linux")]
    if let Ok(timeout_ms) = u32::try_from(timeouts.acknowledgment.as_millis()) {
        let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, timeout_ms);
    }
}

/// Returns the settings for HTTP/1.1 without TLS. A reverse proxy can offer TLS and other versions to its clients.
fn builder(head_timeout: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head_timeout).max_buf_size(LIBRARY_BUFFER_BYTES);
    builder
}
