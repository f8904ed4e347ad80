//! The connections: accepted, bounded, timed, and let go of gently.
//!
//! Stands in for the framework's own accept loop, which waits for ever for the head of a request.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections open at once; the next waits to be accepted.
const MOST_CONNECTIONS: usize = 8192;
/// How long the head of a request may take, the wait for it on an open connection included.
const HEAD_PATIENCE: Duration = Duration::from_secs(60);
/// Bytes that the head of a request may have.
const MOST_HEAD_BYTES: usize = 64 * 1024;
/// The pause after a failed accept (too many open files), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `shutdown` is done, then waits for those that are open, `patience` at most.
pub(super) async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    shutdown: impl Future<Output = ()>,
    patience: Duration,
) where
    E: Endpoint + 'static,
{
    let endpoint = Arc::new(endpoint);
    let builder = builder();
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let (stream, peer, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let connection = connection(&builder, Arc::clone(&endpoint), stream, peer);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks off has nobody left to tell.
            let _ = watched.await;
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and are cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, peer, permit))
}

/// HTTP/1.1, as spoken without TLS; a proxy in front may speak what it likes to its clients.
fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(MOST_HEAD_BYTES);
    builder
}

/// One connection: each of its requests goes to the endpoint.
fn connection<E: Endpoint + 'static>(
    builder: &http1::Builder,
    endpoint: Arc<E>,
    stream: TcpStream,
    peer: SocketAddr,
) -> impl hyper_util::server::graceful::GracefulConnection + Send + 'static {
    let local = LocalAddr(stream.local_addr().map_or(Addr::custom("tcp", ""), Addr::socket));
    let remote = RemoteAddr(Addr::socket(peer));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (endpoint, local, remote) = (Arc::clone(&endpoint), local.clone(), remote.clone());
        async move {
            let request = (request, local, remote, Scheme::HTTP).into();
            Ok::<hyper::Response<_>, std::convert::Infallible>(endpoint.get_response(request).await.into())
        }
    });
    builder.serve_connection(TokioIo::new(stream), service)
}
