//! Tests of turns: who writes what, and who waits for whom and for how long.

use super::*;
use crate::model::{MetricId, TimestampMs};

const SLOW: Duration = Duration::from_millis(2);
const FAST: Duration = Duration::from_micros(50);

fn write(bytes: usize, may_block: bool) -> Submission {
    Submission {
        payload: vec![1; bytes],
        synced: false,
        may_block,
        applied: Applied::Dropped(MetricId(1)),
        done: Box::new(drop),
    }
}

fn submit(queue: &WriteQueue) {
    assert!(queue.submit(write(1, false)).is_none());
}

fn written(queue: &WriteQueue, writers: usize, took: Duration) {
    let (write_time, turn_time) = (took, took);
    queue.written(&WrittenGroup { writers, is_synced: true, write_time, turn_time });
}

/// Returns a queue after a group of so many writers.
fn after_group(writers: usize, took: Duration) -> WriteQueue {
    let queue = WriteQueue::default();
    written(&queue, writers, took);
    queue
}

/// Takes what is queued, and ends the turn. Returns the number of commands.
fn take(queue: &WriteQueue) -> Option<usize> {
    let commands = queue.take()?.len();
    queue.end_turn();
    Some(commands)
}

/// Returns once the thread that takes has begun to wait, and holds the lock no more.
fn until_it_waits(queue: &WriteQueue) {
    while queue.waits.load(std::sync::atomic::Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    drop(queue.queue.lock());
}

#[test]
fn a_group_is_complete_with_the_writers_that_are_expected() {
    let queue = after_group(1, SLOW);
    submit(&queue);
    std::thread::scope(|scope| {
        // Whether it comes before or during the wait, or too late, it is not lost.
        scope.spawn(|| submit(&queue));
        let first = take(&queue).unwrap();
        assert!((1..=2).contains(&first), "{first}");
        if first == 1 {
            assert_eq!(take(&queue), Some(1));
        }
    });
    assert_eq!(queue.bytes(), 0);
}

#[test]
fn a_writer_is_not_kept_waiting_for_one_that_does_not_come() {
    let queue = after_group(2, SLOW);
    submit(&queue);
    assert_eq!(take(&queue), Some(1));
    written(&queue, 2, SLOW);
    assert_eq!(queue.queue.lock().gathering.wait(1), None, "after a wait in vain");
}

#[test]
fn a_writer_that_may_block_has_the_turn_and_others_wait_for_its_end() {
    let queue = after_group(1, FAST);
    let first = queue.submit(write(1, true)).unwrap();
    assert_eq!(first.len(), 1);
    submit(&queue);
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| take(&queue));
        until_it_waits(&queue);
        assert_eq!(queue.bytes(), 1, "not taken while another thread writes");
        queue.end_turn();
        assert_eq!(committing.join().unwrap(), Some(1));
    });
    // A write that its thread cannot write after all is the next of the committing thread.
    let second = queue.submit(write(1, true)).unwrap();
    queue.pass_on(second);
    queue.end_turn();
    assert!(queue.submit(write(1, true)).is_none(), "not before one that is queued");
    assert_eq!(take(&queue), Some(2));
    drop(first);
}

/// Returns a queue after a group of so many writers, whose waits do not end by themselves.
fn without_end(writers: usize) -> WriteQueue {
    let clock = Clock::manual(TimestampMs(0));
    WriteQueue { clock, ..after_group(writers, FAST) }
}

/// Returns a queue without end in which another thread writes.
fn with_turn() -> WriteQueue {
    let queue = without_end(1);
    assert!(queue.submit(write(1, true)).is_some());
    queue
}

/// Submits a write that waits, for the turn or for other writers, calls `meanwhile`, and
/// returns the number of writes that its thread has to write.
fn wait(queue: &WriteQueue, meanwhile: impl FnOnce()) -> Option<usize> {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| queue.submit(write(1, true)));
        while !matches!(queue.queue.lock().turn, Turn::Awaited | Turn::Held(_)) {
            assert!(!waiting.is_finished(), "it does not wait");
            std::thread::yield_now();
        }
        meanwhile();
        waiting.join().unwrap().map(|group| group.len())
    })
}

#[test]
fn the_turn_passes_to_one_that_waits_with_what_was_queued_meanwhile() {
    let queue = with_turn();
    let group = wait(&queue, || {
        assert!(queue.submit(write(1, true)).is_none(), "one waits already");
        submit(&queue);
        // It expects as many as came during this turn.
        written(&queue, 0, FAST);
        queue.end_turn();
    });
    assert_eq!((group, queue.bytes()), (Some(3), 0));
    queue.end_turn();
    assert!(queue.submit(write(1, true)).is_some(), "the turn has ended");
}

#[test]
fn one_that_waits_for_a_turn_leaves_many_bytes_and_rotations_to_the_committing_thread() {
    for rotates in [false, true] {
        let queue = with_turn();
        let group = wait(&queue, || {
            if rotates {
                queue.rotate(drop);
            } else {
                assert!(queue.submit(write(INLINE_BYTES_MAX, false)).is_none());
            }
            written(&queue, 0, FAST);
            queue.end_turn();
        });
        assert_eq!(group, None);
        assert_eq!(take(&queue), Some(2));
    }
}

#[test]
fn one_that_waits_for_too_long_leaves_its_write_to_the_committing_thread() {
    let queue = with_turn();
    assert_eq!(wait(&queue, || queue.clock.pass(TURN_WAIT_MAX)), None);
    assert!(queue.submit(write(1, true)).is_none(), "one is queued");
    queue.end_turn();
    assert_eq!(take(&queue), Some(2));
}

