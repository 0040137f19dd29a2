//! The state of a connection, derived from its bytes and its requests, and its timeouts.
//!
//! [`ObservedSocket`] wraps the socket and observes the bytes; the service reports the start and
//! end of requests. Together they distinguish an idle connection from one that sends its headers
//! too slowly.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::buffers::Buffer;
use super::client_end::{ClientEnd, ClientGone};
use super::connection_slots::SlotHandle;
use super::frame_budget::{FrameBudget, Sender, TooManyFrames};
use super::malformed::{self, Malformed};
use super::pace::{Pace, TooSlow};
use super::server::Server;
use super::settings::Settings;
use crate::limits;
use crate::platform::ticks::Ticks;

/// The connection preface of HTTP/2.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Marks a time that has not been set.
const NEVER: u64 = u64::MAX;
/// Size of the writes up to which HTTP/2 sends only protocol frames: acknowledgements of PING and
/// SETTINGS, 17 and 9 bytes each.
const HTTP2_TALK_BYTES: usize = 1 << 10;

/// The state of a connection. Shared by its bytes, its requests and its timer.
#[derive(Debug)]
pub(super) struct Activity {
    ticks: Ticks,
    idle: Duration,
    pace: Arc<Pace>,
    /// The idle timeout while the connection is unauthenticated.
    unauthenticated_idle: Duration,
    shown_key: AtomicBool,
    header: Duration,
    requests: AtomicUsize,
    /// The state of the client's sending side.
    end: Arc<ClientEnd>,
    /// When the connection was last active, in milliseconds of the ticks.
    idle_since_ms: AtomicU64,
    /// When the first byte of an incomplete request arrived, in milliseconds of the ticks.
    head_since_ms: AtomicU64,
    http2: AtomicBool,
    /// The response to a client whose headers were too slow, sent before the next read closes the
    /// connection.
    final_response: OnceLock<Vec<u8>>,
    /// Whether the client has sent too many frames, which closes the connection.
    floods: AtomicBool,
    /// `None` on the control socket, whose connections need no slot.
    slot: Option<Arc<SlotHandle>>,
    /// Whether the response leaves a body unread, so that closing waits until the client stops
    /// sending.
    lingers: AtomicBool,
}

/// The timeout that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Too long without a request.
    Idle,
    /// The headers of a request took too long.
    Headers,
    /// The client reads responses too slowly.
    Reading,
    /// The client of a request in progress has disconnected, or has ended its side longer ago than
    /// the grace period.
    ClientGone,
}

/// Marks a request as in progress until it is dropped.
#[derive(Debug)]
pub(super) struct RequestGuard(Arc<Activity>);

/// Marks a request as being handled, after its admission, until it is dropped.
#[derive(Debug)]
pub(super) struct HandlingGuard(Arc<Activity>);

impl Activity {
    pub(super) fn new(
        settings: &Settings,
        ticks: Ticks,
        slot: Option<Arc<SlotHandle>>,
    ) -> Arc<Self> {
        let now_ms = ticks.elapsed().as_millis() as u64;
        let http = &settings.http;
        Arc::new(Self {
            end: Arc::new(ClientEnd::new(settings, ticks.clone())),
            ticks,
            pace: Arc::new(Pace::new(settings)),
            idle: http.idle_timeout.duration(),
            unauthenticated_idle: http.stranger_idle_timeout.min(http.idle_timeout).duration(),
            shown_key: AtomicBool::new(false),
            header: http.header_timeout.duration(),
            requests: AtomicUsize::new(0),
            idle_since_ms: AtomicU64::new(now_ms),
            head_since_ms: AtomicU64::new(NEVER),
            http2: AtomicBool::new(false),
            final_response: OnceLock::new(),
            floods: AtomicBool::new(false),
            slot,
            lingers: AtomicBool::new(false),
        })
    }

