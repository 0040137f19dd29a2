//! How fast a client takes its answers. What is not taken is memory, so a client that takes less than a floor is cut off.
//!
//! While there is an answer that is not sent, the client is measured by periods: each must see as many bytes go out as the floor asks for.
//! An answer is sent when hyper has let go of its last byte, which it does as well when the client has reset its stream.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use super::activity::Activity;
use super::settings::Settings;

/// What a connection has to send, and what has gone out.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes that must go out in a period.
    floor: u64,
    period: Duration,
    /// Bodies, and pieces of them, that are not sent.
    unsent: Arc<AtomicUsize>,
    sent: AtomicU64,
    measured: Mutex<Option<Measured>>,
}

/// The period that runs: since when, and what had gone out then.
#[derive(Clone, Copy, Debug)]
struct Measured {
    since: Duration,
    sent: u64,
}

/// The client takes its answer too slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

impl Pace {
    pub(super) fn new(settings: &Settings) -> Self {
        let period = settings.answer_pace_period;
        let floor = settings.answer_pace as f64 * period.as_secs_f64();
        Self {
            floor: floor as u64,
            period,
            unsent: Arc::default(),
            sent: AtomicU64::new(0),
            measured: Mutex::new(None),
        }
    }

    /// Bytes went out.
    pub(super) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// How long until the next look, while there is something to be taken.
    pub(super) fn look(&self, now: Duration) -> Result<Option<Duration>, TooSlow> {
        let sent = self.sent.load(Ordering::Relaxed);
        let mut measured = self.measured.lock();
        if self.unsent.load(Ordering::Relaxed) == 0 {
            *measured = None;
            return Ok(None);
        }
        let begun = *measured.get_or_insert(Measured { since: now, sent });
        if let Some(left) = (begun.since + self.period).checked_sub(now).filter(|d| !d.is_zero()) {
            return Ok(Some(left));
        }
        if sent.saturating_sub(begun.sent) < self.floor {
            return Err(TooSlow);
        }
        *measured = Some(Measured { since: now, sent });
        Ok(Some(self.period))
    }
}

/// Counts as not sent until it is dropped.
#[derive(Debug)]
struct Unsent(Arc<AtomicUsize>);

impl Unsent {
    fn new(pace: &Pace) -> Self {
        pace.unsent.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&pace.unsent))
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A piece of a body, until it is sent.
struct Piece {
    bytes: Bytes,
    _unsent: Unsent,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body that counts as not sent, and so do its pieces once they are handed over.
#[derive(Debug)]
pub(super) struct Paced<B> {
    body: B,
    activity: Arc<Activity>,
    _unsent: Unsent,
}

impl<B> Paced<B> {
    pub(super) fn new(body: B, activity: Arc<Activity>) -> Self {
        let unsent = Unsent::new(activity.pace());
        Self { body, activity, _unsent: unsent }
    }
}

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Paced<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let pace = self.activity.pace();
        let counted = |bytes| Bytes::from_owner(Piece { bytes, _unsent: Unsent::new(pace) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http_body::Body;
    use http_body_util::Full;

    use super::*;
    use crate::platform::ticks::Ticks;

    #[test]
    fn a_client_that_takes_less_than_the_floor_is_too_slow() {
        let settings = Settings {
            answer_pace: 100,
            answer_pace_period: Duration::from_secs(10),
            ..Settings::default()
        };
        let pace = Pace::new(&settings);
        let at = Duration::from_secs;
        assert_eq!(pace.look(at(1)), Ok(None), "nothing is owed");
        let answer = Unsent::new(&pace);
        assert_eq!(pace.look(at(2)), Ok(Some(at(10))));
        pace.sent(1_000);
        assert_eq!(pace.look(at(9)), Ok(Some(at(3))));
        assert_eq!(pace.look(at(12)), Ok(Some(at(10))), "a new period");
        pace.sent(999);
        assert_eq!(pace.look(at(22)), Err(TooSlow));
        drop(answer);
        assert_eq!(pace.look(at(22)), Ok(None));
        assert_eq!(pace.look(at(99)), Ok(None), "pauses between answers do not count");
    }

    #[test]
    fn an_answer_counts_until_its_last_byte_is_let_go_of() {
        let activity = Activity::new(&Settings::default(), Ticks::system());
        let is_unsent = || activity.pace().look(Duration::ZERO) != Ok(None);
        let body = Full::new(Bytes::from_static(b"some bytes"));
        let mut body = Paced::new(body, Arc::clone(&activity));
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) else {
            panic!("the body has a piece");
        };
        let mut bytes = frame.into_data().unwrap();
        drop(body);
        let rest = bytes.split_off(4);
        drop(bytes);
        assert_eq!((&rest[..], is_unsent()), (&b" bytes"[..], true));
        drop(rest);
        assert!(!is_unsent(), "as when the client has reset the stream");
    }
}
