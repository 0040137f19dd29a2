//! Questions while they are answered: whether anybody still waits for the answer, and what memory it has taken.
//!
//! Who asks may hang up, or have waited long enough. Whoever calls the engine for somebody says so by a [`Waiting`], within whose
//! scope the questions of a thread are asked; between two pieces of work they look whether it still holds, and end early.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::error::{Error, Refusal, Result};
use crate::memory::{AnswerMemory, Memory, MemoryOwner, MemoryShare};

thread_local! {
    /// For whom this thread asks.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Somebody who waits for answers. Clones are the same somebody.
#[derive(Clone, Debug)]
pub struct Waiting(Arc<Patience>);

#[derive(Debug)]
struct Patience {
    has_gone: AtomicBool,
    clock: Clock,
    /// On the steady side of the clock.
    until: Duration,
}

impl Waiting {
    /// Somebody who waits for so long from now on.
    pub fn new(clock: Clock, patience: Duration) -> Self {
        let until = clock.steady().saturating_add(patience);
        Self(Arc::new(Patience { has_gone: AtomicBool::new(false), clock, until }))
    }

    /// They do not wait any more.
    pub fn hang_up(&self) {
        self.0.has_gone.store(true, Ordering::Relaxed);
    }

    /// Does `work`, whose questions are asked for them.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let _restored = Restored(WAITING.replace(Some(self.clone())));
        work()
    }

    /// For whom this thread asks.
    pub(crate) fn current() -> Option<Self> {
        WAITING.with_borrow(Clone::clone)
    }

    fn check(&self) -> Result<()> {
        if self.0.has_gone.load(Ordering::Relaxed) {
            return Err(Error::Overloaded("nobody waits for the answer any more".into()));
        }
        if self.0.clock.steady() >= self.0.until {
            return Err(Error::Overloaded(
                "the answer took longer than it may; ask for less at once".into(),
            ));
        }
        Ok(())
    }
}

/// Puts back for whom the thread asked before, also when it panics.
struct Restored(Option<Waiting>);

impl Drop for Restored {
    fn drop(&mut self) {
        WAITING.set(self.0.take());
    }
}

/// One question while it is answered.
#[derive(Debug)]
pub(crate) struct Asking {
    waiting: Option<Waiting>,
    taken: Mutex<Taken>,
    bytes_max: u64,
}

/// The memory of a question.
#[derive(Debug)]
struct Taken {
    share: MemoryShare,
    /// How much of it the answer keeps.
    for_answer: u64,
}

impl Asking {
    /// A question of this thread, which may take so many bytes of the account.
    pub(crate) fn begin(memory: &Memory, bytes_max: usize) -> Self {
        Self::of(Waiting::current(), memory, bytes_max)
    }

    /// The same, of a question that was asked on another thread.
    pub(crate) fn of(waiting: Option<Waiting>, memory: &Memory, bytes_max: usize) -> Self {
        let taken = Taken { share: memory.share(MemoryOwner::Queries), for_answer: 0 };
        Self { waiting, taken: Mutex::new(taken), bytes_max: bytes_max as u64 }
    }

    /// Fails when nobody waits for the answer any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.waiting.as_ref().map_or(Ok(()), Waiting::check)
    }

    /// Takes memory, until the question has been answered. Fails with [`Refusal::Range`] where it is more than a question may
    /// take, and with [`Error::MemoryFull`] where others have it.
    pub(crate) fn take(&self, bytes: usize) -> Result<()> {
        self.take_and_keep(bytes, 0)
    }

    /// The same, for the answer itself.
    pub(crate) fn take_for_answer(&self, bytes: usize) -> Result<()> {
        self.take_and_keep(bytes, bytes)
    }

    /// Takes memory, some of which is for the answer itself.
    pub(crate) fn take_and_keep(&self, bytes: usize, for_answer: usize) -> Result<()> {
        let mut taken = self.taken.lock();
        if taken.share.bytes().saturating_add(bytes as u64) > self.bytes_max {
            let max = self.bytes_max;
            return Err(Refusal::Range(format!(
                "the answer takes more than {max} bytes of memory"
            ))
            .into());
        }
        taken.share.grow(bytes as u64)?;
        taken.for_answer += for_answer as u64;
        Ok(())
    }

    /// Takes memory as [`Self::take`] does, until what is returned is dropped.
    pub(crate) fn borrow(&self, bytes: usize) -> Result<BorrowedMemory<'_>> {
        self.take(bytes)?;
        Ok(BorrowedMemory { asking: self, bytes: bytes as u64 })
    }

    /// What was taken for the answer. The rest is given back.
    pub(crate) fn into_memory(self) -> AnswerMemory {
        let Taken { mut share, for_answer } = self.taken.into_inner();
        share.shrink_to(for_answer);
        AnswerMemory::from(share)
    }
}

/// Memory that a question needs for a part of its work.
#[derive(Debug)]
pub(crate) struct BorrowedMemory<'a> {
    asking: &'a Asking,
    bytes: u64,
}

impl Drop for BorrowedMemory<'_> {
    fn drop(&mut self) {
        let share = &mut self.asking.taken.lock().share;
        share.shrink_to(share.bytes().saturating_sub(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimestampMs;

    #[test]
    fn a_question_ends_when_nobody_waits_for_it() {
        let clock = Clock::manual(TimestampMs(0));
        let ask = || Asking::begin(&Memory::unlimited(), 10);
        let patient = Waiting::new(clock.clone(), Duration::from_secs(60));
        let question = patient.scope(ask);
        question.check().unwrap();
        clock.pass(Duration::from_secs(60));
        assert!(matches!(question.check(), Err(Error::Overloaded(_))));
        let gone = Waiting::new(clock.clone(), Duration::from_secs(60));
        let (outer, inner) = gone.scope(|| {
            let inner = patient.scope(ask);
            (ask(), inner)
        });
        assert!(outer.check().is_ok() && inner.check().is_err(), "each has its own");
        gone.hang_up();
        assert!(outer.check().is_err());
        clock.pass(Duration::from_secs(3_600));
        ask().check().unwrap();
    }

    #[test]
    fn a_question_takes_no_more_than_it_may_and_than_there_is() {
        let memory = Memory::new(800);
        let first = Asking::begin(&memory, 600);
        first.take(600).unwrap();
        assert!(matches!(first.take(1), Err(Error::Refused(Refusal::Range(_)))));
        let second = Asking::begin(&memory, 600);
        assert!(matches!(second.take(200), Err(Error::MemoryFull(_))));
        drop(first);
        second.take(200).unwrap();
        second.take_for_answer(30).unwrap();
        second.take_and_keep(20, 5).unwrap();
        let borrowed = second.borrow(300).unwrap();
        assert!(matches!(second.borrow(51), Err(Error::Refused(Refusal::Range(_)))));
        assert_eq!(memory.held(), 550);
        drop(borrowed);
        assert_eq!(memory.held(), 250);
        let of_answer = second.into_memory();
        assert_eq!((of_answer.bytes(), memory.held()), (35, 35));
        drop(of_answer);
        assert_eq!(memory.held(), 0);
    }
}
