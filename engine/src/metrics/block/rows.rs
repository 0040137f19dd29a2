//! Which rows of a block belong to which series, and when they happened.
//!
//! Rows are ordered by series id, within a series by time; increments of a counter may share a time. The
//! series of one agent share their times, so times are kept as a table of distinct [`vectors`] to which
//! the series refer. The metrics of one agent share them too: blocks of points leave vectors that are no start and step
//! to the pages of [`crate::metrics::times`], which all metrics of a window refer to.
//!
//! ```text
//! series count: varint
//! series ids: integers, each less the one before      row counts: integers
//! vector count: varint
//! vector of each series: integers
//! pages: varint, each: number of the page: varint
//! with pages only: where each vector is: integers     0 here, n in the nth page
//!                  place in its page of each vector that is in one: integers
//! the vectors that are here, see `vectors`
//! ```
//!
//! [`vectors`]: super::vectors

use std::sync::Arc;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::super::times::vectors::{
    self, Times, TimesCache, Vectors, differences, is_regular, read_column,
};
use super::info::BlockInfo;
use crate::codec::bytes::{Reader, put_varint};
use crate::codec::integers::{self, Effort};
use crate::codec::verified::expect_same;
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::limits::BLOCK_ROWS_MAX;
use crate::metrics::times::{PageNumber, PlaceInPage, TimePage};
use crate::model::SeriesId;

/// A vector shorter than this stays in its block: it is not worth a look elsewhere.
const SHARED_ROWS_MIN: usize = 32;

/// Collects the rows of a block, series by series.
#[derive(Debug, Default)]
pub(crate) struct RowsBuilder {
    series: Vec<u32>,
    counts: Vec<u32>,
    rows: usize,
    vector_of: Vec<u32>,
    /// Where each distinct vector lies in `times`.
    vectors: Vec<(usize, usize)>,
    times: Vec<i64>,
    by_hash: HashTable<(u64, u32)>,
    /// Whether the last series was the first with its vector.
    last_is_new: bool,
}

impl RowsBuilder {
    /// Adds a series with its times, ascending, or adds times to the last series. Series come in ascending order.
    pub(crate) fn push(&mut self, series: SeriesId, times: &[i64]) {
        if self.series.last() == Some(&series.0) {
            return self.extend(times);
        }
        debug_assert!(self.series.last().is_none_or(|last| *last < series.0), "series ascend");
        debug_assert!(times.is_sorted(), "times ascend");
        let vectors = self.vectors.len();
        let vector = self.vector(times);
        self.last_is_new = self.vectors.len() > vectors;
        self.series.push(series.0);
        self.counts.push(times.len() as u32);
        self.vector_of.push(vector);
        self.rows += times.len();
    }

    /// Adds times to the last series: its vector becomes another one.
    fn extend(&mut self, later: &[i64]) {
        let Some(vector) = self.vector_of.pop() else { return };
        let (start, end) = self.vectors.get(vector as usize).copied().unwrap_or_default();
        let mut times = self.times.get(start..end).unwrap_or_default().to_vec();
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
        let vector = self.vector(&times);
        self.last_is_new = self.vectors.len() > vectors;
        self.vector_of.push(vector);
        if let Some(count) = self.counts.last_mut() {
            *count = times.len() as u32;
        }
        self.rows += later.len();
    }

