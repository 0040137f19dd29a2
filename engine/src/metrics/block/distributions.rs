//! The columns of a block of distributions.
//!
//! ```text
//! counts, negated for up to 64 values with a reported sum: integers
//! of cells with up to 64 values: the values: floats, a run is one cell
//! of the others: buckets per cell │ indices, differences within a cell │ bucket counts: integers
//!   │ min: floats │ max: floats
//! of the others and of those with a reported sum: low 64 bits of the units │ high 64 bits
//!   │ components per cell: integers │ components: floats
//! ```
//!
//! The length of every column follows from the columns before it; a decoder refuses any other
//! length.

use std::borrow::Cow;
use std::ops::Range;

use super::sketches::{CellCursor, CellSketch};
use crate::cast::{length, low_word_signed};
use crate::codec::bytes::Reader;
use crate::codec::floats::{self, FloatColumn};
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::runs::Runs;
use crate::codec::verified::same_bits;
use crate::codec::{CodecError, CodecResult};
use crate::limits::{BLOCK_ENTRIES_MAX, EXACT_VALUES_MAX};
use crate::sketch::{Distribution, Entries, ExactSum, HistogramMoments, Parts, check_buckets};

/// The number of entries that the first versions assumed for a cell with buckets, whatever its
/// size.
const LEGACY_CELL_ENTRIES: usize = 128;
/// The most buckets of a block that is read. Blocks have at most [`BLOCK_ENTRIES_MAX`] entries now;
/// in those of the first versions, each cell may have the maximum of buckets.
const BUCKETS_READ_MAX: usize =
    BLOCK_ENTRIES_MAX / LEGACY_CELL_ENTRIES * Distribution::CELL_ENTRIES_MAX;

impl CellSketch for Distribution {
    const FRAME: FrameKind = FrameKind::Distributions;
    // Exactly stored values are fewer.
    const CELL_ENTRIES_MAX: usize = Distribution::BUCKETS_MAX;

    fn add_bits(&mut self, bits: u64) {
        self.add(f64::from_bits(bits));
    }

    fn merge(&mut self, other: &Self) {
        Distribution::merge(self, other);
    }

    fn merge_counted(&mut self, counted: &Distribution) -> CodecResult<()> {
        Distribution::merge(self, counted);
        Ok(())
    }

    fn entries(&self) -> usize {
        Distribution::entries(self)
    }

    fn bytes(&self) -> usize {
        Distribution::bytes(self)
    }

    type Columns = DistributionColumns;

    fn push(&self, columns: &mut DistributionColumns) {
        columns.push(&self.parts());
    }

    fn are_same(a: &DistributionColumns, b: &DistributionColumns) -> bool {
        a.integers() == b.integers()
            && a.floats().iter().zip(b.floats()).all(|(a, b)| same_bits(a, b))
    }

    fn columns_bytes(columns: &DistributionColumns) -> usize {
        let integers = columns.integers().iter().map(|column| column.len()).sum::<usize>();
        let floats = columns.floats().iter().map(|column| column.len()).sum::<usize>();
        (integers + floats) * size_of::<i64>()
    }

    fn encode(columns: &DistributionColumns, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        columns.encode(effort, out)
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<DistributionColumns> {
        DistributionColumns::decode(reader, cells)
    }

    fn each(
        columns: &DistributionColumns,
        rows: Range<usize>,
        sink: impl FnMut(Self) -> bool,
    ) -> CodecResult<()> {
        columns.each(rows, sink)
    }

    type Cursor<'c> = RowCursor<'c>;

    fn cursor(columns: &DistributionColumns) -> RowCursor<'_> {
        RowCursor::of(columns)
    }

    fn round_trip(columns: &DistributionColumns, rows: usize) -> CodecResult<DistributionColumns> {
        columns.round_trip(rows)
    }
}

/// The columns of a block of distributions.
#[derive(Debug, Default)]
pub(crate) struct DistributionColumns {
    counts: Vec<i64>,
    values: Vec<f64>,
    buckets: Vec<i64>,
    indices: Vec<i64>,
    bucket_counts: Vec<i64>,
    min: Vec<f64>,
    max: Vec<f64>,
    units_low: Vec<i64>,
    units_high: Vec<i64>,
    components_of: Vec<i64>,
    components: Vec<f64>,
}

