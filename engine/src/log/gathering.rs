//! How long the committing thread waits for further writers before it writes a group, and whether
//! a writer needs that thread at all.
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
//! That pays where a sync takes longer than a client to send its next write, and only there does
//! somebody come during each sync. Then the writers of that group are waited for as well, as long
//! as a sync takes, so that a wait in vain costs a writer at most another such time; and after
//! waits in vain, several groups are written at once. A writer that is alone never waits. On a fast
//! disk writers are not held together: the processors work for one while the disk does for another.
//! PostgreSQL's `commit_siblings` and MariaDB's `binlog_commit_wait_count` do the same with fixed
//! numbers.
//!
//! On a fast disk the two switches, to the committing thread and back, take longer than the write.
//! There, a thread that submits a write while nobody else writes may write it itself
//! ([`Gathering::is_fast`]).

use std::time::Duration;

/// The shortest time of a write and sync for which others are waited for: waking up takes a
/// twentieth of a millisecond.
const WRITE_TIME_MIN: Duration = Duration::from_micros(150);
/// The longest average time of a turn, from a group to its responses, for which threads write what
/// they submit themselves: five times the two switches to another thread that this saves. Beyond it
/// these do not count, and a thread is kept from other work for too long.
const AT_ONCE_TIME_MAX: Duration = Duration::from_micros(500);
/// A turn of this length is a stall.
const STALL_TIME: Duration = Duration::from_millis(20);
/// After a stall or a failure, so many groups are left to the committing thread.
const LEFT_MIN: u32 = 16;
/// If stalls and failures recur, twice as many as the last time, at most so many.
const LEFT_MAX: u32 = 1_024;
/// A stall or a failure after so many groups without one is not a recurrence.
const CALM_GROUPS: u32 = 1_024;
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
    /// The average time of a turn: of writing a group, applying it and responding.
    turn_time: Duration,
    /// Groups that are still left to the committing thread after a stall or a failure.
    left: u32,
    /// The groups that the last stall or failure left to it.
    last_left: u32,
    /// Groups since no more were left after the last stall or failure.
    calm: u32,
    /// Groups that are still written at once.
    at_once: u32,
    /// The groups that are written at once after the next wait in vain.
    next_at_once: u32,
}

/// How long a turn took.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnTimes {
    /// Writing the group, with its sync.
    pub(super) write: Duration,
    /// All of it.
    pub(super) turn: Duration,
}

/// The writers to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// The group is complete when it has so many writes.
    pub(super) writers: usize,
    pub(super) at_most: Duration,
}

impl Gathering {
    /// Notes that a group of so many writers was written, and synced if `is_synced`: nobody is
    /// waited for who has no sync to share.
    pub(super) fn written(&mut self, writers: usize, took: TurnTimes, is_synced: bool) {
        self.writers = if is_synced { writers } else { 0 };
        self.write_time = average(self.write_time, took.write);
        self.turn_time = average(self.turn_time, took.turn);
        if took.turn >= STALL_TIME {
            self.failed();
        } else if self.left > 0 {
            self.left -= 1;
        } else {
            self.calm = self.calm.saturating_add(1);
        }
    }

    /// Notes that a group could not be written, or took too long.
    pub(super) fn failed(&mut self) {
        let recurs = self.calm < CALM_GROUPS;
        self.last_left =
            if recurs { (2 * self.last_left).clamp(LEFT_MIN, LEFT_MAX) } else { LEFT_MIN };
        self.left = self.last_left;
        self.calm = 0;
    }

    /// Returns whether threads may write what they submit themselves.
    pub(super) fn is_fast(&self) -> bool {
        let is_known = !self.turn_time.is_zero();
        is_known && self.left == 0 && self.turn_time <= AT_ONCE_TIME_MAX
    }

    /// Returns whom to wait for. `queued` writes came before the responses of the last group left.
    pub(super) fn wait(&mut self, queued: usize) -> Option<Wait> {
        let writers = std::mem::take(&mut self.writers).saturating_add(queued);
        if queued == 0 || writers < 2 || self.write_time < WRITE_TIME_MIN {
            return None;
        }
        if self.at_once > 0 {
            self.at_once -= 1;
            return None;
        }
        Some(Wait { writers, at_most: self.write_time })
    }

