//! The URLs of configurations: what is valid, and what is shown of them.
//!
//! Whether an address may be reached is checked by the client that sends, against the address that
//! it dials.

use std::fmt;

use url::{Position, Url};

use crate::areas::alerting::limits;
use crate::platform::redaction::{HIDDEN, redacted};

/// The URL that a chat or an endpoint receives messages at. Its debug form is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(Url);

/// The address of a service below which its routes are: `https://events.pagerduty.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl WebhookUrl {
    /// Parses a URL. The error says what is expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        parse(text).map(Self)
    }

    /// Returns the whole URL.
    pub fn reveal(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the URL at another server: the path and query after those of `base`.
    pub fn at(&self, base: &BaseUrl) -> String {
        base.join(&self.0[Position::BeforePath..Position::AfterQuery])
    }

    /// Returns the URL of a chat as it is shown, scheme and host: its path is the secret.
    pub(super) fn redacted_path(&self) -> String {
        let secret = self.0[Position::BeforePath..Position::AfterQuery].trim_start_matches('/');
        format!("{}/{}", self.origin(), redacted(secret))
    }

    /// Returns the URL of an endpoint as it is shown: the values of its query are secrets.
    pub(super) fn redacted_query(&self) -> String {
        let Some(query) = self.0.query() else { return self.0.as_str().to_owned() };
        let shown = query.split('&').map(|pair| match pair.split_once('=') {
            Some((key, value)) => format!("{key}={}", redacted(value)),
            None if pair.is_empty() => String::new(),
            // A query without keys is a value.
            None => redacted(pair),
        });
        let query = shown.collect::<Vec<_>>().join("&");
        format!("{}?{query}", &self.0[..Position::AfterPath])
    }

    /// Returns scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        &self.0[..Position::BeforePath]
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted_path())
    }
}

impl BaseUrl {
    /// Parses an address. The error says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = parse(text)?;
        match url.query() {
            None => Ok(Self(url)),
            Some(_) => Err("must not have a query".to_owned()),
        }
    }

    /// Returns the address, without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Returns the host: a domain, or an address, in brackets if it is one of IPv6.
    pub fn host(&self) -> Option<&str> {
        self.0.host_str()
    }

    /// Returns the URL of a route, whose path begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.as_str())
    }
}

