//! A block of one kind of sketches: the cells of a distribution or a set, at one minute or coarser.
//!
//! ```text
//! frame(Distributions) { info │ rows, the times are the starts of the cells
//!                        │ counts, the negative of it for up to 64 values with a told sum: integers
//!                        │ of cells with up to 64 values: the values: floats, a run is one cell
//!                        │ of the others: buckets per cell │ indices, each less the one before in its cell
//!                        │   │ bucket counts: integers │ min: floats │ max: floats
//!                        │ of the others and of those with a told sum: low 64 bits of the units │ high 64 bits
//!                        │   │ components per cell: integers │ components: floats }
//! frame(Sets)          { info │ rows │ bytes per cell: integers │ the cells behind each other }
//! ```

use std::borrow::Cow;

use super::builder::{BLOCK_ROWS, BlockBuilder};
use super::envelope;
use super::info::{BlockInfo, BlockKey};
use super::rows::{Rows, RowsBuilder};
use super::vectors::TimesCache;
use crate::codec::bytes::Reader;
use crate::codec::floats::{self, FloatColumn, Runs};
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::limits::EXACT_VALUES_MAX;
use crate::metrics::times::TimesWriter;
use crate::model::SeriesId;
use crate::sketch::{Cardinality, Distribution, Entries, ExactSum, Parts};

/// Values, buckets and members of a block; beyond it the next block begins.
const ENTRIES_MAX: usize = 1 << 17;
/// What the last cell of a block can add.
const ENTRIES_OF_CELL_MAX: usize = 1 << 15;

/// A mergeable summary that cells of one metric type hold.
pub(crate) trait CellSketch: Clone + Default + Send + Sync + 'static {
    const FRAME: FrameKind;

    /// Adds a point as the head keeps it: the bits of a value, or the hash of a member.
    fn add_bits(&mut self, bits: u64);

    fn merge(&mut self, other: &Self);

    /// Adds values that were counted elsewhere. Fails when the metric type has none.
    fn merge_counted(&mut self, counted: &Distribution) -> CodecResult<()>;

    /// How much of a block the cell fills.
    fn entries(&self) -> usize;

    fn encode(cells: &[Self], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()>;

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Vec<Self>>;
}

/// Collects the cells of a block, series by series.
#[derive(Debug)]
pub(crate) struct SketchBlockBuilder<S> {
    rows: RowsBuilder,
    cells: Vec<S>,
    entries: usize,
}

impl<S> Default for SketchBlockBuilder<S> {
    fn default() -> Self {
        Self { rows: RowsBuilder::default(), cells: Vec::new(), entries: 0 }
    }
}

impl<S: CellSketch> BlockBuilder for SketchBlockBuilder<S> {
    type Row = S;

    fn push(&mut self, series: SeriesId, starts: &[i64], cells: &[S]) {
        debug_assert_eq!(starts.len(), cells.len(), "a cell for every start");
        self.rows.push(series, starts);
        self.entries += cells.iter().map(CellSketch::entries).sum::<usize>();
        self.cells.extend_from_slice(cells);
    }

    fn rows(&self) -> &RowsBuilder {
        &self.rows
    }

    fn is_full(&self) -> bool {
        self.entries >= ENTRIES_MAX || self.rows.rows() >= BLOCK_ROWS
    }

    fn fits(&self, cells: &[S]) -> usize {
        let mut entries = self.entries;
        let fits = cells.iter().take_while(|cell| {
            let room = entries < ENTRIES_MAX;
            entries += cell.entries();
            room
        });
        fits.count().clamp(1, BLOCK_ROWS)
    }

    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimesWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>> {
        envelope::build(S::FRAME, info, (&self.rows, times), effort, |out| {
            S::encode(&self.cells, effort, out)
        })
    }
}

/// A block of sketches, decoded.
#[derive(Debug)]
pub(crate) struct SketchBlock<'a, S> {
    rows: Rows<'a>,
    cells: Vec<S>,
    times: TimesCache,
}

impl<'a, S: CellSketch> SketchBlock<'a, S> {
    pub(crate) fn open(key: BlockKey, bytes: &'a [u8]) -> CodecResult<(BlockInfo, Self)> {
        let (info, rows, cells) =
            envelope::open(S::FRAME, key, bytes, |_, rows, reader| S::decode(reader, rows.len()))?;
        if cells.len() != rows.len() {
            return Err(CodecError::new("rows and cells differ in number"));
        }
        Ok((info, Self { rows, cells, times: TimesCache::default() }))
    }

    pub(crate) fn series(&self) -> &[u32] {
        self.rows.series()
    }

