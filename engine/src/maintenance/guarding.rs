//! Guarding new tables within a blink: a thread of its own, since a merge keeps the keeper for seconds.

use std::time::Duration;

use super::alarm::Alarm;
use crate::panics::caught;
use crate::storage::Store;

/// How often it looks for new tables.
const ROUND: Duration = Duration::from_millis(100);

/// The work of the thread, until it is stopped.
pub(crate) fn run(store: &Store, alarm: &Alarm) {
    while alarm.pause(ROUND) {
        // The keeper tries again within seconds, and tells what stands in the way.
        let _tried = caught("guarding tables", || store.guard_new());
    }
}
