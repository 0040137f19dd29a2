//! Loading the state from disk.
//!
//! The order of a queue is restored by sorting the positions stored with its jobs; timers, counts
//! and unique keys follow from the jobs. Leases end at a trusted time, and delays at a wall clock
//! time; both are converted to the monotonic clock and clamped to their maximum, so that a wrong
//! clock neither takes a job from its holder nor delays one forever. Workers and finished jobs
//! start with their full timeouts: heartbeats could not be received while the server was down, and
//! a clock that is ahead at the start must not expire finished jobs.

use std::collections::HashMap;
use std::sync::Arc;

use telltale_engine::{Engine, Records, Result, Table, TimestampMs};

use super::cycle::Now;
use super::dead::DeadEntry;
use super::job::{Hold, Job};
use super::machine::State;
use super::queues::Queue;
use super::workers::Worker;
use crate::jobs::model::{DeadId, DeadJob, JobId, JobStatus, NewWorker, WorkerId};
use crate::jobs::names::{ClassName, QueueName};
use crate::jobs::settings::JobsSettings;
use crate::jobs::stored::{
    self, Damage, StoredDead, StoredDeadUnique, StoredJob, StoredQueue, StoredQueueDeleted,
    StoredStatus, StoredWorker,
};
use crate::limits;
use crate::platform::ids::Ids;

/// The maximum length of a lease: what a damaged or old clock makes of one is clamped to it.
const LEASE_MS_MAX: i64 = limits::JOB_TIMEOUT_SECONDS_MAX as i64 * 1_000;

/// The maximum number of corrupt records that are logged one by one: the state is loaded again
/// after every failed write, each second while the disk is full.
const LOGGED_RECORDS_MAX: usize = 100;

/// The loaded state.
#[derive(Debug)]
pub(in crate::jobs) struct Loaded {
    pub(in crate::jobs) state: State,
    /// Records that could not be read, one line each.
    pub(in crate::jobs) damaged: Vec<String>,
}

/// What can be ordered only after all jobs are loaded.
#[derive(Debug, Default)]
struct LoadedOrder {
    /// By queue: position and job.
    ready: HashMap<u32, Vec<(i64, JobId)>>,
    finished: Vec<(i64, JobId)>,
}

impl State {
    /// Loads all tables except bodies and failures.
    pub(in crate::jobs) fn load(
        engine: &Engine,
        settings: JobsSettings,
        ids: Arc<Ids>,
        seed: u64,
        now: Now,
    ) -> Result<Loaded> {
        let records = engine.records();
        let tokens = records.get(stored::META, stored::TOKENS_KEY)?;
        let tokens = tokens.map(|bytes| stored::decode::<u64>(&bytes)).transpose();
        // Without their end, tokens could repeat: nothing may be granted then.
        let tokens = tokens.map_err(|damage| {
            telltale_engine::Error::Corrupt(format!("tokens of jobs: {damage}"))
        })?;
        let state = Self::new(settings, ids, seed, tokens.unwrap_or(1));
        let mut loaded = Loaded { state, damaged: Vec::new() };
        let queue = stored::decode_with::<StoredQueue, StoredQueueDeleted>;
        loaded.each(records, stored::QUEUES, queue, Self::load_queue)?;
        let worker = |bytes: &[u8]| stored::decode::<StoredWorker>(bytes);
        loaded.each(records, stored::WORKERS, worker, |state, key, worker| {
            state.load_worker(key, worker, now)
        })?;
        let mut orders = LoadedOrder::default();
        let job = |bytes: &[u8]| stored::decode::<StoredJob>(bytes);
        loaded.each(records, stored::STATES, job, |state, key, job| {
            state.load_job(key, job, now, &mut orders)
        })?;
        let dead = stored::decode_with::<StoredDead, StoredDeadUnique>;
        loaded.each(records, stored::DEAD, dead, Self::load_dead)?;
        loaded.state.set_orders(orders, now);
        loaded.state.free_numbers();
        loaded.read_classes(records);
        Ok(loaded)
    }

