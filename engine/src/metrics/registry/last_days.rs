//! The last day on which each series may have data: once all days up to it have expired, the series
//! has no data.
//!
//! ```text
//! 'u' page: u32 BE   frame(LastDays) { series: varint │ first id less one: signed
//!                    │ ids (differences): integers │ days since the epoch: integers }
//! ```
//!
//! A page covers 256 adjacent ids and is written by each seal that raises the day of one of its
//! series, so a series that reports continuously takes a few bytes a day. Days are only raised: a
//! day that is too late keeps a series longer than necessary, a day that is too early would hide
//! data. A day is therefore raised before the batch with the data is written, and when registry
//! rows were lost, all days are raised to those of the newest blocks, because older versions of the
//! rows may have reappeared.

use roaring::RoaringBitmap;

use super::measured_set::MeasuredSet;
use super::persist::RegistryKey;
use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::verified::{encode_verified, expect_same};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::metrics::series_map::SeriesMap;
use crate::model::{Interval, SeriesId, TimestampMs};
use crate::storage::{Batch, keyspaces};

const VERSION: u8 = 1;
/// Series per page.
const PAGE_SERIES: u32 = 1 << 8;
/// Series whose days are raised together.
const RAISED_AT_ONCE: usize = 1 << 10;

/// Returns the day of a time, in days since the epoch, clamped to the range of `u32`.
pub(crate) fn day_of(time: TimestampMs) -> u32 {
    let day = time.0.div_euclid(Interval::DAY.ms());
    u32::try_from(day.max(0)).unwrap_or(u32::MAX)
}

/// The last days of all series.
#[derive(Debug, Default)]
pub(crate) struct LastDays {
    days: SeriesMap<u32>,
    newest: NewestDay,
    /// Pages that differ from those on disk.
    changed: MeasuredSet,
}

/// The series that are known to have data on the newest of all days: most of those that a seal
/// contains. A bit each, so they are found without a look at their days, which are spread over more
/// memory than the caches of a processor have.
#[derive(Debug, Default)]
struct NewestDay {
    day: u32,
    /// Their last day is `day` or later.
    series: MeasuredSet,
}

impl NewestDay {
    /// Returns whether a series is known to have data on `day` or later.
    fn is_since(&self, series: SeriesId, day: u32) -> bool {
        day <= self.day && self.series.contains(series.0)
    }

    /// Takes note of a series with data on `day`.
    fn add(&mut self, series: SeriesId, day: u32) {
        if day > self.day {
            *self = Self { day, ..Self::default() };
        }
        if day == self.day {
            self.series.insert(series.0);
        }
    }
}

impl LastDays {
    pub(crate) fn get(&self, series: SeriesId) -> Option<u32> {
        self.days.get(series)
    }

    /// Raises the last day of a series to `day`.
    pub(crate) fn raise(&mut self, series: SeriesId, day: u32) {
        if self.days.get(series).is_none_or(|before| before < day) {
            self.days.insert(series, day);
            self.changed.insert(series.0 / PAGE_SERIES);
        }
        self.newest.add(series, day);
    }

    /// Raises the last days of series: fastest if their ids ascend.
    pub(super) fn raise_all(&mut self, mut last: impl Iterator<Item = (SeriesId, u32)>) {
        loop {
            let mut days = self.days.neighbours();
            let changes = |(series, day): &(SeriesId, u32)| {
                !self.newest.is_since(*series, *day)
                    // On the newest day or later, the set of its series may grow although no last
                    // day is raised.
                    && (*day >= self.newest.day
                        || days.get(*series).is_none_or(|before| before < *day))
            };
            let changed: Vec<_> = last.by_ref().filter(changes).take(RAISED_AT_ONCE).collect();
            if changed.is_empty() {
                return;
            }
            changed.into_iter().for_each(|(series, day)| self.raise(series, day));
        }
    }

    /// Removes a series that has retired.
    pub(super) fn remove(&mut self, series: SeriesId) {
        self.newest.series.remove(series.0);
        if self.days.remove(series).is_some() {
            self.changed.insert(series.0 / PAGE_SERIES);
        }
    }

    /// Returns the series without data after `day`.
    pub(super) fn silent_since(&self, day: u32) -> RoaringBitmap {
        let silent = self.days.iter().filter(|(_, last)| *last <= day);
        let mut series: Vec<u32> = silent.map(|(series, _)| series.0).collect();
        series.sort_unstable();
        series.into_iter().collect()
    }

