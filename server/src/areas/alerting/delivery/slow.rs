//! Receivers that failed or were slow the last time, in memory.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::areas::alerting::ledger::Destination;
use crate::areas::alerting::limits;

/// An attempt that took longer was slow.
const SLOW: Duration = Duration::from_secs(2);

/// The receivers that wait for places apart.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct SlowReceivers {
    slow: Mutex<HashSet<Destination>>,
    /// Whether jobs could not be enqueued the last time.
    is_stuck: AtomicBool,
}

impl SlowReceivers {
    pub(super) fn contains(&self, destination: &Destination) -> bool {
        self.slow.lock().contains(destination)
    }

    /// Records whether jobs can be enqueued. Returns whether that is new.
    pub(super) fn set_stuck(&self, is_stuck: bool) -> bool {
        self.is_stuck.swap(is_stuck, Ordering::Relaxed) != is_stuck
    }

    /// Takes notice of an attempt.
    pub(super) fn observe(&self, destination: &Destination, is_delivered: bool, took: Duration) {
        let mut slow = self.slow.lock();
        if is_delivered && took < SLOW {
            slow.remove(destination);
        } else {
            if slow.len() >= limits::SLOW_RECEIVERS_MAX {
                slow.clear();
            }
            slow.insert(destination.clone());
        }
    }
}
