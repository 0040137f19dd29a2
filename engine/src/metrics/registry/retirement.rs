//! Retirement: removes series without data from the registry, first in memory, then on disk.
//!
//! ```text
//! mark ──▶ grace: batches in ──▶ seal: their ──▶ still marked: ──▶ on disk: rewrite segments
//!   ▲      progress end          points are      remove from       and pages of last days,
//!   │                            in blocks       the index         some segments per batch
//!   └── a lookup that finds a marked series clears its mark
//! ```
//!
//! A removed series is no longer found, so from then on the same tags are a new series with a new
//! id. If the process is killed before the removal is on disk, the start finds both; the older one
//! has no data and retires again. Ids are never reused: the next id is written by the first seal of
//! a series and again when it retires.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use roaring::RoaringBitmap;

use super::last_days::{LastDays, day_of};
use super::measured_set::bitmap_bytes;
use super::persist::{RegistryKey, RegistryRows};
use super::series::Registry;
use crate::error::Result;
use crate::limits;
use crate::model::{MetricId, SeriesHold, SeriesId, TimestampMs};
use crate::storage::{Batch, keyspaces};

/// Alias slots swept under one lock.
const SLOTS_PER_LOCK: u64 = 1 << 14;
/// Maximum number of segments, and of pages of last days, rewritten in one batch.
const SEGMENTS_PER_BATCH: usize = 1 << 10;
const PAGES_PER_BATCH: usize = 1 << 10;

/// The contents of the registry keyspace, as far as retirement needs them. Used by seals and
/// maintenance, one step at a time.
#[derive(Debug, Default)]
pub(super) struct StoredRegistry {
    /// The series of every segment, by segment key.
    segments: BTreeMap<u32, RoaringBitmap>,
    /// Bytes of all segments.
    segment_bytes: usize,
    pub(super) days: LastDays,
}

/// Bytes of a segment besides its set: its entry in a map whose nodes are at least half full.
const SEGMENT_BYTES: usize = 2 * size_of::<(u32, RoaringBitmap)>();

/// Ensures that no batch in progress writes to a series that retires.
#[derive(Debug, Default)]
pub(super) struct Grace {
    /// Held by every lookup from now on.
    current: Mutex<Arc<()>>,
    /// Held by lookups that started before the last series were marked; `None` when nothing is
    /// marked.
    ending: Mutex<Option<Weak<()>>>,
}

/// The state of a retirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetirementProgress {
    /// No series is marked.
    None,
    /// Batches in progress may still contain marked series.
    InUse,
    /// No batch contains them. Once everything written is sealed, series that are still marked have
    /// no data.
    Quiet,
}

/// The effects of a batch that removes series from disk: removed segments and the series of added
/// ones.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    removed: Vec<u32>,
    added: Vec<RoaringBitmap>,
}

impl Grace {
    pub(super) fn hold(&self) -> SeriesHold {
        SeriesHold::of(&self.current.lock())
    }
}

impl Registry {
    /// Records that a series has, or is about to have, data at `time`.
    pub(crate) fn raise_last_day(&self, series: SeriesId, time: TimestampMs) {
        self.stored.lock().days.raise(series, day_of(time));
    }

    /// Records that each of these series has, or is about to have, data at its time.
    pub(crate) fn raise_last_days(
        &self,
        last_times: impl IntoIterator<Item = (SeriesId, TimestampMs)>,
    ) {
        let last = last_times.into_iter().map(|(series, time)| (series, day_of(time)));
        self.stored.lock().days.raise_all(last);
    }

    /// Records new series without points, with the day of `now`; removed ones are skipped.
    pub(crate) fn note_new_series(&self, series: &[SeriesId], now: TimestampMs) {
        let mut stored = self.stored.lock();
        let index = self.index.read();
        for series in series.iter().filter(|series| index.metric_of(**series).is_some()) {
            if stored.days.get(*series).is_none() {
                stored.days.raise(*series, day_of(now));
            }
        }
    }

    /// Sets the last day of series without one, or of all series if `all`, to the last day of their
    /// metric, which `last_of` returns. Days are only raised.
    pub(crate) fn complete_last_days(&self, all: bool, last_of: impl Fn(MetricId) -> u32) {
        let mut stored = self.stored.lock();
        for (series, metric) in self.all_series() {
            if all || stored.days.get(series).is_none() {
                stored.days.raise(series, last_of(metric));
            }
        }
    }