fn parse(text: &str) -> Result<Url, String> {
    let max = limits::CHANNEL_URL_CHARS_MAX;
    if text.chars().count() > max {
        return Err(format!("must have at most {max} characters"));
    }
    if text.contains(HIDDEN) {
        return Err(format!("must be sent whole, or exactly as it is returned with {HIDDEN}"));
    }
    // The parser would remove these characters.
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("must not contain spaces or control characters".to_owned());
    }
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !scheme.is_some_and(|scheme| scheme == "https" || scheme == "http") {
        return Err("must be a URL that begins with https:// or http://".to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("must be a valid URL: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or a password".to_owned());
    }
    if url.fragment().is_some() {
        return Err("must not have a fragment (#)".to_owned());
    }
    if url.port() == Some(0) {
        return Err("must not have port 0".to_owned());
    }
    if url.as_str().len() > max {
        return Err(format!("must have at most {max} characters when percent-encoded"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_http_urls_are_accepted() {
        for (text, expected) in [
            (
                "https://hooks.example/services/T0/B0/x",
                Ok("https://hooks.example/services/T0/B0/x"),
            ),
            ("http://127.0.0.1:8080/a?b=c", Ok("http://127.0.0.1:8080/a?b=c")),
            ("HTTPS://Example.COM:443", Ok("https://example.com/")),
            ("https://bücher.example/ü", Ok("https://xn--bcher-kva.example/%C3%BC")),
            ("", Err("must be a URL that begins with https:// or http://")),
            ("hooks.example/a", Err("must be a URL that begins with https:// or http://")),
            ("/a", Err("must be a URL that begins with https:// or http://")),
            ("https:hooks.example", Err("must be a URL that begins with https:// or http://")),
            ("ftp://hooks.example/", Err("must be a URL that begins with https:// or http://")),
            ("javascript://x.example/", Err("must be a URL that begins with https:// or http://")),
            ("https://", Err("must be a valid URL: empty host")),
            ("https://a.example:99999/", Err("must be a valid URL: invalid port number")),
            ("https://a.example:0/", Err("must not have port 0")),
            ("https://u@a.example/", Err("must not contain a user name or a password")),
            ("https://u:p@a.example/", Err("must not contain a user name or a password")),
            ("https://:p@a.example/", Err("must not contain a user name or a password")),
            ("https://a.example/#", Err("must not have a fragment (#)")),
            ("https://a.example/#b", Err("must not have a fragment (#)")),
            ("https://a.example/\r\nHost: b", Err("must not contain spaces or control characters")),
            ("https://a.exa\tmple/", Err("must not contain spaces or control characters")),
            (" https://a.example/", Err("must not contain spaces or control characters")),
            (
                "https://a.example/…abcd",
                Err("must be sent whole, or exactly as it is returned with …"),
            ),
        ] {
            let read = WebhookUrl::parse(text).map(|url| url.reveal().to_owned());
            assert_eq!(
                read.as_deref(),
                expected.map_err(str::to_owned).as_ref().copied(),
                "{text}"
            );
        }
    }

    #[test]
    fn urls_have_a_maximum_length_before_and_after_percent_encoding() {
        let url = |fill: &str, count: usize| format!("https://a.example/{}", fill.repeat(count));
        for (text, fits) in [
            (url("a", 2_030), true),
            (url("a", 2_031), false),
            (url("é", 338), true),
            (url("é", 339), false),
        ] {
            assert_eq!(WebhookUrl::parse(&text).is_ok(), fits, "{}", text.len());
        }
    }

    #[test]
    fn secrets_of_urls_are_not_shown() {
        for (text, path, query) in [
            (
                "https://hooks.example/services/T0000/B0000/yyyyabcd",
                "https://hooks.example/…abcd",
                "https://hooks.example/services/T0000/B0000/yyyyabcd",
            ),
            ("http://[::1]:8080/short", "http://[::1]:8080/…", "http://[::1]:8080/short"),
            ("https://a.example", "https://a.example/…", "https://a.example/"),
            (
                "https://a.example/p?token=0123456789abcdef&b=short&c=&flag",
                "https://a.example/…flag",
                "https://a.example/p?token=…cdef&b=…&c=…&…",
            ),
            ("https://a.example/?", "https://a.example/…", "https://a.example/?"),
            ("https://a.example/?a=b=c", "https://a.example/…", "https://a.example/?a=…"),
            (
                "https://a.example/?0123456789abcdef&&x",
                "https://a.example/…f&&x",
                "https://a.example/?…cdef&&…",
            ),
        ] {
            let url = WebhookUrl::parse(text).unwrap();
            assert_eq!(url.redacted_path(), path);
            assert_eq!(url.redacted_query(), query);
            assert_eq!(format!("{url:?}"), path);
        }
    }

    #[test]
    fn routes_are_appended_to_an_address() {
        for (base, expected) in [
            ("https://events.example", "https://events.example/v2/enqueue"),
            ("http://127.0.0.1:99/pager/", "http://127.0.0.1:99/pager/v2/enqueue"),
        ] {
            assert_eq!(BaseUrl::parse(base).unwrap().join("/v2/enqueue"), expected);
        }
        assert_eq!(BaseUrl::parse("https://a.example/?b").unwrap_err(), "must not have a query");
        let url = WebhookUrl::parse("https://hooks.example/services/x?wait=true").unwrap();
        let proxy = BaseUrl::parse("http://127.0.0.1:99/slack").unwrap();
        assert_eq!(url.at(&proxy), "http://127.0.0.1:99/slack/services/x?wait=true");
    }
}
