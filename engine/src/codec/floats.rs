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

use std::ops::Range;

use super::bits::{BitReader, BitWriter};
use super::bytes::{Reader, put_varint};
use super::decimals::{Decimals, ROWS_PER_EXCEPTION, SCALE_MAX, power_of_ten, to_decimals};
use super::fixed_point::Unit;
pub(crate) use super::float_page::{FloatPage, FloatRows};
use super::integers::{self, Effort, PAGE_ROWS};
use super::paged::PAGES_AT_ONCE;
use super::run_integers::{self, RunIntegers, deltas_are_smaller};
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
    debug_assert_eq!(runs.lengths().iter().map(|&n| n as usize).sum::<usize>(), values.len());
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
            run_integers::encode(integers, deltas, runs, effort, out)
        }
        None => encode_doubles(values, runs, effort, out),
    }
}

/// Appends values that are not decimals, as bit patterns or split at a unit.
fn encode_doubles(
    values: &[f64],
    runs: &Runs,
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
        run_integers::encode(parts.highs, deltas, runs, effort, out)?;
        parts.lows.iter().for_each(|page| put_varint(out, page.len() as u64));
        parts.lows.iter().for_each(|page| out.extend_from_slice(page));
        return Ok(());
    }
    put_bits_header(deltas, shift as u8, out);
    run_integers::encode(ordered, deltas, runs, effort, out)
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

/// Estimates the bits an entropy coder takes for the differences within runs: for each difference,
/// the entropy of its bit length and the bits themselves.
fn estimate_delta_bits(values: &[i64], runs: &Runs) -> f64 {
    let mut of_length = [0_u32; 65];
    let mut row = 0;
    for &run in runs.lengths() {
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
    body: RunIntegers<'a>,
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
        let body = RunIntegers::read(reader, code & WITH_DELTAS != 0, rows_max)?;
        if exceptions.last().is_some_and(|(row, _)| *row >= body.rows()) {
            return Err(CodecError::new("an exception has no row"));
        }
        let lows = match form {
            Form::Parts(_) => reader.pages(body.rows().div_ceil(PAGE_ROWS))?,
            Form::Decimal { .. } | Form::Bits { .. } => Vec::new(),
        };
        Ok(Self { form, exceptions, body, lows })
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
            + self.body.bytes()
            + size_of_val(self.lows.as_slice())
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        self.body.prepare()
    }

    /// Returns whether all rows are zero, which takes no decoding to see.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self.form, Form::Decimal { .. })
            && self.exceptions.is_empty()
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
        self.body.prefix((page, rows), runs, &mut out.integers)?;
        self.finish(page * PAGE_ROWS, out)
    }

    /// Returns whether [`Self::some`] decodes few rows besides those that are wanted, at the latest
    /// when it is called again.
    pub(crate) fn may_have_stops(&self) -> bool {
        !matches!(self.form, Form::Parts(_)) && self.body.may_have_stops()
    }

    /// Returns whether [`Self::some`] decodes few rows besides those that are wanted: reads before
    /// have noted stops.
    pub(crate) fn has_noted_stops(&self) -> bool {
        self.may_have_stops() && self.body.has_noted_stops()
    }

    /// Has reads note stops from now on, where there may be stops.
    pub(crate) fn note_stops(&self) {
        if self.may_have_stops() {
            self.body.note_stops();
        }
    }

    /// Decodes `rows`, which are in one page or in two that follow each other, of a column that was
    /// encoded with `runs`, and rows before and after them where it takes these. Returns the first
    /// row that was decoded.
    pub(crate) fn some(
        &self,
        rows: Range<usize>,
        runs: &Runs,
        out: &mut FloatPage,
    ) -> CodecResult<usize> {
        if self.may_have_stops()
            && let Some(first) = self.body.some(rows.clone(), runs, &mut out.integers)?
        {
            self.finish(first, out)?;
            return Ok(first);
        }
        let page = rows.start / PAGE_ROWS;
        self.prefix(page, rows.end - page * PAGE_ROWS, runs, out)?;
        Ok(page * PAGE_ROWS)
    }

    /// Decodes `rows`, which are in one page and begin with a run, like [`Self::some`], but no rows
    /// before them.
    pub(crate) fn some_of_run(
        &self,
        rows: Range<usize>,
        runs: &Runs,
        out: &mut FloatPage,
    ) -> CodecResult<()> {
        if matches!(self.form, Form::Parts(_)) {
            let page = rows.start / PAGE_ROWS;
            let before = rows.start - page * PAGE_ROWS;
            self.prefix(page, rows.end - page * PAGE_ROWS, runs, out)?;
            out.integers.drain(..before.min(out.integers.len()));
            out.floats.drain(..before.min(out.floats.len()));
            out.integers.truncate(rows.len());
            out.floats.truncate(rows.len());
            return Ok(());
        }
        self.body.some_of_run(rows.clone(), runs, &mut out.integers)?;
        self.finish(rows.start, out)
    }

    /// Completes the rows of `out`, of which the first is `first_row`, that of a page if values are
    /// split.
    fn finish(&self, first_row: usize, out: &mut FloatPage) -> CodecResult<()> {
        out.floats.clear();
        out.scale = None;
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
                let pages = first_row / PAGE_ROWS..;
                for (page, highs) in pages.zip(out.integers.chunks(PAGE_ROWS)) {
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
    fn exceptions_in(&self, rows: Range<usize>) -> &[(usize, f64)] {
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
#[path = "floats_tests.rs"]
mod tests;
