//! Numbers of gauge cells, each column less what others predict.
//!
//! The columns of a cell say much about each other. The values of an hour begin near the last one
//! of the hour before and end with the last one, so that the lowest is little below the lower of
//! these two; and the mean is near the middle of the lowest and the highest. What is left takes
//! four fifths of the bytes. Only for cells whose numbers are all decimals. Figures:
//! `docs/decisions/0021-columns-of-cells-predict-each-other.md`.
//!
//! ```text
//! scale: u8 │ unit: varint                    numbers are integer · unit / 10^scale
//! deltas: u8                                  0 or 1
//! last: integers in runs, see `run_integers.rs`
//! below: integers                             lower of the last one and the one before, less min
//! above: integers                             max less the higher of the two
//! sums: integers                              sum less count · (min + max) / 2, rounded down
//! ```
//!
//! The first cell of a run has none before: its own last value stands for that.

use super::cell_page::PageRows;
use super::cells::NumberCell;
use crate::cast::integer_part;
use crate::codec::bytes::{Reader, put_varint};
use crate::codec::decimals::{
    SCALE_MAX, common_divisor, decimals_at, exact_decimals, power_of_ten,
};
use crate::codec::floats::FloatPage;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::run_integers::{self, RunIntegers, deltas_are_smaller};
use crate::codec::runs::Runs;
use crate::codec::{CodecError, CodecResult};

/// Units are below this, as those of other decimals.
const UNIT_MAX: u64 = 1 << 52;

/// The numbers of cells as integers.
#[derive(Debug)]
pub(super) struct Numbers {
    scale: u8,
    unit: i64,
    counts: Vec<i64>,
    sums: Vec<i64>,
    min: Vec<i64>,
    max: Vec<i64>,
    last: Vec<i64>,
}

impl Numbers {
    /// Returns the numbers of cells, if all are decimals and small enough.
    pub(super) fn of(cells: &[NumberCell]) -> Option<Self> {
        let are_decimal = |cell: &NumberCell| {
            let floats = [cell.sum.high, cell.sum.low, cell.sum.huge_high, cell.sum.huge_low];
            floats.iter().all(|float| float.to_bits() == 0)
        };
        if !cells.iter().all(are_decimal) {
            return None;
        }
        let floats: Vec<f64> =
            cells.iter().flat_map(|cell| [cell.min, cell.max, cell.last]).collect();
        let (of_floats, decimals) = exact_decimals(&floats)?;
        // A sum may need more places than the numbers of its cell.
        let scale = scale_of_sums(cells, of_floats)?;
        let decimals = if scale == of_floats { decimals } else { decimals_at(&floats, scale)? };
        let power = units_of(scale);
        let sums: Option<Vec<i64>> =
            cells.iter().map(|cell| i64::try_from(cell.sum.units / power).ok()).collect();
        let mut sums = sums?;
        let unit = common_divisor(decimals.iter().chain(&sums));
        if unit >= UNIT_MAX {
            return None;
        }
        let unit = unit.cast_signed();
        sums.iter_mut().for_each(|sum| *sum /= unit);
        let column = |at: usize| decimals.iter().skip(at).step_by(3).map(|m| m / unit).collect();
        let (min, max, last) = (column(0), column(1), column(2));
        let counts = cells.iter().map(|cell| cell.count.cast_signed()).collect();
        Some(Self { scale, unit, counts, sums, min, max, last })
    }

    /// Appends the columns.
    pub(super) fn encode(
        mut self,
        runs: &Runs,
        effort: Effort,
        out: &mut Vec<u8>,
    ) -> CodecResult<()> {
        let middles = self.counts.iter().zip(self.min.iter().zip(&self.max));
        for (sum, (count, (min, max))) in self.sums.iter_mut().zip(middles) {
            *sum = sum.wrapping_sub(predicted_sum(*count, *min, *max));
        }
        for_ends(&self.last, (0, 0, runs), &mut self.min, |min, ends| {
            *min = ends.0.wrapping_sub(*min)
        });
        for_ends(&self.last, (0, 0, runs), &mut self.max, |max, ends| {
            *max = max.wrapping_sub(ends.1)
        });
        out.push(self.scale);
        put_varint(out, self.unit.cast_unsigned());
        let deltas = deltas_are_smaller(&self.last, runs);
        out.push(u8::from(deltas));
        run_integers::encode(self.last, deltas, runs, effort, out)?;
        integers::encode(&self.min, effort, out)?;
        integers::encode(&self.max, effort, out)?;
        integers::encode(&self.sums, effort, out)
    }
}

