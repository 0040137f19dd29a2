//! Retirement of series: removes series without data from the registry, which frees their memory
//! and their share of the cardinality limits.
//!
//! A series has no data if its last day has expired in every tier and its metric has no block of
//! that day or an earlier one; blocks may outlive their retention while a compaction or another
//! tier needs them. To detect concurrent writes, a series is marked first and checked again after a
//! seal (`registry/retirement.rs`).

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::super::Metrics;
use super::super::block::Tier;
use super::super::catalog::Catalog;
use super::super::registry::{RetirementProgress, day_of};
use super::super::window::retention_ms;
use crate::error::Result;
use crate::model::{Interval, MetricId, TimestampMs};
use crate::options::TierRetention;
use crate::storage::{Batch, Sync};

/// Number of series changed in the registry and the view under one lock, while writers wait.
const SERIES_PER_LOCK: usize = 256;

/// Returns the last day that has expired in all tiers, `None` if there is none.
fn expired_day(retention: &TierRetention, expiry: TimestampMs) -> Option<u32> {
    let kept = Tier::ALL.into_iter().map(|tier| retention_ms(retention, tier)).fold(0, i64::max);
    // A day expires when its end is as old as the retention.
    let day = expiry.0.saturating_sub(kept).div_euclid(Interval::DAY.ms()) - 1;
    u32::try_from(day).ok()
}

/// Determines, for each metric, up to which day nothing is stored.
struct EmptyDays<'a> {
    metrics: &'a Metrics,
    catalog: &'a Catalog,
    expiry: TimestampMs,
    known: HashMap<MetricId, Option<u32>>,
}

impl EmptyDays<'_> {
    /// Returns the last day up to which no data of a metric is stored.
    fn last_day(&mut self, metric: MetricId) -> Option<u32> {
        let Self { metrics, catalog, expiry, known } = self;
        *known.entry(metric).or_insert_with(|| {
            let name = metrics.registry.name_of(metric)?;
            let expired = expired_day(&metrics.options().retention.of(name.as_str()), *expiry)?;
            let blocks = catalog.metric(metric);
            match blocks.iter().next() {
                Some(first) => Some(expired.min(day_of(first.window.start).checked_sub(1)?)),
                None => Some(expired),
            }
        })
    }
}

impl Metrics {
    /// Marks the series that have no data as of `expiry`, unless some are marked already. Returns
    /// the state of the marked series.
    pub(crate) fn mark_series(&self, expiry: TimestampMs) -> RetirementProgress {
        if self.registry.marked() == RetirementProgress::None {
            // While lists are incomplete, they keep the keys of tags that retired with their
            // series.
            self.registry.complete_all_postings(|| true);
            let mut any = false;
            for piece in pieces(&self.series_without_data(expiry, None)) {
                self.registry.mark_retiring(&piece);
                any = true;
            }
            if any {
                self.registry.begin_grace();
            }
        }
        self.registry.marked()
    }

    /// Retires the marked series that still have no data, and removes retired series from disk.
    /// `marked` is the result of [`Self::mark_series`] before everything written by then was
    /// sealed. Returns the number of retired series.
    pub(crate) fn retire_series(
        &self,
        marked: RetirementProgress,
        expiry: TimestampMs,
    ) -> Result<u64> {
        let mut retired = 0;
        if marked == RetirementProgress::Quiet {
            let marked = self.registry.all_retiring();
            for piece in pieces(&self.series_without_data(expiry, Some(&marked))) {
                retired += self.retire_piece(&piece);
            }
            self.registry.end_retirement();
        }
        self.remove_retired_from_disk()?;
        Ok(retired)
    }

    pub(super) fn retire_piece(&self, series: &RoaringBitmap) -> u64 {
        // Raised before the series are removed, so that whoever creates a new series in place of
        // one sees the new time. Only for series that are removed: series found meanwhile keep
        // their last cumulative values, which may be as recent as now.
        let retired = self.registry.remove_retiring(series, |retired| {
            let newest = self.last_values.lock().newest_of(retired);
            newest.into_iter().for_each(|time| self.registry.raise_newest_forgotten(time));
        });
        self.view.forget(&retired);
        self.last_values.lock().forget(&retired);
        retired.len()
    }

    /// Returns the series that have no data as of `expiry`, of all series or `among` some.
    fn series_without_data(
        &self,
        expiry: TimestampMs,
        among: Option<&RoaringBitmap>,
    ) -> RoaringBitmap {
        let retention = &self.options().retention;
        let all =
            std::iter::once(&retention.default).chain(retention.by_prefix.iter().map(|(_, r)| r));
        let Some(day) = all.filter_map(|retention| expired_day(retention, expiry)).max() else {
            return RoaringBitmap::new();
        };
        let mut silent = self.registry.silent_since(day);
        if let Some(among) = among {
            silent &= among;
        }
        let catalog = self.view.catalog();
        let known = HashMap::new();
        let mut empty_days = EmptyDays { metrics: self, catalog: &catalog, expiry, known };
        let mut without = RoaringBitmap::new();
        for piece in pieces(&silent) {
            for (series, metric, last) in self.registry.with_last_day(&piece) {
                if empty_days.last_day(metric).is_some_and(|day| last <= day) {
                    without.insert(series.0);
                }
            }
        }
        without
    }

    /// Removes retired series from disk, one batch for every few segments.
    fn remove_retired_from_disk(&self) -> Result<()> {
        if !self.registry.has_removed_series() {
            return Ok(());
        }
        let (removed, segments) = self.registry.segments_with_removed();
        let mut rest = segments.as_slice();
        while !rest.is_empty() {
            let mut batch = Batch::new();
            let (taken, removal) = self.registry.stage_removal(rest, &removed, &mut batch)?;
            self.store.write(batch, Sync::No)?;
            self.registry.removal_written(removal);
            rest = rest.get(taken..).unwrap_or_default();
        }
        loop {
            let mut batch = Batch::new();
            let pages = self.registry.stage_some_last_days(&mut batch)?;
            if pages.is_empty() {
                break;
            }
            self.store.write(batch, Sync::No)?;
            self.registry.last_days_written(&pages);
        }
        self.registry.removed_series_written(&removed);
        Ok(())
    }
}

fn pieces(series: &RoaringBitmap) -> impl Iterator<Item = RoaringBitmap> {
    let mut rest = series.iter();
    std::iter::from_fn(move || {
        let piece: RoaringBitmap = rest.by_ref().take(SERIES_PER_LOCK).collect();
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_day_has_expired_when_its_longest_kept_tier_has() {
        let kept = TierRetention::of_days([3, 0, 1, 5, 4]);
        let day = Interval::DAY.ms();
        for (expiry, expected) in [
            (0, None),
            (6 * day - 1, None),
            (6 * day, Some(0)),
            (20 * day - 1, Some(13)),
            (20 * day, Some(14)),
        ] {
            assert_eq!(expired_day(&kept, TimestampMs(expiry)), expected, "{expiry}");
        }
        let for_ever = TierRetention { day: Duration::MAX, ..kept };
        assert_eq!(expired_day(&for_ever, TimestampMs(i64::MAX)), None);
    }
}
