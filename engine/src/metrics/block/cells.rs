//! A block of rollup cells of a gauge or counter.
//!
//! ```text
//! frame(Cells) { info │ rows, the times are the cell starts │ form: u8 │ columns }
//!
//! form 4, of gauges
//!        counts: integers │ numbers, see `predicted.rs` │ last time less cell start: integers
//!
//! other forms
//!        sums │ for gauges: gauge columns
//! sums   form
//!          0  decimal parts: floats
//!          1  decimal parts in units of 1e-9: low 64 bits: integers │ high 64 bits: integers
//!          +2 with sums of values of at least 2^900
//!        high: floats │ low: floats
//!        of huge values, in units of 2^128: high: floats │ low: floats
//! gauge  counts: integers │ min: floats │ max: floats │ last: floats
//!        last time less cell start: integers
//!
//! Queries only sum counters, so their cells contain nothing else.

use super::builder::BlockBuilder;
use super::cell_columns::{CellColumns, PREDICTED, SUMS_AS_FLOATS, SUMS_AS_UNITS, WITH_HUGE_SUMS};
use super::cell_page::{CellPage, PageRows};
use super::cell_rows::CellRows;
use super::envelope;
use super::info::{BlockInfo, BlockKey};
use super::opened::Held;
use super::predicted::Numbers;
use super::rows::{BlockTimes, Rows, RowsBuilder};
use crate::cast::low_word_signed;
use crate::codec::CodecResult;
use crate::codec::floats;
use crate::codec::frame::FrameKind;
use crate::codec::integers::{self, Effort, PAGE_ROWS};
use crate::codec::runs::Runs;
use crate::codec::verified::expect_same;
pub(crate) use crate::metrics::cell::{NumberCell, units_value};
use crate::metrics::times::TimePageWriter;
use crate::model::{MetricType, SeriesId};
use crate::sketch::decimal_units_of;

/// Bytes that encoding a cell takes in addition to the cell.
const ENCODED_CELL_BYTES: usize = 11 * size_of::<u64>();

/// A selection of the columns of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellColumn {
    pub(crate) count: bool,
    pub(crate) sum: bool,
    pub(crate) min: bool,
    pub(crate) max: bool,
    pub(crate) last: bool,
}

impl CellColumn {
    pub(crate) const ALL: Self = Self { count: true, sum: true, min: true, max: true, last: true };
}

/// Collects the cells of a block, series by series.
#[derive(Debug, Default)]
pub(crate) struct CellBlockBuilder {
    rows: RowsBuilder,
    starts: Vec<i64>,
    cells: Vec<NumberCell>,
}

impl BlockBuilder for CellBlockBuilder {
    type Row = NumberCell;

    fn push(&mut self, series: SeriesId, starts: &[i64], cells: &[NumberCell]) {
        debug_assert_eq!(starts.len(), cells.len(), "one cell per start");
        self.rows.push(series, starts);
        self.starts.extend_from_slice(starts);
        self.cells.extend_from_slice(cells);
    }

    fn rows(&self) -> &RowsBuilder {
        &self.rows
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + size_of_val(self.starts.as_slice()) + size_of_val(self.cells.as_slice())
    }

    fn encoding_bytes(&self) -> usize {
        // The numbers as floats, as decimals and as columns, and sums and counts.
        ENCODED_CELL_BYTES * self.rows.rows()
    }

    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimePageWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>> {
        envelope::build(FrameKind::Cells, info, (&self.rows, times), effort, |out| {
            self.encode(info.kind, effort, out)
        })
    }

    fn check(&self, info: &BlockInfo, bytes: &[u8], times: &TimePageWriter<'_>) -> CodecResult<()> {
        let (read, mut block) = CellBlock::open(info.key, bytes)?;
        envelope::check(info, (&self.rows, times), (&read, &block.opened.rows))?;
        let built = self.cells.chunks(PAGE_ROWS).zip(self.starts.chunks(PAGE_ROWS));
        for (page, (cells, starts)) in built.enumerate() {
            block.load(PageRows { page, rows: 0..PAGE_ROWS }, CellColumn::ALL)?;
            expect_same(block.rows_of_page(page) == cells.len(), "counts of cells")?;
            for (row, (cell, start)) in cells.iter().zip(starts).enumerate() {
                expect_same(is_same(info.kind, &block.page.cell(row)?, cell, *start), "cells")?;
            }
        }
        Ok(())
    }
}

