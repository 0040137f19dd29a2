//! Tests of loading damaged records: the damage is reported, and the rest is consistent.

use telltale_engine::{RecordBatch, Table};

use super::*;
use crate::jobs::stored;

impl Pair {
    /// Replaces a record by one that cannot be decoded.
    fn corrupt(&self, table: Table, key: &[u8]) {
        let mut batch = RecordBatch::new();
        batch.put(table, key, b"\xffnothing".to_vec());
        self.engine.records().write(batch).unwrap();
    }

    /// Loads the state from disk, and returns the reported damage.
    fn reload_damaged(&mut self) -> Vec<String> {
        let loaded = State::load(&self.engine, self.settings, Arc::clone(&self.ids), 7, self.now());
        let loaded = loaded.unwrap();
        self.state = loaded.state;
        loaded.damaged
    }
}

#[test]
fn an_unreadable_body_of_a_held_job_is_reported() {
    let mut pair = Pair::open();
    let worker = pair.hire(&["a"]);
    let bad = pair.enqueue_in("a");
    pair.enqueue_in("a");
    pair.take(worker);
    pair.take(worker);
    pair.corrupt(stored::BODIES, &bad.key());
    let expected = format!("jobs_body {bad}: version Some(255) is not supported");
    assert_eq!(pair.reload_damaged(), [expected]);
    let view = pair.state.worker(worker).unwrap();
    let classes: Vec<&str> = view.current.iter().map(|(_, class, _)| &**class).collect();
    assert_eq!(classes, ["unknown", "A"]);
}

#[test]
fn a_dead_job_of_a_damaged_queue_is_counted_in_the_replacement_of_that_queue() {
    let mut pair = Pair::open();
    let worker = pair.hire(&["a"]);
    pair.enqueue_in("a");
    let (id, token) = pair.take(worker);
    let report = FailureReport::new("E", "", Vec::new());
    pair.cycle(|state, cycle| state.fail(id, Some(token), report, cycle)).unwrap();
    let number = *pair.state.queues.by_name.get("a").unwrap();
    // The name that the replacement gets.
    let other = pair.hire(&[&format!("damaged-{number}")]);
    pair.corrupt(stored::QUEUES, &number.to_be_bytes());
    assert_eq!(pair.reload_damaged().len(), 1);
    assert_eq!(pair.state.queues.of(number).dead, 1);
    let dead = pair.state.job(id).and_then(|job| job.dead_id).unwrap();
    assert!(pair.cycle(|state, cycle| state.forget(dead, cycle)));
    assert!(pair.state.queues.iter().all(|(_, queue)| queue.dead == 0));
    for worker in [worker, other] {
        pair.leave(worker);
    }
}
