//! From what a page or Chromium reports to the error of the capture.

use std::time::Duration;

use url::Url;

use super::state::{DocumentRequest, PageEnd};
use crate::areas::snapshots::capture::error::CaptureError;
use crate::areas::snapshots::capture::protocol::ProtocolError;
use crate::platform::vetting_proxy::{Refusal, VettingProxy};

/// The error of a redirect to a scheme that pages must not redirect to.
const UNSAFE_REDIRECT: &str = "net::ERR_UNSAFE_REDIRECT";
/// The error of a request that was cancelled, for example because it was a download.
const ABORTED: &str = "net::ERR_ABORTED";
/// The error of a response without a body and with a status that is an error.
const EMPTY_ERROR_RESPONSE: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";

impl From<ProtocolError> for CaptureError {
    fn from(error: ProtocolError) -> Self {
        match error {
            ProtocolError::Closed => Self::process_ended(),
            ProtocolError::TooLarge { .. } => Self::image_too_large(),
            ProtocolError::Refused { .. } | ProtocolError::Unexpected { .. } => {
                Self::BrowserCrashed { reason: error.to_string() }
            }
        }
    }
}

impl CaptureError {
    /// Returns the error of a page whose image is too large.
    pub(super) fn image_too_large() -> Self {
        Self::PageTooLarge { reason: "its image has too many pixels or bytes".to_owned() }
    }

    /// Returns the error of a page that exceeded a limit of its proxy.
    pub(super) fn traffic_too_large() -> Self {
        Self::PageTooLarge { reason: "it made too many requests or received too much".to_owned() }
    }

    /// Returns the error of a capture that took too long.
    pub(super) fn timed_out(waited_for: &'static str, limit: Duration) -> Self {
        Self::TimedOut { waited_for, limit }
    }

    /// Returns the error of a page that ended.
    pub(super) fn page_ended(
        end: PageEnd,
        document: &DocumentRequest,
        proxy: &VettingProxy,
    ) -> Self {
        match end {
            PageEnd::ConnectionLost => Self::process_ended(),
            PageEnd::Overrun => Self::traffic_too_large(),
            PageEnd::Crashed => {
                Self::BrowserCrashed { reason: "the process of the page ended".to_owned() }
            }
            PageEnd::Closed => {
                Self::NavigationFailed { reason: "the page closed itself".to_owned() }
            }
            PageEnd::Blocked(url) => Self::BlockedUrl {
                url,
                reason: "only http and https pages are captured".to_owned(),
            },
            PageEnd::NavigationFailed => {
                let error = document.error.as_deref().unwrap_or("an error page is shown");
                Self::navigation_failed(error, document, proxy)
            }
        }
    }

    /// Returns the error of a document that Chromium could not load.
    pub(super) fn navigation_failed(
        error: &str,
        document: &DocumentRequest,
        proxy: &VettingProxy,
    ) -> Self {
        let url = document.url.clone();
        let counts = proxy.counts();
        let is_of_document = |refusal: &&Refusal| is_same_server(&url, refusal);
        if let Some(refusal) = counts.refusals.iter().find(is_of_document) {
            return Self::BlockedUrl { url, reason: refusal.reason.clone() };
        }
        if let Some(failure) = counts.failures.iter().find(is_of_document) {
            return Self::NavigationFailed { reason: failure.reason.clone() };
        }
        match (error, document.status) {
            (UNSAFE_REDIRECT, _) => Self::BlockedUrl {
                url,
                reason: "it redirects to a URL that is not http or https".to_owned(),
            },
            (ABORTED, _) => Self::NavigationFailed {
                reason: format!("{error}: the response is a download or has no content"),
            },
            (EMPTY_ERROR_RESPONSE, Some(status)) => {
                Self::NavigationFailed { reason: format!("{error}: HTTP {status} without content") }
            }
            _ => Self::NavigationFailed { reason: error.to_owned() },
        }
    }
}

fn is_same_server(url: &str, refusal: &Refusal) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host == refusal.host && url.port_or_known_default() == Some(refusal.port)
}
