//! IP addresses in URLs and behind host names, parsed by the `url` crate as the HTTP client does.

use std::net::IpAddr;

use url::{Host, Url};

use super::*;

/// Returns the IP address of a URL: its literal, or `resolved` if it has a host name.
fn address(url: &str, resolved: &str) -> IpAddr {
    match Url::parse(url).unwrap_or_else(|error| panic!("{url}: {error}")).host() {
        Some(Host::Ipv4(ip)) => ip.into(),
        Some(Host::Ipv6(ip)) => ip.into(),
        Some(Host::Domain(name)) => {
            resolved.parse().unwrap_or_else(|_| panic!("{url}: {name} is a host name"))
        }
        None => panic!("{url}: no host"),
    }
}

/// URLs with IP addresses, and the reason why each is denied.
const DENIED_ADDRESSES: &[(&str, &str)] = &[
    // 127.0.0.1 in all notations.
    ("https://127.0.0.1/", "loopback"),
    ("https://127.0.0.1./", "loopback"),
    ("https://127.1/", "loopback"),
    ("https://127.0.1/", "loopback"),
    ("https://2130706433/", "loopback"),
    ("https://0x7f000001/", "loopback"),
    ("https://0X7F.1/", "loopback"),
    ("https://0x7f.0x0.0x0.0x1/", "loopback"),
    ("https://0177.0.0.1/", "loopback"),
    ("https://017700000001/", "loopback"),
    ("https://0177.0x0.0.1./", "loopback"),
    ("https://%31%32%37.0.0.1/", "loopback"),
    ("https://\u{ff11}\u{ff12}\u{ff17}\u{3002}0\u{3002}0\u{3002}1/", "loopback"),
    ("https://\u{2460}\u{2461}\u{2466}.0.0.1/", "loopback"),
    ("https://127.255.255.254:8443/", "loopback"),
    ("https://user:secret@127.0.0.1/", "loopback"),
    ("https://example.com@127.0.0.1/", "loopback"),
    ("https://127.0.0.1\\@example.com/", "loopback"),
    ("https:127.0.0.1/", "loopback"),
    ("https://[::1]/", "loopback"),
    ("https://[0:0:0:0:0:0:0:1]/", "loopback"),
    // The first and last addresses of each range.
    ("https://0/", "unspecified"),
    ("https://0.0.0.0/", "unspecified"),
    ("https://0.255.255.255/", "unspecified"),
    ("https://[::]/", "unspecified"),
    ("https://10.0.0.1/", "private"),
    ("https://10.255.255.255/", "private"),
    ("https://012.1.2.3/", "private"),
    ("https://0xa010203/", "private"),
    ("https://172.16.0.1/", "private"),
    ("https://172.31.255.255/", "private"),
    ("https://192.168.0.1/", "private"),
    ("https://192.168.257/", "private"),
    ("https://3232235777/", "private"),
    ("https://100.64.0.1/", "shared by a carrier's customers"),
    ("https://100.127.255.255/", "shared by a carrier's customers"),
    ("https://169.254.0.1/", "link-local"),
    ("https://169.254.169.254/latest/meta-data/", "a metadata service"),
    ("https://0xa9fea9fe/", "a metadata service"),
    ("https://2852039166/", "a metadata service"),
    ("https://0251.0376.0251.0376/", "a metadata service"),
    ("https://169.254.170.2/", "a metadata service"),
    ("https://100.100.100.200/", "a metadata service"),
    ("https://168.63.129.16/", "a metadata service"),
    ("https://192.0.0.192/", "a metadata service"),
    ("https://[fd00:ec2::254]/", "a metadata service"),
    ("https://[FD20:CE::254]/", "a metadata service"),
    ("https://192.0.0.8/", "reserved"),
    ("https://192.0.2.1/", "for documentation"),
    ("https://198.51.100.7/", "for documentation"),
    ("https://203.0.113.255/", "for documentation"),
    ("https://192.88.99.1/", "reserved"),
    ("https://198.18.0.1/", "for benchmarking"),
    ("https://198.19.255.255/", "for benchmarking"),
    ("https://224.0.0.1/", "multicast"),
    ("https://239.255.255.250/", "multicast"),
    ("https://240.0.0.1/", "reserved"),
    ("https://255.255.255.255/", "broadcast"),
    ("https://4294967295/", "broadcast"),
    ("https://[fc00::1]/", "unique local"),
    ("https://[fdff:ffff::1]/", "unique local"),
    ("https://[fe80::1]/", "link-local"),
    ("https://[febf::1]/", "link-local"),
    ("https://[fec0::1]/", "site-local"),
    ("https://[feff::1]/", "site-local"),
    ("https://[ff02::1]/", "multicast"),
    ("https://[100::1]/", "discard-only"),
    ("https://[2001:2::1]/", "for benchmarking"),
    ("https://[2001:10::1]/", "ORCHID"),
    ("https://[2001:2f:ffff::1]/", "ORCHID"),
    ("https://[2001:db8::1]/", "for documentation"),
    ("https://[3fff:fff::1]/", "for documentation"),
    ("https://[2001:1ff::1]/", "reserved"),
    ("https://[4000::1]/", "reserved"),
    ("https://[5f00::1]/", "reserved"),
    ("https://[1fff::1]/", "reserved"),
    // IPv4 embedded in IPv6.
    ("https://[::ffff:127.0.0.1]/", "loopback"),
    ("https://[::FFFF:7F00:1]/", "loopback"),
    ("https://[0:0:0:0:0:ffff:10.0.0.1]/", "private"),
    ("https://[::ffff:169.254.169.254]/", "a metadata service"),
    ("https://[::127.0.0.1]/", "loopback"),
    ("https://[::a9fe:a9fe]/", "a metadata service"),
    ("https://[::ffff:0:10.0.0.1]/", "private"),
    ("https://[64:ff9b::127.0.0.1]/", "loopback"),
    ("https://[64:ff9b::a9fe:a9fe]/", "a metadata service"),
    ("https://[64:ff9b:1::10.0.0.1]/", "NAT64 for local use"),
    ("https://[64:ff9b:1:7f00:0:100::]/", "NAT64 for local use"),
    ("https://[64:ff9b::1:0:0]/", "reserved"),
    ("https://[2002:7f00:1::]/", "loopback"),
    ("https://[2002:c0a8:101::1]/", "private"),
    ("https://[2002:808:808::5efe:10.0.0.1]/", "private"),
    ("https://[2001:0:7f00:1::f7f7:f7f7]/", "loopback"),
    ("https://[2001:0:808:808::80ff:fffe]/", "loopback"),
    ("https://[2606:4700::5efe:192.168.0.1]/", "private"),
    ("https://[2606:4700::200:5efe:a9fe:a9fe]/", "a metadata service"),
];

