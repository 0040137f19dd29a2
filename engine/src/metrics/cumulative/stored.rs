//! Encoding of a page of last cumulative values: columns, a few bytes per series.
//!
//! ```text
//! frame(CounterLastValues)   { head │ values: floats }
//! frame(HistogramLastValues) { head │ flags: integers (1 has a sum, 2 exponential) │ sums: floats
//!   explicit     bounds lists: varint, each: bounds: varint, each: f64
//!                list of each histogram: integers │ counts of all: integers
//!   exponential  scales: integers │ zero thresholds: floats │ zero counts: integers
//!                positive buckets of each: integers │ negative buckets of each: integers
//!                all buckets, positive ones first: indices (differences within a side): integers
//!                counts: integers }
//! head  lost below: varint │ series: varint │ ids (differences): integers │ times: integers
//! ```
//!
//! `lost below`: series with lower ids that are not in the page had a last value that was lost to
//! damage.

use std::sync::Arc;

use super::buckets::{Counts, Exponential, Side};
use super::counter::LastCounter;
use super::last_values::LastHistogram;
use super::pages::{PAGE_SERIES, Page};
use crate::cast::length;
use crate::codec::bytes::{Reader, put_varint};
use crate::codec::floats::{self, FloatColumn};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::runs::Runs;
use crate::codec::{CodecError, CodecResult};
use crate::limits::HISTOGRAM_BUCKETS_MAX;
use crate::model::{SeriesId, TimestampMs};

const VERSION: u8 = 1;
const HAS_SUM: i64 = 1;
const EXPONENTIAL: i64 = 2;
/// The maximum number of buckets of all histograms of a page.
const PAGE_BUCKETS_MAX: usize = PAGE_SERIES as usize * HISTOGRAM_BUCKETS_MAX;

/// The series of a page and the times of their last values.
type PageHead = Vec<(SeriesId, TimestampMs)>;

pub(super) fn encode_counters(
    number: u32,
    page: &Page<LastCounter>,
    effort: Effort,
) -> CodecResult<Vec<u8>> {
    let mut out = Vec::new();
    let mark = frame::begin(&mut out, FrameKind::CounterLastValues, VERSION);
    put_head(number, page, |last| last.time, effort, &mut out)?;
    let values: Vec<f64> = page.iter(number).map(|(_, last)| last.value).collect();
    put_floats(&values, effort, &mut out)?;
    frame::close(&mut out, mark);
    Ok(out)
}

pub(super) fn decode_counters(number: u32, row: &[u8]) -> CodecResult<Page<LastCounter>> {
    let (_, payload) = frame::open(row, FrameKind::CounterLastValues, VERSION)?;
    let mut reader = Reader::new(payload);
    let (mut page, head) = read_head(&mut reader)?;
    let values = read_floats(&mut reader, head.len())?;
    reader.finish()?;
    check_rows(values.len(), head.len())?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err(CodecError::new("cumulative value is not finite"));
    }
    for ((series, time), value) in head.into_iter().zip(values) {
        put(&mut page, number, series, LastCounter { time, value })?;
    }
    Ok(page)
}

pub(super) fn encode_histograms(
    number: u32,
    page: &Page<Arc<LastHistogram>>,
    effort: Effort,
) -> CodecResult<Vec<u8>> {
    let mut out = Vec::new();
    let mark = frame::begin(&mut out, FrameKind::HistogramLastValues, VERSION);
    put_head(number, page, |last| last.time, effort, &mut out)?;
    let mut columns = HistogramColumns::default();
    page.iter(number).for_each(|(_, last)| columns.push(last));
    columns.encode(effort, &mut out)?;
    frame::close(&mut out, mark);
    Ok(out)
}

pub(super) fn decode_histograms(number: u32, row: &[u8]) -> CodecResult<Page<Arc<LastHistogram>>> {
    let (_, payload) = frame::open(row, FrameKind::HistogramLastValues, VERSION)?;
    let mut reader = Reader::new(payload);
    let (mut page, head) = read_head(&mut reader)?;
    let columns = HistogramColumns::read(&mut reader, head.len())?;
    reader.finish()?;
    let mut histograms = columns.reader();
    for (series, time) in head {
        let (sum, counts) = histograms.next()?;
        put(&mut page, number, series, Arc::new(LastHistogram { time, sum, counts }))?;
    }
    Ok(page)
}

