//! A losslessly compressed column of `f64`: decimals as integers, slowly changing full-precision
//! values as binary fixed point, everything else as ordered bit patterns.
//!
//! Most measured values are short decimals. When nearly all values of a column are `m / 10^k`
//! exactly, for one `k`, the column stores the integers `m`, which are small and exact to subtract
//! and to sum; the other values are listed as exceptions. Otherwise it stores the bit patterns of
//! the values, mapped so that integer order is numeric order, without the low bits that are zero in
//! all of them (as in values that were once `f32`), or, where that is clearly smaller, the values
//! [split at a unit](super::fixed_point). Figures: `docs/decisions/0012-three-forms-of-floats.md`.
//!
//! Rows form [runs](Runs). With deltas, the first value of each run is stored in a separate column,
//! and the other rows are differences to the row before.
//!
//! ```text
//! form: u8      0 decimal, 1 bits, 2 parts; + 16 with deltas
//! scale: u8     decimal: k.  bits, parts: dropped low zero bits
//! unit: varint  decimal: divisor of the integers.  parts: biased exponent of the largest value
//! exceptions: varint, then for each: row delta: varint │ bits: u64     (not for bits)
//! firsts: integers                                                     (with deltas only)
//! body: integers                                                       (parts: high parts)
//! low parts: length of each page: varint, then all pages               (parts only)
//! ```

use super::bits::{BitReader, BitWriter};
use super::bytes::{Reader, put_varint};
use super::decimals::{Decimals, ROWS_PER_EXCEPTION, SCALE_MAX, power_of_ten, to_decimals};
use super::fixed_point::Unit;
pub(crate) use super::float_page::{FloatPage, FloatRows};
use super::integers::{self, Effort, IntegerColumn, PAGE_ROWS};
use super::lazy_column::LazyColumn;
use super::paged::PAGES_AT_ONCE;
use super::runs::Runs;
use super::verified::expect_same;
use super::{CodecError, CodecResult};

const FORM_DECIMAL: u8 = 0;
const FORM_BITS: u8 = 1;
const FORM_PARTS: u8 = 2;
const WITH_DELTAS: u8 = 16;
/// Splitting is worth twice the time to decode only if it is estimated to save this share of the
/// bytes.
const SPLIT_GAIN_MIN: f64 = 0.01;

/// Appends `values` as a column. `runs` must cover all rows.
pub(crate) fn encode(
    values: &[f64],
    runs: &Runs,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let runs = runs.lengths();
    debug_assert_eq!(runs.iter().map(|&n| n as usize).sum::<usize>(), values.len());
    if effort == Effort::Plain {
        put_bits_header(false, 0, out);
        let ordered: Vec<i64> = values.iter().map(|v| ordered_bits(*v)).collect();
        return integers::encode(&ordered, effort, out);
    }
    match to_decimals(values) {
        Some(Decimals { scale, unit, integers, exceptions }) => {
            let deltas = deltas_are_smaller(&integers, runs);
            out.extend_from_slice(&[FORM_DECIMAL + if deltas { WITH_DELTAS } else { 0 }, scale]);
            put_varint(out, unit);
            put_exceptions(&exceptions, out);
            encode_integers(integers, deltas, runs, effort, out)
        }
        None => encode_doubles(values, runs, effort, out),
    }
}

