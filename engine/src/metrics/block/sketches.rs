//! A block of sketches: the cells of distributions or sets, at one minute or coarser.
//!
//! ```text
//! frame(Distributions) { info │ rows, the times are the cell starts │ columns, see
//! distributions.rs }
//! frame(Sets)          { info │ rows │ columns, see sets.rs }
//! ```
//!
//! A cell has from one entry (a value, a bucket, a member) to thousands, so blocks are cut by the
//! actual number of entries.

use std::fmt::Debug;
use std::ops::Range;

use super::builder::{BlockBuilder, rows_that_fit};
use super::envelope;
use super::info::{BlockInfo, BlockKey};
use super::rows::{BlockTimes, Rows, RowsBuilder};
use crate::codec::bytes::Reader;
use crate::codec::frame::FrameKind;
use crate::codec::integers::Effort;
use crate::codec::verified::expect_same;
use crate::codec::{CodecError, CodecResult};
use crate::limits::{BLOCK_ENTRIES_MAX, BLOCK_ROWS_FULL};
use crate::metrics::times::TimePageWriter;
use crate::model::SeriesId;
use crate::sketch::Distribution;

/// A mergeable summary: the content of a cell of one metric type.
pub(crate) trait CellSketch: Clone + Default + Send + Sync + 'static {
    const FRAME: FrameKind;
    /// The most entries of one cell.
    const CELL_ENTRIES_MAX: usize;

    /// Adds a sample as the head stores it: the bits of a value, or the hash of a member.
    fn add_bits(&mut self, bits: u64);

    fn merge(&mut self, other: &Self);

    /// Adds values that the sender counted. Fails when the metric type does not support them.
    fn merge_counted(&mut self, counted: &Distribution) -> CodecResult<()>;

    /// Returns the exact number of entries that [`Self::encode`] writes for the cell.
    fn entries(&self) -> usize;

    /// Returns the approximate size in memory, in bytes, without the cell's own struct.
    fn bytes(&self) -> usize;

    /// The columns of the cells of a block. They take far less memory than cells with many buckets.
    type Columns: Debug + Default;

    /// Appends the cell to the columns.
    fn push(&self, columns: &mut Self::Columns);

    /// Returns whether two sets of columns are of equal cells, bit for bit.
    fn are_same(a: &Self::Columns, b: &Self::Columns) -> bool;

    /// Returns the approximate size of columns in memory, in bytes.
    fn columns_bytes(columns: &Self::Columns) -> usize;

    fn encode(columns: &Self::Columns, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()>;

    fn decode(reader: &mut Reader<'_>, cells: usize) -> CodecResult<Self::Columns>;

    /// Passes the cells of these rows to `sink`, until it returns false.
    fn each(
        columns: &Self::Columns,
        rows: Range<usize>,
        sink: impl FnMut(Self) -> bool,
    ) -> CodecResult<()>;

    /// Reads cells in the order of their rows.
    type Cursor<'c>: CellCursor<Self>;

    /// Returns a cursor at the first row.
    fn cursor(columns: &Self::Columns) -> Self::Cursor<'_>;

    /// Decodes the cells of all rows and encodes them again. The result equals `columns` if they
    /// decode to what was encoded.
    fn round_trip(columns: &Self::Columns, rows: usize) -> CodecResult<Self::Columns> {
        let mut copy = Self::Columns::default();
        Self::each(columns, 0..rows, |cell| {
            cell.push(&mut copy);
            true
        })?;
        Ok(copy)
    }
}

/// Reads the cells of columns one after the other.
pub(crate) trait CellCursor<S> {
    /// Skips a cell.
    fn skip(&mut self) -> CodecResult<()>;

    /// Skips a cell after checking that it can be merged.
    fn check(&mut self) -> CodecResult<()>;

    /// Merges a cell that was [checked](Self::check) into a sketch, without building it.
    fn merge_checked(&mut self, sketch: &mut S) -> CodecResult<()>;
}

/// Collects the cells of a block, series by series.
#[derive(Debug)]
pub(crate) struct SketchBlockBuilder<S: CellSketch> {
    rows: RowsBuilder,
    cells: S::Columns,
    entries: usize,
}

impl<S: CellSketch> Default for SketchBlockBuilder<S> {
    fn default() -> Self {
        Self { rows: RowsBuilder::default(), cells: S::Columns::default(), entries: 0 }
    }
}

impl<S: CellSketch> BlockBuilder for SketchBlockBuilder<S> {
    type Row = S;

    fn push(&mut self, series: SeriesId, starts: &[i64], cells: &[S]) {
        const { assert!(S::CELL_ENTRIES_MAX <= BLOCK_ENTRIES_MAX, "an empty block accepts any cell") };
        debug_assert_eq!(starts.len(), cells.len(), "one cell per start");
        self.rows.push(series, starts);
        for cell in cells {
            self.entries += cell.entries();
            cell.push(&mut self.cells);
        }
    }

    fn rows(&self) -> &RowsBuilder {
        &self.rows
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + S::columns_bytes(&self.cells)
    }

    fn encoding_bytes(&self) -> usize {
        // The decoded columns, and their copy in the round trip.
        2 * self.bytes()
    }

    fn fits(&self, series: SeriesId, cells: &[S], _share: usize) -> usize {
        let mut entries = self.entries;
        let fits = |cell: &&S| {
            entries += cell.entries();
            entries <= BLOCK_ENTRIES_MAX
        };
        let rows = rows_that_fit(&self.rows, series, cells.len(), BLOCK_ROWS_FULL);
        cells.iter().take(rows).take_while(fits).count()
    }

    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimePageWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>> {
        envelope::build(S::FRAME, info, (&self.rows, times), effort, |out| {
            S::encode(&self.cells, effort, out)
        })
    }

    fn check(&self, info: &BlockInfo, bytes: &[u8], times: &TimePageWriter<'_>) -> CodecResult<()> {
        let (read, block) = SketchRows::<S>::open(info.key, bytes)?;
        envelope::check(info, (&self.rows, times), (&read, &block.rows))?;
        // The decoded columns are turned into cells, one at a time, and encoded again for the
        // comparison.
        let copy = S::round_trip(&block.columns, block.rows.len())?;
        expect_same(S::are_same(&copy, &self.cells), "cells")
    }
}

/// An opened block of sketches, whose cells are decoded on demand.
#[derive(Debug)]
pub(crate) struct SketchRows<'a, S: CellSketch> {
    rows: Rows<'a>,
    columns: S::Columns,
    times: BlockTimes,
}

