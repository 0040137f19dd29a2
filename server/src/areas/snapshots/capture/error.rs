//! Why a page was not captured.

use std::time::Duration;

/// Why a page was not captured, in words that are safe to show to the user who chose the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The page, or the one that it redirects to, must not be fetched.
    #[error("{url} must not be fetched: {reason}")]
    BlockedUrl {
        /// The URL or the address.
        url: String,
        /// Why it is refused.
        reason: String,
    },
    /// The page could not be loaded.
    #[error("the page could not be loaded: {reason}")]
    NavigationFailed {
        /// The reason that Chromium or the proxy gives.
        reason: String,
    },
    /// The capture took longer than its limit.
    #[error("{waited_for} took longer than {} s", .limit.as_secs_f64())]
    TimedOut {
        /// What was not reached.
        waited_for: &'static str,
        /// The limit of the capture.
        limit: Duration,
    },
    /// The page or its image is larger than the limit.
    #[error("the page is too large: {reason}")]
    PageTooLarge {
        /// Which limit it exceeds.
        reason: String,
    },
    /// The browser or the process of the page ended.
    #[error("the browser crashed: {reason}")]
    BrowserCrashed {
        /// What ended.
        reason: String,
    },
    /// A selector is no valid CSS.
    #[error("the selector {selector:?} is not valid")]
    InvalidSelector {
        /// The selector.
        selector: String,
    },
    /// There is no browser, or it does not start.
    #[error("{reason}")]
    Unavailable {
        /// What is missing, and how to get it.
        reason: String,
    },
}

impl CaptureError {
    /// Returns the code in the API.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BlockedUrl { .. } => "blocked_url",
            Self::NavigationFailed { .. } => "navigation_failed",
            Self::TimedOut { .. } => "timeout",
            Self::PageTooLarge { .. } => "page_too_large",
            Self::BrowserCrashed { .. } => "browser_crashed",
            Self::InvalidSelector { .. } => "invalid_selector",
            Self::Unavailable { .. } => "unavailable",
        }
    }

    /// Returns whether the browser process ended, with all of its captures, and not only that of
    /// one page.
    pub fn is_end_of_browser(&self) -> bool {
        *self == Self::process_ended()
    }

    /// Returns the error of a browser process that ended.
    pub(super) fn process_ended() -> Self {
        Self::BrowserCrashed { reason: "its process ended".to_owned() }
    }

    /// Returns the error of a browser that cannot be used.
    pub(super) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }
}
