//! Queues that nobody needs: they vanish after a while, and at once where a new one has no place else.
//!
//! A queue is vacant when it is not paused, no worker names it and no job refers to it, a finished or dead one neither. So
//! whatever refers to a queue by its number finds it, and the number of one that vanished can be given to another.

use std::collections::BTreeSet;

use super::machine::State;
use super::queues::Queue;
use super::round::Round;
use crate::jobs::stored;

/// Which queues nobody needs, and which numbers are free.
#[derive(Debug, Default)]
pub(super) struct Vacancies {
    /// Queues that changed since they were last looked at, each once.
    touched: Vec<u32>,
    /// Vacant queues, by since when they are.
    since: BTreeSet<(i64, u32)>,
    /// Numbers below the greatest that no queue has.
    free: BTreeSet<u32>,
}

impl Vacancies {
    /// A queue changes: whether it is vacant is looked at in the next round.
    pub(super) fn touch(&mut self, number: u32, queue: &mut Queue) {
        if !std::mem::replace(&mut queue.is_touched, true) {
            self.touched.push(number);
        }
    }

    /// A number that is free, the smallest first.
    pub(super) fn take_number(&mut self) -> Option<u32> {
        self.free.pop_first()
    }

    /// A queue is no longer there.
    pub(super) fn forget(&mut self, number: u32, queue: &Queue) {
        if let Some(since_ms) = queue.vacant_since_ms {
            self.since.remove(&(since_ms, number));
        }
        self.free.insert(number);
    }

    /// Numbers that a start found no queue for are free.
    pub(super) fn set_free(&mut self, numbers: impl Iterator<Item = u32>) {
        self.free = numbers.collect();
    }
}

impl State {
    /// Finds out which of the queues that changed nobody needs, and drops those that nobody has needed for long.
    pub(super) fn drop_vacant(&mut self, steps: &mut usize, round: &mut Round) {
        self.note_vacancies(round.now.steady_ms);
        let keep_ms = self.settings.queue_keep_ms;
        while *steps > 0 {
            let longest = self.queues.vacancies.since.first().copied();
            let Some((since_ms, number)) = longest else { return };
            if round.now.steady_ms.saturating_sub(since_ms) < keep_ms {
                return;
            }
            self.drop_queue(number, round);
            *steps -= 1;
        }
    }

    /// Drops the queue that nobody has needed for longest, for a new one that has no place else. Answers whether there was one.
    pub(super) fn drop_longest_vacant(&mut self, round: &mut Round) -> bool {
        let vacant = |number: &u32| self.queues.get(*number).is_some_and(Queue::is_vacant);
        let mut longest = self.queues.vacancies.since.iter().map(|(_, number)| *number);
        // One that is needed since this round began is still among them.
        let Some(number) = longest.find(vacant) else { return false };
        self.drop_queue(number, round);
        true
    }

    pub(super) fn drop_queue(&mut self, number: u32, round: &mut Round) {
        self.queues.remove(number);
        round.batch.delete(stored::QUEUES, &number.to_be_bytes());
    }

    fn note_vacancies(&mut self, steady_ms: i64) {
        for number in std::mem::take(&mut self.queues.vacancies.touched) {
            // It may have vanished meanwhile.
            let Some(queue) = self.queues.slot_mut(number) else { continue };
            let before = queue.vacant_since_ms;
            // One that was deleted is not kept for anybody.
            let from = if queue.is_deleted { i64::MIN } else { steady_ms };
            let since = queue.is_vacant().then(|| before.unwrap_or(from));
            queue.vacant_since_ms = since;
            queue.is_touched = false;
            let all = &mut self.queues.vacancies.since;
            match (before, since) {
                (None, Some(since_ms)) => drop(all.insert((since_ms, number))),
                (Some(before_ms), None) => drop(all.remove(&(before_ms, number))),
                _ => {}
            }
        }
    }
}