/// Returns whether a decoded cell, whose last time is relative to its start, equals the encoded
/// one.
fn is_same(kind: MetricType, read: &NumberCell, cell: &NumberCell, start: i64) -> bool {
    let sum = |cell: &NumberCell| (cell.sum.units, cell.sum.high.to_bits(), cell.sum.low.to_bits());
    let gauge = |cell: &NumberCell| {
        let numbers = [cell.min, cell.max, cell.last].map(f64::to_bits);
        (cell.count, numbers)
    };
    let offset = cell.last_time.wrapping_sub(start);
    sum(read) == sum(cell)
        && (kind != MetricType::Gauge || (gauge(read) == gauge(cell) && read.last_time == offset))
}

impl CellBlockBuilder {
    fn encode(&self, kind: MetricType, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let runs = Runs::new(self.rows.counts().iter().map(|n| *n as usize));
        let mark = out.len();
        self.encode_alone(kind, &runs, effort, out)?;
        // What a seal writes is read until the next compaction only.
        if kind == MetricType::Gauge
            && effort == Effort::Merge
            && let Some(numbers) = Numbers::of(&self.cells)
        {
            let mut predicted = vec![PREDICTED];
            self.put_counts(effort, &mut predicted)?;
            numbers.encode(&runs, effort, &mut predicted)?;
            self.put_last_offsets(effort, &mut predicted)?;
            if predicted.len() < out.len() - mark {
                out.truncate(mark);
                out.extend_from_slice(&predicted);
            }
        }
        Ok(())
    }

    fn put_counts(&self, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let counts: Vec<i64> = self.cells.iter().map(|c| c.count.cast_signed()).collect();
        integers::encode(&counts, effort, out)
    }

    fn put_last_offsets(&self, effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
        let offsets = self.cells.iter().zip(&self.starts).map(|(c, start)| c.last_time - start);
        integers::encode(&offsets.collect::<Vec<_>>(), effort, out)
    }

    /// Appends columns that can be decoded alone.
    fn encode_alone(
        &self,
        kind: MetricType,
        runs: &Runs,
        effort: Effort,
        out: &mut Vec<u8>,
    ) -> CodecResult<()> {
        let floats = |column: &dyn Fn(&NumberCell) -> f64, out: &mut Vec<u8>| {
            let values: Vec<f64> = self.cells.iter().map(column).collect();
            floats::encode(&values, runs, effort, out)
        };
        let exact = |cell: &NumberCell| {
            decimal_units_of(units_value(cell.sum.units)) == Some(cell.sum.units)
        };
        let huge = self.cells.iter().any(|cell| cell.sum.has_huge());
        let with_huge = if huge { WITH_HUGE_SUMS } else { 0 };
        if effort != Effort::Plain && self.cells.iter().all(exact) {
            out.push(SUMS_AS_FLOATS | with_huge);
            floats(&|c| units_value(c.sum.units), out)?;
        } else {
            out.push(SUMS_AS_UNITS | with_huge);
            let halves = |shift: u32| {
                self.cells.iter().map(|c| low_word_signed(c.sum.units >> shift)).collect::<Vec<_>>()
            };
            integers::encode(&halves(0), effort, out)?;
            integers::encode(&halves(64), effort, out)?;
        }
        floats(&|c| c.sum.high, out)?;
        floats(&|c| c.sum.low, out)?;
        if huge {
            floats(&|c| c.sum.huge_high, out)?;
            floats(&|c| c.sum.huge_low, out)?;
        }
        if kind == MetricType::Gauge {
            self.put_counts(effort, out)?;
            floats(&|c| c.min, out)?;
            floats(&|c| c.max, out)?;
            floats(&|c| c.last, out)?;
            self.put_last_offsets(effort, out)?;
        }
        Ok(())
    }
}

/// An opened block of cells, the same for all who read it.
#[derive(Debug)]
pub(super) struct OpenedCells<'a> {
    rows: Rows<'a>,
    runs: Runs,
    columns: CellColumns<'a>,
}

