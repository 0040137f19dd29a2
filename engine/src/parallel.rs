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

/// Calls `work` on this thread and on threads of `pool`, `threads` in all, with `count` tasks to
/// take. Returns what the calls return, in no order; a thread that comes when no task is left does
/// nothing.
pub(crate) fn share<T: Send>(
    pool: &ThreadPool,
    threads: usize,
    count: usize,
    work: impl Fn(&Tasks) -> T + Sync,
) -> Vec<T> {
    let tasks = Tasks { next: AtomicUsize::new(0), count };
    let done = Mutex::new(Vec::with_capacity(threads));
    pool.in_place_scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(|_| {
                if tasks.are_left() {
                    let of_helper = work(&tasks);
                    done.lock().push(of_helper);
                }
            });
        }
        let of_caller = work(&tasks);
        done.lock().push(of_caller);
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
