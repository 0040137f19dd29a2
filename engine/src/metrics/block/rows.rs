//! The rows of a block: the series each row belongs to, and its time.
//!
//! Rows are ordered by series id, then by time; deltas of a counter may share a time. The series of
//! one agent have the same times, so a block stores a table of distinct time [`vectors`] that its
//! series refer to. The metrics of an agent share times too: in blocks of samples, irregular
//! vectors are stored in the time pages of [`crate::metrics::times`], which the blocks of all
//! metrics of a window refer to.
//!
//! ```text
//! series count: varint
//! series ids: integers, differences                   row counts: integers
//! vector count: varint
//! vector of each series: integers
//! pages: varint, each: page number: varint
//! unless pages is 0: location of each vector: integers, 0 in the block, n in the nth page
//!                   index in its page of each vector in a page: integers
//! the vectors in the block, see `times::vectors`
//! ```

use std::sync::Arc;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::super::times::vectors::{
    self, Times, TimesCache, Vectors, differences, is_regular, read_column,
};
use super::info::BlockInfo;
use crate::cast::{length, to_u32};
use crate::codec::bytes::{Reader, put_varint};
use crate::codec::integers::{self, Effort};
use crate::codec::verified::expect_same;
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::limits::BLOCK_ROWS_MAX;
use crate::metrics::times::{PageNumber, TimePage, TimeVectorRef};
use crate::model::SeriesId;

/// The most series of a block that take few of the rows of a page.
pub(crate) const FEW_SERIES: usize = 2;
/// Shorter vectors are stored in the block: sharing them would not save enough to justify the
/// lookup.
const SHARED_ROWS_MIN: usize = 32;

/// Collects the rows of a block, series by series.
#[derive(Debug, Default)]
pub(crate) struct RowsBuilder {
    series: Vec<u32>,
    counts: Vec<u32>,
    rows: usize,
    vector_of: Vec<u32>,
    /// For each distinct vector, its range in `times`.
    vectors: Vec<(usize, usize)>,
    times: Vec<i64>,
    by_hash: HashTable<(u64, u32)>,
    /// Whether the last series added the last vector.
    last_is_new: bool,
}

impl RowsBuilder {
    /// Adds a series with its ascending times, or further times of the last series. Series ids
    /// ascend.
    pub(crate) fn push(&mut self, series: SeriesId, times: &[i64]) {
        if self.series.last() == Some(&series.0) {
            return self.extend(times);
        }
        debug_assert!(self.series.last().is_none_or(|last| *last < series.0), "series ids ascend");
        debug_assert!(times.is_sorted(), "times ascend");
        let vectors = self.vectors.len();
        let vector = self.find_or_add_vector(times);
        self.last_is_new = self.vectors.len() > vectors;
        self.series.push(series.0);
        self.counts.push(to_u32(times.len()));
        self.vector_of.push(vector);
        self.rows += times.len();
    }

    /// Appends times to the last series, which gets another vector.
    fn extend(&mut self, later: &[i64]) {
        let Some(vector) = self.vector_of.pop() else {
            panic!("a series without times is extended")
        };
        let (start, end) = self.vectors[vector as usize];
        let mut times = self.times[start..end].to_vec();
        if self.last_is_new {
            let hash = hash_of(&times);
            if let Ok(known) = self.by_hash.find_entry(hash, |(_, v)| *v == vector) {
                known.remove();
            }
            self.vectors.pop();
            self.times.truncate(start);
        }
        times.extend_from_slice(later);
        debug_assert!(times.is_sorted(), "times ascend");
        let vectors = self.vectors.len();
        let vector = self.find_or_add_vector(&times);
        self.last_is_new = self.vectors.len() > vectors;
        self.vector_of.push(vector);
        if let Some(count) = self.counts.last_mut() {
            *count = to_u32(times.len());
        }
        self.rows += later.len();
    }

