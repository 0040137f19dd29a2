//! How fast a client takes its answers. What is not taken is memory, so a client that takes less than a floor is cut off.
//!
//! Bodies say what they hand to hyper, the socket what went out. While the first is more than the second, or a body has more to
//! hand over, the client is measured by periods: each must see as many bytes go out as the floor asks for.

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

/// What a connection was handed and what of it has gone out.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes that must go out in a period.
    floor: u64,
    period: Duration,
    bodies: AtomicUsize,
    owed: AtomicU64,
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
            bodies: AtomicUsize::new(0),
            owed: AtomicU64::new(0),
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
        let owes =
            self.bodies.load(Ordering::Relaxed) > 0 || self.owed.load(Ordering::Relaxed) > sent;
        let mut measured = self.measured.lock();
        if !owes {
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

/// A body whose bytes are counted as they are handed over.
#[derive(Debug)]
pub(super) struct Paced<B> {
    body: B,
    activity: Arc<Activity>,
}

impl<B> Paced<B> {
    pub(super) fn new(body: B, activity: Arc<Activity>) -> Self {
        activity.pace().bodies.fetch_add(1, Ordering::Relaxed);
        Self { body, activity }
    }
}

impl<B> Drop for Paced<B> {
    fn drop(&mut self) {
        self.activity.pace().bodies.fetch_sub(1, Ordering::Relaxed);
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
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.activity.pace().owed.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        Poll::Ready(frame)
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
    use super::*;

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
        pace.owed.fetch_add(5_000, Ordering::Relaxed);
        assert_eq!(pace.look(at(2)), Ok(Some(at(10))));
        pace.sent(1_000);
        assert_eq!(pace.look(at(9)), Ok(Some(at(3))));
        assert_eq!(pace.look(at(12)), Ok(Some(at(10))), "a new period");
        pace.sent(999);
        assert_eq!(pace.look(at(22)), Err(TooSlow));
        pace.sent(4_000);
        assert_eq!(pace.look(at(22)), Ok(None));
        assert_eq!(pace.look(at(99)), Ok(None), "pauses between answers do not count");
    }
}