    /// Records that the headers of a request are complete.
    pub(super) fn begin(self: &Arc<Self>) -> RequestGuard {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.end.begin();
        self.head_since_ms.store(NEVER, Ordering::Relaxed);
        self.lingers.store(false, Ordering::Relaxed);
        RequestGuard(Arc::clone(self))
    }

    /// Records that a request is allowed and its handling starts.
    pub(super) fn handle(self: &Arc<Self>) -> HandlingGuard {
        if let Some(slot) = &self.slot {
            slot.begin_request();
        }
        HandlingGuard(Arc::clone(self))
    }

    /// Returns the state of the client's sending side.
    pub(super) fn end(&self) -> &Arc<ClientEnd> {
        &self.end
    }

    /// Returns the measurement of how fast responses are read.
    pub(super) fn pace(&self) -> &Arc<Pace> {
        &self.pace
    }

    /// Records that the client has authenticated.
    pub(super) fn show_key(&self) {
        self.shown_key.store(true, Ordering::Relaxed);
        if let Some(slot) = &self.slot {
            slot.show_key();
        }
    }

    /// Returns whether the client has authenticated.
    pub(super) fn is_known(&self) -> bool {
        self.shown_key.load(Ordering::Relaxed)
    }

    /// Returns whether the client has sent too many frames.
    pub(super) fn is_flooding(&self) -> bool {
        self.floods.load(Ordering::Relaxed)
    }

    /// Returns the class of the client for its frame budget.
    fn sender(&self) -> Sender {
        if self.is_known() { Sender::Authenticated } else { Sender::Unauthenticated }
    }

    fn idle(&self) -> Duration {
        if self.is_known() { self.idle } else { self.unauthenticated_idle }
    }

    /// Records that the response being sent may leave a body unread.
    pub(super) fn linger(&self) {
        self.lingers.store(true, Ordering::Relaxed);
    }

    /// Closes the connection at the next read. An HTTP/1 client is sent this response first.
    pub(super) fn expire(&self, response: Vec<u8>) {
        self.final_response.get_or_init(|| response);
    }

    /// Returns the time until the next timeout, or the timeout that has passed.
    pub(super) fn time_left(&self) -> Result<Duration, Overdue> {
        let is_unauthenticated = !self.shown_key.load(Ordering::Relaxed);
        if is_unauthenticated && self.pace.unsent() > limits::UNAUTHENTICATED_UNREAD_MAX {
            return Err(Overdue::Reading);
        }
        let pace = self.pace.check(self.ticks.elapsed()).map_err(|TooSlow| Overdue::Reading)?;
        if self.is_busy() {
            let grace = self.end.time_left().map_err(|ClientGone| Overdue::ClientGone)?;
            let check_interval = self.unauthenticated_idle.min(self.header);
            return Ok([pace, grace].into_iter().flatten().fold(check_interval, Duration::min));
        }
        if let Some(left) = pace {
            return Ok(left);
        }
        let idle_since_ms = self.idle_since_ms.load(Ordering::Relaxed);
        let head_since_ms = self.head_since_ms.load(Ordering::Relaxed);
        // Bytes received before the last response was sent do not start the header timeout: the
        // client is still reading.
        if head_since_ms != NEVER && head_since_ms >= idle_since_ms {
            return self.left(head_since_ms, self.header).ok_or(Overdue::Headers);
        }
        self.left(idle_since_ms, self.idle()).ok_or(Overdue::Idle)
    }

    fn left(&self, since_ms: u64, allowed: Duration) -> Option<Duration> {
        let end = Duration::from_millis(since_ms) + allowed;
        end.checked_sub(self.ticks.elapsed()).filter(|left| !left.is_zero())
    }

    /// Returns the current time on the clock of [`Self::time_left`].
    pub(super) fn elapsed(&self) -> Duration {
        self.ticks.elapsed()
    }

