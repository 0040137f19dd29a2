//! The client: resolve, check, dial what was checked, send, read within bounds, follow redirects.
//!
//! Nothing is taken from the environment (no proxy), connections are used once, and nobody waits
//! for a response longer than the request allows.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use telltale_engine::TimestampMs;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::error::OutboundError;
use super::host_slots::HostSlots;
use super::policy::OutboundPolicy;
use super::request::{Lane, OutboundRequest, OutboundResponse, Redirects};
use super::resolve::Resolver;
use super::target::OutboundOrigin;
use crate::platform::tls::{self, FurtherAuthorities, TlsConnector};

/// Maximum number of requests at once, and of those to one host: many services of different users
/// may share a host, and some of them hang.
const REQUESTS_AT_ONCE: usize = 256;
const REQUESTS_PER_HOST: usize = 64;
/// The same, of requests to hosts that failed or were slow.
const SLOW_REQUESTS_AT_ONCE: usize = 64;
pub(super) const SLOW_REQUESTS_PER_HOST: usize = 16;
/// Timeout of connecting to one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of the headers of a response.
const RESPONSE_HEAD_BYTES_MAX: usize = 64 << 10;
/// The name by which receivers know the server.
const AGENT: &str = concat!("telltale/", env!("CARGO_PKG_VERSION"));

/// Sends requests to addresses that users chose.
pub struct OutboundClient {
    policy: OutboundPolicy,
    resolver: Resolver,
    tls: TlsConnector,
    slots: HostSlots,
    slow_slots: HostSlots,
}

impl std::fmt::Debug for OutboundClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutboundClient").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl OutboundClient {
    /// Returns a client. Reads the certificate authorities of the system; fails if TLS cannot be
    /// set up.
    pub fn new(policy: OutboundPolicy) -> io::Result<Self> {
        Ok(Self {
            policy,
            resolver: Resolver::System,
            tls: tls::connector(FurtherAuthorities::default(), &["http/1.1"])?,
            slots: HostSlots::new(REQUESTS_AT_ONCE, REQUESTS_PER_HOST),
            slow_slots: HostSlots::new(SLOW_REQUESTS_AT_ONCE, SLOW_REQUESTS_PER_HOST),
        })
    }

    /// Returns which addresses the client may reach.
    pub fn policy(&self) -> &OutboundPolicy {
        &self.policy
    }

    /// Sends a request and reads the response.
    pub async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, OutboundError> {
        let limit = request.timeout;
        timeout(limit, self.run(request)).await.unwrap_or(Err(OutboundError::TimedOut(limit)))
    }

    /// Connects to a port of a host and closes the connection. Returns once the host has accepted
    /// it.
    pub async fn connect(
        &self,
        host: &str,
        port: u16,
        limit: Duration,
    ) -> Result<(), OutboundError> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let origin = OutboundOrigin { is_tls: false, host, port };
        let run = async {
            let _slot = self.slots.enter(&origin).await;
            let addresses = self.resolver.resolve(&origin, &self.policy).await?;
            connect(&addresses).await.map(drop)
        };
        timeout(limit, run).await.unwrap_or(Err(OutboundError::TimedOut(limit)))
    }

    async fn run(&self, mut request: OutboundRequest) -> Result<OutboundResponse, OutboundError> {
        let mut followed = 0;
        let mut certificate_ends_at = None;
        loop {
            let origin = request.url.origin();
            let slots = match request.lane {
                Lane::Usual => &self.slots,
                Lane::Slow => &self.slow_slots,
            };
            let _slot = slots.enter(&origin).await;
            let mut pending = self.exchange(&request, &origin).await?;
            // That which ends first, if there are several.
            let ends = [certificate_ends_at, pending.certificate_ends_at];
            certificate_ends_at = ends.into_iter().flatten().min();
            pending.certificate_ends_at = certificate_ends_at;
            let Redirects::Follow(max) = request.redirects else {
                return read(pending, request).await;
            };
            if !is_redirect(pending.response.status()) {
                return read(pending, request).await;
            }
            if followed == max {
                return Err(OutboundError::TooManyRedirects(max));
            }
            followed += 1;
            request = self.redirected(request, &pending.response, &origin)?;
        }
    }

    /// Sends one request over a connection of its own and returns the head of the response.
    async fn exchange(
        &self,
        request: &OutboundRequest,
        origin: &OutboundOrigin,
    ) -> Result<PendingResponse, OutboundError> {
        let addresses = self.resolver.resolve(origin, &self.policy).await?;
        let stream = connect(&addresses).await?;
        if !origin.is_tls {
            return exchange_over(stream, request, None).await;
        }
        let failed = |source| OutboundError::tls(&origin.host, source);
        let stream = tls::handshake(&self.tls, &origin.host, stream).await.map_err(failed)?;
        let ends_at = tls::certificate_ends_at(&stream);
        exchange_over(stream, request, ends_at).await
    }

    /// Returns the request that a redirect asks for (RFC 9110, section 15.4).
    fn redirected(
        &self,
        mut request: OutboundRequest,
        response: &Response<Incoming>,
        from: &OutboundOrigin,
    ) -> Result<OutboundRequest, OutboundError> {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.ok_or(OutboundError::NoLocation)?;
        request.url = request.url.join(location, &self.policy).map_err(OutboundError::Redirect)?;
        let keeps_body = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT]
            .contains(&response.status());
        if !keeps_body && request.method != Method::HEAD {
            request.method = Method::GET;
            request.body = Bytes::new();
            request.headers.remove(CONTENT_TYPE);
        }
        if request.url.origin() != *from {
            let accept = request.headers.remove(ACCEPT);
            let kind = request.headers.remove(CONTENT_TYPE).filter(|_| keeps_body);
            request.headers = HeaderMap::new();
            for (name, value) in [(ACCEPT, accept), (CONTENT_TYPE, kind)] {
                if let Some(value) = value {
                    request.headers.insert(name, value);
                }
            }
        }
        Ok(request)
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Connects to the first address that accepts.
async fn connect(addresses: &[SocketAddr]) -> Result<TcpStream, OutboundError> {
    let mut last = None;
    for address in addresses {
        let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the connection timed out");
        match connected.unwrap_or_else(|_| Err(late())) {
            Ok(stream) => return Ok(stream),
            Err(source) => last = Some(OutboundError::Connect { address: *address, source }),
        }
    }
    match last {
        Some(error) => Err(error),
        None => panic!("a resolved host has an address"),
    }
}