/// A reader of a block of cells. Pages are decoded on demand; when series are read in order, each
/// page is decoded once.
#[derive(Debug)]
pub(crate) struct CellBlock<'a> {
    opened: Held<'a, OpenedCells<'a>>,
    times: BlockTimes,
    page: CellPage,
    /// Whether little more is decoded than the rows that are read, see [`Self::expect_few`].
    reads_few: bool,
}

impl<'a> OpenedCells<'a> {
    pub(super) fn open(key: BlockKey, bytes: &'a [u8]) -> CodecResult<(BlockInfo, Self)> {
        let (info, rows, columns) =
            envelope::open(FrameKind::Cells, key, bytes, CellColumns::read)?;
        let runs = Runs::new(rows.counts());
        Ok((info, Self { rows, runs, columns }))
    }

    /// Returns the approximate bytes in memory besides the block.
    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.runs.bytes() + self.columns.bytes()
    }
}

impl<'a> CellBlock<'a> {
    pub(crate) fn open(key: BlockKey, bytes: &'a [u8]) -> CodecResult<(BlockInfo, Self)> {
        let (info, opened) = OpenedCells::open(key, bytes)?;
        Ok((info, Self::of(Held::Own(opened))))
    }

    /// Returns a reader of an opened block.
    pub(super) fn of(opened: Held<'a, OpenedCells<'a>>) -> Self {
        let (times, page) = (BlockTimes::default(), CellPage::default());
        Self { opened, times, page, reads_few: false }
    }

    pub(crate) fn series(&self) -> &[u32] {
        self.opened.rows.series()
    }

    /// Decodes everything and compares it with the catalog entry of the block.
    pub(crate) fn verify(&mut self, info: &BlockInfo) -> CodecResult<()> {
        self.opened.rows.check_info(info, &mut self.times)?;
        (0..self.opened.rows.len().div_ceil(PAGE_ROWS)).try_for_each(|page| {
            self.load(PageRows { page, rows: 0..PAGE_ROWS }, CellColumn::ALL)?;
            (0..self.rows_of_page(page)).try_for_each(|row| self.page.cell(row).map(drop))
        })
    }

    /// Declares that one or two series are read: little more than their rows is decoded then.
    pub(crate) fn expect_few(&mut self) {
        self.reads_few = true;
    }

    /// Passes the cells of the series at `index` whose start is in `start..end` to `sink`, in time
    /// order. Only the columns in `wanted` are filled; the others are as in [`NumberCell::EMPTY`],
    /// but the count is then 1.
    pub(crate) fn read(
        &mut self,
        index: usize,
        start: i64,
        end: i64,
        wanted: CellColumn,
        mut sink: impl FnMut(i64, &NumberCell),
    ) -> CodecResult<()> {
        self.read_rows(index, (start, end), wanted, |rows| rows.each(&mut sink))
    }