fn put_head<T>(
    number: u32,
    page: &Page<T>,
    time: impl Fn(&T) -> TimestampMs,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    put_varint(out, u64::from(page.lost_below.0));
    let mut before = 0;
    let (ids, times): (Vec<i64>, Vec<i64>) = page
        .iter(number)
        .map(|(series, value)| {
            let id = i64::from(series.0);
            (id - std::mem::replace(&mut before, id), time(value).0)
        })
        .unzip();
    put_varint(out, ids.len() as u64);
    integers::encode(&ids, effort, out)?;
    integers::encode(&times, effort, out)
}

/// Decodes the head: a page without values, and the series and times of its values.
fn read_head<T>(reader: &mut Reader<'_>) -> CodecResult<(Page<T>, PageHead)> {
    let lost_below = series_id(length(reader.count("series", u32::MAX as usize)?))?;
    let series = reader.count("series", PAGE_SERIES as usize)?;
    let mut columns: [Vec<i64>; 2] = Default::default();
    for column in &mut columns {
        IntegerColumn::read_exactly(reader, series)?.all(column)?;
    }
    let [ids, times] = columns;
    let mut id = 0i64;
    let mut head = Vec::with_capacity(series);
    for (i, (delta, time)) in ids.iter().zip(times).enumerate() {
        id = id.wrapping_add(*delta);
        if i > 0 && *delta <= 0 {
            return Err(CodecError::new("series ids do not ascend"));
        }
        head.push((series_id(id)?, TimestampMs(time)));
    }
    Ok((Page::empty(lost_below), head))
}

fn put<T>(page: &mut Page<T>, number: u32, series: SeriesId, value: T) -> CodecResult<()> {
    if page.put(number, series, value) {
        Ok(())
    } else {
        Err(CodecError::new(format!("{series:?} does not belong to page {number}")))
    }
}

/// Histograms as columns.
#[derive(Debug, Default)]
struct HistogramColumns {
    flags: Vec<i64>,
    sums: Vec<f64>,
    lists: Vec<Arc<[f64]>>,
    list_of: Vec<i64>,
    explicit: Vec<i64>,
    scales: Vec<i64>,
    thresholds: Vec<f64>,
    zeros: Vec<i64>,
    above: Vec<i64>,
    below: Vec<i64>,
    indices: Vec<i64>,
    counts: Vec<i64>,
}

impl HistogramColumns {
    fn push(&mut self, last: &LastHistogram) {
        let exponential = matches!(last.counts, Counts::Exponential(_));
        let flags = if exponential { EXPONENTIAL } else { 0 };
        self.flags.push(flags | if last.sum.is_some() { HAS_SUM } else { 0 });
        self.sums.extend(last.sum);
        match &last.counts {
            Counts::Explicit { bounds, counts } => {
                let list = self.lists.iter().position(|list| list == bounds);
                let list = list.unwrap_or_else(|| {
                    self.lists.push(Arc::clone(bounds));
                    self.lists.len() - 1
                });
                self.list_of.push(length(list));
                self.explicit.extend(counts.iter().map(|n| n.cast_signed()));
            }
            Counts::Exponential(Exponential {
                scale,
                zero_threshold,
                zero,
                positive,
                negative,
            }) => {
                self.scales.push(i64::from(*scale));
                self.thresholds.push(*zero_threshold);
                self.zeros.push(zero.cast_signed());
                self.above.push(length(positive.len()));
                self.below.push(length(negative.len()));
                for side in [positive, negative] {
                    let mut before = 0;
                    for (index, n) in side {
                        let index = i64::from(*index);
                        self.indices.push(index - std::mem::replace(&mut before, index));
                        self.counts.push(n.cast_signed());
                    }
                }
            }
        }
    }

    fn encode(&self, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        integers::encode(&self.flags, effort, out)?;
        put_floats(&self.sums, effort, out)?;
        put_varint(out, self.lists.len() as u64);
        for list in &self.lists {
            put_varint(out, list.len() as u64);
            out.extend(list.iter().flat_map(|bound| bound.to_le_bytes()));
        }
        for column in [&self.list_of, &self.explicit, &self.scales] {
            integers::encode(column, effort, out)?;
        }
        put_floats(&self.thresholds, effort, out)?;
        for column in [&self.zeros, &self.above, &self.below, &self.indices, &self.counts] {
            integers::encode(column, effort, out)?;
        }
        Ok(())
    }