    /// Notes how a wait ended: whether anybody came.
    pub(super) fn waited(&mut self, has_come: bool) {
        if has_come {
            self.next_at_once = 0;
        } else {
            self.next_at_once = (2 * self.next_at_once).clamp(1, GROUPS_AT_ONCE_MAX);
            self.at_once = self.next_at_once;
        }
    }
}

/// Returns the average of recent times. One stall of the disk, or a new segment, says little about
/// the next groups.
fn average(of_earlier: Duration, took: Duration) -> Duration {
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

    fn times(write: Duration) -> TurnTimes {
        TurnTimes { write, turn: write }
    }

    fn after_group(writers: usize) -> Gathering {
        let mut gathering = Gathering::default();
        gathering.written(writers, times(WRITE_TIME), true);
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
        let mut unsynced = Gathering::default();
        unsynced.written(5, times(WRITE_TIME), false);
        assert_eq!(unsynced.wait(1), None, "no sync is shared");
    }

    #[test]
    fn threads_write_themselves_while_turns_are_short() {
        assert!(!Gathering::default().is_fast(), "nothing is known");
        for is_synced in [true, false] {
            let mut gathering = Gathering::default();
            let mut is_fast_after = |turn| {
                gathering.written(1, TurnTimes { write: WRITE_TIME, turn }, is_synced);
                gathering.is_fast()
            };
            assert!(is_fast_after(AT_ONCE_TIME_MAX));
            assert!(!is_fast_after(2 * AT_ONCE_TIME_MAX));
            let groups = (0..).take_while(|_| !is_fast_after(WRITE_TIME)).count();
            assert!((1..16).contains(&groups), "{groups} groups after a slow one");
        }
    }

    #[test]
    fn recurring_stalls_and_failures_leave_ever_more_groups_to_the_committing_thread() {
        for fails in [true, false] {
            let mut gathering = Gathering::default();
            let mut left_after_good = |good: u32| {
                (0..good).for_each(|_| gathering.written(1, times(WRITE_TIME), true));
                if fails {
                    gathering.failed();
                } else {
                    gathering.written(1, times(STALL_TIME), true);
                }
                let mut groups = 0;
                while !gathering.is_fast() {
                    gathering.written(1, times(WRITE_TIME), true);
                    groups += 1;
                }
                groups
            };
            // A stall in the average may take longer than the groups that are left.
            let within = |groups: u32, least: u32| (least..least + 16).contains(&groups);
            assert!(within(left_after_good(1), LEFT_MIN));
            assert!(within(left_after_good(9), 2 * LEFT_MIN));
            assert!(within(left_after_good(9), 4 * LEFT_MIN));
            assert!(within(left_after_good(CALM_GROUPS), LEFT_MIN), "it was calm");
            let recurring: Vec<u32> = (0..9).map(|_| left_after_good(1)).collect();
            assert!(within(recurring[8], LEFT_MAX), "{recurring:?}");
        }
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
            (0..100).for_each(|_| gathering.written(2, times(took), true));
            gathering.wait(1).map(|wait| wait.at_most)
        };
        assert_eq!(wait_after(WRITE_TIME_MIN / 2), None);
        let wait = wait_after(Duration::from_millis(1)).unwrap();
        assert!(wait > Duration::from_micros(999) && wait <= Duration::from_millis(1));
        let wait = wait_after(Duration::from_secs(1)).unwrap();
        assert!(wait > WAIT_MAX * 99 / 100 && wait <= WAIT_MAX, "{wait:?}");
        // A stall of the disk does not make the waits after it long.
        let mut gathering = after_group(2);
        gathering.written(2, times(Duration::from_secs(9)), true);
        assert!(gathering.wait(1).unwrap().at_most < Duration::from_millis(1));
    }

    #[test]
    fn waits_in_vain_become_rare_and_one_success_makes_up_for_them() {
        let mut gathering = Gathering::default();
        let mut groups_between = |has_come: bool| {
            let mut groups = 0;
            loop {
                gathering.written(1, times(WRITE_TIME), true);
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
