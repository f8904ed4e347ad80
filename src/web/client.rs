//! Determines the IP address of the client, directly or behind trusted proxies.

use std::net::{IpAddr, Ipv4Addr};

use poem::http::HeaderMap;
use poem::{Addr, Request};

use foundation::config::Network;

/// Returns the client's IP address: the peer's address or, if the peer is a trusted proxy, the last address in
/// `X-Forwarded-For` that is not a trusted proxy.
pub(crate) fn address(request: &Request, trusted_proxies: &[Network]) -> IpAddr {
    forwarded_client(peer(request), request.headers(), trusted_proxies)
}

/// Returns whether the peer is a trusted proxy.
pub(crate) fn is_trusted_proxy(request: &Request, trusted_proxies: &[Network]) -> bool {
    let peer = peer(request);
    trusted_proxies.iter().any(|network| network.contains(peer))
}

fn peer(request: &Request) -> IpAddr {
    match &request.remote_addr().0 {
        Addr::SocketAddr(address) => address.ip(),
        // The request did not arrive over TCP, as in tests that call the endpoint directly.
        _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

/// Reads `X-Forwarded-For` from its end to the first address that is not a trusted proxy, and returns that address. At
/// an invalid address or the beginning of the header, returns the trusted proxy that was read before.
fn forwarded_client(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted_proxies.iter().any(|network| network.contains(address));
    if !is_trusted(peer) {
        return peer;
    }
    let mut client = peer;
    for line in headers.get_all("x-forwarded-for").iter().rev() {
        for hop in line.to_str().unwrap_or_default().rsplit(',') {
            let Some(address) = parse_hop(hop.trim()) else { return client };
            client = address;
            if !is_trusted(client) {
                return client;
            }
        }
    }
    client
}

/// Parses an entry of `X-Forwarded-For`, with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`,
/// `[2001:db8::1]:80`.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let address = hop.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(hop);
    address.parse().ok().or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for value in values {
            map.append(name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn only_trusted_proxies_can_forward_addresses() {
        let trusted_proxies: Vec<Network> = vec!["10.0.0.0/8".parse().unwrap()];
        let client = |peer: &str, hops: &[&'static str]| {
            forwarded_client(peer.parse().unwrap(), &headers("x-forwarded-for", hops), &trusted_proxies)
                .to_string()
        };
        assert_eq!(client("192.0.2.1", &["203.0.113.9"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["198.51.100.1, 203.0.113.9, 10.0.0.2"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["198.51.100.1", "203.0.113.9:4711"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:80"]), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, nonsense"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }
}
