//! How long a group waits for further writers before it is written.
//!
//! Two writers that each wait for a response before they write again take turns on a slow disk:
//! while the record of one is being synced the other one comes, and each pays for a sync of its
//! own. If the thread waits for the one whose response has just left, they share a sync:
//!
//! ```text
//! turns     A ├─ sync ─┤          ├─ sync ─┤      gathered   A ├─ sync ─┤     ├─ sync ─┤
//!           B          ├─ sync ─┤          ├─ …              B ├─ sync ─┤     ├─ sync ─┤
//! ```
//!
//! The committing thread waits where a sync takes longer than a client to send its next write, and
//! only there does somebody come during each sync. Then the writers of that group are waited for as
//! well, as long as a sync takes, so that a wait in vain costs a writer at most another such time;
//! and after waits in vain, several groups are written at once. A writer that is alone never waits.
//! PostgreSQL's `commit_siblings` and MariaDB's `binlog_commit_wait_count` do the same with fixed
//! numbers.
//!
//! On a fast disk, where threads write inline ([`super::inline`]), the last writer to come writes
//! the group, which takes no switch to another thread. There a group that was shared is expected to
//! be shared again, and the wait is as long as a client takes to send its next write.

use std::time::Duration;

/// The shortest time of a write and sync for which the committing thread waits for others: waking
/// up takes a twentieth of a millisecond.
const WRITE_TIME_MIN: Duration = Duration::from_micros(150);
/// A thread that is to write inline waits for others at most as long as a write takes, but for this
/// time at least: a client takes 0.1 to 0.2 ms to send its next write.
const INLINE_WAIT_MIN: Duration = Duration::from_micros(300);
/// And no longer than this: it has other work.
const INLINE_WAIT_MAX: Duration = Duration::from_micros(500);
/// The longest wait, also on disks that take longer.
const WAIT_MAX: Duration = Duration::from_millis(5);
/// A group counts for one in so many of the average time.
const WEIGHT: u32 = 8;
/// After waits in vain, twice as many groups as before are written at once, at most so many.
const GROUPS_AT_ONCE_MAX: u32 = 64;

/// What is known about the writers and the disk.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// The writers of the last group.
    writers: usize,
    /// The average time of writing a group, with its sync.
    write_time: Duration,
    /// Groups that are still written at once.
    at_once: u32,
    /// The groups that are written at once after the next wait in vain.
    next_at_once: u32,
}

/// The writers to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// The group is complete when it has so many writes.
    pub(super) writers: usize,
    pub(super) at_most: Duration,
}

impl Gathering {
    /// Notes that a group of so many writers was written and synced.
    pub(super) fn written(&mut self, writers: usize, took: Duration) {
        self.writers = writers;
        self.write_time = average(self.write_time, took);
    }

    /// Returns whom the committing thread waits for. `queued` writes came before the responses of
    /// the last group left.
    pub(super) fn wait(&mut self, queued: usize) -> Option<Wait> {
        let writers = std::mem::take(&mut self.writers).saturating_add(queued);
        if queued == 0 || self.write_time < WRITE_TIME_MIN {
            return None;
        }
        self.wait_for(writers, self.write_time)
    }

    /// Returns whom a thread waits for that is to write inline. `queued` writes, with its own, came
    /// before the responses of the last group left.
    pub(super) fn wait_inline(&mut self, queued: usize) -> Option<Wait> {
        let writers = std::mem::take(&mut self.writers).saturating_add(queued);
        self.wait_for(writers, self.write_time.clamp(INLINE_WAIT_MIN, INLINE_WAIT_MAX))
    }

    fn wait_for(&mut self, writers: usize, at_most: Duration) -> Option<Wait> {
        if writers < 2 {
            return None;
        }
        if self.at_once > 0 {
            self.at_once -= 1;
            return None;
        }
        Some(Wait { writers, at_most })
    }

    /// Notes whether a wait was a success: whether anybody came or, inline, all that were expected.
    pub(super) fn waited(&mut self, succeeded: bool) {
        if succeeded {
            self.next_at_once = 0;
        } else {
            self.next_at_once = (2 * self.next_at_once).clamp(1, GROUPS_AT_ONCE_MAX);
            self.at_once = self.next_at_once;
        }
    }
}

