//! Queues: the order of waiting jobs, counts, and whether jobs are granted.

use std::collections::{HashMap, VecDeque};

use super::cycle::Cycle;
use super::job::Job;
use super::machine::State;
use super::unused_queues::UnusedQueues;
use crate::jobs::error::JobsError;
use crate::jobs::model::{JobId, JobStatus, QueueOwner};
use crate::jobs::names::QueueName;
use crate::jobs::stored::{self, StoredQueue, StoredQueueDeleted};
use crate::limits;

/// Ids of jobs that left a queue, in excess of its length, before they are removed from its order.
const ORDER_SPARE: usize = 64;

/// All queues, by number and by name. The number of a dropped queue is reused.
#[derive(Debug, Default)]
pub(super) struct Queues {
    slots: Vec<Option<Queue>>,
    pub(super) by_name: HashMap<QueueName, u32>,
    pub(super) unused: UnusedQueues,
    /// The number of waiting jobs of all queues.
    pub(super) waiting: usize,
}

/// One queue.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) name: QueueName,
    pub(super) paused_ms: Option<i64>,
    /// The ready jobs, the next one first. Ids of jobs that left from the middle are skipped.
    pub(super) order: VecDeque<JobId>,
    /// The positions before the first and after the last job, as stored on disk.
    pub(super) front: i64,
    pub(super) back: i64,
    pub(super) ready: usize,
    pub(super) scheduled: usize,
    pub(super) retrying: usize,
    pub(super) running: usize,
    /// Finished jobs that are still kept.
    pub(super) finished: usize,
    /// Dead jobs.
    pub(super) dead: usize,
    /// Workers registered for it.
    pub(super) workers: usize,
    /// Since when it is unused, on the monotonic clock, as of the last check.
    pub(super) unused_since_ms: Option<i64>,
    /// Whether it is to be checked again.
    pub(super) is_touched: bool,
    /// Whether it was deleted. It is hidden, dropped as soon as nothing refers to it, and restored
    /// when its name is used again.
    pub(super) is_deleted: bool,
}

impl Queue {
    /// Returns whether it has a job to grant.
    pub(super) fn has_ready(&self) -> bool {
        self.ready > 0 && self.paused_ms.is_none()
    }

    /// Returns whether nothing refers to it.
    pub(super) fn is_unused(&self) -> bool {
        self.paused_ms.is_none()
            && self.waiting() + self.running + self.finished + self.dead + self.workers == 0
    }

    /// Returns whether lists include it.
    pub(super) fn is_shown_to(&self, whose: QueueOwner) -> bool {
        !self.is_deleted && whose.fits(&self.name)
    }

    /// Returns the number of waiting jobs.
    pub(super) fn waiting(&self) -> usize {
        self.ready + self.scheduled + self.retrying
    }

    pub(super) fn new(name: QueueName, paused_ms: Option<i64>) -> Self {
        Self {
            name,
            paused_ms,
            order: VecDeque::new(),
            front: -1,
            back: 0,
            ready: 0,
            scheduled: 0,
            retrying: 0,
            running: 0,
            finished: 0,
            dead: 0,
            workers: 0,
            unused_since_ms: None,
            is_touched: false,
            is_deleted: false,
        }
    }
}

impl Queues {
    /// Returns the queue with a number.
    ///
    /// # Panics
    /// If there is none: numbers come from [`State::queue_named`] and from disk, where they are
    /// checked.
    pub(super) fn of(&self, number: u32) -> &Queue {
        match self.get(number) {
            Some(queue) => queue,
            None => {
                unreachable!("queue {number} does not exist, but no queue in use is dropped")
            }
        }
    }