/// Returns the smallest scale from `scale` on at which all sums are integers.
fn scale_of_sums(cells: &[NumberCell], mut scale: u8) -> Option<u8> {
    for cell in cells {
        while cell.sum.units % units_of(scale) != 0 {
            scale += 1;
        }
    }
    (scale <= SCALE_MAX).then_some(scale)
}

/// Returns the units of a sum, of 1e-9, in an integer of a scale.
pub(super) fn units_of(scale: u8) -> i128 {
    i128::from(integer_part(power_of_ten(SCALE_MAX.saturating_sub(scale))))
}

/// Returns the sum that a cell probably has. Anything, but always the same, of damaged numbers.
#[inline]
fn predicted_sum(count: i64, min: i64, max: i64) -> i64 {
    count.wrapping_mul(min.wrapping_add(max)) >> 1
}

/// Calls `then` with each row and the lower and the higher of the last value and the one before it.
/// `last` begins `before` rows after the first one of page `page`, with a run.
#[inline]
fn for_ends(
    last: &[i64],
    (page, before, runs): (usize, usize, &Runs),
    rows: &mut [i64],
    then: impl Fn(&mut i64, (i64, i64)),
) {
    let of_page = runs.within(page, before + last.len().min(rows.len()));
    for run in of_page.filter(|run| run.start >= before) {
        let run = run.start - before..run.end - before;
        let Some((last, rows)) = last.get(run.clone()).zip(rows.get_mut(run)) else { continue };
        let mut before = last.first().copied().unwrap_or_default();
        for (row, last) in rows.iter_mut().zip(last) {
            then(row, (before.min(*last), before.max(*last)));
            before = *last;
        }
    }
}

/// The columns in a block, opened but not decoded.
#[derive(Debug)]
pub(super) struct PredictedColumns<'a> {
    scale: u8,
    unit: i64,
    last: RunIntegers<'a>,
    below: IntegerColumn<'a>,
    above: IntegerColumn<'a>,
    sums: IntegerColumn<'a>,
}

/// Where to decode the columns that are wanted.
#[derive(Debug, Default)]
pub(super) struct Decoded<'p> {
    pub(super) min: Option<&'p mut FloatPage>,
    pub(super) max: Option<&'p mut FloatPage>,
    pub(super) last: Option<&'p mut FloatPage>,
    /// With the counts of cells.
    pub(super) sums: Option<(&'p mut FloatPage, &'p [i64])>,
}

impl<'a> PredictedColumns<'a> {
    /// Reads columns of `rows` rows at the position of `reader`.
    pub(super) fn read(reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let (scale, unit) = (reader.u8()?, reader.varint()?);
        if scale > SCALE_MAX || !(1..UNIT_MAX).contains(&unit) {
            let reason = format!("unknown decimals with scale {scale} and unit {unit}");
            return Err(CodecError::new(reason));
        }
        let deltas = match reader.u8()? {
            0 => false,
            1 => true,
            form => return Err(CodecError::new(format!("unknown form {form} of last values"))),
        };
        let last = RunIntegers::read(reader, deltas, rows)?;
        last.check_rows(rows)?;
        Ok(Self {
            scale,
            unit: unit.cast_signed(),
            last,
            below: IntegerColumn::read_exactly(reader, rows)?,
            above: IntegerColumn::read_exactly(reader, rows)?,
            sums: IntegerColumn::read_exactly(reader, rows)?,
        })
    }

    /// Returns the approximate bytes in memory besides the encoded columns.
    pub(super) fn bytes(&self) -> usize {
        let Self { last, below, above, sums, .. } = self;
        last.bytes() + below.bytes() + above.bytes() + sums.bytes()
    }

    /// Returns what an integer of the sums counts, in the units of a sum.
    pub(super) fn units(&self) -> i128 {
        units_of(self.scale)
    }