    fn vector(&mut self, times: &[i64]) -> u32 {
        let known = |vectors: &[(usize, usize)], all: &[i64], vector: u32| {
            vectors
                .get(vector as usize)
                .and_then(|(start, end)| all.get(*start..*end))
                .is_some_and(|stored| stored == times)
        };
        // Neighbours mostly report together.
        if let Some(&last) = self.vector_of.last()
            && known(&self.vectors, &self.times, last)
        {
            return last;
        }
        let hash = hash_of(times);
        let (vectors, all) = (&self.vectors, &self.times);
        let found = self.by_hash.find(hash, |(h, v)| *h == hash && known(vectors, all, *v));
        if let Some((_, vector)) = found {
            return *vector;
        }
        let vector = self.vectors.len() as u32;
        let start = self.times.len();
        self.times.extend_from_slice(times);
        self.vectors.push((start, self.times.len()));
        self.by_hash.insert_unique(hash, (hash, vector), |(h, _)| *h);
        vector
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The rows so far of a series, if it is the last one.
    pub(crate) fn rows_of_last(&self, series: SeriesId) -> Option<usize> {
        let last = self.series.last().filter(|last| **last == series.0);
        last.and(self.counts.last()).map(|rows| *rows as usize)
    }

    /// Bytes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.times.as_slice())
            + self.series.len() * 3 * size_of::<u32>()
            + self.vectors.len() * size_of::<((usize, usize), (u64, u32))>()
    }

    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// The row counts, series by series.
    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The first and the last time of all rows.
    pub(crate) fn time_bounds(&self) -> Option<(i64, i64)> {
        let ends = self.vectors.iter().filter_map(|(start, end)| {
            let vector = self.times.get(*start..*end)?;
            Some((*vector.first()?, *vector.last()?))
        });
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Appends the directory and the times. `share` may take a vector into a page that other blocks refer to.
    pub(crate) fn encode(
        &self,
        effort: Effort,
        mut share: impl FnMut(&[i64]) -> Option<PlaceInPage>,
        out: &mut Vec<u8>,
    ) -> CodecResult<()> {
        put_varint(out, self.series.len() as u64);
        integers::encode(&differences(self.series.iter().map(|s| i64::from(*s))), effort, out)?;
        let counts: Vec<i64> = self.counts.iter().map(|n| i64::from(*n)).collect();
        integers::encode(&counts, effort, out)?;
        put_varint(out, self.vectors.len() as u64);
        let vector_of: Vec<i64> = self.vector_of.iter().map(|v| i64::from(*v)).collect();
        integers::encode(&vector_of, effort, out)?;
        let (mut pages, mut homes, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut here = Vec::new();
        for (start, end) in &self.vectors {
            let vector = self.times.get(*start..*end).unwrap_or_default();
            let shared = (vector.len() >= SHARED_ROWS_MIN && !is_regular(vector))
                .then(|| share(vector))
                .flatten();
            let Some(PlaceInPage { page, place }) = shared else {
                homes.push(0);
                here.push(vector);
                continue;
            };
            let known = pages.iter().rposition(|p| *p == page).unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
            homes.push(known as i64 + 1);
            places.push(i64::from(place));
        }
        put_varint(out, pages.len() as u64);
        pages.iter().for_each(|page| put_varint(out, page.0));
        if !pages.is_empty() {
            integers::encode(&homes, effort, out)?;
            integers::encode(&places, effort, out)?;
        }
        vectors::encode(here.into_iter(), effort, out)
    }
}

fn hash_of(times: &[i64]) -> u64 {
    let hash = times.iter().fold(times.len() as u64, |hash, t| {
        (hash ^ *t as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    xxh3_64(&hash.to_le_bytes())
}

/// The rows of a block, opened.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    series: Vec<u32>,
    /// Where the rows of each series begin, and after them the number of rows.
    row_starts: Vec<u32>,
    vector_of: Vec<u32>,
    homes: Vec<Home>,
    pages: Vec<Page>,
    here: Vectors<'a>,
}

/// Where a vector is.
#[derive(Clone, Copy, Debug)]
enum Home {
    Here { number: usize },
    Page { page: usize, place: u32, len: usize },
}

/// A page that the block refers to.
#[derive(Debug)]
struct Page {
    number: PageNumber,
    /// Set by [`Rows::find_pages`].
    times: Option<Arc<TimePage>>,
}

impl<'a> Rows<'a> {
    /// Reads the rows that `reader` stands at.
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
            return Err(CodecError::new(format!("{rows} rows in a block")));
        }
        let vector_count = reader.count("time vectors", count)?;
        let vector_of = read_column(reader, count)?;
        let mut lengths = vec![0; vector_count];
        let vector_of = assign_vectors(&vector_of, &counts, &mut lengths)?;
        let (pages, homes) = read_homes(reader, &lengths)?;
        let here: Vec<usize> = homes
            .iter()
            .zip(&lengths)
            .filter_map(|(home, len)| matches!(home, Home::Here { .. }).then_some(*len))
            .collect();
        let here = Vectors::read(reader, &here, BLOCK_ROWS_MAX)?;
        Ok(Self { series, row_starts, vector_of, homes, pages, here })
    }

    /// Compares all of this with what was collected. `holds` says whether a vector is in its place in a page.
    pub(super) fn check(
        &self,
        written: &RowsBuilder,
        holds: impl Fn(PlaceInPage, &[i64]) -> CodecResult<bool>,
    ) -> CodecResult<()> {
        expect_same(self.series == written.series, "series")?;
        let counts = self.row_starts.windows(2).map(|w| w[1] - w[0]);
        expect_same(counts.eq(written.counts.iter().copied()), "row counts")?;
        expect_same(self.vector_of == written.vector_of, "time vectors of series")?;
        expect_same(self.homes.len() == written.vectors.len(), "numbers of time vectors")?;
        let mut cache = TimesCache::default();
        for (home, (start, end)) in self.homes.iter().zip(&written.vectors) {
            let vector = written.times.get(*start..*end).unwrap_or_default();
            let same = match *home {
                Home::Here { number } => self.here.times(number, &mut cache)?.is(vector),
                Home::Page { page, place, len } => match self.pages.get(page) {
                    Some(Page { number, .. }) if len == vector.len() => {
                        holds(PlaceInPage { page: *number, place }, vector)?
                    }
                    _ => false,
                },
            };
            expect_same(same, "times")?;
        }
        Ok(())
    }

    /// Checks that these are the rows that the description of a block speaks of. All pages must have been found.
    pub(super) fn check_info(&self, info: &BlockInfo, cache: &mut TimesCache) -> CodecResult<()> {
        let (mut first_time, mut last_time) = (i64::MAX, i64::MIN);
        for (index, rows) in self.counts().enumerate() {
            let times = self.times(index, cache)?;
            first_time = first_time.min(times.at(0));
            last_time = last_time.max(times.at(rows.saturating_sub(1)));
        }
        let series = (self.series.first().copied(), self.series.last().copied());
        let same = series == (Some(info.first_series), Some(info.last_series))
            && (self.series.len(), self.len()) == (info.series as usize, info.rows as usize)
            && (first_time, last_time) == (info.first_time.0, info.last_time.0);
        if same { Ok(()) } else { Err(CodecError::new("the rows are not those described")) }
    }

    /// Looks up the pages that the block refers to. Without them only the times that are here can be read.
    pub(crate) fn find_pages(
        &mut self,
        mut find: impl FnMut(PageNumber) -> Result<Arc<TimePage>>,
    ) -> Result<()> {
        for page in &mut self.pages {
            page.times = Some(find(page.number)?);
        }
        Ok(())
    }

    /// The places in pages that the block refers to.
    pub(super) fn places(&self) -> impl Iterator<Item = PlaceInPage> {
        self.homes.iter().filter_map(|home| match *home {
            Home::Here { .. } => None,
            Home::Page { page, place, .. } => {
                Some(PlaceInPage { page: self.pages.get(page)?.number, place })
            }
        })
    }

    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.row_starts.last().map_or(0, |n| *n as usize)
    }

    /// The rows of the series at `index` of [`Self::series`].
    pub(crate) fn rows_of(&self, index: usize) -> std::ops::Range<usize> {
        match self.row_starts.get(index..index + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The rows of the series at `index` of [`Self::series`] with `start <= time < end`.
    pub(crate) fn rows_between(
        &self,
        index: usize,
        start: i64,
        end: i64,
        cache: &mut TimesCache,
    ) -> CodecResult<std::ops::Range<usize>> {
        let first = self.rows_of(index).start;
        let times = self.times(index, cache)?;
        Ok(first + times.lower_bound(start)..first + times.lower_bound(end))
    }

    /// The row counts, series by series.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.row_starts.windows(2).map(|w| (w[1] - w[0]) as usize)
    }

    /// The times of the series at `index` of [`Self::series`].
    pub(crate) fn times<'c>(
        &'c self,
        index: usize,
        cache: &'c mut TimesCache,
    ) -> CodecResult<Times<'c>> {
        let vector = self.vector_of.get(index).and_then(|n| self.homes.get(*n as usize));
        match vector {
            Some(Home::Here { number }) => self.here.times(*number, cache),
            Some(Home::Page { page, place, len }) => {
                let page = self.pages.get(*page).and_then(|page| page.times.as_deref());
                let times = page.and_then(|page| page.vector(*place)).filter(|t| t.len() == *len);
                let missing = || CodecError::new("a page of times does not hold what it should");
                times.map(Times::List).ok_or_else(missing)
            }
            None => Err(CodecError::new(format!("no series {index} in the block"))),
        }
    }
}

