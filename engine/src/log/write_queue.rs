//! The queue of writes before the log, and whose turn it is to write.
//!
//! One thread at a time writes to the log: the committing thread or, where the disk is fast
//! ([`super::inline`]), a thread that submits a write and may block. Each takes all that is queued.
//!
//! ```text
//! a thread submits a write     nobody writes          goes on
//!                              another one writes     waits for the end of its turn, or leaves the
//!                                                     write to the committing thread
//! if others are expected       waits for them; the last of them to come writes all
//! if nobody is expected, or they do not come          writes what is queued
//! ```
//!
//! What takes long — the start of a segment, many bytes — is left to the committing thread.

use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::gathering::{Gathering, Wait};
use super::inline::InlineRule;
use super::segment::PAYLOAD_BYTES_MAX;
use super::sink::Applied;
use super::write_response::{Done, WriteResponse};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::limits::LOG_GROUP_BYTES_MAX;
use crate::model::Lsn;

/// Maximum bytes queued; above it writes are refused as overloaded.
const QUEUE_BYTES_MAX: usize = 64 << 20;

/// Maximum bytes of a record that is written by the thread that submits it: larger ones also take
/// longer to apply.
const INLINE_BYTES_MAX: usize = 64 << 10;
/// How long a thread waits for the turn of another one to end before it leaves its write to the
/// committing thread: two long turns.
const TURN_WAIT_MAX: Duration = Duration::from_millis(1);

/// A write to be committed.
pub(crate) struct Submission {
    /// The encoded record.
    pub(crate) payload: Vec<u8>,
    /// Whether it is synced before it is acknowledged, whatever [`crate::Durability`] requires.
    pub(crate) synced: bool,
    /// Whether the thread that submits it may block.
    pub(crate) may_block: bool,
    pub(crate) applied: Applied,
    /// Called once with the record's position, or why there is none.
    pub(crate) done: Done,
}

/// What the committing thread does next.
pub(super) enum Command {
    Write(Queued),
    /// Starts a new segment, then responds with the last record of the old one.
    Rotate(WriteResponse),
}

/// An accepted [`Submission`].
pub(super) struct Queued {
    pub(super) payload: Vec<u8>,
    pub(super) synced: bool,
    pub(super) applied: Applied,
    pub(super) response: WriteResponse,
}

/// How a group was written.
pub(super) struct WrittenGroup {
    pub(super) writers: usize,
    pub(super) is_synced: bool,
    /// How long the write took, with its sync.
    pub(super) write_time: Duration,
    /// How long the turn took, from the group to its responses.
    pub(super) turn_time: Duration,
}

/// Whose turn it is to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// Nobody writes.
    #[default]
    Free,
    /// A thread writes.
    Taken,
    /// A thread writes, and another one, whose write is queued, waits for its turn to end.
    Awaited,
    /// The turn has passed to the one that waited, although it may not have woken up yet. So many
    /// writes were queued at the end of the turn before.
    Passed(usize),
    /// Nobody writes: a thread, whose write is queued, waits for further writers.
    Held(Held),
}

/// A group that waits for further writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    /// Distinguishes it from others.
    number: u64,
    /// The writers with which it is complete.
    writers: usize,
}

#[derive(Default)]
struct Queue {
    commands: Vec<Command>,
    bytes: usize,
    gathering: Gathering,
    inline: InlineRule,
    turn: Turn,
    /// Whether what is queued was left to the committing thread.
    is_passed_on: bool,
    /// The number of groups that were held.
    held: u64,
    stopped: bool,
    /// Why nothing is written any more.
    failure: Option<String>,
}

impl Queue {
    /// Returns why nothing more is accepted, if that is the case.
    fn refusal(&self) -> Option<Error> {
        let closing = self.stopped.then(|| "the engine is closing".to_owned());
        self.failure.clone().or(closing).map(Error::Unavailable)
    }

    fn writes(&self) -> usize {
        self.commands.iter().filter(|command| matches!(command, Command::Write(_))).count()
    }

    fn push(&mut self, queued: Queued) {
        self.bytes += queued.payload.len();
        self.commands.push(Command::Write(queued));
    }

    /// Returns whether the thread that submits the write writes it, or the group that it completes,
    /// now or after the turn of another one.
    fn is_inline(&self, submission: &Submission) -> bool {
        let has_place = match self.turn {
            Turn::Free | Turn::Taken => self.commands.is_empty(),
            Turn::Held(held) => self.writes() + 1 == held.writers,
            Turn::Awaited | Turn::Passed(_) => false,
        };
        has_place && submission.may_block && self.takes(submission.payload.len())
    }

    /// Returns whether what is queued, with so many more bytes, may be written inline.
    fn takes(&self, bytes: usize) -> bool {
        !self.is_passed_on
            && self.writes() == self.commands.len()
            && self.bytes + bytes <= INLINE_BYTES_MAX
            && self.inline.allows()
    }

