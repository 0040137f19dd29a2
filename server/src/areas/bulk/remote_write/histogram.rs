//! Native histograms. Buckets have exponential or custom bounds; counts are sent as differences
//! from the previous bucket or as absolute floats. Float counts are rounded to the nearest integer.

use telltale_engine::limits::{HISTOGRAM_BUCKETS_MAX, HISTOGRAM_SPAN_MAX};
use telltale_engine::{Buckets, Histogram, InvalidHistogram, Span, StartTime, TimestampMs};

use super::error::WriteError;
use super::sample::{Times, is_stale, start_time};
use crate::areas::bulk::protobuf::{Fields, Value, unzigzag};

/// The schema of histograms that contain their own bounds.
const CUSTOM_BOUNDS: i64 = -53;
/// The schemas with exponential bounds, which define their resolution.
const EXPONENTIAL: std::ops::RangeInclusive<i64> = -4..=8;
/// The largest magnitude up to which all integers are exact as doubles.
const COUNT_MAX: f64 = 9_007_199_254_740_992.0;

/// A histogram to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HistogramSample {
    pub(super) time: TimestampMs,
    pub(super) histogram: Histogram,
    /// The start time of cumulative counts; `None` if the histogram is a gauge, whose counts are
    /// not cumulative.
    pub(super) start_time: Option<StartTime>,
}

/// The fields of a `Histogram` message.
#[derive(Clone, Debug, Default)]
struct HistogramMessage {
    count: Option<Count>,
    sum: f64,
    schema: i64,
    zero_threshold: f64,
    zero: Option<Count>,
    negative: Side,
    positive: Side,
    reset: ResetHint,
    time_ms: i64,
    custom_values: Vec<f64>,
    start_ms: i64,
}

/// The buckets on one side of zero.
#[derive(Clone, Debug, Default)]
struct Side {
    /// The gap before each run of consecutive buckets, and the length of the run.
    spans: Vec<(i64, u64)>,
    deltas: Vec<i64>,
    counts: Vec<f64>,
}

/// A count as sent, integer or float.
#[derive(Clone, Copy, Debug)]
enum Count {
    Whole(u64),
    Float(f64),
}

/// The reset hint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ResetHint {
    #[default]
    Unknown,
    /// This is the first histogram after a counter reset.
    Yes,
    /// The counts are not cumulative and may decrease.
    Gauge,
}

/// Parses a histogram; returns `None` for a staleness marker. `start_ms` is the start time of the
/// series, used if the histogram has none.
pub(super) fn read(
    message: &[u8],
    start_ms: i64,
    times: Times,
) -> Result<Option<HistogramSample>, WriteError> {
    let sent = HistogramMessage::read(message)?;
    if is_stale(sent.sum) {
        return Ok(None);
    }
    let time = times.check(sent.time_ms)?;
    let start_ms = if sent.start_ms == 0 { start_ms } else { sent.start_ms };
    let start_time = match (sent.reset, start_time(start_ms, time)) {
        (ResetHint::Gauge, _) => None,
        // The counts were reset after the previous sample, so all of them are new.
        (ResetHint::Yes, StartTime::Unknown) => Some(StartTime::At { start: time, counts: false }),
        (ResetHint::Yes | ResetHint::Unknown, start_time) => Some(start_time),
    };
    Ok(Some(HistogramSample { time, histogram: sent.into_histogram()?, start_time }))
}

impl HistogramMessage {
    fn read(message: &[u8]) -> Result<Self, WriteError> {
        let mut sent = Self::default();
        for field in Fields::of(message) {
            match field? {
                (1, count) => sent.count = Some(Count::Whole(count.varint()?)),
                (2, count) => sent.count = Some(Count::Float(count.double()?)),
                (3, sum) => sent.sum = sum.double()?,
                (4, schema) => sent.schema = schema.zigzag()?,
                (5, threshold) => sent.zero_threshold = threshold.double()?,
                (6, count) => sent.zero = Some(Count::Whole(count.varint()?)),
                (7, count) => sent.zero = Some(Count::Float(count.double()?)),
                (number @ 8..=10, value) => sent.negative.add(number - 8, value)?,
                (number @ 11..=13, value) => sent.positive.add(number - 11, value)?,
                (14, hint) => sent.reset = ResetHint::of(hint.varint()?),
                (15, time) => sent.time_ms = time.varint()? as i64,
                (16, bounds) => {
                    bounds.doubles(|bound| {
                        push(&mut sent.custom_values, HISTOGRAM_BUCKETS_MAX, bound);
                    })?;
                }
                (17, start) => sent.start_ms = start.varint()? as i64,
                _ => {}
            }
        }
        Ok(sent)
    }

    fn into_histogram(self) -> Result<Histogram, WriteError> {
        let buckets = if self.schema == CUSTOM_BOUNDS {
            self.explicit()?
        } else if let Ok(scale) = i32::try_from(self.schema)
            && EXPONENTIAL.contains(&self.schema)
        {
            self.exponential(scale)?
        } else {
            return Err(WriteError::Buckets(
                "the schema of a histogram must be from -4 to 8, or -53",
            ));
        };
        // An integer count may differ from the sum of the buckets only if NaN was observed, and
        // then the sum is NaN too.
        let counted = counted(&buckets).ok_or(InvalidHistogram::Count)?;
        match self.count {
            Some(Count::Whole(count)) if count != counted && self.sum.is_finite() => {
                Err(InvalidHistogram::Count.into())
            }
            _ => Ok(Histogram::new(counted, Some(self.sum), None, None, buckets)?),
        }
    }

