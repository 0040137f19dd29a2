//! The end of what a client sends, while one of its requests is being answered.
//!
//! End of stream means that the client sends no more, not that it reads no more: `nc -N`, some load balancers and old SDKs send a
//! request, shut down their writing side and wait for the answer. A client that closes its socket looks the same until something is
//! written to it. hyper takes end of stream for a client that is gone and drops the request, so of HTTP/1 the end is held back from
//! hyper while a request is being answered, for a grace at most:
//!
//! ```text
//! end of stream, no request in flight          passed on at once: the connection closes
//! end of stream, the body is not complete      passed on at once: the body is refused as broken
//! end of stream, the handler only waits for
//!   something that its caller alone can use    the request is dropped at once
//! end of stream, otherwise                     held back until the answer is written; after the grace the request is dropped
//! reset, or both sides closed                  the request is dropped at once
//! ```
//!
//! Whether the body is complete is known only to hyper, which reads on to look for the end of stream behind a body that it may not have
//! handed over. So the end is held back first. If whoever reads the body then still waits, hyper had nothing left to give it.
//!
//! hyper does not read while it holds a request that was sent behind the one in flight, and what is not read hides the end behind it.
//! Therefore the system is asked for the end beside that ([`ClientEnd::watch`]), which needs no reading and no memory.
//!
//! HTTP/2 is left alone: its client has to send (window updates, acknowledgements) to be answered, and hyper reads all the time.

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

/// Stands for a time that has not come.
const NEVER: u64 = u64::MAX;

/// What is known of the end of the client's side. Shared by the socket, the requests and the timer of a connection.
#[derive(Debug)]
pub(super) struct ClientEnd {
    ticks: Ticks,
    grace: Duration,
    /// Milliseconds of the ticks when the client had ended its side.
    since_ms: AtomicU64,
    /// Nobody is there to read an answer.
    gone: AtomicBool,
    /// The end of stream was read during this request and hyper does not know.
    held: AtomicBool,
    /// Since then, whoever reads the body of the request has found that it is not complete.
    starved: AtomicBool,
    /// The request only waits for something that nobody but its caller can use.
    unshared: AtomicBool,
    /// The task of the connection.
    task: AtomicWaker,
}

/// The client is gone, or has been silent for longer than the grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departed;

/// A socket that can be asked what has happened to it.
pub(super) trait Lookout: Send + Sync + 'static {
    /// Waits until the socket is ready for one of the interests. Returns what it is ready for, of these. Fails when the runtime ends.
    fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send;
}

impl ClientEnd {
    pub(super) fn new(settings: &Settings, ticks: Ticks) -> Self {
        Self {
            ticks,
            grace: settings.half_closed_grace,
            since_ms: AtomicU64::new(NEVER),
            gone: AtomicBool::new(false),
            held: AtomicBool::new(false),
            starved: AtomicBool::new(false),
            unshared: AtomicBool::new(false),
            task: AtomicWaker::new(),
        }
    }

    /// Watches the socket for the client's end and for resets, whether or not anybody reads. Never ends.
    pub(super) async fn watch(&self, socket: &impl Lookout) -> Infallible {
        // The end is reported with priority data, like with any data. Ordinary data may lie unread and would be reported again and
        // again; the socket is not registered for priority data, so of this interest the end alone comes.
        let first = socket.ready(Interest::PRIORITY | Interest::ERROR).await;
        if first.is_ok_and(|ready| !ready.is_error()) {
            self.notice();
            // A Unix socket whose peer has closed both sides has no error, but cannot be written to.
            let writable = socket.ready(Interest::WRITABLE).now_or_never();
            if !matches!(writable, Some(Ok(ready)) if ready.is_write_closed()) {
                drop(socket.ready(Interest::ERROR).await);
            }
        }
        self.gone.store(true, Ordering::Relaxed);
        self.task.wake();
        pending().await
    }

    /// A request begins. hyper may hold bytes of it that it read before the end.
    pub(super) fn begin(&self) {
        self.held.store(false, Ordering::Relaxed);
        self.starved.store(false, Ordering::Relaxed);
        self.unshared.store(false, Ordering::Relaxed);
    }

    /// From now on the request in flight waits for what only its caller can use: it ends with what the client sends.
    pub(super) fn unshare(&self) {
        self.unshared.store(true, Ordering::Relaxed);
        self.task.wake();
    }

    /// Whether the end of stream is kept from hyper while an answer is under way.
    pub(super) fn may_hold(&self) -> bool {
        let gives_up = [&self.gone, &self.starved, &self.unshared];
        !gives_up.into_iter().any(|reason| reason.load(Ordering::Relaxed))
    }

    /// The end of stream was read and is held back.
    pub(super) fn hold(&self) {
        if !self.held.swap(true, Ordering::Relaxed) {
            self.starved.store(false, Ordering::Relaxed);
            self.notice();
        }
    }

    /// No answer is under way any more: hyper is to read again, and to find the end.
    pub(super) fn release(&self) {
        if self.held.swap(false, Ordering::Relaxed) {
            self.task.wake();
        }
    }

    /// Whether the client is gone for a request in flight, and if not, how long it still has. `None` while it has not ended its side.
    pub(super) fn patience(&self) -> Result<Option<Duration>, Departed> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(Departed);
        }
        let since_ms = self.since_ms.load(Ordering::Relaxed);
        if since_ms == NEVER {
            return Ok(None);
        }
        if self.unshared.load(Ordering::Relaxed) {
            return Err(Departed);
        }
        let end = Duration::from_millis(since_ms).saturating_add(self.grace);
        let left = end.checked_sub(self.ticks.elapsed()).filter(|left| !left.is_zero());
        left.map(Some).ok_or(Departed)
    }

    /// Who is woken when [`Self::patience`] may have become shorter, and when hyper is to read again.
    pub(super) fn wakes(&self, task: &Waker) {
        self.task.register(task);
    }

    fn notice(&self) {
        let now_ms = self.ticks.elapsed().as_millis() as u64;
        // The first time counts.
        self.since_ms.fetch_min(now_ms, Ordering::Relaxed);
        self.task.wake();
    }

    fn starve(&self) {
        if !self.starved.swap(true, Ordering::Relaxed) {
            self.task.wake();
        }
    }
}

/// The body of a request, which reports when it waits for bytes that cannot come any more.
#[derive(Debug)]
pub(super) struct Arriving<B> {
    body: B,
    end: Arc<ClientEnd>,
}

impl<B> Arriving<B> {
    pub(super) fn new(body: B, end: Arc<ClientEnd>) -> Self {
        Self { body, end }
    }
}

impl<B: Body + Unpin> Body for Arriving<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        // Looked at first: only what hyper had handed over before the end was held back says that it has no more.
        let held = self.end.held.load(Ordering::Relaxed);
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if held && frame.is_pending() {
            self.end.starve();
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