/// Appends values that are not decimals, as bit patterns or split at a unit.
fn encode_doubles(
    values: &[f64],
    runs: &[u32],
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let mut ordered: Vec<i64> = values.iter().map(|v| ordered_bits(*v)).collect();
    let shift = ordered.iter().fold(0, |all, v| all | v).trailing_zeros().min(63);
    ordered.iter_mut().for_each(|v| *v >>= shift);
    let deltas = deltas_are_smaller(&ordered, runs);
    if deltas
        && let Some(parts) = split_all(values)
        && estimate_delta_bits(&parts.highs, runs) + parts.low_bits
            < (1.0 - SPLIT_GAIN_MIN) * estimate_delta_bits(&ordered, runs)
    {
        let (exponent, dropped) = parts.unit.stored();
        out.extend_from_slice(&[FORM_PARTS + WITH_DELTAS, dropped]);
        put_varint(out, exponent);
        put_exceptions(&parts.exceptions, out);
        encode_integers(parts.highs, deltas, runs, effort, out)?;
        parts.lows.iter().for_each(|page| put_varint(out, page.len() as u64));
        parts.lows.iter().for_each(|page| out.extend_from_slice(page));
        return Ok(());
    }
    put_bits_header(deltas, shift as u8, out);
    encode_integers(ordered, deltas, runs, effort, out)
}

fn put_bits_header(deltas: bool, shift: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[FORM_BITS + if deltas { WITH_DELTAS } else { 0 }, shift]);
    put_varint(out, 1);
    put_exceptions(&[], out);
}

fn put_exceptions(exceptions: &[(usize, u64)], out: &mut Vec<u8>) {
    put_varint(out, exceptions.len() as u64);
    let mut last_row = 0;
    for (row, bits) in exceptions {
        put_varint(out, (row - last_row) as u64);
        out.extend_from_slice(&bits.to_le_bytes());
        last_row = *row;
    }
}

fn encode_integers(
    mut values: Vec<i64>,
    deltas: bool,
    runs: &[u32],
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    if deltas {
        let mut firsts = Vec::with_capacity(runs.len());
        let mut rest = values.as_mut_slice();
        for &run in runs {
            let (rows, tail) = rest.split_at_mut(run as usize);
            rest = tail;
            let mut before = rows.first().copied().unwrap_or_default();
            firsts.push(before);
            for row in rows {
                let value = *row;
                *row = value.wrapping_sub(before);
                before = value;
            }
        }
        integers::encode(&firsts, effort, out)?;
    }
    integers::encode(&values, effort, out)
}

/// Values split at a [`Unit`].
struct SplitValues {
    unit: Unit,
    highs: Vec<i64>,
    /// The bit-packed low parts of each page.
    lows: Vec<Vec<u8>>,
    /// The size of the low parts and of the exceptions, in bits.
    low_bits: f64,
    exceptions: Vec<(usize, u64)>,
}

/// Splits all values. Returns `None` when more than one in [`ROWS_PER_EXCEPTION`] cannot be split.
fn split_all(values: &[f64]) -> Option<SplitValues> {
    let unit = Unit::of(values)?;
    let exceptions_max = values.len() / ROWS_PER_EXCEPTION;
    let (mut highs, mut lows) = (Vec::with_capacity(values.len()), Vec::new());
    let (mut exceptions, mut writer, mut low_bits) = (Vec::new(), BitWriter::default(), 0);
    for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
        let mut page_lows = Vec::new();
        for (row, value) in rows.iter().enumerate() {
            let (high, low) = match unit.split(*value) {
                Some(parts) => (parts.high, parts.low),
                None if exceptions.len() < exceptions_max => {
                    exceptions.push((page * PAGE_ROWS + row, value.to_bits()));
                    (highs.last().copied().unwrap_or_default(), 0)
                }
                None => return None,
            };
            let bits = unit.low_bits(high).ok()?;
            writer.push(low, bits, &mut page_lows);
            low_bits += u64::from(bits);
            highs.push(high);
        }
        writer.finish(&mut page_lows);
        lows.push(page_lows);
    }
    // An exception takes 64 bits for its value and about 8 for its row.
    let low_bits = low_bits as f64 + 72.0 * exceptions.len() as f64;
    Some(SplitValues { unit, highs, lows, low_bits, exceptions })
}

