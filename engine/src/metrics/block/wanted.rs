//! The series that are read of a block, one after the other, with a look at those that follow: what
//! is decoded at once depends on them.

use std::collections::VecDeque;
use std::ops::Range;

use super::points::PointBlock;
use crate::codec::CodecResult;

/// Series to read of a block, in order, and their times.
pub(super) struct Wanted<I, T> {
    rest: I,
    start: i64,
    end: i64,
    /// Series that were looked at already: index, tag, and rows among which the wanted ones are.
    ahead: VecDeque<(usize, T, Range<usize>)>,
}

impl<T, I: Iterator<Item = (usize, T)>> Wanted<I, T> {
    /// Returns the series of `rest`, of which rows with `start <= time < end` are read.
    pub(super) fn new(rest: I, (start, end): (i64, i64)) -> Self {
        Self { rest, start, end, ahead: VecDeque::new() }
    }

    /// Returns the next series with rows, which are not empty.
    pub(super) fn next(
        &mut self,
        block: &mut PointBlock<'_>,
    ) -> CodecResult<Option<(usize, T, Range<usize>)>> {
        let Self { rest, start, end, ahead } = self;
        let looked_at =
            std::iter::from_fn(|| ahead.pop_front().map(|(index, tag, _)| (index, tag)));
        for (index, tag) in looked_at.chain(rest) {
            let rows = block.rows_between(index, *start, *end)?;
            if !rows.is_empty() {
                return Ok(Some((index, tag, rows)));
            }
        }
        Ok(None)
    }

    /// Returns the end of the last rows of further series that begin before `limit`, or `end`.
    pub(super) fn end_before(
        &mut self,
        block: &mut PointBlock<'_>,
        limit: usize,
        mut end: usize,
    ) -> CodecResult<usize> {
        for at in 0.. {
            if at == self.ahead.len() && end < limit {
                let found = self.look_at_next(block)?;
                self.ahead.extend(found);
            }
            match self.ahead.get(at) {
                Some((.., rows)) if rows.start < limit => end = rows.end,
                _ => break,
            }
        }
        Ok(end)
    }

    fn look_at_next(
        &mut self,
        block: &mut PointBlock<'_>,
    ) -> CodecResult<Option<(usize, T, Range<usize>)>> {
        for (index, tag) in self.rest.by_ref() {
            // Times that have to be decoded would be decoded again when it is read.
            let rows = block.rows_at_hand(index, self.start, self.end)?;
            if !rows.is_empty() {
                return Ok(Some((index, tag, rows)));
            }
        }
        Ok(None)
    }
}