    /// Restores the days of a row for the series that are `known`; a page with other series counts
    /// as changed.
    pub(super) fn restore(&mut self, rows: Vec<(SeriesId, u32)>, known: impl Fn(SeriesId) -> bool) {
        // A restored day may be earlier than one that was known.
        self.newest = NewestDay::default();
        for (series, day) in rows {
            if known(series) {
                self.days.insert(series, day);
            } else {
                self.changed.insert(series.0 / PAGE_SERIES);
            }
        }
    }

    /// Stages up to `pages_max` of the changed pages and returns them. They count as changed until
    /// [`Self::written`].
    pub(super) fn stage(&self, batch: &mut Batch, pages_max: usize) -> Result<RoaringBitmap> {
        let pages: RoaringBitmap = self.changed.iter().take(pages_max).collect();
        for page in &pages {
            let first = SeriesId(page * PAGE_SERIES);
            let rows: Vec<(SeriesId, u32)> = self.days.range(first, PAGE_SERIES).collect();
            if rows.is_empty() {
                batch.delete(keyspaces::Registry, &RegistryKey::LastDays(page));
            } else {
                batch.put(keyspaces::Registry, &RegistryKey::LastDays(page), row(&rows)?);
            }
        }
        Ok(pages)
    }

    /// Records that staged pages are on disk.
    pub(super) fn written(&mut self, pages: &RoaringBitmap) {
        self.changed -= pages;
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.days.bytes() + self.newest.series.bytes() + self.changed.bytes()
    }
}

#[cfg(test)]
impl LastDays {
    /// Recomputes [`Self::bytes`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        let sets = [&self.newest.series, &self.changed];
        let of_sets = sets.map(|set| super::measured_set::bitmap_bytes(set));
        self.days.walked_bytes() + of_sets.iter().sum::<usize>()
    }
}

fn row(rows: &[(SeriesId, u32)]) -> CodecResult<Vec<u8>> {
    let encode = |effort| {
        let mut out = Vec::new();
        let mark = frame::begin(&mut out, FrameKind::LastDays, VERSION);
        put_varint(&mut out, rows.len() as u64);
        // Chosen so that the differences of adjacent ids are all 1, including the first.
        let mut before = rows.first().map_or(0, |(first, _)| i64::from(first.0) - 1);
        put_signed(&mut out, before);
        let ids = rows.iter().map(|(series, _)| {
            let id = i64::from(series.0);
            id - std::mem::replace(&mut before, id)
        });
        let ids: Vec<i64> = ids.collect();
        let days: Vec<i64> = rows.iter().map(|(_, day)| i64::from(*day)).collect();
        integers::encode(&ids, effort, &mut out)?;
        integers::encode(&days, effort, &mut out)?;
        frame::close(&mut out, mark);
        Ok(out)
    };
    let check = |bytes: &[u8]| expect_same(read_row(bytes)? == rows, "last days");
    encode_verified(Effort::Seal, encode, check, || "a page of last days".to_owned())
}

