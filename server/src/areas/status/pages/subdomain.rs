//! Subdomains of status pages.

use crate::areas::status::host_name;

/// The subdomain of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Subdomain(String);

/// Names that have a meaning for browsers, mail servers or operators, or that visitors would take
/// for the server's own pages.
const RESERVED: [&str; 66] = [
    "abuse",
    "account",
    "accounts",
    "admin",
    "administrator",
    "api",
    "app",
    "assets",
    "auth",
    "autoconfig",
    "autodiscover",
    "billing",
    "blog",
    "cdn",
    "console",
    "dashboard",
    "dns",
    "docs",
    "email",
    "ftp",
    "help",
    "hostmaster",
    "images",
    "imap",
    "img",
    "internal",
    "isatap",
    "localhost",
    "login",
    "logout",
    "mail",
    "metrics",
    "mta-sts",
    "mx",
    "news",
    "noc",
    "ns",
    "ns1",
    "ns2",
    "ns3",
    "ns4",
    "oauth",
    "pop",
    "pop3",
    "postmaster",
    "private",
    "root",
    "secure",
    "security",
    "server",
    "signup",
    "smtp",
    "sso",
    "static",
    "status",
    "status-pages",
    "support",
    "system",
    "telltale",
    "usenet",
    "uucp",
    "vpn",
    "webmail",
    "webmaster",
    "wpad",
    "www",
];

impl Subdomain {
    /// Parses a label of a domain that is not reserved. The error says what is expected.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if !host_name::is_label(text) {
            return Err("must have 1 to 63 characters from a-z, 0-9 and -, and must not begin or \
                        end with -");
        }
        // It would look like another name in the address bar.
        if text.starts_with("xn--") {
            return Err("must not begin with xn--");
        }
        if RESERVED.binary_search(&text).is_ok() {
            return Err("must not be a reserved name such as www or api");
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns a stored subdomain, which was valid when it was stored.
    pub(super) fn stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub(in crate::areas::status) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_are_labels_that_are_not_reserved() {
        let longest = "a".repeat(63);
        for text in ["a", "0", "shop", "my-shop", "a--b", "4711", "api2", "status-eu", &longest] {
            assert_eq!(Subdomain::parse(text).map(|subdomain| subdomain.0), Ok(text.to_owned()));
        }
        let longer = "a".repeat(64);
        for text in [
            "",
            "-",
            "-a",
            "a-",
            "A",
            "Shop",
            "a.b",
            "a_b",
            "a b",
            " a",
            "a\n",
            "a/b",
            "../a",
            "a%20",
            "b\u{fc}cher",
            "\u{430}pi",
            "xn--bcher-kva",
            "www",
            "api",
            "admin",
            "status",
            "app",
            "mail",
            "ns1",
            "<script>",
            "a\0",
            "*",
            &longer,
        ] {
            assert!(Subdomain::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn all_reserved_names_are_found() {
        assert!(RESERVED.is_sorted());
        for name in RESERVED {
            assert!(host_name::is_label(name) && Subdomain::parse(name).is_err(), "{name}");
        }
    }
}
