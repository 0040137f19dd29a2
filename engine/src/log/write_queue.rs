//! The queue of writes before the committing thread.

use parking_lot::{Condvar, Mutex};

use super::commit::Applied;
use super::gathering::{Gathering, Wait};
use super::segment::PAYLOAD_BYTES_MAX;
use super::write_response::{Done, WriteResponse};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::limits::LOG_GROUP_BYTES_MAX;
use crate::model::Lsn;

/// Maximum bytes queued; above it writes are refused as overloaded.
const QUEUE_BYTES_MAX: usize = 64 << 20;

/// A write to be committed.
pub(crate) struct Submission {
    /// The encoded record.
    pub(crate) payload: Vec<u8>,
    /// Whether it is synced before it is acknowledged, whatever [`crate::Durability`] requires.
    pub(crate) synced: bool,
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

#[derive(Default)]
struct Queue {
    commands: Vec<Command>,
    bytes: usize,
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

    /// Returns whether further writers may be waited for until there are this many.
    fn is_gathering(&self, writers: usize) -> bool {
        let writes = self.writes();
        let is_urgent = self.stopped || self.commands.len() > writes;
        !is_urgent && writes < writers && self.bytes < LOG_GROUP_BYTES_MAX
    }
}

/// Commands in the order in which they came.
#[derive(Default)]
pub(super) struct WriteQueue {
    queue: Mutex<Queue>,
    wake: Condvar,
}

impl WriteQueue {
    /// Queues a write, or refuses it: then its `done` is called by this call.
    pub(super) fn submit(&self, submission: Submission) {
        let refusal = {
            let mut queue = self.queue.lock();
            if let Some(refusal) = queue.refusal() {
                Some(refusal)
            } else if submission.payload.len() > PAYLOAD_BYTES_MAX {
                Some(Error::Overloaded("one write is larger than the log takes".into()))
            } else if queue.bytes > QUEUE_BYTES_MAX {
                Some(Error::Overloaded("too many bytes are queued for the log".into()))
            } else {
                let Submission { payload, synced, applied, done } = submission;
                queue.bytes += payload.len();
                let response = WriteResponse::new(done);
                queue.commands.push(Command::Write(Queued { payload, synced, applied, response }));
                self.wake.notify_one();
                return;
            }
        };
        if let Some(error) = refusal {
            (submission.done)(Err(error));
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
            self.wake.notify_one();
        }
    }

    /// Waits for commands and takes all, together with those of writers that will be there soon.
    /// Returns `None` once the queue is stopped and empty.
    pub(super) fn take(&self, gathering: &mut Gathering) -> Option<Vec<Command>> {
        let mut queue = self.queue.lock();
        let wait = gathering.wait(queue.writes());
        while queue.commands.is_empty() {
            if queue.stopped {
                return None;
            }
            self.wake.wait(&mut queue);
        }
        if let Some(Wait { writers, at_most }) = wait
            && queue.is_gathering(writers)
        {
            let before = queue.writes();
            let clock = Clock::system();
            let deadline = clock.steady().saturating_add(at_most);
            while queue.is_gathering(writers) {
                let left = deadline.saturating_sub(clock.steady());
                if left.is_zero() || self.wake.wait_for(&mut queue, left).timed_out() {
                    break;
                }
            }
            gathering.waited(queue.writes() > before);
        }
        queue.bytes = 0;
        Some(std::mem::take(&mut queue.commands))
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
    use std::time::Duration;

    use super::*;
    use crate::model::MetricId;

    fn submit(queue: &WriteQueue) {
        queue.submit(Submission {
            payload: vec![1],
            synced: false,
            applied: Applied::Dropped(MetricId(1)),
            done: Box::new(drop),
        });
    }

    fn after_group(writers: usize) -> Gathering {
        let mut gathering = Gathering::default();
        gathering.written(writers, Duration::from_millis(2));
        gathering
    }

    #[test]
    fn a_group_is_complete_with_the_writers_that_are_expected() {
        let queue = WriteQueue::default();
        submit(&queue);
        let mut gathering = after_group(1);
        std::thread::scope(|scope| {
            // Whether it comes before or during the wait, or too late, it is not lost.
            scope.spawn(|| submit(&queue));
            let first = queue.take(&mut gathering).unwrap().len();
            assert!((1..=2).contains(&first), "{first}");
            if first == 1 {
                assert_eq!(queue.take(&mut gathering).unwrap().len(), 1);
            }
        });
        assert_eq!(queue.bytes(), 0);
    }

    #[test]
    fn a_writer_is_not_kept_waiting_for_one_that_does_not_come() {
        let queue = WriteQueue::default();
        submit(&queue);
        let mut gathering = after_group(2);
        assert_eq!(queue.take(&mut gathering).unwrap().len(), 1);
        gathering.written(2, Duration::from_millis(2));
        assert_eq!(gathering.wait(1), None, "after a wait in vain");
    }

    #[test]
    fn nobody_is_waited_for_before_a_rotation_or_the_end() {
        let queue = WriteQueue::default();
        submit(&queue);
        queue.rotate(drop);
        let mut gathering = after_group(9);
        assert_eq!(queue.take(&mut gathering).unwrap().len(), 2);
        submit(&queue);
        queue.stop();
        let mut gathering = after_group(9);
        assert_eq!(queue.take(&mut gathering).unwrap().len(), 1);
        assert!(queue.take(&mut gathering).is_none());
        let refused = std::sync::Arc::new(Mutex::new(None));
        let outcome = std::sync::Arc::clone(&refused);
        queue.rotate(move |lsn| *outcome.lock() = Some(lsn.is_err()));
        assert_eq!(*refused.lock(), Some(true));
    }
}