    /// Takes the writes that are queued, and the turn, unless the committing thread has to.
    fn take_inline(&mut self) -> Option<Vec<Queued>> {
        if self.commands.is_empty() || !self.takes(0) {
            self.turn = Turn::Free;
            return None;
        }
        self.turn = Turn::Taken;
        self.bytes = 0;
        let writes =
            std::mem::take(&mut self.commands).into_iter().filter_map(|command| match command {
                Command::Write(queued) => Some(queued),
                Command::Rotate(_) => None,
            });
        Some(writes.collect())
    }

    /// Returns whether further writers may be waited for until there are this many.
    fn is_gathering(&self, writers: usize) -> bool {
        let writes = self.writes();
        let is_urgent = self.stopped || self.commands.len() > writes;
        !is_urgent && writes < writers && self.bytes < LOG_GROUP_BYTES_MAX
    }
}

/// Commands in the order in which they came, except for writes that are passed on.
pub(super) struct WriteQueue {
    queue: Mutex<Queue>,
    /// Wakes the committing thread.
    wake: Condvar,
    /// Wakes the thread that waits for the turn.
    passed: Condvar,
    /// Wakes the threads that wait for further writers, or for the one that completed their group.
    completed: Condvar,
    /// What all wait for is real time, whatever clock the engine has.
    clock: Clock,
    /// How often the committing thread has begun to wait.
    #[cfg(test)]
    waits: std::sync::atomic::AtomicU32,
}

impl Default for WriteQueue {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            wake: Condvar::new(),
            passed: Condvar::new(),
            completed: Condvar::new(),
            clock: Clock::system(),
            #[cfg(test)]
            waits: std::sync::atomic::AtomicU32::default(),
        }
    }
}

impl WriteQueue {
    /// Queues a write, or refuses it: then its `done` is called by this call. Returns writes that
    /// the caller is to write itself; the caller has the turn then, until [`Self::end_turn`].
    pub(super) fn submit(&self, submission: Submission) -> Option<Vec<Queued>> {
        let mut queue = self.queue.lock();
        let refusal = if let Some(refusal) = queue.refusal() {
            refusal
        } else if submission.payload.len() > PAYLOAD_BYTES_MAX {
            Error::Overloaded("one write is larger than the log takes".into())
        } else if queue.bytes > QUEUE_BYTES_MAX {
            Error::Overloaded("too many bytes are queued for the log".into())
        } else {
            let is_inline = queue.is_inline(&submission);
            let Submission { payload, synced, applied, done, .. } = submission;
            let response = WriteResponse::new(done);
            queue.push(Queued { payload, synced, applied, response });
            if is_inline {
                return self.inline_turn(&mut queue);
            }
            self.wake(&queue);
            return None;
        };
        drop(queue);
        (submission.done)(Err(refusal));
        None
    }

    /// Waits until the calling thread is to write what is queued, which includes its own write, and
    /// takes that with the turn. Returns `None` if another thread writes it.
    fn inline_turn(&self, queue: &mut MutexGuard<'_, Queue>) -> Option<Vec<Queued>> {
        let expected = match queue.turn {
            Turn::Held(_) => {
                queue.gathering.waited(true);
                None
            }
            Turn::Taken => {
                queue.turn = Turn::Awaited;
                let is_awaited = |queue: &Queue| queue.turn == Turn::Awaited;
                self.wait_while(&self.passed, queue, TURN_WAIT_MAX, is_awaited);
                let Turn::Passed(early) = queue.turn else {
                    queue.turn = Turn::Taken;
                    return None;
                };
                queue.gathering.wait_inline(early)
            }
            Turn::Free | Turn::Awaited | Turn::Passed(_) => queue.gathering.wait_inline(0),
        };
        if let Some(Wait { writers, at_most }) = expected
            && !queue.commands.is_empty()
        {
            let is_incomplete = |queue: &Queue| queue.is_gathering(writers) && queue.takes(0);
            queue.held += 1;
            let turn = Turn::Held(Held { number: queue.held, writers });
            queue.turn = turn;
            let is_held = |queue: &Queue| queue.turn == turn && is_incomplete(queue);
            self.wait_while(&self.completed, queue, at_most, is_held);
            if queue.turn != turn {
                // The last writer to come has taken the group.
                return None;
            }
            let is_complete = !is_incomplete(queue);
            queue.gathering.waited(is_complete);
        }
        let group = queue.take_inline();
        self.wake(queue);
        group
    }

