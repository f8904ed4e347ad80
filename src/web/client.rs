//! Determines the IP address of the client, directly or behind trusted proxies.

use std::net::{IpAddr, Ipv4Addr};

use poem::http::HeaderMap;
use poem::{Addr, Request};

use foundation::config::Network;

/// Returns the client's IP address: the peer's, or, behind trusted proxies, the last address in `X-Forwarded-For` that is not a
/// trusted proxy.
pub(crate) fn address(request: &Request, proxies: &[Network]) -> IpAddr {
    let peer = match &request.remote_addr().0 {
        Addr::SocketAddr(address) => address.ip(),
        _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    behind(peer, request.headers(), proxies)
}

fn behind(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let trusted = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    if !trusted(peer) {
        return peer;
    }
    let mut client = peer;
    for line in headers.get_all("x-forwarded-for").iter().rev() {
        for hop in line.to_str().unwrap_or_default().rsplit(',') {
            let Some(address) = hop_address(hop.trim()) else { return client };
            client = address;
            if !trusted(client) {
                return client;
            }
        }
    }
    client
}

/// Parses an IP address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn hop_address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
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
        let proxies: Vec<Network> = vec!["10.0.0.0/8".parse().unwrap()];
        let client = |peer: &str, hops: &[&'static str]| {
            behind(peer.parse().unwrap(), &headers("x-forwarded-for", hops), &proxies).to_string()
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
