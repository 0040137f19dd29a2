//! Receivers that failed or were slow the last time, in memory.

use std::collections::HashSet;
use std::time::Duration;

use parking_lot::Mutex;

use crate::areas::alerting::ledger::Destination;
use crate::areas::alerting::limits;

/// An attempt that took longer was slow.
const SLOW: Duration = Duration::from_secs(2);

/// The receivers that wait for places apart.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct SlowReceivers(Mutex<HashSet<Destination>>);

impl SlowReceivers {
    pub(super) fn contains(&self, destination: &Destination) -> bool {
        self.0.lock().contains(destination)
    }

    /// Takes notice of an attempt.
    pub(super) fn observe(&self, destination: &Destination, is_delivered: bool, took: Duration) {
        let mut slow = self.0.lock();
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
