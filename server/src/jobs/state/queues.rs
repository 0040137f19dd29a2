//! Queues: who waits in which order, and whether anything is handed out.

use std::collections::{HashMap, VecDeque};

use super::machine::State;
use super::round::Round;
use super::vacancies::Vacancies;
use crate::jobs::error::JobsError;
use crate::jobs::model::{JobId, JobStatus, Whose};
use crate::jobs::names::QueueName;
use crate::jobs::stored::{self, StoredQueue, StoredQueueDeleted};
use crate::limits;

/// Ids of jobs that left, that the order of the shortest queue may hold before it is tidied.
const ORDER_SPARE: usize = 64;

/// All queues, by number and by name. The number of one that vanished is given to another.
#[derive(Debug, Default)]
pub(super) struct Queues {
    slots: Vec<Option<Queue>>,
    pub(super) by_name: HashMap<QueueName, u32>,
    pub(super) vacancies: Vacancies,
    /// Jobs of all queues that wait, whatever for.
    pub(super) waiting: usize,
}

/// One queue.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) name: QueueName,
    pub(super) paused_ms: Option<i64>,
    /// Those that wait, the next first. Ids of jobs that left otherwise than by the front are passed over.
    pub(super) order: VecDeque<JobId>,
    /// The place before the first, and the one behind the last, for the disk.
    pub(super) front: i64,
    pub(super) back: i64,
    pub(super) ready: usize,
    pub(super) scheduled: usize,
    pub(super) retrying: usize,
    pub(super) running: usize,
    /// Jobs that are done and can still be asked for.
    pub(super) finished: usize,
    /// Dead jobs.
    pub(super) dead: usize,
    /// Workers that named it.
    pub(super) workers: usize,
    /// Since when nobody needs it, on the steady clock, as far as was looked.
    pub(super) vacant_since_ms: Option<i64>,
    /// Whether it is to be looked at whether somebody needs it.
    pub(super) is_touched: bool,
    /// Whether somebody deleted it. It is not shown, vanishes as soon as nothing refers to it, and is there again when it is named.
    pub(super) is_deleted: bool,
}

impl Queue {
    /// Whether it has a job to hand out.
    pub(super) fn has_ready(&self) -> bool {
        self.ready > 0 && self.paused_ms.is_none()
    }

    /// Whether nothing and nobody refers to it.
    pub(super) fn is_vacant(&self) -> bool {
        self.paused_ms.is_none()
            && self.waiting() + self.running + self.finished + self.dead + self.workers == 0
    }

    /// Whether a list shows it.
    pub(super) fn is_shown_to(&self, whose: Whose) -> bool {
        !self.is_deleted && whose.fits(&self.name)
    }

    /// Jobs that wait, whatever for.
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
            vacant_since_ms: None,
            is_touched: false,
            is_deleted: false,
        }
    }
}

impl Queues {
    /// The queue of a number.
    ///
    /// # Panics
    /// When there is none: numbers come from [`State::queue_named`] and from disk, where they are checked.
    pub(super) fn of(&self, number: u32) -> &Queue {
        match self.get(number) {
            Some(queue) => queue,
            None => {
                unreachable!("queue {number} is not there, and none vanishes that is referred to")
            }
        }
    }

