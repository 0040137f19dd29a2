//! Detection of the end of the client's data while one of its requests is in progress.
//!
//! End of stream means that the client sends no more data, not that it stopped reading: `nc -N`,
//! some load balancers and old SDKs send a request, shut down their sending side and wait for the
//! response. A client that has closed its socket looks the same until something is written to it.
//! hyper treats end of stream as a disconnect and drops the request, so for HTTP/1 the end is
//! hidden from hyper while a request is in progress, for at most a grace period:
//!
//! ```text
//! no request in progress                      passed on at once: the connection closes
//! the body is incomplete                      passed on at once: the body is refused as broken
//! the handler waits for something that only
//!   its caller can use                        the request is dropped at once
//! otherwise                                   hidden until the response is written; after the
//!                                             grace period the request is dropped
//! reset, or both sides closed                 the request is dropped at once
//! ```
//!
//! Only hyper knows whether the body is complete. It reads ahead for the end of stream and may hold
//! body data that it has not handed over. So the end is hidden first; if the reader of the body
//! still waits afterwards, hyper has no more data, and the body is incomplete.
//!
//! hyper stops reading while it holds a pipelined request, and unread data hides the end of stream
//! behind it. Therefore the end is also taken from the operating system's readiness events
//! ([`ClientEnd::watch`]), which needs neither reading nor memory.
//!
//! HTTP/2 is not affected: its client must keep sending (window updates, acknowledgements) to
//! receive a response, and hyper reads all the time.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::task::AtomicWaker;
use http_body::{Body, Frame, SizeHint};
use tokio::io::{Interest, Ready};

use super::settings::Settings;
use crate::platform::ticks::Ticks;

/// Marks a time that has not been set.
const NEVER: u64 = u64::MAX;

/// The state of the client's sending side. Shared by the socket, the requests and the timer of a
/// connection.
#[derive(Debug)]
pub(super) struct ClientEnd {
    ticks: Ticks,
    grace: Duration,
    /// When the client ended its side, in milliseconds of the ticks.
    since_ms: AtomicU64,
    /// Whether both sides are closed, so that no response can be delivered.
    is_gone: AtomicBool,
    /// Whether the end of stream was read during this request and is hidden from hyper.
    is_hidden: AtomicBool,
    /// Whether the reader of the request's body has waited for data since then: the body is
    /// incomplete.
    is_incomplete: AtomicBool,
    /// Whether the request waits for something that only its caller can use.
    drops_at_end: AtomicBool,
    /// The task of the connection.
    task: AtomicWaker,
}

/// The client has disconnected, or has ended its side longer ago than the grace period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientGone;

/// A socket that reports readiness events.
pub(super) trait ReadinessWatch: Send + Sync + 'static {
    /// Waits until the socket is ready for one of the interests. Returns the ready ones among them.
    /// Fails if the runtime shuts down.
    fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send;
}

impl ClientEnd {
    pub(super) fn new(settings: &Settings, ticks: Ticks) -> Self {
        Self {
            ticks,
            grace: settings.http.half_closed_grace.duration(),
            since_ms: AtomicU64::new(NEVER),
            is_gone: AtomicBool::new(false),
            is_hidden: AtomicBool::new(false),
            is_incomplete: AtomicBool::new(false),
            drops_at_end: AtomicBool::new(false),
            task: AtomicWaker::new(),
        }
    }

    /// Watches the socket for end of stream and for resets, independent of reads. Never returns.
    pub(super) async fn watch(&self, socket: &impl ReadinessWatch) -> Infallible {
        // End of stream is reported as read readiness, like data. Unread data would be reported
        // again and again; the socket is not registered for priority data, so with this interest
        // only the end is reported.
        let first = socket.ready(Interest::PRIORITY | Interest::ERROR).await;
        if first.is_ok_and(|ready| !ready.is_error()) {
            self.record_end();
            // A Unix socket whose peer has closed both sides reports no error, but is not writable.
            let writable = socket.ready(Interest::WRITABLE).now_or_never();
            if !matches!(writable, Some(Ok(ready)) if ready.is_write_closed()) {
                drop(socket.ready(Interest::ERROR).await);
            }
        }
        self.is_gone.store(true, Ordering::Relaxed);
        self.task.wake();
        pending().await
    }

    /// Resets the state for a new request. hyper may hold bytes of it that it read before the end.
    pub(super) fn begin(&self) {
        self.is_hidden.store(false, Ordering::Relaxed);
        self.is_incomplete.store(false, Ordering::Relaxed);
        self.drops_at_end.store(false, Ordering::Relaxed);
    }

    /// Marks the request in progress as waiting for something that only its caller can use: from
    /// now on it is dropped at end of stream.
    pub(super) fn drop_at_end(&self) {
        self.drops_at_end.store(true, Ordering::Relaxed);
        self.task.wake();
    }

    /// Returns whether the end of stream is hidden from hyper while a response is pending.
    pub(super) fn may_hide(&self) -> bool {
        let reasons = [&self.is_gone, &self.is_incomplete, &self.drops_at_end];
        !reasons.into_iter().any(|reason| reason.load(Ordering::Relaxed))
    }

    /// Records that the end of stream was read and is hidden.
    pub(super) fn hide(&self) {
        if !self.is_hidden.swap(true, Ordering::Relaxed) {
            self.is_incomplete.store(false, Ordering::Relaxed);
            self.record_end();
        }
    }

    /// Ends the hiding when no response is pending, so that hyper reads again and finds the end.
    pub(super) fn release(&self) {
        if self.is_hidden.swap(false, Ordering::Relaxed) {
            self.task.wake();
        }
    }

    /// Returns the time left for a request in progress; `None` if the client has not ended its
    /// side. Fails if the request must be dropped.
    pub(super) fn time_left(&self) -> Result<Option<Duration>, ClientGone> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(ClientGone);
        }
        let since_ms = self.since_ms.load(Ordering::Relaxed);
        if since_ms == NEVER {
            return Ok(None);
        }
        if self.drops_at_end.load(Ordering::Relaxed) {
            return Err(ClientGone);
        }
        let end = Duration::from_millis(since_ms).saturating_add(self.grace);
        let left = end.checked_sub(self.ticks.elapsed()).filter(|left| !left.is_zero());
        left.map(Some).ok_or(ClientGone)
    }

    /// Registers the task that is woken when [`Self::time_left`] may have become shorter and when
    /// hyper should read again.
    pub(super) fn register(&self, task: &Waker) {
        self.task.register(task);
    }

    fn record_end(&self) {
        let now_ms = self.ticks.elapsed().as_millis() as u64;
        // The earliest time counts.
        self.since_ms.fetch_min(now_ms, Ordering::Relaxed);
        self.task.wake();
    }

    fn mark_incomplete(&self) {
        if !self.is_incomplete.swap(true, Ordering::Relaxed) {
            self.task.wake();
        }
    }
}

/// A request body that detects when its reader waits for data that cannot arrive any more.
#[derive(Debug)]
pub(super) struct ObservedBody<B> {
    body: B,
    end: Arc<ClientEnd>,
}

impl<B> ObservedBody<B> {
    pub(super) fn new(body: B, end: Arc<ClientEnd>) -> Self {
        Self { body, end }
    }
}

impl<B: Body + Unpin> Body for ObservedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        // Read before polling: only data that hyper held before the end was hidden may still
        // arrive.
        let is_hidden = self.end.is_hidden.load(Ordering::Relaxed);
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if is_hidden && frame.is_pending() {
            self.end.mark_incomplete();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
