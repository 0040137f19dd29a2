//! Posting lists after a start: built in steps, once the engine is open.
//!
//! The lists of a million series with ten tags take a second to build and are derived from the
//! tables of series, so a start does not wait for them. A thread builds them in the background; a
//! query of a metric whose lists are incomplete builds them first. Steps are short, and the lock is
//! handed over after each of them: whoever waits for it waits for one step.

use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

use super::index::Index;
use super::series::Registry;
use crate::model::{MetricId, SeriesId};

/// Series per step: less than a millisecond of work when they have ten tags each.
const SERIES_PER_STEP: usize = 1 << 8;

impl Index {
    /// Adds up to `count` series to the posting lists of a metric. Returns whether there are more.
    pub(super) fn extend_postings(&mut self, metric: MetricId, count: usize) -> bool {
        let Some((metric, table, bytes)) = self.metric_to_change(metric) else { return false };
        let bytes_before = metric.bytes();
        let Some((from, mut extension)) = metric.postings.extend() else { return false };
        let mut cursor = table.cursor();
        let mut missing = metric.series.range(from..);
        for id in missing.by_ref().take(count) {
            let tags = cursor.get(SeriesId(id)).map_or(&[][..], |(_, tags)| tags);
            tags.iter().for_each(|(key, value)| extension.append(*key, *value, id));
        }
        let next = missing.next();
        extension.finish(next);
        *bytes = *bytes + metric.bytes() - bytes_before;
        next.is_some()
    }
}

impl Registry {
    /// Completes the posting lists of all metrics, in steps, as long as `goes_on` says so.
    pub(crate) fn complete_all_postings(&self, goes_on: impl Fn() -> bool) {
        for metric in self.metric_ids(None) {
            while goes_on() && self.extend_postings(metric) {}
        }
    }

    /// Adds a few series to the posting lists of a metric. Returns whether there are more.
    fn extend_postings(&self, metric: MetricId) -> bool {
        let mut index = self.index().write();
        let has_more = index.extend_postings(metric, SERIES_PER_STEP);
        RwLockWriteGuard::unlock_fair(index);
        has_more
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
                    self.extend_postings(metric);
                }
                _ => return index,
            }
        }
    }
}
