//! The execution context of a query: whether the client still waits for the result, and the query
//! memory in use.
//!
//! A client may disconnect or exceed its time limit. The caller of the engine represents it by a
//! [`Cancellation`] and runs queries within its scope; query execution checks it between units of
//! work and stops early with an error.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::error::{Error, Refusal, Result};
use crate::memory::{Memory, MemoryOwner, MemoryShare, ResultMemory};

thread_local! {
    /// The client on whose behalf this thread runs queries.
    static WAITING: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// A client that waits for a response until a deadline. Clones share their state.
#[derive(Clone, Debug)]
pub struct Cancellation(Arc<ClientWait>);

#[derive(Debug)]
struct ClientWait {
    disconnected: AtomicBool,
    clock: Clock,
    /// The deadline, in steady time.
    until: Duration,
}

impl Cancellation {
    /// Returns a client that waits for `patience` from now.
    pub fn new(clock: Clock, patience: Duration) -> Self {
        let until = clock.steady().saturating_add(patience);
        Self(Arc::new(ClientWait { disconnected: AtomicBool::new(false), clock, until }))
    }

    /// Records that the client has disconnected; its queries fail at the next check.
    pub fn cancel(&self) {
        self.0.disconnected.store(true, Ordering::Relaxed);
    }

    /// Runs `work`; queries that it starts on this thread belong to this client.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let _restored = RestoreOnDrop(WAITING.replace(Some(self.clone())));
        work()
    }

    /// Returns the client on whose behalf this thread runs queries.
    pub(crate) fn current() -> Option<Self> {
        WAITING.with_borrow(Clone::clone)
    }

    /// Fails if the client for which this thread works has disconnected or its deadline has passed.
    pub fn check_current() -> Result<()> {
        Self::current().map_or(Ok(()), |client| client.check())
    }

    fn check(&self) -> Result<()> {
        if self.0.disconnected.load(Ordering::Relaxed) {
            return Err(Error::Overloaded("the client no longer waits for the response".into()));
        }
        if self.0.clock.steady() >= self.0.until {
            return Err(Error::Overloaded(
                "the query exceeded its time limit; request less data at once".into(),
            ));
        }
        Ok(())
    }
}

/// Restores the previous client of the thread, also when the scope panics.
struct RestoreOnDrop(Option<Cancellation>);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        WAITING.set(self.0.take());
    }
}

/// A query in progress.
#[derive(Debug)]
pub(crate) struct QueryInProgress {
    waiting: Option<Cancellation>,
    taken: Mutex<QueryMemory>,
    bytes_max: u64,
}

/// The memory of a query.
#[derive(Debug)]
struct QueryMemory {
    share: MemoryShare,
    /// Bytes of it that the result keeps.
    of_result: u64,
}

impl QueryInProgress {
    /// Starts a query on this thread that may take up to `bytes_max` bytes of the memory account.
    pub(crate) fn begin(memory: &Memory, bytes_max: usize) -> Self {
        Self::of(Cancellation::current(), memory, bytes_max)
    }

    /// Like [`Self::begin`], for a client given by the caller, as when the query runs on another
    /// thread.
    pub(crate) fn of(waiting: Option<Cancellation>, memory: &Memory, bytes_max: usize) -> Self {
        let taken = QueryMemory { share: memory.share(MemoryOwner::Queries), of_result: 0 };
        Self { waiting, taken: Mutex::new(taken), bytes_max: bytes_max as u64 }
    }

    /// Fails if the client has disconnected or the deadline has passed.
    pub(crate) fn check(&self) -> Result<()> {
        self.waiting.as_ref().map_or(Ok(()), Cancellation::check)
    }

    /// Takes memory until the query ends. Fails with [`Refusal::Range`] if the query would exceed
    /// its limit, and with [`Error::MemoryFull`] if the account has not enough left.
    pub(crate) fn take(&self, bytes: usize) -> Result<()> {
        self.take_and_keep(bytes, 0)
    }

