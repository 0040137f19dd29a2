//! The client: dial, send, read within bounds, follow redirects.
//!
//! Nothing is taken from the environment (no proxy), connections are used once, and nobody waits
//! for a response longer than the request allows. Who waits for other requests has not begun: that
//! time says nothing about the host, and has a limit of its own.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, LOCATION, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use telltale_engine::{Clock, TimestampMs};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::body::BodyReader;
use super::dialler::OutboundDialler;
use super::error::OutboundError;
use super::host_slots::{HostSlot, HostSlots};
use super::policy::OutboundPolicy;
use super::request::{BodyUse, Lane, OutboundRequest, OutboundResponse};
use super::target::{OutboundHost, OutboundOrigin, OutboundUrl};
use crate::platform::tls::{self, FurtherAuthorities, TlsConnector};

/// Maximum number of requests at once, and of those to one host: many services of different users
/// may share a host, and some of them hang.
const REQUESTS_AT_ONCE: usize = 256;
pub(crate) const REQUESTS_PER_HOST: usize = 64;
/// The same, of requests to hosts of which nothing is known, or that are slow for the first time.
const TRIAL_REQUESTS_AT_ONCE: usize = 64;
const TRIAL_REQUESTS_PER_HOST: usize = 16;
/// The same, of requests to hosts that hang or are slow: they wait most of the time.
const SLOW_REQUESTS_AT_ONCE: usize = 192;
pub(super) const SLOW_REQUESTS_PER_HOST: usize = 32;
/// How long a request waits for others before it is given up, and all its redirects together.
const SLOT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of the headers of a response.
const RESPONSE_HEAD_BYTES_MAX: usize = 64 << 10;
/// Maximum number of headers of a response.
const RESPONSE_HEADERS_MAX: usize = 1_000;
/// Maximum number of responses before the final one (RFC 9110, section 15.2): there is no other end
/// to them.
const INTERIM_RESPONSES_MAX: usize = 16;
/// The name by which receivers know the server.
const AGENT: &str = concat!("telltale/", env!("CARGO_PKG_VERSION"));

/// Sends requests to addresses that users chose.
pub struct OutboundClient {
    dialler: OutboundDialler,
    tls: TlsConnector,
    slots: HostSlots,
    trial_slots: HostSlots,
    slow_slots: HostSlots,
    clock: Clock,
}

/// The right to one of the client's requests to a server, given back when it is dropped.
#[derive(Debug)]
pub struct OutboundSlot<'a> {
    origin: OutboundOrigin,
    _slot: HostSlot<'a>,
}

impl std::fmt::Debug for OutboundClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutboundClient").field("policy", self.policy()).finish_non_exhaustive()
    }
}

impl OutboundClient {
    /// Returns a client. Reads the certificate authorities of the system; fails if TLS cannot be
    /// set up.
    pub fn new(policy: OutboundPolicy) -> io::Result<Self> {
        Ok(Self {
            dialler: OutboundDialler::new(policy),
            tls: tls::connector(FurtherAuthorities::default(), &["http/1.1"])?,
            slots: HostSlots::new(REQUESTS_AT_ONCE, REQUESTS_PER_HOST),
            trial_slots: HostSlots::new(TRIAL_REQUESTS_AT_ONCE, TRIAL_REQUESTS_PER_HOST),
            slow_slots: HostSlots::new(SLOW_REQUESTS_AT_ONCE, SLOW_REQUESTS_PER_HOST),
            clock: Clock::system(),
        })
    }

    /// Returns which addresses the client may reach.
    pub fn policy(&self) -> &OutboundPolicy {
        self.dialler.policy()
    }