    /// Converts custom bounds. Bounds are inclusive upper bounds; values above the last one have a
    /// bucket of their own.
    fn explicit(&self) -> Result<Buckets, WriteError> {
        let zero = self.zero.map_or(Ok(0), Count::whole)?;
        if zero > 0 || !self.negative.spans.is_empty() {
            let message = "a histogram with custom bounds must have only positive buckets";
            return Err(WriteError::Buckets(message));
        }
        if self.custom_values.len() >= HISTOGRAM_BUCKETS_MAX {
            return Err(InvalidHistogram::TooManyBuckets.into());
        }
        let mut counts = vec![0; self.custom_values.len() + 1];
        self.positive.each(|at, count| {
            let bucket = usize::try_from(at).ok().and_then(|at| counts.get_mut(at));
            let beyond =
                WriteError::Buckets("a histogram must not have more buckets than its bounds allow");
            *bucket.ok_or(beyond)? = count;
            Ok(())
        })?;
        Ok(Buckets::Explicit { bounds: self.custom_values.clone(), counts })
    }

    fn exponential(&self, scale: i32) -> Result<Buckets, WriteError> {
        Ok(Buckets::Exponential {
            scale,
            zero_threshold: self.zero_threshold,
            zero: self.zero.map_or(Ok(0), Count::whole)?,
            positive: self.positive.dense()?,
            negative: self.negative.dense()?,
        })
    }
}

impl Side {
    /// Adds the contents of one of the three lists of a side. Items beyond the limit of a histogram
    /// are dropped.
    fn add(&mut self, list: u32, value: Value<'_>) -> Result<(), WriteError> {
        const MAX: usize = HISTOGRAM_SPAN_MAX + 1;
        match list {
            0 => {
                let (mut offset, mut length) = (0, 0);
                for field in Fields::of(value.bytes()?) {
                    match field? {
                        (1, value) => offset = value.zigzag()?,
                        (2, value) => length = value.varint()?,
                        _ => {}
                    }
                }
                push(&mut self.spans, MAX, (offset, length));
            }
            1 => value.varints(|delta| push(&mut self.deltas, MAX, unzigzag(delta)))?,
            _ => value.doubles(|count| push(&mut self.counts, MAX, count))?,
        }
        Ok(())
    }

    /// Passes the index and count of every bucket to `take`.
    fn each(
        &self,
        mut take: impl FnMut(i64, u64) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let sent_counts = self.deltas.len().max(self.counts.len());
        if sent_counts > HISTOGRAM_SPAN_MAX || self.spans.len() > HISTOGRAM_SPAN_MAX {
            return Err(InvalidHistogram::TooManyBuckets.into());
        }
        let (mut at, mut count, mut buckets) = (0_i64, 0_i64, 0);
        for (gap, length) in &self.spans {
            at = at.checked_add(*gap).ok_or(InvalidHistogram::Offset)?;
            for _ in 0..*length {
                let whole = match (self.deltas.get(buckets), self.counts.get(buckets)) {
                    (Some(delta), None) => {
                        count = count.checked_add(*delta).ok_or(InvalidHistogram::Count)?;
                        u64::try_from(count).map_err(|_| negative_count())?
                    }
                    (None, Some(count)) => Count::Float(*count).whole()?,
                    _ => return Err(spans_and_counts()),
                };
                take(at, whole)?;
                at = at.checked_add(1).ok_or(InvalidHistogram::Offset)?;
                buckets += 1;
            }
        }
        if buckets == sent_counts { Ok(()) } else { Err(spans_and_counts()) }
    }

    /// Returns the counts of consecutive buckets, with the empty ones between runs.
    fn dense(&self) -> Result<Span, WriteError> {
        let first = self.spans.first().map_or(0, |(gap, _)| *gap);
        let mut counts: Vec<u64> = Vec::new();
        self.each(|at, count| {
            let index =
                usize::try_from(at.saturating_sub(first)).map_err(|_| spans_and_counts())?;
            if index >= HISTOGRAM_SPAN_MAX {
                return Err(InvalidHistogram::TooManyBuckets.into());
            }
            // Runs must not overlap: an index already counted is an error.
            if index < counts.len() {
                return Err(spans_and_counts());
            }
            counts.resize(index, 0);
            counts.push(count);
            Ok(())
        })?;
        // The protocol indexes a bucket by its upper bound, the engine by its lower bound.
        let offset =
            i32::try_from(first.saturating_sub(1)).map_err(|_| InvalidHistogram::Offset)?;
        Ok(Span { offset, counts })
    }
}

impl Count {
    fn whole(self) -> Result<u64, WriteError> {
        match self {
            Self::Whole(count) => Ok(count),
            Self::Float(count) if (0.0..=COUNT_MAX).contains(&count) => Ok(count.round() as u64),
            Self::Float(_) => Err(negative_count()),
        }
    }
}

impl ResetHint {
    fn of(hint: u64) -> Self {
        match hint {
            1 => Self::Yes,
            3 => Self::Gauge,
            _ => Self::Unknown,
        }
    }
}

/// Returns the sum of all buckets; `None` on overflow.
fn counted(buckets: &Buckets) -> Option<u64> {
    let add = |sum: u64, counts: &[u64]| counts.iter().try_fold(sum, |sum, n| sum.checked_add(*n));
    match buckets {
        Buckets::Explicit { counts, .. } => add(0, counts),
        Buckets::Exponential { zero, positive, negative, .. } => {
            add(add(*zero, &positive.counts)?, &negative.counts)
        }
    }
}

fn push<T>(list: &mut Vec<T>, max: usize, item: T) {
    if list.len() < max {
        list.push(item);
    }
}

fn negative_count() -> WriteError {
    WriteError::Buckets("the counts of a histogram must be finite numbers of at least 0")
}

fn spans_and_counts() -> WriteError {
    WriteError::Buckets("a histogram must have exactly one count for each bucket of its spans")
}
