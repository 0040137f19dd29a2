//! The URL of an outbound request, checked as far as it can be without a name server.

use std::net::{IpAddr, Ipv6Addr};

use url::{Host, Url};

use super::policy::{OutboundPolicy, SpecialAddress};

/// Bytes of a URL as it is sent: what servers accept, and far less than a request line can have.
const URL_BYTES_MAX: usize = 8 << 10;

/// An `http` or `https` URL whose host may be reached as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundUrl(Url);

/// A host that may be reached as far as its text tells: a name in lower case, or an address without
/// brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundHost(String);

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
    /// The URL is too long, with everything percent-encoded that has to be.
    #[error("has {bytes} bytes when it is encoded, more than {URL_BYTES_MAX}")]
    TooLong {
        /// Bytes of the encoded URL.
        bytes: usize,
    },
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

/// Why a host is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundHostError {
    /// The text is neither a name nor an address.
    #[error("must be a domain or an address")]
    Syntax,
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
        let bytes = url.as_str().len();
        if bytes > URL_BYTES_MAX {
            return Err(OutboundUrlError::TooLong { bytes });
        }
        let host = url.host().filter(|host| !dialled(host).is_empty());
        let literal = literal(&host.ok_or(OutboundUrlError::NoHost)?);
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
            Some(host) => dialled(&host),
            None => panic!("a checked URL has a host"),
        };
        let is_tls = self.0.scheme() == "https";
        let of_scheme = if is_tls { 443 } else { 80 };
        OutboundOrigin { is_tls, host, port: self.0.port().unwrap_or(of_scheme) }
    }
}

impl OutboundHost {
    /// Parses a name or an address, and refuses an address that the policy forbids. An IPv6 address
    /// may have brackets. International names are converted to the form that name servers know.
    pub fn parse(text: &str, policy: &OutboundPolicy) -> Result<Self, OutboundHostError> {
        let host = match text.parse::<Ipv6Addr>() {
            Ok(address) => Host::Ipv6(address),
            Err(_) => Host::parse(text).map_err(|_| OutboundHostError::Syntax)?,
        };
        literal(&host).map_or(Ok(()), |address| policy.check(address))?;
        let dialled = dialled(&host);
        if dialled.is_empty() { Err(OutboundHostError::Syntax) } else { Ok(Self(dialled)) }
    }

    pub(super) fn origin(&self, port: u16) -> OutboundOrigin {
        OutboundOrigin { is_tls: false, host: self.0.clone(), port }
    }
}

/// Returns the address of a host that is one.
fn literal<S>(host: &Host<S>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
    }
}

/// Returns the host as the resolver takes it.
fn dialled<S: AsRef<str>>(host: &Host<S>) -> String {
    match host {
        Host::Domain(name) => name.as_ref().trim_end_matches('.').to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
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
            ("http://./", "no host"),
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

    #[test]
    fn a_url_that_is_too_long_when_it_is_encoded_is_refused() {
        let url = OutboundUrl::parse("https://example.com/", &strict()).unwrap();
        let fits = URL_BYTES_MAX - url.as_str().len();
        assert!(url.join(&"a".repeat(fits), &strict()).is_ok());
        let refused = url.join(&"a".repeat(fits + 1), &strict()).unwrap_err();
        assert_eq!(refused, OutboundUrlError::TooLong { bytes: URL_BYTES_MAX + 1 });
        // Each quote takes three bytes.
        let refused = url.join(&"\"".repeat(25_000), &strict()).unwrap_err();
        assert_eq!(refused.to_string(), "has 75020 bytes when it is encoded, more than 8192");
        assert!(url.join(&format!("#{}", "a".repeat(fits + 1)), &strict()).is_ok(), "not sent");
    }

    #[test]
    fn hosts_are_dialled_as_name_servers_know_them() {
        for (text, dialled) in [
            ("Example.COM.", "example.com"),
            ("Bücher.example", "xn--bcher-kva.example"),
            ("mail_1.example.com", "mail_1.example.com"),
            ("1.1.1.1", "1.1.1.1"),
            ("[2606:4700::1111]", "2606:4700::1111"),
            ("2606:4700:0:0::1111", "2606:4700::1111"),
        ] {
            let origin = OutboundHost::parse(text, &strict()).unwrap().origin(25);
            assert_eq!((&*origin.host, origin.port, origin.is_tls), (dialled, 25, false), "{text}");
        }
        for text in
            ["", ".", "a b", "a:80", "2606:4700::1111:g", "[::1", "::1]", "a/b", "fe80::1%1"]
        {
            let refused = OutboundHost::parse(text, &strict());
            assert_eq!(refused, Err(OutboundHostError::Syntax), "{text}");
        }
        for text in ["10.0.0.1", "0x7f.1", "::1", "[::1]", "::ffff:10.0.0.1", "[64:ff9b::a00:1]"] {
            let refused = OutboundHost::parse(text, &strict());
            assert!(matches!(refused, Err(OutboundHostError::Special(_))), "{text}: {refused:?}");
        }
    }
}
