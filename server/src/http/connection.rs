//! Serves one connection, HTTP/1.1 or HTTP/2 as the client starts it, and enforces its timeouts.
//!
//! The timeouts are enforced here and not by hyper, whose header timeout also counts the pause
//! between two requests and closes the connection without a response. Between requests a connection
//! may be idle for the idle timeout. From the first byte of a request, its headers must arrive
//! within the header timeout; otherwise the client is sent `request_timeout`. No timeout applies
//! here while a request is in progress, unless the client has closed its side
//! ([`super::client_end`]); reading the body has its own timeouts.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::activity::{Activity, ObservedSocket, Overdue, RequestGuard};
use super::client_end::{ObservedBody, ReadinessWatch};
use super::connection_slots::ConnectionSlot;
use super::pace::Paced;
use super::pipeline::Origin;
use super::server::Server;
use super::settings::Settings;
use super::{leftover, malformed};
use crate::limits;

/// The minimum of hyper's buffer size.
const BUFFER_BYTES_MIN: usize = 8 << 10;

/// The future of a request in progress.
type RequestFuture =
    Pin<Box<dyn Future<Output = Result<http::Response<Paced>, Infallible>> + Send>>;

/// Serves `socket` until one side closes it or its slot is given to another connection. Once
/// `stopping` is true, the request in progress is the last one. `readiness` is the same socket,
/// watched for its end.
pub(super) async fn serve<S, L>(
    server: Arc<Server>,
    origin: Origin,
    socket: S,
    readiness: Arc<L>,
    slot: Option<ConnectionSlot>,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    L: ReadinessWatch,
{
    let handle = slot.as_ref().map(ConnectionSlot::handle);
    let activity = Activity::new(&server.settings, server.ticks.clone(), handle);
    let buffer = server.telemetry.buffers().open(buffer_bytes_max(&server.settings));
    let observed =
        ObservedSocket::new(socket, Arc::clone(&activity), buffer).refusing(Arc::clone(&server));
    let io = TokioIo::new(observed);
    let builder = builder(&server.settings);
    let (service_activity, shared) = (Arc::clone(&activity), Arc::clone(&server));
    let service = service_fn(move |request: http::Request<Incoming>| {
        let guard = service_activity.begin();
        let (server, activity) = (Arc::clone(&shared), Arc::clone(&service_activity));
        Box::pin(async move { Ok(answer(&server, origin, request, &activity, guard).await) })
            as RequestFuture
    });
    let mut connection = pin!(builder.serve_connection(io, service).into_owned());
    let mut watching = pin!(activity.end().watch(&*readiness));
    let mut overdue = pin!(overdue(&activity));
    let mut evicted = pin!(ConnectionSlot::evicted(slot.as_ref()));
    let (mut is_stopping, mut is_kept) = (false, false);
    let ended = loop {
        tokio::select! {
            // Register for wake-ups before polling the connection, which may cause them.
            biased;
            never = watching.as_mut() => match never {},
            () = evicted.as_mut(), if !is_kept => {
                match poll_before_eviction(connection.as_mut(), &activity).await {
                    FinalPoll::Ended(ended) => break ended,
                    FinalPoll::Unauthenticated => return,
                    FinalPoll::Authenticated => is_kept = true,
                }
            }
            overdue = overdue.as_mut() => {
                match overdue {
                    Overdue::Headers => activity.expire(malformed::too_slow(&server)),
                    Overdue::Idle => connection.as_mut().graceful_shutdown(),
                    Overdue::Reading => {
                        server.telemetry.closed_slow();
                        return;
                    }
                    Overdue::ClientGone => {
                        tracing::debug!("the client of a request has disconnected");
                        return;
                    }
                }
                // Limits how long a client can delay closing the connection.
                let limit = Duration::from_millis(limits::LINGER_MS);
                break tokio::select! {
                    () = evicted.as_mut(), if !is_kept => return,
                    ended = timeout(limit, connection) => ended.unwrap_or(Ok(())),
                };
            }
            () = stop_requested(&mut stopping), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            ended = connection.as_mut() => break ended,
        }
    };
    if activity.is_flooding() {
        server.telemetry.closed_flooding();
    }
    if let Err(error) = ended {
        tracing::debug!(cause = %error, "a connection failed");
    }
}

/// The state of a connection after its last poll before eviction.
enum FinalPoll<E> {
    /// It has closed by itself.
    Ended(Result<(), E>),
    /// The received bytes contain no valid key.
    Unauthenticated,
    /// The received bytes contain a valid key.
    Authenticated,
}

/// Polls a connection once more before it is evicted: on a busy server, a key may have arrived that
/// has not been processed yet.
async fn poll_before_eviction<C, E>(
    mut connection: Pin<&mut C>,
    activity: &Activity,
) -> FinalPoll<E>
where
    C: Future<Output = Result<(), E>>,
{
    if let Poll::Ready(ended) = poll_fn(|cx| Poll::Ready(connection.as_mut().poll(cx))).await {
        return FinalPoll::Ended(ended);
    }
    if !activity.is_known() && activity.is_busy() {
        // Requests of HTTP/2 run in tasks of their own, which get a turn now.
        yield_now().await;
    }
    if activity.is_known() { FinalPoll::Authenticated } else { FinalPoll::Unauthenticated }
}

/// Processes a request and then updates the connection's state.
async fn answer(
    server: &Arc<Server>,
    origin: Origin,
    request: http::Request<Incoming>,
    activity: &Arc<Activity>,
    guard: RequestGuard,
) -> http::Response<Paced> {
    let end = activity.end();
    let request = request.map(|body| ObservedBody::new(body, Arc::clone(end)));
    let (mut request, leftover) = leftover::lend(request);
    request.extensions_mut().insert(Arc::clone(end));
    request.extensions_mut().insert(Arc::clone(activity));
    let mut response = server.respond(origin, request).await;
    if let Some(leftover) = leftover
        && !leftover.read(response.status()).await
    {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        activity.linger();
    }
    let response = response.map(|body| Paced::new(body, activity.pace()));
    drop(guard);
    response
}

/// Waits for the order to stop the server.
pub(super) async fn stop_requested(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which also means stop.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// Waits until a timeout of the connection has passed.
async fn overdue(activity: &Activity) -> Overdue {
    let mut timer = pin!(sleep(Duration::ZERO));
    let mut fires_at = Duration::MAX;
    poll_fn(|cx| {
        activity.end().register(cx.waker());
        loop {
            let left = match activity.time_left() {
                Ok(left) => left,
                Err(overdue) => return Poll::Ready(overdue),
            };
            // The deadline may have moved earlier since the timer was set. If it has moved later,
            // the timer fires early and is set again.
            let deadline = activity.elapsed() + left;
            if deadline < fires_at {
                timer.set(sleep(left));
                fires_at = deadline;
            }
            ready!(timer.as_mut().poll(cx));
            fires_at = Duration::MAX;
        }
    })
    .await
}

/// Returns the bytes of headers that hyper keeps before it refuses them: twice our limit, so that
/// most refusals have the service's error body.
fn buffer_bytes_max(settings: &Settings) -> usize {
    settings.http.header_bytes.bytes_usize().saturating_mul(2).max(BUFFER_BYTES_MIN)
}

/// Returns a builder with hyper's own limits.
fn builder(settings: &Settings) -> Builder<TokioExecutor> {
    let header_bytes = buffer_bytes_max(settings);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_headers(settings.http.headers.saturating_mul(2))
        .max_buf_size(header_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX)
        .max_frame_size(limits::HTTP2_FRAME_BYTES_MAX)
        .initial_connection_window_size(limits::HTTP2_WINDOW_BYTES)
        .initial_stream_window_size(limits::HTTP2_WINDOW_BYTES);
    builder
}
