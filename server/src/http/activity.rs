//! What a connection is doing, seen from its bytes and its requests, and when its patience ends.
//!
//! [`Tapped`] stands between the socket and hyper and sees the bytes; the service reports when a request begins
//! and ends. Together they tell a connection that rests from one that drips its headers.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::buffers::Buffer;
use super::client_end::{ClientEnd, Departed};
use super::connection_slots::SlotHandle;
use super::frame_budget::{FrameBudget, Sender, TooManyFrames};
use super::malformed::{self, Malformed};
use super::pace::{Pace, TooSlow};
use super::server::Server;
use super::settings::Settings;
use crate::limits;
use crate::platform::ticks::Ticks;

/// What an HTTP/2 client sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Stands for a time that has not come.
const NEVER: u64 = u64::MAX;
/// What HTTP/2 writes about itself at once where no answer is sent: acknowledgements of pings and of settings, 17 and 9 bytes each.
const HTTP2_TALK_BYTES: usize = 1 << 10;

/// What a connection is doing. Shared by its bytes, its requests and its timer.
#[derive(Debug)]
pub(super) struct Activity {
    ticks: Ticks,
    idle: Duration,
    pace: Arc<Pace>,
    /// While no key was shown.
    stranger_idle: Duration,
    shown_key: AtomicBool,
    header: Duration,
    requests: AtomicUsize,
    /// The end of what the client sends.
    end: Arc<ClientEnd>,
    /// Milliseconds of the ticks when the connection last did something of use.
    rested_since_ms: AtomicU64,
    /// Milliseconds of the ticks when the first byte of a request came that is not complete.
    head_since_ms: AtomicU64,
    http2: AtomicBool,
    /// What a client that was too slow is told, before the next read ends the connection.
    last_words: OnceLock<Vec<u8>>,
    /// The client has sent too many frames: the connection ends.
    floods: AtomicBool,
    /// `None` on the control socket, whose connections need no slot.
    slot: Option<Arc<SlotHandle>>,
    /// The answer leaves a body unread: the end waits for the client to stop sending.
    lingers: AtomicBool,
}

/// Whose patience has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Nothing was asked for too long.
    Idle,
    /// The headers of a request took too long.
    Headers,
    /// Answers are taken too slowly.
    Reading,
    /// The client of a request in flight is gone, or has ended its side longer ago than the grace.
    Departed,
}

/// A request being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Activity>);

/// A request being handled: it is allowed, and work is done for it.
#[derive(Debug)]
pub(super) struct Handled(Arc<Activity>);

impl Activity {
    pub(super) fn new(
        settings: &Settings,
        ticks: Ticks,
        slot: Option<Arc<SlotHandle>>,
    ) -> Arc<Self> {
        let now_ms = ticks.elapsed().as_millis() as u64;
        Arc::new(Self {
            end: Arc::new(ClientEnd::new(settings, ticks.clone())),
            ticks,
            pace: Arc::new(Pace::new(settings)),
            idle: settings.idle_timeout,
            stranger_idle: settings.stranger_idle_timeout.min(settings.idle_timeout),
            shown_key: AtomicBool::new(false),
            header: settings.header_timeout,
            requests: AtomicUsize::new(0),
            rested_since_ms: AtomicU64::new(now_ms),
            head_since_ms: AtomicU64::new(NEVER),
            http2: AtomicBool::new(false),
            last_words: OnceLock::new(),
            floods: AtomicBool::new(false),
            slot,
            lingers: AtomicBool::new(false),
        })
    }