    fn find_or_add_vector(&mut self, times: &[i64]) -> u32 {
        let is_equal = |vectors: &[(usize, usize)], all: &[i64], vector: u32| {
            vectors
                .get(vector as usize)
                .and_then(|(start, end)| all.get(*start..*end))
                .is_some_and(|stored| stored == times)
        };
        // Neighboring series are mostly reported together.
        if let Some(&last) = self.vector_of.last()
            && is_equal(&self.vectors, &self.times, last)
        {
            return last;
        }
        let hash = hash_of(times);
        let (vectors, all) = (&self.vectors, &self.times);
        let found = self.by_hash.find(hash, |(h, v)| *h == hash && is_equal(vectors, all, *v));
        if let Some((_, vector)) = found {
            return *vector;
        }
        let vector = to_u32(self.vectors.len());
        let start = self.times.len();
        self.times.extend_from_slice(times);
        self.vectors.push((start, self.times.len()));
        self.by_hash.insert_unique(hash, (hash, vector), |(h, _)| *h);
        vector
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows of `series`, if it is the last one.
    pub(crate) fn rows_of_last(&self, series: SeriesId) -> Option<usize> {
        let last = self.series.last().filter(|last| **last == series.0);
        last.and(self.counts.last()).map(|rows| *rows as usize)
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.times.as_slice())
            + self.series.len() * 3 * size_of::<u32>()
            + self.vectors.len() * size_of::<((usize, usize), (u64, u32))>()
    }

    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// Returns the row count of each series.
    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the first and the last time of all rows.
    pub(crate) fn time_bounds(&self) -> Option<(i64, i64)> {
        let ends = self.vectors.iter().filter_map(|(start, end)| {
            let vector = self.times.get(*start..*end)?;
            Some((*vector.first()?, *vector.last()?))
        });
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Appends the series, the row counts and the times. `share` may store a vector in a time page
    /// and return where.
    pub(crate) fn encode(
        &self,
        effort: Effort,
        mut share: impl FnMut(&[i64]) -> Option<TimeVectorRef>,
        out: &mut Vec<u8>,
    ) -> CodecResult<()> {
        put_varint(out, self.series.len() as u64);
        integers::encode(&differences(self.series.iter().map(|s| i64::from(*s))), effort, out)?;
        let counts: Vec<i64> = self.counts.iter().map(|n| i64::from(*n)).collect();
        integers::encode(&counts, effort, out)?;
        put_varint(out, self.vectors.len() as u64);
        let vector_of: Vec<i64> = self.vector_of.iter().map(|v| i64::from(*v)).collect();
        integers::encode(&vector_of, effort, out)?;
        let (mut pages, mut locations, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut local = Vec::new();
        for (start, end) in &self.vectors {
            let vector = &self.times[*start..*end];
            let shared = (vector.len() >= SHARED_ROWS_MIN && !is_regular(vector))
                .then(|| share(vector))
                .flatten();
            let Some(TimeVectorRef { page, place }) = shared else {
                locations.push(0);
                local.push(vector);
                continue;
            };
            let index = pages.iter().rposition(|p| *p == page).unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
            locations.push(length(index) + 1);
            places.push(i64::from(place));
        }
        put_varint(out, pages.len() as u64);
        pages.iter().for_each(|page| put_varint(out, page.0));
        if !pages.is_empty() {
            integers::encode(&locations, effort, out)?;
            integers::encode(&places, effort, out)?;
        }
        vectors::encode(local.into_iter(), effort, out)
    }
}

fn hash_of(times: &[i64]) -> u64 {
    let hash = times.iter().fold(times.len() as u64, |hash, t| {
        (hash ^ t.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    xxh3_64(&hash.to_le_bytes())
}

/// The opened rows of a block.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    series: Vec<u32>,
    /// The first row of each series, then the number of rows.
    row_starts: Vec<u32>,
    vector_of: Vec<u32>,
    locations: Vec<VectorLocation>,
    pages: Vec<PageNumber>,
    local: Vectors<'a>,
}

/// Where a time vector is stored.
#[derive(Clone, Copy, Debug)]
enum VectorLocation {
    Local { number: usize },
    Shared { page: usize, place: u32, len: usize },
}

/// The times of a block as far as they are in memory: the time pages that the block refers to,
/// once [`Rows::load_pages`] has found them, and what was decoded last of the others.
#[derive(Debug, Default)]
pub(super) struct BlockTimes {
    pages: Vec<Arc<TimePage>>,
    decoded: TimesCache,
}

impl<'a> Rows<'a> {
    /// Reads the rows at the position of `reader`.
    pub(crate) fn read(reader: &mut Reader<'a>) -> CodecResult<Self> {
        let count = reader.count("series", BLOCK_ROWS_MAX)?;
        let series = read_ids(reader, count)?;
        let counts = read_column(reader, count)?;
        let mut row_starts = Vec::with_capacity(count + 1);
        let mut rows = 0u32;
        row_starts.push(rows);
        for n in &counts {
            let n = u32::try_from(*n).ok().filter(|n| *n > 0).unwrap_or(u32::MAX);
            rows = rows.saturating_add(n);
            row_starts.push(rows);
        }
        if rows as usize > BLOCK_ROWS_MAX {
            return Err(CodecError::new(format!(
                "a block has {rows} rows, at most {BLOCK_ROWS_MAX} are allowed"
            )));
        }
        let vector_count = reader.count("time vectors", count)?;
        let vector_of = read_column(reader, count)?;
        let mut lengths = vec![0; vector_count];
        let vector_of = assign_vectors(&vector_of, &counts, &mut lengths)?;
        let (pages, locations) = read_locations(reader, &lengths)?;
        let local: Vec<usize> = locations
            .iter()
            .zip(&lengths)
            .filter_map(|(location, len)| {
                matches!(location, VectorLocation::Local { .. }).then_some(*len)
            })
            .collect();
        let local = Vectors::read(reader, &local, BLOCK_ROWS_MAX)?;
        Ok(Self { series, row_starts, vector_of, locations, pages, local })
    }

    /// Compares the rows with those that were encoded. `holds` returns whether a location in a time
    /// page has the given times.
    pub(super) fn check(
        &self,
        written: &RowsBuilder,
        holds: impl Fn(TimeVectorRef, &[i64]) -> CodecResult<bool>,
    ) -> CodecResult<()> {
        expect_same(self.series == written.series, "series")?;
        let counts = self.row_starts.windows(2).map(|w| w[1] - w[0]);
        expect_same(counts.eq(written.counts.iter().copied()), "row counts")?;
        expect_same(self.vector_of == written.vector_of, "time vectors of series")?;
        expect_same(self.locations.len() == written.vectors.len(), "counts of time vectors")?;
        let mut cache = TimesCache::default();
        for (location, (start, end)) in self.locations.iter().zip(&written.vectors) {
            let vector = &written.times[*start..*end];
            let same = match *location {
                VectorLocation::Local { number } => {
                    self.local.times(number, &mut cache)?.is(vector)
                }
                VectorLocation::Shared { page, place, len } => match self.pages.get(page) {
                    Some(number) if len == vector.len() => {
                        holds(TimeVectorRef { page: *number, place }, vector)?
                    }
                    _ => false,
                },
            };
            expect_same(same, "times")?;
        }
        Ok(())
    }

    /// Checks that the rows match the block info. All time pages must have been loaded.
    pub(super) fn check_info(&self, info: &BlockInfo, times: &mut BlockTimes) -> CodecResult<()> {
        let (mut first_time, mut last_time) = (i64::MAX, i64::MIN);
        for (index, rows) in self.counts().enumerate() {
            let times = self.times(index, times)?;
            first_time = first_time.min(times.at(0));
            last_time = last_time.max(times.at(rows.saturating_sub(1)));
        }
        let series = (self.series.first().copied(), self.series.last().copied());
        let same = series == (Some(info.first_series), Some(info.last_series))
            && (self.series.len(), self.len()) == (info.series as usize, info.rows as usize)
            && (first_time, last_time) == (info.first_time.0, info.last_time.0);
        if same { Ok(()) } else { Err(CodecError::new("the rows do not match the block info")) }
    }

    /// Returns the time pages that the block refers to.
    pub(super) fn pages(&self) -> &[PageNumber] {
        &self.pages
    }

    /// Finds the time pages that the block refers to. Without them, only times stored in the block
    /// can be read.
    pub(super) fn load_pages(
        &self,
        find: impl FnMut(PageNumber) -> Result<Arc<TimePage>>,
    ) -> Result<BlockTimes> {
        let pages = self.pages.iter().copied().map(find).collect::<Result<_>>()?;
        Ok(BlockTimes { pages, decoded: TimesCache::default() })
    }

    /// Returns the locations in time pages that the block refers to.
    pub(super) fn places(&self) -> impl Iterator<Item = TimeVectorRef> {
        self.locations.iter().filter_map(|location| match *location {
            VectorLocation::Local { .. } => None,
            VectorLocation::Shared { page, place, .. } => {
                Some(TimeVectorRef { page: *self.pages.get(page)?, place })
            }
        })
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        let Self { series, row_starts, vector_of, locations, pages, local } = self;
        let ids = series.capacity() + row_starts.capacity() + vector_of.capacity();
        ids * size_of::<u32>()
            + locations.capacity() * size_of::<VectorLocation>()
            + pages.capacity() * size_of::<PageNumber>()
            + local.bytes()
    }

    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.row_starts.last().map_or(0, |n| *n as usize)
    }

    /// Returns the rows of the series at `index` of [`Self::series`].
    pub(crate) fn rows_of(&self, index: usize) -> std::ops::Range<usize> {
        match self.row_starts.get(index..index + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// Returns the rows of the series at `index` of [`Self::series`] with `start <= time < end`.
    pub(super) fn rows_between(
        &self,
        index: usize,
        start: i64,
        end: i64,
        times: &mut BlockTimes,
    ) -> CodecResult<std::ops::Range<usize>> {
        let first = self.rows_of(index).start;
        let times = self.times(index, times)?;
        Ok(first + times.lower_bound(start)..first + times.lower_bound(end))
    }

    /// Returns whether no times have to be decoded to find rows.
    pub(super) fn has_times_at_hand(&self) -> bool {
        self.local.are_regular()
    }

    /// Returns the row count of each series.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.row_starts.windows(2).map(|w| (w[1] - w[0]) as usize)
    }

    /// Returns the times of the series at `index` of [`Self::series`].
    pub(super) fn times<'c>(
        &self,
        index: usize,
        times: &'c mut BlockTimes,
    ) -> CodecResult<Times<'c>> {
        let vector = self.vector_of.get(index).and_then(|n| self.locations.get(*n as usize));
        match vector {
            Some(VectorLocation::Local { number }) => self.local.times(*number, &mut times.decoded),
            Some(VectorLocation::Shared { page, place, len }) => {
                let page = times.pages.get(*page);
                let times = page.and_then(|page| page.vector(*place)).filter(|t| t.len() == *len);
                let missing = || CodecError::new("a time page lacks a vector of the block");
                times.map(Times::List).ok_or_else(missing)
            }
            None => Err(CodecError::new(format!("the block has no series {index}"))),
        }
    }
}

/// Reads the location of each vector; the vectors have these lengths.
fn read_locations(
    reader: &mut Reader<'_>,
    lengths: &[usize],
) -> CodecResult<(Vec<PageNumber>, Vec<VectorLocation>)> {
    let count = reader.count("time pages", lengths.len())?;
    if count == 0 {
        return Ok((
            Vec::new(),
            (0..lengths.len()).map(|number| VectorLocation::Local { number }).collect(),
        ));
    }
    let pages =
        (0..count).map(|_| Ok(PageNumber(reader.varint()?))).collect::<CodecResult<Vec<_>>>()?;
    let locations = read_column(reader, lengths.len())?;
    let mut places =
        read_column(reader, locations.iter().filter(|location| **location != 0).count())?
            .into_iter();
    let mut local = 0..;
    let locations = locations.iter().zip(lengths).map(|(location, len)| {
        let Some(page) = usize::try_from(*location).ok().filter(|location| *location <= count)
        else {
            return Err(CodecError::new(format!("a time vector is in page {location} of {count}")));
        };
        match page.checked_sub(1) {
            None => Ok(VectorLocation::Local { number: local.next().unwrap_or_default() }),
            Some(page) => {
                let place = places.next().and_then(|place| u32::try_from(place).ok());
                let place = place.ok_or_else(|| {
                    CodecError::new("invalid location of a vector in a time page")
                })?;
                Ok(VectorLocation::Shared { page, place, len: *len })
            }
        }
    });
    let locations = locations.collect::<CodecResult<Vec<_>>>()?;
    Ok((pages, locations))
}

fn read_ids(reader: &mut Reader<'_>, count: usize) -> CodecResult<Vec<u32>> {
    let mut id = 0i64;
    read_column(reader, count)?
        .into_iter()
        .enumerate()
        .map(|(i, delta)| {
            id = id.wrapping_add(delta);
            u32::try_from(id)
                .ok()
                .filter(|_| i == 0 || delta > 0)
                .ok_or_else(|| CodecError::new("series ids do not ascend"))
        })
        .collect()
}

/// Checks the vector of each series, and derives the length of each vector from its series.
fn assign_vectors(of: &[i64], counts: &[i64], lengths: &mut [usize]) -> CodecResult<Vec<u32>> {
    of.iter()
        .zip(counts)
        .map(|(number, rows)| {
            let length = usize::try_from(*number).ok().and_then(|n| lengths.get_mut(n));
            let numbers = (u32::try_from(*number), usize::try_from(*rows));
            match (length, numbers) {
                (Some(length), (Ok(number), Ok(rows))) if *length == 0 || *length == rows => {
                    *length = rows;
                    Ok(number)
                }
                _ => Err(CodecError::new("a series and its time vector differ in length")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(series: &[(u32, Vec<i64>)]) -> usize {
        let mut builder = RowsBuilder::default();
        for (id, times) in series {
            builder.push(SeriesId(*id), times);
        }
        let mut bytes = Vec::new();
        builder.encode(Effort::Seal, |_| None, &mut bytes).unwrap();
        let mut reader = Reader::new(&bytes);
        let rows = Rows::read(&mut reader).unwrap();
        reader.finish().unwrap();
        let mut cache = BlockTimes::default();
        let mut at = 0;
        assert_eq!(rows.series().len(), series.len());
        for (i, (id, times)) in series.iter().enumerate() {
            assert_eq!(rows.series()[i], *id);
            assert_eq!(rows.rows_of(i), at..at + times.len());
            at += times.len();
            let read = rows.times(i, &mut cache).unwrap();
            assert_eq!((0..times.len()).map(|r| read.at(r)).collect::<Vec<_>>(), *times);
            for probe in times.iter().flat_map(|t| [t - 1, *t, t + 1]) {
                assert_eq!(read.lower_bound(probe), times.partition_point(|t| *t < probe));
            }
        }
        assert_eq!(rows.len(), at);
        bytes.len()
    }

    #[test]
    fn ten_series_with_shared_regular_times_take_under_60_bytes() {
        let ticks: Vec<i64> = (0..8640).map(|i| 1_700_000_000_000 + i * 10_000).collect();
        let series: Vec<_> = (0..10).map(|s| (s * 3, ticks.clone())).collect();
        assert!(check(&series) < 60);
    }

    #[test]
    fn jitter_of_six_bits_takes_under_a_byte_per_row() {
        let ticks: Vec<i64> = (0..8000).map(|i| i * 10_000 + i * i % 37).collect();
        assert!(check(&[(1, ticks)]) < 8000);
    }

    #[test]
    fn single_rows_and_gaps_round_trip() {
        check(&[]);
        check(&[(0, vec![0]), (1, vec![5]), (u32::MAX, vec![1, 2, 4, 8, 1000])]);
    }

    #[test]
    fn a_block_with_a_row_more_than_the_limit_is_refused() {
        for (len, fits) in [(BLOCK_ROWS_MAX, true), (BLOCK_ROWS_MAX + 1, false)] {
            let (mut long, mut wide) = (RowsBuilder::default(), RowsBuilder::default());
            long.push(SeriesId(7), &(0..len as i64).collect::<Vec<_>>());
            (0..len as u32).for_each(|series| wide.push(SeriesId(series), &[5]));
            for (name, builder) in [("long", long), ("wide", wide)] {
                let mut bytes = Vec::new();
                builder.encode(Effort::Plain, |_| None, &mut bytes).unwrap();
                let read = Rows::read(&mut Reader::new(&bytes)).map(|rows| rows.len());
                assert_eq!(read.ok(), fits.then_some(len), "{name}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_rows_round_trip(
            series in proptest::collection::btree_map(
                any::<u32>(),
                proptest::collection::btree_set(0i64..5_000, 1..80),
                0..20,
            )
        ) {
            let series: Vec<_> =
                series.into_iter().map(|(s, t)| (s, t.into_iter().collect())).collect();
            check(&series);
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(rows) = Rows::read(&mut Reader::new(&bytes)) {
                for i in 0..rows.series().len() {
                    let _outcome = rows.times(i, &mut BlockTimes::default());
                }
            }
        }
    }
}
