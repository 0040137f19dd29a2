//! Fetches that wait for jobs, and jobs on their way to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use parking_lot::Mutex;
use telltale_engine::MemoryShare;
use tokio::sync::oneshot;

use super::error::JobsError;
use super::ledger::Command;
use super::model::{HeldJob, JobId, WorkerId};

/// Up to this number, waiting fetches are not checked for disconnected callers.
const PRUNE_AT_MIN: usize = 64;

/// The channel for the result of a fetch.
pub(super) type FetchReply = oneshot::Sender<Result<GrantedJobs, JobsError>>;

/// Granted jobs. If dropped before [`Self::keep`], because the caller has disconnected, they return
/// to the front of their queues without counting.
#[derive(Debug)]
pub struct GrantedJobs {
    jobs: Vec<HeldJob>,
    returns: Arc<ReturnedJobs>,
    /// The memory charged for the bodies of the jobs.
    share: MemoryShare,
}

/// Granted jobs that did not reach a caller: ids and tokens.
#[derive(Debug)]
pub(super) struct ReturnedJobs {
    jobs: Mutex<Vec<(JobId, u64)>>,
    ledger: SyncSender<Command>,
}

/// A waiting fetch.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) worker: WorkerId,
    pub(super) limit: u32,
    pub(super) reply: FetchReply,
    queues: Arc<[u32]>,
}

/// All waiting fetches in order of arrival, and an index by queue.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    next: u64,
    all: BTreeMap<u64, Waiter>,
    by_queue: HashMap<u32, BTreeSet<u64>>,
    /// The number of waiting fetches at which disconnected ones are pruned.
    prune_at: usize,
}

impl GrantedJobs {
    pub(super) fn new(jobs: Vec<HeldJob>, share: MemoryShare, returns: &Arc<ReturnedJobs>) -> Self {
        Self { jobs, returns: Arc::clone(returns), share }
    }

    /// Returns the jobs, which the caller now holds.
    pub fn keep(mut self) -> Vec<HeldJob> {
        std::mem::take(&mut self.jobs)
    }

    /// Takes the memory charged for the bodies, for the response built from them.
    pub fn take_memory(&mut self) -> MemoryShare {
        self.share.take_all()
    }

    /// Returns the jobs for inspection.
    pub fn jobs(&self) -> &[HeldJob] {
        &self.jobs
    }
}

impl Drop for GrantedJobs {
    fn drop(&mut self) {
        if !self.jobs.is_empty() {
            self.returns.add(self.jobs.drain(..).map(|job| (job.id, job.token)));
        }
    }
}

impl ReturnedJobs {
    pub(super) fn new(ledger: SyncSender<Command>) -> Self {
        Self { jobs: Mutex::default(), ledger }
    }

    /// Adds jobs for the next cycle to return.
    pub(super) fn add(&self, jobs: impl Iterator<Item = (JobId, u64)>) {
        self.jobs.lock().extend(jobs);
        // If the channel is full, a cycle follows anyway; if it is closed, the leases end after a
        // restart.
        drop(self.ledger.try_send(Command::Wake));
    }

    /// Takes the jobs, the last one first: pushed to the front one by one, they are in their old
    /// order.
    pub(super) fn take(&self) -> Vec<(JobId, u64)> {
        let mut jobs = std::mem::take(&mut *self.jobs.lock());
        jobs.reverse();
        jobs
    }

    /// Puts back what was taken, ahead of jobs added meanwhile.
    pub(super) fn put_back(&self, mut taken: Vec<(JobId, u64)>) {
        taken.reverse();
        let mut jobs = self.jobs.lock();
        taken.append(&mut jobs);
        *jobs = taken;
    }
}

impl Waiters {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn add(
        &mut self,
        worker: WorkerId,
        queues: Arc<[u32]>,
        limit: u32,
        reply: FetchReply,
    ) {
        let number = self.next;
        self.next += 1;
        for queue in queues.iter() {
            self.by_queue.entry(*queue).or_default().insert(number);
        }
        self.all.insert(number, Waiter { worker, limit, reply, queues });
    }

    /// Takes the first fetch that waits for this queue. Removes disconnected ones on the way.
    pub(super) fn take_first(&mut self, queue: u32) -> Option<Waiter> {
        loop {
            let number = *self.by_queue.get(&queue)?.first()?;
            let waiter = self.remove(number);
            if !waiter.reply.is_closed() {
                return Some(waiter);
            }
        }
    }