    /// The same, to be changed.
    pub(super) fn of_mut(&mut self, number: u32) -> &mut Queue {
        let Self { slots, vacancies, .. } = self;
        match slots.get_mut(number as usize).and_then(Option::as_mut) {
            Some(queue) => {
                vacancies.touch(number, queue);
                queue
            }
            None => {
                unreachable!("queue {number} is not there, and none vanishes that is referred to")
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&Queue> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// A queue that is only looked at, or marked as looked at.
    pub(super) fn slot_mut(&mut self, number: u32) -> Option<&mut Queue> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// All queues with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Queue)> {
        (0..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// One more than the greatest number.
    pub(super) fn numbers_end(&self) -> usize {
        self.slots.len()
    }

    /// Adds a queue and gives it a number: that of one that vanished, or the next.
    pub(super) fn add(&mut self, queue: Queue) -> u32 {
        let next = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let number = self.vacancies.take_number().unwrap_or(next);
        self.put(number, queue);
        number
    }

    /// Puts a queue where there is none.
    pub(super) fn put(&mut self, number: u32, mut queue: Queue) {
        self.by_name.insert(queue.name.clone(), number);
        self.vacancies.touch(number, &mut queue);
        if self.slots.len() <= number as usize {
            self.slots.resize_with(number as usize + 1, || None);
        }
        if let Some(slot) = self.slots.get_mut(number as usize) {
            *slot = Some(queue);
        }
    }

    /// Takes a queue away, so that its number can be given to another.
    pub(super) fn remove(&mut self, number: u32) {
        let Some(queue) = self.slots.get_mut(number as usize).and_then(Option::take) else {
            return;
        };
        // One that was made in the place of a lost one may have the name of another.
        if self.by_name.get(&queue.name) == Some(&number) {
            self.by_name.remove(&queue.name);
        }
        self.vacancies.forget(number, &queue);
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

    /// Jobs of a status other than ready came or went.
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
        *count = count.saturating_add_signed(change);
        if matches!(status, JobStatus::Scheduled | JobStatus::Retrying) {
            self.waiting = self.waiting.saturating_add_signed(change);
        }
    }
}

impl State {
    /// The number of a queue; it is made when there is none of this name.
    pub(super) fn queue_named(
        &mut self,
        name: &QueueName,
        round: &mut Round,
    ) -> Result<u32, JobsError> {
        if let Some(number) = self.queues.by_name.get(name).copied() {
            if self.queues.of(number).is_deleted {
                self.queues.of_mut(number).is_deleted = false;
                self.store_queue(number, round);
            }
            return Ok(number);
        }
        if self.queues.len() >= limits::QUEUES_MAX && !self.drop_longest_vacant(round) {
            return Err(JobsError::TooManyQueues);
        }
        let number = self.queues.add(Queue::new(name.clone(), None));
        self.store_queue(number, round);
        Ok(number)
    }

    /// The number of a queue that there is.
    pub(super) fn queue_number(&self, name: &str) -> Result<u32, JobsError> {
        let found = self.queues.by_name.get(name).copied();
        let found = found.filter(|number| !self.queues.of(*number).is_deleted);
        found.ok_or_else(|| JobsError::QueueNotFound(name.to_owned()))
    }

    /// Deletes a queue in which no job waits or runs. While finished or dead jobs, or workers, refer to it, it stays unseen.
    pub(in crate::jobs) fn delete_queue(
        &mut self,
        name: &str,
        round: &mut Round,
    ) -> Result<(), JobsError> {
        let number = self.queue_number(name)?;
        let queue = self.queues.of_mut(number);
        if queue.waiting() + queue.running > 0 {
            return Err(JobsError::QueueNotEmpty);
        }
        (queue.is_deleted, queue.paused_ms) = (true, None);
        if queue.is_vacant() {
            self.drop_queue(number, round);
        } else {
            self.store_queue(number, round);
        }
        Ok(())
    }

    /// The next job of a queue leaves it. A paused queue has none.
    pub(super) fn pop_ready(&mut self, number: u32) -> Option<JobId> {
        let queue = self.queues.of_mut(number);
        if queue.paused_ms.is_some() {
            return None;
        }
        while let Some(id) = queue.order.pop_front() {
            if self.jobs.get(&id).is_some_and(|job| job.status == JobStatus::Ready) {
                queue.ready -= 1;
                self.queues.waiting -= 1;
                return Some(id);
            }
        }
        None
    }

    /// A ready job leaves its queue from wherever it stands. Its id stays in the order, unless that costs whoever looks for the
    /// first job, or makes the order much longer than the queue.
    pub(super) fn leave_ready(&mut self, id: JobId, number: u32) {
        let stays = |other: &JobId| {
            *other != id && self.jobs.get(other).is_some_and(|job| job.status == JobStatus::Ready)
        };
        self.queues.waiting -= 1;
        let queue = self.queues.of_mut(number);
        queue.ready -= 1;
        if queue.ready == 0 {
            queue.order = VecDeque::new();
            return;
        }
        while queue.order.pop_front_if(|first| !stays(first)).is_some() {}
        if queue.order.len() > 2 * queue.ready + ORDER_SPARE {
            queue.order.retain(stays);
        }
    }

    /// The queue hands out nothing until it is resumed. Answers since when.
    pub(in crate::jobs) fn pause(
        &mut self,
        name: &str,
        round: &mut Round,
    ) -> Result<i64, JobsError> {
        let number = self.queue_number(name)?;
        let queue = self.queues.of_mut(number);
        if let Some(since_ms) = queue.paused_ms {
            return Ok(since_ms);
        }
        queue.paused_ms = Some(round.wall_ms());
        self.store_queue(number, round);
        Ok(round.wall_ms())
    }

    /// The queue hands out jobs again.
    pub(in crate::jobs) fn resume(
        &mut self,
        name: &str,
        round: &mut Round,
    ) -> Result<i64, JobsError> {
        let number = self.queue_number(name)?;
        if self.queues.of_mut(number).paused_ms.take().is_none() {
            return Err(JobsError::NotPaused);
        }
        self.store_queue(number, round);
        round.wake(number);
        Ok(round.wall_ms())
    }

    /// Removes a job that waits, and all that is stored of it.
    pub(super) fn remove_waiting(
        &mut self,
        id: JobId,
        mut job: super::job::Job,
        round: &mut Round,
    ) {
        self.unwait(id, job);
        self.release_key(id, &mut job);
        self.jobs.remove(&id);
        Self::erase(id, job.failures, round);
    }

    fn store_queue(&self, number: u32, round: &mut Round) {
        let queue = self.queues.of(number);
        let stored = StoredQueue { name: queue.name.to_string(), paused_ms: queue.paused_ms };
        let deleted = queue.is_deleted.then_some(StoredQueueDeleted { is_deleted: true });
        let record = stored::encode_with(&stored, deleted.as_ref());
        round.batch.put(stored::QUEUES, &number.to_be_bytes(), record);
    }
}

/// Whether nobody has begun it and it is not over.
pub(super) fn waits(status: JobStatus) -> bool {
    matches!(status, JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying)
}
