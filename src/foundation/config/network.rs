//! A range of addresses, as `10.0.0.0/8` writes it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Addresses that share their first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// True when the address lies in this range. An IPv4 address mapped into IPv6 is taken as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let differing = bits(self.address) ^ bits(address);
        self.address.is_ipv4() == address.is_ipv4()
            && differing.checked_shr(u32::from(width(address) - self.prefix)).unwrap_or(0) == 0
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix) = text.split_once('/').unzip();
        let address: IpAddr = address.unwrap_or(text).parse().map_err(drop)?;
        let width = width(address);
        let prefix = prefix.map_or(Ok(width), |digits| digits.parse().map_err(drop))?;
        if prefix > width { Err(()) } else { Ok(Self { address, prefix }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_shares_its_first_bits() {
        let private: Network = "10.0.0.0/8".parse().unwrap();
        assert!(private.contains("10.255.0.1".parse().unwrap()));
        assert!(private.contains("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!private.contains("11.0.0.1".parse().unwrap()));
        let everything: Network = "::/0".parse().unwrap();
        assert!(everything.contains("2001:db8::1".parse().unwrap()));
        assert!(!everything.contains("10.0.0.1".parse().unwrap()), "an IPv6 range holds no IPv4 address");
    }

    #[test]
    fn one_address_is_a_range_of_one() {
        let one: Network = "192.0.2.7".parse().unwrap();
        assert_eq!(one.to_string(), "192.0.2.7/32");
        assert!(one.contains("192.0.2.7".parse().unwrap()) && !one.contains("192.0.2.8".parse().unwrap()));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "::1/129", "localhost"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
