//! How series leave the registry: in memory first, then on disk.
//!
//! ```text
//! mark ──▶ grace: batches that were begun before end ──▶ a seal: their points are in blocks ──▶ those still marked leave the index
//!   ▲                                                                                             │
//!   └── whoever finds a series meanwhile ends its mark                                            ▼
//!                                                  segments without them, pages of last days: a batch for every few segments
//! ```
//!
//! A series that left is found no more, so the same tags are a new series with another id from then on, also when the process is
//! killed before the disk knows: the start then finds both, and the older one, which has no data, retires once more. Ids are never
//! given again: the one that comes next is on disk with the first seal of a series, and again with its retirement.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use roaring::RoaringBitmap;

use super::last_days::{LastDays, day_of};
use super::measured_set::bitmap_bytes;
use super::persist::{RegistryRows, segment_key};
use super::segment::SEGMENT_SERIES_MAX;
use super::series::Registry;
use crate::error::Result;
use crate::model::{MetricId, SeriesHold, SeriesId, TimestampMs};
use crate::storage::{Batch, Keyspace};

/// Places for series-key hashes that are looked at under one lock.
const PLACES_PER_LOCK: u64 = 1 << 14;
/// Segments and pages of last days that are written anew together.
const SEGMENTS_PER_BATCH: usize = 1 << 10;
const PAGES_PER_BATCH: usize = 1 << 10;

/// What the registry keyspace holds, as far as retirement needs it. Seals and upkeep use it, one step at a time.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// The series of every segment, by its key.
    segments: BTreeMap<u32, RoaringBitmap>,
    /// Bytes of all segments.
    segment_bytes: usize,
    pub(super) days: LastDays,
}

/// Bytes of a segment besides its set: its place in a map whose nodes are half full at worst.
const SEGMENT_BYTES: usize = 2 * size_of::<(u32, RoaringBitmap)>();

/// What makes sure that nobody writes to a series that retires.
#[derive(Debug, Default)]
pub(super) struct Grace {
    /// Held by all who look for series from now on.
    current: Mutex<Arc<()>>,
    /// Held by those who began before the last series were marked; none when nothing is marked.
    ending: Mutex<Option<Weak<()>>>,
}

/// Where a retirement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// No series is marked.
    None,
    /// Batches may still name series that are marked.
    InUse,
    /// Once what was written is sealed, series that are still marked have no data.
    Quiet,
}

