//! Tests that a purge step inspects few jobs, however many are waiting.

use super::*;
use crate::limits::{LEDGER_STEP_JOBS_MAX, LEDGER_STEP_LOOKUPS_MAX};

impl Pair {
    /// Enqueues jobs, scheduled or ready, that the model does not know.
    fn enqueue_many(&mut self, queue: &str, count: usize, due_ms: Option<i64>) {
        let (ids, wall_ms) = (Arc::clone(&self.ids), self.clock.now().0);
        self.cycle(|state, cycle| {
            for _ in 0..count {
                let job = NewJob {
                    class: ClassName::new("A").unwrap(),
                    queue: QueueName::new(queue).unwrap(),
                    arguments: "{}".into(),
                    run_at: due_ms.map(TimestampMs),
                    max_attempts: 2,
                    unique: None,
                    timeout_seconds: None,
                };
                let status = due_ms.map_or(JobStatus::Ready, |_| JobStatus::Scheduled);
                let draft = Draft::new(JobId(ids.next_number()), job, wall_ms);
                state.enqueue(draft, status, cycle).unwrap();
            }
        });
    }

    fn next_id(&self) -> JobId {
        JobId(self.ids.next_number())
    }

    fn purge_on(&mut self, from: PurgeCursor, end: JobId) -> (usize, Option<PurgeCursor>) {
        self.cycle(|state, cycle| state.purge_step("own", from, end, cycle)).unwrap()
    }

    /// Returns the waiting jobs of a queue: ready, scheduled, retrying.
    fn waiting_in(&self, queue: &str) -> (usize, usize, usize) {
        let queue = self.state.queues.of(self.state.queue_number(queue).unwrap());
        (queue.ready, queue.scheduled, queue.retrying)
    }
}

#[test]
fn a_purge_passes_scheduled_jobs_of_other_queues_in_bounded_steps() {
    let mut pair = Pair::open();
    pair.enqueue_many("other", LEDGER_STEP_LOOKUPS_MAX + 1, Some(START_MS + 60_000));
    pair.enqueue_many("own", 2, Some(START_MS + 120_000));
    pair.enqueue_many("own", 3, None);
    let end = pair.next_id();
    pair.enqueue_many("own", 1, Some(START_MS + 180_000));
    let (removed, next) = pair.purge_on(PurgeCursor::START, end);
    assert!(matches!((removed, next), (0, Some(PurgeCursor::Scheduled(..)))), "{next:?}");
    assert_eq!(pair.purge_on(next.unwrap(), end), (5, None));
    assert_eq!(pair.waiting_in("own"), (0, 1, 0), "it was enqueued later");
    assert_eq!(pair.waiting_in("other").1, LEDGER_STEP_LOOKUPS_MAX + 1);
}

#[test]
fn a_purge_does_not_inspect_ready_jobs_of_other_queues() {
    let mut pair = Pair::open();
    pair.enqueue_many("own", 1, None);
    pair.enqueue_many("other", LEDGER_STEP_LOOKUPS_MAX + 1, None);
    pair.enqueue_many("own", 1, Some(START_MS + 60_000));
    let end = pair.next_id();
    assert_eq!(pair.purge_on(PurgeCursor::START, end), (2, None));
}

#[test]
fn a_purge_skips_ready_jobs_that_were_enqueued_later_in_bounded_steps() {
    let mut pair = Pair::open();
    let end = pair.next_id();
    pair.enqueue_many("own", LEDGER_STEP_LOOKUPS_MAX + 1, None);
    let (removed, next) = pair.purge_on(PurgeCursor::START, end);
    let Some(PurgeCursor::Ready { left: 1, .. }) = next else { panic!("{next:?}") };
    pair.enqueue_many("own", 1, None);
    assert_eq!((removed, pair.purge_on(next.unwrap(), end)), (0, (0, None)));
    assert_eq!(pair.waiting_in("own"), (LEDGER_STEP_LOOKUPS_MAX + 2, 0, 0));
}

#[test]
fn a_purge_finds_all_waiting_jobs_although_the_queue_changes_meanwhile() {
    let mut pair = Pair::open();
    pair.enqueue_many("own", 2 * LEDGER_STEP_JOBS_MAX + 7, None);
    let end = pair.next_id();
    let (removed, next) = pair.purge_on(PurgeCursor::START, end);
    assert_eq!(removed, LEDGER_STEP_JOBS_MAX);
    pair.enqueue_many("own", 3, None);
    // Restores the order from disk.
    pair.reload();
    let (removed, next) = pair.purge_on(next.unwrap(), end);
    assert_eq!(removed, LEDGER_STEP_JOBS_MAX);
    assert_eq!(pair.purge_on(next.unwrap(), end), (7, None));
    assert_eq!(pair.waiting_in("own"), (3, 0, 0));
}