    fn read(reader: &mut Reader<'_>, series: usize) -> CodecResult<Self> {
        let mut columns = Self::default();
        let integers = |reader: &mut Reader<'_>, rows_max: usize, into: &mut Vec<i64>| {
            IntegerColumn::read(reader, rows_max)?.all(into)
        };
        integers(reader, series, &mut columns.flags)?;
        columns.sums = read_floats(reader, series)?;
        for _ in 0..reader.count("bounds lists", series)? {
            let bounds = reader.count("bounds", HISTOGRAM_BUCKETS_MAX)?;
            let list = (0..bounds).map(|_| reader.f64()).collect::<CodecResult<_>>()?;
            columns.lists.push(list);
        }
        integers(reader, series, &mut columns.list_of)?;
        integers(reader, PAGE_BUCKETS_MAX, &mut columns.explicit)?;
        integers(reader, series, &mut columns.scales)?;
        columns.thresholds = read_floats(reader, series)?;
        for column in [&mut columns.zeros, &mut columns.above, &mut columns.below] {
            integers(reader, series, column)?;
        }
        for column in [&mut columns.indices, &mut columns.counts] {
            integers(reader, PAGE_BUCKETS_MAX, column)?;
        }
        Ok(columns)
    }

    fn reader(&self) -> HistogramReader<'_> {
        HistogramReader {
            flags: self.flags.iter(),
            sums: self.sums.iter(),
            lists: &self.lists,
            list_of: self.list_of.iter(),
            explicit: self.explicit.iter(),
            scales: self.scales.iter(),
            thresholds: self.thresholds.iter(),
            zeros: self.zeros.iter(),
            above: self.above.iter(),
            below: self.below.iter(),
            indices: self.indices.iter(),
            counts: self.counts.iter(),
        }
    }
}

type Integers<'a> = std::slice::Iter<'a, i64>;
type Floats<'a> = std::slice::Iter<'a, f64>;

/// Decodes the columns, one histogram after the other.
struct HistogramReader<'a> {
    flags: Integers<'a>,
    sums: Floats<'a>,
    lists: &'a [Arc<[f64]>],
    list_of: Integers<'a>,
    explicit: Integers<'a>,
    scales: Integers<'a>,
    thresholds: Floats<'a>,
    zeros: Integers<'a>,
    above: Integers<'a>,
    below: Integers<'a>,
    indices: Integers<'a>,
    counts: Integers<'a>,
}

impl HistogramReader<'_> {
    fn next(&mut self) -> CodecResult<(Option<f64>, Counts)> {
        self.take()
            .ok_or_else(|| CodecError::new("histogram columns are truncated or out of range"))
    }

    fn take(&mut self) -> Option<(Option<f64>, Counts)> {
        let flags = *self.flags.next()?;
        let sum = if flags & HAS_SUM == 0 { None } else { Some(*self.sums.next()?) };
        let counts = if flags & EXPONENTIAL == 0 {
            let list = usize::try_from(*self.list_of.next()?).ok()?;
            let bounds = Arc::clone(self.lists.get(list)?);
            let counts: Box<[u64]> =
                self.explicit.by_ref().take(bounds.len() + 1).map(|n| n.cast_unsigned()).collect();
            if counts.len() != bounds.len() + 1 {
                return None;
            }
            Counts::Explicit { bounds, counts }
        } else {
            // An `i8` exceeds every valid scale, and the difference of two does not overflow.
            let scale = i32::from(i8::try_from(*self.scales.next()?).ok()?);
            let (above, below) = (*self.above.next()?, *self.below.next()?);
            Counts::Exponential(Exponential {
                scale,
                zero_threshold: *self.thresholds.next()?,
                zero: self.zeros.next()?.cast_unsigned(),
                positive: self.side(above)?,
                negative: self.side(below)?,
            })
        };
        counts.checked_total()?;
        sum.is_none_or(f64::is_finite).then_some((sum, counts))
    }

    fn side(&mut self, buckets: i64) -> Option<Side> {
        let mut index = 0i64;
        let side = (0..buckets).map(|_| {
            index = index.wrapping_add(*self.indices.next()?);
            Some((i32::try_from(index).ok()?, self.counts.next()?.cast_unsigned()))
        });
        side.collect()
    }
}

fn put_floats(values: &[f64], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    floats::encode(values, &Runs::new([values.len()]), effort, out)
}

