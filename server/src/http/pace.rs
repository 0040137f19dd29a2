//! Measures how fast a client reads its responses. Unread data occupies memory, so a client below a
//! minimum rate is disconnected.
//!
//! While a response is unsent, the client is measured in periods: in each it must read as many
//! bytes as the minimum rate requires. A body is handed to hyper in pieces; a piece counts as read
//! when hyper has dropped its last byte. So neither headers nor HTTP/2 protocol frames count, and
//! streams that the client has reset are not waited for. A client may have read nearly all of a
//! piece that does not count yet: pieces are small compared with the bytes of a period, and the
//! requirement is one piece lower.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use super::settings::Settings;
use crate::limits;

/// The unsent and read data of a connection.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes of whole pieces that must be read in a period.
    floor: u64,
    period: Duration,
    /// Bytes of a piece.
    piece: usize,
    /// Number of responses whose bodies are not sent completely.
    unsent: AtomicUsize,
    bytes_read: AtomicU64,
    current: Mutex<Option<PacePeriod>>,
}

/// The current period: its start, and the bytes read before it.
#[derive(Clone, Copy, Debug)]
struct PacePeriod {
    since: Duration,
    bytes_read: u64,
}

/// The client reads its responses too slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

impl Pace {
    pub(super) fn new(settings: &Settings) -> Self {
        let period = settings.http.answer_pace_period.duration();
        let required = (settings.http.answer_pace.bytes() as f64 * period.as_secs_f64()) as u64;
        let piece = usize::try_from(required / 2).unwrap_or(usize::MAX);
        let piece = piece.clamp(limits::RESPONSE_PIECE_BYTES_MIN, limits::RESPONSE_PIECE_BYTES);
        Self {
            // A client that reads nothing is too slow at any minimum rate.
            floor: required.saturating_sub(piece as u64).max(1),
            period,
            piece,
            unsent: AtomicUsize::new(0),
            bytes_read: AtomicU64::new(0),
            current: Mutex::new(None),
        }
    }

    /// Returns the number of responses whose bodies are not sent completely.
    pub(super) fn unsent(&self) -> usize {
        self.unsent.load(Ordering::Relaxed)
    }

    /// Checks the rate. Returns the time until the next check is due; `None` while nothing is
    /// unsent.
    pub(super) fn check(&self, now: Duration) -> Result<Option<Duration>, TooSlow> {
        let bytes_read = self.bytes_read.load(Ordering::Relaxed);
        let mut current = self.current.lock();
        if self.unsent() == 0 {
            *current = None;
            return Ok(None);
        }
        let period = *current.get_or_insert(PacePeriod { since: now, bytes_read });
        if let Some(left) = (period.since + self.period).checked_sub(now).filter(|d| !d.is_zero()) {
            return Ok(Some(left));
        }
        if bytes_read.saturating_sub(period.bytes_read) < self.floor {
            return Err(TooSlow);
        }
        *current = Some(PacePeriod { since: now, bytes_read });
        Ok(Some(self.period))
    }
}

/// Counts a response as unsent until its body and all its pieces are dropped.
#[derive(Debug)]
struct UnsentAnswer(Arc<Pace>);

impl UnsentAnswer {
    fn new(pace: &Arc<Pace>) -> Arc<Self> {
        pace.unsent.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self(Arc::clone(pace)))
    }
}

