//! When blocks are compacted in the background, and which.
//!
//! An import of old data seals every few seconds, always into days that are over. If each seal led
//! to a compaction of its day, a day would be rewritten as often. So while seals go on, a window is
//! compacted when it has doubled, and however little it has grown once there was no seal for
//! [`QUIET`], or once in a [`PERIOD`].

use std::time::Duration;

use crate::reports::CompactionScope;

/// Time until the next search for windows to compact if the last one found none.
const PERIOD: Duration = Duration::from_secs(60);
/// Time from a seal to a search for windows with its blocks.
pub(super) const AFTER_SEAL: Duration = Duration::from_secs(2);
/// Time from the last seal until windows are compacted that have grown little.
pub(super) const QUIET: Duration = Duration::from_secs(10);

/// The times of the next searches, on the steady clock.
#[derive(Debug)]
pub(super) struct MergeSchedule {
    next: Duration,
    /// From when on windows are compacted that have grown little.
    quiet: Duration,
    /// The same while seals go on.
    at_last: Duration,
}

impl MergeSchedule {
    /// Returns the schedule after a start: replayed data is compacted soon.
    pub(super) fn after_start(now: Duration) -> Self {
        Self { next: now, quiet: now, at_last: now + PERIOD }
    }

    /// Returns which windows are to be compacted now, if any.
    pub(super) fn due(&self, now: Duration) -> Option<CompactionScope> {
        let any_growth = now >= self.quiet.min(self.at_last);
        let scope = if any_growth { CompactionScope::Over } else { CompactionScope::Grown };
        (now >= self.next).then_some(scope)
    }

    /// Takes note of a pass over `scope`. It was busy if there may be more to compact, and complete
    /// if its time sufficed for all that was found.
    pub(super) fn passed(
        &mut self,
        now: Duration,
        scope: CompactionScope,
        (busy, complete): (bool, bool),
    ) {
        let is_partial = scope == CompactionScope::Grown;
        self.next = match (busy, is_partial) {
            (true, _) => now,
            (false, true) => self.quiet.min(self.at_last),
            (false, false) => now + PERIOD,
        };
        if !is_partial && (complete || !busy) {
            self.at_last = now + PERIOD;
        }
    }

    /// Takes note of a seal, whose blocks may be of windows that are over.
    pub(super) fn sealed(&mut self, now: Duration) {
        self.next = self.next.min(now + AFTER_SEAL);
        self.quiet = now + QUIET;
    }
}