    /// A request is complete enough to be answered.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.end.begin();
        self.head_since_ms.store(NEVER, Ordering::Relaxed);
        self.lingers.store(false, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// A request is allowed, so that work begins for it.
    pub(super) fn handle(self: &Arc<Self>) -> Handled {
        if let Some(slot) = &self.slot {
            slot.begin_request();
        }
        Handled(Arc::clone(self))
    }

    /// The end of what the client sends.
    pub(super) fn end(&self) -> &Arc<ClientEnd> {
        &self.end
    }

    /// How fast answers are taken.
    pub(super) fn pace(&self) -> &Arc<Pace> {
        &self.pace
    }

    /// Somebody who is known has asked.
    pub(super) fn show_key(&self) {
        self.shown_key.store(true, Ordering::Relaxed);
        if let Some(slot) = &self.slot {
            slot.show_key();
        }
    }

    /// Whether somebody who is known has asked.
    pub(super) fn is_known(&self) -> bool {
        self.shown_key.load(Ordering::Relaxed)
    }

    /// Whether the client has sent more frames than it may.
    pub(super) fn is_flooding(&self) -> bool {
        self.floods.load(Ordering::Relaxed)
    }

    /// Who sends on this connection.
    fn sender(&self) -> Sender {
        if self.shown_key.load(Ordering::Relaxed) { Sender::Known } else { Sender::Stranger }
    }

    fn idle(&self) -> Duration {
        if self.shown_key.load(Ordering::Relaxed) { self.idle } else { self.stranger_idle }
    }

    /// The answer being sent may leave a body unread.
    pub(super) fn linger(&self) {
        self.lingers.store(true, Ordering::Relaxed);
    }

    /// The next read ends the connection. An HTTP/1 client is told this response before.
    pub(super) fn expire(&self, response: Vec<u8>) {
        self.last_words.get_or_init(|| response);
    }

    /// Whether patience has ended, and if not, how long it still holds.
    pub(super) fn patience(&self) -> Result<Duration, Overdue> {
        let is_stranger = !self.shown_key.load(Ordering::Relaxed);
        if is_stranger && self.pace.unsent() > limits::STRANGER_UNREAD_MAX {
            return Err(Overdue::Reading);
        }
        let paced = self.pace.look(self.ticks.elapsed()).map_err(|TooSlow| Overdue::Reading)?;
        if self.is_busy() {
            let departs = self.end.patience().map_err(|Departed| Overdue::Departed)?;
            let look = self.stranger_idle.min(self.header);
            return Ok([paced, departs].into_iter().flatten().fold(look, Duration::min));
        }
        if let Some(left) = paced {
            return Ok(left);
        }
        let rested_since_ms = self.rested_since_ms.load(Ordering::Relaxed);
        let head_since_ms = self.head_since_ms.load(Ordering::Relaxed);
        // What came before the last answer was sent out is not waited for yet: the client is still reading.
        if head_since_ms != NEVER && head_since_ms >= rested_since_ms {
            return self.left(head_since_ms, self.header).ok_or(Overdue::Headers);
        }
        self.left(rested_since_ms, self.idle()).ok_or(Overdue::Idle)
    }

    fn left(&self, since_ms: u64, allowed: Duration) -> Option<Duration> {
        let end = Duration::from_millis(since_ms) + allowed;
        end.checked_sub(self.ticks.elapsed()).filter(|left| !left.is_zero())
    }

    /// The time on the clock of [`Self::patience`].
    pub(super) fn elapsed(&self) -> Duration {
        self.ticks.elapsed()
    }

    /// Whether an answer is being made or written for which the end of stream is kept from hyper. HTTP/2 never keeps it: see
    /// [`super::client_end`].
    fn holds_the_end(&self, unflushed: bool) -> bool {
        let answering = self.is_busy() || unflushed || self.pace.unsent() > 0;
        answering && self.end.may_hold() && !self.http2.load(Ordering::Relaxed)
    }

    fn now_ms(&self) -> u64 {
        self.ticks.elapsed().as_millis() as u64
    }

    /// Whether a request is being answered.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    fn received(&self) {
        let resting = !self.is_busy();
        let known = self.head_since_ms.load(Ordering::Relaxed) != NEVER;
        // HTTP/2 connections speak also when nothing is asked; their headers come in one frame.
        if resting && !known && !self.http2.load(Ordering::Relaxed) {
            self.head_since_ms.store(self.now_ms(), Ordering::Relaxed);
        }
    }

