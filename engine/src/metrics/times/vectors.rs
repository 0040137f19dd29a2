//! Time vectors: the ascending times of the rows of a series, and the encoding of a list of
//! distinct vectors.
//!
//! A regular vector is a start and a step; others also store the residual of each time after
//! subtracting the step.
//!
//! ```text
//! starts: integers, differences                       steps: integers        shapes: integers
//!   shape 0 regular   start + i·step
//!   shape 1 grid      start + i·step + residual[i]
//!   shape 2 walk      previous time + step + residual[i]
//! residuals: integers, one per row of every vector that is not regular
//! ```

use crate::cast::length;
use crate::codec::bytes::Reader;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};

const REGULAR: i64 = 0;
const GRID: i64 = 1;
const WALK: i64 = 2;

/// Returns whether a vector is fully described by a start and a step.
pub(crate) fn is_regular(times: &[i64]) -> bool {
    let [first, second, ..] = *times else { return true };
    let step = second - first;
    times.windows(2).all(|w| w[1] - w[0] == step)
}

/// Appends the vectors in encoded form. Times must ascend.
pub(crate) fn encode<'v>(
    vectors: impl Iterator<Item = &'v [i64]>,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let (mut starts, mut steps, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let mut residuals = Vec::new();
    for vector in vectors {
        let (step, shape) = match effort {
            Effort::Plain => offsets(vector, &mut residuals),
            Effort::Seal | Effort::Merge => fit(vector, &mut residuals),
        };
        starts.push(vector.first().copied().unwrap_or_default());
        steps.push(step);
        shapes.push(shape);
    }
    integers::encode(&differences(starts.into_iter()), effort, out)?;
    integers::encode(&steps, effort, out)?;
    integers::encode(&shapes, effort, out)?;
    integers::encode(&residuals, effort, out)
}

/// Returns the difference of each value to the one before, the first to 0.
pub(in crate::metrics) fn differences(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    values.map(|v| v - std::mem::replace(&mut before, v)).collect()
}

/// Appends the offsets of the times from the first one, as residuals of a grid with step 0.
fn offsets(times: &[i64], residuals: &mut Vec<i64>) -> (i64, i64) {
    let first = times.first().copied().unwrap_or_default();
    residuals.extend(times.iter().map(|t| t.wrapping_sub(first)));
    (0, GRID)
}

/// Chooses the step and shape of a vector and appends its residuals, none when it is regular.
fn fit(times: &[i64], residuals: &mut Vec<i64>) -> (i64, i64) {
    let [first, second, ..] = *times else { return (0, REGULAR) };
    if is_regular(times) {
        return (second - first, REGULAR);
    }
    let last = times.last().copied().unwrap_or(first);
    // Rounded to nearest, so that jitter of the first and last time does not skew the step.
    let gaps = length(times.len()) - 1;
    let grid_step = (last - first + gaps / 2) / gaps;
    let grid = || times.iter().enumerate().map(|(i, t)| t - first - length(i) * grid_step);
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

/// Time vectors, opened but not decoded.
#[derive(Debug)]
pub(crate) struct Vectors<'a> {
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

/// Caches the last decoded vector and page of residuals, so that a vector shared by series, and a
/// page shared by vectors, is decoded once.
#[derive(Debug, Default)]
pub(crate) struct TimesCache {
    vector: Option<usize>,
    times: Vec<i64>,
    page: Option<usize>,
    residuals: Vec<i64>,
}

impl<'a> Vectors<'a> {
    /// Opens vectors of these lengths. Fails when the irregular ones have more than `rows_max`
    /// rows.
    pub(crate) fn read(
        reader: &mut Reader<'a>,
        lengths: &[usize],
        rows_max: usize,
    ) -> CodecResult<Self> {
        let starts = read_column(reader, lengths.len())?;
        let steps = read_column(reader, lengths.len())?;
        let shapes = read_column(reader, lengths.len())?;
        let residuals = IntegerColumn::read(reader, rows_max)?;
        let mut vectors = Vec::with_capacity(lengths.len());
        let (mut start, mut residuals_from) = (0i64, 0);
        let columns = starts.iter().zip(&steps).zip(&shapes).zip(lengths);
        for (((delta, step), shape), len) in columns {
            start = start.wrapping_add(*delta);
            let (step, shape, len) = (*step, *shape, *len);
            if shape == REGULAR && len > 1 && !ascends((start, step), len) {
                return Err(CodecError::new("the times of a vector do not ascend"));
            }
            vectors.push(Vector { start, step, shape, len, residuals_from });
            if shape != REGULAR {
                residuals_from = usize::saturating_add(residuals_from, len);
            }
        }
        if residuals_from != residuals.rows() {
            return Err(CodecError::new(format!(
                "expected {residuals_from} residuals of times, found {}",
                residuals.rows()
            )));
        }
        Ok(Self { vectors, residuals })
    }

    /// Returns the approximate bytes in memory besides the encoded vectors.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.vectors.as_slice()) + self.residuals.bytes()
    }

    /// Returns whether all times are computed instead of decoded.
    pub(crate) fn are_regular(&self) -> bool {
        self.residuals.rows() == 0
    }

    /// Decodes the times of a vector.
    pub(crate) fn times<'c>(
        &self,
        number: usize,
        cache: &'c mut TimesCache,
    ) -> CodecResult<Times<'c>> {
        let Some(vector) = self.vectors.get(number) else {
            return Err(CodecError::new(format!("time vector {number} does not exist")));
        };
        let Vector { start, step, len, .. } = *vector;
        if vector.shape == REGULAR {
            return Ok(Times::Regular { start, step, len });
        }
        if cache.vector != Some(number) {
            cache.vector = None;
            self.decode(vector, cache)?;
            cache.vector = Some(number);
        }
        Ok(Times::List(&cache.times))
    }

    fn decode(&self, vector: &Vector, cache: &mut TimesCache) -> CodecResult<()> {
        let TimesCache { times: out, page: decoded, residuals, .. } = cache;
        out.clear();
        let (from, to) = (vector.residuals_from, vector.residuals_from + vector.len);
        let page_rows = integers::PAGE_ROWS;
        for index in from / page_rows..to.div_ceil(page_rows) {
            if *decoded != Some(index) {
                *decoded = None;
                self.residuals.page(index, residuals)?;
                *decoded = Some(index);
            }
            let first = index * page_rows;
            let rows = from.max(first) - first..(to - first).min(residuals.len());
            let residuals = residuals.get(rows);
            out.extend_from_slice(
                residuals.ok_or_else(|| CodecError::new("a page of times has too few rows"))?,
            );
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
                // The first residual is zero, so the step is subtracted once in advance.
                let mut at = vector.start.wrapping_sub(vector.step);
                for time in out.iter_mut() {
                    at = at.wrapping_add(vector.step).wrapping_add(*time);
                    *time = at;
                }
            }
            shape => {
                return Err(CodecError::new(format!("unknown shape {shape} of a time vector")));
            }
        }
        if out.is_sorted() { Ok(()) } else { Err(CodecError::new("times do not ascend")) }
    }
}

