//! The address ranges that are not on the public internet.
//!
//! From the IANA registries of special-purpose addresses (RFC 6890 and its updates), with multicast
//! (RFC 5771, RFC 4291) and the deprecated ranges that systems still route. An IPv6 address that
//! contains an IPv4 address is judged by that address: a gateway or the system would dial it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses that is not public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialRange {
    /// The range in CIDR notation.
    pub cidr: &'static str,
    /// What its addresses are, for messages: "a loopback address".
    pub kind: &'static str,
}

type V4Range = (Ipv4Addr, u32, SpecialRange);
type V6Range = (Ipv6Addr, u32, SpecialRange);

const fn v4(octets: [u8; 4], bits: u32, cidr: &'static str, kind: &'static str) -> V4Range {
    let [a, b, c, d] = octets;
    (Ipv4Addr::new(a, b, c, d), bits, SpecialRange { cidr, kind })
}

const fn v6(first: [u16; 3], bits: u32, cidr: &'static str, kind: &'static str) -> V6Range {
    let [a, b, c] = first;
    (Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits, SpecialRange { cidr, kind })
}

const V4_RANGES: [V4Range; 17] = [
    v4([0, 0, 0, 0], 8, "0.0.0.0/8", "an address of this network"),
    v4([10, 0, 0, 0], 8, "10.0.0.0/8", "a private address"),
    v4([100, 64, 0, 0], 10, "100.64.0.0/10", "an address of a carrier's network"),
    v4([127, 0, 0, 0], 8, "127.0.0.0/8", "a loopback address"),
    v4([169, 254, 0, 0], 16, "169.254.0.0/16", "a link-local address"),
    v4([172, 16, 0, 0], 12, "172.16.0.0/12", "a private address"),
    v4([192, 0, 0, 0], 24, "192.0.0.0/24", "an address reserved for protocols"),
    v4([192, 0, 2, 0], 24, "192.0.2.0/24", "an address for documentation"),
    v4([192, 88, 99, 0], 24, "192.88.99.0/24", "an address of a 6to4 relay"),
    v4([192, 168, 0, 0], 16, "192.168.0.0/16", "a private address"),
    v4([198, 18, 0, 0], 15, "198.18.0.0/15", "an address for benchmarks"),
    v4([198, 51, 100, 0], 24, "198.51.100.0/24", "an address for documentation"),
    v4([203, 0, 113, 0], 24, "203.0.113.0/24", "an address for documentation"),
    v4([224, 0, 0, 0], 4, "224.0.0.0/4", "a multicast address"),
    // The more specific range comes first.
    v4([255, 255, 255, 255], 32, "255.255.255.255/32", "the broadcast address"),
    v4([240, 0, 0, 0], 4, "240.0.0.0/4", "a reserved address"),
    v4([168, 63, 129, 16], 32, "168.63.129.16/32", "the address of a cloud's platform services"),
];

const V6_RANGES: [V6Range; 13] = [
    (Ipv6Addr::UNSPECIFIED, 128, SpecialRange { cidr: "::/128", kind: "the unspecified address" }),
    (Ipv6Addr::LOCALHOST, 128, SpecialRange { cidr: "::1/128", kind: "a loopback address" }),
    v6([0x64, 0xff9b, 1], 48, "64:ff9b:1::/48", "an address of a local translator"),
    v6([0x100, 0, 0], 64, "100::/64", "a discarded address"),
    v6([0x2001, 0xdb8, 0], 32, "2001:db8::/32", "an address for documentation"),
    v6([0x2001, 0, 0], 23, "2001::/23", "an address reserved for protocols"),
    v6([0x3fff, 0, 0], 20, "3fff::/20", "an address for documentation"),
    v6([0x5f00, 0, 0], 16, "5f00::/16", "an address of segment routing"),
    v6([0xfc00, 0, 0], 7, "fc00::/7", "a private address"),
    v6([0xfe80, 0, 0], 10, "fe80::/10", "a link-local address"),
    v6([0xfec0, 0, 0], 10, "fec0::/10", "a site-local address"),
    v6([0xff00, 0, 0], 8, "ff00::/8", "a multicast address"),
    // What is neither special nor in the range of global unicast is not assigned.
    v6([0, 0, 0], 8, "::/8", "a reserved address"),
];

