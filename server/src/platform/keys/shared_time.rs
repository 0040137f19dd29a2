//! An optional time that threads share without a lock.

use std::sync::atomic::{AtomicI64, Ordering};

use telltale_engine::TimestampMs;

/// An optional time, shared between threads.
#[derive(Debug)]
pub(super) struct SharedTime(AtomicI64);

impl SharedTime {
    /// Represents the absence of a time.
    const NEVER: i64 = i64::MIN;

    pub(super) fn new(time: Option<TimestampMs>) -> Self {
        Self(AtomicI64::new(time.map_or(Self::NEVER, |t| t.0)))
    }

    pub(super) fn get(&self) -> Option<TimestampMs> {
        let ms = self.0.load(Ordering::Relaxed);
        (ms != Self::NEVER).then_some(TimestampMs(ms))
    }

    pub(super) fn set(&self, time: Option<TimestampMs>) {
        self.0.store(time.map_or(Self::NEVER, |t| t.0), Ordering::Relaxed);
    }
}
