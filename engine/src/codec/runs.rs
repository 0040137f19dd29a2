//! The runs of a column: the rows of one series within one page.

use std::ops::Range;

use super::integers::PAGE_ROWS;
use super::{CodecError, CodecResult};
use crate::cast::to_u32;

/// The lengths of the runs of a column. No run crosses a page boundary.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    lengths: Vec<u32>,
    /// For each page, the number of runs before it.
    before: Vec<u32>,
}

impl Runs {
    /// Creates the runs of a column from the number of rows of each series.
    pub(crate) fn new(rows: impl IntoIterator<Item = usize>) -> Self {
        let (mut lengths, mut before) = (Vec::new(), Vec::new());
        let mut at = 0;
        for mut left in rows {
            while left > 0 {
                if at % PAGE_ROWS == 0 {
                    before.push(to_u32(lengths.len()));
                }
                let run = left.min(PAGE_ROWS - at % PAGE_ROWS);
                lengths.push(to_u32(run));
                at += run;
                left -= run;
            }
        }
        Self { lengths, before }
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        (self.lengths.capacity() + self.before.capacity()) * size_of::<u32>()
    }

    /// Returns the rows of each run among the first `rows` of page `page`, counted from its first
    /// one.
    pub(crate) fn within(&self, page: usize, rows: usize) -> impl Iterator<Item = Range<usize>> {
        let before = self.before.get(page).map_or(self.lengths.len(), |n| *n as usize);
        let mut at = 0;
        let runs = self.lengths.iter().skip(before).map(move |length| {
            let start = at;
            at += *length as usize;
            start..at.min(rows)
        });
        runs.take_while(move |run| run.start < rows)
    }

    /// Returns the lengths of all runs.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the number of runs before page `page`.
    fn first_of(&self, page: usize) -> usize {
        self.before.get(page).map_or(self.lengths.len(), |n| *n as usize)
    }

    /// Returns the runs from page `page` on, which begin with `firsts`, the first values of all
    /// runs. Fails if there are fewer of them than runs.
    pub(super) fn starts<'a>(
        &'a self,
        page: usize,
        firsts: &'a [i64],
    ) -> CodecResult<RunStarts<'a>> {
        if firsts.len() < self.lengths.len() {
            return Err(CodecError::new("the column has fewer first values than runs"));
        }
        let before = self.first_of(page);
        Ok(RunStarts {
            lengths: self.lengths.get(before..).unwrap_or_default(),
            firsts: firsts.get(before..).unwrap_or_default(),
        })
    }

    /// Returns the run of row `row` and those after it, like [`Self::starts`], and its first row.
    pub(super) fn starts_at<'a>(
        &'a self,
        row: usize,
        firsts: &'a [i64],
    ) -> CodecResult<(usize, RunStarts<'a>)> {
        let page = row / PAGE_ROWS;
        let RunStarts { lengths, firsts } = self.starts(page, firsts)?;
        let mut at = page * PAGE_ROWS;
        let before = lengths.iter().take_while(|length| {
            let end = at + **length as usize;
            let is_before = end <= row;
            if is_before {
                at = end;
            }
            is_before
        });
        let before = before.count();
        let rest = RunStarts {
            lengths: lengths.get(before..).unwrap_or_default(),
            firsts: firsts.get(before..).unwrap_or_default(),
        };
        Ok((at, rest))
    }
}

/// Runs one after the other, and the first value of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunStarts<'a> {
    lengths: &'a [u32],
    firsts: &'a [i64],
}

impl RunStarts<'_> {
    /// Returns the rows of each run among the next `rows`, and its first value.
    pub(super) fn within(&self, rows: usize) -> impl Iterator<Item = (Range<usize>, i64)> {
        let mut at = 0;
        let starts = self.lengths.iter().zip(self.firsts).map(move |(length, first)| {
            let start = at;
            at += *length as usize;
            (start..at.min(rows), *first)
        });
        starts.take_while(move |(run, _)| run.start < rows)
    }

    /// Adds up the rows of each run, from its first value on.
    pub(super) fn add_up(&self, out: &mut [i64]) {
        for (run, first) in self.within(out.len()) {
            let mut sum = first;
            for row in out.get_mut(run).unwrap_or_default() {
                sum = sum.wrapping_add(*row);
                *row = sum;
            }
        }
    }
}