    /// Hands the cells of the series at `index` whose start lies in `start..end` to `sink`, in time order.
    pub(crate) fn read(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
        mut sink: impl FnMut(i64, &S),
    ) -> CodecResult<()> {
        let rows = self.rows.rows_of(index);
        let times = self.rows.times(index, &mut self.times)?;
        let (from, to) = (times.lower_bound(start), times.lower_bound(end));
        let cells = self.cells.get(rows).unwrap_or_default();
        for (i, cell) in cells.iter().enumerate().take(to).skip(from) {
            sink(times.at(i), cell);
        }
        Ok(())
    }
}

impl CellSketch for Distribution {
    const FRAME: FrameKind = FrameKind::Distributions;

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
        // A guess for histograms, near enough to cut blocks by.
        if self.count() <= EXACT_VALUES_MAX as u64 { self.count() as usize } else { 128 }
    }

    fn encode(cells: &[Self], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let mut columns = DistributionColumns::default();
        cells.iter().for_each(|cell| columns.push(&cell.parts()));
        columns.encode(effort, out)
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Vec<Self>> {
        DistributionColumns::decode(reader, cells)?.cells()
    }
}

#[derive(Debug, Default)]
struct DistributionColumns {
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
        let entries_max = ENTRIES_MAX + ENTRIES_OF_CELL_MAX + cells * 128;
        let mut columns = Self::default();
        let integers = |reader: &mut Reader<'_>, rows_max: usize, into: &mut Vec<i64>| {
            IntegerColumn::read(reader, rows_max)?.all(into)
        };
        integers(reader, cells, &mut columns.counts)?;
        FloatColumn::read(reader, cells * EXACT_VALUES_MAX)?
            .all(&Self::exact_runs(&columns.counts), &mut columns.values)?;
        integers(reader, cells, &mut columns.buckets)?;
        integers(reader, entries_max, &mut columns.indices)?;
        integers(reader, entries_max, &mut columns.bucket_counts)?;
        let one_run = |column: &FloatColumn<'_>, into: &mut Vec<f64>| {
            column.all(&Runs::new([column.rows()]), into)
        };
        one_run(&FloatColumn::read(reader, cells)?, &mut columns.min)?;
        one_run(&FloatColumn::read(reader, cells)?, &mut columns.max)?;
        integers(reader, cells, &mut columns.units_low)?;
        integers(reader, cells, &mut columns.units_high)?;
        integers(reader, cells, &mut columns.components_of)?;
        one_run(&FloatColumn::read(reader, entries_max)?, &mut columns.components)?;
        Ok(columns)
    }

    fn cells(&self) -> CodecResult<Vec<Distribution>> {
        let mut values = self.values.as_slice();
        let mut rest = Rest { columns: self, at: 0, buckets_at: 0, sums_at: 0, components_at: 0 };
        self.counts
            .iter()
            .map(|count| match exact_values(*count) {
                Some(n) => {
                    let short = || CodecError::new("fewer values than cells count");
                    let (cell, later) = values.split_at_checked(n).ok_or_else(short)?;
                    values = later;
                    if cell.iter().any(|v| !v.is_finite()) {
                        return Err(CodecError::new("a value of a distribution is not finite"));
                    }
                    if *count < 0 {
                        return rest.told(cell);
                    }
                    let mut distribution = Distribution::default();
                    cell.iter().for_each(|v| distribution.add(*v));
                    Ok(distribution)
                }
                None => rest.histogram(*count as u64),
            })
            .collect()
    }
}

/// How many values a cell of this count keeps, if it keeps them.
fn exact_values(count: i64) -> Option<usize> {
    usize::try_from(count.unsigned_abs()).ok().filter(|n| *n <= EXACT_VALUES_MAX)
}

/// Walks what columns hold of cells besides their values.
struct Rest<'a> {
    columns: &'a DistributionColumns,
    at: usize,
    buckets_at: usize,
    sums_at: usize,
    components_at: usize,
}

