//! The context of a running query: threads, limits, memory, and the handling of corrupt sources.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::StringNumbers;
use super::super::source::{ClosedSource, OpenSource};
use crate::error::{Error, Refusal, Result};
use crate::model::TimeRange;
use crate::parallel::{Tasks, share};
use crate::query_in_progress::QueryInProgress;

/// Limits on the size of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryLimits {
    /// Maximum number of groups.
    pub(crate) groups_max: usize,
    /// Maximum number of buckets of a group.
    pub(crate) buckets_max: u64,
}

/// The environment of a query.
#[derive(Clone, Copy)]
pub(crate) struct QueryContext<'a> {
    /// The threads that do the work.
    pub(crate) pool: &'a rayon::ThreadPool,
    /// Limits on the answer.
    pub(crate) limits: QueryLimits,
    /// Cancellation of the query, and the memory that it has taken.
    pub(crate) in_progress: &'a QueryInProgress,
    /// Numbers of strings, to count distinct ones.
    pub(crate) string_numbers: &'a StringNumbers,
    /// Called with the index of every corrupt source and the error.
    pub(crate) damaged: &'a (dyn Fn(usize, &Error) + Sync),
}

impl fmt::Debug for QueryContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryContext").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A query in progress over a list of sources.
pub(super) struct RunningQuery<'a, 's> {
    pub(super) sources: &'a [Box<dyn ClosedSource + 's>],
    pub(super) context: &'a QueryContext<'a>,
    /// Number of corrupt sources that were skipped.
    pub(super) quarantined: AtomicU64,
}

impl<'a, 's> RunningQuery<'a, 's> {
    pub(super) fn new(
        sources: &'a [Box<dyn ClosedSource + 's>],
        context: &'a QueryContext<'a>,
    ) -> Self {
        Self { sources, context, quarantined: AtomicU64::new(0) }
    }

    /// Returns the indices of the sources whose time bounds overlap `range`.
    pub(super) fn overlapping(&self, range: TimeRange) -> Vec<usize> {
        let overlaps = |source: &dyn ClosedSource| {
            let (first, last) = source.time_bounds();
            source.rows() > 0 && first < range.end.0 && last >= range.start.0
        };
        let sources = self.sources.iter().enumerate();
        sources.filter(|(_, source)| overlaps(source.as_ref())).map(|(index, _)| index).collect()
    }

    /// Opens the source with this index. Fails if the query was cancelled. The caller drops it
    /// before opening another one, to bound memory.
    pub(super) fn open(&self, index: usize) -> Result<OpenSource<'a>> {
        self.context.in_progress.check()?;
        self.sources[index].open()
    }

    /// Turns [`Error::Corrupt`] into `None`: the source is counted, reported and skipped. Other
    /// errors end the query.
    pub(super) fn skip_if_corrupt<T>(&self, index: usize, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(read) => Ok(Some(read)),
            Err(error @ Error::Corrupt(_)) => {
                self.quarantined.fetch_add(1, Ordering::Relaxed);
                (self.context.damaged)(index, &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the number of sources that were skipped.
    pub(super) fn quarantined(&self) -> u64 {
        self.quarantined.load(Ordering::Relaxed)
    }
}

/// Runs all tasks, on this thread and the pool, and returns the state of each worker. A worker
/// takes one task after the other; the first error stops all of them.
pub(super) fn run_tasks<T: Sync, A: Send, E: Send>(
    pool: &rayon::ThreadPool,
    tasks: &[T],
    new: impl Fn() -> A + Sync,
    one: impl Fn(&T, &mut A) -> Result<(), E> + Sync,
) -> Result<Vec<A>, E> {
    let work = |left: &Tasks| -> Result<A, E> {
        let mut worker = new();
        while let Some(task) = left.take().and_then(|index| tasks.get(index)) {
            one(task, &mut worker).inspect_err(|_| left.end())?;
        }
        Ok(worker)
    };
    share(pool, pool.current_num_threads(), tasks.len(), work).into_iter().collect()
}

/// Refuses an empty range.
pub(super) fn check_range(range: TimeRange) -> Result<()> {
    if range.is_empty() {
        return Err(Refusal::Range("from must be before to".into()).into());
    }
    Ok(())
}
