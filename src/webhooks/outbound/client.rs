//! The one HTTP client, built once, and where it may go.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::redirect;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::failure::Failure;
use super::resolver::{Checked, LookUp, Names, Rule, system};
use super::send::DEADLINE;
use foundation::config::Network;

/// How long an unused connection is kept: less than common servers keep theirs (5 seconds), so that a request seldom
/// meets a connection that its other side is closing.
const IDLE: Duration = Duration::from_secs(4);
/// Unused connections kept for one receiver.
const IDLE_CONNECTIONS: usize = 256;

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
    https: reqwest::Client,
    /// Where the operator opens addresses.
    http: Option<reqwest::Client>,
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
        let https = build(tls.clone(), checked(Rule::PublicOrOpened), true)?;
        let http = match allow.is_empty() {
            true => None,
            false => Some(build(tls, checked(Rule::Opened), false)?),
        };
        Ok(Self { https, http, allow })
    }

    /// The client for this address, when it may be called as far as can be told without looking up its name. What
    /// stands behind a name is judged at the connection.
    pub(super) fn toward(&self, url: &Url) -> Result<&reqwest::Client, Failure> {
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

/// Goes where it is told and nowhere else, once, with what it is given and nothing more.
fn build(tls: ClientConfig, resolver: Checked, https_only: bool) -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder()
        .https_only(https_only)
        .tls_backend_preconfigured(tls)
        .dns_resolver(Arc::new(resolver))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .http1_only()
        .connect_timeout(DEADLINE)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .build()
        .context("the HTTP client for webhooks cannot be built")
}

/// Believes the authorities that the machine believes; those of the browsers where it has none, as in a bare container.
fn tls(extra: Vec<CertificateDer<'static>>) -> anyhow::Result<ClientConfig> {
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
    Ok(config)
}