    fn load_queue(
        &mut self,
        key: &[u8],
        (queue, deleted): (StoredQueue, Option<StoredQueueDeleted>),
    ) -> Option<()> {
        let number = u32::from_be_bytes(key.try_into().ok()?);
        if number as usize >= limits::QUEUES_MAX {
            return None;
        }
        let name = QueueName::stored(&queue.name);
        // Earlier versions let users pause the server's queues, which nobody can resume.
        let paused_ms = queue.paused_ms.filter(|_| !name.is_own());
        let mut queue = Queue::new(name, paused_ms);
        queue.is_deleted = deleted.is_some_and(|deleted| deleted.is_deleted);
        self.queues.put(number, queue);
        Some(())
    }

    /// Returns a queue that a record refers to. If the queue's own record is damaged, a replacement
    /// with a generated name is added, so that nothing refers to a missing queue.
    fn find_queue(&mut self, number: u32) -> Option<&Queue> {
        if number as usize >= limits::QUEUES_MAX {
            return None;
        }
        if self.queues.get(number).is_none() {
            let name = QueueName::stored(&format!("damaged-{number}"));
            self.queues.put(number, Queue::new(name, None));
        }
        self.queues.get(number)
    }

    fn load_worker(&mut self, key: &[u8], stored: StoredWorker, now: Now) -> Option<()> {
        let id = WorkerId::from_key(key)?;
        let mut queues = Vec::with_capacity(stored.queues.len());
        for number in &stored.queues {
            queues.push((*number, self.find_queue(*number)?.name.clone()));
        }
        // Earlier versions let client workers work the server's queues.
        if queues.iter().any(|(_, name)| !name.is_own()) {
            queues.retain(|(_, name)| !name.is_own());
        }
        let (numbers, names): (Vec<u32>, Vec<QueueName>) = queues.into_iter().unzip();
        numbers.iter().for_each(|number| self.queues.of_mut(*number).workers += 1);
        let about = NewWorker {
            hostname: stored.hostname.as_str().into(),
            pid: stored.pid,
            queues: names,
            concurrency: stored.concurrency,
        };
        let by_ms = now.steady_ms + self.settings.worker_silence.ms();
        self.timers.start_silence(by_ms, id);
        self.workers.insert(id, Worker::new(about, numbers.into(), stored, by_ms));
        Some(())
    }

    fn load_job(
        &mut self,
        key: &[u8],
        stored: StoredJob,
        now: Now,
        orders: &mut LoadedOrder,
    ) -> Option<()> {
        let id = JobId::from_key(key)?;
        let job = Job::from_stored(&stored);
        self.find_queue(job.queue)?;
        match stored.status {
            StoredStatus::Ready { order, .. } => {
                orders.ready.entry(job.queue).or_default().push((order, id));
            }
            StoredStatus::Scheduled { due_ms } => {
                self.queues.count(job.queue, job.status, 1);
                self.timers.schedule(due_ms, id);
            }
            StoredStatus::Retrying { due_ms } => {
                self.queues.count(job.queue, job.status, 1);
                let longest_ms = self.settings.longest_retry_delay_ms(job.failures);
                let left_ms = due_ms.saturating_sub(now.wall.0).clamp(0, longest_ms);
                self.timers.delay_retry(now.steady_ms.saturating_add(left_ms), id);
            }
            StoredStatus::Running { worker, token, lease_ends_ms, .. } => {
                let left_ms = lease_ends_ms.saturating_sub(now.believed.0).clamp(0, LEASE_MS_MAX);
                let hold = Hold {
                    worker: WorkerId(worker),
                    token,
                    ends_steady_ms: now.steady_ms + left_ms,
                    ends_wall_ms: now.wall.0.saturating_add(left_ms),
                    class: None,
                };
                self.hold(id, job, hold);
            }
            StoredStatus::Completed { at_ms, token } => {
                self.queues.count(job.queue, job.status, 1);
                orders.finished.push((at_ms, id));
                self.finished.tokens.insert(id, token);
            }
        }
        if let Some(key) = stored.unique {
            self.unique.holders.insert(key, id);
            self.unique.keys.insert(id, key);
        }
        self.jobs.insert(id, job);
        Some(())
    }

