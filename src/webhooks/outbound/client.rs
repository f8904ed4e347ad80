//! The one HTTP client, built once, and where it may go.

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
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;
use url::{Host, Url};

use super::failure::Failure;
use super::resolver::{Checked, LookUp, Names, Rule, system};
use super::send::DEADLINE;
use crate::config::Network;

/// How long an unused connection is kept: less than common servers keep theirs (5 seconds), so that a request seldom
/// meets a connection that its other side is closing.
const IDLE: Duration = Duration::from_secs(4);
/// Unused connections kept for one receiver.
const IDLE_CONNECTIONS: usize = 256;
/// Bytes of an answer that are read before its head is complete, and held at once after that. Headers are 100 at most, which
/// is the parser's own limit.
const HEAD_BYTES: usize = 16 * 1024;

/// Sends requests, and keeps connections open.
pub(super) type Http = legacy::Client<Connector, Full<Bytes>>;

/// What a [`Client`] is made of.
pub struct Options {
    /// Addresses that may be called though they are not public, by `http` too.
    pub allow: Vec<Network>,
    /// Finds the addresses behind a name.
    pub look_up: LookUp,
    /// Authorities that are believed beside the machine's.
    pub roots: Vec<CertificateDer<'static>>,
}

impl Options {
    /// The machine's look-up and authorities.
    pub fn new(allow: &[Network]) -> Self {
        Self { allow: allow.to_vec(), look_up: system(), roots: Vec::new() }
    }
}

/// Calls receivers; cheap to clone, and to be built once, for it keeps their connections open.
#[derive(Clone)]
pub struct Client {
    https: Http,
    /// Where the operator opens addresses.
    http: Option<Http>,
    allow: Arc<[Network]>,
}

impl Client {
    /// A client that calls public addresses by `https`, and what the operator opens by `http` too.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(options: Options) -> anyhow::Result<Self> {
        let tls = tls(options.roots)?;
        let (allow, names) = (Arc::<[Network]>::from(options.allow), Arc::new(Names::new(options.look_up)));
        let checked = |rule| Checked { names: Arc::clone(&names), allow: Arc::clone(&allow), rule };
        let https = build(&tls, checked(Rule::PublicOrOpened), true);
        let http = (!allow.is_empty()).then(|| build(&tls, checked(Rule::Opened), false));
        Ok(Self { https, http, allow })
    }

    /// The client for this address, when it may be called as far as can be told without looking up its name. What
    /// stands behind a name is judged at the connection.
    pub(super) fn toward(&self, url: &Url) -> Result<&Http, Failure> {
        let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if !plain || url.port() == Some(0) {
            return Err(Failure::BadUrl);
        }
        let (client, rule) = match (url.scheme(), &self.http) {
            ("https", _) => (&self.https, Rule::PublicOrOpened),
            ("http", Some(http)) => (http, Rule::Opened),
            ("http", None) => return Err(Failure::ForbiddenAddress),
            _ => return Err(Failure::BadUrl),
        };
        // The client connects to a literal address without asking its resolver.
        let literal = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) => None,
            None => return Err(Failure::BadUrl),
        };
        match literal.and_then(|ip| rule.refuses(ip, &self.allow)) {
            Some(refused) => {
                tracing::debug!(%refused, "a webhook is not sent");
                Err(Failure::ForbiddenAddress)
            }
            None => Ok(client),
        }
    }
}

/// Goes where it is told and nowhere else, with what it is given and nothing more: it knows no proxies, redirects, cookies
/// or encodings. It speaks HTTP/1.1 alone.
fn build(tls: &Arc<ClientConfig>, resolver: Checked, https_only: bool) -> Http {
    let mut http = HttpConnector::new_with_resolver(resolver);
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(DEADLINE));
    let mut connector = HttpsConnector::from((http, Arc::clone(tls)));
    if https_only {
        connector.enforce_https();
    }
    legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .http1_max_buf_size(HEAD_BYTES)
        .build(Connector(connector))
}

/// Makes connections, TLS included, within the deadline of an attempt: also those that nobody waits for any longer.
#[derive(Clone)]
pub(super) struct Connector(HttpsConnector<HttpConnector<Checked>>);

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = timeout(DEADLINE, self.0.call(uri));
        Box::pin(async { connecting.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))? })
    }
}

/// Believes the authorities that the machine believes; those of the browsers where it has none, as in a bare container.
fn tls(extra: Vec<CertificateDer<'static>>) -> anyhow::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for root in extra {
        roots.add(root).context("a root certificate cannot be read")?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