/// Returns the range that makes an address special, or `None` if it is public.
pub fn special_range(address: IpAddr) -> Option<SpecialRange> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => special_v4(inner),
            None => special_v6(address),
        },
    }
}

fn special_v4(address: Ipv4Addr) -> Option<SpecialRange> {
    let matches = |(start, bits, _): &&V4Range| {
        (address.to_bits() ^ start.to_bits()).checked_shr(u32::BITS - bits).unwrap_or(0) == 0
    };
    V4_RANGES.iter().find(matches).map(|(_, _, range)| *range)
}

fn special_v6(address: Ipv6Addr) -> Option<SpecialRange> {
    let matches = |(start, bits, _): &&V6Range| {
        (address.to_bits() ^ start.to_bits()).checked_shr(u128::BITS - bits).unwrap_or(0) == 0
    };
    V6_RANGES.iter().find(matches).map(|(_, _, range)| *range)
}

/// Returns the IPv4 address that an IPv6 address stands for: mapped (RFC 4291), compatible
/// (deprecated, RFC 4291), translated (RFC 6052, RFC 2765), or a 6to4 prefix (RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => {
            Some(of(g, h))
        }
        // `::` and `::1` have names of their own.
        [0, 0, 0, 0, 0, 0] if g != 0 || h > 1 => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::outbound::Cidr;

    fn kind_of(address: &str) -> Option<&'static str> {
        special_range(address.parse().unwrap()).map(|range| range.kind)
    }

    #[test]
    fn the_ends_of_every_range_are_special_and_named_by_it() {
        let all = V4_RANGES.map(|(start, bits, range)| (IpAddr::V4(start), bits, range));
        let v6 = V6_RANGES.map(|(start, bits, range)| (IpAddr::V6(start), bits, range));
        for (start, bits, range) in all.into_iter().chain(v6) {
            let cidr = Cidr::parse(range.cidr).unwrap();
            assert_eq!(range.cidr.split('/').next_back().unwrap(), bits.to_string());
            let last: IpAddr = match start {
                IpAddr::V4(ip) => {
                    let host = u32::MAX.checked_shr(bits).unwrap_or(0);
                    Ipv4Addr::from_bits(ip.to_bits() | host).into()
                }
                IpAddr::V6(ip) => {
                    let host = u128::MAX.checked_shr(bits).unwrap_or(0);
                    Ipv6Addr::from_bits(ip.to_bits() | host).into()
                }
            };
            for address in [start, last] {
                assert!(cidr.contains(address), "{address} {}", range.cidr);
                assert!(special_range(address).is_some(), "{address} {}", range.cidr);
            }
        }
    }

    #[test]
    fn neighbours_of_special_ranges_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "168.63.129.15",
            "2001:200::",
            "2606:4700::1111",
            "2a00::1",
            "2003::",
            "64:ff9b::8.8.8.8",
            "2002:0808:0808::1",
        ] {
            assert_eq!(kind_of(address), None, "{address}");
        }
    }

    #[test]
    fn disguised_addresses_are_judged_by_what_is_dialled() {
        for (address, kind) in [
            ("::ffff:127.0.0.1", "a loopback address"),
            ("::ffff:169.254.169.254", "a link-local address"),
            ("::127.0.0.1", "a loopback address"),
            ("::ffff:0:10.0.0.1", "a private address"),
            ("64:ff9b::10.1.2.3", "a private address"),
            ("64:ff9b:1::10.1.2.3", "an address of a local translator"),
            ("2002:7f00:1::", "a loopback address"),
            ("2001:0:4136:e378::", "an address reserved for protocols"),
            ("fd00:ec2::254", "a private address"),
            ("::1", "a loopback address"),
            ("::", "the unspecified address"),
            ("::2", "an address of this network"),
            ("255.255.255.255", "the broadcast address"),
            ("168.63.129.16", "the address of a cloud's platform services"),
        ] {
            assert_eq!(kind_of(address), Some(kind), "{address}");
        }
    }
}
