//! The slow model: lists and linear searches.

use crate::jobs::model::{JobId, JobStatus, WorkerId, WorkerStatus};
use crate::jobs::settings::JobsSettings;

/// The queues of all histories.
pub(super) const QUEUES: [&str; 3] = ["urgent", "default", "low"];

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) id: JobId,
    pub(super) queue: usize,
    pub(super) status: JobStatus,
    pub(super) failures: u16,
    max_attempts: u16,
    timeout_s: u32,
    unique: Option<u8>,
    due_ms: i64,
    /// On the monotonic clock, for a retrying job.
    retry_at: i64,
    pub(super) holder: Option<WorkerId>,
    pub(super) token: u64,
    /// On the monotonic clock.
    lease_ends: i64,
    /// As stored on disk.
    lease_ends_wall: i64,
    /// Former tokens.
    pub(super) stale: Vec<u64>,
    /// Deleted, or finished for too long.
    gone: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) id: WorkerId,
    queues: Vec<usize>,
    status: WorkerStatus,
    expected_by: i64,
}

pub(super) struct Model {
    settings: JobsSettings,
    wall: i64,
    steady: i64,
    all: Vec<Job>,
    order: [Vec<JobId>; 3],
    paused: [bool; 3],
    workers: Vec<Worker>,
    /// When it finished, its id, and until when it is kept on the monotonic clock.
    finished: Vec<(i64, JobId, i64)>,
    dead: Vec<JobId>,
}

impl Model {
    pub(super) fn new(settings: JobsSettings, wall: i64) -> Self {
        Self {
            settings,
            wall,
            steady: 0,
            all: Vec::new(),
            order: Default::default(),
            paused: [false; 3],
            workers: Vec::new(),
            finished: Vec::new(),
            dead: Vec::new(),
        }
    }

    pub(super) fn pass(&mut self, ms: i64) {
        self.wall += ms;
        self.steady += ms;
    }

    pub(super) fn jump_to(&mut self, wall: i64) {
        self.wall = wall;
    }

    /// Leases and delays continue by the wall clock; workers and finished jobs, in order of time,
    /// start with their full timeouts.
    pub(super) fn restart(&mut self) {
        for job in self.all.iter_mut().filter(|job| job.status == JobStatus::Running) {
            let left = (job.lease_ends_wall - self.wall).clamp(0, 86_400_000);
            job.lease_ends = self.steady + left;
        }
        for worker in &mut self.workers {
            worker.expected_by = self.steady + self.settings.worker_silence.ms();
        }
        for job in self.all.iter_mut().filter(|job| job.status == JobStatus::Retrying) {
            let longest = self.settings.retry_delay_ms(job.failures, 0);
            job.retry_at = self.steady + (job.due_ms - self.wall).clamp(0, longest);
        }
        self.finished.sort();
        let until = self.steady + self.settings.finished_keep.ms();
        self.finished.iter_mut().for_each(|finished| finished.2 = until);
    }

    pub(super) fn tick(&mut self) {
        while let Some(silent) = self.first_silent() {
            self.workers.retain(|worker| worker.id != silent);
            let mut held = self.held_by(silent);
            held.sort();
            held.reverse();
            held.into_iter().for_each(|id| self.lose(id));
        }
        let over = self
            .all
            .iter()
            .filter(|job| job.status == JobStatus::Running && job.lease_ends <= self.steady);
        let mut over: Vec<_> = over.map(|job| (job.lease_ends, job.id)).collect();
        over.sort();
        over.into_iter().rev().for_each(|(_, id)| self.lose(id));
        loop {
            let waiting = self.all.iter().filter(|job| !job.gone);
            // Scheduled jobs first, then retrying ones.
            let due = waiting.filter_map(|job| match job.status {
                JobStatus::Scheduled if job.due_ms <= self.wall => Some((0, job.due_ms, job.id)),
                JobStatus::Retrying if job.retry_at <= self.steady => {
                    Some((1, job.retry_at, job.id))
                }
                _ => None,
            });
            let Some((_, _, id)) = due.min() else { break };
            let job = self.job_mut(id);
            job.status = JobStatus::Ready;
            let queue = job.queue;
            self.order[queue].push(id);
        }
        while let Some((_, id, until)) = self.finished.first().copied() {
            if until >= self.steady && self.finished.len() <= self.settings.finished_max {
                break;
            }
            self.finished.remove(0);
            self.job_mut(id).gone = true;
        }
    }

