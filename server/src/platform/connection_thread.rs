//! What a thread that serves network connections knows about itself.
//!
//! Such a thread has a runtime of its own (`http/connection_threads.rs`). Work that blocks goes to
//! the pool of the main runtime all the same, so that there is one limit of threads; and the thread
//! may block itself for a moment while it serves a single request.

use std::cell::{Cell, RefCell};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

thread_local! {
    /// The main runtime, on a thread that serves connections.
    static MAIN: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// The requests in progress on this thread, if it serves connections.
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// A request in progress on the thread on which it began, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestHere {
    is_counted: bool,
}

/// Makes the calling thread one that serves connections.
pub(crate) fn begin(main: Handle) {
    MAIN.set(Some(main));
}

/// Counts a request, if the calling thread serves connections.
pub(crate) fn request() -> RequestHere {
    let is_counted = MAIN.with_borrow(Option::is_some);
    if is_counted {
        REQUESTS.set(REQUESTS.get().saturating_add(1));
    }
    RequestHere { is_counted }
}

/// Returns whether the calling thread serves connections and has no other request than the one that
/// asks.
pub(crate) fn has_one_request() -> bool {
    MAIN.with_borrow(Option::is_some) && REQUESTS.get() <= 1
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

impl Drop for RequestHere {
    fn drop(&mut self) {
        if self.is_counted {
            // At the end of the thread there is nothing left to count.
            let _counted = REQUESTS.try_with(|requests| {
                requests.set(requests.get().saturating_sub(1));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_that_serves_connections_counts_its_requests() {
        let uncounted = request();
        assert!(!has_one_request(), "not such a thread");
        let main = Handle::current();
        let served = std::thread::spawn(move || {
            begin(main);
            let first = request();
            let alone = has_one_request();
            let second = request();
            let both = has_one_request();
            drop(second);
            let again = has_one_request();
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