impl Rest<'_> {
    /// The next cell that is a histogram.
    fn histogram(&mut self, count: u64) -> CodecResult<Distribution> {
        self.buckets(count).ok_or_else(|| CodecError::new("fewer histograms than cells count"))?
    }

    /// The next cell with a told sum.
    fn told(&mut self, values: &[f64]) -> CodecResult<Distribution> {
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

impl CellSketch for Cardinality {
    const FRAME: FrameKind = FrameKind::Sets;

    fn add_bits(&mut self, bits: u64) {
        self.insert_hash(bits);
    }

    fn merge(&mut self, other: &Self) {
        Cardinality::merge(self, other);
    }

    fn merge_counted(&mut self, _: &Distribution) -> CodecResult<()> {
        Err(CodecError::new("values of a histogram are no members of a set"))
    }

    fn entries(&self) -> usize {
        (self.count() as usize).min(crate::limits::EXACT_MEMBERS_MAX * 2)
    }

    fn encode(cells: &[Self], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let mut blob = Vec::new();
        let mut lengths = Vec::with_capacity(cells.len());
        for cell in cells {
            let before = blob.len();
            cell.encode(&mut blob);
            lengths.push((blob.len() - before) as i64);
        }
        integers::encode(&lengths, effort, out)?;
        out.extend_from_slice(&blob);
        Ok(())
    }

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Vec<Self>> {
        let mut lengths = Vec::new();
        IntegerColumn::read(reader, cells)?.all(&mut lengths)?;
        lengths
            .into_iter()
            .map(|length| {
                let bytes = reader.take(usize::try_from(length).unwrap_or(usize::MAX))?;
                Cardinality::decode(bytes).map_err(|e| CodecError::new(e.to_string()))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::info::{Tier, sample_info};
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::codec::frame;
    use crate::model::MetricType;
    use proptest::prelude::*;

    fn check<S: CellSketch>(
        kind: MetricType,
        series: &[(u32, Vec<(i64, S)>)],
        same: fn(&S, &S) -> bool,
    ) {
        let mut builder = SketchBlockBuilder::default();
        for (id, cells) in series {
            let (starts, cells): (Vec<_>, Vec<S>) = cells.iter().cloned().unzip();
            builder.push(SeriesId(*id), &starts, &cells);
        }
        let info = sample_info(kind, Tier::Minute);
        let bytes =
            builder.finish(&info, &TimesWriter::new(&AtomicU64::new(0)), Effort::Merge).unwrap();
        let (_, mut block) = SketchBlock::<S>::open(info.key, &bytes).unwrap();
        for (i, (_, cells)) in series.iter().enumerate() {
            let mut expected = cells.iter();
            block
                .read(i, i64::MIN, i64::MAX, |start, cell| {
                    let (wanted_start, wanted) = expected.next().unwrap();
                    assert_eq!(start, *wanted_start);
                    assert!(same(cell, wanted));
                })
                .unwrap();
            assert!(expected.next().is_none());
        }
    }

    fn bytes_of(distribution: &Distribution) -> Vec<u8> {
        let mut out = Vec::new();
        distribution.encode(&mut out);
        out
    }

    #[test]
    fn a_block_of_version_one_is_read() {
        let mut cells = vec![Distribution::default(); 2];
        (0..3).for_each(|v| cells[0].add(f64::from(v)));
        (0..100).for_each(|v| cells[1].add(f64::from(v)));
        let mut builder = SketchBlockBuilder::default();
        builder.push(SeriesId(7), &[0, 60_000], &cells);
        let info = sample_info(MetricType::Distribution, Tier::Minute);
        let now =
            builder.finish(&info, &TimesWriter::new(&AtomicU64::new(0)), Effort::Seal).unwrap();
        let mut old = Vec::new();
        let mark = frame::begin(&mut old, FrameKind::Distributions, 1);
        old.extend_from_slice(&now[frame::HEADER_BYTES..]);
        frame::close(&mut old, mark);
        let (_, mut block) = SketchBlock::<Distribution>::open(info.key, &old).unwrap();
        let mut read = Vec::new();
        block.read(0, 0, i64::MAX, |_, cell| read.push(bytes_of(cell))).unwrap();
        assert_eq!(read, cells.iter().map(bytes_of).collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_distributions_round_trip(
            series in proptest::collection::btree_map(
                any::<u32>(),
                proptest::collection::btree_map(
                    0i64..100,
                    (
                        proptest::collection::vec(prop_oneof![-1e6..1e6f64, Just(2.5)], 1..200),
                        proptest::option::of(-1e6..1e6f64),
                    ),
                    1..8,
                ),
                1..5,
            )
        ) {
            let sketch = |(values, told): (Vec<f64>, Option<f64>)| {
                let mut distribution = Distribution::default();
                values.iter().for_each(|v| distribution.add(*v));
                if let Some(told) = told {
                    let mut sum = ExactSum::default();
                    sum.add(told);
                    distribution.add_told(&[(values[0], 1)], &sum);
                }
                distribution
            };
            let series: Vec<_> = series
                .into_iter()
                .map(|(s, c)| (s, c.into_iter().map(|(t, v)| (t, sketch(v))).collect::<Vec<_>>()))
                .collect();
            check(MetricType::Distribution, &series, |a, b| bytes_of(a) == bytes_of(b));
        }

        #[test]
        fn any_sets_round_trip(sizes in proptest::collection::vec(1u64..1500, 1..6)) {
            let cell = |size: u64| {
                let mut set = Cardinality::default();
                (0..size).for_each(|i| set.insert_hash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                set
            };
            let cells = sizes.iter().enumerate().map(|(i, n)| (i as i64 * 60_000, cell(*n))).collect();
            check(MetricType::Set, &[(7, cells)], |a, b| a.count() == b.count());
        }
    }
}
