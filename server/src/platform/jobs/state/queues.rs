//! Queues: who waits in which order, and whether anything is handed out.

use std::collections::{HashMap, VecDeque};

use super::machine::State;
use super::round::Round;
use crate::limits;
use crate::platform::jobs::error::JobsError;
use crate::platform::jobs::model::{JobId, JobStatus};
use crate::platform::jobs::names::QueueName;
use crate::platform::jobs::stored::{self, StoredQueue};

/// Ids of jobs that left, that the order of the shortest queue may hold before it is tidied.
const ORDER_SPARE: usize = 64;

/// All queues, by number and by name. A queue that was once made stays.
#[derive(Debug, Default)]
pub(super) struct Queues {
    pub(super) all: Vec<Queue>,
    pub(super) by_name: HashMap<QueueName, u32>,
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
}

impl Queue {
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
        }
    }
}

impl Queues {
    /// The queue of a number.
    ///
    /// # Panics
    /// When there is none: numbers come from [`State::queue_named`] and from disk, where they are checked.
    pub(super) fn of(&self, number: u32) -> &Queue {
        match self.all.get(number as usize) {
            Some(queue) => queue,
            None => unreachable!("queue {number} was never made, and none is ever removed"),
        }
    }

    pub(super) fn of_mut(&mut self, number: u32) -> &mut Queue {
        match self.all.get_mut(number as usize) {
            Some(queue) => queue,
            None => unreachable!("queue {number} was never made, and none is ever removed"),
        }
    }

    /// Adds a queue and gives it the next number.
    pub(super) fn add(&mut self, queue: Queue) -> u32 {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.by_name.insert(queue.name.clone(), number);
        self.all.push(queue);
        number
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
            JobStatus::Ready | JobStatus::Completed | JobStatus::Dead => return,
        };
        *count = count.saturating_add_signed(change);
        if status != JobStatus::Running {
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
        if let Some(number) = self.queues.by_name.get(name) {
            return Ok(*number);
        }
        if self.queues.all.len() >= limits::QUEUES_MAX {
            return Err(JobsError::TooManyQueues);
        }
        let number = self.queues.add(Queue::new(name.clone(), None));
        self.store_queue(number, round);
        Ok(number)
    }

    /// The number of a queue that there is.
    pub(super) fn queue_number(&self, name: &str) -> Result<u32, JobsError> {
        let found = self.queues.by_name.get(name).copied();
        found.ok_or_else(|| JobsError::QueueNotFound(name.to_owned()))
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
    pub(in crate::platform::jobs) fn pause(
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
    pub(in crate::platform::jobs) fn resume(
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

    /// Removes jobs of a queue that wait, whatever for: those whose ids lie from `from` up to, not including, `to`. One step,
    /// which ends where the next one begins.
    pub(in crate::platform::jobs) fn purge_step(
        &mut self,
        name: &str,
        from: JobId,
        to: JobId,
        round: &mut Round,
    ) -> Result<(usize, Option<JobId>), JobsError> {
        let number = self.queue_number(name)?;
        let mut chosen = Vec::new();
        let mut next = None;
        for (looked, (id, job)) in self.jobs.range(from..to).enumerate() {
            if looked == limits::LEDGER_STEP_LOOKS_MAX
                || chosen.len() == limits::LEDGER_STEP_JOBS_MAX
            {
                next = Some(*id);
                break;
            }
            if job.queue == number && waits(job.status) {
                chosen.push((*id, *job));
            }
        }
        for (id, job) in &chosen {
            self.remove_waiting(*id, *job, round);
        }
        Ok((chosen.len(), next))
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
        round.batch.put(stored::QUEUES, &number.to_be_bytes(), stored::encode(&stored));
    }
}

/// Whether nobody has begun it and it is not over.
pub(super) fn waits(status: JobStatus) -> bool {
    matches!(status, JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying)
}