    /// Returns the series without data after `day`.
    pub(crate) fn silent_since(&self, day: u32) -> RoaringBitmap {
        self.stored.lock().days.silent_since(day)
    }

    /// Returns series with their metrics and last days; series of unknown metrics are left out.
    pub(crate) fn with_last_day(&self, series: &RoaringBitmap) -> Vec<(SeriesId, MetricId, u32)> {
        let stored = self.stored.lock();
        let index = self.index.read();
        let known = |series| Some((series, index.metric_of(series)?, stored.days.get(series)?));
        series.iter().filter_map(|series| known(SeriesId(series))).collect()
    }

    /// Marks series that may retire. Pass few at a time: lookups wait meanwhile.
    pub(crate) fn mark_retiring(&self, series: &RoaringBitmap) {
        self.index.write().mark_retiring(series);
    }

    /// Starts the grace period: lookups that start from now on clear the marks of the series they
    /// find.
    pub(crate) fn begin_grace(&self) {
        // In this order, so that every holder of the new token started after the marks were set.
        let before = std::mem::take(&mut *self.grace.current.lock());
        *self.grace.ending.lock() = Some(Arc::downgrade(&before));
    }

    /// Returns the state of the retirement of the marked series.
    pub(crate) fn marked(&self) -> RetirementProgress {
        match &*self.grace.ending.lock() {
            None => RetirementProgress::None,
            Some(held) if held.strong_count() > 0 => RetirementProgress::InUse,
            Some(_) => RetirementProgress::Quiet,
        }
    }

    /// Returns all marked series.
    pub(crate) fn all_retiring(&self) -> RoaringBitmap {
        self.index.read().retiring().clone()
    }

    /// Removes those of `series` that are still marked from the index and returns them. Calls
    /// `before` with them first, under the same lock, so that no lookup can find them in between.
    /// Pass few at a time, as in [`Self::mark_retiring`].
    pub(crate) fn remove_retiring(
        &self,
        series: &RoaringBitmap,
        before: impl FnOnce(&RoaringBitmap),
    ) -> RoaringBitmap {
        let mut index = self.index.write();
        let retired = index.still_retiring(series);
        before(&retired);
        index.remove_series(&retired);
        self.changes.lock().removed |= &retired;
        retired
    }

    /// Ends the retirement: series that are still marked are kept.
    pub(crate) fn end_retirement(&self) {
        self.index.write().clear_marks();
        *self.grace.ending.lock() = None;
        // In steps, until lookups no longer have to check the sweep.
        while self.index.write().aliases.sweep_on(SLOTS_PER_LOCK) {}
    }

    /// Reports whether removed series may still be on disk and can be removed from it.
    pub(crate) fn has_removed_series(&self) -> bool {
        !self.changes.lock().removed.is_empty()
    }

    /// Returns the series removed so far, and the segments that contain any that were not skipped
    /// before.
    pub(crate) fn segments_with_removed(&self) -> (RoaringBitmap, Vec<u32>) {
        let (new, all) = {
            let changes = self.changes.lock();
            (RoaringBitmap::clone(&changes.removed), &*changes.removed | &*changes.skipped)
        };
        let mut stored = self.stored.lock();
        new.iter().for_each(|series| stored.days.remove(SeriesId(series)));
        let segments = stored.segments.iter().filter(|(_, series)| !series.is_disjoint(&new));
        (all, segments.map(|(key, _)| *key).collect())
    }

