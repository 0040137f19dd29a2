//! Retirement: series that have no data any more leave the registry, so that new ones have room.
//!
//! A series has no data when the last day that it may have some of has expired in every tier, and its metric has no block of that
//! day or an earlier one: blocks may outlive their time while a merge or another tier needs them. Whether it is being written to is
//! found out by marking it first, and looking again after a seal (`registry/retirement.rs`).

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::super::Metrics;
use super::super::block::Tier;
use super::super::catalog::Catalog;
use super::super::registry::{Marked, day_of};
use super::super::window::kept_ms;
use crate::error::Result;
use crate::model::{Interval, MetricId, TimestampMs};
use crate::options::TierRetention;
use crate::storage::{Batch, Sync};

/// Series that are changed in the registry and the view under one lock: writers wait that long.
const SERIES_PER_LOCK: usize = 256;

/// The last day that has expired in all tiers; none when none has.
fn expired_day(retention: &TierRetention, expiry: TimestampMs) -> Option<u32> {
    let kept = Tier::ALL.into_iter().map(|tier| kept_ms(retention, tier)).fold(0, i64::max);
    // A day expires when its end is as old as it is kept.
    let day = expiry.0.saturating_sub(kept).div_euclid(Interval::DAY.ms()) - 1;
    u32::try_from(day).ok()
}

/// Tells of each metric which days have nothing of it.
struct Gone<'a> {
    metrics: &'a Metrics,
    catalog: &'a Catalog,
    expiry: TimestampMs,
    known: HashMap<MetricId, Option<u32>>,
}

impl Gone<'_> {
    /// The last day up to which nothing of a metric is kept.
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
    /// Marks the series that have no data as of `expiry`, unless others are marked already. Answers how far these are.
    pub(crate) fn mark_series(&self, expiry: TimestampMs) -> Marked {
        if self.registry.marked() == Marked::None {
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

    /// Lets the marked series go that still have no data, and takes from the disk what has gone by now. `marked` is what
    /// [`Self::mark_series`] answered before all that was written by then was sealed. Answers how many went.
    pub(crate) fn retire_series(&self, marked: Marked, expiry: TimestampMs) -> Result<u64> {
        let mut retired = 0;
        if marked == Marked::Quiet {
            let marked = self.registry.all_retiring();
            for piece in pieces(&self.series_without_data(expiry, Some(&marked))) {
                retired += self.retire_piece(&piece);
            }
            self.registry.end_retirement();
        }
        self.remove_left_series()?;
        Ok(retired)
    }

    pub(super) fn retire_piece(&self, series: &RoaringBitmap) -> u64 {
        // Before they go: who finds a new series in their place sees it. Those that were found meanwhile stay, and their readings,
        // which may be as young as now, are not forgotten.
        let retired = self.registry.remove_retiring(series, |retired| {
            let newest = self.baselines.lock().newest_of(retired);
            newest.into_iter().for_each(|time| self.registry.forget_readings(time));
        });
        self.view.forget(&retired);
        self.baselines.lock().forget(&retired);
        retired.len()
    }

    /// The series that have no data as of `expiry`, of all or of some.
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
        let mut gone = Gone { metrics: self, catalog: &catalog, expiry, known };
        let mut without = RoaringBitmap::new();
        for piece in pieces(&silent) {
            for (series, metric, last) in self.registry.with_last_day(&piece) {
                if gone.last_day(metric).is_some_and(|day| last <= day) {
                    without.insert(series.0);
                }
            }
        }
        without
    }

    /// Removes series from disk that left the registry, a batch for every few segments.
    fn remove_left_series(&self) -> Result<()> {
        if !self.registry.has_left() {
            return Ok(());
        }
        let (left, segments) = self.registry.segments_of_left();
        let mut rest = segments.as_slice();
        while !rest.is_empty() {
            let mut batch = Batch::new();
            let (taken, removal) = self.registry.stage_removal(rest, &left, &mut batch)?;
            self.store.write(batch, Sync::No)?;
            self.registry.removed(removal);
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
        self.registry.removed_left(&left);
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
    fn a_day_is_over_when_its_longest_tier_is() {
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