    fn first_silent(&self) -> Option<WorkerId> {
        let silent = self.workers.iter().filter(|worker| worker.expected_by < self.steady);
        silent.min_by_key(|worker| (worker.expected_by, worker.id)).map(|worker| worker.id)
    }

    pub(super) fn holds_key(&self, key: u8) -> Option<JobId> {
        let holder = self.all.iter().find(|job| {
            job.unique == Some(key)
                && !job.gone
                && !matches!(job.status, JobStatus::Completed | JobStatus::Dead)
        });
        holder.map(|job| job.id)
    }

    pub(super) fn enqueue(
        &mut self,
        id: JobId,
        queue: usize,
        due_ms: i64,
        max_attempts: u16,
        unique: Option<u8>,
        timeout_s: u32,
    ) {
        let status = if due_ms > self.wall { JobStatus::Scheduled } else { JobStatus::Ready };
        if status == JobStatus::Ready {
            self.order[queue].push(id);
        }
        self.all.push(Job {
            id,
            queue,
            status,
            failures: 0,
            max_attempts,
            timeout_s,
            unique,
            due_ms,
            retry_at: 0,
            holder: None,
            token: 0,
            lease_ends: 0,
            lease_ends_wall: 0,
            stale: Vec::new(),
            gone: false,
        });
    }

    pub(super) fn delete(&mut self, id: JobId) {
        let queue = self.job(id).queue;
        self.order[queue].retain(|other| *other != id);
        self.job_mut(id).gone = true;
    }

    pub(super) fn purge(&mut self, queue: usize) -> usize {
        let waits = |job: &Job| {
            job.queue == queue
                && !job.gone
                && matches!(
                    job.status,
                    JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying
                )
        };
        let ids: Vec<JobId> = self.all.iter().filter(|job| waits(job)).map(|job| job.id).collect();
        ids.iter().for_each(|id| self.delete(*id));
        ids.len()
    }

    pub(super) fn set_paused(&mut self, queue: usize, paused: bool) {
        self.paused[queue] = paused;
    }

    pub(super) fn register(&mut self, id: WorkerId, queues: Vec<usize>) {
        let expected_by = self.steady + self.settings.worker_silence.ms();
        self.workers.push(Worker { id, queues, status: WorkerStatus::Active, expected_by });
    }

    pub(super) fn hear(&mut self, id: WorkerId) {
        let expected_by = self.steady + self.settings.worker_silence.ms();
        self.workers
            .iter_mut()
            .filter(|worker| worker.id == id)
            .for_each(|worker| worker.expected_by = expected_by);
    }

    /// Returns the resulting status.
    pub(super) fn restrict(&mut self, id: WorkerId, to: WorkerStatus) -> WorkerStatus {
        let worker = self.workers.iter_mut().find(|worker| worker.id == id).unwrap();
        worker.status = worker.status.max(to);
        worker.status
    }

    pub(super) fn deregister(&mut self, id: WorkerId) {
        self.workers.retain(|worker| worker.id != id);
        let mut held = self.held_by(id);
        held.sort();
        held.reverse();
        held.into_iter().for_each(|id| self.return_job(id));
    }

    /// Returns the jobs that a fetch must be granted.
    pub(super) fn next_for(&mut self, id: WorkerId, limit: usize) -> Vec<JobId> {
        let worker = self.workers.iter().find(|worker| worker.id == id).unwrap().clone();
        let mut next = Vec::new();
        if worker.status != WorkerStatus::Active {
            return next;
        }
        for queue in worker.queues {
            while next.len() < limit && !self.paused[queue] && !self.order[queue].is_empty() {
                next.push(self.order[queue].remove(0));
            }
        }
        next
    }

    pub(super) fn grant(&mut self, id: JobId, worker: WorkerId, token: u64) {
        let (wall, steady, lease_ms) = (self.wall, self.steady, self.settings.lease.ms());
        let job = self.job_mut(id);
        let lease_ms = if job.timeout_s == 0 { lease_ms } else { i64::from(job.timeout_s) * 1_000 };
        (job.status, job.holder, job.token) = (JobStatus::Running, Some(worker), token);
        (job.lease_ends, job.lease_ends_wall) = (steady + lease_ms, wall + lease_ms);
    }

    pub(super) fn extend(&mut self, id: JobId, seconds: u32) {
        let ms = i64::from(seconds) * 1_000;
        let (wall, steady) = (self.wall, self.steady);
        let job = self.job_mut(id);
        (job.lease_ends, job.lease_ends_wall) = (steady + ms, wall + ms);
    }

