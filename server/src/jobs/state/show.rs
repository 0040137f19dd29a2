//! Views of jobs, queues and workers, from memory only.

use telltale_engine::TimestampMs;

use super::dead::DeadEntry;
use super::machine::State;
use super::queues::Queue;
use super::workers::Worker;
use crate::jobs::error::JobsError;
use crate::jobs::model::{
    DeadId, JobId, JobStatus, QueueOwner, QueuePage, QueueView, WorkerId, WorkerPage, WorkerStatus,
    WorkerUsage, WorkerView,
};
use crate::jobs::names::{ClassName, QueueName};

/// The in-memory part of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::jobs) struct JobView {
    pub(in crate::jobs) queue: QueueName,
    pub(in crate::jobs) status: JobStatus,
    pub(in crate::jobs) attempts: u16,
    pub(in crate::jobs) max_attempts: u16,
    pub(in crate::jobs) at: TimestampMs,
    pub(in crate::jobs) held: Option<(WorkerId, TimestampMs)>,
    pub(in crate::jobs) dead_id: Option<DeadId>,
}

impl State {
    /// Returns the greatest id of a job or dead job; 0 if there is none.
    pub(in crate::jobs) fn greatest_id(&self) -> u128 {
        let job = self.jobs.last_key_value().map_or(0, |(id, _)| id.0);
        self.dead.greatest_id().map_or(job, |dead| dead.0.max(job))
    }

    /// Returns a job, which may be dead.
    pub(in crate::jobs) fn job(&self, id: JobId) -> Option<JobView> {
        if let Some(DeadEntry { dead, max_attempts, .. }) = self.dead.of_job(id) {
            return Some(JobView {
                queue: dead.queue.clone(),
                status: JobStatus::Dead,
                attempts: dead.attempts,
                max_attempts: *max_attempts,
                at: dead.died_at,
                held: None,
                dead_id: Some(dead.id),
            });
        }
        let job = self.jobs.get(&id)?;
        let hold = self.holds.get(&id);
        let has_begun = matches!(job.status, JobStatus::Running | JobStatus::Completed);
        Some(JobView {
            queue: self.queues.of(job.queue).name.clone(),
            status: job.status,
            attempts: job.failures.saturating_add(u16::from(has_begun)),
            max_attempts: job.max_attempts,
            at: TimestampMs(job.at_ms),
            held: hold.map(|hold| (hold.worker, TimestampMs(hold.ends_wall_ms))),
            dead_id: None,
        })
    }

    /// Returns all queues, ordered by name.
    pub(in crate::jobs) fn queue_views(&self, now: TimestampMs) -> Vec<QueueView> {
        self.queue_page(QueueOwner::All, 0, usize::MAX, now).queues
    }

    /// Returns a page of the queues, ordered by name.
    pub(in crate::jobs) fn queue_page(
        &self,
        whose: QueueOwner,
        offset: usize,
        limit: usize,
        now: TimestampMs,
    ) -> QueuePage {
        let mut serving = vec![0; self.queues.numbers_end()];
        for worker in self.workers.values().filter(|worker| worker.status == WorkerStatus::Active) {
            for number in worker.queues.iter() {
                if let Some(count) = serving.get_mut(*number as usize) {
                    *count += 1;
                }
            }
        }
        let workers = |number: u32| serving.get(number as usize).copied().unwrap_or(0);
        let mut queues: Vec<(u32, &Queue)> =
            self.queues.iter().filter(|(_, queue)| queue.is_shown_to(whose)).collect();
        queues.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        let page = queues.iter().skip(offset).take(limit);
        QueuePage {
            queues: page.map(|(n, queue)| self.queue_view(queue, workers(*n), now)).collect(),
            total: queues.len(),
        }
    }

    /// Returns a queue.
    pub(in crate::jobs) fn queue(
        &self,
        name: &str,
        now: TimestampMs,
    ) -> Result<QueueView, JobsError> {
        let number = self.queue_number(name)?;
        let serves = |worker: &&Worker| {
            worker.status == WorkerStatus::Active && worker.queues.contains(&number)
        };
        let workers = self.workers.values().filter(serves).count();
        Ok(self.queue_view(self.queues.of(number), workers, now))
    }

    fn queue_view(&self, queue: &Queue, workers: usize, now: TimestampMs) -> QueueView {
        let ready =
            |id: &&JobId| self.jobs.get(id).is_some_and(|job| job.status == JobStatus::Ready);
        let oldest = queue.order.iter().find(ready).and_then(|id| self.jobs.get(id));
        let latency_ms = oldest.map_or(0, |job| now.0.saturating_sub(job.at_ms).max(0));
        QueueView {
            name: queue.name.clone(),
            ready: queue.ready,
            scheduled: queue.scheduled,
            retrying: queue.retrying,
            running: queue.running,
            latency_ms,
            paused_at: queue.paused_ms.map(TimestampMs),
            workers,
            degraded: latency_ms > self.settings.degraded_latency.ms(),
        }
    }

    /// Returns all workers, newest first.
    pub(in crate::jobs) fn worker_views(&self) -> Vec<WorkerView> {
        self.worker_page(QueueOwner::All, 0, usize::MAX).workers
    }

    /// Returns a page of the workers, newest first, and totals of all workers.
    pub(in crate::jobs) fn worker_page(
        &self,
        whose: QueueOwner,
        offset: usize,
        limit: usize,
    ) -> WorkerPage {
        let mut page = WorkerPage::default();
        let all = self.workers.iter().rev();
        for (id, worker) in all.filter(|(_, worker)| whose == QueueOwner::All || !worker.is_own()) {
            if page.total >= offset && page.workers.len() < limit {
                page.workers.push(self.worker_view(*id, worker));
            }
            page.total += 1;
            page.threads += u64::from(worker.about.concurrency);
            page.busy_threads += u64::from(worker.busy_threads());
        }
        page
    }

    /// Returns a worker.
    pub(in crate::jobs) fn worker(&self, id: WorkerId) -> Result<WorkerView, JobsError> {
        let worker = self.workers.get(&id);
        let worker = worker.ok_or_else(|| JobsError::WorkerNotFound(id.to_string()))?;
        Ok(self.worker_view(id, worker))
    }

    fn worker_view(&self, id: WorkerId, worker: &Worker) -> WorkerView {
        let current = worker.held.iter().map(|job_id| {
            let (Some(job), Some(hold)) = (self.jobs.get(job_id), self.holds.get(job_id)) else {
                unreachable!("worker {id} refers to job {job_id}, which is not held")
            };
            let class = hold.class.clone().unwrap_or_else(|| ClassName::stored("unknown"));
            (*job_id, class, TimestampMs(job.at_ms))
        });
        WorkerView {
            id,
            about: worker.about.clone(),
            status: worker.status,
            vitals: WorkerUsage { busy_threads: Some(worker.busy_threads()), ..worker.vitals },
            started_at: TimestampMs(worker.started_ms),
            last_heartbeat: TimestampMs(worker.heard_ms),
            processed: worker.processed,
            failed: worker.failed,
            current: current.collect(),
        }
    }
}