async fn exchange_over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: &OutboundRequest,
    certificate_ends_at: Option<TimestampMs>,
) -> Result<PendingResponse, OutboundError> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(RESPONSE_HEAD_BYTES_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    // Its errors are those of the response.
    let connection = tokio::spawn(async move { drop(connection.await) });
    let connection = OpenConnection(connection.abort_handle());
    let response = sender.send_request(request_of(request)).await?;
    Ok(PendingResponse { response, certificate_ends_at, _connection: connection })
}

/// A response whose body was not read yet, with its connection.
struct PendingResponse {
    response: Response<Incoming>,
    certificate_ends_at: Option<TimestampMs>,
    _connection: OpenConnection,
}

/// Closes the connection when dropped.
struct OpenConnection(AbortHandle);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn request_of(request: &OutboundRequest) -> Request<Full<Bytes>> {
    let mut sent = Request::new(Full::new(request.body.clone()));
    *sent.method_mut() = request.method.clone();
    match request.url.path_and_query().parse() {
        Ok(uri) => *sent.uri_mut() = uri,
        Err(error) => panic!("a parsed URL has a valid path and query: {error}"),
    }
    *sent.headers_mut() = request.headers.clone();
    let host = match HeaderValue::from_str(request.url.authority()) {
        Ok(host) => host,
        Err(error) => panic!("a parsed URL has a valid host: {error}"),
    };
    sent.headers_mut().insert(HOST, host);
    sent.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    sent.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    sent
}

/// Reads the body of a response up to the limit of the request.
async fn read(
    pending: PendingResponse,
    request: OutboundRequest,
) -> Result<OutboundResponse, OutboundError> {
    let PendingResponse { response, certificate_ends_at, _connection } = pending;
    let (head, mut body) = response.into_parts();
    let mut kept = Vec::new();
    let mut is_truncated = false;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let left = request.response_bytes_max - kept.len();
        is_truncated = data.len() > left;
        kept.extend_from_slice(&data[..data.len().min(left)]);
        if is_truncated {
            break;
        }
    }
    let (status, headers, url) = (head.status, head.headers, request.url);
    let body = kept.into();
    Ok(OutboundResponse { status, headers, body, is_truncated, url, certificate_ends_at })
}

#[cfg(test)]
impl OutboundClient {
    /// Returns a client with another source of addresses.
    pub(super) fn resolving(mut self, resolver: Resolver) -> Self {
        self.resolver = resolver;
        self
    }
}
