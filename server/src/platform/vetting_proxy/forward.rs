//! Requests for absolute `http` URLs.
//!
//! Each goes over a connection of its own to the server it names, so that the one that was vetted
//! is the one that gets it.

use std::sync::Arc;

use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use http::{HeaderValue, Request, Response, Uri, Version};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::limits::HEAD_BYTES_MAX;
use super::proxy::{ProxyBody, ProxyError, ProxyInner};

const HTTP_PORT: u16 = 80;
/// Headers about a connection, not about the message (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    UPGRADE,
];

/// Sends a request to the server of its URL and returns the response.
pub(super) async fn forward(
    inner: &Arc<ProxyInner>,
    mut request: Request<Incoming>,
) -> Result<Response<ProxyBody>, ProxyError> {
    let uri = request.uri();
    if uri.scheme_str() != Some("http") {
        return Err(ProxyError::Malformed);
    }
    let authority = uri.authority().ok_or(ProxyError::Malformed)?.clone();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let path: Uri = path.parse().map_err(|_| ProxyError::Malformed)?;
    let host = HeaderValue::from_str(authority.as_str()).map_err(|_| ProxyError::Malformed)?;
    let port = authority.port_u16().unwrap_or(HTTP_PORT);
    let server = inner.dial(authority.host(), port).await?;
    let mut builder = http1::Builder::new();
    builder
        .preserve_header_case(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .max_buf_size(HEAD_BYTES_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(server)).await?;
    // Its errors are those of the response.
    inner.spawn_tunnel(async move { drop(connection.await) });
    *request.uri_mut() = path;
    *request.version_mut() = Version::HTTP_11;
    remove_hop_by_hop(request.headers_mut());
    request.headers_mut().insert(HOST, host);
    request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    let mut response = sender.send_request(request).await?;
    remove_hop_by_hop(response.headers_mut());
    response.headers_mut().remove(TRANSFER_ENCODING);
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(Either::Right))
}

/// Removes the headers about the connection, and those that it names.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}