    /// Takes the fetches of a worker.
    pub(super) fn take_by_worker(&mut self, worker: WorkerId) -> impl Iterator<Item = Waiter> {
        let its = self.all.iter().filter(|(_, waiter)| waiter.worker == worker);
        let its: Vec<u64> = its.map(|(number, _)| *number).collect();
        its.into_iter().map(|number| self.remove(number))
    }

    /// Removes disconnected fetches.
    pub(super) fn prune(&mut self) {
        let gone = |(number, waiter): (&u64, &Waiter)| waiter.reply.is_closed().then_some(*number);
        let gone: Vec<u64> = self.all.iter().filter_map(gone).collect();
        gone.into_iter().for_each(|number| drop(self.remove(number)));
    }

    /// The same, but only when twice as many wait as after the last time: cheap, and disconnected
    /// fetches cannot use up the limit.
    pub(super) fn prune_if_due(&mut self, waiters_max: usize) {
        if self.all.len() < self.prune_at {
            return;
        }
        self.prune();
        self.prune_at = (2 * self.all.len()).max(PRUNE_AT_MIN).min(waiters_max);
    }

    /// Takes all fetches.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waiter> {
        self.by_queue.clear();
        std::mem::take(&mut self.all).into_values()
    }

    /// Removes a fetch and its entries in the index.
    ///
    /// # Panics
    /// If it does not wait: the index contains only fetches that wait.
    fn remove(&mut self, number: u64) -> Waiter {
        let Some(waiter) = self.all.remove(&number) else {
            unreachable!("fetch {number} does not wait, but is in the index of a queue")
        };
        for queue in waiter.queues.iter() {
            if let Some(waiting) = self.by_queue.get_mut(queue) {
                waiting.remove(&number);
                if waiting.is_empty() {
                    self.by_queue.remove(queue);
                }
            }
        }
        waiter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(
        waiters: &mut Waiters,
        worker: u128,
        queues: &[u32],
    ) -> oneshot::Receiver<Result<GrantedJobs, JobsError>> {
        let (reply, answer) = oneshot::channel();
        waiters.add(WorkerId(worker), queues.into(), 1, reply);
        answer
    }

    #[test]
    fn the_first_connected_fetch_of_a_queue_is_served() {
        let mut waiters = Waiters::default();
        let _one = wait(&mut waiters, 1, &[7, 8]);
        let two = wait(&mut waiters, 2, &[8]);
        let _three = wait(&mut waiters, 3, &[8, 9]);
        assert!(waiters.take_first(6).is_none());
        assert_eq!(waiters.take_first(8).unwrap().worker, WorkerId(1));
        drop(two);
        assert!(waiters.take_first(7).is_none(), "it was already served");
        assert_eq!(waiters.take_first(8).unwrap().worker, WorkerId(3));
        assert!(waiters.take_first(9).is_none());
        assert_eq!(waiters.len(), 0);
    }

    #[test]
    fn disconnected_fetches_are_pruned() {
        let mut waiters = Waiters::default();
        let left = wait(&mut waiters, 1, &[1]);
        let _stays = wait(&mut waiters, 2, &[1]);
        drop(left);
        waiters.prune();
        assert_eq!(waiters.len(), 1);
        assert!(waiters.take_all().map(|waiter| waiter.worker).eq([WorkerId(2)]));
        assert!(waiters.take_first(1).is_none());
    }

    #[test]
    fn disconnected_fetches_do_not_use_up_the_limit() {
        let mut waiters = Waiters::default();
        let stay: Vec<_> = (0..100).map(|n| wait(&mut waiters, n, &[1])).collect();
        for n in 0..20_000 {
            waiters.prune_if_due(10_000);
            assert!(waiters.len() <= 2 * stay.len(), "after {n}");
            drop(wait(&mut waiters, n, &[1]));
        }
        waiters.prune();
        assert_eq!(waiters.len(), stay.len());
    }

    #[test]
    fn jobs_that_are_put_back_are_taken_again_in_order() {
        let (ledger, _commands) = std::sync::mpsc::sync_channel(8);
        let returns = ReturnedJobs::new(ledger);
        returns.add([1, 2].map(|n| (JobId(n), 7)).into_iter());
        let taken = returns.take();
        assert_eq!(taken, [(JobId(2), 7), (JobId(1), 7)]);
        returns.add([(JobId(3), 7)].into_iter());
        returns.put_back(taken);
        assert!(returns.take().into_iter().map(|(id, _)| id.0).eq([3, 2, 1]));
    }
}
