//! Posting lists after a start: built in steps, once the engine is open.
//!
//! The lists of a million series with ten tags take a second to build and are derived from the
//! tables of series, so a start does not wait for them. A thread builds them in the background; a
//! query of a metric whose lists are incomplete builds them first, even if its client leaves. Steps
//! are short, and the lock is handed over after each of them.

use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

use super::index::Index;
use super::series::Registry;
use crate::model::{MetricId, SeriesId};

/// Series per step if nobody else has the lock: less than a millisecond of work when they have ten
/// tags each. The last step of a metric also measures all its lists.
const SERIES_PER_STEP: usize = 1 << 8;
/// Series per step that waits for others: it should not wait often.
const SERIES_PER_STEP_AFTER_WAITING: usize = 1 << 12;

impl Index {
    /// Adds series to the posting lists of a metric, as many as `left`, from which they are
    /// deducted; at least one is deducted for the metric. Returns whether more series are missing.
    pub(super) fn extend_postings(&mut self, metric: MetricId, left: &mut usize) -> bool {
        let Some((metric, table, bytes)) = self.metric_to_change(metric) else { return false };
        let bytes_before = metric.bytes();
        let Some((from, mut extension)) = metric.postings.extend() else { return false };
        let (mut cursor, mut added) = (table.cursor(), 0);
        let mut missing = metric.series.range(from..);
        for id in missing.by_ref().take(*left) {
            let tags = cursor.get(SeriesId(id)).map_or(&[][..], |(_, tags)| tags);
            tags.iter().for_each(|(key, value)| extension.append(*key, *value, id));
            added += 1;
        }
        let next = missing.next();
        extension.finish(next);
        *bytes = *bytes + metric.bytes() - bytes_before;
        *left = left.saturating_sub(added.max(1));
        next.is_some()
    }
}

impl Registry {
    /// Completes the posting lists of all metrics, in steps, as long as `goes_on` says so.
    pub(crate) fn complete_all_postings(&self, goes_on: impl Fn() -> bool) {
        let incomplete: Vec<MetricId> = {
            let index = self.index().read();
            index.metrics_from("").map(|m| m.id).filter(|id| !index.has_postings(*id)).collect()
        };
        let mut incomplete = incomplete.into_iter().peekable();
        while goes_on() && incomplete.peek().is_some() {
            self.with_index_for_step(|index, left| {
                while let Some(metric) = incomplete.peek().filter(|_| *left > 0) {
                    if !index.extend_postings(*metric, left) {
                        incomplete.next();
                    }
                }
            });
        }
    }

    /// Runs a step with the index and the number of series that it may add. Others that wait for
    /// the index get it next.
    fn with_index_for_step(&self, step: impl FnOnce(&mut Index, &mut usize)) {
        let (mut index, mut left) = match self.index().try_write() {
            Some(index) => (index, SERIES_PER_STEP),
            None => (self.index().write(), SERIES_PER_STEP_AFTER_WAITING),
        };
        step(&mut index, &mut left);
        RwLockWriteGuard::unlock_fair(index);
    }

    /// Returns the index with complete posting lists of the metric named `name`.
    pub(super) fn index_with_postings(&self, name: &str) -> RwLockReadGuard<'_, Index> {
        self.index_with_postings_of(|index| Some(index.metric_named(name)?.id))
    }

    /// Returns the index with complete posting lists of the metric that `find` returns.
    pub(super) fn index_with_postings_of(
        &self,
        find: impl Fn(&Index) -> Option<MetricId>,
    ) -> RwLockReadGuard<'_, Index> {
        loop {
            let index = self.index().read();
            match find(&index) {
                Some(metric) if !index.has_postings(metric) => {
                    drop(index);
                    self.with_index_for_step(|index, left| {
                        index.extend_postings(metric, left);
                    });
                }
                _ => return index,
            }
        }
    }
}
