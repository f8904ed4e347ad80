//! The HTTP client that sends webhooks, and the addresses it may connect to.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::redirect;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::failure::AttemptFailure;
use super::resolver::{AddressRule, CheckedResolver, Lookup, Lookups, system_lookup};
use super::send::DEADLINE;
use foundation::config::Network;

/// How long an idle connection is stored: less than common servers store theirs (5 seconds), so that a request rarely uses a
/// connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum number of idle connections per host.
const MAX_IDLE_CONNECTIONS: usize = 256;

/// The options of a [`WebhookClient`].
pub struct ClientOptions {
    /// Networks that are not public and may be called, also by `http`.
    pub allow: Vec<Network>,
    /// Resolves a name to IP addresses.
    pub lookup: Lookup,
    /// Root certificates that are trusted in addition to those of the system.
    pub roots: Vec<CertificateDer<'static>>,
}

impl ClientOptions {
    /// Uses the DNS lookup and the root certificates of the system.
    pub fn new(allow: &[Network]) -> Self {
        Self { allow: allow.to_vec(), lookup: system_lookup(), roots: Vec::new() }
    }
}

/// Calls receivers. Create it once and clone it, because it stores their connections.
#[derive(Clone)]
pub struct WebhookClient {
    https: reqwest::Client,
    /// Present when the operator allows any network.
    http: Option<reqwest::Client>,
    allow: Arc<[Network]>,
}

impl WebhookClient {
    /// Creates a client that calls public addresses by `https`, and those that the operator allows also by `http`.
    ///
    /// # Errors
    /// Returns an error when TLS cannot be set up.
    pub fn new(options: ClientOptions) -> anyhow::Result<Self> {
        let tls = tls(options.roots)?;
        let allow = Arc::<[Network]>::from(options.allow);
        let lookups = Arc::new(Lookups::new(options.lookup));
        let resolver =
            |rule| CheckedResolver { lookups: Arc::clone(&lookups), allow: Arc::clone(&allow), rule };
        let https = build(tls.clone(), resolver(AddressRule::PublicOrAllowed), true)?;
        let http = match allow.is_empty() {
            true => None,
            false => Some(build(tls, resolver(AddressRule::Allowed), false)?),
        };
        Ok(Self { https, http, allow })
    }

    /// Returns the client for this URL if the URL may be called, as far as can be determined without a DNS lookup. The
    /// addresses of a name are checked when the connection is made.
    pub(super) fn client_for(&self, url: &Url) -> Result<&reqwest::Client, AttemptFailure> {
        let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if !plain || url.port() == Some(0) {
            return Err(AttemptFailure::BadUrl);
        }
        let (client, rule) = match (url.scheme(), &self.http) {
            ("https", _) => (&self.https, AddressRule::PublicOrAllowed),
            ("http", Some(http)) => (http, AddressRule::Allowed),
            ("http", None) => return Err(AttemptFailure::ForbiddenAddress),
            _ => return Err(AttemptFailure::BadUrl),
        };
        // The HTTP library does not call the resolver for an IP address.
        let literal = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) => None,
            None => return Err(AttemptFailure::BadUrl),
        };
        match literal.and_then(|ip| rule.check(ip, &self.allow).err()) {
            Some(forbidden) => {
                tracing::debug!(%forbidden, "webhook not sent");
                Err(AttemptFailure::ForbiddenAddress)
            }
            None => Ok(client),
        }
    }
}

/// Builds a client that sends exactly one request to exactly this URL: no proxy, no redirects, no retries, no added headers.
fn build(tls: ClientConfig, resolver: CheckedResolver, https_only: bool) -> anyhow::Result<reqwest::Client> {
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
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .build()
        .context("building the HTTP client for webhooks failed")
}

/// Trusts the root certificates of the system, or those of the browsers when the system has none, as in a bare container.
fn tls(extra: Vec<CertificateDer<'static>>) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for root in extra {
        roots.add(root).context("reading a root certificate failed")?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("setting up TLS failed")?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
