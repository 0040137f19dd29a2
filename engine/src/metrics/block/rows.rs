//! Which rows of a block belong to which series, and when they happened.
//!
//! Rows are ordered by series id, within a series by time; increments of a counter may share a time. The
//! series of one agent share their times, so times are kept as a table of distinct *vectors* to which
//! the series refer; a regular vector is a start and a step, others are what is left of each time after
//! a step is taken away.
//!
//! ```text
//! series count: varint
//! series ids: integers, each less the one before      row counts: integers
//! vector count: varint
//! vector of each series: integers
//! starts: integers, each less the one before          steps: integers        shapes: integers
//!   shape 0 regular   start + i·step
//!   shape 1 grid      start + i·step + residual[i]
//!   shape 2 walk      time before + step + residual[i]
//! residuals: integers, one per row of every vector that is not regular
//! ```

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::bytes::{Reader, put_varint};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::model::SeriesId;

/// Rows of a block: what a pco chunk wants, and little enough to build and read in one piece.
pub(crate) const BLOCK_ROWS_MAX: usize = 1 << 17;

const REGULAR: i64 = 0;
const GRID: i64 = 1;
const WALK: i64 = 2;

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
}

impl RowsBuilder {
    /// Adds a series with its times, ascending. Series come in ascending order, each once.
    pub(crate) fn push(&mut self, series: SeriesId, times: &[i64]) {
        debug_assert!(self.series.last().is_none_or(|last| *last < series.0), "series ascend");
        debug_assert!(times.is_sorted(), "times ascend");
        let vector = self.vector(times);
        self.series.push(series.0);
        self.counts.push(times.len() as u32);
        self.vector_of.push(vector);
        self.rows += times.len();
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
        let hash = times.iter().fold(times.len() as u64, |hash, t| {
            (hash ^ *t as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        let hash = xxh3_64(&hash.to_le_bytes());
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

    /// Appends the directory and the times.
    pub(crate) fn encode(&self, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        put_varint(out, self.series.len() as u64);
        integers::encode(&differences(self.series.iter().map(|s| i64::from(*s))), effort, out)?;
        let counts: Vec<i64> = self.counts.iter().map(|n| i64::from(*n)).collect();
        integers::encode(&counts, effort, out)?;
        put_varint(out, self.vectors.len() as u64);
        let vector_of: Vec<i64> = self.vector_of.iter().map(|v| i64::from(*v)).collect();
        integers::encode(&vector_of, effort, out)?;
        let (mut starts, mut steps, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
        let mut residuals = Vec::new();
        for (start, end) in &self.vectors {
            let vector = self.times.get(*start..*end).unwrap_or_default();
            let (step, shape) = fit(vector, &mut residuals);
            starts.push(vector.first().copied().unwrap_or_default());
            steps.push(step);
            shapes.push(shape);
        }
        integers::encode(&differences(starts.into_iter()), effort, out)?;
        integers::encode(&steps, effort, out)?;
        integers::encode(&shapes, effort, out)?;
        integers::encode(&residuals, effort, out)
    }
}

fn differences(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    values.map(|v| v - std::mem::replace(&mut before, v)).collect()
}

/// Chooses step and shape of a vector and appends its residuals, none when it is regular.
fn fit(times: &[i64], residuals: &mut Vec<i64>) -> (i64, i64) {
    let [first, second, ..] = *times else { return (0, REGULAR) };
    let step = second - first;
    if times.windows(2).all(|w| w[1] - w[0] == step) {
        return (step, REGULAR);
    }
    let last = times.last().copied().unwrap_or(first);
    let grid_step = (last - first) / (times.len() as i64 - 1);
    let grid = || times.iter().enumerate().map(|(i, t)| t - first - i as i64 * grid_step);
    let mut gaps: Vec<i64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let middle = gaps.len() / 2;
    let walk_step = *gaps.select_nth_unstable(middle).1;
    let walk = || std::iter::once(0).chain(times.windows(2).map(|w| w[1] - w[0] - walk_step));
    let bits = |v: i64| 64 - v.unsigned_abs().leading_zeros();
    if grid().map(bits).sum::<u32>() < walk().map(bits).sum::<u32>() {
        residuals.extend(grid());
        (grid_step, GRID)
    } else {
        residuals.extend(walk());
        (walk_step, WALK)
    }
}

/// The rows of a block, opened.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    series: Vec<u32>,
    /// Where the rows of each series begin, and after them the number of rows.
    row_starts: Vec<u32>,
    vector_of: Vec<u32>,
    vectors: Vec<Vector>,
    residuals: IntegerColumn<'a>,
}

#[derive(Clone, Copy, Debug)]
struct Vector {
    start: i64,
    step: i64,
    shape: i64,
    len: usize,
    residuals_from: usize,
}

/// The times of the rows of one series.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Times<'a> {
    /// `start + i·step` for `i` below `len`.
    Regular { start: i64, step: i64, len: usize },
    /// Any ascending times.
    List(&'a [i64]),
}

/// Keeps the vector decoded last, so that series that share it decode it once.
#[derive(Debug, Default)]
pub(crate) struct TimesCache {
    vector: Option<u32>,
    times: Vec<i64>,
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
        let starts = read_column(reader, vector_count)?;
        let steps = read_column(reader, vector_count)?;
        let shapes = read_column(reader, vector_count)?;
        let residuals = IntegerColumn::read(reader, BLOCK_ROWS_MAX)?;
        let mut vectors = Vec::with_capacity(vector_count);
        let mut start = 0i64;
        for ((delta, step), shape) in starts.iter().zip(&steps).zip(&shapes) {
            start = start.wrapping_add(*delta);
            vectors.push(Vector { start, step: *step, shape: *shape, len: 0, residuals_from: 0 });
        }
        let vector_of = assign_vectors(&vector_of, &counts, &mut vectors)?;
        let mut residuals_from = 0;
        for vector in vectors.iter_mut().filter(|v| v.shape != REGULAR) {
            vector.residuals_from = residuals_from;
            residuals_from += vector.len;
        }
        if residuals_from != residuals.rows() {
            return Err(CodecError::new(format!(
                "{residuals_from} residuals of times wanted, {} there",
                residuals.rows()
            )));
        }
        Ok(Self { series, row_starts, vector_of, vectors, residuals })
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
        &self,
        index: usize,
        cache: &'c mut TimesCache,
    ) -> CodecResult<Times<'c>> {
        let number = self.vector_of.get(index).copied();
        let found = number.and_then(|n| self.vectors.get(n as usize));
        let Some(vector) = found else {
            return Err(CodecError::new(format!("no series {index} in the block")));
        };
        let Vector { start, step, len, .. } = *vector;
        if vector.shape == REGULAR {
            return Ok(Times::Regular { start, step, len });
        }
        if cache.vector != number {
            cache.vector = None;
            self.decode_times(vector, &mut cache.times)?;
            cache.vector = number;
        }
        Ok(Times::List(&cache.times))
    }

    fn decode_times(&self, vector: &Vector, out: &mut Vec<i64>) -> CodecResult<()> {
        out.clear();
        let mut page = Vec::new();
        let (from, to) = (vector.residuals_from, vector.residuals_from + vector.len);
        let page_rows = integers::PAGE_ROWS;
        for index in from / page_rows..to.div_ceil(page_rows) {
            self.residuals.page(index, &mut page)?;
            let first = index * page_rows;
            let slice = page.get(from.max(first) - first..(to - first).min(page.len()));
            out.extend_from_slice(slice.unwrap_or_default());
        }
        match vector.shape {
            GRID => {
                let mut at = vector.start;
                for time in out.iter_mut() {
                    *time = time.wrapping_add(at);
                    at = at.wrapping_add(vector.step);
                }
            }
            WALK => {
                // The first residual is zero and has no gap before it.
                let mut at = vector.start.wrapping_sub(vector.step);
                for time in out.iter_mut() {
                    at = at.wrapping_add(vector.step).wrapping_add(*time);
                    *time = at;
                }
            }
            shape => return Err(CodecError::new(format!("time vector of shape {shape}"))),
        }
        if out.is_sorted() { Ok(()) } else { Err(CodecError::new("times do not ascend")) }
    }
}

fn read_column(reader: &mut Reader<'_>, rows: usize) -> CodecResult<Vec<i64>> {
    let mut out = Vec::new();
    IntegerColumn::read_exactly(reader, rows)?.all(&mut out)?;
    Ok(out)
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
fn assign_vectors(of: &[i64], counts: &[i64], vectors: &mut [Vector]) -> CodecResult<Vec<u32>> {
    of.iter()
        .zip(counts)
        .map(|(number, rows)| {
            let vector = usize::try_from(*number).ok().and_then(|n| vectors.get_mut(n));
            match vector {
                Some(v) if v.len == 0 || v.len == *rows as usize => {
                    v.len = *rows as usize;
                    Ok(*number as u32)
                }
                _ => Err(CodecError::new("a series and its time vector do not fit")),
            }
        })
        .collect()
}

impl Times<'_> {
    /// The time of row `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> i64 {
        match *self {
            Times::Regular { start, step, .. } => start.wrapping_add(step.wrapping_mul(i as i64)),
            Times::List(times) => times.get(i).copied().unwrap_or(i64::MAX),
        }
    }

    /// The first row at or after `time`.
    #[inline]
    pub(crate) fn lower_bound(&self, time: i64) -> usize {
        match *self {
            Times::Regular { start, step, len } => {
                if time <= start {
                    0
                } else if step <= 0 {
                    len
                } else {
                    // Both are milliseconds within the accepted range, so the sum cannot overflow.
                    let rows = (time.wrapping_sub(start).wrapping_add(step - 1)) / step;
                    usize::try_from(rows).map_or(len, |rows| rows.min(len))
                }
            }
            Times::List(times) => times.partition_point(|t| *t < time),
        }
    }

    /// The first row at or after `time`, which is not before row `from`. Cheap when it is near.
    #[inline]
    pub(crate) fn lower_bound_from(&self, from: usize, time: i64) -> usize {
        let Times::List(times) = *self else { return self.lower_bound(time) };
        let rest = times.get(from..).unwrap_or_default();
        let mut reach = 1;
        while rest.get(reach).is_some_and(|t| *t < time) {
            reach *= 2;
        }
        let near = rest.get(..(reach + 1).min(rest.len())).unwrap_or_default();
        from + near.partition_point(|t| *t < time)
    }
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
        builder.encode(Effort::Seal, &mut bytes).unwrap();
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