    /// Like [`Self::take`], for memory that the result keeps.
    pub(crate) fn take_for_result(&self, bytes: usize) -> Result<()> {
        self.take_and_keep(bytes, bytes)
    }

    /// Takes `bytes` of memory, of which the result keeps `for_answer`.
    pub(crate) fn take_and_keep(&self, bytes: usize, for_answer: usize) -> Result<()> {
        let mut taken = self.taken.lock();
        if taken.share.bytes().saturating_add(bytes as u64) > self.bytes_max {
            let max = self.bytes_max;
            return Err(
                Refusal::Range(format!("the query takes more than {max} bytes of memory")).into()
            );
        }
        taken.share.grow(bytes as u64)?;
        taken.of_result += for_answer as u64;
        Ok(())
    }

    /// Takes memory like [`Self::take`], until the returned guard is dropped.
    pub(crate) fn borrow(&self, bytes: usize) -> Result<TransientMemory<'_>> {
        self.take(bytes)?;
        Ok(TransientMemory { in_progress: self, bytes: bytes as u64 })
    }

    /// Ends the query and returns the memory that the result keeps. The rest is released.
    pub(crate) fn into_memory(self) -> ResultMemory {
        let QueryMemory { mut share, of_result } = self.taken.into_inner();
        share.shrink_to(of_result);
        ResultMemory::from(share)
    }
}

/// Transient memory of a query, released when dropped.
#[derive(Debug)]
pub(crate) struct TransientMemory<'a> {
    in_progress: &'a QueryInProgress,
    bytes: u64,
}

impl Drop for TransientMemory<'_> {
    fn drop(&mut self) {
        let share = &mut self.in_progress.taken.lock().share;
        share.shrink_to(share.bytes().saturating_sub(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimestampMs;

    #[test]
    fn a_query_stops_when_its_client_disconnects_or_its_deadline_passes() {
        let clock = Clock::manual(TimestampMs(0));
        let start = || QueryInProgress::begin(&Memory::unlimited(), 10);
        let patient = Cancellation::new(clock.clone(), Duration::from_secs(60));
        let query = patient.scope(start);
        query.check().unwrap();
        clock.pass(Duration::from_secs(60));
        assert!(matches!(query.check(), Err(Error::Overloaded(_))));
        let gone = Cancellation::new(clock.clone(), Duration::from_secs(60));
        let (outer, inner) = gone.scope(|| {
            let inner = patient.scope(start);
            (start(), inner)
        });
        assert!(
            outer.check().is_ok() && inner.check().is_err(),
            "nested scopes have their own client"
        );
        gone.cancel();
        assert!(outer.check().is_err());
        clock.pass(Duration::from_secs(3_600));
        start().check().unwrap();
    }

    #[test]
    fn a_query_takes_no_more_than_its_limit_and_than_the_account_has_left() {
        let memory = Memory::new(800);
        let first = QueryInProgress::begin(&memory, 600);
        first.take(600).unwrap();
        assert!(matches!(first.take(1), Err(Error::Refused(Refusal::Range(_)))));
        let second = QueryInProgress::begin(&memory, 600);
        assert!(matches!(second.take(200), Err(Error::MemoryFull(_))));
        drop(first);
        second.take(200).unwrap();
        second.take_for_result(30).unwrap();
        second.take_and_keep(20, 5).unwrap();
        let borrowed = second.borrow(300).unwrap();
        assert!(matches!(second.borrow(51), Err(Error::Refused(Refusal::Range(_)))));
        assert_eq!(memory.held(), 550);
        drop(borrowed);
        assert_eq!(memory.held(), 250);
        let of_result = second.into_memory();
        assert_eq!((of_result.bytes(), memory.held()), (35, 35));
        drop(of_result);
        assert_eq!(memory.held(), 0);
    }
}
