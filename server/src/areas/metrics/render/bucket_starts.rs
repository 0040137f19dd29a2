//! The buckets of a response, with and without samples.

use telltale_engine::{CoarseRange, Interval, QueryResult, TimeRange, TimestampMs};

use super::super::model::ParsedQuery;

/// The starts of all buckets in the range, except those that no cell starts in and that lie within
/// one which starts in an earlier bucket: they are not empty, but have no value of their own.
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
            let end = start.0 + width_ms;
            // The engine adds a cell to the bucket in which it starts.
            coarse.peek().is_none_or(|part| {
                !part.range.contains(*start)
                    || part.range.end.0 < end
                    || start.ceil_to(part.width).0 < end
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    /// A bucket has a place if a cell of the coarse part starts in it, or if it has a time outside
    /// of that part.
    #[test]
    fn every_bucket_that_can_have_a_value_has_a_place() {
        let (begin, end) = (DAY, 3 * DAY);
        for cell in [Interval::MINUTE, Interval::FIVE_MINUTES, Interval::HOUR, Interval::DAY] {
            let coarse = [CoarseRange { range: TimeRange::new(begin, end), width: cell }];
            for minutes in (1..=60).chain([70, 90, 1_000, 1_440, 1_500, 2_880]) {
                let width = Interval::from_ms(minutes * 60_000).unwrap();
                let buckets =
                    BucketStarts { range: TimeRange::new(0, 4 * DAY), coarse: &coarse, width };
                let found: Vec<i64> = buckets.iter().map(|start| start.0).collect();
                let floor = |time: i64| TimestampMs(time).floor_to(width).0;
                let cells = (begin..end).step_by(cell.ms() as usize);
                let outside = (0..begin).chain(end..4 * DAY).step_by(60_000);
                let mut expected: Vec<i64> = cells.chain(outside).map(floor).collect();
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(found, expected, "{minutes} minutes of {cell:?}");
            }
        }
    }
}
