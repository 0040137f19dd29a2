//! Refusals outside the pipeline, as HTTP/1 bytes: of clients whose headers were too slow, and in
//! place of hyper's own refusals. Anyone can cause them at any rate, so the log lines about them
//! are limited by [`super::refusal_log_limit`].
//!
//! Input that is not valid HTTP never becomes a request. hyper responds to it with headers only
//! (status 400, 414 or 431) and closes the connection. [`super::activity::ObservedSocket`]
//! recognises those bytes on their way to the socket and sends an error body with a request id
//! instead. The service's own responses cannot be mistaken for them, since each has a request id.

use std::time::Duration;

use super::error::{ApiError, ErrorCode};
use super::response::Response;
use super::server::Server;

/// The beginnings of hyper's own responses.
const BARE_HEADS: [&[u8]; 6] = [
    b"HTTP/1.1 400 ",
    b"HTTP/1.1 414 ",
    b"HTTP/1.1 431 ",
    b"HTTP/1.0 400 ",
    b"HTTP/1.0 414 ",
    b"HTTP/1.0 431 ",
];
/// More bytes than hyper's own responses have: a status line, a date and an empty content length.
const BARE_HEAD_BYTES_MAX: usize = 256;

/// The reason for which hyper refuses input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// It is not HTTP/1.
    Request,
    /// The request line is too long.
    Target,
    /// The headers are too long or too many.
    Headers,
}

impl Malformed {
    /// Returns the reason of a refusal if these bytes are one of hyper's own.
    pub(super) fn refused_by(bytes: &[u8]) -> Option<Self> {
        let head = BARE_HEADS.iter().find(|head| bytes.starts_with(head))?;
        let is_bare = bytes.len() <= BARE_HEAD_BYTES_MAX
            && bytes.ends_with(b"\r\n\r\n")
            && contains(bytes, b"\r\ncontent-length: 0\r\n")
            && !contains(bytes, b"\r\nx-request-id: ");
        let malformed = match head.get(9..12) {
            Some(b"414") => Self::Target,
            Some(b"431") => Self::Headers,
            _ => Self::Request,
        };
        is_bare.then_some(malformed)
    }

    fn error(self, server: &Server) -> ApiError {
        let max = server.settings.http.header_bytes.bytes_usize();
        match self {
            Self::Request => ApiError::new(
                ErrorCode::InvalidParameter,
                "the request is not valid HTTP/1.1: check its request line (no spaces in the path), its headers and its \
                 Content-Length",
            ),
            Self::Target => ApiError::parameter("path", "and query string are too long"),
            Self::Headers => {
                let headers = server.settings.http.headers;
                let message =
                    format!("a request may have at most {headers} headers of {max} bytes in all");
                ApiError::new(ErrorCode::InvalidParameter, message).field("headers")
            }
        }
    }
}

/// Returns the refusal of input that hyper cannot parse, and counts and logs it.
pub(super) fn refusal(server: &Server, malformed: Malformed) -> Vec<u8> {
    final_response(server, &malformed.error(server))
}

/// Returns the response to a client whose headers were too slow, and counts and logs it.
pub(super) fn too_slow(server: &Server) -> Vec<u8> {
    let error = ApiError::new(ErrorCode::RequestTimeout, "the headers did not arrive in time");
    final_response(server, &error)
}

/// Returns an error as the last response of a connection, with a new request id.
fn final_response(server: &Server, error: &ApiError) -> Vec<u8> {
    let response = Response::from(error);
    let (status, request_id) = (response.status, server.ids.next(""));
    server.telemetry.answered(None, status, Duration::ZERO, 0);
    let now = server.ticks.elapsed();
    server.refusal_log_limit.report_suppressed(now);
    if server.refusal_log_limit.admits(now) {
        let code = error.code().as_str();
        tracing::info!(status = status.as_u16(), request_id, code, "request");
    }
    let reason = status.canonical_reason().unwrap_or_default();
    let length = response.body().len();
    let mut bytes = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         x-request-id: {request_id}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        status.as_u16()
    )
    .into_bytes();
    bytes.extend_from_slice(response.body());
    bytes
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hypers_own_refusals_are_recognised() {
        let date = "date: Fri, 02 Jan 2026 03:04:05 GMT";
        let bare = format!("connection: close\r\ncontent-length: 0\r\n{date}\r\n\r\n");
        for (status, expected) in [
            ("1.1 400 Bad Request", Some(Malformed::Request)),
            ("1.0 400 Bad Request", Some(Malformed::Request)),
            ("1.1 414 URI Too Long", Some(Malformed::Target)),
            ("1.1 431 Request Header Fields Too Large", Some(Malformed::Headers)),
            ("1.1 404 Not Found", None),
            ("1.1 200 OK", None),
        ] {
            let head = format!("HTTP/{status}\r\n{bare}");
            assert_eq!(Malformed::refused_by(head.as_bytes()), expected, "{head}");
            let ours = format!("HTTP/{status}\r\nx-request-id: 7\r\n{bare}");
            assert_eq!(Malformed::refused_by(ours.as_bytes()), None, "{ours}");
            let with_more = format!("HTTP/{status}\r\n{bare}HTTP/1.1 200 OK");
            assert_eq!(Malformed::refused_by(with_more.as_bytes()), None, "{with_more}");
        }
        assert_eq!(Malformed::refused_by(b""), None);
    }
}
