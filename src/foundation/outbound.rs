//! HTTP requests to servers that the operator configures, within the outbound [address policy](crate::address_policy).
//!
//! The resolver of the client checks the addresses that it connects to, so that a name cannot resolve to another address after the
//! check. Redirects and proxies are not followed.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::address_policy;
use crate::config::Network;

/// An HTTP client that reaches public addresses over `https`, and the networks that the operator allows over `https` or `http`.
#[derive(Debug, Clone)]
pub struct OutboundClient {
    https: reqwest::Client,
    http: reqwest::Client,
    allowed_networks: Arc<[Network]>,
}

/// Why a request was not sent.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The client cannot be created.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
    /// The URL is not an `https` or `http` URL with a host.
    #[error("{0} is not an http or https URL")]
    Url(String),
    /// The policy denies the address.
    #[error(
        "{ip} must not be reached ({reason}); allow its network in the configuration, such as with `oidc_allow`"
    )]
    Denied {
        /// The address.
        ip: IpAddr,
        /// Why.
        reason: &'static str,
    },
}

impl OutboundClient {
    /// Creates a client. A request, including the body of its response, takes at most `timeout`.
    ///
    /// # Errors
    /// Returns [`OutboundError`] when TLS cannot be set up.
    pub fn new(allowed_networks: &[Network], timeout: Duration) -> Result<Self, OutboundError> {
        let allowed_networks: Arc<[Network]> = allowed_networks.into();
        let client = |rule| -> Result<reqwest::Client, OutboundError> {
            let resolver = CheckedResolver { allowed_networks: Arc::clone(&allowed_networks), rule };
            reqwest::Client::builder()
                .tls_backend_preconfigured(crate::tls::client_config(Vec::new())?)
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .dns_resolver(Arc::new(resolver))
                .timeout(timeout)
                .build()
                .map_err(OutboundError::from)
        };
        let (https, http) = (client(AddressRule::PublicOrAllowed)?, client(AddressRule::Allowed)?);
        Ok(Self { https, http, allowed_networks })
    }

    /// Starts a request, unless the policy denies the URL. The addresses of a name are checked when the connection is made.
    ///
    /// # Errors
    /// Returns [`OutboundError::Denied`] for the IP address of a denied network, and [`OutboundError::Url`] for other URLs than
    /// `https` and `http`.
    pub fn request(
        &self,
        method: reqwest::Method,
        url: Url,
    ) -> Result<reqwest::RequestBuilder, OutboundError> {
        let (client, rule) = match url.scheme() {
            "https" => (&self.https, AddressRule::PublicOrAllowed),
            "http" => (&self.http, AddressRule::Allowed),
            _ => return Err(OutboundError::Url(url.to_string())),
        };
        // The HTTP library does not call the resolver for an IP address.
        let ip = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) => None,
            None => return Err(OutboundError::Url(url.to_string())),
        };
        if let Some(ip) = ip {
            rule.check(ip, &self.allowed_networks)?;
        }
        Ok(client.request(method, url))
    }
}

/// Which addresses a client may connect to.
#[derive(Debug, Clone, Copy)]
enum AddressRule {
    /// Public addresses, and those that the operator allows.
    PublicOrAllowed,
    /// Only addresses that the operator allows: the rule for requests without TLS.
    Allowed,
}

impl AddressRule {
    fn check(self, ip: IpAddr, allowed_networks: &[Network]) -> Result<(), OutboundError> {
        let reason = match self {
            Self::PublicOrAllowed => address_policy::denial_reason(ip, allowed_networks),
            Self::Allowed if address_policy::is_allowed(ip, allowed_networks) => None,
            Self::Allowed => Some("not allowed for `http`"),
        };
        reason.map_or(Ok(()), |reason| Err(OutboundError::Denied { ip, reason }))
    }
}

/// Resolves names as the system does, and returns only addresses that the rule allows.
#[derive(Debug)]
struct CheckedResolver {
    allowed_networks: Arc<[Network]>,
    rule: AddressRule,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(resolve(name, Arc::clone(&self.allowed_networks), self.rule))
    }
}

async fn resolve(
    name: Name,
    allowed_networks: Arc<[Network]>,
    rule: AddressRule,
) -> Result<Addrs, Box<dyn Error + Send + Sync>> {
    let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
    let (mut allowed, mut denied) = (Vec::new(), None);
    for address in found {
        match rule.check(address.ip(), &allowed_networks) {
            Ok(()) => allowed.push(address),
            Err(error) => denied = Some(error),
        }
    }
    match denied {
        Some(denied) if allowed.is_empty() => Err(Box::new(denied)),
        _ => Ok(Box::new(allowed.into_iter())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[tokio::test]
    async fn only_public_and_allowed_addresses_are_reached() {
        let networks = Config::defaults().webhooks.webhook_allow;
        let client = OutboundClient::new(&networks, Duration::from_secs(1)).unwrap();
        for denied in
            ["https://169.254.169.254/", "https://[::1]/", "http://93.184.216.34/", "ftp://a.example/"]
        {
            assert!(client.request(reqwest::Method::GET, denied.parse().unwrap()).is_err(), "{denied}");
        }
        let loopback = client.request(reqwest::Method::GET, "https://localhost:1/".parse().unwrap()).unwrap();
        let error = format!("{:?}", loopback.send().await.unwrap_err());
        assert!(error.contains("loopback"), "the resolver checks the address: {error}");
    }
}
