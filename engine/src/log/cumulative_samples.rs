//! The sections of a log record that contain cumulative samples as agents sent them: their
//! increases are computed when they are applied.
//!
//! ```text
//! counters    n: varint │ n × series less the previous one: signed │
//!             n × time less the previous one: signed
//!             runs: varint, each: samples: varint │ start code: u8 │
//!                                 unless 0: start less that of the previous run: signed
//!             n × cumulative value: f64
//! histograms  n: varint, each:
//!               has: u8    1 sum, 2 min, 4 max, 8 exponential buckets, 16 cumulative
//!               series, time: signed, each less that of the previous one
//!               start code: u8 │ unless 0: start less time: signed   if it is cumulative
//!               sum, min, max: f64                                   if present
//!               explicit     bounds: varint, 0 those of the previous explicit histogram,
//!                            else 1 more than their number, each: f64 │
//!                            for each and one more: count: varint
//!               exponential  scale: signed │ zero threshold: f64 │ zero: varint
//!                            positive, negative: offset: signed │ counts: varint, each: varint
//! start code  0 unknown, 1 at the start, 2 at the start, and the first sample counts
//! ```

use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::{CodecError, CodecResult};
use crate::limits::{HISTOGRAM_BUCKETS_MAX, HISTOGRAM_SPAN_MAX};
use crate::model::{
    Buckets, CumulativeCounters, CumulativeHistogram, Histogram, SeriesId, Span, StartTime,
    Temporality, TimestampMs,
};

const HAS_SUM: u8 = 1;
const HAS_MIN: u8 = 2;
const HAS_MAX: u8 = 4;
const EXPONENTIAL: u8 = 8;
const CUMULATIVE: u8 = 16;

const UNKNOWN: u8 = 0;
const AT: u8 = 1;
const AT_AND_COUNTS: u8 = 2;

pub(super) fn encode_counters(cumulative: &CumulativeCounters, out: &mut Vec<u8>) {
    out.reserve(16 + cumulative.len() * 11);
    put_varint(out, cumulative.len() as u64);
    let mut previous = 0;
    for series in &cumulative.series {
        put_signed(out, i64::from(series.0) - previous);
        previous = i64::from(series.0);
    }
    let mut previous = 0i64;
    for time in &cumulative.times {
        put_signed(out, time.wrapping_sub(previous));
        previous = *time;
    }
    put_varint(out, cumulative.starts.len() as u64);
    let mut previous = TimestampMs(0);
    for (start_time, count) in &cumulative.starts {
        put_varint(out, *count as u64);
        previous = put_start_time(out, *start_time, previous);
    }
    out.extend(cumulative.totals.iter().flat_map(|total| total.to_le_bytes()));
}

/// Encodes a start time. Returns it, or `near` if it is unknown.
fn put_start_time(out: &mut Vec<u8>, start_time: StartTime, near: TimestampMs) -> TimestampMs {
    match start_time {
        StartTime::Unknown => {
            out.push(UNKNOWN);
            near
        }
        StartTime::At { start, counts } => {
            out.push(if counts { AT_AND_COUNTS } else { AT });
            put_signed(out, start.0.wrapping_sub(near.0));
            start
        }
    }
}

pub(super) fn encode_histograms(cumulative: &[CumulativeHistogram], out: &mut Vec<u8>) {
    put_varint(out, cumulative.len() as u64);
    let (mut series, mut time) = (0, 0i64);
    let mut bounds: &[f64] = &[];
    for reading in cumulative {
        let histogram = &reading.histogram;
        let has = |bit: u8, present: bool| if present { bit } else { 0 };
        out.push(
            has(HAS_SUM, histogram.sum().is_some())
                | has(HAS_MIN, histogram.min().is_some())
                | has(HAS_MAX, histogram.max().is_some())
                | has(EXPONENTIAL, matches!(histogram.buckets(), Buckets::Exponential { .. }))
                | has(CUMULATIVE, reading.temporality != Temporality::Delta),
        );
        put_signed(out, i64::from(reading.series.0) - series);
        put_signed(out, reading.time.0.wrapping_sub(time));
        (series, time) = (i64::from(reading.series.0), reading.time.0);
        if let Temporality::Cumulative(start_time) = reading.temporality {
            put_start_time(out, start_time, reading.time);
        }
        let optional = [histogram.sum(), histogram.min(), histogram.max()];
        out.extend(optional.into_iter().flatten().flat_map(f64::to_le_bytes));
        match histogram.buckets() {
            Buckets::Explicit { bounds: own, counts } => {
                put_bounds(out, own, bounds);
                counts.iter().for_each(|n| put_varint(out, *n));
                bounds = own;
            }
            Buckets::Exponential { scale, zero_threshold, zero, positive, negative } => {
                put_signed(out, i64::from(*scale));
                out.extend_from_slice(&zero_threshold.to_le_bytes());
                put_varint(out, *zero);
                for span in [positive, negative] {
                    put_signed(out, i64::from(span.offset));
                    put_varint(out, span.counts.len() as u64);
                    span.counts.iter().for_each(|n| put_varint(out, *n));
                }
            }
        }
    }
}