/// Returns whether the differences within runs take fewer bits than the values themselves.
fn deltas_are_smaller(values: &[i64], runs: &[u32]) -> bool {
    let bits = |v: i64| u64::from(64 - v.unsigned_abs().leading_zeros());
    // Values without deltas are stored relative to the minimum, so their distance to a typical
    // value is measured.
    let middle = values.get(values.len() / 2).copied().unwrap_or_default();
    let (mut plain, mut delta) = (0, 0);
    let mut row = 0;
    for &run in runs {
        let rows = values.get(row..row + run as usize).unwrap_or_default();
        row += run as usize;
        plain += rows.iter().skip(1).map(|v| bits(v.wrapping_sub(middle))).sum::<u64>();
        delta += rows.windows(2).map(|w| bits(w[1].wrapping_sub(w[0]))).sum::<u64>();
    }
    delta < plain
}

/// Estimates the bits an entropy coder takes for the differences within runs: for each difference,
/// the entropy of its bit length and the bits themselves.
fn estimate_delta_bits(values: &[i64], runs: &[u32]) -> f64 {
    let mut of_length = [0_u32; 65];
    let mut row = 0;
    for &run in runs {
        let rows = values.get(row..row + run as usize).unwrap_or_default();
        row += run as usize;
        for pair in rows.windows(2) {
            let length = 64 - pair[1].wrapping_sub(pair[0]).unsigned_abs().leading_zeros();
            of_length[length as usize] += 1;
        }
    }
    let all = f64::from(of_length.iter().sum::<u32>().max(1));
    let bits = |(length, count): (usize, &u32)| {
        let count = f64::from(*count);
        let entropy = if count > 0.0 { (all / count).log2() } else { 0.0 };
        count * (entropy + length as f64)
    };
    of_length.iter().enumerate().map(bits).sum()
}

/// Returns the bits of `value` as an integer whose order is the order of the values.
#[inline]
fn ordered_bits(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

#[inline]
fn from_ordered_bits(ordered: i64) -> f64 {
    let bits = ordered ^ ((ordered >> 63).cast_unsigned() >> 1).cast_signed();
    f64::from_bits(bits.cast_unsigned())
}

/// A column in a block, opened but not decoded.
#[derive(Debug)]
pub(crate) struct FloatColumn<'a> {
    form: Form,
    exceptions: Vec<(usize, f64)>,
    /// The first value of each run.
    firsts: Option<LazyColumn<'a>>,
    body: IntegerColumn<'a>,
    /// The low parts of each page; only for split values.
    lows: Vec<&'a [u8]>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Decimal { scale: u8, unit: i64 },
    Bits { shift: u8 },
    Parts(Unit),
}

impl<'a> FloatColumn<'a> {
    /// Reads the column at the position of `reader`. Fails when it has more than `rows_max` rows.
    pub(crate) fn read(reader: &mut Reader<'a>, rows_max: usize) -> CodecResult<Self> {
        let code = reader.u8()?;
        let scale = reader.u8()?;
        let unit = reader.varint()?;
        let form = match code & !WITH_DELTAS {
            FORM_DECIMAL if scale <= SCALE_MAX && (1..1 << 52).contains(&unit) => {
                Form::Decimal { scale, unit: unit.cast_signed() }
            }
            FORM_BITS if scale < 64 => Form::Bits { shift: scale },
            FORM_PARTS => Form::Parts(Unit::new(unit, scale)?),
            _ => {
                return Err(CodecError::new(format!(
                    "unknown float encoding {code} with scale {scale}"
                )));
            }
        };
        let count = reader.count("exceptions", rows_max)?;
        let mut exceptions = Vec::with_capacity(count.min(reader.rest().len() / 9));
        let mut row = 0usize;
        for _ in 0..count {
            row = row.saturating_add(reader.count("rows", rows_max)?);
            exceptions.push((row, reader.f64()?));
        }
        let firsts =
            if code & WITH_DELTAS != 0 { Some(LazyColumn::read(reader, rows_max)?) } else { None };
        let body = IntegerColumn::read(reader, rows_max)?;
        if exceptions.last().is_some_and(|(row, _)| *row >= body.rows()) {
            return Err(CodecError::new("an exception has no row"));
        }
        let lows = match form {
            Form::Parts(_) => reader.pages(body.rows().div_ceil(PAGE_ROWS))?,
            Form::Decimal { .. } | Form::Bits { .. } => Vec::new(),
        };
        Ok(Self { form, exceptions, firsts, body, lows })
    }

