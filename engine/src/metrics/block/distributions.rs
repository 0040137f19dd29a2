//! The columns of a block of distributions.
//!
//! ```text
//! counts, the negative of it for up to 64 values with a told sum: integers
//! of cells with up to 64 values: the values: floats, a run is one cell
//! of the others: buckets per cell │ indices, each less the one before in its cell │ bucket counts: integers
//!   │ min: floats │ max: floats
//! of the others and of those with a told sum: low 64 bits of the units │ high 64 bits │ components per cell: integers
//!   │ components: floats
//! ```
//!
//! Every column says by the ones before it how many rows it has, and a decoder takes no other number.

use std::borrow::Cow;
use std::ops::Range;

use super::sketches::{BLOCK_ENTRIES_MAX, CellSketch};
use crate::codec::bytes::Reader;
use crate::codec::floats::{self, FloatColumn};
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::runs::Runs;
use crate::codec::verified::same_bits;
use crate::codec::{CodecError, CodecResult};
use crate::limits::EXACT_VALUES_MAX;
use crate::sketch::{Distribution, Entries, ExactSum, Parts};

/// What the first writers of blocks took a cell with buckets to hold, whatever it held.
const ENTRIES_OF_CELL_ONCE: usize = 128;
/// The most buckets of a block that is read. A block of today has [`BLOCK_ENTRIES_MAX`] entries; one of the first writers has
/// as many cells with buckets as they guessed to be so many entries, each as large as a cell can be.
const BUCKETS_READ_MAX: usize =
    BLOCK_ENTRIES_MAX / ENTRIES_OF_CELL_ONCE * Distribution::CELL_ENTRIES_MAX;

impl CellSketch for Distribution {
    const FRAME: FrameKind = FrameKind::Distributions;
    // Values that are kept are fewer.
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
        let count = parts.count as i64;
        self.counts.push(if parts.told { -count } else { count });
        match &parts.entries {
            Entries::Exact(values) => {
                self.values.extend_from_slice(values);
                if parts.told {
                    self.push_sum(&parts.sum);
                }
            }
            Entries::Buckets { indices, counts } => {
                self.buckets.push(indices.len() as i64);
                let mut before = 0;
                self.indices.extend(indices.iter().map(|i| {
                    let index = i64::from(*i);
                    index - std::mem::replace(&mut before, index)
                }));
                self.bucket_counts.extend(counts.iter().map(|n| *n as i64));
                self.min.push(parts.min);
                self.max.push(parts.max);
                self.push_sum(&parts.sum);
            }
        }
    }

    fn push_sum(&mut self, sum: &ExactSum) {
        let units = sum.decimal_units();
        self.units_low.push(units as i64);
        self.units_high.push((units >> 64) as i64);
        let components = sum.components();
        self.components_of.push(components.len() as i64);
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
        let kept = columns.counts.iter().filter_map(|n| exact_values(*n)).sum();
        FloatColumn::read_exactly(reader, kept)?
            .all(&Self::exact_runs(&columns.counts), &mut columns.values)?;
        let histograms = columns.counts.iter().filter(|n| exact_values(**n).is_none()).count();
        let told = columns.counts.iter().filter(|n| **n < 0 && exact_values(**n).is_some()).count();
        integers(reader, histograms, &mut columns.buckets)?;
        let buckets = total(&columns.buckets, Distribution::CELL_ENTRIES_MAX, BUCKETS_READ_MAX)?;
        integers(reader, buckets, &mut columns.indices)?;
        integers(reader, buckets, &mut columns.bucket_counts)?;
        one_run(reader, histograms, &mut columns.min)?;
        one_run(reader, histograms, &mut columns.max)?;
        let sums = histograms + told;
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
        let mut rest = Rest::of(self);
        for (row, count) in self.counts.iter().enumerate().take(rows.end) {
            if row < rows.start {
                rest.skip(*count)?;
            } else if !sink(rest.cell(*count)?) {
                break;
            }
        }
        Ok(())
    }

    /// A cell that keeps its values holds nothing else, so that these go as they are from columns to columns.
    fn round_trip(&self, rows: usize) -> CodecResult<Self> {
        let (mut rest, mut again) = (Rest::of(self), Self::default());
        for count in self.counts.iter().take(rows) {
            match exact_values(*count) {
                Some(n) if *count >= 0 => {
                    again.counts.push(*count);
                    again.values.extend_from_slice(rest.values(n)?);
                }
                _ => again.push(&rest.cell(*count)?.parts()),
            }
        }
        Ok(again)
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

/// The sum of what the cells of a block have of something: each at most `of_cell_max`, all at most `max`.
fn total(of_cells: &[i64], of_cell_max: usize, max: usize) -> CodecResult<usize> {
    let too_many = || CodecError::new("a cell, or all of them, hold more than they can");
    let of_cell = |n: &i64| usize::try_from(*n).ok().filter(|n| *n <= of_cell_max);
    let add = |sum: usize, n: &i64| Some(sum + of_cell(n)?).filter(|sum| *sum <= max);
    of_cells.iter().try_fold(0, add).ok_or_else(too_many)
}

/// How many values a cell of this count keeps, if it keeps them.
fn exact_values(count: i64) -> Option<usize> {
    usize::try_from(count.unsigned_abs()).ok().filter(|n| *n <= EXACT_VALUES_MAX)
}

/// Walks what columns hold of cells.
struct Rest<'a> {
    columns: &'a DistributionColumns,
    values_at: usize,
    at: usize,
    buckets_at: usize,
    sums_at: usize,
    components_at: usize,
}

