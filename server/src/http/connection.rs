//! One connection: HTTP/1.1 or HTTP/2 as the client begins it, with the patience of the settings.
//!
//! The patience is kept here and not by hyper, whose header timeout also counts the pause between two requests
//! and ends in silence. Between requests a connection may rest for the idle timeout; from the first byte of a
//! request its headers have the header timeout, and a client that misses it is told `request_timeout`. While a
//! request is being answered there is no timeout here, unless its client has ended its side ([`super::client_end`]); its body has its own.

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

use super::activity::{Activity, Busy, Overdue, Tapped};
use super::client_end::{Arriving, Lookout};
use super::connection_slots::ConnectionSlot;
use super::pace::Paced;
use super::pipeline::Origin;
use super::server::Server;
use super::settings::Settings;
use super::{leftover, malformed};
use crate::limits;

/// The least that hyper takes as the size of its buffer.
const BUFFER_BYTES_MIN: usize = 8 << 10;

/// A request being answered.
type Answering = Pin<Box<dyn Future<Output = Result<http::Response<Paced>, Infallible>> + Send>>;

/// Serves `socket` until one side ends it, or its slot is needed for another. When `stopping` turns true the request in flight is the
/// last. `lookout` is the same socket, to be watched for its end.
pub(super) async fn serve<S, L>(
    server: Arc<Server>,
    origin: Origin,
    socket: S,
    lookout: Arc<L>,
    slot: Option<ConnectionSlot>,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    L: Lookout,
{
    let handle = slot.as_ref().map(ConnectionSlot::handle);
    let activity = Activity::new(&server.settings, server.ticks.clone(), handle);
    let buffer = server.telemetry.buffers().begin(buffer_bytes_max(&server.settings));
    let tapped = Tapped::new(socket, Arc::clone(&activity), buffer).refusing(Arc::clone(&server));
    let io = TokioIo::new(tapped);
    let builder = builder(&server.settings);
    let (answering, shared) = (Arc::clone(&activity), Arc::clone(&server));
    let service = service_fn(move |request: http::Request<Incoming>| {
        let busy = answering.begin();
        let (server, activity) = (Arc::clone(&shared), Arc::clone(&answering));
        Box::pin(async move { Ok(answer(&server, origin, request, &activity, busy).await) })
            as Answering
    });
    let mut connection = pin!(builder.serve_connection(io, service).into_owned());
    let mut watching = pin!(activity.end().watch(&*lookout));
    let mut overdue = pin!(overdue(&activity));
    let mut evicted = pin!(ConnectionSlot::evicted(slot.as_ref()));
    let (mut is_stopping, mut is_rescued) = (false, false);
    let ended = loop {
        tokio::select! {
            // What wakes the connection is set up before the connection can call for it.
            biased;
            never = watching.as_mut() => match never {},
            () = evicted.as_mut(), if !is_rescued => {
                match last_look(connection.as_mut(), &activity).await {
                    LastLook::Ended(ended) => break ended,
                    LastLook::Stranger => return,
                    LastLook::Known => is_rescued = true,
                }
            }
            overdue = overdue.as_mut() => {
                match overdue {
                    Overdue::Headers => activity.expire(malformed::too_slow(&server)),
                    Overdue::Idle => connection.as_mut().graceful_shutdown(),
                    Overdue::Reading => {
                        server.telemetry.cut_slow();
                        return;
                    }
                    Overdue::Departed => {
                        tracing::debug!("the client of a request is gone");
                        return;
                    }
                }
                // Whoever does not let the connection end is not waited for.
                let patience = Duration::from_millis(limits::LINGER_MS);
                break tokio::select! {
                    () = evicted.as_mut(), if !is_rescued => return,
                    ended = timeout(patience, connection) => ended.unwrap_or(Ok(())),
                };
            }
            () = requested(&mut stopping), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            ended = connection.as_mut() => break ended,
        }
    };
    if activity.is_flooding() {
        server.telemetry.cut_flooding();
    }
    if let Err(error) = ended {
        tracing::debug!(cause = %error, "a connection broke");
    }
}

/// What an evicted connection comes to.
enum LastLook<E> {
    /// It has ended by itself.
    Ended(Result<(), E>),
    /// There is no key in what its client has sent.
    Stranger,
    /// There is.
    Known,
}

/// Looks at a connection that is evicted a last time: where the server is busy, a key may have come that nobody has looked at yet.
async fn last_look<C, E>(mut connection: Pin<&mut C>, activity: &Activity) -> LastLook<E>
where
    C: Future<Output = Result<(), E>>,
{
    if let Poll::Ready(ended) = poll_fn(|cx| Poll::Ready(connection.as_mut().poll(cx))).await {
        return LastLook::Ended(ended);
    }
    if !activity.is_known() && activity.is_busy() {
        // Requests of HTTP/2 have tasks of their own, which have their turn now.
        yield_now().await;
    }
    if activity.is_known() { LastLook::Known } else { LastLook::Stranger }
}

/// Answers a request, and does for the connection what follows from the answer.
async fn answer(
    server: &Arc<Server>,
    origin: Origin,
    request: http::Request<Incoming>,
    activity: &Arc<Activity>,
    busy: Busy,
) -> http::Response<Paced> {
    let end = activity.end();
    let request = request.map(|body| Arriving::new(body, Arc::clone(end)));
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
    drop(busy);
    response
}

/// Ends when the server was told to stop.
pub(super) async fn requested(stopping: &mut watch::Receiver<bool>) {
    // An error means that nobody is left to tell us, which is the same as being told.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// Ends when the client has used up its patience.
async fn overdue(activity: &Activity) -> Overdue {
    let mut timer = pin!(sleep(Duration::ZERO));
    let mut rings_at = Duration::MAX;
    poll_fn(|cx| {
        activity.end().wakes(cx.waker());
        loop {
            let left = match activity.patience() {
                Ok(left) => left,
                Err(overdue) => return Poll::Ready(overdue),
            };
            // The patience may have become shorter since the timer was set; if longer, the timer rings for nothing.
            let ends_at = activity.elapsed() + left;
            if ends_at < rings_at {
                timer.set(sleep(left));
                rings_at = ends_at;
            }
            ready!(timer.as_mut().poll(cx));
            rings_at = Duration::MAX;
        }
    })
    .await
}

/// Bytes of headers that hyper keeps before it refuses them: twice our limit, so that it is we who answer in most cases.
fn buffer_bytes_max(settings: &Settings) -> usize {
    settings.header_bytes_max.saturating_mul(2).max(BUFFER_BYTES_MIN)
}

/// Limits of hyper itself.
fn builder(settings: &Settings) -> Builder<TokioExecutor> {
    let header_bytes = buffer_bytes_max(settings);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_headers(settings.headers_max.saturating_mul(2))
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