impl Drop for UnsentAnswer {
    fn drop(&mut self) {
        self.0.unsent.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A piece of a body, until it is sent.
struct Piece {
    bytes: Bytes,
    answer: Arc<UnsentAnswer>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.answer.0.bytes_read.fetch_add(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// The body of a response, which counts as unsent until its last piece is dropped.
#[derive(Debug)]
pub(super) struct Paced {
    rest: Bytes,
    answer: Arc<UnsentAnswer>,
}

impl Paced {
    pub(super) fn new(body: Bytes, pace: &Arc<Pace>) -> Self {
        Self { rest: body, answer: UnsentAnswer::new(pace) }
    }
}

impl http_body::Body for Paced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let next = self.rest.len().min(self.answer.0.piece);
        let piece = Piece { bytes: self.rest.split_to(next), answer: Arc::clone(&self.answer) };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http_body::Body;

    use super::*;
    use crate::platform::settings::{ByteSize, Period};

    const PIECE: usize = limits::RESPONSE_PIECE_BYTES;

    /// A minimum rate in bytes per second, measured in periods of ten seconds.
    fn pace(bytes: u64) -> Arc<Pace> {
        pace_by(bytes, 10)
    }

    fn pace_by(bytes: u64, seconds: u64) -> Arc<Pace> {
        Arc::new(Pace::new(&Settings::changed(|s| {
            s.http.answer_pace = ByteSize::at_least_one(bytes);
            s.http.answer_pace_period = Period::from(Duration::from_secs(seconds));
        })))
    }

    fn next_piece(body: &mut Paced) -> Bytes {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(body).poll_frame(&mut cx) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_client_below_the_minimum_rate_is_too_slow() {
        // Two pieces per period, of which one may be partly read.
        let pace = pace(PIECE as u64 / 5 + 1);
        let at = Duration::from_secs;
        assert_eq!(pace.check(at(1)), Ok(None), "nothing is unsent");
        let mut body = Paced::new(Bytes::from(vec![1; 10 * PIECE]), &pace);
        assert_eq!(pace.check(at(2)), Ok(Some(at(10))));
        drop((next_piece(&mut body), next_piece(&mut body)));
        assert_eq!(pace.check(at(9)), Ok(Some(at(3))));
        assert_eq!(pace.check(at(12)), Ok(Some(at(10))), "a new period");
        drop(next_piece(&mut body));
        let _handed_over = next_piece(&mut body);
        assert_eq!(pace.check(at(22)), Err(TooSlow));
    }

    #[test]
    fn a_client_above_the_minimum_rate_is_never_disconnected_even_with_short_periods() {
        for (floor, seconds) in [(2 << 10, 30), (2 << 10, 5), (2 << 10, 1), (100 << 10, 1)] {
            let pace = pace_by(floor, seconds);
            let mut body = Paced::new(Bytes::from(vec![1; 64 << 20]), &pace);
            let (mut bytes_read, mut given) = (0, 0);
            for second in 0..40 * seconds {
                let checked = pace.check(Duration::from_secs(second));
                assert!(checked.is_ok(), "{floor} bytes a second by {seconds} s, after {second} s");
                bytes_read += floor + 1;
                // A piece counts once its last byte was read.
                while given + pace.piece as u64 <= bytes_read {
                    given += next_piece(&mut body).len() as u64;
                }
            }
        }
    }

    #[test]
    fn a_client_that_reads_nothing_is_disconnected_at_any_minimum_rate() {
        for (floor, seconds) in [(1, 1), (1, 30), (2 << 10, 1), (2 << 10, 30)] {
            let pace = pace_by(floor, seconds);
            let mut body = Paced::new(Bytes::from_static(&[1; 100_000]), &pace);
            let _handed_over = next_piece(&mut body);
            pace.check(Duration::ZERO).unwrap();
            let checked = pace.check(Duration::from_secs(seconds));
            assert_eq!(checked, Err(TooSlow), "{floor} bytes a second by {seconds} s");
        }
    }

    #[test]
    fn a_response_of_many_pieces_counts_once_as_unsent() {
        let pace = pace(1);
        let mut body = Paced::new(Bytes::from(vec![1; 10 * PIECE]), &pace);
        let pieces: Vec<Bytes> = (0..5).map(|_| next_piece(&mut body)).collect();
        let other = Paced::new(Bytes::from_static(b"other"), &pace);
        assert_eq!(pace.unsent(), 2);
        drop(body);
        assert_eq!(pace.unsent(), 2, "its pieces still exist");
        drop((pieces, other));
        assert_eq!(pace.unsent(), 0);
    }

    #[test]
    fn pauses_between_responses_do_not_count() {
        let pace = pace(1);
        let at = Duration::from_secs;
        drop(Paced::new(Bytes::from_static(b"one"), &pace));
        assert_eq!(pace.check(at(99)), Ok(None));
        let other = Paced::new(Bytes::from_static(b"other"), &pace);
        assert_eq!(pace.check(at(200)), Ok(Some(at(10))));
        drop(other);
        assert_eq!(pace.check(at(300)), Ok(None), "as when the client has reset the stream");
    }

    #[test]
    fn a_piece_counts_as_read_with_its_last_byte() {
        let pace = pace(1);
        let mut body = Paced::new(Bytes::from_static(b"some bytes"), &pace);
        assert_eq!(body.size_hint().exact(), Some(10));
        let mut bytes = next_piece(&mut body);
        assert!(body.is_end_stream());
        drop(body);
        let rest = bytes.split_off(4);
        drop(bytes);
        assert_eq!((&rest[..], pace.unsent()), (&b" bytes"[..], 1));
        drop(rest);
        assert_eq!((pace.unsent(), pace.bytes_read.load(Ordering::Relaxed)), (0, 10));
    }
}