    pub(super) fn finish(&mut self, id: JobId) {
        let (wall, until) = (self.wall, self.steady + self.settings.finished_keep.ms());
        let job = self.job_mut(id);
        (job.status, job.holder) = (JobStatus::Completed, None);
        self.finished.push((wall, id, until));
    }

    /// Returns the resulting status.
    pub(super) fn fail(&mut self, id: JobId) -> JobStatus {
        let (wall, steady) = (self.wall, self.steady);
        let settings = self.settings;
        let job = self.job_mut(id);
        job.failures += 1;
        job.release_hold();
        if job.failures >= job.max_attempts {
            self.make_dead(id);
            return JobStatus::Dead;
        }
        job.status = JobStatus::Retrying;
        let delay_ms = settings.retry_delay_ms(job.failures, 0);
        (job.due_ms, job.retry_at) = (wall + delay_ms, steady + delay_ms);
        JobStatus::Retrying
    }

    fn lose(&mut self, id: JobId) {
        let job = self.job_mut(id);
        job.failures += 1;
        if job.failures >= job.max_attempts {
            job.release_hold();
            return self.make_dead(id);
        }
        self.return_job(id);
    }

    pub(super) fn return_job(&mut self, id: JobId) {
        let job = self.job_mut(id);
        job.release_hold();
        job.status = JobStatus::Ready;
        let queue = job.queue;
        self.order[queue].insert(0, id);
    }

    fn make_dead(&mut self, id: JobId) {
        self.job_mut(id).status = JobStatus::Dead;
        self.dead.push(id);
        if self.dead.len() > self.settings.dead_max {
            let oldest = self.dead.remove(0);
            self.job_mut(oldest).gone = true;
        }
    }

    fn held_by(&self, worker: WorkerId) -> Vec<JobId> {
        self.all.iter().filter(|job| job.holder == Some(worker)).map(|job| job.id).collect()
    }

    pub(super) fn job(&self, id: JobId) -> &Job {
        self.all.iter().find(|job| job.id == id).unwrap()
    }

    fn job_mut(&mut self, id: JobId) -> &mut Job {
        self.all.iter_mut().find(|job| job.id == id).unwrap()
    }

    /// Selects one of all jobs that ever existed.
    pub(super) fn choose(&self, number: usize) -> Option<Job> {
        let index = number.checked_rem(self.all.len())?;
        self.all.get(index).cloned()
    }

    /// Selects one of the held jobs.
    pub(super) fn choose_held(&self, number: usize) -> Option<Job> {
        let held: Vec<&Job> =
            self.all.iter().filter(|job| job.status == JobStatus::Running).collect();
        held.get(number.checked_rem(held.len())?).map(|job| (*job).clone())
    }

    pub(super) fn choose_worker(&self, number: usize) -> Option<WorkerId> {
        self.workers.get(number.checked_rem(self.workers.len())?).map(|worker| worker.id)
    }

    pub(super) fn order(&self, queue: usize) -> Vec<JobId> {
        self.order[queue].clone()
    }

    pub(super) fn counts(&self, queue: usize) -> (usize, usize, usize) {
        let count = |status| {
            self.all
                .iter()
                .filter(|job| job.queue == queue && !job.gone && job.status == status)
                .count()
        };
        (count(JobStatus::Scheduled), count(JobStatus::Retrying), count(JobStatus::Running))
    }

    pub(super) fn is_paused(&self, queue: usize) -> bool {
        self.paused[queue]
    }

    pub(super) fn running(&self) -> usize {
        self.all.iter().filter(|job| job.status == JobStatus::Running).count()
    }

    /// Returns the expected view of each job that ever existed.
    pub(super) fn jobs(&self) -> Vec<(JobId, Option<(JobStatus, u16)>)> {
        let seen = |job: &Job| {
            let begun = matches!(job.status, JobStatus::Running | JobStatus::Completed);
            (!job.gone).then_some((job.status, job.failures + u16::from(begun)))
        };
        self.all.iter().map(|job| (job.id, seen(job))).collect()
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = WorkerId> {
        let mut ids: Vec<WorkerId> = self.workers.iter().map(|worker| worker.id).collect();
        ids.sort();
        ids.into_iter()
    }
}

impl Job {
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    fn release_hold(&mut self) {
        self.stale.push(self.token);
        self.holder = None;
    }
}