    /// Waits until the condition is false, but not longer than `at_most`.
    fn wait_while(
        &self,
        wake: &Condvar,
        queue: &mut MutexGuard<'_, Queue>,
        at_most: Duration,
        condition: impl Fn(&Queue) -> bool,
    ) {
        let deadline = self.clock.steady().saturating_add(at_most);
        while condition(queue) {
            let left = deadline.saturating_sub(self.clock.steady());
            if left.is_zero() {
                return;
            }
            wake.wait_for(queue, left);
        }
    }

    /// Passes writes of the thread that has the turn on to the committing thread, after those that
    /// others have submitted meanwhile.
    pub(super) fn pass_on(&self, group: Vec<Queued>) {
        let mut queue = self.queue.lock();
        group.into_iter().for_each(|queued| queue.push(queued));
        queue.is_passed_on = true;
    }

    /// Wakes the thread of the first write of a group that another thread completed, once it has
    /// its response.
    pub(super) fn wake_first(&self) {
        self.completed.notify_all();
    }

    /// Notes that a group was written.
    pub(super) fn written(&self, group: &WrittenGroup) {
        let mut queue = self.queue.lock();
        // Nobody is waited for who has no sync to share.
        if group.is_synced {
            queue.gathering.written(group.writers, group.write_time);
        }
        queue.inline.written(group.turn_time);
    }

    /// Notes that a group could not be written.
    pub(super) fn failed(&self) {
        self.queue.lock().inline.failed();
    }

    /// Ends the turn of the calling thread: one that waits for it has the next.
    pub(super) fn end_turn(&self) {
        let mut queue = self.queue.lock();
        queue.turn = match queue.turn {
            Turn::Awaited => Turn::Passed(queue.writes()),
            _ => Turn::Free,
        };
        self.passed.notify_one();
        // If the group could not be written.
        self.completed.notify_all();
        self.wake(&queue);
    }

    /// Wakes the thread that has something to do.
    fn wake(&self, queue: &Queue) {
        let has_ended = queue.stopped || queue.failure.is_some();
        match queue.turn {
            Turn::Free if has_ended || !queue.commands.is_empty() => {
                self.wake.notify_one();
            }
            Turn::Held(held) if !(queue.is_gathering(held.writers) && queue.takes(0)) => {
                self.completed.notify_all();
            }
            _ => {}
        }
    }

    /// Queues the start of a new segment; `done` is called with the last record of the old one.
    pub(super) fn rotate(&self, done: impl FnOnce(Result<Lsn>) + Send + 'static) {
        let mut queue = self.queue.lock();
        if let Some(refusal) = queue.refusal() {
            drop(queue);
            done(Err(refusal));
        } else {
            queue.commands.push(Command::Rotate(WriteResponse::new(Box::new(done))));
            self.wake(&queue);
        }
    }

    /// Waits for commands and takes all, together with those of writers that will be there soon,
    /// and the turn. Returns `None` once the queue is stopped, or has failed, and is empty.
    pub(super) fn take(&self) -> Option<Vec<Command>> {
        let mut queue = self.queue.lock();
        let queued = queue.writes();
        let is_next = queue.turn == Turn::Free;
        let wait = if is_next { queue.gathering.wait(queued) } else { None };
        while queue.commands.is_empty() || queue.turn != Turn::Free {
            if queue.turn == Turn::Free && (queue.stopped || queue.failure.is_some()) {
                return None;
            }
            #[cfg(test)]
            self.waits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.wake.wait(&mut queue);
        }
        if let Some(wait) = wait {
            self.gather(&mut queue, wait);
        }
        queue.bytes = 0;
        queue.turn = Turn::Taken;
        queue.is_passed_on = false;
        Some(std::mem::take(&mut queue.commands))
    }

    /// Waits for further writers.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>, Wait { writers, at_most }: Wait) {
        if !queue.is_gathering(writers) {
            return;
        }
        let before = queue.writes();
        let deadline = self.clock.steady().saturating_add(at_most);
        while queue.is_gathering(writers) {
            let left = deadline.saturating_sub(self.clock.steady());
            if left.is_zero() || self.wake.wait_for(queue, left).timed_out() {
                break;
            }
        }
        let has_come = queue.writes() > before;
        queue.gathering.waited(has_come);
    }

    /// Returns the bytes queued.
    pub(super) fn bytes(&self) -> usize {
        self.queue.lock().bytes
    }

    /// Refuses later writes. What is queued is still taken.
    pub(super) fn stop(&self) {
        self.queue.lock().stopped = true;
        self.wake.notify_all();
        self.completed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.queue.lock().stopped
    }

    /// Refuses later writes for this reason, and returns what is queued.
    pub(super) fn fail(&self, reason: String) -> Vec<Command> {
        let mut queue = self.queue.lock();
        queue.failure = Some(reason);
        queue.bytes = 0;
        std::mem::take(&mut queue.commands)
    }
}

#[cfg(test)]
mod tests {
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
}
