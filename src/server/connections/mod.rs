//! Accepts connections, bounds their number and their times, and closes them gracefully.
//!
//! Replaces the accept loop of the framework, which has no timeouts. Every request head is validated before the HTTP
//! library sees it ([`head`]), so that errors of HTTP itself get the same responses as all others.

mod chunks;
mod first_request;
mod framing;
mod head;
mod io;
mod limits;
mod overflow;
mod progress;
mod refused;
mod tally;

use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint};
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use first_request::FirstRequest;
use io::ConnectionIo;
pub use limits::{ConnectionLimits, Timeouts};
use limits::{Exceeded, Slots};
use overflow::Overflow;
use refused::Exchange;
use tally::Tally;
use web::rejection::Rejection;

/// What the system keeps of a response that the client has not read. Left to itself, it keeps megabytes for each client,
/// and a slow one seems to make no progress until a third of that is read.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// The pause after a failed accept (such as too many open files), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often refused connections are logged.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// The buffer of the HTTP library: more than a valid head needs.
const LIBRARY_BUFFER_BYTES: usize = 2 * head::MAX_HEAD_BYTES;

/// Serves connections until `shutdown` is done, then waits for those that are open, `patience` at most.
pub(super) async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    limits: ConnectionLimits,
    shutdown: impl Future<Output = ()>,
    patience: Duration,
) where
    E: Endpoint + 'static,
{
    let mut acceptor = Acceptor::new(endpoint, limits);
    let mut report = tokio::time::interval(REPORT_EVERY);
    report.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
            _ = report.tick() => {
                acceptor.tally.report();
                continue;
            }
        };
        match accepted {
            Ok((stream, peer)) => acceptor.start(stream, peer).await,
            Err(error) => {
                acceptor.tally.not_accepted.fetch_add(1, Ordering::Relaxed);
                if !is_of_connection(&error) {
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    drop(listener);
    acceptor.tally.report();
    if tokio::time::timeout(patience, acceptor.graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and are cut off");
    }
}

/// Whether an accept failed because the client ended the connection before.
fn is_of_connection(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}

/// Starts a task for each accepted connection.
struct Acceptor<E> {
    endpoint: Arc<E>,
    limits: ConnectionLimits,
    slots: Arc<Slots>,
    overflow: Overflow,
    tally: Arc<Tally>,
    graceful: GracefulShutdown,
    starts: Arc<Semaphore>,
    within: Class,
    beyond: Class,
}

/// What differs between connections within the limits and those beyond them.
struct Class {
    is_beyond: bool,
    builder: http1::Builder,
}

impl<E: Endpoint + 'static> Acceptor<E> {
    fn new(endpoint: E, limits: ConnectionLimits) -> Self {
        let mut beyond = builder(limits.overflow_head);
        beyond.keep_alive(false);
        Self {
            endpoint: Arc::new(endpoint),
            slots: Slots::new(&limits),
            overflow: Overflow::new(&limits),
            tally: Arc::default(),
            graceful: GracefulShutdown::new(),
            starts: Arc::new(Semaphore::new(first_request::most_at_once())),
            within: Class { is_beyond: false, builder: builder(limits.timeouts.head) },
            beyond: Class { is_beyond: true, builder: beyond },
            limits,
        }
    }

    /// Serves a connection within the limits, or answers one request of one beyond them.
    async fn start(&mut self, stream: TcpStream, peer: SocketAddr) {
        let exchange = Arc::new(Exchange::default());
        let exceeded = match self.slots.take(peer.ip()) {
            Ok(slot) => {
                let connection = self.connection(&self.within, stream, peer, &exchange);
                tokio::spawn(async move {
                    first_request::run(connection, &exchange).await;
                    drop(slot);
                });
                return;
            }
            Err(exceeded) => exceeded,
        };
        let count = match exceeded {
            Exceeded::Total => &self.tally.over_total,
            Exceeded::Address => &self.tally.over_address,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = self.overflow.place(&stream).await {
            let connection = self.connection(&self.beyond, stream, peer, &exchange);
            let shared = Arc::clone(&exchange);
            let task = tokio::spawn(async move {
                first_request::run(connection, &shared).await;
                drop(place);
            });
            self.overflow.push(task.abort_handle(), exchange);
        }
    }

    /// One connection: each of its requests goes to the endpoint.
    fn connection(
        &self,
        class: &Class,
        stream: TcpStream,
        peer: SocketAddr,
        exchange: &Arc<Exchange>,
    ) -> impl Future + Send + 'static + use<E> {
        // When a setting cannot be applied, the connection is slower or has broken off.
        let _ = stream.set_nodelay(true);
        let _ = set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES);
        let local = LocalAddr(stream.local_addr().map_or(Addr::custom("tcp", ""), Addr::socket));
        let remote = RemoteAddr(Addr::socket(peer));
        let first_request = FirstRequest::new(Arc::clone(&self.starts));
        let (timeouts, tally) = (&self.limits.timeouts, Arc::clone(&self.tally));
        let io = ConnectionIo::new(stream, first_request, timeouts, Arc::clone(exchange), tally);
        let (endpoint, exchange) = (Arc::clone(&self.endpoint), Arc::clone(exchange));
        let is_beyond = class.is_beyond;
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            exchange.set_answering(true);
            if let Some(refused) = exchange.next() {
                refused.restore(&mut request);
            } else if is_beyond && !first_request::is_health_path(request.uri().path()) {
                request.extensions_mut().insert(Rejection::BUSY);
            }
            let request = (request, local.clone(), remote.clone(), Scheme::HTTP).into();
            let (endpoint, exchange) = (Arc::clone(&endpoint), Arc::clone(&exchange));
            async move {
                let response = endpoint.get_response(request).await.into();
                exchange.set_answering(false);
                Ok::<hyper::Response<_>, Infallible>(response)
            }
        });
        self.graceful.watch(class.builder.serve_connection(TokioIo::new(io), service))
    }
}

/// HTTP/1.1 without TLS; a proxy in front may offer TLS and other versions to its clients.
fn builder(head: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(LIBRARY_BUFFER_BYTES);
    builder
}
