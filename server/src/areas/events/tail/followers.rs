//! The requests that wait for new events: how many may, what wakes them, and when they end.

use std::sync::Arc;

use telltale_engine::Engine;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::model::TailCursor;
use crate::areas::events::limits;
use crate::http::{ApiError, ApiResult, ErrorCode};

/// The requests that wait for new events.
#[derive(Debug)]
pub struct EventFollowers {
    waiters: Arc<Semaphore>,
    waiters_max: usize,
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
    pub fn new(engine: &Engine, waiters_max: usize, run: u64) -> Self {
        let waiters_max = waiters_max.min(Semaphore::MAX_PERMITS);
        let signal = Arc::new(watch::Sender::new(TailSignal::default()));
        let written = Arc::clone(&signal);
        engine.observe_event_tail(move || {
            written.send_modify(|signal| signal.writes = signal.writes.wrapping_add(1));
        });
        Self { waiters: Arc::new(Semaphore::new(waiters_max)), waiters_max, signal, run }
    }

    /// Ends all waiting requests; none waits from now on. Called when the server stops.
    pub fn end(&self) {
        self.signal.send_modify(|signal| signal.is_ended = true);
    }

    /// Returns a permit to wait. Fails if the limit is reached.
    pub(super) fn permit(&self) -> ApiResult<OwnedSemaphorePermit> {
        Arc::clone(&self.waiters).try_acquire_owned().map_err(|_| {
            let max = self.waiters_max;
            let message = format!(
                "{max} requests wait for new events, which is the limit (events.tail_waiters_max)"
            );
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