    /// Waits until another request may be sent to a server. `None` if that takes too long.
    pub async fn enter(&self, url: &OutboundUrl, lane: Lane) -> Option<OutboundSlot<'_>> {
        self.slot(url.origin(), lane, SLOT_TIMEOUT).await
    }

    /// Waits until another connection to a host may be opened. `None` if that takes too long.
    pub async fn enter_host(
        &self,
        host: &OutboundHost,
        port: u16,
        lane: Lane,
    ) -> Option<OutboundSlot<'_>> {
        self.slot(host.origin(port), lane, SLOT_TIMEOUT).await
    }

    async fn slot(
        &self,
        origin: OutboundOrigin,
        lane: Lane,
        limit: Duration,
    ) -> Option<OutboundSlot<'_>> {
        let slots = match lane {
            Lane::Usual => &self.slots,
            Lane::Trial => &self.trial_slots,
            Lane::Slow => &self.slow_slots,
        };
        let slot = timeout(limit, slots.enter(&origin)).await.ok()?;
        Some(OutboundSlot { origin, _slot: slot })
    }

    /// Sends a request and reads the response, once other requests allow it.
    pub async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, OutboundError> {
        match self.enter(&request.url, request.lane).await {
            Some(slot) => self.send_in(slot, request).await,
            None => Err(OutboundError::busy(&request.url)),
        }
    }

    /// Sends a request and reads the response, now. The slot is that of its URL.
    pub async fn send_in(
        &self,
        mut slot: OutboundSlot<'_>,
        mut request: OutboundRequest,
    ) -> Result<OutboundResponse, OutboundError> {
        let limit = request.timeout;
        let (mut took, mut waited) = (Duration::ZERO, Duration::ZERO);
        let mut followed = 0;
        let mut certificate_ends_at = None;
        loop {
            let began = self.clock.steady();
            let exchanging = self.exchange(&request, &slot.origin);
            let exchanged = timeout(limit.saturating_sub(took), exchanging).await;
            let response = exchanged.unwrap_or(Err(OutboundError::TimedOut(limit)))?;
            took += self.passed_since(began);
            // That which ends first, if there are several.
            let ends = [certificate_ends_at, response.certificate_ends_at];
            certificate_ends_at = ends.into_iter().flatten().min();
            let Some(max) = request.redirects_max(response.status) else {
                return Ok(OutboundResponse { certificate_ends_at, took, ..response });
            };
            if followed == max {
                return Err(OutboundError::TooManyRedirects(max));
            }
            followed += 1;
            request = self.redirected(request, &response, &slot.origin)?;
            let origin = request.url.origin();
            if origin != slot.origin {
                drop(slot);
                let asked = self.clock.steady();
                let left = SLOT_TIMEOUT.saturating_sub(waited);
                let next = self.slot(origin, request.lane, left).await;
                slot = next.ok_or_else(|| OutboundError::busy(&request.url))?;
                waited += self.passed_since(asked);
            }
        }
    }

    /// Connects to the host of a slot and closes the connection. Returns how long it took until the
    /// host had accepted it.
    pub async fn connect(
        &self,
        slot: OutboundSlot<'_>,
        limit: Duration,
    ) -> Result<Duration, OutboundError> {
        let began = self.clock.steady();
        let connected = timeout(limit, self.dialler.dial(&slot.origin)).await;
        connected.unwrap_or(Err(OutboundError::TimedOut(limit)))?;
        Ok(self.passed_since(began))
    }

    fn passed_since(&self, began: Duration) -> Duration {
        self.clock.steady().saturating_sub(began)
    }

    /// Sends one request over a connection of its own and reads the response.
    async fn exchange(
        &self,
        request: &OutboundRequest,
        origin: &OutboundOrigin,
    ) -> Result<OutboundResponse, OutboundError> {
        let stream = self.dialler.dial(origin).await?;
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
        response: &OutboundResponse,
        from: &OutboundOrigin,
    ) -> Result<OutboundRequest, OutboundError> {
        let location = response.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.ok_or(OutboundError::NoLocation)?;
        request.url = request.url.join(location, self.policy()).map_err(OutboundError::Redirect)?;
        let is_elsewhere = request.url.origin() != *from;
        if !response.is_repetition() {
            if request.method != Method::HEAD {
                request.method = Method::GET;
            }
            request.body = Bytes::new();
            request.headers.remove(CONTENT_TYPE);
        } else if is_elsewhere && (!request.method.is_safe() || !request.body.is_empty()) {
            return Err(OutboundError::Repeated(response.status.as_u16()));
        }
        if is_elsewhere {
            let accept = request.headers.remove(ACCEPT);
            request.headers = accept.map(|value| (ACCEPT, value)).into_iter().collect();
        }
        Ok(request)
    }
}

async fn exchange_over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: &OutboundRequest,
    certificate_ends_at: Option<TimestampMs>,
) -> Result<OutboundResponse, OutboundError> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(RESPONSE_HEAD_BYTES_MAX).max_headers(RESPONSE_HEADERS_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    // Its errors are those of the response.
    let connection = tokio::spawn(async move { drop(connection.await) });
    let open = OpenConnection(connection.abort_handle());
    let mut sent = request_of(request)?;
    let (interim, ending) = (AtomicUsize::new(0), open.0.clone());
    hyper::ext::on_informational(&mut sent, move |_| {
        if interim.fetch_add(1, Ordering::Relaxed) == INTERIM_RESPONSES_MAX {
            ending.abort();
        }
    });
    let response = sender.send_request(sent).await?;
    read(response, request, certificate_ends_at).await
}

/// Closes the connection when dropped.
struct OpenConnection(AbortHandle);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn request_of(request: &OutboundRequest) -> Result<Request<Full<Bytes>>, OutboundError> {
    let unsendable = OutboundError::Unsendable;
    let uri = request.url.path_and_query().parse::<Uri>();
    let host = HeaderValue::from_str(request.url.authority());
    let mut sent = Request::new(Full::new(request.body.clone()));
    *sent.method_mut() = request.method.clone();
    *sent.uri_mut() = uri.map_err(|error| unsendable(error.into()))?;
    *sent.headers_mut() = request.headers.clone();
    sent.headers_mut().insert(HOST, host.map_err(|error| unsendable(error.into()))?);
    sent.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    sent.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(sent)
}

/// Reads the body of a response as far as the request needs it; nothing of that of a redirect.
async fn read(
    response: Response<Incoming>,
    request: &OutboundRequest,
    certificate_ends_at: Option<TimestampMs>,
) -> Result<OutboundResponse, OutboundError> {
    let (head, mut body) = response.into_parts();
    let is_followed = request.redirects_max(head.status).is_some();
    let mut reader =
        BodyReader::new(if is_followed { &BodyUse::Nothing } else { &request.body_use });
    // The body may be late or endless.
    while !reader.is_done()
        && let Some(frame) = body.frame().await
    {
        if let Ok(data) = frame?.into_data() {
            reader.read(&data);
        }
    }
    let is_truncated = reader.is_truncated();
    let (is_found, body) = reader.finish();
    let (status, headers, url) = (head.status, head.headers, request.url.clone());
    let took = Duration::ZERO;
    Ok(OutboundResponse {
        status,
        headers,
        body,
        is_found,
        is_truncated,
        url,
        certificate_ends_at,
        took,
    })
}

#[cfg(test)]
impl OutboundClient {
    /// Returns a client with another source of addresses.
    pub(super) fn resolving(self, resolver: super::resolve::Resolver) -> Self {
        Self { dialler: self.dialler.resolving(resolver), ..self }
    }
}