/// Returns the average of recent times. One stall of the disk, or a new segment, says little about
/// the next groups.
pub(super) fn average(of_earlier: Duration, took: Duration) -> Duration {
    let took = took.min(WAIT_MAX);
    match of_earlier {
        Duration::ZERO => took,
        average => (average * (WEIGHT - 1) + took) / WEIGHT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE_TIME: Duration = Duration::from_micros(300);

    fn after_group(writers: usize) -> Gathering {
        let mut gathering = Gathering::default();
        gathering.written(writers, WRITE_TIME);
        gathering
    }

    #[test]
    fn writers_of_the_last_group_and_those_that_came_meanwhile_are_waited_for() {
        let wait = |writers| Some(Wait { writers, at_most: WRITE_TIME });
        assert_eq!(after_group(1).wait(1), wait(2), "they take turns");
        assert_eq!(after_group(5).wait(3), wait(8));
        assert_eq!(after_group(1).wait(0), None, "one is alone");
        assert_eq!(after_group(2).wait(0), None, "nobody came during the sync");
        assert_eq!(Gathering::default().wait(9), None, "nothing was written");
    }

    #[test]
    fn who_shared_a_group_is_waited_for_inline() {
        let wait = |writers| Some(Wait { writers, at_most: INLINE_WAIT_MIN });
        let after_fast_group = |writers| {
            let mut gathering = Gathering::default();
            gathering.written(writers, WRITE_TIME_MIN / 2);
            gathering
        };
        assert_eq!(after_fast_group(1).wait_inline(0), None, "one is alone");
        assert_eq!(after_fast_group(1).wait_inline(1), wait(2), "they take turns");
        assert_eq!(after_fast_group(2).wait_inline(0), wait(2), "they come again");
        assert_eq!(after_fast_group(2).wait_inline(3), wait(5));
        let mut in_vain = after_fast_group(2);
        in_vain.waited(false);
        assert_eq!(in_vain.wait_inline(0), None);
    }

    #[test]
    fn the_writers_of_a_group_are_expected_once() {
        let mut gathering = after_group(2);
        assert!(gathering.wait(1).is_some());
        assert_eq!(gathering.wait(1), None, "a rotation wrote no group");
    }

    #[test]
    fn the_wait_is_as_long_as_a_write_within_limits() {
        let mut gathering = Gathering::default();
        let mut wait_after = |took: Duration| {
            (0..100).for_each(|_| gathering.written(2, took));
            gathering.wait(1).map(|wait| wait.at_most)
        };
        assert_eq!(wait_after(WRITE_TIME_MIN / 2), None);
        let wait = wait_after(Duration::from_millis(1)).unwrap();
        assert!(wait > Duration::from_micros(999) && wait <= Duration::from_millis(1));
        let wait = wait_after(Duration::from_secs(1)).unwrap();
        assert!(wait > WAIT_MAX * 99 / 100 && wait <= WAIT_MAX, "{wait:?}");
        // A stall of the disk does not make the waits after it long.
        let mut gathering = after_group(2);
        gathering.written(2, Duration::from_secs(9));
        assert!(gathering.wait(1).unwrap().at_most < Duration::from_millis(1));
    }

    #[test]
    fn waits_in_vain_become_rare_and_one_success_makes_up_for_them() {
        let mut gathering = Gathering::default();
        let mut groups_between = |has_come: bool| {
            let mut groups = 0;
            loop {
                gathering.written(1, WRITE_TIME);
                if gathering.wait(1).is_some() {
                    gathering.waited(has_come);
                    return groups;
                }
                groups += 1;
            }
        };
        let between: Vec<u32> = (0..9).map(|_| groups_between(false)).collect();
        assert_eq!(between, [0, 1, 2, 4, 8, 16, 32, 64, 64]);
        assert_eq!([groups_between(true), groups_between(true)], [64, 0]);
        assert_eq!([groups_between(false), groups_between(true)], [0, 1]);
    }
}
