//! Headers that a request adds to those of the browser.

use http::{HeaderName, HeaderValue};

use super::limits::PAGE_HEADER_BYTES_MAX;
use super::request::CaptureRequestError;

/// Headers that belong to the connection or that the browser alone sets.
const RESERVED: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// A header for requests to the origin of the page. Its value may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct PageHeader {
    name: HeaderName,
    value: HeaderValue,
}

impl PageHeader {
    /// Returns a header, and refuses what is no header or reserved for the browser.
    pub fn new(name: &str, value: &str) -> Result<Self, CaptureRequestError> {
        let refused = || CaptureRequestError::Header { name: name.to_owned() };
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let has_reserved_prefix =
            ["proxy-", "sec-"].iter().any(|prefix| parsed.as_str().starts_with(prefix));
        let is_long = name.len() + value.len() > PAGE_HEADER_BYTES_MAX;
        if has_reserved_prefix || is_long || RESERVED.contains(&parsed.as_str()) {
            return Err(refused());
        }
        // The protocol of the browser carries text, so other bytes are refused.
        let is_text = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        let value = HeaderValue::from_str(value).ok().filter(|_| is_text).ok_or_else(refused)?;
        Ok(Self { name: parsed, value })
    }

    /// Returns the name in lower case.
    pub(super) fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the value.
    pub(super) fn value(&self) -> &str {
        self.value.to_str().unwrap_or_default()
    }
}

impl std::fmt::Debug for PageHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageHeader").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_and_of_the_browser_are_refused() {
        assert!(PageHeader::new("Authorization", "Bearer abc").is_ok());
        assert!(PageHeader::new("X-Preview", "").is_ok());
        for name in ["Host", "Cookie", "Proxy-Authorization", "Sec-Fetch-Site", "a b", "", "é"] {
            assert!(PageHeader::new(name, "x").is_err(), "{name}");
        }
        for value in ["a\r\nb: c", "a\nb", "\0", "ü"] {
            assert!(PageHeader::new("x-a", value).is_err(), "{value:?}");
        }
        let secret = PageHeader::new("x-key", "s3cret").unwrap();
        assert!(!format!("{secret:?}").contains("s3cret"));
    }
}