/// Decodes the column of `rows` integers at the position of `reader`.
pub(in crate::metrics) fn read_column(
    reader: &mut Reader<'_>,
    rows: usize,
) -> CodecResult<Vec<i64>> {
    let mut out = Vec::new();
    IntegerColumn::read_exactly(reader, rows)?.all(&mut out)?;
    Ok(out)
}

/// Returns whether `len` times from `start` on, each `step` after the one before, ascend and can be
/// represented.
fn ascends((start, step): (i64, i64), len: usize) -> bool {
    let last = i128::from(start) + i128::from(step) * i128::from(length(len) - 1);
    step >= 0 && last <= i128::from(i64::MAX)
}

impl Times<'_> {
    /// Returns whether these are the `wanted` times.
    pub(in crate::metrics) fn is(&self, wanted: &[i64]) -> bool {
        match *self {
            Times::Regular { len, .. } => {
                len == wanted.len() && wanted.iter().enumerate().all(|(i, t)| self.at(i) == *t)
            }
            Times::List(times) => times == wanted,
        }
    }

    /// Returns the time of row `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> i64 {
        match *self {
            Times::Regular { start, step, .. } => start.wrapping_add(step.wrapping_mul(length(i))),
            Times::List(times) => times[i],
        }
    }

    /// Returns the first row at or after `time`; the number of rows when there is none.
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

    /// Returns the first row at or after `time`, searching from row `from`, which must not be past
    /// it. Takes logarithmic time in the distance.
    #[inline]
    pub(crate) fn lower_bound_from(&self, from: usize, time: i64) -> usize {
        let Times::List(times) = *self else { return self.lower_bound(time) };
        let rest = &times[from..];
        let mut reach = 1;
        while rest.get(reach).is_some_and(|t| *t < time) {
            reach *= 2;
        }
        let near = &rest[..(reach + 1).min(rest.len())];
        from + near.partition_point(|t| *t < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one regular vector as a damaged or forged block may contain it.
    fn read_regular(start: i64, step: i64, len: usize) -> CodecResult<Vec<i64>> {
        let mut bytes = Vec::new();
        for column in [&[start][..], &[step], &[REGULAR], &[]] {
            integers::encode(column, Effort::Plain, &mut bytes)?;
        }
        let vectors = Vectors::read(&mut Reader::new(&bytes), &[len], len)?;
        let mut cache = TimesCache::default();
        let times = vectors.times(0, &mut cache)?;
        Ok((0..len).map(|row| times.at(row)).collect())
    }

    #[test]
    fn regular_times_ascend_to_the_end_of_their_range_and_not_beyond() {
        let last = i64::MAX;
        for (start, step, expected) in [
            (5, 0, vec![5, 5, 5]),
            (-7, 7, vec![-7, 0, 7]),
            (last - 2, 1, vec![last - 2, last - 1, last]),
            (i64::MIN, i64::MAX, vec![i64::MIN, -1, last - 1]),
            (last, i64::MIN, vec![last]),
        ] {
            assert_eq!(read_regular(start, step, expected.len()), Ok(expected), "{start} {step}");
        }
        for (start, step, len) in
            [(5, -1, 2), (last - 2, 1, 4), (last, 1, 2), (0, i64::MAX, 3), (0, i64::MIN, 2)]
        {
            assert!(read_regular(start, step, len).is_err(), "{start} {step} {len}");
        }
    }
}
