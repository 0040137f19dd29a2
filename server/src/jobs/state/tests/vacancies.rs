//! Queues that nobody needs vanish, and only those.

use super::*;
use crate::limits::QUEUES_MAX;

impl Pair {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.state.queues.iter().map(|(_, queue)| queue.name.to_string()).collect();
        names.sort();
        names
    }

    /// Lets so much time pass for the machine alone: the model knows nothing of queues that vanish.
    fn wait(&mut self, ms: i64) {
        self.steady_ms += ms;
        self.round(|_, _| ());
    }

    fn enqueue_in(&mut self, queue: &str) -> JobId {
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
        self.round(|state, round| state.enqueue(draft, JobStatus::Ready, round)).unwrap();
        id
    }

    fn hire(&mut self, queues: &[&str]) -> WorkerId {
        self.try_register(queues).unwrap()
    }

    fn try_register(&mut self, queues: &[&str]) -> Result<WorkerId, crate::jobs::JobsError> {
        let about = NewWorker {
            hostname: "a".into(),
            pid: None,
            queues: queues.iter().map(|name| QueueName::new(name).unwrap()).collect(),
            concurrency: 1,
        };
        Ok(self.round(|state, round| state.register(about, round))?.id)
    }

    fn leave(&mut self, worker: WorkerId) {
        self.round(|state, round| state.deregister(worker, round)).unwrap();
    }

    fn take(&mut self, worker: WorkerId) -> (JobId, u64) {
        let grants = self.round(|state, round| state.reserve(worker, 1, round)).unwrap();
        let grant = grants.first().unwrap();
        (grant.id, grant.token)
    }
}

fn keep_ms() -> i64 {
    JobsSettings::default().queue_keep_ms
}

#[test]
fn a_queue_vanishes_when_nobody_has_needed_it_for_long() {
    let mut pair = Pair::open();
    let id = pair.enqueue_in("a");
    pair.wait(2 * keep_ms());
    assert_eq!(pair.names(), ["a"], "a job waits in it");
    pair.round(|state, round| state.delete(id, round)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms() - 1);
    assert_eq!(pair.names(), ["a"]);
    let id = pair.enqueue_in("a");
    pair.wait(1);
    pair.round(|state, round| state.delete(id, round)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms() - 1);
    assert_eq!(pair.names(), ["a"], "it was needed meanwhile");
    pair.wait(1);
    assert!(pair.names().is_empty());
    pair.reload();
    pair.wait(0);
    assert!(pair.names().is_empty(), "also on disk");
}

#[test]
fn whatever_refers_to_a_queue_keeps_it() {
    let mut pair = Pair::open();
    let finished_ms = settings().finished_keep_ms;
    let worker = pair.hire(&["finished", "dead", "paused", "left"]);
    for name in ["finished", "dead"] {
        pair.enqueue_in(name);
    }
    let (id, token) = pair.take(worker);
    pair.round(|state, round| state.ack(id, Some(token), round)).unwrap();
    let (id, token) = pair.take(worker);
    let report = FailureReport::new("E", "", Vec::new());
    pair.round(|state, round| state.fail(id, Some(token), report, round)).unwrap();
    pair.round(|state, round| state.pause("paused", round)).unwrap();
    pair.leave(worker);
    pair.wait(0);
    // Before the finished job is forgotten.
    pair.wait(finished_ms - 1);
    pair.wait(keep_ms() - finished_ms + 1);
    assert_eq!(pair.names(), ["dead", "finished", "paused"]);
    pair.reload();
    pair.wait(2 * keep_ms());
    pair.wait(2 * keep_ms());
    assert_eq!(pair.names(), ["dead", "paused"]);
    let dead = pair.state.job(id).and_then(|job| job.dead_id).unwrap();
    assert!(pair.round(|state, round| state.forget(dead, round)));
    pair.round(|state, round| state.resume("paused", round)).unwrap();
    pair.wait(0);
    pair.wait(keep_ms());
    assert!(pair.names().is_empty());
}

#[test]
fn the_number_of_a_queue_that_vanished_is_given_to_another_also_after_a_start() {
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
fn where_there_are_as_many_queues_as_can_be_those_nobody_needs_make_room_at_once() {
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
