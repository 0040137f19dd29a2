//! How fast a client takes its answers. What is not taken is memory, so a client that takes less than a floor is cut off.
//!
//! While there is an answer that is not sent, the client is measured by periods: in each it must take as many bytes as the floor asks for.
//! A body is handed over in pieces; a piece is taken when hyper has let go of its last byte. So neither headers nor what HTTP/2 says of
//! itself count, and nobody waits for what a client has reset. A client may have taken nearly all of a piece that does not count yet:
//! pieces are small beside what a period asks for, and one of them less is asked.

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

/// What a connection has to send, and what has gone out.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes of whole pieces that must be taken in a period.
    floor: u64,
    period: Duration,
    /// Bytes of a piece.
    piece: usize,
    /// Answers whose bodies are not sent to their ends.
    unsent: AtomicUsize,
    taken: AtomicU64,
    measured: Mutex<Option<Measured>>,
}

/// The period that runs: since when, and what had been taken then.
#[derive(Clone, Copy, Debug)]
struct Measured {
    since: Duration,
    taken: u64,
}

/// The client takes its answer too slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

impl Pace {
    pub(super) fn new(settings: &Settings) -> Self {
        let period = settings.answer_pace_period;
        let wanted = (settings.answer_pace as f64 * period.as_secs_f64()) as u64;
        let piece = usize::try_from(wanted / 2).unwrap_or(usize::MAX);
        let piece = piece.clamp(limits::ANSWER_PIECE_BYTES_MIN, limits::ANSWER_PIECE_BYTES);
        Self {
            // Whoever takes nothing is too slow, however little is asked for.
            floor: wanted.saturating_sub(piece as u64).max(1),
            period,
            piece,
            unsent: AtomicUsize::new(0),
            taken: AtomicU64::new(0),
            measured: Mutex::new(None),
        }
    }

    /// Answers whose bodies are not sent to their ends.
    pub(super) fn unsent(&self) -> usize {
        self.unsent.load(Ordering::Relaxed)
    }

    /// How long until the next look, while there is something to be taken.
    pub(super) fn look(&self, now: Duration) -> Result<Option<Duration>, TooSlow> {
        let taken = self.taken.load(Ordering::Relaxed);
        let mut measured = self.measured.lock();
        if self.unsent() == 0 {
            *measured = None;
            return Ok(None);
        }
        let begun = *measured.get_or_insert(Measured { since: now, taken });
        if let Some(left) = (begun.since + self.period).checked_sub(now).filter(|d| !d.is_zero()) {
            return Ok(Some(left));
        }
        if taken.saturating_sub(begun.taken) < self.floor {
            return Err(TooSlow);
        }
        *measured = Some(Measured { since: now, taken });
        Ok(Some(self.period))
    }
}

/// An answer that counts as not sent until its body and all pieces of it are dropped.
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
        self.answer.0.taken.fetch_add(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// A body of an answer that counts as not sent, also when all of it was handed over in pieces and one of them is still there.
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

    const PIECE: usize = limits::ANSWER_PIECE_BYTES;

    /// The pace of so many bytes a second, by periods of ten seconds.
    fn pace(bytes: u64) -> Arc<Pace> {
        pace_by(bytes, 10)
    }

    fn pace_by(bytes: u64, seconds: u64) -> Arc<Pace> {
        Arc::new(Pace::new(&Settings {
            answer_pace: bytes,
            answer_pace_period: Duration::from_secs(seconds),
            ..Settings::default()
        }))
    }

    fn next_piece(body: &mut Paced) -> Bytes {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(body).poll_frame(&mut cx) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_client_that_takes_less_than_the_floor_is_too_slow() {
        // Two pieces in a period, of which one may be nearly taken.
        let pace = pace(PIECE as u64 / 5 + 1);
        let at = Duration::from_secs;
        assert_eq!(pace.look(at(1)), Ok(None), "there is nothing to take");
        let mut body = Paced::new(Bytes::from(vec![1; 10 * PIECE]), &pace);
        assert_eq!(pace.look(at(2)), Ok(Some(at(10))));
        drop((next_piece(&mut body), next_piece(&mut body)));
        assert_eq!(pace.look(at(9)), Ok(Some(at(3))));
        assert_eq!(pace.look(at(12)), Ok(Some(at(10))), "a new period");
        drop(next_piece(&mut body));
        let _handed_over = next_piece(&mut body);
        assert_eq!(pace.look(at(22)), Err(TooSlow));
    }

    #[test]
    fn a_client_above_the_floor_is_never_cut_however_short_the_period() {
        for (floor, seconds) in [(2 << 10, 30), (2 << 10, 5), (2 << 10, 1), (100 << 10, 1)] {
            let pace = pace_by(floor, seconds);
            let mut body = Paced::new(Bytes::from(vec![1; 64 << 20]), &pace);
            let (mut taken, mut given) = (0, 0);
            for second in 0..40 * seconds {
                let looked = pace.look(Duration::from_secs(second));
                assert!(looked.is_ok(), "{floor} bytes a second by {seconds} s, after {second} s");
                taken += floor + 1;
                // A piece counts once its last byte was taken.
                while given + pace.piece as u64 <= taken {
                    given += next_piece(&mut body).len() as u64;
                }
            }
        }
    }

    #[test]
    fn a_client_that_takes_nothing_is_cut_however_little_is_asked() {
        for (floor, seconds) in [(1, 1), (1, 30), (2 << 10, 1), (2 << 10, 30)] {
            let pace = pace_by(floor, seconds);
            let mut body = Paced::new(Bytes::from_static(&[1; 100_000]), &pace);
            let _handed_over = next_piece(&mut body);
            pace.look(Duration::ZERO).unwrap();
            let looked = pace.look(Duration::from_secs(seconds));
            assert_eq!(looked, Err(TooSlow), "{floor} bytes a second by {seconds} s");
        }
    }

    #[test]
    fn an_answer_of_many_pieces_is_one_that_is_not_sent() {
        let pace = pace(1);
        let mut body = Paced::new(Bytes::from(vec![1; 10 * PIECE]), &pace);
        let pieces: Vec<Bytes> = (0..5).map(|_| next_piece(&mut body)).collect();
        let other = Paced::new(Bytes::from_static(b"other"), &pace);
        assert_eq!(pace.unsent(), 2);
        drop(body);
        assert_eq!(pace.unsent(), 2, "its pieces are still there");
        drop((pieces, other));
        assert_eq!(pace.unsent(), 0);
    }

    #[test]
    fn pauses_between_answers_do_not_count() {
        let pace = pace(1);
        let at = Duration::from_secs;
        drop(Paced::new(Bytes::from_static(b"one"), &pace));
        assert_eq!(pace.look(at(99)), Ok(None));
        let other = Paced::new(Bytes::from_static(b"other"), &pace);
        assert_eq!(pace.look(at(200)), Ok(Some(at(10))));
        drop(other);
        assert_eq!(pace.look(at(300)), Ok(None), "as when the client has reset the stream");
    }

    #[test]
    fn a_piece_is_taken_with_its_last_byte() {
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
        assert_eq!((pace.unsent(), pace.taken.load(Ordering::Relaxed)), (0, 10));
    }
}