impl DistributionColumns {
    fn push(&mut self, parts: &Parts<'_>) {
        let count = parts.count.cast_signed();
        self.counts.push(if parts.sum_is_reported { -count } else { count });
        match &parts.entries {
            Entries::Exact(values) => {
                self.values.extend_from_slice(values);
                if parts.sum_is_reported {
                    self.push_sum(&parts.sum);
                }
            }
            Entries::Buckets { indices, counts } => {
                self.buckets.push(length(indices.len()));
                let mut before = 0;
                self.indices.extend(indices.iter().map(|i| {
                    let index = i64::from(*i);
                    index - std::mem::replace(&mut before, index)
                }));
                self.bucket_counts.extend(counts.iter().map(|n| n.cast_signed()));
                self.min.push(parts.min);
                self.max.push(parts.max);
                self.push_sum(&parts.sum);
            }
        }
    }

    fn push_sum(&mut self, sum: &ExactSum) {
        let units = sum.decimal_units();
        self.units_low.push(low_word_signed(units));
        self.units_high.push((units >> 64) as i64);
        let components = sum.components();
        self.components_of.push(length(components.len()));
        self.components.extend(components);
    }

    fn exact_runs(counts: &[i64]) -> Runs {
        Runs::new(counts.iter().filter_map(|n| exact_values(*n)))
    }

    fn encode(&self, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        integers::encode(&self.counts, effort, out)?;
        floats::encode(&self.values, &Self::exact_runs(&self.counts), effort, out)?;
        for column in [&self.buckets, &self.indices, &self.bucket_counts] {
            integers::encode(column, effort, out)?;
        }
        let one_run = Runs::new([self.min.len()]);
        floats::encode(&self.min, &one_run, effort, out)?;
        floats::encode(&self.max, &one_run, effort, out)?;
        for column in [&self.units_low, &self.units_high, &self.components_of] {
            integers::encode(column, effort, out)?;
        }
        floats::encode(&self.components, &Runs::new([self.components.len()]), effort, out)
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Self> {
        let mut columns = Self::default();
        let integers = |reader: &mut Reader<'_>, rows: usize, into: &mut Vec<i64>| {
            IntegerColumn::read_exactly(reader, rows)?.all(into)
        };
        let one_run = |reader: &mut Reader<'_>, rows: usize, into: &mut Vec<f64>| {
            FloatColumn::read_exactly(reader, rows)?.all(&Runs::new([rows]), into)
        };
        integers(reader, cells, &mut columns.counts)?;
        let exact = columns.counts.iter().filter_map(|n| exact_values(*n)).sum();
        FloatColumn::read_exactly(reader, exact)?
            .all(&Self::exact_runs(&columns.counts), &mut columns.values)?;
        let histograms = columns.counts.iter().filter(|n| exact_values(**n).is_none()).count();
        let reported =
            columns.counts.iter().filter(|n| **n < 0 && exact_values(**n).is_some()).count();
        integers(reader, histograms, &mut columns.buckets)?;
        let buckets = total(&columns.buckets, Distribution::CELL_ENTRIES_MAX, BUCKETS_READ_MAX)?;
        integers(reader, buckets, &mut columns.indices)?;
        integers(reader, buckets, &mut columns.bucket_counts)?;
        one_run(reader, histograms, &mut columns.min)?;
        one_run(reader, histograms, &mut columns.max)?;
        let sums = histograms + reported;
        for column in [&mut columns.units_low, &mut columns.units_high, &mut columns.components_of]
        {
            integers(reader, sums, column)?;
        }
        let of_sum = ExactSum::COMPONENTS_MAX;
        let components = total(&columns.components_of, of_sum, sums * of_sum)?;
        one_run(reader, components, &mut columns.components)?;
        Ok(columns)
    }

    fn each(
        &self,
        rows: Range<usize>,
        mut sink: impl FnMut(Distribution) -> bool,
    ) -> CodecResult<()> {
        let mut cursor = RowCursor::of(self);
        for (row, count) in self.counts.iter().enumerate().take(rows.end) {
            if row < rows.start {
                cursor.skip_cell(*count)?;
            } else if !sink(cursor.cell(*count)?) {
                break;
            }
        }
        Ok(())
    }

    /// Decodes cells and encodes them again. Exactly stored values are copied without building a
    /// cell, as such cells contain nothing else.
    fn round_trip(&self, rows: usize) -> CodecResult<Self> {
        let (mut cursor, mut copy) = (RowCursor::of(self), Self::default());
        for count in self.counts.iter().take(rows) {
            match exact_values(*count) {
                Some(n) if *count >= 0 => {
                    copy.counts.push(*count);
                    copy.values.extend_from_slice(cursor.values(n)?);
                }
                _ => copy.push(&cursor.cell(*count)?.parts()),
            }
        }
        Ok(copy)
    }

    fn integers(&self) -> [&[i64]; 7] {
        let Self { counts, buckets, indices, bucket_counts, .. } = self;
        let Self { units_low, units_high, components_of, .. } = self;
        [counts, buckets, indices, bucket_counts, units_low, units_high, components_of]
    }

    fn floats(&self) -> [&[f64]; 4] {
        [&self.values, &self.min, &self.max, &self.components]
    }
}

