//! What every question goes by: the threads, the limits, and what becomes of sources that cannot be read.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::source::{Opened, Unopened};
use crate::asking::Asking;
use crate::error::{Error, Refusal, Result};
use crate::model::TimeRange;

/// How much an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryLimits {
    /// Groups of an answer.
    pub(crate) groups_max: usize,
    /// Buckets of a group.
    pub(crate) buckets_max: u64,
}

/// The surroundings of a question.
#[derive(Clone, Copy)]
pub(crate) struct QueryContext<'a> {
    /// Who does the work.
    pub(crate) pool: &'a rayon::ThreadPool,
    /// How much the answer may take.
    pub(crate) limits: QueryLimits,
    /// Whether anybody still waits, and the memory that is taken.
    pub(crate) asking: &'a Asking,
    /// Is told the index of every source that is damaged, and how.
    pub(crate) damaged: &'a (dyn Fn(usize, &Error) + Sync),
}

impl fmt::Debug for QueryContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryContext").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A question that is being answered.
pub(super) struct Asked<'a, 's> {
    pub(super) sources: &'a [Box<dyn Unopened + 's>],
    pub(super) context: &'a QueryContext<'a>,
    /// Sources that were left out.
    pub(super) quarantined: AtomicU64,
}

impl<'a, 's> Asked<'a, 's> {
    pub(super) fn new(
        sources: &'a [Box<dyn Unopened + 's>],
        context: &'a QueryContext<'a>,
    ) -> Self {
        Self { sources, context, quarantined: AtomicU64::new(0) }
    }

    /// The indices of the sources that have rows between the first and the last of a range.
    pub(super) fn touched(&self, range: TimeRange) -> Vec<usize> {
        let touches = |source: &dyn Unopened| {
            let (first, last) = source.time_bounds();
            source.rows() > 0 && first < range.end.0 && last >= range.start.0
        };
        let sources = self.sources.iter().enumerate();
        sources.filter(|(_, source)| touches(source.as_ref())).map(|(index, _)| index).collect()
    }

    /// Opens the source of this index, as long as anybody waits for the answer. To be dropped before another one is opened.
    pub(super) fn open(&self, index: usize) -> Result<Opened<'a>> {
        self.context.asking.check()?;
        let Some(source) = self.sources.get(index) else {
            return Err(Error::Corrupt(format!("there is no source {index}")));
        };
        source.open()
    }

    /// What came of reading a source: nothing when it is damaged. Any other failure is the answer.
    pub(super) fn settle<T>(&self, index: usize, outcome: Result<T>) -> Result<Option<T>> {
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

    /// How many sources were left out.
    pub(super) fn quarantined(&self) -> u64 {
        self.quarantined.load(Ordering::Relaxed)
    }
}

/// Does all tasks on the pool, workers taking one after the other, and answers what each worker has made of them. The first
/// failure ends the work.
pub(super) fn each<T: Sync, A: Send, E: Send>(
    pool: &rayon::ThreadPool,
    tasks: &[T],
    new: impl Fn() -> A + Sync,
    one: impl Fn(&T, &mut A) -> Result<(), E> + Sync,
) -> Result<Vec<A>, E> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<A, E> {
        let mut worker = new();
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(task, &mut worker).inspect_err(|_| next.store(tasks.len(), Ordering::Relaxed))?;
        }
        Ok(worker)
    };
    let workers = pool.current_num_threads().min(tasks.len());
    if workers <= 1 {
        return Ok(vec![work()?]);
    }
    pool.install(|| (0..workers).into_par_iter().map(|_| work()).collect())
}

/// Refuses a range that holds nothing.
pub(super) fn check_range(range: TimeRange) -> Result<()> {
    if range.is_empty() {
        return Err(Refusal::Range("from must be before to".into()).into());
    }
    Ok(())
}
