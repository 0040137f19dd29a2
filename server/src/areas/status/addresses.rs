//! The addresses of status pages: which URL a page has, and which domains it may have.

use super::host_name;
use super::settings::StatusDomain;
use crate::areas::alerting::OptionalBaseUrl;
use crate::platform::fields::Invalid;

/// What the addresses of status pages follow from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageAddresses {
    /// The domain whose subdomains are status pages.
    domain: Option<String>,
    /// The URL under which users reach the server, without a slash at its end.
    public_url: Option<String>,
    /// The host of that URL.
    public_host: Option<String>,
}

impl PageAddresses {
    /// Returns the addresses that these settings make.
    pub(super) fn new(domain: &StatusDomain, public_url: &OptionalBaseUrl) -> Self {
        let public_url = public_url.get();
        Self {
            domain: domain.get().map(str::to_owned),
            public_host: public_url.and_then(|url| url.host()).map(str::to_ascii_lowercase),
            public_url: public_url.map(|url| url.as_str().to_owned()),
        }
    }

    /// Returns the URL of a page. It is only a path if the server does not know its own address.
    pub(super) fn url(&self, subdomain: &str, custom_domain: Option<&str>) -> String {
        match (custom_domain, &self.domain) {
            (Some(custom), _) => format!("https://{custom}"),
            (None, Some(domain)) => format!("https://{subdomain}.{domain}"),
            (None, None) => {
                format!("{}/status/{subdomain}", self.public_url.as_deref().unwrap_or_default())
            }
        }
    }

    /// Returns whether subdomains of a domain are status pages.
    pub(super) fn has_domain(&self) -> bool {
        self.domain.is_some()
    }

    /// Returns whether it is known which host is the address of this server.
    pub(super) fn knows_server(&self) -> bool {
        self.public_host.is_some()
    }

    /// Returns whether a host, in lower case and without a port, is the address of this server.
    pub(super) fn is_of_server(&self, host: &str) -> bool {
        self.public_host.as_deref() == Some(host)
    }

    /// Returns whether a host, in lower case and without a port, is below the domain of status
    /// pages.
    pub(super) fn is_below_domain(&self, host: &str) -> bool {
        let domain = self.domain.as_deref();
        domain.and_then(|domain| host.strip_suffix(domain)).is_some_and(|sub| sub.ends_with('.'))
    }

    /// Returns the subdomain that a host names, in lower case and without a port, if it is one of
    /// the domain of status pages.
    pub(super) fn subdomain_of<'a>(&self, host: &'a str) -> Option<&'a str> {
        let subdomain = host.strip_suffix(self.domain.as_deref()?)?.strip_suffix('.')?;
        host_name::is_label(subdomain).then_some(subdomain)
    }

    /// Validates the domain of a page and returns it in lower case. The server's own names are no
    /// domains of pages: a page there would take the place of the API, or of another page.
    pub(super) fn check_custom_domain(&self, text: &str) -> Result<String, Invalid> {
        let invalid = |expected: &str| Err(Invalid::field("custom_domain", expected));
        let domain = text.to_ascii_lowercase();
        if !host_name::is_domain(&domain) {
            return invalid("must be a domain such as status.example.com");
        }
        let is_within = |own: &String| {
            domain
                .strip_suffix(own.as_str())
                .is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
        };
        if self.domain.as_ref().is_some_and(is_within) {
            return invalid("must not be within the domain of status pages (status.domain)");
        }
        if self.public_host.as_ref() == Some(&domain) {
            return invalid("must not be the address of this server (server.public_url)");
        }
        Ok(domain)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::platform::settings::SettingValue;

    /// Returns the addresses that these settings make.
    pub(in crate::areas::status) fn addresses(domain: &str, public_url: &str) -> PageAddresses {
        let domain = StatusDomain::from_text(domain).unwrap();
        PageAddresses::new(&domain, &OptionalBaseUrl::from_text(public_url).unwrap())
    }

    #[test]
    fn the_url_of_a_page_is_its_own_domain_or_a_subdomain_or_a_path() {
        let both = addresses("status.example.com", "https://telltale.example.com/");
        assert_eq!(both.url("shop", Some("up.example.org")), "https://up.example.org");
        assert_eq!(both.url("shop", None), "https://shop.status.example.com");
        let server = addresses("", "https://telltale.example.com:8443/a/");
        assert_eq!(server.url("shop", None), "https://telltale.example.com:8443/a/status/shop");
        assert_eq!(addresses("", "").url("shop", None), "/status/shop");
        assert_eq!(addresses("", "").url("shop", Some("a.example")), "https://a.example");
    }

    #[test]
    fn only_direct_subdomains_are_pages() {
        let addresses = addresses("Status.example.com", "");
        for (host, expected) in [
            ("shop.status.example.com", Some("shop")),
            ("status.example.com", None),
            (".status.example.com", None),
            ("a.shop.status.example.com", None),
            ("shopstatus.example.com", None),
            ("shop.status.example.com.evil.example", None),
            ("-.status.example.com", None),
            ("example.com", None),
            ("", None),
        ] {
            assert_eq!(addresses.subdomain_of(host), expected, "{host}");
        }
        assert_eq!(PageAddresses::default().subdomain_of("shop.example.com"), None);
    }

    #[test]
    fn the_names_of_the_server_are_no_domains_of_pages() {
        let addresses = addresses("status.example.com", "https://Telltale.example.com:8443");
        for (text, expected) in [
            ("Up.Example.org", Some("up.example.org")),
            ("example.com", Some("example.com")),
            ("mystatus.example.com", Some("mystatus.example.com")),
            ("up.telltale.example.com", Some("up.telltale.example.com")),
            ("telltale.example.com", None),
            ("TELLTALE.example.com", None),
            ("status.example.com", None),
            ("shop.status.example.com", None),
            ("a.b.status.example.com", None),
            ("192.0.2.1", None),
            ("[2001:db8::1]", None),
            ("localhost", None),
            ("up.example.org.", None),
            ("up.example.org:443", None),
            ("https://up.example.org", None),
            ("up.example.org/a", None),
            ("b\u{fc}cher.example", None),
            ("", None),
        ] {
            let checked = addresses.check_custom_domain(text);
            assert_eq!(checked.as_deref().ok(), expected, "{text}");
        }
    }
}