    /// Passes cells like [`Self::read`], those of each page at once.
    pub(crate) fn read_rows(
        &mut self,
        index: usize,
        (start, end): (i64, i64),
        wanted: CellColumn,
        mut sink: impl FnMut(CellRows<'_>) -> CodecResult<()>,
    ) -> CodecResult<()> {
        let rows = self.opened.rows.rows_of(index);
        let series = self.opened.rows.series()[index];
        let between = self.opened.rows.rows_between(index, start, end, &mut self.times)?;
        let (mut row, stop) = (between.start, between.end);
        while row < stop {
            let page = row / PAGE_ROWS;
            let piece_end = stop.min((page + 1) * PAGE_ROWS);
            let first = page * PAGE_ROWS;
            // Decoding begins with the rows of the series in the page.
            let from = rows.start.saturating_sub(first);
            self.load(PageRows { page, rows: from..piece_end - first }, wanted)?;
            let times = self.opened.rows.times(index, &mut self.times)?;
            sink(CellRows {
                page: &self.page,
                rows: row - first..piece_end - first,
                times,
                first: row - rows.start,
                series,
            })?;
            row = piece_end;
        }
        Ok(())
    }

    fn rows_of_page(&self, page: usize) -> usize {
        self.opened.rows.len().saturating_sub(page * PAGE_ROWS).min(PAGE_ROWS)
    }

    /// Decodes the wanted columns of some rows of a page, or of all unless few are read.
    fn load(&mut self, mut rows: PageRows, wanted: CellColumn) -> CodecResult<()> {
        let rows_of_page = self.rows_of_page(rows.page);
        if !self.reads_few {
            rows.rows = 0..rows_of_page;
        }
        let OpenedCells { runs, columns, .. } = &*self.opened;
        self.page.load(rows, rows_of_page, wanted, (columns, runs))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell_page::DecimalColumns;
    use super::super::cell_rows::DecimalCells;
    use super::super::info::{Tier, sample_info};
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::metrics::cell::Sum;
    use proptest::prelude::*;

    fn cells(seed: &[(i64, f64)], series: u32) -> (Vec<i64>, Vec<NumberCell>) {
        let mut starts = Vec::new();
        let mut cells: Vec<NumberCell> = Vec::new();
        for (time, value) in seed {
            let start = time - time.rem_euclid(100);
            if starts.last() != Some(&start) {
                starts.push(start);
                cells.push(NumberCell::EMPTY);
            }
            if let Some(cell) = cells.last_mut() {
                cell.add(series, *time, *value);
            }
        }
        (starts, cells)
    }

    proptest! {
        #[test]
        fn any_cells_round_trip(
            series in proptest::collection::btree_map(
                any::<u32>(),
                proptest::collection::btree_map(
                    0i64..9000,
                    prop_oneof![-1e9..1e9f64, (-9999i64..9999).prop_map(|m| m as f64 / 100.0), Just(1e22), Just(-1e308)],
                    1..60,
                ),
                1..20,
            ),
            counter in any::<bool>(),
        ) {
            let kind = if counter { MetricType::Counter } else { MetricType::Gauge };
            let info = sample_info(kind, Tier::FiveMinutes);
            let mut builder = CellBlockBuilder::default();
            let series: Vec<_> = series
                .into_iter()
                .map(|(id, points)| (id, cells(&points.into_iter().collect::<Vec<_>>(), id)))
                .collect();
            for (id, (starts, cells)) in &series {
                builder.push(SeriesId(*id), starts, cells);
            }
            let sequence = AtomicU64::new(0);
            let times = TimePageWriter::new(&sequence);
            let plain = builder.finish(&info, &times, Effort::Plain).unwrap();
            builder.check(&info, &plain, &times).unwrap();
            let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
            builder.check(&info, &bytes, &times).unwrap();
            if let Some(cell) = builder.cells.first_mut() {
                cell.sum.units ^= 1;
                prop_assert!(builder.check(&info, &bytes, &times).is_err());
            }
            let (_, mut block) = CellBlock::open(info.key, &bytes).unwrap();
            for (i, (_, (starts, cells))) in series.iter().enumerate() {
                let mut at = 0;
                block.read(i, i64::MIN, i64::MAX, CellColumn::ALL, |start, cell| {
                    assert_eq!(start, starts[at]);
                    if counter {
                        assert_eq!((cell.sum, cell.count), (cells[at].sum, 1));
                    } else {
                        assert_eq!(*cell, cells[at]);
                    }
                    at += 1;
                }).unwrap();
                prop_assert_eq!(at, starts.len());
                for count in [true, false] {
                    check_decimals(&mut block, i, CellColumn { sum: true, count, ..CellColumn::default() });
                }
            }
        }
    }

    /// Compares the columns of the cells of a series with its cells. Returns how many cells they
    /// have.
    fn check_decimals(block: &mut CellBlock<'_>, index: usize, wanted: CellColumn) -> usize {
        let mut in_columns = 0;
        let check = |rows: CellRows<'_>| {
            let Some(columns) = rows.decimals()? else { return Ok(()) };
            let DecimalCells { columns: DecimalColumns { counts, sums, units }, times, first } =
                columns;
            let found = sums.iter().enumerate().map(|(at, sum)| {
                let count = counts.get(at).map_or(1, |count| count.cast_unsigned());
                let sum = Sum { units: i128::from(*sum) * units, ..Sum::ZERO };
                (times.at(first + at), count, sum)
            });
            let found: Vec<_> = found.collect();
            let mut expected = Vec::new();
            rows.each(|start, cell| expected.push((start, cell.count, cell.sum)))?;
            assert_eq!(found, expected);
            in_columns += found.len();
            Ok(())
        };
        block.read_rows(index, (i64::MIN, i64::MAX), wanted, check).unwrap();
        in_columns
    }

    #[test]
    fn counts_and_sums_of_decimals_are_read_as_columns() {
        let info = sample_info(MetricType::Gauge, Tier::Minute);
        let last = CellColumn { last: true, sum: true, ..CellColumn::default() };
        let sum = CellColumn { sum: true, ..CellColumn::default() };
        let both = CellColumn { count: true, ..sum };
        for (divisor, wanted, is_read) in
            [(100.0, sum, true), (100.0, both, true), (3.0, sum, false), (100.0, last, false)]
        {
            let points: Vec<_> = (0..9_000).map(|i| (i * 40, (i % 97) as f64 / divisor)).collect();
            let mut builder = CellBlockBuilder::default();
            for id in [4, 8] {
                let (starts, cells) = cells(&points, id);
                builder.push(SeriesId(id), &starts, &cells);
            }
            let sequence = AtomicU64::new(0);
            let times = TimePageWriter::new(&sequence);
            let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
            let (_, mut block) = CellBlock::open(info.key, &bytes).unwrap();
            let found = check_decimals(&mut block, 1, wanted);
            assert_eq!(found, if is_read { 3_600 } else { 0 }, "{divisor} {wanted:?}");
        }
    }

    #[test]
    fn a_block_of_version_1_is_readable() {
        let info = sample_info(MetricType::Gauge, Tier::Hour);
        let mut builder = CellBlockBuilder::default();
        let (starts, cells) = cells(&[(5, 0.25), (7, 1.0 / 3.0), (120, 1e22)], 3);
        builder.push(SeriesId(3), &starts, &cells);
        let mut bytes =
            builder.finish(&info, &TimePageWriter::new(&AtomicU64::new(0)), Effort::Merge).unwrap();
        assert_eq!(bytes[1], 2);
        bytes[1] = 1;
        crate::codec::frame::close(&mut bytes, 0);
        let (_, mut block) = CellBlock::open(info.key, &bytes).unwrap();
        let mut read = Vec::new();
        block.read(0, i64::MIN, i64::MAX, CellColumn::ALL, |_, cell| read.push(*cell)).unwrap();
        assert_eq!(read, cells);
    }

    #[test]
    fn a_range_of_a_long_column_is_read_from_the_right_pages() {
        let info = sample_info(MetricType::Gauge, Tier::Minute);
        let points: Vec<(i64, f64)> = (0..20_000).map(|i| (i * 100, i as f64)).collect();
        let mut builder = CellBlockBuilder::default();
        for id in [4, 8] {
            let (starts, cells) = cells(&points, id);
            builder.push(SeriesId(id), &starts, &cells);
        }
        let bytes =
            builder.finish(&info, &TimePageWriter::new(&AtomicU64::new(0)), Effort::Seal).unwrap();
        let (_, mut block) = CellBlock::open(info.key, &bytes).unwrap();
        let mut seen = Vec::new();
        let wanted = CellColumn { sum: true, ..CellColumn::default() };
        block.read(1, 500_000, 501_000, wanted, |_, c| seen.push(c.sum.value())).unwrap();
        assert_eq!(seen, (5000..5010).map(f64::from).collect::<Vec<_>>());
        // A prefix of a page, then further rows of it, then another page.
        let (_, mut block) = CellBlock::open(info.key, &bytes).unwrap();
        block.expect_few();
        for from in [410_000, 412_000, 411_000, 500_000, 1_990_000] {
            let mut seen = Vec::new();
            block.read(1, from, from + 1_000, wanted, |_, c| seen.push(c.sum.value())).unwrap();
            let first = (from / 100) as i32;
            assert_eq!(seen, (first..first + 10).map(f64::from).collect::<Vec<_>>());
        }
    }
}