#[test]
fn one_that_waits_is_refused_after_a_failure_and_writes_before_the_end() {
    let queue = with_turn();
    let group = wait(&queue, || {
        assert_eq!(queue.fail("a panic".to_owned()).len(), 1);
        queue.end_turn();
    });
    assert_eq!(group, None);
    assert_eq!(take(&queue), None, "its turn has ended");
    for queue in [with_turn(), without_end(2)] {
        let group = wait(&queue, || {
            queue.stop();
            if queue.queue.lock().turn == Turn::Awaited {
                queue.end_turn();
            }
        });
        assert_eq!(group, Some(1));
        queue.end_turn();
        assert_eq!(take(&queue), None);
    }
}

#[test]
fn the_last_writer_that_is_expected_writes_the_group() {
    let queue = without_end(3);
    let first = wait(&queue, || {
        submit(&queue);
        assert!(matches!(queue.queue.lock().turn, Turn::Held(_)), "one is missing");
        assert_eq!(queue.submit(write(1, true)).map(|group| group.len()), Some(3));
        queue.end_turn();
    });
    assert_eq!((first, queue.bytes()), (None, 0));
    // The last one may not block.
    let queue = without_end(2);
    assert_eq!(wait(&queue, || submit(&queue)), Some(2));
}

#[test]
fn writers_that_do_not_come_are_waited_for_once() {
    let queue = without_end(2);
    assert_eq!(wait(&queue, || queue.clock.pass(Duration::from_secs(1))), Some(1));
    written(&queue, 2, FAST);
    queue.end_turn();
    assert_eq!(queue.submit(write(1, true)).map(|group| group.len()), Some(1));
}

#[test]
fn writes_that_were_passed_on_stay_with_the_committing_thread() {
    let queue = with_turn();
    let group = wait(&queue, || {
        let response = WriteResponse::new(Box::new(drop));
        let applied = Applied::Dropped(MetricId(1));
        queue.pass_on(vec![Queued { payload: vec![1], synced: false, applied, response }]);
        queue.end_turn();
    });
    assert_eq!(group, None);
    assert_eq!(take(&queue), Some(2));
    assert!(queue.submit(write(1, true)).is_some(), "the next one is written inline");
}

#[test]
fn the_committing_thread_leaves_expectations_to_the_one_that_has_the_next_turn() {
    let queue = with_turn();
    std::thread::scope(|scope| {
        let group = wait(&queue, || {
            written(&queue, 1, FAST);
            let committing = scope.spawn(|| take(&queue));
            until_it_waits(&queue);
            queue.end_turn();
            assert!(!committing.is_finished());
            // The one that waited now waits for the writer of the turn before.
            loop {
                match queue.queue.lock().turn {
                    Turn::Held(_) => break,
                    turn => assert!(matches!(turn, Turn::Passed(_)), "{turn:?}"),
                }
                std::thread::yield_now();
            }
            assert!(queue.submit(write(1, true)).is_some_and(|group| group.len() == 2));
            queue.stop();
            queue.end_turn();
        });
        assert_eq!(group, None);
    });
}

#[test]
fn a_group_that_waits_is_left_to_the_committing_thread_if_it_is_large_or_a_rotation_follows() {
    for rotates in [false, true] {
        let queue = without_end(2);
        let group = wait(&queue, || {
            if rotates {
                queue.rotate(drop);
            } else {
                assert!(queue.submit(write(INLINE_BYTES_MAX, true)).is_none());
            }
        });
        assert_eq!(group, None);
        assert_eq!(take(&queue), Some(2));
    }
}

#[test]
fn a_thread_that_may_not_block_or_would_for_long_queues() {
    let queue = after_group(1, FAST);
    assert!(queue.submit(write(1, false)).is_none(), "it may not block");
    assert_eq!(take(&queue), Some(1));
    assert!(queue.submit(write(INLINE_BYTES_MAX + 1, true)).is_none(), "it is large");
    assert_eq!(take(&queue), Some(1));
    queue.failed();
    assert!(queue.submit(write(1, true)).is_none(), "after a failure");
    assert_eq!(take(&queue), Some(1));
    let queue = after_group(1, SLOW);
    assert!(queue.submit(write(1, true)).is_none(), "the disk is slow");
}

#[test]
fn the_committing_thread_ends_after_a_turn_of_another_one() {
    for fails in [false, true] {
        let queue = after_group(1, FAST);
        let writing = queue.submit(write(1, true)).unwrap();
        std::thread::scope(|scope| {
            let committing = scope.spawn(|| queue.take().is_none());
            until_it_waits(&queue);
            if fails {
                assert!(queue.fail("a panic".to_owned()).is_empty());
            } else {
                queue.stop();
            }
            assert!(!committing.is_finished(), "not while another thread writes");
            queue.end_turn();
            assert!(committing.join().unwrap());
        });
        drop(writing);
    }
}

#[test]
fn nobody_is_waited_for_before_a_rotation_or_the_end() {
    let queue = after_group(9, SLOW);
    submit(&queue);
    queue.rotate(drop);
    assert_eq!(take(&queue), Some(2));
    written(&queue, 9, SLOW);
    submit(&queue);
    queue.stop();
    assert_eq!(take(&queue), Some(1));
    assert_eq!(take(&queue), None);
    let refused = std::sync::Arc::new(Mutex::new(None));
    let outcome = std::sync::Arc::clone(&refused);
    queue.rotate(move |lsn| *outcome.lock() = Some(lsn.is_err()));
    assert_eq!(*refused.lock(), Some(true));
}