fn read_floats(reader: &mut Reader<'_>, rows_max: usize) -> CodecResult<Vec<f64>> {
    let column = FloatColumn::read(reader, rows_max)?;
    let mut values = Vec::new();
    column.all(&Runs::new([column.rows()]), &mut values)?;
    Ok(values)
}

fn check_rows(found: usize, wanted: usize) -> CodecResult<()> {
    if found == wanted {
        Ok(())
    } else {
        Err(CodecError::new(format!("column has {found} rows instead of {wanted}")))
    }
}

fn series_id(id: i64) -> CodecResult<SeriesId> {
    u32::try_from(id).map(SeriesId).map_err(|_| CodecError::new("series id exceeds 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page<T>(number: u32, values: Vec<(u32, T)>) -> Page<T> {
        let mut page = Page::empty(SeriesId(number * PAGE_SERIES + 7));
        for (slot, value) in values {
            assert!(page.put(number, SeriesId(number * PAGE_SERIES + slot), value));
        }
        page
    }

    #[test]
    fn the_encoding_of_rows_is_stable() {
        let counter = |time, value| LastCounter { time: TimestampMs(time), value };
        let counters = page(1, vec![(0, counter(1000, 2.5)), (2, counter(1010, 7.0))]);
        let hex = |row: &[u8]| row.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
        let row = encode_counters(1, &counters, Effort::Seal).unwrap();
        let golden = "87 02 02 02 01 04 08 fe 00 02 01 d0 0f 04 a0 00 01 05 00 02 01 0a 04 90";
        assert_eq!(hex(&row[frame::HEADER_BYTES..]), golden);
        let explicit = Counts::Explicit { bounds: [1.0].into(), counts: [3, 4].into() };
        let exponential = Counts::Exponential(Exponential {
            scale: -1,
            zero_threshold: 0.5,
            zero: 9,
            positive: [(-2, 1), (5, 2)].into(),
            negative: [(0, 6)].into(),
        });
        let last =
            |time, sum, counts| Arc::new(LastHistogram { time: TimestampMs(time), sum, counts });
        let values = vec![(1, last(1000, Some(1.5), explicit)), (2, last(1000, None, exponential))];
        let row = encode_histograms(0, &page(0, values), Effort::Seal).unwrap();
        let golden = "07 02 02 00 02 02 00 d0 0f 02 01 02 01 02 00 01 0f 00 01 00 02 01 01 00 00 00 00 00 \
00 f0 3f 01 00 00 02 01 06 01 02 01 00 01 00 01 05 00 01 00 02 01 00 12 01 00 04 \
01 00 02 03 01 03 04 90 02 03 01 02 03 48 01";
        assert_eq!(hex(&row[frame::HEADER_BYTES..]), golden);
    }

    #[test]
    fn counters_of_one_agent_take_a_few_bytes_each() {
        let last = |slot| LastCounter {
            time: TimestampMs(1_700_000_000_000 + i64::from(slot) % 10 * 997),
            value: f64::from(slot * 7919 % 10_007 * 100),
        };
        let row = encode_counters(
            3,
            &page(3, (0..PAGE_SERIES).map(|s| (s, last(s))).collect()),
            Effort::Seal,
        );
        let bytes = row.unwrap().len();
        assert!(bytes <= 5 * PAGE_SERIES as usize, "{bytes} bytes");
    }

    #[test]
    fn a_page_of_the_largest_histograms_round_trips() {
        let explicit = |slot: u32| Counts::Explicit {
            bounds: (1..HISTOGRAM_BUCKETS_MAX).map(|b| (b as u32 * 1_000 + slot).into()).collect(),
            counts: (0..HISTOGRAM_BUCKETS_MAX).map(|b| b as u64 * 7_919 % 1_009).collect(),
        };
        let half = HISTOGRAM_BUCKETS_MAX as i32 / 2;
        let side: Side = (0..half).map(|i| (i * 31 - 9, u64::MAX >> 11)).collect();
        let exponential = || {
            let (positive, negative) = (side.clone(), side.clone());
            Counts::Exponential(Exponential {
                scale: 20,
                zero_threshold: 0.0,
                zero: 0,
                positive,
                negative,
            })
        };
        let last = |counts| {
            Arc::new(LastHistogram { time: TimestampMs(i64::MAX), sum: Some(f64::MAX), counts })
        };
        for exponentials in [false, true] {
            let of = |slot| if exponentials { exponential() } else { explicit(slot) };
            let page = page(9, (0..PAGE_SERIES).map(|slot| (slot, last(of(slot)))).collect());
            for effort in [Effort::Seal, Effort::Plain] {
                let row = encode_histograms(9, &page, effort).unwrap();
                assert!(decode_histograms(9, &row) == Ok(page.clone()));
            }
        }
    }

    #[test]
    fn a_page_with_one_series_over_the_limit_is_refused() {
        let read = |series: u32| {
            let mut head = Vec::new();
            put_varint(&mut head, 0);
            put_varint(&mut head, u64::from(series));
            for column in [vec![1; series as usize], vec![1_000; series as usize]] {
                integers::encode(&column, Effort::Plain, &mut head).unwrap();
            }
            read_head::<LastCounter>(&mut Reader::new(&head)).map(|(_, read)| read.len()).ok()
        };
        assert_eq!(read(PAGE_SERIES), Some(PAGE_SERIES as usize));
        assert_eq!(read(PAGE_SERIES + 1), None);
    }

    #[test]
    fn a_bounds_list_longer_than_a_histogram_is_refused() {
        let read = |bounds: usize| {
            let lists = vec![(0..bounds).map(|bound| bound as f64).collect()];
            let columns = HistogramColumns { lists, ..HistogramColumns::default() };
            let mut bytes = Vec::new();
            columns.encode(Effort::Plain, &mut bytes).unwrap();
            HistogramColumns::read(&mut Reader::new(&bytes), 1).map(|read| read.lists.len()).ok()
        };
        assert_eq!(read(HISTOGRAM_BUCKETS_MAX), Some(1));
        assert_eq!(read(HISTOGRAM_BUCKETS_MAX + 1), None);
    }

    fn counts() -> impl Strategy<Value = Counts> {
        let explicit = prop::collection::vec(0..1u64 << 40, 1..5).prop_map(|counts| {
            let bounds = (1..counts.len()).map(|bound| bound as f64).collect();
            Counts::Explicit { bounds, counts: counts.into() }
        });
        let side = || {
            prop::collection::btree_map(any::<i32>(), 1..1u64 << 40, 0..5)
                .prop_map(|side| side.into_iter().collect::<Side>())
        };
        let exponential = (-11i32..=20, 0.0..1.0f64, any::<u32>(), side(), side()).prop_map(
            |(scale, zero_threshold, zero, positive, negative)| {
                let zero = zero.into();
                Counts::Exponential(Exponential { scale, zero_threshold, zero, positive, negative })
            },
        );
        prop_oneof![explicit, exponential]
    }

    proptest! {
        #[test]
        fn any_counters_round_trip(
            number in 0u32..1 << 24,
            values in prop::collection::btree_map(0..PAGE_SERIES, (any::<i64>(), -1e9..1e9f64), 0..300),
        ) {
            let last = |(time, value)| LastCounter { time: TimestampMs(time), value };
            let page = page(number, values.into_iter().map(|(s, t)| (s, last(t))).collect());
            let row = encode_counters(number, &page, Effort::Seal).unwrap();
            prop_assert_eq!(decode_counters(number, &row), Ok(page.clone()));
            let elsewhere = decode_counters(number ^ 1, &row);
            prop_assert!(elsewhere.is_err() || page.iter(number).next().is_none());
        }

        #[test]
        fn any_histograms_round_trip(
            values in prop::collection::btree_map(
                0..PAGE_SERIES, (any::<i64>(), prop::option::of(-1e9..1e9f64), counts()), 0..40,
            ),
        ) {
            let last = |(time, sum, counts)| {
                Arc::new(LastHistogram { time: TimestampMs(time), sum, counts })
            };
            let page = page(5, values.into_iter().map(|(s, t)| (s, last(t))).collect());
            let row = encode_histograms(5, &page, Effort::Seal).unwrap();
            prop_assert_eq!(decode_histograms(5, &row), Ok(page));
        }

        #[test]
        fn any_bytes_are_an_error_or_a_page(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            for kind in [FrameKind::CounterLastValues, FrameKind::HistogramLastValues] {
                let mut row = Vec::new();
                let mark = frame::begin(&mut row, kind, VERSION);
                row.extend_from_slice(&bytes);
                frame::close(&mut row, mark);
                let _outcome = (decode_counters(0, &row), decode_histograms(0, &row));
            }
        }
    }
}
