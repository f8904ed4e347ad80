//! The HTTP client that sends webhooks, and the addresses it may connect to.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::redirect;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use url::{Host, Url};

use super::failure::AttemptFailure;
use super::resolver::{AddressRule, CheckedResolver, ResolveFunction, SharedLookups, system_resolve};
use super::send::ATTEMPT_TIMEOUT;
use foundation::config::Network;
use foundation::tls;

/// How long an idle connection stays open: less than the 5 seconds after which many servers close theirs, so that a
/// request rarely uses a connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum number of idle connections per host.
const MAX_IDLE_CONNECTIONS: usize = 256;

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
    https: reqwest::Client,
    /// `None` if the operator allows no network.
    http: Option<reqwest::Client>,
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
        let https = build_client(tls.clone(), resolver(AddressRule::PublicOrAllowed), true)?;
        let http = match allowed_networks.is_empty() {
            true => None,
            false => Some(build_client(tls, resolver(AddressRule::Allowed), false)?),
        };
        Ok(Self { https, http, allowed_networks })
    }

    /// Returns the client for this URL if the URL may be called, as far as can be determined without a DNS lookup. The
    /// addresses of a name are checked when the connection is made.
    pub(super) fn client_for(&self, url: &Url) -> Result<&reqwest::Client, AttemptFailure> {
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

/// Builds an HTTP client that sends each request once: without proxies, redirects and retries. It adds only the headers
/// `Accept`, `Host` and `Content-Length`.
fn build_client(
    tls: ClientConfig,
    resolver: CheckedResolver,
    https_only: bool,
) -> anyhow::Result<reqwest::Client> {
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
        .connect_timeout(ATTEMPT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .build()
        .context("building the HTTP client for webhooks failed")
}
