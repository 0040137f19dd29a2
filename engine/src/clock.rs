//! The one door through which the engine learns what time it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::TimestampMs;

/// The current time. [`Clock::system`] reads the machine's clock, [`Clock::manual`] is moved by hand, so
/// that tests of retention and windows need not wait.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands at `now` until it is moved.
    pub fn manual(now: TimestampMs) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(now.0))))
    }

    /// The current time.
    #[expect(clippy::disallowed_methods, reason = "this is the door that the lint points to")]
    pub fn now(&self) -> TimestampMs {
        match &self.0 {
            Source::System => {
                // A clock before 1970 reads as 1970: no stored point is older.
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Manual(ms) => TimestampMs(ms.load(Ordering::Relaxed)),
        }
    }

    /// Moves a manual clock to `now`; the system clock does not move.
    pub fn set(&self, now: TimestampMs) {
        if let Source::Manual(ms) = &self.0 {
            ms.store(now.0, Ordering::Relaxed);
        }
    }
}
