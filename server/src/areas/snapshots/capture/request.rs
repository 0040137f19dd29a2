//! What is to be captured.

use std::time::Duration;

use url::Url;

use super::limits::{CAPTURE_TIMEOUT, PAGE_HEADER_BYTES_MAX, PAGE_HEADERS_MAX, PAGE_URL_CHARS_MAX};
use super::selectors::{Selectors, check_selector};
use super::sizes::Viewport;
use super::user_header::PageHeader;

/// The prefix of [`WaitFor::Selector`] in the API.
const SELECTOR_PREFIX: &str = "selector:";

/// A page, and how it is to be captured.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    url: Url,
    viewport: Viewport,
    area: PageArea,
    wait_for: WaitFor,
    hidden: Selectors,
    masked: Selectors,
    headers: Vec<PageHeader>,
    cookies: Vec<PageCookie>,
    limit: Duration,
}

/// How much of a page is in the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageArea {
    /// The upper part, as much as the viewport shows.
    #[default]
    Viewport,
    /// All of it, up to a limit.
    FullPage,
}

/// When a page is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Its `load` event was fired.
    Load,
    /// Its `DOMContentLoaded` event was fired.
    DomContentLoaded,
    /// It was loaded, and no request was made for a while.
    NetworkIdle,
    /// An element that matches the selector is present.
    Selector(String),
}

/// A cookie for the host of the page. Its value may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct PageCookie {
    name: String,
    value: String,
}

/// Why a request for a capture is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureRequestError {
    /// The URL is none that a page has.
    #[error("the URL must be an absolute http or https URL without credentials, and not too long")]
    Url,
    /// The viewport is too small or too large.
    #[error("the viewport must be 320 to 3840 pixels wide and 240 to 2160 pixels high")]
    Viewport,
    /// The device scale factor is too small or too large.
    #[error("the device scale factor must be between 1 and 4")]
    DeviceScaleFactor,
    /// The condition is unknown.
    #[error(
        "wait_for must be load, dom_content_loaded, network_idle or selector: and a CSS selector"
    )]
    WaitFor,
    /// There are too many selectors.
    #[error("there are too many selectors")]
    TooManySelectors,
    /// A selector is empty or too long.
    #[error("a selector must not be empty and not be longer than 1000 characters")]
    SelectorLength,
    /// There are too many headers or cookies.
    #[error("there are too many headers or cookies")]
    TooManyHeaders,
    /// A header must not be set.
    #[error("the header {name:?} cannot be sent")]
    Header {
        /// Its name.
        name: String,
    },
    /// A cookie has a name or value that cannot be sent.
    #[error("the cookie {name:?} cannot be sent")]
    Cookie {
        /// Its name.
        name: String,
    },
}

impl CaptureRequest {
    /// Returns a request for the page of a URL, as it is when its network is idle.
    pub fn new(url: &str, viewport: Viewport) -> Result<Self, CaptureRequestError> {
        let is_long = url.chars().count() > PAGE_URL_CHARS_MAX;
        let url = Url::parse(url.trim()).map_err(|_| CaptureRequestError::Url)?;
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if is_long || has_credentials || !is_page_scheme(url.scheme()) || !url.has_host() {
            return Err(CaptureRequestError::Url);
        }
        Ok(Self {
            url,
            viewport,
            area: PageArea::default(),
            wait_for: WaitFor::NetworkIdle,
            hidden: Selectors::default(),
            masked: Selectors::default(),
            headers: Vec::new(),
            cookies: Vec::new(),
            limit: CAPTURE_TIMEOUT,
        })
    }

    /// Sets how much of the page is in the image.
    #[must_use]
    pub fn area(mut self, area: PageArea) -> Self {
        self.area = area;
        self
    }

    /// Sets when the page is captured.
    #[must_use]
    pub fn wait_for(mut self, wait_for: WaitFor) -> Self {
        self.wait_for = wait_for;
        self
    }

    /// Sets which elements are invisible; they keep their place.
    #[must_use]
    pub fn hide(mut self, selectors: Selectors) -> Self {
        self.hidden = selectors;
        self
    }

    /// Sets which elements are painted over.
    #[must_use]
    pub fn mask(mut self, selectors: Selectors) -> Self {
        self.masked = selectors;
        self
    }

    /// Sets further headers of requests to the origin of the page.
    pub fn headers(mut self, headers: Vec<PageHeader>) -> Result<Self, CaptureRequestError> {
        if headers.len() > PAGE_HEADERS_MAX {
            return Err(CaptureRequestError::TooManyHeaders);
        }
        self.headers = headers;
        Ok(self)
    }

