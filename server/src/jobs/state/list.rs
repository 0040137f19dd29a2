//! The list of unfinished jobs, newest first, in steps of bounded work.
//!
//! If few jobs have the wanted status or wait in the wanted queue, they are found by the index that
//! orders them; otherwise jobs are inspected in descending order of ids.

use super::job::Job;
use super::machine::State;
use super::queues::waits;
use super::show::JobView;
use crate::jobs::listing::JobStateFilter;
use crate::jobs::model::{JobId, JobStatus};
use crate::limits;

/// One step of the list.
#[derive(Clone, Debug, Default)]
pub(in crate::jobs) struct JobStep {
    pub(in crate::jobs) jobs: Vec<(JobId, JobView)>,
    /// The upper bound of the next step; `None` after the last step.
    pub(in crate::jobs) next: Option<JobId>,
    /// The number of inspected jobs.
    pub(in crate::jobs) inspected: usize,
}

/// The wanted jobs, with the number of their queue.
struct Wanted<'a> {
    standing: &'a JobStateFilter,
    queue: Option<u32>,
}

impl State {
    /// Returns up to `max` of the wanted jobs with ids less than `below`.
    pub(in crate::jobs) fn jobs_step(
        &self,
        standing: &JobStateFilter,
        below: JobId,
        max: usize,
    ) -> JobStep {
        let queue = match &standing.queue {
            None => None,
            Some(name) => match self.queue_number(name) {
                Ok(number) => Some(number),
                // A queue that does not exist has no jobs.
                Err(_) => return JobStep::default(),
            },
        };
        let wanted = Wanted { standing, queue };
        match self.few(&wanted) {
            Some(few) => self.choose_few(few, &wanted, below, max),
            None => self.choose_in_order(&wanted, below, max),
        }
    }

    /// Returns a superset of the wanted jobs, if a small one is known.
    fn few(&self, wanted: &Wanted<'_>) -> Option<Vec<JobId>> {
        let max = limits::LEDGER_STEP_LOOKUPS_MAX;
        match (wanted.standing.status?, wanted.queue) {
            (JobStatus::Ready, Some(queue)) => {
                let order = &self.queues.of(queue).order;
                (order.len() <= max).then(|| order.iter().copied().collect())
            }
            (JobStatus::Scheduled, _) => {
                let all = self.timers.scheduled_from(i64::MIN, JobId(0)).map(|(_, id)| id);
                (self.timers.scheduled() <= max).then(|| all.collect())
            }
            (JobStatus::Retrying, _) => {
                let all = self.timers.retrying_from(i64::MIN, JobId(0)).map(|(_, id)| id);
                (self.timers.retrying() <= max).then(|| all.collect())
            }
            (JobStatus::Running, _) => {
                (self.holds.len() <= max).then(|| self.holds.keys().copied().collect())
            }
            (JobStatus::Ready | JobStatus::Completed | JobStatus::Dead, _) => None,
        }
    }

    fn choose_few(
        &self,
        mut few: Vec<JobId>,
        wanted: &Wanted<'_>,
        below: JobId,
        max: usize,
    ) -> JobStep {
        let inspected = few.len();
        few.retain(|id| {
            *id < below && self.jobs.get(id).is_some_and(|job| self.is_wanted(job, wanted))
        });
        few.sort_unstable_by(|a, b| b.cmp(a));
        let next = if few.len() > max { max.checked_sub(1).and_then(|n| few.get(n)) } else { None };
        let next = next.copied();
        few.truncate(max);
        JobStep { jobs: few.into_iter().filter_map(|id| self.row(id)).collect(), next, inspected }
    }

    fn choose_in_order(&self, wanted: &Wanted<'_>, below: JobId, max: usize) -> JobStep {
        let mut step = JobStep::default();
        for (id, job) in self.jobs.range(..below).rev() {
            if step.inspected == limits::LEDGER_STEP_LOOKUPS_MAX || step.jobs.len() == max {
                return step;
            }
            step.inspected += 1;
            step.next = Some(*id);
            if self.is_wanted(job, wanted) {
                step.jobs.extend(self.row(*id));
            }
        }
        step.next = None;
        step
    }

    fn is_wanted(&self, job: &Job, wanted: &Wanted<'_>) -> bool {
        let status = match wanted.standing.status {
            Some(status) => job.status == status,
            None => waits(job.status) || job.status == JobStatus::Running,
        };
        status
            && wanted.queue.is_none_or(|queue| queue == job.queue)
            && wanted.standing.whose.fits(&self.queues.of(job.queue).name)
    }

    fn row(&self, id: JobId) -> Option<(JobId, JobView)> {
        Some((id, self.job(id)?))
    }
}