    /// Bytes went to the client. Of HTTP/2 those of an answer count, and not what the protocol says of itself: a client that only
    /// pings rests.
    fn sent(&self, bytes: usize) {
        if bytes > HTTP2_TALK_BYTES || !self.http2.load(Ordering::Relaxed) {
            self.rest();
        }
    }

    fn rest(&self) {
        self.rested_since_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    fn is_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
        self.head_since_ms.store(NEVER, Ordering::Relaxed);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.rest();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        if let Some(slot) = &self.0.slot {
            slot.answered();
        }
    }
}

impl Drop for Handled {
    fn drop(&mut self) {
        if let Some(slot) = &self.0.slot {
            slot.end_request();
        }
    }
}

/// A socket whose bytes are seen by an [`Activity`].
#[derive(Debug)]
pub(super) struct Tapped<S> {
    socket: S,
    activity: Arc<Activity>,
    /// Bytes of [`PREFACE`] seen so far; `None` once the protocol is known.
    preface_seen: Option<usize>,
    told: bool,
    looked: bool,
    /// Bytes were written since the last flush: hyper may have more of the same answer.
    unflushed: bool,
    shut: bool,
    lingering: Option<Pin<Box<Sleep>>>,
    buffer: Buffer,
    frames: FrameBudget,
    /// Who makes the refusals that are sent in place of hyper's own; `None` where those may stay.
    refuser: Option<Arc<Server>>,
}

impl<S> Tapped<S> {
    pub(super) fn new(socket: S, activity: Arc<Activity>, buffer: Buffer) -> Self {
        Self {
            socket,
            activity,
            buffer,
            preface_seen: Some(0),
            told: false,
            looked: false,
            unflushed: false,
            shut: false,
            lingering: None,
            frames: FrameBudget::default(),
            refuser: None,
        }
    }

    /// What is not HTTP is refused as everything else is, in the name of this server.
    pub(super) fn refusing(mut self, server: Arc<Server>) -> Self {
        self.refuser = Some(server);
        self
    }

    /// Counts the buffer, which has so much room, before it is read into.
    fn count_buffer(&mut self, room: usize) {
        let is_busy = self.activity.is_busy();
        if self.activity.http2.load(Ordering::Relaxed) {
            self.buffer.awaits_frame(is_busy);
            return;
        }
        if is_busy {
            self.buffer.handed_on();
        }
        self.buffer.has_room(room);
    }

    /// Looks for the preface of HTTP/2. Returns the bytes behind it, which are frames; none of HTTP/1.
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

    /// Bytes went to the client.
    fn sent(&mut self, bytes: usize) {
        self.frames.send(bytes, self.activity.sender());
        self.activity.sent(bytes);
    }
}

