//! A column of integers in runs: as they are, or as differences within each run.
//!
//! ```text
//! firsts: integers    (with deltas only: the first value of each run)
//! body: integers      (with deltas: the difference of each row to the one before in its run)
//! ```
//!
//! Whether there are deltas is stored by the caller.

use std::ops::Range;

use super::CodecResult;
use super::bytes::Reader;
use super::integers::{self, Effort, IntegerColumn, PAGE_ROWS};
use super::lazy_column::LazyColumn;
use super::runs::Runs;

/// Appends `values`, with or without deltas.
pub(crate) fn encode(
    mut values: Vec<i64>,
    deltas: bool,
    runs: &Runs,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    if deltas {
        let mut firsts = Vec::with_capacity(runs.lengths().len());
        let mut rest = values.as_mut_slice();
        for &run in runs.lengths() {
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

/// Returns whether the differences within runs take fewer bits than the values themselves.
pub(crate) fn deltas_are_smaller(values: &[i64], runs: &Runs) -> bool {
    let bits = |v: i64| u64::from(64 - v.unsigned_abs().leading_zeros());
    // Values without deltas are stored relative to the minimum, so their distance to a typical
    // value is measured.
    let middle = values.get(values.len() / 2).copied().unwrap_or_default();
    let (mut plain, mut delta) = (0, 0);
    let mut row = 0;
    for &run in runs.lengths() {
        let rows = values.get(row..row + run as usize).unwrap_or_default();
        row += run as usize;
        plain += rows.iter().skip(1).map(|v| bits(v.wrapping_sub(middle))).sum::<u64>();
        delta += rows.windows(2).map(|w| bits(w[1].wrapping_sub(w[0]))).sum::<u64>();
    }
    delta < plain
}

/// A column in a block, opened but not decoded.
#[derive(Debug)]
pub(crate) struct RunIntegers<'a> {
    /// The first value of each run.
    firsts: Option<LazyColumn<'a>>,
    body: IntegerColumn<'a>,
}

impl<'a> RunIntegers<'a> {
    /// Reads the column at the position of `reader`. Fails when it has more than `rows_max` rows.
    pub(crate) fn read(
        reader: &mut Reader<'a>,
        deltas: bool,
        rows_max: usize,
    ) -> CodecResult<Self> {
        let firsts = if deltas { Some(LazyColumn::read(reader, rows_max)?) } else { None };
        Ok(Self { firsts, body: IntegerColumn::read(reader, rows_max)? })
    }

    /// Fails unless the column has `wanted` rows.
    pub(crate) fn check_rows(&self, wanted: usize) -> CodecResult<()> {
        self.body.check_rows(wanted)
    }

    pub(super) fn rows(&self) -> usize {
        self.body.rows()
    }

    /// Returns the number of rows of a page.
    pub(super) fn rows_of_page(&self, page: usize) -> usize {
        self.body.rows_of_page(page)
    }

    /// Returns the value of all rows, if they are stored as one.
    pub(super) fn constant(&self) -> Option<i64> {
        self.body.constant().filter(|_| self.firsts.is_none())
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(crate) fn bytes(&self) -> usize {
        self.firsts.as_ref().map_or(0, LazyColumn::bytes) + self.body.bytes()
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(super) fn prepare(&self) -> CodecResult<()> {
        if let Some(firsts) = &self.firsts {
            firsts.values()?;
        }
        self.body.prepare()
    }

    /// Decodes `rows` rows from the beginning of page `page` of a column that was encoded with
    /// `runs` into `out`, replacing its contents, and a few more where that is no work.
    pub(crate) fn prefix(
        &self,
        (page, rows): (usize, usize),
        runs: &Runs,
        out: &mut Vec<i64>,
    ) -> CodecResult<()> {
        match &self.firsts {
            Some(firsts) => {
                let starts = runs.starts(page, firsts.values()?)?;
                self.body.running_sums((page, rows), &starts, out)
            }
            None => self.body.prefix(page, rows, out),
        }
    }

    /// Returns whether [`Self::some`] may decode rows without those before them.
    pub(super) fn may_have_stops(&self) -> bool {
        self.firsts.is_some() && self.body.may_have_stops()
    }

    /// Returns whether [`Self::some`] decodes any rows without those before them.
    pub(super) fn has_noted_stops(&self) -> bool {
        self.firsts.is_some() && self.body.has_noted_stops()
    }

    /// Decodes `rows`, which are in one page and begin with a run, into `out`, replacing its
    /// contents: from the last stop before them where there are stops.
    pub(crate) fn some_of_run(
        &self,
        rows: Range<usize>,
        runs: &Runs,
        out: &mut Vec<i64>,
    ) -> CodecResult<()> {
        if self.firsts.is_none() {
            return self.body.some(rows, out);
        }
        let page = rows.start / PAGE_ROWS;
        let first = match self.some(rows.clone(), runs, out)? {
            Some(first) => first,
            None => {
                self.prefix((page, rows.end - page * PAGE_ROWS), runs, out)?;
                page * PAGE_ROWS
            }
        };
        out.drain(..rows.start.saturating_sub(first).min(out.len()));
        out.truncate(rows.len());
        Ok(())
    }

    /// Has reads note stops from now on.
    pub(super) fn note_stops(&self) {
        self.body.note_stops();
    }

    /// Decodes `rows`, which are in one page or in two that follow each other, and those before
    /// them in their run. Returns the first row that was decoded, or `None` if all rows before it
    /// in its page have to be decoded too.
    pub(super) fn some(
        &self,
        rows: Range<usize>,
        runs: &Runs,
        out: &mut Vec<i64>,
    ) -> CodecResult<Option<usize>> {
        let Some(firsts) = &self.firsts else { return Ok(None) };
        let (first, starts) = runs.starts_at(rows.start, firsts.values()?)?;
        let is_decoded = self.body.some_running_sums(first..rows.end, &starts, out)?;
        Ok(is_decoded.then_some(first))
    }
}
