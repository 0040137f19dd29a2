//! What a thread that serves network connections knows about itself.
//!
//! Such a thread has a runtime of its own (`http/connection_threads.rs`). The work of handlers that
//! blocks goes to the pool of the main runtime all the same, so that there is one limit of threads.
//! The thread may block for a moment while it runs a single handler that changes something.

use std::cell::{Cell, RefCell};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

thread_local! {
    /// The main runtime, on a thread that serves connections.
    static MAIN: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// The handlers in progress on this thread that change something, if it serves connections.
    static HANDLERS: Cell<usize> = const { Cell::new(0) };
}

/// A handler in progress on the thread on which it began, until it is dropped.
#[derive(Debug)]
pub(crate) struct HandlerHere {
    is_counted: bool,
}

/// Makes the calling thread one that serves connections.
pub(crate) fn begin(main: Handle) {
    MAIN.set(Some(main));
}

/// Counts a handler that changes something, if the calling thread serves connections.
pub(crate) fn handler() -> HandlerHere {
    let is_counted = MAIN.with_borrow(Option::is_some);
    if is_counted {
        HANDLERS.set(HANDLERS.get().saturating_add(1));
    }
    HandlerHere { is_counted }
}

/// Returns whether the calling thread serves connections and runs no other handler that changes
/// something than the one that asks.
pub(crate) fn has_one_handler() -> bool {
    MAIN.with_borrow(Option::is_some) && HANDLERS.get() <= 1
}

/// Runs work that blocks on a thread for that, as [`tokio::task::spawn_blocking`] does.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    match MAIN.with_borrow(Clone::clone) {
        Some(main) => main.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

impl Drop for HandlerHere {
    fn drop(&mut self) {
        if self.is_counted {
            // At the end of the thread there is nothing left to count.
            let _counted = HANDLERS.try_with(|handlers| {
                handlers.set(handlers.get().saturating_sub(1));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_that_serves_connections_counts_its_handlers() {
        let uncounted = handler();
        assert!(!has_one_handler(), "not such a thread");
        let main = Handle::current();
        let served = std::thread::spawn(move || {
            begin(main);
            let first = handler();
            let alone = has_one_handler();
            let second = handler();
            let both = has_one_handler();
            drop(second);
            let again = has_one_handler();
            drop(first);
            // Work goes to the main runtime: this thread is in none.
            let working = spawn_blocking(|| 7);
            ([alone, both, again], working)
        });
        let (counts, working) = served.join().unwrap();
        assert_eq!(counts, [true, false, true]);
        assert_eq!(working.await.unwrap(), 7);
        drop(uncounted);
    }
}
