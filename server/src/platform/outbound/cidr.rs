//! Address ranges in CIDR notation: `127.0.0.0/8`, `fd00::/8`; a bare address is a range of its
//! own.

use std::fmt;
use std::net::IpAddr;

use crate::platform::settings::{Raw, SettingValue, quoted};

/// The range of addresses that share a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    network: IpAddr,
    prefix_bits: u8,
}

impl Cidr {
    /// Parses `address/bits` or a bare address. Bits beyond the prefix must be zero, so that
    /// `10.0.0.1/8` is reported as the mistake it probably is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let network: IpAddr = address
            .parse()
            .map_err(|_| format!("{text:?} is not a range of addresses such as \"10.0.0.0/8\""))?;
        let width = width_bits(network);
        let prefix_bits = match bits {
            None => width,
            Some(bits) => bits
                .parse::<u8>()
                .ok()
                .filter(|bits| *bits <= width)
                .ok_or_else(|| format!("the prefix of {text:?} must be 0 to {width} bits"))?,
        };
        let whole = Self { network, prefix_bits };
        let start = whole.masked(network);
        if start != number(network) {
            let start = address_of(network, start);
            return Err(format!(
                "{text:?} has bits beyond its prefix: write {start}/{prefix_bits}"
            ));
        }
        Ok(whole)
    }

    /// Returns whether `address` is in the range. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`)
    /// counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        width_bits(address) == width_bits(self.network)
            && self.masked(address) == number(self.network)
    }

    /// Returns whether the range is one address.
    pub fn is_single_address(&self) -> bool {
        self.prefix_bits == width_bits(self.network)
    }

    fn masked(&self, address: IpAddr) -> u128 {
        let host_bits = u32::from(width_bits(self.network) - self.prefix_bits);
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        number(address) & mask
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix_bits)
    }
}

fn width_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Returns the address with these bits, of the family of `like`.
fn address_of(like: IpAddr, bits: u128) -> IpAddr {
    match like {
        IpAddr::V4(_) => {
            let low = u32::try_from(bits & u128::from(u32::MAX)).unwrap_or_default();
            IpAddr::V4(low.into())
        }
        IpAddr::V6(_) => IpAddr::V6(bits.into()),
    }
}

impl SettingValue for Vec<Cidr> {
    const EXPECTS: &'static str = "a list of address ranges such as [\"10.0.0.0/8\"]";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Result<Self, String> {
        text.split(',').filter(|part| !part.trim().is_empty()).map(Cidr::parse).collect()
    }

    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::List(items) => items
                .iter()
                .map(|item| match item {
                    Raw::Text(text) => Cidr::parse(text),
                    other => Err(Self::mismatch(other.type_name())),
                })
                .collect(),
            other => Err(Self::mismatch(other.type_name())),
        }
    }

    fn to_toml(&self) -> String {
        let items: Vec<String> = self.iter().map(|cidr| quoted(&cidr.to_string())).collect();
        format!("[{}]", items.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_strictly() {
        for (text, expected) in [
            ("127.0.0.0/8", Ok("127.0.0.0/8")),
            ("0.0.0.0/0", Ok("0.0.0.0/0")),
            ("10.1.2.3", Ok("10.1.2.3/32")),
            ("::1", Ok("::1/128")),
            ("fd00::/8", Ok("fd00::/8")),
            ("10.0.0.1/8", Err("\"10.0.0.1/8\" has bits beyond its prefix: write 10.0.0.0/8")),
            ("10.0.0.0/33", Err("the prefix of \"10.0.0.0/33\" must be 0 to 32 bits")),
            ("10.0.0.0/", Err("the prefix of \"10.0.0.0/\" must be 0 to 32 bits")),
            ("localhost", Err("\"localhost\" is not a range of addresses such as \"10.0.0.0/8\"")),
        ] {
            let read = Cidr::parse(text).map(|cidr| cidr.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text:?}");
        }
    }

    #[test]
    fn a_range_contains_its_addresses_in_both_notations() {
        for (range, address, expected) in [
            ("127.0.0.0/8", "127.255.255.255", true),
            ("127.0.0.0/8", "128.0.0.0", false),
            ("127.0.0.0/8", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "::1", false),
            ("0.0.0.0/0", "255.1.1.1", true),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
        ] {
            let cidr = Cidr::parse(range).unwrap();
            assert_eq!(cidr.contains(address.parse().unwrap()), expected, "{range} {address}");
        }
    }
}
