//! Tests that unused queues are dropped, and only those.

use super::*;
use crate::limits::QUEUES_MAX;

impl Pair {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.state.queues.iter().map(|(_, queue)| queue.name.to_string()).collect();
        names.sort();
        names
    }

    /// Advances the monotonic clock of the state only: the model does not drop queues.
    fn wait(&mut self, ms: i64) {
        self.steady_ms += ms;
        self.cycle(|_, _| ());
    }

    pub(super) fn enqueue_in(&mut self, queue: &str) -> JobId {
        let id = JobId(self.ids.next_number());
        let job = NewJob {
            class: ClassName::new("A").unwrap(),
            queue: QueueName::new(queue).unwrap(),
            arguments: "{}".into(),
            run_at: None,
            max_attempts: 1,
            unique: None,
            timeout_seconds: None,
        };
        let draft = Draft::new(id, job, self.clock.now().0);
        self.cycle(|state, cycle| state.enqueue(draft, JobStatus::Ready, cycle)).unwrap();
        id
    }

    pub(super) fn hire(&mut self, queues: &[&str]) -> WorkerId {
        self.try_register(queues).unwrap()
    }

    fn try_register(&mut self, queues: &[&str]) -> Result<WorkerId, crate::jobs::JobsError> {
        let about = NewWorker {
            hostname: "a".into(),
            pid: None,
            queues: queues.iter().map(|name| QueueName::new(name).unwrap()).collect(),
            concurrency: 1,
        };
        Ok(self.cycle(|state, cycle| state.register(about, cycle))?.id)
    }

    pub(super) fn leave(&mut self, worker: WorkerId) {
        self.cycle(|state, cycle| state.deregister(worker, cycle)).unwrap();
    }

    pub(super) fn take(&mut self, worker: WorkerId) -> (JobId, u64) {
        let grants = self.cycle(|state, cycle| state.reserve(worker, 1, cycle)).unwrap();
        let grant = grants.first().unwrap();
        (grant.id, grant.token)
    }
}

fn keep_ms() -> i64 {
    JobsSettings::default().queue_keep.ms()
}

#[test]
fn a_queue_is_dropped_after_it_was_unused_for_long() {
    let mut pair = Pair::open();
    let id = pair.enqueue_in("a");
    pair.wait(2 * keep_ms());
    assert_eq!(pair.names(), ["a"], "a job is waiting");
    pair.cycle(|state, cycle| state.delete(id, cycle)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms() - 1);
    assert_eq!(pair.names(), ["a"]);
    let id = pair.enqueue_in("a");
    pair.wait(1);
    pair.cycle(|state, cycle| state.delete(id, cycle)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms() - 1);
    assert_eq!(pair.names(), ["a"], "it was in use meanwhile");
    pair.wait(1);
    assert!(pair.names().is_empty());
    pair.reload();
    pair.wait(0);
    assert!(pair.names().is_empty(), "also on disk");
}

#[test]
fn whatever_refers_to_a_queue_keeps_it() {
    let mut pair = Pair::open();
    let finished_ms = settings().finished_keep.ms();
    let worker = pair.hire(&["finished", "dead", "paused", "left"]);
    for name in ["finished", "dead"] {
        pair.enqueue_in(name);
    }
    let (id, token) = pair.take(worker);
    pair.cycle(|state, cycle| state.ack(id, Some(token), cycle)).unwrap();
    let (id, token) = pair.take(worker);
    let report = FailureReport::new("E", "", Vec::new());
    pair.cycle(|state, cycle| state.fail(id, Some(token), report, cycle)).unwrap();
    pair.cycle(|state, cycle| state.pause("paused", cycle)).unwrap();
    pair.leave(worker);
    pair.wait(0);
    // Before the finished job expires.
    pair.wait(finished_ms - 1);
    pair.wait(keep_ms() - finished_ms + 1);
    assert_eq!(pair.names(), ["dead", "finished", "paused"]);
    pair.reload();
    pair.wait(2 * keep_ms());
    pair.wait(2 * keep_ms());
    assert_eq!(pair.names(), ["dead", "paused"]);
    let dead = pair.state.job(id).and_then(|job| job.dead_id).unwrap();
    assert!(pair.cycle(|state, cycle| state.forget(dead, cycle)));
    pair.cycle(|state, cycle| state.resume("paused", cycle)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms());
    assert!(pair.names().is_empty());
}

#[test]
fn the_number_of_a_dropped_queue_is_reused_even_after_a_restart() {
    let mut pair = Pair::open();
    let worker = pair.hire(&["a", "b", "c"]);
    pair.leave(worker);
    let id = pair.enqueue_in("c");
    pair.wait(0);
    pair.wait(keep_ms());
    assert_eq!(pair.names(), ["c"]);
    pair.reload();
    pair.enqueue_in("d");
    pair.enqueue_in("e");
    pair.reload();
    assert_eq!(pair.names(), ["c", "d", "e"]);
    assert_eq!(pair.state.queues.numbers_end(), 3);
    assert_eq!(pair.state.job(id).map(|job| job.queue.to_string()).as_deref(), Some("c"));
}

#[test]
fn at_the_maximum_number_of_queues_unused_ones_are_dropped_at_once() {
    let mut pair = Pair::open();
    let names: Vec<String> = (0..QUEUES_MAX).map(|n| format!("q{n:05}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let workers: Vec<WorkerId> = names.chunks(100).map(|part| pair.hire(part)).collect();
    assert!(pair.try_register(&["one", "more"]).is_err(), "all of them have workers");
    assert_eq!(pair.names().len(), QUEUES_MAX);
    pair.leave(workers[0]);
    pair.wait(0);
    pair.hire(&["one", "more", "q00099"]);
    assert_eq!(pair.names().len(), QUEUES_MAX);
    let left = pair.names();
    assert!(!left.contains(&"q00000".to_owned()) && left.contains(&"q00099".to_owned()));
    pair.reload();
    assert_eq!(pair.names(), left);
}
