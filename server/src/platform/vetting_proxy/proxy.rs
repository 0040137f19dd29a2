//! A proxy and its connections.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::Either;
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::dial::{Dial, DialError};
use super::forward::forward;
use super::limits::{CONNECTIONS_AT_ONCE, DIAL_TIMEOUT, HEAD_BYTES_MAX, ProxyLimits};
use super::metered::MeteredStream;
use super::traffic::{ProxyCounts, ProxyTraffic, Refusal};
use super::tunnel::tunnel;

/// The body of a response: empty, or that of a server.
pub(super) type ProxyBody = Either<Empty<Bytes>, Incoming>;

/// A proxy. Closes all its connections when dropped.
#[derive(Debug)]
pub(crate) struct VettingProxy {
    address: SocketAddr,
    inner: Arc<ProxyInner>,
    accepting: AbortHandle,
}

/// What the connections of a proxy share.
pub(super) struct ProxyInner {
    dialler: Arc<dyn Dial>,
    pub(super) traffic: Arc<ProxyTraffic>,
    /// Tunnels outlive the requests that ask for them. Emptied when the proxy is dropped.
    tunnels: Mutex<JoinSet<()>>,
    connections_max: usize,
}

/// Why a request gets no response of a server.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProxyError {
    /// The host has no connection, for whatever reason.
    #[error("no connection")]
    NoConnection,
    /// The request is none that a browser sends to a proxy.
    #[error("not a request for a proxy")]
    Malformed,
    /// The connection failed before the response was complete.
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

impl VettingProxy {
    /// Starts a proxy. Needs a Tokio runtime.
    pub(crate) async fn start(dialler: Arc<dyn Dial>, limits: ProxyLimits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let inner = Arc::new(ProxyInner {
            dialler,
            traffic: Arc::new(ProxyTraffic::new(limits.bytes_max)),
            tunnels: Mutex::default(),
            connections_max: limits.connections_max,
        });
        let accepting = tokio::spawn(accept_all(listener, Arc::clone(&inner))).abort_handle();
        Ok(Self { address, inner, accepting })
    }

    /// Returns the URL of the proxy.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what passed, and what was refused.
    pub(crate) fn counts(&self) -> ProxyCounts {
        self.inner.traffic.counts()
    }

    /// Returns whether a limit was exceeded, now and in future.
    pub(crate) fn exhaustion(&self) -> watch::Receiver<bool> {
        self.inner.traffic.exhaustion()
    }
}

impl Drop for VettingProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.inner.tunnels.lock().abort_all();
    }
}

impl std::fmt::Debug for ProxyInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyInner").field("traffic", &self.traffic).finish_non_exhaustive()
    }
}

impl ProxyInner {
    /// Connects to a server. Counts what is refused and what fails.
    pub(super) async fn dial(&self, host: &str, port: u16) -> Result<MeteredStream, ProxyError> {
        let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let refusal = |reason| Refusal { host: host.to_owned(), port, reason };
        match timeout(DIAL_TIMEOUT, self.dialler.dial(host, port)).await {
            Ok(Ok(stream)) => {
                // Only delays small messages if it fails.
                drop(stream.set_nodelay(true));
                return Ok(MeteredStream::new(stream, Arc::clone(&self.traffic)));
            }
            Ok(Err(DialError::Refused(reason))) => self.traffic.count_refused(refusal(reason)),
            Ok(Err(DialError::Failed(error))) => {
                self.traffic.count_failed(refusal(error.to_string()));
            }
            Err(_) => {
                self.traffic.count_failed(refusal("the connection timed out".to_owned()));
            }
        }
        Err(ProxyError::NoConnection)
    }

    /// Runs a tunnel until it or the proxy ends.
    pub(super) fn spawn_tunnel(&self, tunnel: impl Future<Output = ()> + Send + 'static) {
        let mut tunnels = self.tunnels.lock();
        while tunnels.try_join_next().is_some() {}
        tunnels.spawn(tunnel);
    }
}

async fn accept_all(listener: TcpListener, inner: Arc<ProxyInner>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_AT_ONCE));
    // Aborts the connections when this task is aborted.
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a proxy cannot accept connections");
                return;
            }
        };
        while connections.try_join_next().is_some() {}
        let inner = Arc::clone(&inner);
        connections.spawn(serve(stream, inner, Arc::new(slot)));
    }
}

/// Serves a connection. A tunnel keeps its slot after the request for it.
async fn serve(stream: TcpStream, inner: Arc<ProxyInner>, slot: Arc<OwnedSemaphorePermit>) {
    let service = service_fn(move |request| {
        let (inner, slot) = (Arc::clone(&inner), Arc::clone(&slot));
        async move { respond(&inner, request, slot).await }
    });
    let served = http1::Builder::new()
        .preserve_header_case(true)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::trace!(%error, "a connection to a proxy ended");
    }
}

/// Responds to a request of a client. An error closes the connection without a response, so that a
/// page learns no more than that there is none.
async fn respond(
    inner: &Arc<ProxyInner>,
    request: Request<Incoming>,
    slot: Arc<OwnedSemaphorePermit>,
) -> Result<Response<ProxyBody>, ProxyError> {
    if !inner.traffic.count_request(inner.connections_max) {
        return Err(ProxyError::NoConnection);
    }
    if request.method() != Method::CONNECT {
        return Box::pin(forward(inner, request)).await;
    }
    // Chromium shows nothing of the response to pages.
    Ok(match tunnel(inner, request, slot).await {
        Ok(()) => empty(StatusCode::OK),
        Err(_) => empty(StatusCode::BAD_GATEWAY),
    })
}

fn empty(status: StatusCode) -> Response<ProxyBody> {
    let mut response = Response::new(Either::Left(Empty::new()));
    *response.status_mut() = status;
    response
}
