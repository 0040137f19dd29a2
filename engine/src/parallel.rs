//! Work that the calling thread shares with threads of the pool.
//!
//! Waking a thread takes tens of microseconds, as long as many a query. The caller therefore works
//! too, from the first moment on, instead of waiting for threads of the pool to wake up.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rayon::ThreadPool;

/// Tasks that threads take one after the other, by index.
#[derive(Debug)]
pub(crate) struct Tasks {
    next: AtomicUsize,
    count: usize,
}

impl Tasks {
    /// Returns the index of the next task, if one is left.
    pub(crate) fn take(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < self.count).then_some(next)
    }

    /// Takes all tasks that are left.
    pub(crate) fn end(&self) {
        self.next.store(self.count, Ordering::Relaxed);
    }

    fn are_left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.count
    }
}

/// Ends the tasks if the thread that works on one of them panics.
struct EndOnPanic<'t>(&'t Tasks);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Calls `work` on this thread and on threads of `pool`, `threads` in all, with `count` tasks to
/// take. Returns what the calls return, in no order; a thread that comes when no task is left does
/// nothing. `work` ends the tasks when it fails, so that the others stop too.
pub(crate) fn share<T: Send>(
    pool: &ThreadPool,
    threads: usize,
    count: usize,
    work: impl Fn(&Tasks) -> T + Sync,
) -> Vec<T> {
    let tasks = Tasks { next: AtomicUsize::new(0), count };
    let done = Mutex::new(Vec::with_capacity(threads));
    let join = || {
        let _ended = EndOnPanic(&tasks);
        let outcome = work(&tasks);
        done.lock().push(outcome);
    };
    pool.in_place_scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(|_| {
                if tasks.are_left() {
                    join();
                }
            });
        }
        join();
    });
    done.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_done_once_by_whoever_comes() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (threads, count) in [(1, 0), (4, 0), (1, 5), (4, 1), (4, 2), (4, 1000), (9, 3)] {
            let work = |tasks: &Tasks| std::iter::from_fn(|| tasks.take()).collect::<Vec<_>>();
            let done = share(&pool, threads, count, work);
            assert!((1..=threads).contains(&done.len()), "{}", done.len());
            let mut all = done.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count} tasks by {threads} threads");
        }
    }

    #[test]
    fn a_panic_ends_the_tasks_and_reaches_the_caller() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let taken = AtomicUsize::new(0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            share(&pool, 1, 1000, |tasks| {
                while let Some(task) = tasks.take() {
                    taken.fetch_add(1, Ordering::Relaxed);
                    assert!(task < 3, "in a test");
                }
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(taken.into_inner(), 4);
    }

    #[test]
    fn tasks_end_early_and_a_thread_of_the_pool_may_share() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let nested = pool.install(|| {
            share(&pool, 2, 10, |tasks| {
                let first = tasks.take();
                tasks.end();
                (first, tasks.take())
            })
        });
        assert!(nested.contains(&(Some(0), None)), "{nested:?}");
        assert!(nested.iter().all(|(_, further)| further.is_none()));
    }
}