fn put_bounds(out: &mut Vec<u8>, bounds: &[f64], before: &[f64]) {
    let same = bounds.iter().map(|b| b.to_bits()).eq(before.iter().map(|b| b.to_bits()));
    if same {
        return put_varint(out, 0);
    }
    put_varint(out, bounds.len() as u64 + 1);
    out.extend(bounds.iter().flat_map(|bound| bound.to_le_bytes()));
}

pub(super) fn decode_counters(
    reader: &mut Reader<'_>,
    into: &mut CumulativeCounters,
) -> CodecResult<()> {
    // Every sample takes at least ten bytes.
    let n = reader.count("cumulative samples", reader.rest().len() / 10)?;
    let mut series = Vec::with_capacity(n);
    let mut id = 0i64;
    for _ in 0..n {
        id = id.wrapping_add(reader.signed()?);
        series.push(series_id(id)?);
    }
    let mut times = Vec::with_capacity(n);
    let mut time = 0i64;
    for _ in 0..n {
        time = time.wrapping_add(reader.signed()?);
        times.push(TimestampMs(time));
    }
    let mut starts = Vec::with_capacity(n);
    let mut near = TimestampMs(0);
    for _ in 0..reader.count("runs of cumulative samples", n)? {
        let count = reader.count("cumulative samples", n - starts.len())?;
        let run = take_start_time(reader, near)?;
        if let StartTime::At { start, .. } = run {
            near = start;
        }
        starts.resize(starts.len() + count, run);
    }
    if starts.len() != n {
        return Err(CodecError::new("cumulative samples without a start time"));
    }
    for ((series, time), start_time) in series.into_iter().zip(times).zip(starts) {
        let total = finite(reader)?;
        into.push(series, time, total, start_time);
    }
    Ok(())
}

fn take_start_time(reader: &mut Reader<'_>, near: TimestampMs) -> CodecResult<StartTime> {
    let code = reader.u8()?;
    if code == UNKNOWN {
        return Ok(StartTime::Unknown);
    }
    if code > AT_AND_COUNTS {
        return Err(CodecError::new(format!("unknown start time {code} of a cumulative sample")));
    }
    let start = TimestampMs(near.0.wrapping_add(reader.signed()?));
    Ok(StartTime::At { start, counts: code == AT_AND_COUNTS })
}

pub(super) fn decode_histograms(
    reader: &mut Reader<'_>,
    into: &mut Vec<CumulativeHistogram>,
) -> CodecResult<()> {
    let (mut series, mut time) = (0i64, 0i64);
    let mut bounds = Vec::new();
    // Every histogram takes at least five bytes.
    for _ in 0..reader.count("histograms", reader.rest().len() / 5)? {
        let has = reader.u8()?;
        if has > 31 {
            return Err(CodecError::new(format!("unknown fields {has} of a histogram")));
        }
        series = series.wrapping_add(reader.signed()?);
        time = time.wrapping_add(reader.signed()?);
        let (series, time) = (series_id(series)?, TimestampMs(time));
        let temporality = if has & CUMULATIVE == 0 {
            Temporality::Delta
        } else {
            Temporality::Cumulative(take_start_time(reader, time)?)
        };
        let mut optional = |bit: u8| (has & bit != 0).then(|| finite(reader)).transpose();
        let (sum, min, max) = (optional(HAS_SUM)?, optional(HAS_MIN)?, optional(HAS_MAX)?);
        let buckets = if has & EXPONENTIAL == 0 {
            take_explicit(reader, &mut bounds)?
        } else {
            Buckets::Exponential {
                scale: small(reader.signed()?)?,
                zero_threshold: reader.f64()?,
                zero: reader.varint()?,
                positive: take_span(reader)?,
                negative: take_span(reader)?,
            }
        };
        let count = buckets.counts().fold(0u64, |sum, n| sum.saturating_add(n));
        let histogram = Histogram::new(count, sum, min, max, buckets)
            .map_err(|error| CodecError::new(error.to_string()))?;
        into.push(CumulativeHistogram { series, time, temporality, histogram });
    }
    Ok(())
}

