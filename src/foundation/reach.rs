//! Which addresses may be called: the public ones, and what the operator opens.
//!
//! Owns the table of what is refused and why. Judges addresses alone: it resolves no name and makes no connection. Who
//! makes one asks here with the very address that it connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::Network;

/// Why an address may not be called; `None` when it may.
///
/// An address of `allow` may always be called. An IPv6 form that carries an IPv4 address (mapped, compatible, 6to4,
/// NAT64, Teredo, ISATAP) is judged by the address inside.
pub fn forbidden(ip: IpAddr, allow: &[Network]) -> Option<&'static str> {
    if opened(ip, allow) {
        return None;
    }
    match ip {
        IpAddr::V4(ip) => forbidden_v4(ip),
        IpAddr::V6(ip) => forbidden_v6(ip),
    }
}

/// True when the operator's list opens this address.
pub fn opened(ip: IpAddr, allow: &[Network]) -> bool {
    allow.iter().any(|network| network.contains(ip))
}

/// Addresses that share their first bits, and why they are refused; the first that fits is the reason.
type Range<A> = (A, u32, &'static str);

/// What hands out the secrets of a cloud's machines; some of it at addresses that are public otherwise.
const METADATA: &str = "a metadata service";
/// Set aside by IANA, or never given out.
const RESERVED: &str = "reserved";

/// IPv4 (RFC 6890 and IANA's registry of special-purpose addresses).
const V4: &[Range<Ipv4Addr>] = &[
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

/// IPv6 (RFC 6890 and IANA's registries). What lies outside of 2000::/3 is refused even where no line names it.
const V6: &[Range<Ipv6Addr>] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, METADATA),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, METADATA),
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "NAT64 of local use"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "discarded"),
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

fn forbidden_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let shares = |network: &Ipv4Addr, bits: u32| (network.to_bits() ^ ip.to_bits()) >> (32 - bits) == 0;
    V4.iter().find(|(network, bits, _)| shares(network, *bits)).map(|(_, _, why)| *why)
}

fn forbidden_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let shares = |network: &Ipv6Addr, bits: u32| (network.to_bits() ^ ip.to_bits()) >> (128 - bits) == 0;
    let named = || V6.iter().find(|(network, bits, _)| shares(network, *bits)).map(|(_, _, why)| *why);
    let bits = ip.to_bits();
    // The last four bytes, the four after the first two, and the four after the first four.
    let (last, second, third) = (bits as u32, (bits >> 80) as u32, (bits >> 64) as u32);
    let inside = |bits: u32| forbidden_v4(Ipv4Addr::from_bits(bits));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => named(),
        // Mapped (RFC 4291, 2.5.5.2), compatible (2.5.5.1), translated (RFC 2765), and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] => inside(last),
        [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => inside(last),
        // Teredo (RFC 4380): the server, and the client with its bits turned.
        [0x2001, 0, ..] => inside(third).or(inside(!last)),
        // 6to4 (RFC 3056), which may carry an ISATAP address besides (RFC 5214).
        [0x2002, _, _, _, 0 | 0x200, 0x5efe, ..] => inside(second).or(inside(last)),
        [0x2002, ..] => inside(second),
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => named().or(inside(last)).or(outside(ip)),
        _ => named().or(outside(ip)),
    }
}

/// What lies outside of the addresses that are given out.
fn outside(ip: Ipv6Addr) -> Option<&'static str> {
    (ip.segments()[0] >> 13 != 1).then_some(RESERVED)
}

#[cfg(test)]
mod tests;
