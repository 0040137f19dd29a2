//! The queue of writes before the log, and whose turn it is to write.
//!
//! One thread at a time writes to the log: usually the committing thread, which takes all that is
//! queued. A write that finds the queue empty and nobody writing is written by the thread that
//! submits it, if that thread may block and the disk is fast ([`super::inline`]).

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

#[derive(Default)]
struct Queue {
    commands: Vec<Command>,
    bytes: usize,
    gathering: Gathering,
    inline: InlineRule,
    /// Whether a thread has the turn to write.
    is_taken: bool,
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

    /// Returns whether the write is to be written by the thread that submits it.
    fn is_inline(&self, submission: &Submission) -> bool {
        submission.may_block
            && !self.is_taken
            && self.commands.is_empty()
            && submission.payload.len() <= INLINE_BYTES_MAX
            && self.inline.allows()
    }

    /// Returns whether further writers may be waited for until there are this many.
    fn is_gathering(&self, writers: usize) -> bool {
        let writes = self.writes();
        let is_urgent = self.stopped || self.commands.len() > writes;
        !is_urgent && writes < writers && self.bytes < LOG_GROUP_BYTES_MAX
    }
}

/// Commands in the order in which they came, except for writes that are passed on.
#[derive(Default)]
pub(super) struct WriteQueue {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// How often the committing thread has begun to wait.
    #[cfg(test)]
    waits: std::sync::atomic::AtomicU32,
}

impl WriteQueue {
    /// Queues a write, or refuses it: then its `done` is called by this call. Returns a write that
    /// the caller is to write itself; the caller has the turn then, until [`Self::end_turn`].
    pub(super) fn submit(&self, submission: Submission) -> Option<Queued> {
        let refusal = {
            let mut queue = self.queue.lock();
            if let Some(refusal) = queue.refusal() {
                refusal
            } else if submission.payload.len() > PAYLOAD_BYTES_MAX {
                Error::Overloaded("one write is larger than the log takes".into())
            } else if queue.bytes > QUEUE_BYTES_MAX {
                Error::Overloaded("too many bytes are queued for the log".into())
            } else {
                let is_inline = queue.is_inline(&submission);
                let Submission { payload, synced, applied, done, .. } = submission;
                let queued =
                    Queued { payload, synced, applied, response: WriteResponse::new(done) };
                if is_inline {
                    queue.is_taken = true;
                    return Some(queued);
                }
                queue.bytes += queued.payload.len();
                queue.commands.push(Command::Write(queued));
                self.wake(&queue);
                return None;
            }
        };
        (submission.done)(Err(refusal));
        None
    }

    /// Passes a write of the thread that has the turn on to the committing thread, after those that
    /// others have submitted meanwhile.
    pub(super) fn pass_on(&self, queued: Queued) {
        let mut queue = self.queue.lock();
        queue.bytes += queued.payload.len();
        queue.commands.push(Command::Write(queued));
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

    /// Ends the turn of the calling thread.
    pub(super) fn end_turn(&self) {
        let mut queue = self.queue.lock();
        queue.is_taken = false;
        self.wake(&queue);
    }

    /// Wakes the committing thread if it has something to do.
    fn wake(&self, queue: &Queue) {
        let has_ended = queue.stopped || queue.failure.is_some();
        if !queue.is_taken && (has_ended || !queue.commands.is_empty()) {
            self.wake.notify_one();
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
        let wait = queue.gathering.wait(queued);
        while queue.commands.is_empty() || queue.is_taken {
            if !queue.is_taken && (queue.stopped || queue.failure.is_some()) {
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
        queue.is_taken = true;
        Some(std::mem::take(&mut queue.commands))
    }

    /// Waits for further writers.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>, Wait { writers, at_most }: Wait) {
        if !queue.is_gathering(writers) {
            return;
        }
        let before = queue.writes();
        let clock = Clock::system();
        let deadline = clock.steady().saturating_add(at_most);
        while queue.is_gathering(writers) {
            let left = deadline.saturating_sub(clock.steady());
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
    use crate::model::MetricId;

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
