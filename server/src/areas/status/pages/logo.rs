//! The URL of a logo, which browsers of visitors load.
//!
//! It becomes an attribute of the page, and its origin a part of the content security policy. So
//! only characters that mean nothing in either are accepted, and the server never fetches it.

use std::net::{IpAddr, Ipv6Addr};

use crate::areas::status::host_name;
use crate::areas::status::limits;

/// The URL of a logo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct LogoUrl {
    text: String,
}

impl LogoUrl {
    /// Parses an absolute URL. The error says what is expected.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > limits::LOGO_URL_CHARS_MAX {
            return Err("must have at most 2048 characters");
        }
        let lower = text.to_ascii_lowercase();
        let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(scheme));
        let Some(scheme) = scheme else {
            return Err("must be a URL that begins with https:// or http://");
        };
        if !text.bytes().all(is_plain) {
            return Err("must be a URL whose special characters are percent-encoded");
        }
        let rest = lower.get(scheme.len()..).unwrap_or_default();
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err("must not contain a user name or a password");
        }
        if !is_host_with_port(authority) {
            return Err("must be a URL with a valid host");
        }
        Ok(Self { text: text.to_owned() })
    }

    /// Returns the URL.
    pub(in crate::areas::status) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns whether a character of a URL has no meaning in HTML and in header fields.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'<>\\^`{|};,".contains(&byte)
}

/// Returns whether this is a host, in lower case, with or without a port.
fn is_host_with_port(authority: &str) -> bool {
    if let Some(address) = authority.strip_prefix('[') {
        let Some((address, port)) = address.split_once(']') else { return false };
        let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return address.parse::<Ipv6Addr>().is_ok() && is_port;
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let is_host = host_name::is_domain(host)
        || host_name::is_label(host) && !host.bytes().all(|b| b.is_ascii_digit())
        || host.parse::<IpAddr>().is_ok();
    is_host && is_port(port)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logos_are_plain_urls_of_http() {
        for text in [
            "https://cdn.example.com/logo.png",
            "HTTPS://CDN.example.com/Logo.png",
            "http://cdn.example.com:8080/a/b.svg?v=2&w=3#x",
            "https://cdn.example.com",
            "https://cdn.example.com?a",
            "http://intranet/logo.png",
            "http://192.0.2.7/logo.png",
            "http://[2001:db8::1]:81/logo.png",
            "https://cdn.example.com/%3Cscript%3E",
        ] {
            assert_eq!(LogoUrl::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn everything_else_is_no_logo() {
        let host = "https://cdn.example.com/";
        let long = format!("{host}{}", "a".repeat(limits::LOGO_URL_CHARS_MAX - host.len()));
        assert!(LogoUrl::parse(&long).is_ok());
        for text in [
            "",
            "logo.png",
            "/logo.png",
            "//cdn.example.com/logo.png",
            "javascript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "JaVaScRiPt://cdn.example.com/%0aalert(1)",
            "data:image/png;base64,AAAA",
            "ftp://cdn.example.com/logo.png",
            "file:///etc/passwd",
            "https:cdn.example.com/logo.png",
            "https:/cdn.example.com/logo.png",
            "https://",
            "https:///logo.png",
            "https://user@cdn.example.com/logo.png",
            "https://user:secret@cdn.example.com/logo.png",
            "https://cdn.example.com\\@evil.example/logo.png",
            "https://cdn.example.com:0/logo.png",
            "https://cdn.example.com:65536/logo.png",
            "https://cdn.example.com:/logo.png",
            "https://cdn.example.com:+80/logo.png",
            "https://-cdn.example.com/logo.png",
            "https://cdn..example.com/logo.png",
            "https://2130706433/logo.png",
            "https://[2001:db8::1/logo.png",
            "https://[2001:db8::1]x/logo.png",
            "https://*/logo.png",
            "https://cdn.example.com/a b.png",
            "https://cdn.example.com/a\nb.png",
            "https://cdn.example.com/\u{fc}.png",
            "https://b\u{fc}cher.example/logo.png",
            "https://cdn.example.com/\"onerror=alert(1)",
            "https://cdn.example.com/'onerror=alert(1)",
            "https://cdn.example.com/><script>alert(1)</script>",
            "https://cdn.example.com/;script-src *",
            "https://cdn.example.com;script-src",
            "https://cdn.example.com,evil.example",
            &format!("{long}a"),
        ] {
            assert!(LogoUrl::parse(text).is_err(), "{text}");
        }
    }
}