    /// Decodes some rows, and a few more where that is no work. Columns that are not wanted are
    /// decoded only where others are predicted from them.
    pub(super) fn load(&self, rows: &PageRows, runs: &Runs, into: Decoded<'_>) -> CodecResult<()> {
        let [mut own_min, mut own_max, mut own_last] = [(); 3].map(|()| FloatPage::default());
        let last = into.last.unwrap_or(&mut own_last);
        rows.run_integers(&self.last, runs, &mut last.integers)?;
        let place = (rows.page, rows.rows.start, runs);
        let with_sums = into.sums.is_some();
        let mut min = into.min.or(with_sums.then_some(&mut own_min));
        let mut max = into.max.or(with_sums.then_some(&mut own_max));
        if let Some(min) = &mut min {
            rows.integers(&self.below, &mut min.integers)?;
            for_ends(&last.integers, place, &mut min.integers, |min, ends| {
                *min = ends.0.wrapping_sub(*min);
            });
        }
        if let Some(max) = &mut max {
            rows.integers(&self.above, &mut max.integers)?;
            for_ends(&last.integers, place, &mut max.integers, |max, ends| {
                *max = max.wrapping_add(ends.1);
            });
        }
        if let (Some((sums, counts)), Some(min), Some(max)) = (into.sums, &min, &max) {
            rows.integers(&self.sums, &mut sums.integers)?;
            let middles = counts.iter().zip(min.integers.iter().zip(&max.integers));
            for (sum, (count, (min, max))) in sums.integers.iter_mut().zip(middles) {
                *sum = sum.wrapping_add(predicted_sum(*count, *min, *max));
            }
            self.finish(sums);
        }
        [Some(last), min, max].into_iter().flatten().for_each(|column| self.finish(column));
        Ok(())
    }