/// Returns the sum of the per-cell counts. Fails when one of them exceeds `of_cell_max`, or the sum
/// exceeds `max`.
fn total(of_cells: &[i64], of_cell_max: usize, max: usize) -> CodecResult<usize> {
    let too_many = || CodecError::new("a cell or the block exceeds its size limit");
    let of_cell = |n: &i64| usize::try_from(*n).ok().filter(|n| *n <= of_cell_max);
    let add = |sum: usize, n: &i64| Some(sum + of_cell(n)?).filter(|sum| *sum <= max);
    of_cells.iter().try_fold(0, add).ok_or_else(too_many)
}

/// Returns the number of values of a cell with this count, if it stores them exactly.
fn exact_values(count: i64) -> Option<usize> {
    usize::try_from(count.unsigned_abs()).ok().filter(|n| *n <= EXACT_VALUES_MAX)
}

/// Reads the cells of a block in order, with a position in each column.
#[derive(Debug)]
pub(crate) struct RowCursor<'a> {
    columns: &'a DistributionColumns,
    row: usize,
    values_at: usize,
    at: usize,
    buckets_at: usize,
    sums_at: usize,
    components_at: usize,
}

/// The columns of one cell that is a histogram.
#[derive(Debug)]
struct StoredHistogram<'a> {
    moments: HistogramMoments,
    sum: ExactSum,
    /// Differences.
    indices: &'a [i64],
    counts: &'a [i64],
}

impl StoredHistogram<'_> {
    /// Iterates over the signed indices of the buckets and their counts.
    fn buckets(&self) -> impl Iterator<Item = (i64, u64)> + Clone {
        let ascending = self.indices.iter().scan(0i64, |index, difference| {
            *index = index.wrapping_add(*difference);
            Some(*index)
        });
        ascending.zip(self.counts.iter().map(|n| n.cast_unsigned()))
    }

    fn check(&self) -> CodecResult<()> {
        check_buckets(self.moments, self.buckets()).map_err(|e| CodecError::new(e.to_string()))
    }

    /// Merges a histogram that was checked.
    fn merge_into(&self, sketch: &mut Distribution) {
        sketch.merge_histogram(self.moments, &self.sum, self.buckets());
    }
}

impl CellCursor<Distribution> for RowCursor<'_> {
    fn skip(&mut self) -> CodecResult<()> {
        let count = self.next_count()?;
        self.skip_cell(count)
    }

    fn check(&mut self) -> CodecResult<()> {
        let count = self.next_count()?;
        match exact_values(count) {
            Some(n) if count >= 0 => self.values(n).map(drop),
            Some(_) => self.cell(count).map(drop),
            None => self.checked_histogram(count).map(drop),
        }
    }

    fn merge_checked(&mut self, sketch: &mut Distribution) -> CodecResult<()> {
        let count = self.next_count()?;
        match exact_values(count) {
            Some(n) if count >= 0 => {
                self.values(n)?.iter().for_each(|value| sketch.add(*value));
                Ok(())
            }
            Some(_) => {
                sketch.merge(&self.cell(count)?);
                Ok(())
            }
            None => {
                self.stored_histogram(count)?.merge_into(sketch);
                Ok(())
            }
        }
    }
}

impl<'a> RowCursor<'a> {
    fn of(columns: &'a DistributionColumns) -> Self {
        Self { columns, row: 0, values_at: 0, at: 0, buckets_at: 0, sums_at: 0, components_at: 0 }
    }

    /// Returns the stored count of the next cell.
    fn next_count(&mut self) -> CodecResult<i64> {
        let count = self.columns.counts.get(self.row);
        self.row += 1;
        count.copied().ok_or_else(|| CodecError::new("the block has more rows than cells"))
    }