    fn load_dead(
        &mut self,
        key: &[u8],
        (stored, unique): (StoredDead, Option<StoredDeadUnique>),
    ) -> Option<()> {
        let queue = self.find_queue(stored.queue)?.name.clone();
        let id = DeadId::from_key(key)?;
        self.queues.count(stored.queue, JobStatus::Dead, 1);
        let dead = DeadJob {
            id,
            job: JobId(stored.job),
            class: ClassName::stored(&stored.class),
            queue,
            error_class: ClassName::stored(&stored.error_class),
            attempts: stored.attempts,
            first_failed_at: TimestampMs(stored.first_failed_ms),
            died_at: TimestampMs(stored.died_ms),
        };
        let (max_attempts, timeout_seconds) = (stored.max_attempts, stored.timeout_seconds);
        let unique = unique.map(|unique| unique.key);
        let queue = stored.queue;
        self.dead.insert(DeadEntry { dead, queue, max_attempts, timeout_seconds, unique });
        Some(())
    }

    fn set_orders(&mut self, orders: LoadedOrder, now: Now) {
        let mut waiting = 0;
        for (number, mut ready) in orders.ready {
            ready.sort_unstable();
            let queue = self.queues.of_mut(number);
            queue.front = ready.first().map_or(-1, |(order, _)| order - 1);
            queue.back = ready.last().map_or(0, |(order, _)| order + 1);
            queue.ready = ready.len();
            waiting += ready.len();
            queue.order = ready.into_iter().map(|(_, id)| id).collect();
        }
        self.queues.waiting += waiting;
        let mut finished = orders.finished;
        finished.sort_unstable();
        let keep_ms = self.settings.finished_keep.ms();
        for (_, id) in finished {
            let number = self.jobs.get(&id).map(|job| job.queue);
            if number.is_some_and(|number| self.queues.of(number).name.is_own()) {
                let keep_ms = keep_ms.min(limits::OWN_FINISHED_KEPT_MS);
                self.finished.own_order.push_back((now.steady_ms.saturating_add(keep_ms), id));
            } else {
                self.finished.order.push_back((now.steady_ms.saturating_add(keep_ms), id));
            }
        }
    }

    /// Makes numbers without a queue available.
    fn free_numbers(&mut self) {
        let end = u32::try_from(self.queues.numbers_end()).unwrap_or(u32::MAX);
        let free: Vec<u32> = (0..end).filter(|number| self.queues.get(*number).is_none()).collect();
        self.queues.unused.set_free(free.into_iter());
    }
}

impl Loaded {
    /// Logs the records that could not be read, and returns the state.
    pub(in crate::jobs) fn into_state(self) -> State {
        for line in self.damaged.iter().take(LOGGED_RECORDS_MAX) {
            tracing::error!(damaged = line, "skipped a corrupt record of jobs");
        }
        if self.damaged.len() > LOGGED_RECORDS_MAX {
            let count = self.damaged.len();
            tracing::error!(count, "skipped corrupt records of jobs; only the first are logged");
        }
        self.state
    }

    /// Reads the classes of the held jobs. One that cannot be read stays unknown and is reported.
    fn read_classes(&mut self, records: &Records) {
        let Self { state, damaged } = self;
        let holds: Vec<(&JobId, &mut Hold)> = state.holds.iter_mut().collect();
        let keys: Vec<[u8; 16]> = holds.iter().map(|(id, _)| id.key()).collect();
        for ((id, hold), body) in holds.into_iter().zip(records.get_many(stored::BODIES, &keys)) {
            match stored::decode_body(&body) {
                Ok(body) => hold.class = Some(ClassName::stored(body.class)),
                Err(why) => damaged.push(format!("{} {id}: {why}", stored::BODIES.name())),
            }
        }
    }

    /// Passes every record of a table to `take`; those that it rejects are damaged.
    fn each<T>(
        &mut self,
        records: &Records,
        table: Table,
        decode: fn(&[u8]) -> std::result::Result<T, Damage>,
        mut take: impl FnMut(&mut State, &[u8], T) -> Option<()>,
    ) -> Result<()> {
        let Self { state, damaged } = self;
        let gap = records.read_all(table, |key, value| {
            let taken = decode(value).map(|record| take(state, key, record));
            let why = match taken {
                Ok(Some(())) => return,
                Ok(None) => "the record is not valid".to_owned(),
                Err(damage) => damage.to_string(),
            };
            damaged.push(format!("{} {key:02x?}: {why}", table.name()));
        })?;
        damaged.extend(gap);
        Ok(())
    }
}
