//! What is sent, and what comes back.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use telltale_engine::TimestampMs;

use super::target::OutboundUrl;

/// The statuses of redirects that ask to repeat the request as it was.
const REPEATED: [StatusCode; 2] = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
/// The statuses of the others.
const REDIRECTED: [StatusCode; 3] =
    [StatusCode::MOVED_PERMANENTLY, StatusCode::FOUND, StatusCode::SEE_OTHER];

/// A request to an address that a user chose.
#[derive(Clone, Debug)]
pub struct OutboundRequest {
    /// The method.
    pub method: Method,
    /// The URL.
    pub url: OutboundUrl,
    /// Headers besides `Host`, `Content-Length` and `User-Agent`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// What happens with redirects.
    pub redirects: Redirects,
    /// Which of the client's requests it takes.
    pub lane: Lane,
    /// What is done with the response's body.
    pub body_use: BodyUse,
    /// Limit of the time from the name server to the end of the response, redirects included. The
    /// wait for other requests does not count.
    pub timeout: Duration,
}

/// What is done with the body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// It is not read: the response ends with its head.
    Nothing,
    /// So many bytes are kept at most; the rest is not read.
    Keep(usize),
    /// A text is searched for in so many bytes at most; the rest is not read, and nothing is kept.
    Search {
        /// The text.
        text: Bytes,
        /// The limit.
        bytes_max: usize,
    },
}

/// The group that a request counts in. Each lane has a maximum of requests at once, in all and for
/// each host, so that hosts which hang keep only each other waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// For hosts that are not known to be slow.
    Usual,
    /// For hosts of which nothing is known, or that are slow for the first time.
    Trial,
    /// For hosts that hang or are slow.
    Slow,
}

/// What happens when a response is a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// It is the response.
    Return,
    /// It is followed, at most so many times; each URL is checked like the first. Another origin
    /// gets no headers of the request but `Accept`, and no body.
    Follow(usize),
}

/// A response.
#[derive(Clone, Debug)]
pub struct OutboundResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// What was kept of the body.
    pub body: Bytes,
    /// Whether the text that was searched for is in the part of the body that was read.
    pub is_found: bool,
    /// Whether the body is longer than what may be read.
    pub is_truncated: bool,
    /// The URL that was fetched last.
    pub url: OutboundUrl,
    /// The first time at which a certificate ends that a server has shown; `None` without TLS.
    pub certificate_ends_at: Option<TimestampMs>,
    /// How much of the timeout of the request has passed.
    pub took: Duration,
}

impl OutboundRequest {
    /// Returns how many redirects are followed, if a response with this status is one of them.
    pub(super) fn redirects_max(&self, status: StatusCode) -> Option<usize> {
        let is_redirect = REPEATED.contains(&status) || REDIRECTED.contains(&status);
        match self.redirects {
            Redirects::Follow(max) if is_redirect => Some(max),
            _ => None,
        }
    }
}

impl OutboundResponse {
    /// Returns whether it is a redirect that asks to repeat the request as it was (RFC 9110,
    /// section 15.4).
    pub(super) fn is_repetition(&self) -> bool {
        REPEATED.contains(&self.status)
    }
}