impl<'a, S: CellSketch> SketchRows<'a, S> {
    pub(crate) fn open(key: BlockKey, bytes: &'a [u8]) -> CodecResult<(BlockInfo, Self)> {
        let (info, rows, columns) =
            envelope::open(S::FRAME, key, bytes, |_, rows, reader| S::decode(reader, rows.len()))?;
        Ok((info, Self { rows, columns, times: BlockTimes::default() }))
    }

    pub(crate) fn series(&self) -> &[u32] {
        self.rows.series()
    }

    /// Decodes everything and compares it with the catalog entry of the block.
    pub(crate) fn verify(&mut self, info: &BlockInfo) -> CodecResult<()> {
        self.rows.check_info(info, &mut self.times)?;
        let mut cells = 0;
        S::each(&self.columns, 0..self.rows.len(), |_| {
            cells += 1;
            true
        })?;
        if cells == self.rows.len() {
            Ok(())
        } else {
            Err(CodecError::new("the block has more rows than cells"))
        }
    }

    /// Returns a reader of several series.
    pub(crate) fn cursor(&self) -> SketchCursor<'_, 'a, S> {
        SketchCursor {
            rows: &self.rows,
            cells: S::cursor(&self.columns),
            next_row: 0,
            times: BlockTimes::default(),
        }
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        S::columns_bytes(&self.columns) + self.rows.series().len() * 4 * size_of::<u32>()
    }

    /// Passes the cells of the series at `index` whose start is in `start..end` to `sink`, in time
    /// order, until it returns false.
    pub(crate) fn read(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
        mut sink: impl FnMut(i64, S) -> bool,
    ) -> CodecResult<()> {
        let first = self.rows.rows_of(index).start;
        let rows = self.rows.rows_between(index, start, end, &mut self.times)?;
        let times = self.rows.times(index, &mut self.times)?;
        let mut starts = (rows.start - first..rows.end - first).map(|row| times.at(row));
        S::each(&self.columns, rows, |cell| starts.next().is_some_and(|start| sink(start, cell)))
    }
}

