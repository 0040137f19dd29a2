//! The URL of an outbound request, checked as far as it can be without a name server.

use std::net::IpAddr;

use url::{Host, Url};

use super::policy::{OutboundPolicy, SpecialAddress};

/// An `http` or `https` URL whose host may be reached as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundUrl(Url);

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundUrlError {
    /// The text is no absolute URL.
    #[error("is not a URL: {0}")]
    Syntax(#[from] url::ParseError),
    /// The scheme is another one.
    #[error("must begin with http:// or https://, not {0}:")]
    Scheme(String),
    /// The URL contains a user name or a password, which would be sent to wherever it redirects
    /// and shown wherever the URL is.
    #[error("must not contain a user name or a password")]
    Credentials,
    /// The URL has no host.
    #[error("has no host")]
    NoHost,
    /// Port 0 cannot be connected to.
    #[error("must not have port 0")]
    PortZero,
    /// The host is an address that must not be reached.
    #[error(transparent)]
    Special(#[from] SpecialAddress),
}

/// The scheme, host and port of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OutboundOrigin {
    /// Whether the connection uses TLS.
    pub(super) is_tls: bool,
    /// The name or address, without brackets, in lower case.
    pub(super) host: String,
    /// The port.
    pub(super) port: u16,
}

impl OutboundUrl {
    /// Parses a URL, and refuses one whose host is an address that the policy forbids. Unusual
    /// forms of addresses (`0x7f.1`, `2130706433`) are the addresses they stand for. The fragment
    /// is dropped.
    pub fn parse(text: &str, policy: &OutboundPolicy) -> Result<Self, OutboundUrlError> {
        Self::new(Url::parse(text.trim())?, policy)
    }

    /// Resolves a `Location` against this URL.
    pub(super) fn join(
        &self,
        location: &str,
        policy: &OutboundPolicy,
    ) -> Result<Self, OutboundUrlError> {
        Self::new(self.0.join(location.trim())?, policy)
    }

    fn new(mut url: Url, policy: &OutboundPolicy) -> Result<Self, OutboundUrlError> {
        if !["http", "https"].contains(&url.scheme()) {
            return Err(OutboundUrlError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundUrlError::Credentials);
        }
        if url.port() == Some(0) {
            return Err(OutboundUrlError::PortZero);
        }
        url.set_fragment(None);
        let literal: Option<IpAddr> = match url.host() {
            None => return Err(OutboundUrlError::NoHost),
            Some(Host::Domain("")) => return Err(OutboundUrlError::NoHost),
            Some(Host::Domain(_)) => None,
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
        };
        literal.map_or(Ok(()), |address| policy.check(address))?;
        Ok(Self(url))
    }

    /// Returns the URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the path and query, as in a request line.
    pub(super) fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// Returns the value of the `Host` header: without the port if it is that of the scheme.
    pub(super) fn authority(&self) -> &str {
        &self.0[url::Position::BeforeHost..url::Position::AfterPort]
    }

    pub(super) fn origin(&self) -> OutboundOrigin {
        let host = match self.0.host() {
            Some(Host::Domain(name)) => name.trim_end_matches('.').to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => panic!("a checked URL has a host"),
        };
        let is_tls = self.0.scheme() == "https";
        let of_scheme = if is_tls { 443 } else { 80 };
        OutboundOrigin { is_tls, host, port: self.0.port().unwrap_or(of_scheme) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::outbound::OutboundSettings;

    fn strict() -> OutboundPolicy {
        OutboundPolicy::new(&OutboundSettings::default())
    }

    #[test]
    fn addresses_in_any_form_are_refused_when_they_are_special() {
        for url in [
            "http://127.0.0.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://127.1",
            "https://[::1]:8443/a",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://0/",
            "http://[64:ff9b::a00:1]/",
            "http://①②⑦.0.0.1/",
        ] {
            let refused = OutboundUrl::parse(url, &strict());
            assert!(matches!(refused, Err(OutboundUrlError::Special(_))), "{url}: {refused:?}");
        }
    }

    #[test]
    fn other_schemes_credentials_and_hosts_are_refused() {
        for (url, part) in [
            ("file:///etc/passwd", "http:// or https://"),
            ("gopher://example.com/", "http:// or https://"),
            ("ftp://example.com/", "http:// or https://"),
            ("javascript:alert(1)", "http:// or https://"),
            ("https://user:secret@example.com/", "user name"),
            ("https://user@example.com/", "user name"),
            ("http://example.com:0/", "port 0"),
            ("http:///", "not a URL"),
            ("example.com/hook", "not a URL"),
            ("http://exa mple.com/", "not a URL"),
            ("http://example.com:99999/", "not a URL"),
            ("", "not a URL"),
        ] {
            let refused = OutboundUrl::parse(url, &strict()).unwrap_err().to_string();
            assert!(refused.contains(part), "{url}: {refused}");
        }
    }

    #[test]
    fn a_url_gives_what_a_request_needs() {
        let url = OutboundUrl::parse(" HTTPS://Example.COM:443/a b?q=1&r=%20#top ", &strict());
        let url = url.unwrap();
        assert_eq!(url.as_str(), "https://example.com/a%20b?q=1&r=%20");
        assert_eq!((url.authority(), url.path_and_query()), ("example.com", "/a%20b?q=1&r=%20"));
        let OutboundOrigin { is_tls, host, port } = url.origin();
        assert_eq!((is_tls, &*host, port), (true, "example.com", 443));
        let next = url.join("http://[2606:4700::1111]:8080/x", &strict()).unwrap();
        assert_eq!(next.authority(), "[2606:4700::1111]:8080");
        assert_eq!(next.origin().host, "2606:4700::1111");
        assert_eq!(url.join("../c", &strict()).unwrap().as_str(), "https://example.com/c");
        assert!(url.join("//10.0.0.1/", &strict()).is_err());
    }
}