/// Decodes the series and days of a row.
pub(super) fn read_row(row: &[u8]) -> CodecResult<Vec<(SeriesId, u32)>> {
    let (_, payload) = frame::open(row, FrameKind::LastDays, VERSION)?;
    let mut reader = Reader::new(payload);
    let count = reader.count("series", PAGE_SERIES as usize)?;
    let mut id = reader.signed()?;
    let [mut ids, mut days] = [Vec::new(), Vec::new()];
    for column in [&mut ids, &mut days] {
        IntegerColumn::read_exactly(&mut reader, count)?.all(column)?;
    }
    reader.finish()?;
    let small = |v: i64| u32::try_from(v).map_err(|_| CodecError::new("number exceeds 32 bits"));
    let rows = ids.iter().zip(&days).map(|(difference, day)| {
        id = id.wrapping_add(*difference);
        Ok((SeriesId(small(id)?), small(*day)?))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// The days of some series, of which the ids ascend or descend.
        Raise(Vec<(SeriesId, u32)>),
        Restore(Vec<(SeriesId, u32)>),
        Remove(SeriesId),
    }

    fn series_and_days() -> impl Strategy<Value = Vec<(SeriesId, u32)>> {
        let numbers = (0..2_000u32, 0..2_500u32, 1..4u32, any::<bool>());
        (numbers, prop::collection::vec(0..5u32, 1..4)).prop_map(
            |((first, count, distance, ascends), days)| {
                let series = (0..count).map(|n| SeriesId(first + n * distance));
                let mut all: Vec<_> = series.zip(days.into_iter().cycle()).collect();
                if !ascends {
                    all.reverse();
                }
                all
            },
        )
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => series_and_days().prop_map(Step::Raise),
            1 => series_and_days().prop_map(Step::Restore),
            1 => (0..3_000u32).prop_map(|series| Step::Remove(SeriesId(series))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn days_are_raised_together_like_those_of_each(
            steps in prop::collection::vec(step(), 1..8),
        ) {
            let (mut together, mut each) = (LastDays::default(), LastDays::default());
            for step in steps {
                match step {
                    Step::Raise(last) => {
                        together.raise_all(last.iter().copied());
                        last.into_iter().for_each(|(series, day)| each.raise(series, day));
                    }
                    Step::Restore(rows) => {
                        together.restore(rows.clone(), |_| true);
                        each.restore(rows, |_| true);
                    }
                    Step::Remove(series) => {
                        together.remove(series);
                        each.remove(series);
                    }
                }
                let days = |days: &LastDays| days.days.range(SeriesId(0), 10_000).collect::<Vec<_>>();
                prop_assert_eq!(days(&together), days(&each));
                prop_assert_eq!(&*together.changed, &*each.changed);
                together.changed.clear();
                each.changed.clear();
                prop_assert_eq!(together.newest.day, each.newest.day);
                prop_assert_eq!(&*together.newest.series, &*each.newest.series);
                for series in together.newest.series.iter().map(SeriesId) {
                    prop_assert!(together.get(series) >= Some(together.newest.day));
                }
            }
        }
    }

    #[test]
    fn the_encoding_of_a_page_is_stable() {
        let rows = [(SeriesId(512), 20_000), (SeriesId(514), 20_001), (SeriesId(515), 20_001)];
        let bytes = row(&rows).unwrap();
        assert_eq!(read_row(&bytes).unwrap(), rows);
        let hex: Vec<String> =
            bytes[frame::HEADER_BYTES..].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex.join(" "), "03 fe 07 03 01 02 01 02 03 01 c0 b8 02 01 06");
    }

    #[test]
    fn series_that_report_together_take_a_fraction_of_a_byte() {
        let rows: Vec<_> = (256..512).map(|series| (SeriesId(series), 20_000)).collect();
        let bytes = row(&rows).unwrap();
        assert!(bytes.len() < 40, "{} bytes", bytes.len());
    }

    #[test]
    fn days_are_only_raised() {
        let mut days = LastDays::default();
        for (day, expected) in [(5, 5), (3, 5), (9, 9)] {
            days.raise(SeriesId(7), day);
            assert_eq!(days.get(SeriesId(7)), Some(expected));
        }
        assert_eq!(days.silent_since(8), RoaringBitmap::new());
        assert_eq!(days.silent_since(9), RoaringBitmap::from_iter([7]));
        days.remove(SeriesId(7));
        assert_eq!(days.silent_since(u32::MAX), RoaringBitmap::new());
        // A series that was removed and comes back is not taken for one with data today.
        days.raise_all([(SeriesId(7), 9)].into_iter());
        assert_eq!(days.get(SeriesId(7)), Some(9));
    }

    #[test]
    fn any_time_has_a_day() {
        for (time, day) in [(i64::MIN, 0), (-1, 0), (86_400_000, 1), (i64::MAX, u32::MAX)] {
            assert_eq!(day_of(TimestampMs(time)), day);
        }
    }

    #[test]
    fn a_page_with_one_series_over_the_limit_is_refused() {
        let read = |count: u32| {
            let rows: Vec<_> = (0..count).map(|series| (SeriesId(series), 20_000)).collect();
            row(&rows).and_then(|bytes| read_row(&bytes)).map(|read| read.len()).ok()
        };
        assert_eq!(read(PAGE_SERIES), Some(PAGE_SERIES as usize));
        assert_eq!(read(PAGE_SERIES + 1), None);
    }
}
