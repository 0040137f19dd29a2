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
/// Time from a seal to a search for windows with its blocks: whoever has imported data queries it
/// first, and blocks that are replaced meanwhile have to be opened again.
pub(super) const AFTER_SEAL: Duration = Duration::from_secs(3);
/// Further seals put that search off, until this time after the first of them at most: a day that
/// is imported in a few seconds is compacted once.
const AFTER_FIRST_SEAL_MAX: Duration = Duration::from_secs(10);
/// Time from the last seal until windows are compacted that have grown little.
pub(super) const QUIET: Duration = Duration::from_secs(10);

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// Nothing was compacted.
    Idle,
    /// All that was found was compacted.
    Complete,
    /// Its time ended before all that was found was compacted.
    Cut,
}

/// The times of the next searches, on the steady clock.
#[derive(Debug)]
pub(super) struct MergeSchedule {
    next: Duration,
    /// `None` if there was no seal since the last search.
    after_seals: Option<AfterSeals>,
    /// From when on windows are compacted that have grown little.
    quiet: Duration,
    /// The same while seals go on.
    at_last: Duration,
}

/// The search for windows with the blocks of the seals since the last search.
#[derive(Clone, Copy, Debug)]
struct AfterSeals {
    at: Duration,
    /// Further seals put it off until then at most.
    at_most: Duration,
}

impl MergeSchedule {
    /// Returns the schedule after a start: replayed data is compacted soon.
    pub(super) fn after_start(now: Duration) -> Self {
        Self { next: now, after_seals: None, quiet: now, at_last: now + PERIOD }
    }

    /// Returns which windows are to be compacted now, if any.
    pub(super) fn due(&self, now: Duration) -> Option<CompactionScope> {
        let any_growth = now >= self.quiet.min(self.at_last);
        let scope = if any_growth { CompactionScope::Over } else { CompactionScope::Grown };
        let is_after_seals = self.after_seals.is_some_and(|search| now >= search.at);
        (now >= self.next || is_after_seals).then_some(scope)
    }

    /// Takes note of a pass over `scope`.
    pub(super) fn passed(&mut self, now: Duration, scope: CompactionScope, end: PassEnd) {
        let is_partial = scope == CompactionScope::Grown;
        self.after_seals = None;
        self.next = match end {
            PassEnd::Complete | PassEnd::Cut => now,
            PassEnd::Idle if is_partial => self.quiet.min(self.at_last),
            PassEnd::Idle => now + PERIOD,
        };
        if !is_partial && end != PassEnd::Cut {
            self.at_last = now + PERIOD;
        }
    }

    /// Takes note of a seal, whose blocks may be of windows that are over.
    pub(super) fn sealed(&mut self, now: Duration) {
        let at_most = self.after_seals.map_or(now + AFTER_FIRST_SEAL_MAX, |search| search.at_most);
        self.after_seals = Some(AfterSeals { at: at_most.min(now + AFTER_SEAL), at_most });
        self.quiet = now + QUIET;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_in_a_period_all_windows_are_compacted_however_many_passes_it_takes() {
        let at = |seconds: u64| Duration::from_secs(seconds);
        let mut schedule = MergeSchedule::after_start(at(0));
        assert_eq!(schedule.due(at(0)), Some(CompactionScope::Over));
        schedule.passed(at(0), CompactionScope::Over, PassEnd::Idle);
        // A seal every second, so that there is always something to compact.
        let mut scopes = Vec::new();
        for second in 1..=65 {
            schedule.sealed(at(second));
            let Some(scope) = schedule.due(at(second)) else { continue };
            scopes.push((second, scope));
            let end = if second < 62 { PassEnd::Cut } else { PassEnd::Complete };
            schedule.passed(at(second), scope, end);
        }
        let over: Vec<u64> = scopes
            .iter()
            .filter(|(_, scope)| *scope == CompactionScope::Over)
            .map(|(second, _)| *second)
            .collect();
        assert_eq!(over, [60, 61, 62]);
        assert_eq!(scopes.first(), Some(&(11, CompactionScope::Grown)));
    }

    #[test]
    fn an_import_of_a_few_seconds_is_searched_once_when_it_is_over() {
        let at = |seconds: u64| Duration::from_secs(seconds);
        let mut schedule = MergeSchedule::after_start(at(0));
        schedule.passed(at(0), CompactionScope::Over, PassEnd::Idle);
        for second in 1..=6 {
            schedule.sealed(at(second));
            assert_eq!(schedule.due(at(second)), None);
        }
        let due: Vec<u64> = (7..60).filter(|second| schedule.due(at(*second)).is_some()).collect();
        assert_eq!(due.first(), Some(&9), "{AFTER_SEAL:?} after the last seal");
        schedule.passed(at(9), CompactionScope::Grown, PassEnd::Idle);
        assert_eq!(schedule.due(at(10)), None);
        assert_eq!(schedule.due(at(6) + QUIET), Some(CompactionScope::Over));
    }
}