    /// Returns whether a response is pending for which the end of stream is hidden from hyper.
    /// Never for HTTP/2: see [`super::client_end`].
    fn hides_end(&self, unflushed: bool) -> bool {
        let answering = self.is_busy() || unflushed || self.pace.unsent() > 0;
        answering && self.end.may_hide() && !self.http2.load(Ordering::Relaxed)
    }

    fn now_ms(&self) -> u64 {
        self.ticks.elapsed().as_millis() as u64
    }

    /// Returns whether a request is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    fn received(&self) {
        let resting = !self.is_busy();
        let known = self.head_since_ms.load(Ordering::Relaxed) != NEVER;
        // HTTP/2 connections also send frames without a request; their headers arrive in one frame.
        if resting && !known && !self.http2.load(Ordering::Relaxed) {
            self.head_since_ms.store(self.now_ms(), Ordering::Relaxed);
        }
    }

    /// Records that bytes were sent. For HTTP/2, only responses count as activity, not protocol
    /// frames: a client that only sends pings is idle.
    fn sent(&self, bytes: usize) {
        if bytes > HTTP2_TALK_BYTES || !self.http2.load(Ordering::Relaxed) {
            self.mark_idle();
        }
    }

    fn mark_idle(&self) {
        self.idle_since_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    fn is_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
        self.head_since_ms.store(NEVER, Ordering::Relaxed);
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.mark_idle();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        if let Some(slot) = &self.0.slot {
            slot.answered();
        }
    }
}

impl Drop for HandlingGuard {
    fn drop(&mut self) {
        if let Some(slot) = &self.0.slot {
            slot.end_request();
        }
    }
}

/// A socket whose bytes are reported to an [`Activity`].
#[derive(Debug)]
pub(super) struct ObservedSocket<S> {
    socket: S,
    activity: Arc<Activity>,
    /// Bytes of [`PREFACE`] seen so far; `None` once the protocol is known.
    preface_seen: Option<usize>,
    is_response_sent: bool,
    was_read: bool,
    /// Whether bytes were written since the last flush: hyper may have more of the same response.
    unflushed: bool,
    shut: bool,
    lingering: Option<Pin<Box<Sleep>>>,
    buffer: Buffer,
    frames: FrameBudget,
    /// Builds the refusals that replace hyper's own; `None` keeps hyper's.
    refusing_server: Option<Arc<Server>>,
}

impl<S> ObservedSocket<S> {
    pub(super) fn new(socket: S, activity: Arc<Activity>, buffer: Buffer) -> Self {
        Self {
            socket,
            activity,
            buffer,
            preface_seen: Some(0),
            is_response_sent: false,
            was_read: false,
            unflushed: false,
            shut: false,
            lingering: None,
            frames: FrameBudget::default(),
            refusing_server: None,
        }
    }

    /// Replaces hyper's refusals of malformed requests by the service's own.
    pub(super) fn refusing(mut self, server: Arc<Server>) -> Self {
        self.refusing_server = Some(server);
        self
    }

    /// Updates the size of the read buffer, which has this much free space, before it is read into.
    fn count_buffer(&mut self, free_space: usize) {
        let is_busy = self.activity.is_busy();
        if self.activity.http2.load(Ordering::Relaxed) {
            self.buffer.awaits_frame(is_busy);
            return;
        }
        if is_busy {
            self.buffer.finish_request();
        }
        self.buffer.set_free_space(free_space);
    }

