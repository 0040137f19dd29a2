//! Brief work: queries that a thread may run although other connections wait for it.
//!
//! Handing a query to another thread and waking this one with the result takes longer than a query
//! of a few series. A thread that serves connections therefore tries queries within [`briefly`]
//! first: they are planned as usual, but do not read from the disk, do not use other threads, and
//! do no more than [`BRIEF_WORK_MAX`] units of work. What a plan is expected to read is checked
//! before anything is read, and what is read is counted, since estimates may be wrong. A query that
//! needs more gives up, and the caller runs it elsewhere.

use std::cell::Cell;

use crate::error::{Error, Result};
use crate::limits::BRIEF_WORK_MAX;

#[derive(Clone, Copy)]
enum Scope {
    /// Work on this thread is not limited.
    None,
    /// Work on this thread is brief, with so many units left.
    Brief(u64),
    /// The work of the current scope is not brief.
    Exceeded,
}

thread_local! {
    static SCOPE: Cell<Scope> = const { Cell::new(Scope::None) };
}

/// Runs `work`, whose queries on this thread may take [`BRIEF_WORK_MAX`] units of work and read
/// only what is in memory. Returns `None` if they need more: the outcome of `work` is then an error
/// that means nothing, and the same work is to be run on a thread that may block.
pub fn briefly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let restored = RestoreOnDrop(SCOPE.replace(Scope::Brief(BRIEF_WORK_MAX)));
    let outcome = work();
    let exceeded = matches!(SCOPE.get(), Scope::Exceeded);
    drop(restored);
    (!exceeded).then_some(outcome)
}

/// Restores the previous scope of the thread, also when the work panics.
struct RestoreOnDrop(Scope);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        SCOPE.set(self.0);
    }
}

/// Returns whether work on this thread must be brief.
pub(crate) fn is_brief() -> bool {
    !matches!(SCOPE.get(), Scope::None)
}

/// Counts `units` of work that is about to be done. Fails if the scope has not as many left.
pub(crate) fn spend(units: u64) -> Result<()> {
    match SCOPE.get() {
        Scope::None => Ok(()),
        Scope::Brief(left) if units <= left => {
            SCOPE.set(Scope::Brief(left - units));
            Ok(())
        }
        Scope::Brief(_) | Scope::Exceeded => Err(exceed()),
    }
}

/// Fails unless the scope has `units` left. They are counted when the work is done.
pub(crate) fn check_left(units: u64) -> Result<()> {
    match SCOPE.get() {
        Scope::Brief(left) if units > left => Err(exceed()),
        Scope::Exceeded => Err(exceed()),
        Scope::None | Scope::Brief(_) => Ok(()),
    }
}

/// Ends the scope: the work needs more than a brief scope allows.
pub(crate) fn exceed() -> Error {
    SCOPE.set(Scope::Exceeded);
    Error::Overloaded("the query needs more than its thread may do".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_outside_of_a_scope_is_not_limited() {
        assert!(!is_brief());
        spend(u64::MAX).unwrap();
    }

    #[test]
    fn a_scope_ends_with_the_work_that_exceeds_it() {
        let within = briefly(|| {
            assert!(is_brief());
            spend(BRIEF_WORK_MAX - 1).unwrap();
            spend(1)
        });
        assert!(within.is_some_and(|outcome| outcome.is_ok()));
        let beyond = briefly(|| {
            let failed = spend(BRIEF_WORK_MAX + 1).is_err();
            failed && spend(0).is_err()
        });
        assert_eq!(beyond, None);
        spend(u64::MAX).unwrap();
    }

    #[test]
    fn scopes_are_restored_after_a_panic() {
        let panicked = std::panic::catch_unwind(|| briefly(|| panic!("in a test")));
        assert!(panicked.is_err() && !is_brief());
    }

    #[test]
    fn nested_scopes_count_separately() {
        let outer = briefly(|| {
            let inner = briefly(|| spend(u64::MAX).is_err());
            (inner, spend(1).is_ok())
        });
        assert_eq!(outer, Some((None, true)));
    }
}