impl<'a> Rest<'a> {
    fn of(columns: &'a DistributionColumns) -> Self {
        Self { columns, values_at: 0, at: 0, buckets_at: 0, sums_at: 0, components_at: 0 }
    }

    /// The next cell, of this count.
    fn cell(&mut self, count: i64) -> CodecResult<Distribution> {
        let Some(n) = exact_values(count) else { return self.histogram(count as u64) };
        let values = self.values(n)?;
        if count < 0 {
            return self.with_known_sum(values);
        }
        let mut distribution = Distribution::default();
        values.iter().for_each(|v| distribution.add(*v));
        Ok(distribution)
    }

    /// The next values, of a cell that keeps so many.
    fn values(&mut self, n: usize) -> CodecResult<&'a [f64]> {
        let short = || CodecError::new("fewer values than cells count");
        let values = self.columns.values.get(self.values_at..self.values_at + n);
        let values = values.ok_or_else(short)?;
        self.values_at += n;
        if values.iter().any(|v| !v.is_finite()) {
            return Err(CodecError::new("a value of a distribution is not finite"));
        }
        Ok(values)
    }

    /// Goes past the next cell, of this count.
    fn skip(&mut self, count: i64) -> CodecResult<()> {
        let fewer = || CodecError::new("fewer histograms than cells count");
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

    /// The next cell that is a histogram.
    fn histogram(&mut self, count: u64) -> CodecResult<Distribution> {
        self.buckets(count).ok_or_else(|| CodecError::new("fewer histograms than cells count"))?
    }

    /// Reads the next cell, whose sum is stored.
    fn with_known_sum(&mut self, values: &[f64]) -> CodecResult<Distribution> {
        let sum = self.sum()?;
        built(&Parts {
            count: values.len() as u64,
            sum,
            told: true,
            min: values.first().copied().unwrap_or_default(),
            max: values.last().copied().unwrap_or_default(),
            entries: Entries::Exact(Cow::Borrowed(values)),
        })
    }

    fn buckets(&mut self, count: u64) -> Option<CodecResult<Distribution>> {
        let columns = self.columns;
        let buckets = usize::try_from(*columns.buckets.get(self.at)?).ok()?;
        let range = self.buckets_at..self.buckets_at.checked_add(buckets)?;
        let mut index = 0i64;
        let indices: Option<Vec<i32>> = columns
            .indices
            .get(range.clone())?
            .iter()
            .map(|gap| {
                index = index.wrapping_add(*gap);
                i32::try_from(index).ok()
            })
            .collect();
        let counts: Vec<u64> =
            columns.bucket_counts.get(range)?.iter().map(|n| *n as u64).collect();
        let (min, max) = (*columns.min.get(self.at)?, *columns.max.get(self.at)?);
        self.at += 1;
        self.buckets_at += buckets;
        let indices = indices?;
        let entries = Entries::Buckets { indices: Cow::Owned(indices), counts: Cow::Owned(counts) };
        let sum = match self.sum() {
            Ok(sum) => sum,
            Err(error) => return Some(Err(error)),
        };
        Some(built(&Parts { count, sum, told: false, min, max, entries }))
    }

    fn sum(&mut self) -> CodecResult<ExactSum> {
        let (units, components) =
            self.sum_parts().ok_or_else(|| CodecError::new("fewer sums than cells count"))?;
        ExactSum::from_parts(units, components).map_err(|e| CodecError::new(e.to_string()))
    }

    fn sum_parts(&mut self) -> Option<(i128, &[f64])> {
        let columns = self.columns;
        let components = usize::try_from(*columns.components_of.get(self.sums_at)?).ok()?;
        let end = self.components_at.checked_add(components)?;
        let components = columns.components.get(self.components_at..end)?;
        let low = i128::from(*columns.units_low.get(self.sums_at)? as u64);
        let units = (i128::from(*columns.units_high.get(self.sums_at)?) << 64) | low;
        self.sums_at += 1;
        self.components_at = end;
        Some((units, components))
    }
}

fn built(parts: &Parts<'_>) -> CodecResult<Distribution> {
    Distribution::from_parts(parts).map_err(|e| CodecError::new(e.to_string()))
}
