//! The buckets of a response, with and without samples.

use telltale_engine::{CoarseRange, Interval, QueryResult, TimeRange, TimestampMs};

use super::super::model::ParsedQuery;

/// The starts of all buckets in the range, except those within a cell that starts in an earlier
/// bucket: they are not empty, but have no value of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketStarts<'r> {
    range: TimeRange,
    /// The parts of the range in which a cell may span several buckets.
    coarse: &'r [CoarseRange],
    width: Interval,
}

impl<'r> BucketStarts<'r> {
    pub(super) fn new(parsed: &ParsedQuery, result: &'r QueryResult) -> Self {
        let QueryResult { range, coarse, .. } = result;
        Self { range: *range, coarse, width: parsed.width.interval() }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = TimestampMs> {
        let width_ms = self.width.ms();
        let first = self.range.start.0.div_euclid(width_ms);
        let end = self.range.end.0;
        let mut coarse = self.coarse.iter().peekable();
        let starts = (first..).map(move |n| n * width_ms).take_while(move |start| *start < end);
        starts.map(TimestampMs).filter(move |start| {
            while coarse.next_if(|part| part.range.end <= *start).is_some() {}
            coarse.peek().is_none_or(|part| {
                !part.range.contains(*start)
                    || part.width <= self.width
                    || start.floor_to(part.width) == *start
            })
        })
    }
}
