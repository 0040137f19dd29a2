//! Workers that wait for jobs, and jobs on their way to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use parking_lot::Mutex;
use telltale_engine::MemoryShare;
use tokio::sync::oneshot;

use super::error::JobsError;
use super::ledger::Command;
use super::model::{Holding, JobId, WorkerId};

/// So few may always wait unlooked at.
const PRUNE_AT_MIN: usize = 64;

/// Where the answer to a fetch goes.
pub(super) type FetchReply = oneshot::Sender<Result<Granted, JobsError>>;

/// Jobs that were handed out. Dropped before [`Self::keep`], because whoever asked has gone, they go back to the front of
/// their queues as if nothing had been.
#[derive(Debug)]
pub struct Granted {
    jobs: Vec<Holding>,
    returns: Arc<Returns>,
    /// Of the account of memory, for what the jobs are to do.
    share: MemoryShare,
}

/// Jobs that were handed out to nobody.
#[derive(Debug)]
pub(super) struct Returns {
    jobs: Mutex<Vec<(JobId, u64)>>,
    ledger: SyncSender<Command>,
}

/// A worker that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) worker: WorkerId,
    pub(super) limit: u32,
    pub(super) reply: FetchReply,
    queues: Arc<[u32]>,
}

/// All that wait, in the order they came, and which of them a job of a queue may go to.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    next: u64,
    all: BTreeMap<u64, Waiter>,
    by_queue: HashMap<u32, BTreeSet<u64>>,
    /// So many may wait before those who have gone are looked for.
    prune_at: usize,
}

impl Granted {
    pub(super) fn new(jobs: Vec<Holding>, share: MemoryShare, returns: &Arc<Returns>) -> Self {
        Self { jobs, returns: Arc::clone(returns), share }
    }

    /// The jobs, which now belong to whoever asked.
    pub fn keep(mut self) -> Vec<Holding> {
        std::mem::take(&mut self.jobs)
    }

    /// The memory that counts for what the jobs are to do, for the answer that is made of it.
    pub fn take_memory(&mut self) -> MemoryShare {
        self.share.take_all()
    }

    /// The jobs, to be looked at.
    pub fn jobs(&self) -> &[Holding] {
        &self.jobs
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        if !self.jobs.is_empty() {
            self.returns.add(self.jobs.drain(..).map(|job| (job.id, job.token)));
        }
    }
}

impl Returns {
    pub(super) fn new(ledger: SyncSender<Command>) -> Self {
        Self { jobs: Mutex::default(), ledger }
    }

    /// Puts jobs where the next round finds them.
    pub(super) fn add(&self, jobs: impl Iterator<Item = (JobId, u64)>) {
        self.jobs.lock().extend(jobs);
        // A full channel means that a round is coming anyway, a closed one that the disk gives them back.
        drop(self.ledger.try_send(Command::Wake));
    }

    /// The last one first: put to the front one by one, they stand in their old order.
    pub(super) fn take(&self) -> Vec<(JobId, u64)> {
        let mut jobs = std::mem::take(&mut *self.jobs.lock());
        jobs.reverse();
        jobs
    }

    /// What was taken is to be taken again, before what came meanwhile.
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

    /// Takes the first that waits for jobs of this queue; those who have gone are passed over and forgotten.
    pub(super) fn take_first(&mut self, queue: u32) -> Option<Waiter> {
        loop {
            let number = *self.by_queue.get(&queue)?.first()?;
            let waiter = self.remove(number)?;
            if !waiter.reply.is_closed() {
                return Some(waiter);
            }
        }
    }

    /// Takes what a worker waits with.
    pub(super) fn take_of(&mut self, worker: WorkerId) -> impl Iterator<Item = Waiter> {
        let its = self.all.iter().filter(|(_, waiter)| waiter.worker == worker);
        let its: Vec<u64> = its.map(|(number, _)| *number).collect();
        its.into_iter().filter_map(|number| self.remove(number))
    }

    /// Forgets those who have gone.
    pub(super) fn prune(&mut self) {
        let gone = |(number, waiter): (&u64, &Waiter)| waiter.reply.is_closed().then_some(*number);
        let gone: Vec<u64> = self.all.iter().filter_map(gone).collect();
        gone.into_iter().for_each(|number| drop(self.remove(number)));
    }

    /// The same when twice as many wait as after the last time, which makes it cheap and still keeps those who have gone
    /// from taking the places of those who come.
    pub(super) fn prune_in_time(&mut self, waiters_max: usize) {
        if self.all.len() < self.prune_at {
            return;
        }
        self.prune();
        self.prune_at = (2 * self.all.len()).max(PRUNE_AT_MIN).min(waiters_max);
    }

    /// Takes all who wait.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waiter> {
        self.by_queue.clear();
        std::mem::take(&mut self.all).into_values()
    }

    fn remove(&mut self, number: u64) -> Option<Waiter> {
        let waiter = self.all.remove(&number)?;
        for queue in waiter.queues.iter() {
            if let Some(waiting) = self.by_queue.get_mut(queue) {
                waiting.remove(&number);
                if waiting.is_empty() {
                    self.by_queue.remove(queue);
                }
            }
        }
        Some(waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(
        waiters: &mut Waiters,
        worker: u128,
        queues: &[u32],
    ) -> oneshot::Receiver<Result<Granted, JobsError>> {
        let (reply, answer) = oneshot::channel();
        waiters.add(WorkerId(worker), queues.into(), 1, reply);
        answer
    }

    #[test]
    fn the_first_who_waits_for_a_queue_is_served_and_those_who_left_are_not() {
        let mut waiters = Waiters::default();
        let _one = wait(&mut waiters, 1, &[7, 8]);
        let two = wait(&mut waiters, 2, &[8]);
        let _three = wait(&mut waiters, 3, &[8, 9]);
        assert!(waiters.take_first(6).is_none());
        assert_eq!(waiters.take_first(8).unwrap().worker, WorkerId(1));
        drop(two);
        assert!(waiters.take_first(7).is_none(), "it was served already");
        assert_eq!(waiters.take_first(8).unwrap().worker, WorkerId(3));
        assert!(waiters.take_first(9).is_none());
        assert_eq!(waiters.len(), 0);
    }

    #[test]
    fn those_who_left_are_forgotten() {
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
    fn those_who_left_make_room_for_those_who_come() {
        let mut waiters = Waiters::default();
        let stay: Vec<_> = (0..100).map(|n| wait(&mut waiters, n, &[1])).collect();
        for n in 0..20_000 {
            waiters.prune_in_time(10_000);
            assert!(waiters.len() <= 2 * stay.len(), "after {n}");
            drop(wait(&mut waiters, n, &[1]));
        }
        waiters.prune();
        assert_eq!(waiters.len(), stay.len());
    }

    #[test]
    fn what_is_put_back_is_taken_again_in_its_order() {
        let (ledger, _commands) = std::sync::mpsc::sync_channel(8);
        let returns = Returns::new(ledger);
        returns.add([1, 2].map(|n| (JobId(n), 7)).into_iter());
        let taken = returns.take();
        assert_eq!(taken, [(JobId(2), 7), (JobId(1), 7)]);
        returns.add([(JobId(3), 7)].into_iter());
        returns.put_back(taken);
        assert!(returns.take().into_iter().map(|(id, _)| id.0).eq([3, 2, 1]));
    }
}