impl<S: AsyncWrite + Unpin> Tapped<S> {
    /// Sends a refusal of our own in place of these bytes, where they are the one that hyper writes for what is not HTTP. Returns
    /// whether they were. While a request is being answered, hyper refuses nothing.
    fn refuse_instead(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> bool {
        let Some(server) = &self.refuser else { return false };
        if self.activity.is_busy() || self.activity.http2.load(Ordering::Relaxed) {
            return false;
        }
        let Some(malformed) = Malformed::refused_by(bytes) else { return false };
        let refusal = malformed::refusal(server, malformed);
        // A short answer always fits an idle socket; where it does not, the client learns nothing.
        drop(Pin::new(&mut self.socket).poll_write(cx, &refusal));
        self.activity.linger();
        self.told = true;
        true
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(response) = this.activity.last_words.get() {
            if !this.activity.http2.load(Ordering::Relaxed)
                && !std::mem::replace(&mut this.told, true)
            {
                // A short answer always fits an idle socket; where it does not, the client learns nothing.
                drop(Pin::new(&mut this.socket).poll_write(cx, response));
            }
            return Poll::Ready(Ok(()));
        }
        let (before, room) = (buf.filled().len(), buf.remaining());
        this.count_buffer(room);
        let read = Pin::new(&mut this.socket).poll_read(cx, buf);
        if !std::mem::replace(&mut this.looked, true)
            && let Some(slot) = &this.activity.slot
        {
            slot.look();
        }
        ready!(read)?;
        let bytes = &buf.filled()[before..];
        if !bytes.is_empty() {
            this.activity.received();
            this.buffer.read(bytes.len());
            this.count_frames(bytes).map_err(io::Error::other)?;
        } else if room > 0 && this.activity.holds_the_end(this.unflushed) {
            // The connection is woken when it may read on: a socket whose end was read wakes nobody.
            this.activity.end.hold();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // The last words were spoken; hyper has a word of its own for what it could not read.
        if self.told || self.refuse_instead(cx, buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        self.unflushed = true;
        self.buffer.handed_on();
        let written = ready!(Pin::new(&mut self.socket).poll_write(cx, buf))?;
        self.sent(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.told || matches!(bufs, [alone] if self.refuse_instead(cx, alone)) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        self.unflushed = true;
        self.buffer.handed_on();
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
        if !self.activity.holds_the_end(self.unflushed) {
            self.activity.end.release();
        }
        Poll::Ready(Ok(()))
    }

    /// Closing a socket with unread bytes resets it, and the client would lose the answer that says why. So
    /// where a body was left unread, what still comes is thrown away until the client stops.
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

    /// What the buffers of a connection come to at most while a client sends these bytes, and no request begins.
    fn counted(bytes: &[u8], is_answering: bool) -> u64 {
        const ROOM: usize = 4 << 10;
        let ticks = Ticks::following(Clock::manual(TimestampMs(0)));
        let activity = Activity::new(&Settings::default(), ticks, None);
        let _busy = is_answering.then(|| activity.begin());
        let buffers = Buffers::default();
        let socket = tokio::io::join(bytes, tokio::io::sink());
        let mut tapped = Tapped::new(socket, activity, buffers.begin(64 << 10));
        let mut most = 0;
        let mut scratch = [0; ROOM];
        let mut cx = Context::from_waker(std::task::Waker::noop());
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            let read = Pin::new(&mut tapped).poll_read(&mut cx, &mut buf);
            most = most.max(buffers.bytes());
            // The end is kept back while an answer is being made.
            if read.is_pending() || buf.filled().is_empty() {
                return most;
            }
        }
    }

    #[test]
    fn frames_of_http2_do_not_add_up() {
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

    /// Whether a connection is found to flood, of a stranger whose bytes are read in pieces of this size.
    fn floods(bytes: &[u8], piece: usize) -> bool {
        let ticks = Ticks::following(Clock::manual(TimestampMs(0)));
        let activity = Activity::new(&Settings::default(), ticks, None);
        let socket = tokio::io::join(bytes, tokio::io::sink());
        let buffer = Buffers::default().begin(64 << 10);
        let mut tapped = Tapped::new(socket, Arc::clone(&activity), buffer);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for _ in 0..bytes.len().div_ceil(piece) {
            let mut scratch = vec![0; piece];
            let read = Pin::new(&mut tapped).poll_read(&mut cx, &mut ReadBuf::new(&mut scratch));
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
        // What looks like frames and is not.
        assert!(!floods(&frame.repeat(2 * most), 100), "it is not HTTP/2");
    }

    #[test]
    fn headers_of_http1_add_up_to_what_is_kept_of_them() {
        let headers = b"GET / HTTP/1.1\r\nx: y\r\n".repeat(1_000);
        assert_eq!(counted(&headers[..10 << 10], false), (10 + 4) << 10);
        assert_eq!(counted(&headers.repeat(100), false), (64 + 4) << 10);
        assert_eq!(counted(&headers, true), 4 << 10, "they are of a request");
    }
}
