//! Tests of reads that begin in the middle of a page: they return what reads from its beginning do,
//! whatever was read before and has noted stops.

use std::sync::atomic::AtomicU64;

use proptest::prelude::*;

use super::builder::BlockBuilder;
use super::cell_rows::CellRows;
use super::info::{Tier, sample_info};
use super::{
    CellBlockBuilder, CellColumn, DecimalCells, DecodedFrom, OpenedBlock, PointBlockBuilder,
};
use crate::codec::integers::Effort;
use crate::metrics::cell::NumberCell;
use crate::metrics::times::TimePageWriter;
use crate::model::{MetricType, SeriesId};

const SERIES: u32 = 12;
const ROWS: i64 = 1_700;
const STEP: i64 = 10_000;

/// The values of a block.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// Small steps, of which codes of words have stops.
    Steps,
    /// The same with a jump here and there: exceptions of the code.
    Jumps,
    /// Values whose columns have no stops.
    Doubles,
}

impl Values {
    fn at(self, series: u32, row: i64) -> f64 {
        let step = (row * row * 31 + row * i64::from(series)) % 7;
        let walk = (row % 40 * 3 + step) as f64;
        match self {
            Self::Steps => walk,
            Self::Jumps => walk + if row % 1_009 == 500 { 1e7 } else { 0.0 },
            Self::Doubles => walk.sqrt() + f64::from(series),
        }
    }
}

/// Returns an opened block of [`SERIES`] series with [`ROWS`] samples each.
fn points(values: Values) -> OpenedBlock {
    let mut builder = PointBlockBuilder::default();
    for series in 0..SERIES {
        let times: Vec<i64> = (0..ROWS).map(|row| row * STEP).collect();
        let values: Vec<f64> = (0..ROWS).map(|row| values.at(series, row)).collect();
        builder.push(SeriesId(series), &times, &values);
    }
    opened(&builder, Tier::Raw)
}

/// Returns an opened block of [`SERIES`] series with [`ROWS`] cells of three samples each.
fn cells(values: Values) -> OpenedBlock {
    let mut builder = CellBlockBuilder::default();
    for series in 0..SERIES {
        let starts: Vec<i64> = (0..ROWS).map(|row| row * STEP).collect();
        let cells: Vec<NumberCell> = (0..ROWS).map(|row| cell(values, series, row)).collect();
        builder.push(SeriesId(series), &starts, &cells);
    }
    opened(&builder, Tier::Minute)
}

fn cell(values: Values, series: u32, row: i64) -> NumberCell {
    let mut cell = NumberCell::EMPTY;
    (0..3).for_each(|i| cell.add(series, row * STEP + i, values.at(series, 3 * row + i)));
    cell
}

fn opened(builder: &impl BlockBuilder, tier: Tier) -> OpenedBlock {
    let mut info = sample_info(MetricType::Gauge, tier);
    let sequence = AtomicU64::new(3);
    let bytes = builder.finish(&info, &TimePageWriter::new(&sequence), Effort::Merge).unwrap();
    info.bytes = bytes.len() as u32;
    OpenedBlock::open(&info, &bytes).unwrap()
}

/// Reads rows of some series of a block of samples, and compares them with those written.
fn check_points(block: &OpenedBlock, values: Values, series: &[u32], (start, end): (i64, i64)) {
    let mut points = block.points(|_, _| unreachable!("the times are regular")).unwrap();
    points.expect(series.len(), 2);
    let mut read = Vec::new();
    let wanted = series.iter().map(|series| (*series as usize, *series));
    points
        .read_each(wanted, (start * STEP, end * STEP), |series, samples| {
            let mut values = Vec::new();
            samples.values.extend(&mut values);
            let times = (0..values.len()).map(|at| samples.times.at(samples.first + at));
            read.extend(times.zip(values).map(|(time, value)| (series, time, value)));
            Ok(())
        })
        .unwrap();
    let of_series = |series: u32| {
        (start..end.min(ROWS)).map(move |row| (series, row * STEP, values.at(series, row)))
    };
    let written: Vec<_> = series.iter().flat_map(|series| of_series(*series)).collect();
    assert_eq!(read, written, "{values:?}, {series:?}, {start}..{end}");
}

