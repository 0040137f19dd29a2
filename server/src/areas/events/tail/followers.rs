//! The requests that wait for new events: how many may, what wakes them, and when they end.

use std::sync::Arc;

use telltale_engine::Engine;
use tokio::sync::watch;

use super::model::TailCursor;
use crate::areas::events::limits;
use crate::http::{ApiError, ApiResult, ErrorCode};
use crate::platform::waiting_requests::{WaitPermit, WaitingRequests};

/// The requests that wait for new events.
#[derive(Debug)]
pub struct EventFollowers {
    waiting: Arc<WaitingRequests>,
    signal: Arc<watch::Sender<TailSignal>>,
    /// Tells the positions of this process from those of an earlier one.
    run: u64,
}

/// What wakes a waiting request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailSignal {
    /// Counts the writes of events.
    writes: u64,
    /// Whether the server stops.
    pub(super) is_ended: bool,
}

impl EventFollowers {
    /// Observes the events of the engine. `run` is a number that no other process has had.
    pub fn new(engine: &Engine, waiting: WaitingRequests, run: u64) -> Self {
        let signal = Arc::new(watch::Sender::new(TailSignal::default()));
        let written = Arc::clone(&signal);
        engine.observe_event_tail(move || {
            written.send_modify(|signal| signal.writes = signal.writes.wrapping_add(1));
        });
        Self { waiting: Arc::new(waiting), signal, run }
    }

    /// Ends all waiting requests; none waits from now on. Called when the server stops.
    pub fn end(&self) {
        self.signal.send_modify(|signal| signal.is_ended = true);
    }

    /// Returns a permit for a request of this key to wait. Fails if a limit is reached.
    pub(super) fn permit(&self, key: &str) -> ApiResult<WaitPermit> {
        self.waiting.permit(key).ok_or_else(|| {
            let message = "too many requests, in total or with this key, wait for new events \
                           (events.tail_waiters_max, events.key_tail_waiters_max)";
            ApiError::new(ErrorCode::Overloaded, message)
                .retry_after(limits::TAIL_FULL_RETRY_SECONDS)
        })
    }

    /// Returns what wakes a waiting request.
    pub(super) fn signal(&self) -> watch::Receiver<TailSignal> {
        self.signal.subscribe()
    }

    /// Returns the cursor of a position.
    pub(super) fn cursor(&self, position: u64) -> TailCursor {
        TailCursor { run: self.run, position }
    }

    /// Returns the position of a cursor; `None` if it is of another process.
    pub(super) fn position(&self, cursor: TailCursor) -> Option<u64> {
        (cursor.run == self.run).then_some(cursor.position)
    }
}