/// Reads series of a block in the order of their rows, each cell once.
#[derive(Debug)]
pub(crate) struct SketchCursor<'b, 'a, S: CellSketch> {
    rows: &'b Rows<'a>,
    cells: S::Cursor<'b>,
    next_row: usize,
    times: BlockTimes,
}

impl<'b, S: CellSketch> SketchCursor<'b, '_, S> {
    /// Calls `merge` with the start of each cell of the series at `index` whose start is in
    /// `start..end`, and with a cursor at the cell, which `merge` moves to the next one. Series are
    /// read in ascending order.
    pub(crate) fn read(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
        mut merge: impl FnMut(i64, &mut S::Cursor<'b>) -> CodecResult<()>,
    ) -> CodecResult<()> {
        let first = self.rows.rows_of(index).start;
        let rows = self.rows.rows_between(index, start, end, &mut self.times)?;
        if rows.start < self.next_row && !rows.is_empty() {
            return Err(CodecError::new("cells of a block are read in descending order"));
        }
        while self.next_row < rows.start {
            self.cells.skip()?;
            self.next_row += 1;
        }
        let times = self.rows.times(index, &mut self.times)?;
        for row in rows {
            merge(times.at(row - first), &mut self.cells)?;
            self.next_row += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::info::{Tier, sample_info};
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::codec::frame;
    use crate::model::MetricType;
    use crate::sketch::{Cardinality, ExactSum};
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
            builder.finish(&info, &TimePageWriter::new(&AtomicU64::new(0)), Effort::Merge).unwrap();
        builder.check(&info, &bytes, &TimePageWriter::new(&AtomicU64::new(0))).unwrap();
        let (_, mut block) = SketchRows::<S>::open(info.key, &bytes).unwrap();
        for (i, (_, cells)) in series.iter().enumerate() {
            let mut expected = cells.iter();
            block
                .read(i, (i64::MIN, i64::MAX), |start, cell| {
                    let (wanted_start, wanted) = expected.next().unwrap();
                    assert_eq!(start, *wanted_start);
                    assert!(same(&cell, wanted));
                    true
                })
                .unwrap();
            assert!(expected.next().is_none());
        }
        // Merging without building cells is the same, also when series and cells are skipped.
        let (_, rows) = SketchRows::<S>::open(info.key, &bytes).unwrap();
        for step in [1, 2] {
            let mut cursor = rows.cursor();
            for (i, (_, cells)) in series.iter().enumerate().step_by(step) {
                let from = cells.get(step - 1).map_or(i64::MAX, |(start, _)| *start);
                let mut expected = cells.iter().skip(step - 1);
                cursor
                    .read(i, (from, i64::MAX), |start, cell| {
                        let (wanted_start, wanted) = expected.next().unwrap();
                        assert_eq!(start, *wanted_start);
                        let (mut merged, mut twice) = (S::default(), wanted.clone());
                        cell.merge_checked(&mut merged)?;
                        assert!(same(&merged, wanted));
                        twice.merge(wanted);
                        merged.merge(wanted);
                        assert!(same(&merged, &twice));
                        Ok(())
                    })
                    .unwrap();
                assert!(expected.next().is_none());
            }
        }
    }

    fn bytes_of(distribution: &Distribution) -> Vec<u8> {
        let mut out = Vec::new();
        distribution.encode(&mut out);
        out
    }

    #[test]
    fn a_block_of_version_1_is_readable() {
        let mut cells = vec![Distribution::default(); 2];
        (0..3).for_each(|v| cells[0].add(f64::from(v)));
        (0..100).for_each(|v| cells[1].add(f64::from(v)));
        let mut builder = SketchBlockBuilder::default();
        builder.push(SeriesId(7), &[0, 60_000], &cells);
        let info = sample_info(MetricType::Distribution, Tier::Minute);
        let now =
            builder.finish(&info, &TimePageWriter::new(&AtomicU64::new(0)), Effort::Seal).unwrap();
        let mut old = Vec::new();
        let mark = frame::begin(&mut old, FrameKind::Distributions, 1);
        old.extend_from_slice(&now[frame::HEADER_BYTES..]);
        frame::close(&mut old, mark);
        let (_, mut block) = SketchRows::<Distribution>::open(info.key, &old).unwrap();
        let mut read = Vec::new();
        let take = |_, cell: Distribution| {
            read.push(bytes_of(&cell));
            true
        };
        block.read(0, (0, i64::MAX), take).unwrap();
        assert_eq!(read, cells.iter().map(bytes_of).collect::<Vec<_>>());
    }

    /// Returns a set with so many members that its stored form has the maximum size.
    fn widest_set() -> Cardinality {
        let mut set = Cardinality::default();
        (0..200_000u64).for_each(|i| _ = set.insert_hash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        set
    }

    /// Cuts cells of one series into blocks as the block writer does, and verifies each block.
    fn check_blocks<S: CellSketch>(kind: MetricType, cells: &[S]) -> Vec<usize> {
        let (mut rest, mut start, mut blocks) = (cells, 0, Vec::new());
        while !rest.is_empty() {
            let mut builder = SketchBlockBuilder::default();
            let (accepted, remaining) =
                rest.split_at(builder.fits(SeriesId(1), rest, BLOCK_ROWS_FULL));
            let starts: Vec<i64> = (start..).step_by(60_000).take(accepted.len()).collect();
            builder.push(SeriesId(1), &starts, accepted);
            assert!(builder.entries <= BLOCK_ENTRIES_MAX && !accepted.is_empty());
            if !remaining.is_empty() {
                assert_eq!(
                    builder.fits(SeriesId(1), remaining, BLOCK_ROWS_FULL),
                    0,
                    "the next cell needs another block"
                );
            }
            let info = sample_info(kind, Tier::Minute);
            let times = AtomicU64::new(0);
            let times = TimePageWriter::new(&times);
            let bytes = builder.finish(&info, &times, Effort::Seal).unwrap();
            builder.check(&info, &bytes, &times).unwrap();
            blocks.push(accepted.len());
            start += accepted.len() as i64 * 60_000;
            rest = remaining;
        }
        blocks
    }

    #[test]
    fn the_largest_cells_fit_into_blocks() {
        let widest = Distribution::widest();
        assert_eq!(CellSketch::entries(&widest), <Distribution as CellSketch>::CELL_ENTRIES_MAX);
        let full = BLOCK_ENTRIES_MAX / <Distribution as CellSketch>::CELL_ENTRIES_MAX;
        let blocks = check_blocks(MetricType::Distribution, &vec![widest; 2 * full + 1]);
        assert_eq!(blocks, [full, full, 1]);
        let widest = widest_set();
        assert_eq!(CellSketch::entries(&widest), <Cardinality as CellSketch>::CELL_ENTRIES_MAX);
        let full = BLOCK_ENTRIES_MAX / <Cardinality as CellSketch>::CELL_ENTRIES_MAX;
        assert_eq!(check_blocks(MetricType::Set, &vec![widest; full + 1]), [full, 1]);
    }

    #[test]
    fn a_block_of_the_first_version_is_readable_whatever_the_size_of_its_cells() {
        // The first version cut a block after 1024 cells with buckets.
        let mut cell = Distribution::default();
        (0..1_000).for_each(|i| cell.add(f64::from(i).powi(3) / 1e3));
        assert!(1_024 * CellSketch::entries(&cell) > 3 * BLOCK_ENTRIES_MAX);
        let cells = vec![cell; 1_024];
        let starts: Vec<i64> = (0..1_024).map(|i| i * 60_000).collect();
        let mut builder = SketchBlockBuilder::default();
        builder.push(SeriesId(1), &starts, &cells);
        let info = sample_info(MetricType::Distribution, Tier::Minute);
        let times = AtomicU64::new(0);
        let times = TimePageWriter::new(&times);
        let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
        builder.check(&info, &bytes, &times).unwrap();
    }

    #[test]
    fn the_number_of_entries_is_the_number_encoded() {
        let mut distribution = Distribution::default();
        let mut set = Cardinality::default();
        for i in 0..3_000u64 {
            let hash = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            distribution.add((hash >> 11) as f64 / 1e9 - 3e6);
            set.insert_hash(hash);
            if i % 97 == 0 || (60..70).contains(&i) || (995..1_005).contains(&i) {
                let entries = match distribution.parts().entries {
                    crate::sketch::Entries::Exact(values) => values.len(),
                    crate::sketch::Entries::Buckets { indices, .. } => indices.len(),
                };
                assert_eq!(CellSketch::entries(&distribution), entries);
                let mut stored = Vec::new();
                set.encode(&mut stored);
                assert_eq!(set.stored_bytes(), stored.len());
            }
        }
    }

    #[test]
    fn an_invalid_number_of_buckets_is_refused() {
        let mut cell = Distribution::default();
        (0..100).for_each(|i| cell.add(f64::from(i)));
        let mut bytes = Vec::new();
        let mut columns = <Distribution as CellSketch>::Columns::default();
        cell.push(&mut columns);
        <Distribution as CellSketch>::encode(&columns, Effort::Seal, &mut bytes).unwrap();
        let read = |bytes: &[u8]| {
            let columns = <Distribution as CellSketch>::decode(&mut Reader::new(bytes), 1)?;
            <Distribution as CellSketch>::each(&columns, 0..1, |_| true)
        };
        assert!(read(&bytes).is_ok());
        // The counts are constant (one row), and there are no values; then comes the number of
        // buckets of the cell, also constant.
        let at = bytes.windows(4).rposition(|w| w == [1, 0, 200, 1]).unwrap();
        assert!(at > 0);
        for buckets in [<Distribution as CellSketch>::CELL_ENTRIES_MAX as i64 + 1, -1, i64::MAX] {
            let mut bad = bytes[..at + 2].to_vec();
            crate::codec::bytes::put_signed(&mut bad, buckets);
            bad.extend_from_slice(&bytes[at + 4..]);
            assert!(read(&bad).is_err());
        }
    }

    #[test]
    fn any_difference_between_a_block_and_its_cells_is_detected() {
        let cells = |change: fn(&mut Distribution)| {
            let mut cells = vec![Distribution::default(); 3];
            (0..3).for_each(|v| cells[0].add(f64::from(v)));
            (0..100).for_each(|v| cells[1].add(f64::from(v)));
            (0..100).for_each(|v| cells[2].add(f64::from(v) / 7.0));
            cells.iter_mut().for_each(change);
            cells
        };
        let built = |cells: &[Distribution]| {
            let mut builder = SketchBlockBuilder::default();
            builder.push(SeriesId(7), &[0, 60_000, 120_000], cells);
            builder
        };
        let info = sample_info(MetricType::Distribution, Tier::Minute);
        let times = AtomicU64::new(0);
        let times = TimePageWriter::new(&times);
        let builder = built(&cells(|_| {}));
        let bytes = builder.finish(&info, &times, Effort::Seal).unwrap();
        assert!(builder.check(&info, &bytes, &times).is_ok());
        let changes: [fn(&mut Distribution); 3] = [
            |c| c.add(1.0),
            |c| c.add_with_sum(&[(2.0, 1)], &ExactSum::default()),
            |c| c.add(-1e-9),
        ];
        for change in changes {
            assert!(built(&cells(change)).check(&info, &bytes, &times).is_err());
        }
        let mut moved = SketchBlockBuilder::default();
        moved.push(SeriesId(7), &[0, 60_000, 180_000], &cells(|_| {}));
        assert!(moved.check(&info, &bytes, &times).is_err());
        let mut other = SketchBlockBuilder::default();
        other.push(SeriesId(8), &[0, 60_000, 120_000], &cells(|_| {}));
        assert!(other.check(&info, &bytes, &times).is_err());
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
            let sketch = |(values, reported): (Vec<f64>, Option<f64>)| {
                let mut distribution = Distribution::default();
                values.iter().for_each(|v| distribution.add(*v));
                if let Some(reported) = reported {
                    let mut sum = ExactSum::default();
                    sum.add(reported);
                    distribution.add_with_sum(&[(values[0], 1)], &sum);
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
                (0..size).for_each(|i| _ = set.insert_hash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                set
            };
            let cells = sizes.iter().enumerate().map(|(i, n)| (i as i64 * 60_000, cell(*n))).collect();
            check(MetricType::Set, &[(7, cells)], |a, b| a.count() == b.count());
        }
    }
}