    /// Sets cookies for the host of the page.
    pub fn cookies(mut self, cookies: Vec<PageCookie>) -> Result<Self, CaptureRequestError> {
        if cookies.len() > PAGE_HEADERS_MAX {
            return Err(CaptureRequestError::TooManyHeaders);
        }
        self.cookies = cookies;
        Ok(self)
    }

    /// Sets how long the capture takes, at most; never longer than the limit of all captures.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit.min(CAPTURE_TIMEOUT);
        self
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn viewport(&self) -> Viewport {
        self.viewport
    }

    pub(super) fn page_area(&self) -> PageArea {
        self.area
    }

    pub(super) fn condition(&self) -> &WaitFor {
        &self.wait_for
    }

    pub(super) fn hidden(&self) -> &[String] {
        self.hidden.as_slice()
    }

    pub(super) fn masked(&self) -> &[String] {
        self.masked.as_slice()
    }

    pub(super) fn page_headers(&self) -> &[PageHeader] {
        &self.headers
    }

    pub(super) fn page_cookies(&self) -> &[PageCookie] {
        &self.cookies
    }

    pub(super) fn time_limit(&self) -> Duration {
        self.limit
    }
}

impl WaitFor {
    /// Parses the value in the API.
    pub fn parse(text: &str) -> Result<Self, CaptureRequestError> {
        match text {
            "load" => Ok(Self::Load),
            "dom_content_loaded" => Ok(Self::DomContentLoaded),
            "network_idle" => Ok(Self::NetworkIdle),
            _ => {
                let selector = text.strip_prefix(SELECTOR_PREFIX);
                let selector = selector.ok_or(CaptureRequestError::WaitFor)?;
                check_selector(selector)?;
                Ok(Self::Selector(selector.to_owned()))
            }
        }
    }
}

impl PageCookie {
    /// Returns a cookie, and refuses what cannot be sent in a header (RFC 6265, section 4.1.1).
    pub fn new(name: &str, value: &str) -> Result<Self, CaptureRequestError> {
        let is_name = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte);
        let is_value = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
        let is_valid = !name.is_empty()
            && name.bytes().all(is_name)
            && value.bytes().all(is_value)
            && name.len() + value.len() <= PAGE_HEADER_BYTES_MAX;
        if !is_valid {
            return Err(CaptureRequestError::Cookie { name: name.to_owned() });
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn value(&self) -> &str {
        &self.value
    }
}

impl std::fmt::Debug for PageCookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageCookie").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns whether pages of a scheme, in lower case, are captured.
pub(super) fn is_page_scheme(scheme: &str) -> bool {
    ["http", "https"].contains(&scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_web_are_captured() {
        let viewport = Viewport::new(800, 600).unwrap();
        for url in ["http://a.example", " https://a.example:8443/b?c#d ", "http://[::1]/"] {
            assert!(CaptureRequest::new(url, viewport).is_ok(), "{url}");
        }
        let long = format!("http://a.example/{}", "a".repeat(PAGE_URL_CHARS_MAX));
        for url in [
            "file:///etc/passwd",
            "chrome://version",
            "view-source:http://a.example",
            "data:text/html,hi",
            "javascript:alert(1)",
            "about:blank",
            "ftp://a.example/",
            "http://user:secret@a.example/",
            "a.example",
            "",
            &long,
        ] {
            let refused = CaptureRequest::new(url, viewport).unwrap_err();
            assert_eq!(refused, CaptureRequestError::Url, "{url}");
        }
    }

    #[test]
    fn conditions_have_names() {
        assert_eq!(WaitFor::parse("load"), Ok(WaitFor::Load));
        assert_eq!(WaitFor::parse("selector:#a b"), Ok(WaitFor::Selector("#a b".to_owned())));
        assert_eq!(WaitFor::parse("selector: "), Err(CaptureRequestError::SelectorLength));
        assert_eq!(WaitFor::parse("networkidle"), Err(CaptureRequestError::WaitFor));
    }

    #[test]
    fn cookies_are_checked_and_not_shown() {
        let cookie = PageCookie::new("session", "s3cret=").unwrap();
        assert!(!format!("{cookie:?}").contains("s3cret"));
        for (name, value) in [("", "a"), ("a=b", "c"), ("a", "b;c"), ("a", "b\r\nc"), ("a b", "c")]
        {
            assert!(PageCookie::new(name, value).is_err(), "{name} {value:?}");
        }
    }
}
