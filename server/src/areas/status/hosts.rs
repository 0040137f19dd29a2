//! Which site the host of a request is. Every request asks this, before anything else is known of
//! it: the answer needs no document, waits for nothing and cannot fail.

use std::collections::HashMap;

use parking_lot::RwLock;

use super::addresses::PageAddresses;
use super::pages::Page;
use crate::http::HostedSite;

/// The subdomains of the pages that have a domain of their own, by that domain in lower case.
#[derive(Debug, Default)]
pub(super) struct CustomDomains(RwLock<HashMap<String, String>>);

impl CustomDomains {
    /// Replaces all by those of these pages.
    pub(super) fn set<'a>(&self, pages: impl Iterator<Item = &'a Page>) {
        let domain = |page: &Page| {
            let domain = page.custom_domain.clone()?;
            Some((domain, page.subdomain.as_str().to_owned()))
        };
        let domains = pages.filter_map(domain).collect();
        *self.0.write() = domains;
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }
}

/// Returns what a host serves, given in lower case and without a port.
pub(super) fn site(addresses: &PageAddresses, domains: &CustomDomains, host: &str) -> HostedSite {
    if addresses.is_of_server(host) {
        return HostedSite::Server;
    }
    // Before the domains of pages: below the operator's domain, only the subdomain counts.
    if addresses.is_below_domain(host) {
        return match addresses.subdomain_of(host) {
            Some(subdomain) => HostedSite::Below(path(subdomain)),
            None => HostedSite::Nothing,
        };
    }
    match domains.0.read().get(host) {
        Some(subdomain) if addresses.knows_server() => HostedSite::Below(path(subdomain)),
        Some(subdomain) => HostedSite::BelowOrServer(path(subdomain)),
        None => HostedSite::Server,
    }
}

fn path(subdomain: &str) -> String {
    format!("/status/{subdomain}")
}

#[cfg(test)]
mod tests {
    use super::super::addresses::tests::addresses;
    use super::*;

    fn domains(all: &[(&str, &str)]) -> CustomDomains {
        let domains = CustomDomains::default();
        let pair = |(domain, subdomain): &(&str, &str)| (domain.to_string(), subdomain.to_string());
        domains.0.write().extend(all.iter().map(pair));
        domains
    }

    #[test]
    fn a_host_is_the_server_or_one_page() {
        let addresses = addresses("status.example.com", "https://telltale.example.com");
        let domains = domains(&[("up.acme.example", "acme"), ("bolt.status.example.com", "acme")]);
        let below = |subdomain: &str| HostedSite::Below(format!("/status/{subdomain}"));
        for (host, expected) in [
            ("up.acme.example", below("acme")),
            ("acme.status.example.com", below("acme")),
            // It was taken before the operator chose the domain: the page of that name has it.
            ("bolt.status.example.com", below("bolt")),
            ("a.b.status.example.com", HostedSite::Nothing),
            ("telltale.example.com", HostedSite::Server),
            ("status.example.com", HostedSite::Server),
            ("127.0.0.1", HostedSite::Server),
        ] {
            assert_eq!(site(&addresses, &domains, host), expected, "{host}");
        }
    }

    #[test]
    fn a_domain_of_a_page_may_be_the_servers_own_if_that_is_not_known() {
        let domains = domains(&[("telltale.example.com", "acme")]);
        let found = site(&addresses("", ""), &domains, "telltale.example.com");
        assert_eq!(found, HostedSite::BelowOrServer("/status/acme".to_owned()));
        let known = addresses("", "https://telltale.example.com");
        assert_eq!(site(&known, &domains, "telltale.example.com"), HostedSite::Server);
    }
}