    /// Reads the column at the position of `reader`. Fails unless it has `rows` rows.
    pub(crate) fn read_exactly(reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let column = Self::read(reader, rows)?;
        column.body.check_rows(rows)?;
        Ok(column)
    }

    pub(crate) fn rows(&self) -> usize {
        self.body.rows()
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.exceptions.as_slice())
            + self.firsts.as_ref().map_or(0, LazyColumn::bytes)
            + self.body.bytes()
            + size_of_val(self.lows.as_slice())
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        if let Some(firsts) = &self.firsts {
            firsts.values()?;
        }
        self.body.prepare()
    }

    /// Returns whether all rows are zero, which takes no decoding to see.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self.form, Form::Decimal { .. })
            && self.exceptions.is_empty()
            && self.firsts.is_none()
            && self.body.constant() == Some(0)
    }

    /// Decodes page `page` of a column that was encoded with `runs`.
    pub(crate) fn page(&self, page: usize, runs: &Runs, out: &mut FloatPage) -> CodecResult<()> {
        self.prefix(page, PAGE_ROWS, runs, out)
    }

    /// Decodes `rows` rows from the beginning of page `page` of a column that was encoded with
    /// `runs`, and a few more where that is no work.
    pub(crate) fn prefix(
        &self,
        page: usize,
        rows: usize,
        runs: &Runs,
        out: &mut FloatPage,
    ) -> CodecResult<()> {
        match &self.firsts {
            Some(firsts) => {
                let starts = runs.starts(page, firsts.values()?)?;
                self.body.running_sums((page, rows), &starts, &mut out.integers)?;
            }
            None => self.body.prefix(page, rows, &mut out.integers)?,
        }
        self.finish_pages(page, out)
    }

    /// Completes the rows of `out`, which begin with page `page`.
    fn finish_pages(&self, page: usize, out: &mut FloatPage) -> CodecResult<()> {
        out.floats.clear();
        out.scale = None;
        let first_row = page * PAGE_ROWS;
        let exceptions = self.exceptions_in(first_row..first_row + out.integers.len());
        match self.form {
            Form::Decimal { scale, unit } => {
                if unit != 1 {
                    out.integers.iter_mut().for_each(|m| *m = m.wrapping_mul(unit));
                }
                if exceptions.is_empty() {
                    out.scale = Some(scale);
                    return Ok(());
                }
                let power = power_of_ten(scale);
                out.floats.extend(out.integers.iter().map(|m| *m as f64 / power));
            }
            Form::Bits { shift } => {
                out.floats.extend(out.integers.iter().map(|v| from_ordered_bits(*v << shift)));
            }
            Form::Parts(unit) => {
                for (page, highs) in (page..).zip(out.integers.chunks(PAGE_ROWS)) {
                    self.join_parts(page, unit, highs, &mut out.floats)?;
                }
            }
        }
        for (row, value) in exceptions {
            if let Some(slot) = out.floats.get_mut(row - first_row) {
                *slot = *value;
            }
        }
        Ok(())
    }

    /// Appends the values whose high parts are the first ones of a page.
    fn join_parts(
        &self,
        page: usize,
        unit: Unit,
        highs: &[i64],
        out: &mut Vec<f64>,
    ) -> CodecResult<()> {
        let mut lows = BitReader::new(self.lows.get(page).copied().unwrap_or_default());
        for high in highs {
            let bits = unit.low_bits(*high)?;
            out.push(unit.join(*high, bits, lows.take(bits)?));
        }
        if highs.len() == self.body.rows_of_page(page) { lows.finish() } else { Ok(()) }
    }

    /// Returns the exceptions among some rows.
    fn exceptions_in(&self, rows: std::ops::Range<usize>) -> &[(usize, f64)] {
        let before = |end: usize| self.exceptions.partition_point(|(row, _)| *row < end);
        self.exceptions.get(before(rows.start)..before(rows.end)).unwrap_or_default()
    }

    /// Decodes all rows and compares them bit for bit with `values`, from which the column was
    /// encoded.
    pub(crate) fn check(&self, values: &[f64], runs: &Runs) -> CodecResult<()> {
        expect_same(self.rows() == values.len(), "value counts")?;
        let mut page = FloatPage::default();
        let pages = (0..).step_by(PAGES_AT_ONCE);
        for (first, values) in pages.zip(values.chunks(PAGES_AT_ONCE * PAGE_ROWS)) {
            self.prefix(first, values.len(), runs, &mut page)?;
            expect_same(page.is_same(values), "values")?;
        }
        Ok(())
    }

    /// Decodes all rows of a column that was encoded with `runs` into `out`, replacing its
    /// contents.
    pub(crate) fn all(&self, runs: &Runs, out: &mut Vec<f64>) -> CodecResult<()> {
        out.clear();
        let mut page = FloatPage::default();
        for first in (0..self.rows().div_ceil(PAGE_ROWS)).step_by(PAGES_AT_ONCE) {
            self.prefix(first, PAGES_AT_ONCE * PAGE_ROWS, runs, &mut page)?;
            page.rows().extend(out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn encoded(values: &[f64], runs: &Runs) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(values, runs, Effort::Seal, &mut bytes).unwrap();
        bytes
    }

    fn check(values: &[f64], series: &[usize]) -> usize {
        let runs = Runs::new(series.iter().copied());
        let mut plain = Vec::new();
        encode(values, &runs, Effort::Plain, &mut plain).unwrap();
        let bytes = encoded(values, &runs);
        for bytes in [&bytes, &plain] {
            let mut reader = Reader::new(bytes);
            let column = FloatColumn::read(&mut reader, values.len()).unwrap();
            reader.finish().unwrap();
            let mut out = Vec::new();
            column.all(&runs, &mut out).unwrap();
            let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&out), bits(values));
        }
        bytes.len()
    }

    #[test]
    fn decimals_take_less_than_two_bytes_a_value() {
        let walk: Vec<f64> =
            (0..10_000i64).map(|i| (i * 7919 % 100 + 5000) as f64 / 100.0).collect();
        assert!(check(&walk, &[10_000]) < 20_000);
    }

    #[test]
    fn a_constant_column_takes_under_200_bytes() {
        assert!(check(&[42.5; 100_000], &[50_000, 50_000]) < 200);
    }

    #[test]
    fn a_column_with_few_exceptions_stays_small() {
        let mut values: Vec<f64> = (0..5000).map(|i| f64::from(i % 50) / 10.0).collect();
        for i in (0..5000).step_by(500) {
            values[i] = std::f64::consts::PI * i as f64;
        }
        assert!(check(&values, &[2500, 2500]) < 6_000);
    }

    #[test]
    fn doubles_of_single_precision_take_less_than_five_bytes() {
        let values: Vec<f64> = (1..5000u32).map(|i| f64::from((i as f32).sqrt())).collect();
        assert!(check(&values, &[4999]) < 4999 * 5);
    }

    /// A random walk of full-precision doubles over many exponents, driven by SplitMix64.
    fn walk(rows: usize) -> Vec<f64> {
        let (mut value, mut state) = (20.0_f64, 0_u64);
        let mut step = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let next = |_| {
            value = (value + 4.0 * (step() - 0.5)).abs().min(100.0);
            value
        };
        (0..rows).map(next).collect()
    }

    #[test]
    fn a_random_walk_takes_little_more_than_its_steps() {
        let rows = 3 * PAGE_ROWS + 5;
        let mut values = walk(rows);
        let exponents: HashSet<u64> = values.iter().map(|v| v.to_bits() >> 52).collect();
        assert!(exponents.len() > 8, "{exponents:?}");
        let form = encoded(&values, &Runs::new([rows])).first().copied();
        assert_eq!(form, Some(FORM_PARTS + WITH_DELTAS));
        // Steps take 48 bits, and the low parts two or three more.
        assert!(check(&values, &[rows]) < rows * 52 / 8);
        values[PAGE_ROWS + 3] = f64::NAN;
        values[PAGE_ROWS + 4] = -0.0;
        values[2 * PAGE_ROWS] = 0.0;
        values[7] = f64::MIN_POSITIVE / 3.0;
        check(&values, &[PAGE_ROWS, rows - PAGE_ROWS]);
        let singles: Vec<f64> = values.iter().map(|v| f64::from(*v as f32)).collect();
        assert!(check(&singles, &[rows]) < rows * 3);
    }

    #[test]
    fn truncated_low_parts_are_an_error() {
        let values = walk(500);
        let runs = Runs::new([values.len()]);
        let bytes = encoded(&values, &runs);
        assert_eq!(bytes.first(), Some(&(FORM_PARTS + WITH_DELTAS)));
        for cut in 0..bytes.len() {
            let cut = bytes.get(..cut).unwrap();
            assert!(FloatColumn::read(&mut Reader::new(cut), values.len()).is_err());
        }
        // The low parts are last, after their length. Both are made one byte shorter here.
        let column = FloatColumn::read(&mut Reader::new(&bytes), values.len()).unwrap();
        let lows = column.lows.concat();
        let (mut length, mut less) = (Vec::new(), Vec::new());
        put_varint(&mut length, lows.len() as u64);
        put_varint(&mut less, lows.len() as u64 - 1);
        let mut short = bytes.get(..bytes.len() - lows.len() - length.len()).unwrap().to_vec();
        short.extend_from_slice(&less);
        short.extend_from_slice(lows.get(1..).unwrap());
        let column = FloatColumn::read(&mut Reader::new(&short), values.len()).unwrap();
        let error = column.all(&runs, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("packed bits are truncated"), "{error}");
    }

    #[test]
    fn a_flipped_bit_in_split_values_never_causes_a_panic() {
        let values = walk(300);
        let runs = Runs::new([values.len()]);
        let bytes = encoded(&values, &runs);
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << (at % 8);
            let mut out = Vec::new();
            let column = FloatColumn::read(&mut Reader::new(&wrong), values.len());
            if column.and_then(|column| column.all(&runs, &mut out)).is_ok() {
                assert_eq!(out.len(), values.len());
            }
        }
    }

    #[test]
    fn special_values_round_trip() {
        check(&[], &[]);
        check(&[0.0, -0.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1, 1e300], &[3, 5]);
        check(&[-0.0, 1.0, 2.0], &[3]);
        check(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5], &[4]);
    }

    proptest! {
        #[test]
        fn any_bits_round_trip(bits in proptest::collection::vec(any::<u64>(), 1..300)) {
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            check(&values, &[values.len()]);
        }

        #[test]
        fn any_decimals_round_trip(
            ints in proptest::collection::vec(-100_000i64..100_000, 1..9000),
            scale in 0u8..10,
            cut in 0usize..9000,
        ) {
            let values: Vec<f64> = ints.iter().map(|m| *m as f64 / power_of_ten(scale)).collect();
            let cut = cut.min(values.len());
            check(&values, &[cut, values.len() - cut]);
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(column) = FloatColumn::read(&mut Reader::new(&bytes), 5000) {
                let runs = Runs::new([column.rows()]);
                let _outcome = column.all(&runs, &mut Vec::new());
            }
        }
    }
}
