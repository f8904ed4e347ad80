//! The policy for outbound requests: which IP addresses they may reach.
//!
//! Public addresses and the networks that the operator allows can be reached. This module only checks IP addresses; it
//! does not resolve names or connect. The caller must check the address that it actually connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::Network;

/// Returns why outbound requests must not reach an IP address, or `None` if they may.
///
/// Addresses in `allowed_networks` can always be reached. If an IPv6 address embeds IPv4 addresses (mapped, compatible,
/// translated, 6to4, NAT64, Teredo, ISATAP), the embedded addresses are checked.
pub fn denial_reason(ip: IpAddr, allowed_networks: &[Network]) -> Option<&'static str> {
    if is_allowed(ip, allowed_networks) {
        return None;
    }
    match ip {
        IpAddr::V4(ip) => denial_reason_v4(ip),
        IpAddr::V6(ip) => denial_reason_v6(ip),
    }
}

/// Returns whether one of the networks that the operator allows contains this IP address.
pub fn is_allowed(ip: IpAddr, allowed_networks: &[Network]) -> bool {
    allowed_networks.iter().any(|network| network.contains(ip))
}

/// A denied network: its address, its prefix length, and the reason. The first network that contains an address
/// applies.
type DeniedNetwork<A> = (A, u32, &'static str);

/// Metadata services of cloud providers return credentials. Some have addresses in public ranges.
const METADATA: &str = "a metadata service";
/// Reserved or never assigned by IANA.
const RESERVED: &str = "reserved";

/// Denied IPv4 networks (RFC 6890 and IANA's registry of special-purpose addresses).
const DENIED_V4: &[DeniedNetwork<Ipv4Addr>] = &[
    (Ipv4Addr::new(169, 254, 169, 254), 32, METADATA),
    (Ipv4Addr::new(169, 254, 170, 2), 32, METADATA),
    (Ipv4Addr::new(100, 100, 100, 200), 32, METADATA),
    (Ipv4Addr::new(168, 63, 129, 16), 32, METADATA),
    (Ipv4Addr::new(192, 0, 0, 192), 32, METADATA),
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier's customers"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, RESERVED),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, RESERVED),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::BROADCAST, 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, RESERVED),
];

/// Denied IPv6 networks (RFC 6890 and IANA's registries). Addresses outside of 2000::/3 that are not listed are denied,
/// too, except those with a prefix for embedded IPv4 addresses, such as `::ffff:0:0/96`.
const DENIED_V6: &[DeniedNetwork<Ipv6Addr>] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, METADATA),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, METADATA),
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "NAT64 for local use"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "discard-only"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "unique local"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "site-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, "for benchmarking"),
    (Ipv6Addr::new(0x2001, 0x10, 0, 0, 0, 0, 0, 0), 28, "ORCHID"),
    (Ipv6Addr::new(0x2001, 0x20, 0, 0, 0, 0, 0, 0), 28, "ORCHID"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "for documentation"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, RESERVED),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "for documentation"),
];

fn denial_reason_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let contains = |network: &Ipv4Addr, prefix_length: u32| {
        (network.to_bits() ^ ip.to_bits()) >> (32 - prefix_length) == 0
    };
    let denied = DENIED_V4.iter().find(|(network, prefix_length, _)| contains(network, *prefix_length));
    denied.map(|(_, _, reason)| *reason)
}

fn denial_reason_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let contains = |network: &Ipv6Addr, prefix_length: u32| {
        (network.to_bits() ^ ip.to_bits()) >> (128 - prefix_length) == 0
    };
    let listed = || {
        let denied = DENIED_V6.iter().find(|(network, prefix_length, _)| contains(network, *prefix_length));
        denied.map(|(_, _, reason)| *reason)
    };
    let bits = ip.to_bits();
    // Three places at which an IPv4 address can be embedded: the last four bytes, and the four bytes at offset 2 and at
    // offset 4.
    let (last, at_2, at_4) = (bits as u32, (bits >> 80) as u32, (bits >> 64) as u32);
    let embedded = |bits: u32| denial_reason_v4(Ipv4Addr::from_bits(bits));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => listed(),
        // Mapped (RFC 4291, 2.5.5.2), compatible (2.5.5.1), translated (RFC 2765), and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] => embedded(last),
        [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => embedded(last),
        // Teredo (RFC 4380): the server, and the client with inverted bits.
        [0x2001, 0, ..] => embedded(at_4).or(embedded(!last)),
        // 6to4 (RFC 3056), which can also embed an ISATAP address (RFC 5214).
        [0x2002, _, _, _, 0 | 0x200, 0x5efe, ..] => embedded(at_2).or(embedded(last)),
        [0x2002, ..] => embedded(at_2),
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => {
            listed().or(embedded(last)).or(denial_reason_if_unassigned(ip))
        }
        _ => listed().or(denial_reason_if_unassigned(ip)),
    }
}

/// Returns [`RESERVED`] for an address outside of 2000::/3, the only range from which global unicast addresses are
/// assigned, and `None` for the others.
fn denial_reason_if_unassigned(ip: Ipv6Addr) -> Option<&'static str> {
    (ip.segments()[0] >> 13 != 1).then_some(RESERVED)
}

#[cfg(test)]
mod tests;