/// A batch that takes series from disk.
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
    /// Notes that a series has data of a time, or is about to.
    pub(crate) fn raise_last_day(&self, series: SeriesId, time: TimestampMs) {
        self.stored.lock().days.raise(series, day_of(time));
    }

    /// Notes new series of which nothing else is known; those that are gone are left out.
    pub(crate) fn note_new_series(&self, series: &[SeriesId], now: TimestampMs) {
        let mut stored = self.stored.lock();
        let index = self.index.read();
        for series in series.iter().filter(|series| index.metric_of(**series).is_some()) {
            if stored.days.get(*series).is_none() {
                stored.days.raise(*series, day_of(now));
            }
        }
    }

    /// Sets the last days of series that have none to the last day of their metric; of all series when `all` may be wrong.
    pub(crate) fn complete_last_days(&self, all: bool, last_of: impl Fn(MetricId) -> u32) {
        let mut stored = self.stored.lock();
        for (series, metric) in self.all_series() {
            if all || stored.days.get(series).is_none() {
                stored.days.raise(series, last_of(metric));
            }
        }
    }

    /// The series that have nothing after `day`.
    pub(crate) fn silent_since(&self, day: u32) -> RoaringBitmap {
        self.stored.lock().days.silent_since(day)
    }

    /// Series with their metrics and the last days that they have data of; those of metrics that are not there are left out.
    pub(crate) fn with_last_day(&self, series: &RoaringBitmap) -> Vec<(SeriesId, MetricId, u32)> {
        let stored = self.stored.lock();
        let index = self.index.read();
        let known = |series| Some((series, index.metric_of(series)?, stored.days.get(series)?));
        series.iter().filter_map(|series| known(SeriesId(series))).collect()
    }

    /// Marks series that may retire. Few at a time: whoever looks for a series waits.
    pub(crate) fn mark_retiring(&self, series: &RoaringBitmap) {
        self.index.write().mark_retiring(series);
    }

    /// From now on, who begins to look for series finds those that were marked by ending their marks.
    pub(crate) fn begin_grace(&self) {
        // In this order: who holds the new one has begun after the marks.
        let before = std::mem::take(&mut *self.grace.current.lock());
        *self.grace.ending.lock() = Some(Arc::downgrade(&before));
    }

    /// Where the retirement of the marked series stands.
    pub(crate) fn marked(&self) -> Marked {
        match &*self.grace.ending.lock() {
            None => Marked::None,
            Some(held) if held.strong_count() > 0 => Marked::InUse,
            Some(_) => Marked::Quiet,
        }
    }

    /// All series that are marked.
    pub(crate) fn all_retiring(&self) -> RoaringBitmap {
        self.index.read().retiring().clone()
    }

    /// Takes those of `series` that are still marked out of the index, after `before` was called with them: nobody can find them
    /// in between. Few at a time, as in [`Self::mark_retiring`].
    pub(crate) fn remove_retiring(
        &self,
        series: &RoaringBitmap,
        before: impl FnOnce(&RoaringBitmap),
    ) -> RoaringBitmap {
        let mut index = self.index.write();
        let retired = index.still_retiring(series);
        before(&retired);
        index.remove_series(&retired);
        self.news.lock().left |= &retired;
        retired
    }

    /// Ends the retirement: what is still marked stays.
    pub(crate) fn end_retirement(&self) {
        self.index.write().keep_the_rest();
        *self.grace.ending.lock() = None;
        // Little by little, until lookups cost as little as before.
        while self.index.write().aliases.sweep_on(PLACES_PER_LOCK) {}
    }

    /// Whether series left that the disk may still hold, and that can perhaps be removed from it.
    pub(crate) fn has_left(&self) -> bool {
        !self.news.lock().left.is_empty()
    }

    /// Series that left by now, and the segments that hold some of those that were not skipped before.
    pub(crate) fn segments_of_left(&self) -> (RoaringBitmap, Vec<u32>) {
        let (new, all) = {
            let news = self.news.lock();
            (RoaringBitmap::clone(&news.left), &*news.left | &*news.skipped)
        };
        let mut stored = self.stored.lock();
        new.iter().for_each(|series| stored.days.remove(SeriesId(series)));
        let segments = stored.segments.iter().filter(|(_, series)| !series.is_disjoint(&new));
        (all, segments.map(|(key, _)| *key).collect())
    }

    /// Adds to a batch what writes the first of `segments` anew without the series that `left`, several as one where they are
    /// small. Returns how many of them these are.
    pub(crate) fn stage_removal(
        &self,
        segments: &[u32],
        left: &RoaringBitmap,
        batch: &mut Batch,
    ) -> Result<(usize, Removal)> {
        let stored = self.stored.lock();
        let (mut staying, mut removal, mut taken) = (RoaringBitmap::new(), Removal::default(), 0);
        for key in segments {
            let Some(series) = stored.segments.get(key) else {
                taken += 1;
                continue;
            };
            let fits = staying.len() + series.len() <= SEGMENT_SERIES_MAX as u64;
            if taken > 0 && !(fits && taken < SEGMENTS_PER_BATCH) {
                break;
            }
            taken += 1;
            let stay = series - left;
            // What cannot be described would be lost: its metric was deleted since, or is not known for damage.
            if self.knows_all(&stay) {
                staying |= stay;
                batch.delete(Keyspace::Registry, &segment_key(*key));
                removal.removed.push(*key);
            }
        }
        let staying: Vec<SeriesId> = staying.iter().map(SeriesId).collect();
        let mut rows = RegistryRows(batch);
        removal.added = rows.segments(self, &staying)?;
        rows.next_ids(self);
        rows.forgotten(self.readings_forgotten());
        Ok((taken, removal))
    }

    /// Adds all last days that changed to a batch, or [some](Self::stage_some_last_days).
    pub(crate) fn stage_last_days(&self, batch: &mut Batch) -> Result<RoaringBitmap> {
        self.stored.lock().days.stage(batch, usize::MAX)
    }

    /// Adds some of the last days that changed to a batch; none when the disk has them all.
    pub(crate) fn stage_some_last_days(&self, batch: &mut Batch) -> Result<RoaringBitmap> {
        self.stored.lock().days.stage(batch, PAGES_PER_BATCH)
    }

    /// Last days that were staged are on disk.
    pub(crate) fn last_days_written(&self, pages: &RoaringBitmap) {
        self.stored.lock().days.written(pages);
    }

    /// New segments are on disk.
    pub(crate) fn segments_written(&self, segments: Vec<RoaringBitmap>) {
        self.stored.lock().add_segments(segments);
    }

    /// A batch with a removal is on disk.
    pub(crate) fn removed(&self, removal: Removal) {
        let mut stored = self.stored.lock();
        for key in removal.removed {
            stored.remove_segment(key);
        }
        stored.add_segments(removal.added);
    }

    /// All segments that hold some of these series, which [left](Self::segments_of_left), were written anew, or skipped.
    pub(crate) fn removed_left(&self, left: &RoaringBitmap) {
        let held =
            self.stored.lock().segments.values().map(|series| series & left).collect::<Vec<_>>();
        let mut news = self.news.lock();
        news.left -= left;
        let held = held.into_iter().fold(RoaringBitmap::new(), |all, held| all | held);
        news.skipped = held.into();
    }

    /// The time of the newest reading that was forgotten with its series: a stream that began before it may have been counted.
    pub(crate) fn readings_forgotten(&self) -> TimestampMs {
        TimestampMs(self.forgotten.load(std::sync::atomic::Ordering::Acquire))
    }

    /// Notes that readings up to a time are about to be forgotten.
    pub(crate) fn forget_readings(&self, time: TimestampMs) {
        self.forgotten.fetch_max(time.0, std::sync::atomic::Ordering::AcqRel);
    }
}

impl Stored {
    /// Takes note of a segment on disk.
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

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.days.bytes() + self.segment_bytes
    }
}

#[cfg(test)]
impl Stored {
    /// [`Self::bytes`], counted anew.
    pub(super) fn walked_bytes(&self) -> usize {
        let segments = self.segments.values().map(|series| SEGMENT_BYTES + bitmap_bytes(series));
        self.days.walked_bytes() + segments.sum::<usize>()
    }
}
