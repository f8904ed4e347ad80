//! The HTTP client that sends webhooks, and the addresses it may connect to.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use tokio::time::timeout;
use tower_service::Service;
use url::{Host, Url};

use super::ATTEMPT_TIMEOUT;
use super::failure::AttemptFailure;
use super::limited_stream::LimitedStream;
use super::resolver::{AddressRule, CheckedResolver, ResolveFunction, SharedLookups, system_resolve};
use foundation::config::Network;
use foundation::tls;

/// How long an idle connection stays open: less than the 5 seconds after which many servers close theirs, so that a
/// request rarely uses a connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum number of idle connections per host.
const MAX_IDLE_CONNECTIONS: usize = 256;
/// Maximum number of bytes of a response's head, and of the part of its body that is received but not read yet. The
/// parser also limits the headers to 100.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Sends HTTP requests, and keeps connections open.
pub(super) type HttpClient = legacy::Client<Connector, Full<Bytes>>;

/// The options of a [`WebhookClient`].
pub struct ClientOptions {
    /// Networks that may be called in addition to public addresses, over `https` or `http`.
    pub allowed_networks: Vec<Network>,
    /// Resolves a name to IP addresses.
    pub resolve: ResolveFunction,
    /// Root certificates that are trusted in addition to those of the system.
    pub additional_roots: Vec<CertificateDer<'static>>,
}

impl ClientOptions {
    /// Returns options with the DNS lookup and the root certificates of the system.
    pub fn new(allowed_networks: &[Network]) -> Self {
        Self {
            allowed_networks: allowed_networks.to_vec(),
            resolve: system_resolve(),
            additional_roots: Vec::new(),
        }
    }
}

/// Sends requests to endpoints. Create it once and clone it: clones share the open connections.
#[derive(Clone)]
pub struct WebhookClient {
    https: HttpClient,
    /// `None` if the operator allows no network.
    http: Option<HttpClient>,
    allowed_networks: Arc<[Network]>,
}

impl WebhookClient {
    /// Creates a client that calls public addresses over `https`, and the networks that the operator allows over
    /// `https` or `http`.
    ///
    /// # Errors
    /// Returns an error when TLS cannot be set up.
    pub fn new(options: ClientOptions) -> anyhow::Result<Self> {
        let tls = tls::client_config(options.additional_roots).context("setting up TLS failed")?;
        let allowed_networks = Arc::<[Network]>::from(options.allowed_networks);
        let lookups = Arc::new(SharedLookups::new(options.resolve));
        let resolver = |rule| CheckedResolver {
            lookups: Arc::clone(&lookups),
            allowed_networks: Arc::clone(&allowed_networks),
            rule,
        };
        let tls = Arc::new(tls);
        let https = build_client(&tls, resolver(AddressRule::PublicOrAllowed), true);
        let http =
            (!allowed_networks.is_empty()).then(|| build_client(&tls, resolver(AddressRule::Allowed), false));
        Ok(Self { https, http, allowed_networks })
    }

    /// Returns the client for this URL if the URL may be called, as far as can be determined without a DNS lookup. The
    /// addresses of a name are checked when the connection is made.
    pub(super) fn client_for(&self, url: &Url) -> Result<&HttpClient, AttemptFailure> {
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if has_credentials || url.fragment().is_some() || url.port() == Some(0) {
            return Err(AttemptFailure::BadUrl);
        }
        let (client, rule) = match (url.scheme(), &self.http) {
            ("https", _) => (&self.https, AddressRule::PublicOrAllowed),
            ("http", Some(http)) => (http, AddressRule::Allowed),
            ("http", None) => return Err(AttemptFailure::ForbiddenAddress),
            _ => return Err(AttemptFailure::BadUrl),
        };
        // The HTTP library does not call the resolver for an IP address.
        let ip = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) => None,
            None => return Err(AttemptFailure::BadUrl),
        };
        match ip.and_then(|ip| rule.check(ip, &self.allowed_networks).err()) {
            Some(forbidden) => {
                tracing::debug!(%forbidden, "webhook not sent");
                Err(AttemptFailure::ForbiddenAddress)
            }
            None => Ok(client),
        }
    }
}

/// Builds an HTTP client that sends each request once, over HTTP/1.1. It knows no proxies, redirects, cookies and
/// content encodings, and adds only the headers `Host` and `Content-Length`.
fn build_client(tls: &Arc<ClientConfig>, resolver: CheckedResolver, https_only: bool) -> HttpClient {
    let mut http = HttpConnector::new_with_resolver(resolver);
    http.enforce_http(false);
    http.set_nodelay(true);
    // Divided by the number of addresses, so that one that does not answer leaves time for the next.
    http.set_connect_timeout(Some(ATTEMPT_TIMEOUT));
    let mut connector = HttpsConnector::from((TcpConnector(http), Arc::clone(tls)));
    if https_only {
        connector.enforce_https();
    }
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .http1_max_buf_size(MAX_HEAD_BYTES)
        .build(Connector(connector))
}

type ConnectError = Box<dyn Error + Send + Sync>;

/// Opens connections, including the TLS handshake, within the time limit of an attempt. The client also completes
/// connections for which no attempt waits any more.
#[derive(Clone)]
pub(super) struct Connector(HttpsConnector<TcpConnector>);

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<LimitedStream>>;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connection = timeout(ATTEMPT_TIMEOUT, self.0.call(uri));
        Box::pin(async { connection.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))? })
    }
}

/// Opens connections whose received bytes are limited, below TLS.
#[derive(Clone)]
pub(super) struct TcpConnector(HttpConnector<CheckedResolver>);

impl Service<Uri> for TcpConnector {
    type Response = TokioIo<LimitedStream>;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connection = self.0.call(uri);
        Box::pin(async { Ok(TokioIo::new(LimitedStream::new(connection.await?.into_inner()))) })
    }
}