    /// Completes the decoded integers of a column.
    fn finish(&self, column: &mut FloatPage) {
        if self.unit != 1 {
            column.integers.iter_mut().for_each(|m| *m = m.wrapping_mul(self.unit));
        }
        column.floats.clear();
        column.scale = Some(self.scale);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use proptest::prelude::*;

    use super::super::info::{BlockInfo, Tier, sample_info};
    use super::super::{BlockBuilder, CellBlock, CellBlockBuilder, CellColumn};
    use super::*;
    use crate::metrics::times::TimePageWriter;
    use crate::model::{MetricType, SeriesId};

    const HOUR: i64 = 3_600_000;

    /// Returns the cells of each chunk of values of a series.
    fn cells_of(series: u32, chunks: &[Vec<f64>]) -> (Vec<i64>, Vec<NumberCell>) {
        let cell = |(hour, values): (i64, &Vec<f64>)| {
            let mut cell = NumberCell::EMPTY;
            let times = (hour * HOUR..).step_by(10_000);
            values.iter().zip(times).for_each(|(value, time)| cell.add(series, time, *value));
            (hour * HOUR, cell)
        };
        (0..).zip(chunks).map(cell).unzip()
    }

    fn builder_of(series: &[Vec<Vec<f64>>]) -> CellBlockBuilder {
        let mut builder = CellBlockBuilder::default();
        for (id, chunks) in (0..).zip(series) {
            let (starts, cells) = cells_of(id, chunks);
            builder.push(SeriesId(id), &starts, &cells);
        }
        builder
    }

    fn encoded(builder: &CellBlockBuilder) -> (BlockInfo, Vec<u8>) {
        let info = sample_info(MetricType::Gauge, Tier::Hour);
        let sequence = AtomicU64::new(0);
        let times = TimePageWriter::new(&sequence);
        let bytes = builder.finish(&info, &times, Effort::Merge).unwrap();
        builder.check(&info, &bytes, &times).unwrap();
        (info, bytes)
    }

    /// Walks with normal steps between 0 and 100, cut to integers.
    fn walks(series: usize, hours: usize, rows: usize) -> Vec<Vec<Vec<f64>>> {
        let mut state = 7u64;
        let mut unit = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut walk = |_| {
            let mut value = unit() * 100.0;
            let mut next = |_| {
                let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
                value = (value + radius * (std::f64::consts::TAU * unit()).cos()).clamp(0.0, 100.0);
                value.floor()
            };
            (0..hours).map(|_| (0..rows).map(&mut next).collect()).collect()
        };
        (0..series).map(&mut walk).collect()
    }

    /// Reads the cells of all series that are wanted, in a block that is opened for few.
    fn read(info: &BlockInfo, bytes: &[u8], wanted: CellColumn, few: bool) -> Vec<NumberCell> {
        let (_, mut block) = CellBlock::open(info.key, bytes).unwrap();
        if few {
            block.expect_few();
        }
        let mut cells = Vec::new();
        for index in 0..block.series().len() {
            block.read(index, i64::MIN, i64::MAX, wanted, |_, cell| cells.push(*cell)).unwrap();
        }
        cells
    }

    #[test]
    fn hours_and_days_of_walks_take_few_bytes() {
        let (_, hours) = encoded(&builder_of(&walks(100, 12, 360)));
        let (_, days) = encoded(&builder_of(&walks(100, 1, 4320)));
        // With each column alone some 5 450 and 640.
        assert!(hours.len() < 4_500, "{} bytes", hours.len());
        assert!(days.len() < 620, "{} bytes", days.len());
    }

    #[test]
    fn each_column_is_read_alone_as_with_all_others() {
        let series = walks(30, 300, 20);
        let (info, bytes) = encoded(&builder_of(&series));
        let all = read(&info, &bytes, CellColumn::ALL, false);
        for bits in 0..32_u32 {
            let has = |bit: u32| bits >> bit & 1 == 1;
            let wanted =
                CellColumn { count: has(0), sum: has(1), min: has(2), max: has(3), last: has(4) };
            for few in [false, true] {
                let cells = read(&info, &bytes, wanted, few);
                assert_eq!(cells.len(), all.len());
                for (cell, whole) in cells.iter().zip(&all) {
                    assert_eq!(cell.count, if wanted.count { whole.count } else { 1 });
                    let empty = NumberCell::EMPTY;
                    assert_eq!(cell.sum, if wanted.sum { whole.sum } else { empty.sum });
                    assert_eq!(cell.min, if wanted.min { whole.min } else { empty.min });
                    assert_eq!(cell.max, if wanted.max { whole.max } else { empty.max });
                    assert_eq!(cell.last, if wanted.last { whole.last } else { empty.last });
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_not_decimals_are_stored_alone() {
        let of = |values: &[f64]| Numbers::of(&cells_of(0, &[values.to_vec()]).1);
        assert!(of(&[0.5, 3.0]).is_some_and(|numbers| (numbers.scale, numbers.unit) == (1, 5)));
        // The sum of numbers whose cell has fewer decimals.
        assert!(of(&[1.0, 1.25, 2.0]).is_some_and(|numbers| numbers.scale == 2));
        for value in [f64::NAN, -0.0, 1.0 / 3.0, 1e300, f64::INFINITY] {
            assert!(of(&[value]).is_none(), "{value}");
        }
        assert!(of(&[1.0, 1.0 / 3.0, 2.0]).is_none());
    }

    #[test]
    fn damaged_heads_are_an_error() {
        let error = |bytes: &[u8]| {
            PredictedColumns::read(&mut Reader::new(bytes), 3).unwrap_err().to_string()
        };
        assert_eq!(error(&[10, 1, 0]), "unknown decimals with scale 10 and unit 1");
        assert_eq!(error(&[0, 0, 0]), "unknown decimals with scale 0 and unit 0");
        assert_eq!(error(&[0, 1, 2]), "unknown form 2 of last values");
        assert_eq!(error(&[0, 1, 0, 2, 0, 0]), "expected 3 rows, found 2");
    }

    proptest! {
        #[test]
        fn any_decimal_cells_round_trip(
            series in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(-9999i64..9999, 1..9), 1..40), 1..20,
            ),
            scale in 0u8..5,
            factor in prop_oneof![Just(1), Just(40), Just(1i64 << 30)],
        ) {
            let value = |m: &i64| (m * factor) as f64 / power_of_ten(scale);
            let chunk = |chunk: &Vec<i64>| chunk.iter().map(value).collect();
            let series: Vec<Vec<Vec<f64>>> =
                series.iter().map(|chunks| chunks.iter().map(chunk).collect()).collect();
            let (info, bytes) = encoded(&builder_of(&series));
            let written = (0..).zip(&series).flat_map(|(id, chunks)| cells_of(id, chunks).1);
            let read = read(&info, &bytes, CellColumn::ALL, false);
            prop_assert_eq!(read, written.collect::<Vec<_>>());
        }

        #[test]
        fn changed_bytes_decode_to_an_error_or_to_cells(
            at in any::<prop::sample::Index>(), to in any::<u8>(),
        ) {
            let cells: Vec<NumberCell> =
                walks(20, 12, 60).iter().flat_map(|chunks| cells_of(0, chunks).1).collect();
            let runs = Runs::new([12; 20]);
            let mut bytes = Vec::new();
            Numbers::of(&cells).unwrap().encode(&runs, Effort::Merge, &mut bytes).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok(columns) = PredictedColumns::read(&mut Reader::new(&bytes), cells.len()) {
                let (mut max, mut sums) = (FloatPage::default(), FloatPage::default());
                let counts = vec![i64::MAX; cells.len()];
                let sums = Some((&mut sums, counts.as_slice()));
                let into = Decoded { max: Some(&mut max), sums, ..Decoded::default() };
                let _outcome = columns.load(&PageRows { page: 0, rows: 0..cells.len() }, &runs, into);
            }
        }
    }
}