    /// Reads the next cell; `count` is its stored count.
    fn cell(&mut self, count: i64) -> CodecResult<Distribution> {
        let Some(n) = exact_values(count) else {
            let mut distribution = Distribution::default();
            self.checked_histogram(count)?.merge_into(&mut distribution);
            return Ok(distribution);
        };
        let values = self.values(n)?;
        if count < 0 {
            return self.with_known_sum(values);
        }
        Ok(Distribution::of_exact(values))
    }

    /// Reads the values of the next cell, which stores `n` values exactly.
    fn values(&mut self, n: usize) -> CodecResult<&'a [f64]> {
        let short = || CodecError::new("the block has fewer values than its counts require");
        let values = self.columns.values.get(self.values_at..self.values_at + n);
        let values = values.ok_or_else(short)?;
        self.values_at += n;
        if values.iter().any(|v| !v.is_finite()) {
            return Err(CodecError::new("a distribution contains a value that is not finite"));
        }
        Ok(values)
    }

    /// Skips the next cell; `count` is its stored count.
    fn skip_cell(&mut self, count: i64) -> CodecResult<()> {
        let fewer = || CodecError::new("the block has fewer histograms than its counts require");
        let has_sum = match exact_values(count) {
            Some(n) => {
                self.values_at += n;
                count < 0
            }
            None => {
                let buckets = self.columns.buckets.get(self.at);
                let buckets = buckets.and_then(|n| usize::try_from(*n).ok()).ok_or_else(fewer)?;
                self.at += 1;
                self.buckets_at += buckets;
                true
            }
        };
        if has_sum {
            self.sum_parts().ok_or_else(fewer)?;
        }
        Ok(())
    }

    /// Reads the next cell, which is a histogram, and checks it.
    fn checked_histogram(&mut self, count: i64) -> CodecResult<StoredHistogram<'a>> {
        let histogram = self.stored_histogram(count)?;
        histogram.check()?;
        Ok(histogram)
    }

    /// Reads the next cell, which is a histogram.
    fn stored_histogram(&mut self, count: i64) -> CodecResult<StoredHistogram<'a>> {
        let fewer = || CodecError::new("the block has fewer histograms than its counts require");
        let (indices, counts, min, max) = self.read_buckets().ok_or_else(fewer)?;
        let moments = HistogramMoments { count: count.cast_unsigned(), min, max };
        Ok(StoredHistogram { moments, sum: self.sum()?, indices, counts })
    }

    /// Reads the rest of the next cell, whose values are given and whose sum is stored.
    fn with_known_sum(&mut self, values: &[f64]) -> CodecResult<Distribution> {
        let sum = self.sum()?;
        built(&Parts {
            count: values.len() as u64,
            sum,
            sum_is_reported: true,
            min: values.first().copied().unwrap_or_default(),
            max: values.last().copied().unwrap_or_default(),
            entries: Entries::Exact(Cow::Borrowed(values)),
        })
    }

    /// Reads the buckets of the next cell, its minimum and its maximum.
    fn read_buckets(&mut self) -> Option<(&'a [i64], &'a [i64], f64, f64)> {
        let columns = self.columns;
        let buckets = usize::try_from(*columns.buckets.get(self.at)?).ok()?;
        let range = self.buckets_at..self.buckets_at.checked_add(buckets)?;
        let (indices, counts) =
            (columns.indices.get(range.clone())?, columns.bucket_counts.get(range)?);
        let (min, max) = (*columns.min.get(self.at)?, *columns.max.get(self.at)?);
        self.at += 1;
        self.buckets_at += buckets;
        Some((indices, counts, min, max))
    }

    fn sum(&mut self) -> CodecResult<ExactSum> {
        let (units, components) = self
            .sum_parts()
            .ok_or_else(|| CodecError::new("the block has fewer sums than its counts require"))?;
        ExactSum::from_parts(units, components).map_err(|e| CodecError::new(e.to_string()))
    }

    fn sum_parts(&mut self) -> Option<(i128, &[f64])> {
        let columns = self.columns;
        let components = usize::try_from(*columns.components_of.get(self.sums_at)?).ok()?;
        let end = self.components_at.checked_add(components)?;
        let components = columns.components.get(self.components_at..end)?;
        let low = i128::from(columns.units_low.get(self.sums_at)?.cast_unsigned());
        let units = (i128::from(*columns.units_high.get(self.sums_at)?) << 64) | low;
        self.sums_at += 1;
        self.components_at = end;
        Some((units, components))
    }
}

fn built(parts: &Parts<'_>) -> CodecResult<Distribution> {
    Distribution::from_parts(parts).map_err(|e| CodecError::new(e.to_string()))
}
