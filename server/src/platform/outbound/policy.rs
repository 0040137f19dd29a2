//! Which addresses outbound requests may reach.

use std::net::IpAddr;

use super::cidr::Cidr;
use super::settings::OutboundSettings;
use super::special::special_range;

/// The addresses where clouds serve credentials to any program of the machine. A range of
/// `outbound.allow` that contains one of them does not open it; the single address does.
const METADATA: [&str; 4] =
    ["169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"];

/// Which addresses outbound requests may reach: public ones, and those that the operator allowed.
#[derive(Clone, Debug)]
pub struct OutboundPolicy {
    allow: Vec<Cidr>,
}

/// The error for an address that must not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is {kind}; an operator can allow it with outbound.allow")]
pub struct SpecialAddress {
    /// The address.
    pub address: IpAddr,
    /// What it is: "a private address".
    pub kind: &'static str,
}

impl OutboundPolicy {
    /// Returns the policy of the configuration.
    pub fn new(settings: &OutboundSettings) -> Self {
        Self { allow: settings.allow.clone() }
    }

    /// Returns the policy for an address that the operator chose, not a user: it may be any but a
    /// metadata service.
    pub fn of_operator() -> Self {
        Self {
            allow: ["0.0.0.0/0", "::/0"].iter().filter_map(|all| Cidr::parse(all).ok()).collect(),
        }
    }

    /// Refuses an address that is not public, unless the operator allowed it.
    pub fn check(&self, address: IpAddr) -> Result<(), SpecialAddress> {
        let Some(range) = special_range(address) else { return Ok(()) };
        let address = address.to_canonical();
        let is_metadata = METADATA.iter().any(|known| known.parse() == Ok(address));
        let allows =
            |cidr: &Cidr| cidr.contains(address) && (!is_metadata || cidr.is_single_address());
        if self.allow.iter().any(allows) {
            return Ok(());
        }
        Err(SpecialAddress { address, kind: range.kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &[&str]) -> OutboundPolicy {
        let allow = allow.iter().map(|text| Cidr::parse(text).unwrap()).collect();
        OutboundPolicy::new(&OutboundSettings { allow })
    }

    fn passes(policy: &OutboundPolicy, address: &str) -> bool {
        policy.check(address.parse().unwrap()).is_ok()
    }

    #[test]
    fn public_addresses_pass_and_special_ones_only_if_allowed() {
        let strict = policy(&[]);
        assert!(passes(&strict, "1.1.1.1") && passes(&strict, "2606:4700::1111"));
        for address in ["127.0.0.1", "10.1.2.3", "::1", "fe80::1", "::ffff:127.0.0.1"] {
            assert!(!passes(&strict, address), "{address}");
        }
        let lab = policy(&["127.0.0.0/8", "fd00::/8"]);
        assert!(passes(&lab, "127.9.9.9") && passes(&lab, "::ffff:127.0.0.1"));
        assert!(passes(&lab, "fd00::1") && !passes(&lab, "10.0.0.1") && !passes(&lab, "::1"));
        let refused = strict.check("10.1.2.3".parse().unwrap()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "10.1.2.3 is a private address; an operator can allow it with outbound.allow"
        );
    }

    #[test]
    fn the_operator_reaches_all_but_metadata_services() {
        let of_operator = OutboundPolicy::of_operator();
        for address in ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "1.1.1.1"] {
            assert!(passes(&of_operator, address), "{address}");
        }
        assert!(METADATA.iter().all(|address| !passes(&of_operator, address)));
    }

    #[test]
    fn metadata_services_are_opened_only_by_their_own_address() {
        let ranges = policy(&["169.254.0.0/16", "100.64.0.0/10", "fd00::/8"]);
        for address in METADATA {
            assert!(!passes(&ranges, address), "{address}");
            assert!(passes(&policy(&[address]), address), "{address}");
        }
        assert!(passes(&ranges, "169.254.1.1"));
        assert!(!passes(&ranges, "::ffff:169.254.169.254"), "in disguise");
    }
}