    /// Stages the rewrite of the first of `segments` without the `removed` series; small segments
    /// are combined into one. Returns how many of `segments` this covers, and the removal to pass
    /// to [`Self::removal_written`].
    pub(crate) fn stage_removal(
        &self,
        segments: &[u32],
        removed: &RoaringBitmap,
        batch: &mut Batch,
    ) -> Result<(usize, Removal)> {
        let stored = self.stored.lock();
        let (mut staying, mut removal, mut taken) = (RoaringBitmap::new(), Removal::default(), 0);
        for key in segments {
            let Some(series) = stored.segments.get(key) else {
                taken += 1;
                continue;
            };
            let fits = staying.len() + series.len() <= limits::SEGMENT_SERIES_MAX as u64;
            if taken > 0 && !(fits && taken < SEGMENTS_PER_BATCH) {
                break;
            }
            taken += 1;
            let stay = series - removed;
            // A series that cannot be described would be lost: its metric was deleted since, or is
            // unknown because of damage.
            if self.knows_all(&stay) {
                staying |= stay;
                batch.delete(keyspaces::Registry, &RegistryKey::Segment(SeriesId(*key)));
                removal.removed.push(*key);
            }
        }
        let staying: Vec<SeriesId> = staying.iter().map(SeriesId).collect();
        let mut rows = RegistryRows(batch);
        removal.added = rows.segments(self, &staying)?;
        rows.next_ids(self);
        rows.newest_forgotten(self.newest_forgotten_sample());
        Ok((taken, removal))
    }

    /// Stages all changed last days, or [some](Self::stage_some_last_days). Returns their pages.
    pub(crate) fn stage_last_days(&self, batch: &mut Batch) -> Result<RoaringBitmap> {
        self.stored.lock().days.stage(batch, usize::MAX)
    }

    /// Stages some of the changed last days. Returns their pages: none when the disk is up to date.
    pub(crate) fn stage_some_last_days(&self, batch: &mut Batch) -> Result<RoaringBitmap> {
        self.stored.lock().days.stage(batch, PAGES_PER_BATCH)
    }

    /// Records that staged last days are on disk.
    pub(crate) fn last_days_written(&self, pages: &RoaringBitmap) {
        self.stored.lock().days.written(pages);
    }

    /// Records that new segments are on disk.
    pub(crate) fn segments_written(&self, segments: Vec<RoaringBitmap>) {
        self.stored.lock().add_segments(segments);
    }

    /// Records that the batch of a removal is on disk.
    pub(crate) fn removal_written(&self, removal: Removal) {
        let mut stored = self.stored.lock();
        for key in removal.removed {
            stored.remove_segment(key);
        }
        stored.add_segments(removal.added);
    }

    /// Records that all segments with these series, which [`Self::segments_with_removed`] returned,
    /// have been rewritten or skipped.
    pub(crate) fn removed_series_written(&self, removed: &RoaringBitmap) {
        let held =
            self.stored.lock().segments.values().map(|series| series & removed).collect::<Vec<_>>();
        let mut changes = self.changes.lock();
        changes.removed -= removed;
        let held = held.into_iter().fold(RoaringBitmap::new(), |all, held| all | held);
        changes.skipped = held.into();
    }

    /// Returns the time of the newest cumulative sample whose series has retired: a stream that
    /// started before it may have been counted.
    pub(crate) fn newest_forgotten_sample(&self) -> TimestampMs {
        TimestampMs(self.newest_forgotten.load(std::sync::atomic::Ordering::Acquire))
    }

    /// Records that cumulative samples up to `time` are about to be forgotten.
    pub(crate) fn raise_newest_forgotten(&self, time: TimestampMs) {
        self.newest_forgotten.fetch_max(time.0, std::sync::atomic::Ordering::AcqRel);
    }
}

impl StoredRegistry {
    /// Records a segment on disk.
    pub(super) fn add_segment(&mut self, key: u32, series: RoaringBitmap) {
        self.remove_segment(key);
        self.segment_bytes += SEGMENT_BYTES + bitmap_bytes(&series);
        self.segments.insert(key, series);
    }

    fn add_segments(&mut self, segments: Vec<RoaringBitmap>) {
        for series in segments {
            if let Some(first) = series.min() {
                self.add_segment(first, series);
            }
        }
    }

    fn remove_segment(&mut self, key: u32) {
        if let Some(series) = self.segments.remove(&key) {
            self.segment_bytes -= SEGMENT_BYTES + bitmap_bytes(&series);
        }
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.days.bytes() + self.segment_bytes
    }
}

#[cfg(test)]
impl StoredRegistry {
    /// Recomputes [`Self::bytes`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        let segments = self.segments.values().map(|series| SEGMENT_BYTES + bitmap_bytes(series));
        self.days.walked_bytes() + segments.sum::<usize>()
    }
}
