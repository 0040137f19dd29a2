//! Which site the host of a request is.

use super::addresses::PageAddresses;
use super::page_directory::PageDirectory;
use crate::http::HostedSite;

/// Returns what a host serves, given in lower case and without a port.
pub(super) fn site(addresses: &PageAddresses, pages: &PageDirectory, host: &str) -> HostedSite {
    if addresses.is_of_server(host) {
        return HostedSite::Server;
    }
    let entry = match pages.page_at_domain(host) {
        Some(entry) => Some(entry),
        None if !addresses.is_below_domain(host) => return HostedSite::Server,
        None => addresses.subdomain_of(host).and_then(|name| pages.page_at_subdomain(name)),
    };
    match entry {
        Some(entry) => HostedSite::Below(format!("/status/{}", entry.page.subdomain.as_str())),
        None => HostedSite::Nothing,
    }
}
