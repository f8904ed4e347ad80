//! A network in CIDR notation, such as `10.0.0.0/8`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network: the IP addresses that share a prefix. An address without a prefix length is parsed as a network of one
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// The length of the prefix, in bits.
    prefix_length: u8,
}

impl Network {
    /// Returns whether the network contains the IP address. An IPv4-mapped IPv6 address counts as its IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let differing = bits(self.address) ^ bits(address);
        self.address.is_ipv4() == address.is_ipv4()
            && differing.checked_shr(u32::from(width(address) - self.prefix_length)).unwrap_or(0) == 0
    }
}

/// Returns the bits of an address. The bits of an IPv4 address are the lowest 32.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the number of bits of an address.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix_length) = text.split_once('/').unzip();
        let address: IpAddr = address.unwrap_or(text).parse().map_err(drop)?;
        let width = width(address);
        let prefix_length = prefix_length.map_or(Ok(width), |digits| digits.parse().map_err(drop))?;
        if prefix_length > width { Err(()) } else { Ok(Self { address, prefix_length }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        let private: Network = "10.0.0.0/8".parse().unwrap();
        assert!(private.contains("10.255.0.1".parse().unwrap()));
        assert!(private.contains("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!private.contains("11.0.0.1".parse().unwrap()));
        let everything: Network = "::/0".parse().unwrap();
        assert!(everything.contains("2001:db8::1".parse().unwrap()));
        assert!(
            !everything.contains("10.0.0.1".parse().unwrap()),
            "an IPv6 network contains no IPv4 address"
        );
    }

    #[test]
    fn an_address_without_a_prefix_is_a_network_of_one_address() {
        let network: Network = "192.0.2.7".parse().unwrap();
        assert_eq!(network.to_string(), "192.0.2.7/32");
        assert!(
            network.contains("192.0.2.7".parse().unwrap()) && !network.contains("192.0.2.8".parse().unwrap())
        );
        for invalid in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "::1/129", "localhost"] {
            assert!(invalid.parse::<Network>().is_err(), "{invalid}");
        }
    }
}
