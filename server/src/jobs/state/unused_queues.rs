//! Unused queues, which are dropped after a while, or at once if the maximum number of queues is
//! reached.
//!
//! A queue is unused if it is not paused, no worker is registered for it and no job refers to it,
//! finished and dead ones included. So a number that refers to a queue is always valid, and the
//! number of a dropped queue can be reused.

use std::collections::BTreeSet;

use super::cycle::Cycle;
use super::machine::State;
use super::queues::Queue;
use crate::jobs::stored;

/// The unused queues, and the free numbers.
#[derive(Debug, Default)]
pub(super) struct UnusedQueues {
    /// Queues that changed since they were last checked, each once.
    touched: Vec<u32>,
    /// Unused queues, by since when they are.
    since: BTreeSet<(i64, u32)>,
    /// Numbers below the greatest that no queue has.
    free: BTreeSet<u32>,
}

impl UnusedQueues {
    /// Marks a queue as changed: the next cycle checks whether it is unused.
    pub(super) fn touch(&mut self, number: u32, queue: &mut Queue) {
        if !std::mem::replace(&mut queue.is_touched, true) {
            self.touched.push(number);
        }
    }

    /// Takes a free number, the smallest first.
    pub(super) fn take_number(&mut self) -> Option<u32> {
        self.free.pop_first()
    }

    /// Records that a queue was removed.
    pub(super) fn forget(&mut self, number: u32, queue: &Queue) {
        if let Some(since_ms) = queue.unused_since_ms {
            self.since.remove(&(since_ms, number));
        }
        self.free.insert(number);
    }

    /// Sets the numbers for which the start found no queue.
    pub(super) fn set_free(&mut self, numbers: impl Iterator<Item = u32>) {
        self.free = numbers.collect();
    }
}

impl State {
    /// Checks which changed queues are unused, and drops those that have been unused for long.
    pub(super) fn drop_unused(&mut self, steps: &mut usize, cycle: &mut Cycle) {
        self.update_unused(cycle.now.steady_ms);
        let keep_ms = self.settings.queue_keep.ms();
        while *steps > 0 {
            let longest = self.queues.unused.since.first().copied();
            let Some((since_ms, number)) = longest else { return };
            if cycle.now.steady_ms.saturating_sub(since_ms) < keep_ms {
                return;
            }
            self.drop_queue(number, cycle);
            *steps -= 1;
        }
    }

    /// Drops the queue that has been unused the longest, to make room for a new one. Returns
    /// whether there was one.
    pub(super) fn drop_longest_unused(&mut self, cycle: &mut Cycle) -> bool {
        let unused = |number: &u32| self.queues.get(*number).is_some_and(Queue::is_unused);
        let mut longest = self.queues.unused.since.iter().map(|(_, number)| *number);
        // Queues that came into use during this cycle are still in the set.
        let Some(number) = longest.find(unused) else { return false };
        self.drop_queue(number, cycle);
        true
    }

    pub(super) fn drop_queue(&mut self, number: u32, cycle: &mut Cycle) {
        self.queues.remove(number);
        cycle.batch.delete(stored::QUEUES, &number.to_be_bytes());
    }

    fn update_unused(&mut self, steady_ms: i64) {
        for number in std::mem::take(&mut self.queues.unused.touched) {
            // It may have been dropped meanwhile.
            let Some(queue) = self.queues.slot_mut(number) else { continue };
            let before = queue.unused_since_ms;
            // A deleted queue is dropped without delay.
            let from = if queue.is_deleted { i64::MIN } else { steady_ms };
            let since = queue.is_unused().then(|| before.unwrap_or(from));
            queue.unused_since_ms = since;
            queue.is_touched = false;
            let all = &mut self.queues.unused.since;
            match (before, since) {
                (None, Some(since_ms)) => drop(all.insert((since_ms, number))),
                (Some(before_ms), None) => drop(all.remove(&(before_ms, number))),
                _ => {}
            }
        }
    }
}
