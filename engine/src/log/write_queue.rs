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

    /// Returns whether a group that is held still waits, to be written inline with this many
    /// writers.
    fn is_incomplete(&self, writers: usize) -> bool {
        self.is_gathering(writers) && self.takes(0)
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
            queue.held += 1;
            let turn = Turn::Held(Held { number: queue.held, writers });
            queue.turn = turn;
            let is_held = |queue: &Queue| queue.turn == turn && queue.is_incomplete(writers);
            self.wait_while(&self.completed, queue, at_most, is_held);
            if queue.turn != turn {
                // The last writer to come has taken the group.
                return None;
            }
            let is_complete = !queue.is_incomplete(writers);
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
        // A thread whose write was in a group that failed, or that was passed on, still waits.
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
            Turn::Held(held) if !queue.is_incomplete(held.writers) => {
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
#[path = "write_queue_tests.rs"]
mod tests;