    /// Detects the preface of HTTP/2. Returns the bytes behind it, which are frames; none for
    /// HTTP/1.
    fn frames_of<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(seen) = self.preface_seen else {
            return if self.activity.http2.load(Ordering::Relaxed) { bytes } else { &[] };
        };
        let expected = &PREFACE[seen..];
        let (beginning, rest) = bytes.split_at(expected.len().min(bytes.len()));
        if !expected.starts_with(beginning) {
            self.preface_seen = None;
            &[]
        } else if beginning.len() == expected.len() {
            self.activity.is_http2();
            self.preface_seen = None;
            rest
        } else {
            self.preface_seen = Some(seen + beginning.len());
            &[]
        }
    }

    /// Counts the frames in bytes that were read.
    fn count_frames(&mut self, bytes: &[u8]) -> Result<(), TooManyFrames> {
        let frames = self.frames_of(bytes);
        if frames.is_empty() {
            return Ok(());
        }
        let (sender, now) = (self.activity.sender(), self.activity.elapsed());
        let counted = self.frames.receive(frames, sender, now);
        counted.inspect_err(|_| self.activity.floods.store(true, Ordering::Relaxed))
    }

    /// Records that bytes were sent to the client.
    fn sent(&mut self, bytes: usize) {
        self.frames.send(bytes, self.activity.sender());
        self.activity.sent(bytes);
    }
}

