//! Guarding new tables within a blink: a thread of its own, since a merge keeps the keeper for seconds.

use std::time::Duration;

use super::alarm::Alarm;
use crate::panics::caught;
use crate::storage::Store;

/// How often it looks for new tables.
const ROUND: Duration = Duration::from_millis(100);

/// Time after an attempt that failed. The keeper tries too, and tells what stands in the way.
const RETRY_PERIOD: Duration = Duration::from_secs(10);

/// The work of the thread, until it is stopped.
pub(crate) fn run(store: &Store, alarm: &Alarm) {
    let mut pause = ROUND;
    while alarm.pause(pause) {
        let guarded = caught("guarding tables", || store.guard_new());
        pause = if matches!(guarded, Ok(Ok(()))) { ROUND } else { RETRY_PERIOD };
    }
}