fn take_explicit(reader: &mut Reader<'_>, bounds: &mut Vec<f64>) -> CodecResult<Buckets> {
    if let Some(n) = reader.count("bounds", HISTOGRAM_BUCKETS_MAX)?.checked_sub(1) {
        *bounds = (0..n).map(|_| reader.f64()).collect::<CodecResult<_>>()?;
    }
    let counts = (0..=bounds.len()).map(|_| reader.varint()).collect::<CodecResult<_>>()?;
    Ok(Buckets::Explicit { bounds: bounds.clone(), counts })
}

fn take_span(reader: &mut Reader<'_>) -> CodecResult<Span> {
    let offset = small(reader.signed()?)?;
    let n = reader.count("buckets of a span", HISTOGRAM_SPAN_MAX)?;
    let counts = (0..n).map(|_| reader.varint()).collect::<CodecResult<_>>()?;
    Ok(Span { offset, counts })
}

fn series_id(id: i64) -> CodecResult<SeriesId> {
    u32::try_from(id).map(SeriesId).map_err(|_| CodecError::new("series id over 32 bits"))
}

fn small(value: i64) -> CodecResult<i32> {
    i32::try_from(value).map_err(|_| CodecError::new(format!("{value} is over 32 bits")))
}

fn finite(reader: &mut Reader<'_>) -> CodecResult<f64> {
    let value = reader.f64()?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(CodecError::new("a cumulative value that is not finite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Record, encode_write};
    use crate::model::{EventRows, MetricType, PointBatch};
    use proptest::prelude::*;

    fn round_trip(batch: &PointBatch) -> PointBatch {
        Record::decode(&encode_write(batch, &EventRows::default(), None)).unwrap().points
    }

    #[test]
    fn cumulative_samples_have_golden_bytes() {
        let at = |start, counts| StartTime::At { start: TimestampMs(start), counts };
        let mut batch = PointBatch::default();
        batch.push_cumulative(SeriesId(5), TimestampMs(1000), 1.5, StartTime::Unknown);
        batch.push_cumulative(SeriesId(6), TimestampMs(1000), 2.0, at(900, true));
        let buckets =
            |counts: &[u64]| Buckets::Explicit { bounds: vec![1.0], counts: counts.to_vec() };
        let first = Histogram::new(3, Some(2.5), None, None, buckets(&[1, 2])).unwrap();
        batch.push_histogram(SeriesId(7), TimestampMs(1000), first);
        let second = Histogram::new(4, None, Some(0.5), Some(1.5), buckets(&[1, 3])).unwrap();
        batch.push_cumulative_histogram(SeriesId(7), TimestampMs(1001), second, at(900, false));
        let span = |offset, counts: &[u64]| Span { offset, counts: counts.to_vec() };
        let exponential = Buckets::Exponential {
            scale: 3,
            zero_threshold: 0.25,
            zero: 1,
            positive: span(-2, &[1, 0, 1]),
            negative: span(0, &[]),
        };
        let third = Histogram::new(3, None, None, None, exponential).unwrap();
        batch.push_cumulative_histogram(SeriesId(8), TimestampMs(1001), third, StartTime::Unknown);
        let golden = "01 06 1d 02 0a 02 d0 0f 00 02 01 00 01 02 88 0e 00 00 00 00 00 00 f8 3f \
                      00 00 00 00 00 00 00 40 07 46 03 01 0e d0 0f 00 00 00 00 00 00 04 40 02 \
                      00 00 00 00 00 00 f0 3f 01 02 16 00 02 01 c9 01 00 00 00 00 00 00 e0 3f \
                      00 00 00 00 00 00 f8 3f 00 01 03 18 02 00 00 06 00 00 00 00 00 00 d0 3f 01 \
                      03 03 01 00 01 00 00";
        let bytes = encode_write(&batch, &EventRows::default(), None);
        let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex.join(" "), golden);
        assert_eq!(round_trip(&batch), batch);
    }

    #[test]
    fn histograms_with_more_buckets_than_the_limit_are_refused() {
        let span = |buckets: usize| {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, -3);
            put_varint(&mut bytes, buckets as u64);
            bytes.resize(bytes.len() + buckets, 1);
            take_span(&mut Reader::new(&bytes)).map(|span| span.counts.len()).ok()
        };
        assert_eq!(span(HISTOGRAM_SPAN_MAX), Some(HISTOGRAM_SPAN_MAX));
        assert_eq!(span(HISTOGRAM_SPAN_MAX + 1), None);
        let explicit = |buckets: usize| {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, buckets as u64);
            (1..buckets).for_each(|bound| bytes.extend_from_slice(&(bound as f64).to_le_bytes()));
            bytes.resize(bytes.len() + buckets, 1);
            let read = take_explicit(&mut Reader::new(&bytes), &mut Vec::new());
            read.ok().map(|read| match read {
                Buckets::Explicit { counts, .. } => counts.len(),
                Buckets::Exponential { .. } => 0,
            })
        };
        assert_eq!(explicit(HISTOGRAM_BUCKETS_MAX), Some(HISTOGRAM_BUCKETS_MAX));
        assert_eq!(explicit(HISTOGRAM_BUCKETS_MAX + 1), None);
    }

    #[test]
    fn the_largest_histograms_round_trip() {
        let mut batch = PointBatch::default();
        let push = |batch: &mut PointBatch, buckets: Buckets| {
            let count = buckets.counts().sum();
            let histogram = Histogram::new(count, Some(f64::MAX), None, None, buckets).unwrap();
            batch.push_histogram(SeriesId(u32::MAX), TimestampMs(i64::MIN), histogram);
        };
        let bounds = (1..HISTOGRAM_BUCKETS_MAX).map(|bound| bound as f64).collect();
        push(&mut batch, Buckets::Explicit { bounds, counts: vec![1; HISTOGRAM_BUCKETS_MAX] });
        push(&mut batch, Buckets::Explicit { bounds: Vec::new(), counts: vec![u64::MAX] });
        let span = |offset: i32| {
            let mut counts = vec![0; HISTOGRAM_SPAN_MAX];
            counts.iter_mut().take(HISTOGRAM_BUCKETS_MAX / 2).for_each(|n| *n = 1 << 50);
            Span { offset, counts }
        };
        let buckets = Buckets::Exponential {
            scale: -11,
            zero_threshold: f64::MAX,
            zero: 0,
            positive: span(i32::MAX - HISTOGRAM_SPAN_MAX as i32),
            negative: span(i32::MIN),
        };
        push(&mut batch, buckets);
        assert_eq!(round_trip(&batch), batch);
    }

    fn start_time() -> impl Strategy<Value = StartTime> {
        prop_oneof![
            Just(StartTime::Unknown),
            (any::<i64>(), any::<bool>())
                .prop_map(|(start, counts)| StartTime::At { start: TimestampMs(start), counts }),
        ]
    }

    fn counts(max: usize) -> impl Strategy<Value = Vec<u64>> {
        let count = prop_oneof![0u64..300, 0u64..1 << 50];
        prop::collection::vec(count, 0..max)
    }

    fn buckets() -> impl Strategy<Value = Buckets> {
        let span =
            || (-1000i32..1000, counts(20)).prop_map(|(offset, counts)| Span { offset, counts });
        let explicit = (0usize..3, counts(6)).prop_map(|(shape, mut counts)| {
            counts.push(1);
            let bounds = (1..counts.len()).map(|b| (b * (shape + 1)) as f64 / 4.0).collect();
            Buckets::Explicit { bounds, counts }
        });
        let exponential = (-11i32..=20, 0.0..1.0f64, any::<u32>(), span(), span()).prop_map(
            |(scale, zero_threshold, zero, positive, negative)| Buckets::Exponential {
                scale,
                zero_threshold,
                zero: zero.into(),
                positive,
                negative,
            },
        );
        prop_oneof![explicit, exponential]
    }

    proptest! {
        #[test]
        fn any_cumulative_samples_round_trip(
            counters in prop::collection::vec((any::<u32>(), any::<i64>(), -1e9..1e9f64, start_time()), 0..60),
            histograms in prop::collection::vec(
                (any::<u32>(), any::<i64>(), buckets(), prop::option::of(0.0..9.0f64), prop::option::of(start_time())),
                0..12,
            ),
        ) {
            let mut batch = PointBatch::default();
            batch.push_number(MetricType::Gauge, SeriesId(1), TimestampMs(1), 1.0);
            for (series, time, total, start) in counters {
                batch.push_cumulative(SeriesId(series), TimestampMs(time), total, start);
            }
            for (series, time, buckets, extreme, start) in histograms {
                let count = buckets.counts().sum();
                let histogram = Histogram::new(count, extreme, extreme, extreme, buckets).unwrap();
                let (series, time) = (SeriesId(series), TimestampMs(time));
                match start {
                    None => batch.push_histogram(series, time, histogram),
                    Some(start) => batch.push_cumulative_histogram(series, time, histogram, start),
                }
            }
            prop_assert_eq!(round_trip(&batch), batch);
        }

        #[test]
        fn any_bytes_are_an_error_or_cumulative_samples(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _outcome = decode_counters(&mut Reader::new(&bytes), &mut CumulativeCounters::default());
            let _outcome = decode_histograms(&mut Reader::new(&bytes), &mut Vec::new());
        }
    }
}