/// URLs with host names, the resolved addresses, and the reason why each is denied.
const DENIED_NAMES: &[(&str, &str, &str)] = &[
    ("https://localhost/", "127.0.0.1", "loopback"),
    ("https://localhost./", "127.0.0.1", "loopback"),
    ("https://LOCALHOST/", "::1", "loopback"),
    ("https://hooks.localhost:8443/", "127.0.0.53", "loopback"),
    ("https://127.0.0.1.nip.example/", "127.0.0.1", "loopback"),
    ("https://ip6-loopback/", "::1", "loopback"),
    ("https://metadata.google.internal/", "169.254.169.254", "a metadata service"),
    ("https://METADATA.google.internal./", "fd20:ce::254", "a metadata service"),
    ("https://instance-data/", "::ffff:169.254.169.254", "a metadata service"),
    ("https://printer.local/", "fe80::1234", "link-local"),
    ("https://intranet/", "10.20.30.40", "private"),
    ("https://xn--bcher-kva.example/", "192.168.1.1", "private"),
    ("https://b\u{fc}cher.example/", "172.20.0.1", "private"),
    ("https://nat64.example/", "64:ff9b::c0a8:1", "private"),
    ("https://sixtofour.example/", "2002:a00:1::1", "private"),
    ("https://teredo.example/", "2001:0:808:808::f5ff:fffe", "private"),
    ("https://mdns.example/", "224.0.0.251", "multicast"),
];