/// Reads cells of one series, and compares them with those written.
fn check_cells(
    block: &OpenedBlock,
    values: Values,
    (series, wanted): (u32, CellColumn),
    (start, end): (i64, i64),
) {
    let mut cells = block.cells().unwrap();
    cells.expect_few();
    let mut row = start;
    let check = |rows: CellRows<'_>| {
        if let Some(DecimalCells { columns, times, first }) = rows.decimals()? {
            for (at, sum) in columns.sums.iter().enumerate() {
                let row = row + at as i64;
                let written = cell(values, series, row);
                assert_eq!(times.at(first + at), row * STEP);
                assert_eq!(i128::from(*sum) * columns.units, written.sum.units, "{row}");
                let count = columns.counts.get(at).map(|count| count.cast_unsigned());
                assert_eq!(count, wanted.count.then_some(written.count), "{row}");
            }
        }
        rows.each(|time, read| {
            let (written, empty) = (cell(values, series, row), NumberCell::EMPTY);
            assert_eq!(time, row * STEP);
            assert_eq!(read.sum, if wanted.sum { written.sum } else { empty.sum }, "{row}");
            assert_eq!(read.min, if wanted.min { written.min } else { empty.min }, "{row}");
            assert_eq!(read.max, if wanted.max { written.max } else { empty.max }, "{row}");
            assert_eq!(read.last, if wanted.last { written.last } else { empty.last }, "{row}");
            assert_eq!(read.count, if wanted.count { written.count } else { 1 }, "{row}");
            row += 1;
        })
    };
    cells.read_rows(series as usize, (start * STEP, end * STEP), wanted, check).unwrap();
    assert_eq!(row, end.min(ROWS).max(start));
}

fn range() -> impl Strategy<Value = (i64, i64)> {
    let lengths = prop_oneof![1..40i64, Just(ROWS / 2), Just(ROWS), 300..1_600i64];
    (0..ROWS, lengths).prop_map(|(start, length)| (start, start + length))
}

fn values() -> impl Strategy<Value = Values> {
    prop_oneof![Just(Values::Steps), Just(Values::Jumps), Just(Values::Doubles)]
}

fn columns() -> impl Strategy<Value = CellColumn> {
    any::<[bool; 5]>().prop_map(|[count, sum, min, max, last]| CellColumn {
        count,
        sum,
        min,
        max,
        last,
    })
}

#[test]
fn parts_of_all_series_are_read_from_stops_once_they_are_noted() {
    let block = points(Values::Steps);
    let all: Vec<u32> = (0..SERIES).collect();
    check_points(&block, Values::Steps, &all, (0, ROWS));
    assert_eq!(block.decoded_from(), DecodedFrom::Page, "nothing was skipped");
    let before = block.bytes();
    check_points(&block, Values::Steps, &all, (0, ROWS / 2));
    assert_eq!(block.decoded_from(), DecodedFrom::KnownStops);
    assert!(block.bytes() > before);
    for range in [(0, ROWS / 2), (0, 3), (700, 1_000), (ROWS - 5, ROWS), (0, ROWS)] {
        check_points(&block, Values::Steps, &all, range);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn samples_are_the_same_in_any_order_of_reads(
        values in values(),
        reads in prop::collection::vec(
            (prop::sample::subsequence((0..SERIES).collect::<Vec<_>>(), 1..=SERIES as usize), range()), 1..12,
        ),
    ) {
        let block = points(values);
        for (series, range) in reads {
            check_points(&block, values, &series, range);
        }
    }

    #[test]
    fn cells_are_the_same_in_any_order_of_reads(
        values in values(),
        reads in prop::collection::vec((0..SERIES, columns(), range()), 1..20),
    ) {
        let block = cells(values);
        for (series, wanted, range) in reads {
            check_cells(&block, values, (series, wanted), range);
        }
    }
}