/// Where each vector of these lengths is.
fn read_homes(reader: &mut Reader<'_>, lengths: &[usize]) -> CodecResult<(Vec<Page>, Vec<Home>)> {
    let count = reader.count("pages of times", lengths.len())?;
    if count == 0 {
        return Ok((Vec::new(), (0..lengths.len()).map(|number| Home::Here { number }).collect()));
    }
    let pages = (0..count)
        .map(|_| Ok(Page { number: PageNumber(reader.varint()?), times: None }))
        .collect::<CodecResult<Vec<_>>>()?;
    let homes = read_column(reader, lengths.len())?;
    let mut places =
        read_column(reader, homes.iter().filter(|home| **home != 0).count())?.into_iter();
    let mut here = 0..;
    let homes = homes.iter().zip(lengths).map(|(home, len)| {
        let Some(page) = usize::try_from(*home).ok().filter(|home| *home <= count) else {
            return Err(CodecError::new(format!("a vector in page {home} of {count}")));
        };
        match page.checked_sub(1) {
            None => Ok(Home::Here { number: here.next().unwrap_or_default() }),
            Some(page) => {
                let place = places.next().and_then(|place| u32::try_from(place).ok());
                let place = place.ok_or_else(|| CodecError::new("a place outside of all pages"))?;
                Ok(Home::Page { page, place, len: *len })
            }
        }
    });
    let homes = homes.collect::<CodecResult<Vec<_>>>()?;
    Ok((pages, homes))
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

/// Checks the vector of each series and learns from the series how long each vector is.
fn assign_vectors(of: &[i64], counts: &[i64], lengths: &mut [usize]) -> CodecResult<Vec<u32>> {
    of.iter()
        .zip(counts)
        .map(|(number, rows)| {
            let length = usize::try_from(*number).ok().and_then(|n| lengths.get_mut(n));
            match length {
                Some(length) if *length == 0 || *length == *rows as usize => {
                    *length = *rows as usize;
                    Ok(*number as u32)
                }
                _ => Err(CodecError::new("a series and its time vector do not fit")),
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
        let mut cache = TimesCache::default();
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
    fn shared_regular_times_take_next_to_nothing() {
        let ticks: Vec<i64> = (0..8640).map(|i| 1_700_000_000_000 + i * 10_000).collect();
        let series: Vec<_> = (0..10).map(|s| (s * 3, ticks.clone())).collect();
        assert!(check(&series) < 60);
    }

    #[test]
    fn jitter_costs_what_it_holds() {
        let ticks: Vec<i64> = (0..8000).map(|i| i * 10_000 + i * i % 37).collect();
        assert!(check(&[(1, ticks)]) < 8000);
    }

    #[test]
    fn single_points_and_gaps() {
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
        fn any_bytes_are_an_error_or_rows(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(rows) = Rows::read(&mut Reader::new(&bytes)) {
                for i in 0..rows.series().len() {
                    let _outcome = rows.times(i, &mut TimesCache::default());
                }
            }
        }
    }
}