    /// Returns the queue with a number for changes.
    pub(super) fn of_mut(&mut self, number: u32) -> &mut Queue {
        let Self { slots, unused, .. } = self;
        match slots.get_mut(number as usize).and_then(Option::as_mut) {
            Some(queue) => {
                unused.touch(number, queue);
                queue
            }
            None => {
                unreachable!("queue {number} does not exist, but no queue in use is dropped")
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&Queue> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// Returns a queue without marking it as changed.
    pub(super) fn slot_mut(&mut self, number: u32) -> Option<&mut Queue> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// Returns all queues with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Queue)> {
        (0..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Returns the number of queues.
    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns one more than the greatest number.
    pub(super) fn numbers_end(&self) -> usize {
        self.slots.len()
    }

    /// Adds a queue and returns its number: that of a dropped queue, or the next one.
    pub(super) fn add(&mut self, queue: Queue) -> u32 {
        let next = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let number = self.unused.take_number().unwrap_or(next);
        self.put(number, queue);
        number
    }

    /// Puts a queue at a number that is not in use.
    pub(super) fn put(&mut self, number: u32, mut queue: Queue) {
        self.by_name.insert(queue.name.clone(), number);
        self.unused.touch(number, &mut queue);
        if self.slots.len() <= number as usize {
            self.slots.resize_with(number as usize + 1, || None);
        }
        if let Some(slot) = self.slots.get_mut(number as usize) {
            *slot = Some(queue);
        }
    }

    /// Removes a queue. Its number can be reused.
    pub(super) fn remove(&mut self, number: u32) {
        let Some(queue) = self.slots.get_mut(number as usize).and_then(Option::take) else {
            return;
        };
        // The replacement of a damaged record may have the name of another queue.
        if self.by_name.get(&queue.name) == Some(&number) {
            self.by_name.remove(&queue.name);
        }
        self.unused.forget(number, &queue);
    }

    pub(super) fn push_back(&mut self, number: u32, id: JobId) -> i64 {
        let queue = self.of_mut(number);
        queue.order.push_back(id);
        queue.ready += 1;
        queue.back += 1;
        let order = queue.back - 1;
        self.waiting += 1;
        order
    }

    pub(super) fn push_front(&mut self, number: u32, id: JobId) -> i64 {
        let queue = self.of_mut(number);
        queue.order.push_front(id);
        queue.ready += 1;
        queue.front -= 1;
        let order = queue.front + 1;
        self.waiting += 1;
        order
    }

    /// Changes the count of jobs with a status other than ready.
    pub(super) fn count(&mut self, number: u32, status: JobStatus, change: isize) {
        let queue = self.of_mut(number);
        let count = match status {
            JobStatus::Scheduled => &mut queue.scheduled,
            JobStatus::Retrying => &mut queue.retrying,
            JobStatus::Running => &mut queue.running,
            JobStatus::Completed => &mut queue.finished,
            JobStatus::Dead => &mut queue.dead,
            JobStatus::Ready => return,
        };
        *count = changed(*count, change);
        if matches!(status, JobStatus::Scheduled | JobStatus::Retrying) {
            self.waiting = changed(self.waiting, change);
        }
    }
}

impl State {
    /// Returns the number of a queue, which is added if it does not exist.
    pub(super) fn queue_named(
        &mut self,
        name: &QueueName,
        cycle: &mut Cycle,
    ) -> Result<u32, JobsError> {
        if let Some(number) = self.queues.by_name.get(name).copied() {
            if self.queues.of(number).is_deleted {
                self.queues.of_mut(number).is_deleted = false;
                self.store_queue(number, cycle);
            }
            return Ok(number);
        }
        if self.queues.len() >= limits::QUEUES_MAX && !self.drop_longest_unused(cycle) {
            return Err(JobsError::TooManyQueues);
        }
        let number = self.queues.add(Queue::new(name.clone(), None));
        self.store_queue(number, cycle);
        Ok(number)
    }

    /// Returns the number of an existing queue.
    pub(super) fn queue_number(&self, name: &str) -> Result<u32, JobsError> {
        let found = self.queues.by_name.get(name).copied();
        let found = found.filter(|number| !self.queues.of(*number).is_deleted);
        found.ok_or_else(|| JobsError::QueueNotFound(name.to_owned()))
    }

    /// Deletes a queue without waiting and running jobs. While finished or dead jobs, or workers,
    /// refer to it, it is only hidden.
    pub(in crate::jobs) fn delete_queue(
        &mut self,
        name: &str,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        let number = self.queue_number(name)?;
        let queue = self.queues.of_mut(number);
        if queue.waiting() + queue.running > 0 {
            return Err(JobsError::QueueNotEmpty);
        }
        (queue.is_deleted, queue.paused_ms) = (true, None);
        if queue.is_unused() {
            self.drop_queue(number, cycle);
        } else {
            self.store_queue(number, cycle);
        }
        Ok(())
    }

    /// Takes the next job from a queue, unless it is paused.
    pub(super) fn pop_ready(&mut self, number: u32) -> Option<(JobId, Job)> {
        let queue = self.queues.of_mut(number);
        if queue.paused_ms.is_some() {
            return None;
        }
        while let Some(id) = queue.order.pop_front() {
            if let Some(job) = self.jobs.get(&id).filter(|job| job.status == JobStatus::Ready) {
                queue.ready = changed(queue.ready, -1);
                self.queues.waiting = changed(self.queues.waiting, -1);
                return Some((id, *job));
            }
        }
        if queue.ready > 0 {
            unreachable!(
                "queue {number} counts {} ready jobs, but its order has none",
                queue.ready
            );
        }
        None
    }

    /// Removes a ready job from anywhere in its queue. Its id stays in the order, unless it is at
    /// the front, or the order would become much longer than the queue.
    pub(super) fn leave_ready(&mut self, id: JobId, number: u32) {
        let stays = |other: &JobId| {
            *other != id && self.jobs.get(other).is_some_and(|job| job.status == JobStatus::Ready)
        };
        self.queues.waiting = changed(self.queues.waiting, -1);
        let queue = self.queues.of_mut(number);
        queue.ready = changed(queue.ready, -1);
        if queue.ready == 0 {
            queue.order = VecDeque::new();
            return;
        }
        while queue.order.pop_front_if(|first| !stays(first)).is_some() {}
        if queue.order.len() > 2 * queue.ready + ORDER_SPARE {
            queue.order.retain(stays);
        }
    }

    /// Pauses a queue. Returns when it was paused.
    pub(in crate::jobs) fn pause(
        &mut self,
        name: &str,
        cycle: &mut Cycle,
    ) -> Result<i64, JobsError> {
        let number = self.queue_number(name)?;
        let queue = self.queues.of_mut(number);
        if let Some(since_ms) = queue.paused_ms {
            return Ok(since_ms);
        }
        queue.paused_ms = Some(cycle.wall_ms());
        self.store_queue(number, cycle);
        Ok(cycle.wall_ms())
    }

    /// Resumes a queue. Returns when it was resumed.
    pub(in crate::jobs) fn resume(
        &mut self,
        name: &str,
        cycle: &mut Cycle,
    ) -> Result<i64, JobsError> {
        let number = self.queue_number(name)?;
        if self.queues.of_mut(number).paused_ms.take().is_none() {
            return Err(JobsError::NotPaused);
        }
        self.store_queue(number, cycle);
        cycle.wake(number);
        Ok(cycle.wall_ms())
    }

    /// Deletes a waiting job and everything stored of it.
    pub(super) fn remove_waiting(&mut self, id: JobId, mut job: Job, cycle: &mut Cycle) {
        self.cancel_wait(id, job);
        self.release_key(id, &mut job);
        self.jobs.remove(&id);
        Self::erase(id, job.failures, cycle);
    }

    fn store_queue(&self, number: u32, cycle: &mut Cycle) {
        let queue = self.queues.of(number);
        let stored = StoredQueue { name: queue.name.to_string(), paused_ms: queue.paused_ms };
        let deleted = queue.is_deleted.then_some(StoredQueueDeleted { is_deleted: true });
        let record = stored::encode_with(&stored, deleted.as_ref());
        cycle.batch.put(stored::QUEUES, &number.to_be_bytes(), record);
    }
}

/// Returns a changed count of jobs.
///
/// # Panics
/// If it falls below zero: every job that leaves a status was counted when it entered it.
fn changed(count: usize, change: isize) -> usize {
    match count.checked_add_signed(change) {
        Some(count) => count,
        None => unreachable!("more jobs left a status than entered it: {count} {change}"),
    }
}

/// Returns whether a job with this status is waiting: neither started nor finished.
pub(super) fn waits(status: JobStatus) -> bool {
    matches!(status, JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying)
}