impl<S: AsyncWrite + Unpin> ObservedSocket<S> {
    /// If these bytes are hyper's refusal of a malformed request, sends the service's own instead
    /// and returns true. hyper refuses nothing while a request is in progress.
    fn refuse_instead(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> bool {
        let Some(server) = &self.refusing_server else { return false };
        if self.activity.is_busy() || self.activity.http2.load(Ordering::Relaxed) {
            return false;
        }
        let Some(malformed) = Malformed::refused_by(bytes) else { return false };
        let refusal = malformed::refusal(server, malformed);
        // A short response fits the send buffer of an idle socket; otherwise the client gets none.
        drop(Pin::new(&mut self.socket).poll_write(cx, &refusal));
        self.activity.linger();
        self.is_response_sent = true;
        true
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for ObservedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(response) = this.activity.final_response.get() {
            if !this.activity.http2.load(Ordering::Relaxed)
                && !std::mem::replace(&mut this.is_response_sent, true)
            {
                // A short response fits the send buffer of an idle socket; otherwise the client
                // gets none.
                drop(Pin::new(&mut this.socket).poll_write(cx, response));
            }
            return Poll::Ready(Ok(()));
        }
        let (before, free_space) = (buf.filled().len(), buf.remaining());
        this.count_buffer(free_space);
        let read = Pin::new(&mut this.socket).poll_read(cx, buf);
        if !std::mem::replace(&mut this.was_read, true)
            && let Some(slot) = &this.activity.slot
        {
            slot.socket_read();
        }
        ready!(read)?;
        let bytes = &buf.filled()[before..];
        if !bytes.is_empty() {
            this.activity.received();
            this.buffer.read(bytes.len());
            this.count_frames(bytes).map_err(io::Error::other)?;
        } else if free_space > 0 && this.activity.hides_end(this.unflushed) {
            // The connection's task is woken when it may read on: a socket at end of stream causes
            // no more wake-ups.
            this.activity.end.hide();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ObservedSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // The final response was sent; hyper's own response to the malformed request is discarded.
        if self.is_response_sent || self.refuse_instead(cx, buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        self.unflushed = true;
        self.buffer.finish_request();
        let written = ready!(Pin::new(&mut self.socket).poll_write(cx, buf))?;
        self.sent(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_response_sent || matches!(bufs, [alone] if self.refuse_instead(cx, alone)) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        self.unflushed = true;
        self.buffer.finish_request();
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(cx, bufs))?;
        self.sent(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
        self.unflushed = false;
        if !self.activity.hides_end(self.unflushed) {
            self.activity.end.release();
        }
        Poll::Ready(Ok(()))
    }

    /// Closing a socket with unread bytes resets the connection, and the client would lose the
    /// response. If a body was left unread, incoming data is discarded until the client stops
    /// sending or a timeout passes.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.shut {
            ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
            this.shut = true;
        }
        if !this.activity.lingers.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let linger = || Box::pin(sleep(Duration::from_millis(limits::LINGER_MS)));
        if this.lingering.get_or_insert_with(linger).as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut scratch = [0; 8 << 10];
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            ready!(Pin::new(&mut this.socket).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Clock, TimestampMs};

    use super::super::buffers::Buffers;
    use super::*;

    /// Returns the largest size of a connection's buffers while a client sends these bytes and no
    /// request starts.
    fn counted(bytes: &[u8], is_answering: bool) -> u64 {
        const ROOM: usize = 4 << 10;
        let ticks = Ticks::following(Clock::manual(TimestampMs(0)));
        let activity = Activity::new(&Settings::default(), ticks, None);
        let _busy = is_answering.then(|| activity.begin());
        let buffers = Buffers::default();
        let socket = tokio::io::join(bytes, tokio::io::sink());
        let mut observed = ObservedSocket::new(socket, activity, buffers.open(64 << 10));
        let mut most = 0;
        let mut scratch = [0; ROOM];
        let mut cx = Context::from_waker(std::task::Waker::noop());
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            let read = Pin::new(&mut observed).poll_read(&mut cx, &mut buf);
            most = most.max(buffers.bytes());
            // The end is hidden while a response is pending.
            if read.is_pending() || buf.filled().is_empty() {
                return most;
            }
        }
    }

    #[test]
    fn http2_frames_do_not_accumulate_in_the_buffer() {
        let frame = b"\0\0\x08\x06\0\0\0\0\0pingping";
        let few = [&PREFACE[..], &frame.repeat(1_000)[..]].concat();
        let many = [&PREFACE[..], &frame.repeat(100_000)[..]].concat();
        for (is_answering, bytes) in
            [(false, limits::HTTP2_FRAME_BYTES_MAX), (true, limits::HTTP2_WINDOW_BYTES)]
        {
            assert_eq!(counted(&few, is_answering), u64::from(bytes));
            assert_eq!(counted(&many, is_answering), u64::from(bytes));
        }
    }

    /// Returns whether an unauthenticated connection is found to flood whose bytes are read in
    /// pieces of this size.
    fn floods(bytes: &[u8], piece: usize) -> bool {
        let ticks = Ticks::following(Clock::manual(TimestampMs(0)));
        let activity = Activity::new(&Settings::default(), ticks, None);
        let socket = tokio::io::join(bytes, tokio::io::sink());
        let buffer = Buffers::default().open(64 << 10);
        let mut observed = ObservedSocket::new(socket, Arc::clone(&activity), buffer);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for _ in 0..bytes.len().div_ceil(piece) {
            let mut scratch = vec![0; piece];
            let read = Pin::new(&mut observed).poll_read(&mut cx, &mut ReadBuf::new(&mut scratch));
            match read {
                Poll::Ready(Ok(())) => assert!(!activity.is_flooding()),
                Poll::Ready(Err(_)) => return activity.is_flooding(),
                Poll::Pending => panic!("bytes in memory are always there"),
            }
        }
        false
    }

    #[test]
    fn too_many_frames_end_a_connection_however_they_are_read() {
        let frame = b"\0\0\x08\x06\0\0\0\0\0pingping";
        let most = usize::try_from(limits::HTTP2_STRANGER_FRAMES_BURST).unwrap();
        let few = [&PREFACE[..], &frame.repeat(most)[..]].concat();
        let many = [&few[..], frame].concat();
        for piece in [1, 5, 9, 24, 30, 16 << 10] {
            assert!(!floods(&few, piece), "{piece}");
            assert!(floods(&many, piece), "{piece}");
        }
        // Bytes that look like frames but are not.
        assert!(!floods(&frame.repeat(2 * most), 100), "it is not HTTP/2");
    }

    #[test]
    fn http1_headers_accumulate_up_to_the_buffer_limit() {
        let headers = b"GET / HTTP/1.1\r\nx: y\r\n".repeat(1_000);
        assert_eq!(counted(&headers[..10 << 10], false), (10 + 4) << 10);
        assert_eq!(counted(&headers.repeat(100), false), (64 + 4) << 10);
        assert_eq!(counted(&headers, true), 4 << 10, "they are of a request");
    }
}