/// URLs that are allowed, with the resolved addresses of host names.
const PUBLIC_URLS: &[(&str, &str)] = &[
    ("https://8.8.8.8/", ""),
    ("https://134744072/", ""),
    ("https://1.1/", ""),
    ("https://9.255.255.255/", ""),
    ("https://11.0.0.0/", ""),
    ("https://100.63.255.255/", ""),
    ("https://100.128.0.0/", ""),
    ("https://126.255.255.255/", ""),
    ("https://128.0.0.1/", ""),
    ("https://168.63.129.17/", ""),
    ("https://169.253.255.255/", ""),
    ("https://172.15.255.255/", ""),
    ("https://172.32.0.1/", ""),
    ("https://192.0.1.1/", ""),
    ("https://192.169.0.1/", ""),
    ("https://198.17.255.255/", ""),
    ("https://198.20.0.1/", ""),
    ("https://223.255.255.255/", ""),
    ("https://[2606:4700:4700::1111]/", ""),
    ("https://[2001:4860:4860::8888]/", ""),
    ("https://[2001:200::1]/", ""),
    ("https://[2a00:1450:4001::1]/", ""),
    ("https://[3ffe:ffff::1]/", ""),
    ("https://[::ffff:8.8.8.8]/", ""),
    ("https://[64:ff9b::8.8.8.8]/", ""),
    ("https://[2002:808:808::1]/", ""),
    ("https://[2001:0:808:808::f7f7:f7f7]/", ""),
    ("https://hooks.example.com/", "93.184.215.14"),
    ("https://HOOKS.example.com./", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
];

#[test]
fn addresses_that_are_not_public_are_denied_in_every_notation() {
    assert!(DENIED_ADDRESSES.len() + DENIED_NAMES.len() >= 60);
    let addresses = DENIED_ADDRESSES.iter().map(|(url, reason)| (*url, "", *reason));
    let mut failures = Vec::new();
    for (url, resolved, expected) in addresses.chain(DENIED_NAMES.iter().copied()) {
        let reason = denial_reason(address(url, resolved), &[]);
        if reason != Some(expected) {
            failures.push(format!("{url}: {reason:?} instead of {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn public_addresses_are_allowed() {
    for (url, resolved) in PUBLIC_URLS {
        assert_eq!(denial_reason(address(url, resolved), &[]), None, "{url}");
    }
}

#[test]
fn allowed_networks_can_be_reached_and_no_others() {
    let allowed_networks: Vec<Network> =
        ["127.0.0.0/8", "fd12::/16"].map(|text| text.parse().unwrap()).into();
    let reason = |text: &str| denial_reason(text.parse().unwrap(), &allowed_networks);
    assert_eq!(reason("127.0.0.1"), None);
    assert_eq!(reason("::ffff:127.9.9.9"), None, "the same address");
    assert_eq!(reason("fd12::1"), None);
    assert_eq!(reason("8.8.8.8"), None);
    assert_eq!(reason("::1"), Some("loopback"));
    assert_eq!(reason("10.0.0.1"), Some("private"));
    assert_eq!(reason("64:ff9b::127.0.0.1"), Some("loopback"), "the request goes to a NAT64 gateway");
    assert!(is_allowed("127.0.0.1".parse().unwrap(), &allowed_networks));
    assert!(!is_allowed("8.8.8.8".parse().unwrap(), &allowed_networks));
}
