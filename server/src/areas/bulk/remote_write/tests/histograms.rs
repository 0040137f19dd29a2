//! Native histograms: how their buckets are decoded, and what is stored.

use telltale_engine::{Aggregation, Buckets, InvalidHistogram, MetricType, Span, StartTime};
use telltale_tests::remote_write::{
    BucketSpan, Histogram, RequestV2, TimeSeries, labels, sample, series,
};

use prost::Message;

use super::fixture::{Fixture, MINUTE, NOW, T0};
use crate::areas::bulk::remote_write::WriteError;
use crate::areas::bulk::remote_write::histogram::{HistogramSample, read};
use crate::areas::bulk::remote_write::sample::Times;

const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

fn spans(spans: &[(i32, u32)]) -> Vec<BucketSpan> {
    spans.iter().map(|(offset, length)| BucketSpan { offset: *offset, length: *length }).collect()
}

/// 2 zeros, 1 value in (0.5, 1], 3 in (1, 2], none in (2, 4], 2 in (4, 8], and 1 in [−2, −1).
fn example() -> Histogram {
    Histogram {
        count_int: Some(9),
        sum: 13.5,
        zero_threshold: 0.001,
        zero_count_int: Some(2),
        positive_spans: spans(&[(0, 2), (1, 1)]),
        positive_deltas: vec![1, 2, -1],
        negative_spans: spans(&[(1, 1)]),
        negative_deltas: vec![1],
        timestamp: T0,
        ..Histogram::default()
    }
}

/// The same histogram with float counts.
fn example_of_floats() -> Histogram {
    Histogram {
        count_int: None,
        count_float: Some(9.25),
        zero_count_int: None,
        zero_count_float: Some(2.25),
        positive_deltas: Vec::new(),
        positive_counts: vec![1.0, 2.75, 2.0],
        negative_deltas: Vec::new(),
        negative_counts: vec![1.25],
        ..example()
    }
}

fn read_one(histogram: &Histogram) -> Result<Option<HistogramSample>, WriteError> {
    read(&histogram.encode_to_vec(), 0, Times::new(NOW))
}

#[track_caller]
fn refused(histogram: &Histogram) -> WriteError {
    match read_one(histogram) {
        Err(error) => error,
        Ok(taken) => panic!("{taken:?}"),
    }
}

#[test]
fn buckets_have_the_bounds_their_spans_describe() {
    for sent in [example(), example_of_floats()] {
        let read = read_one(&sent).unwrap().unwrap();
        let buckets = Buckets::Exponential {
            scale: 0,
            zero_threshold: 0.001,
            zero: 2,
            positive: Span { offset: -1, counts: vec![1, 3, 0, 2] },
            negative: Span { offset: 0, counts: vec![1] },
        };
        assert_eq!(read.histogram.buckets(), &buckets);
        assert_eq!((read.histogram.count(), read.histogram.sum()), (9, Some(13.5)));
        assert_eq!((read.time.0, read.start_time), (T0, Some(StartTime::Unknown)));
    }
    let empty = Histogram { timestamp: T0, schema: 3, ..Histogram::default() };
    assert_eq!(read_one(&empty).unwrap().unwrap().histogram.count(), 0);
}

#[test]
fn custom_bounds_are_kept() {
    let custom = Histogram {
        count_int: Some(6),
        schema: -53,
        custom_values: vec![-1.0, 0.5, 2.0],
        positive_spans: spans(&[(0, 1), (1, 2)]),
        positive_deltas: vec![1, 1, 1],
        sum: 9.0,
        timestamp: T0,
        ..Histogram::default()
    };
    let read = read_one(&custom).unwrap().unwrap();
    let buckets = Buckets::Explicit { bounds: vec![-1.0, 0.5, 2.0], counts: vec![1, 0, 2, 3] };
    assert_eq!(read.histogram.buckets(), &buckets);
    for bad in [
        Histogram { positive_spans: spans(&[(0, 1), (2, 2)]), ..custom.clone() },
        Histogram { positive_spans: spans(&[(-1, 3)]), ..custom.clone() },
        Histogram { negative_spans: spans(&[(0, 1)]), ..custom.clone() },
        Histogram { zero_count_int: Some(1), ..custom.clone() },
    ] {
        assert!(matches!(refused(&bad), WriteError::Buckets(_)), "{bad:?}");
    }
    let unordered = Histogram { custom_values: vec![1.0, 1.0, 2.0], ..custom.clone() };
    assert_eq!(refused(&unordered), InvalidHistogram::Bounds.into());
    let many = Histogram { custom_values: (0..100_000).map(f64::from).collect(), ..custom };
    assert_eq!(refused(&many), InvalidHistogram::TooManyBuckets.into());
}

#[test]
fn invalid_histograms_are_rejected() {
    let buckets = [
        Histogram { schema: 9, ..example() },
        Histogram { schema: -5, ..example() },
        Histogram { schema: i32::MIN, ..example() },
        Histogram { positive_deltas: vec![1, 2], ..example() },
        Histogram { positive_deltas: vec![1, 2, -1, 1], ..example() },
        Histogram { positive_deltas: vec![1, -2, 3], ..example() },
        Histogram { positive_counts: vec![1.0], ..example() },
        Histogram { positive_spans: spans(&[(0, 2), (-1, 1)]), ..example() },
        Histogram { zero_count_int: None, zero_count_float: Some(-1.0), ..example() },
        Histogram { negative_counts: vec![f64::NAN], ..example_of_floats() },
        Histogram { negative_counts: vec![f64::INFINITY], ..example_of_floats() },
        Histogram { negative_counts: vec![1e16], ..example_of_floats() },
    ];
    for bad in &buckets {
        assert!(matches!(refused(bad), WriteError::Buckets(_)), "{bad:?}");
    }
    use InvalidHistogram::*;
    for (bad, reason) in [
        (Histogram { count_int: Some(8), ..example() }, Count),
        (Histogram { positive_deltas: vec![i64::MAX, 1, 1], ..example() }, Count),
        (Histogram { zero_threshold: -1.0, ..example() }, ZeroThreshold),
        (Histogram { positive_spans: spans(&[(i32::MIN, 2), (1, 1)]), ..example() }, Offset),
        (Histogram { positive_spans: spans(&[(0, 2), (100_000, 1)]), ..example() }, TooManyBuckets),
        (Histogram { positive_spans: spans(&vec![(0, 0); 100_000]), ..example() }, TooManyBuckets),
        (Histogram { positive_deltas: vec![0; 100_000], ..example() }, TooManyBuckets),
    ] {
        assert_eq!(refused(&bad), reason.into(), "{bad:?}");
    }
}

#[test]
fn nan_observations_are_left_out() {
    let counted = Histogram { count_int: Some(10), sum: f64::NAN, ..example() };
    let read = read_one(&counted).unwrap().unwrap();
    assert_eq!((read.histogram.count(), read.histogram.sum()), (9, None));
}

#[test]
fn staleness_markers_and_reset_hints_are_honoured() {
    assert_eq!(read_one(&Histogram { sum: STALE, ..example() }), Ok(None));
    let start_time = |histogram: &Histogram, start_ms| {
        let read = read(&histogram.encode_to_vec(), start_ms, Times::new(NOW));
        read.unwrap().unwrap().start_time
    };
    let at =
        |start, counts| Some(StartTime::At { start: telltale_engine::TimestampMs(start), counts });
    assert_eq!(start_time(&example(), T0 - 1), at(T0 - 1, true));
    let own = Histogram { start_timestamp: T0 - 2, ..example() };
    assert_eq!(start_time(&own, T0 - 1), at(T0 - 2, true));
    assert_eq!(start_time(&Histogram { reset_hint: 1, ..example() }, 0), at(T0, false));
    assert_eq!(start_time(&Histogram { reset_hint: 1, ..own }, 0), at(T0 - 2, true));
    assert_eq!(start_time(&Histogram { reset_hint: 2, ..example() }, 0), Some(StartTime::Unknown));
    assert_eq!(start_time(&Histogram { reset_hint: 3, ..example() }, 0), None);
    let late = Histogram { timestamp: NOW.0 + 25 * 60 * MINUTE, ..example() };
    assert!(matches!(refused(&late), WriteError::Time(_)));
}

fn one(name: &str, histograms: Vec<Histogram>) -> TimeSeries {
    TimeSeries { labels: labels(&[("__name__", name)]), histograms, ..TimeSeries::default() }
}

#[test]
fn cumulative_histograms_become_distributions_of_their_increases() {
    let fixture = Fixture::new();
    let later = Histogram {
        count_int: Some(11),
        sum: 16.5,
        positive_deltas: vec![1, 4, -3],
        timestamp: T0 + MINUTE,
        ..example()
    };
    fixture.v1(&[one("latency", vec![example(), later.clone()])]).all(0, 2);
    assert_eq!(fixture.kind("latency"), Some(MetricType::Distribution));
    let is = |aggregation| fixture.minutes("latency", aggregation, &[]);
    assert_eq!((is(Aggregation::Count), is(Aggregation::Sum)), (vec![(1, 2.0)], vec![(1, 3.0)]));
    let [(1, median)] = is(Aggregation::P50)[..] else { panic!("one minute has values") };
    assert!((1.0..=2.0).contains(&median), "{median}");
    // The other version continues the same series, and a reset starts from zero.
    let mut request = RequestV2::new();
    request.series(&[("__name__", "latency")]).histograms =
        vec![later, Histogram { timestamp: T0 + 2 * MINUTE, ..example() }];
    fixture.v2(&request).all(0, 2);
    assert_eq!(fixture.minutes("latency", Aggregation::Count, &[]), [(1, 2.0), (2, 9.0)]);
}

#[test]
fn gauge_histograms_are_stored_in_full() {
    let fixture = Fixture::new();
    let moment = |minute| Histogram { reset_hint: 3, timestamp: T0 + minute * MINUTE, ..example() };
    let request = telltale_tests::remote_write::WriteRequest {
        timeseries: vec![one("sizes", vec![moment(0), moment(1)])],
        metadata: Vec::new(),
    };
    let version = crate::areas::bulk::remote_write::Version::V1;
    fixture.write_once(version, &request.encode_to_vec()).unwrap().all(0, 2);
    assert_eq!(fixture.minutes("sizes", Aggregation::Count, &[]), [(0, 9.0), (1, 9.0)]);
}

#[test]
fn samples_and_histograms_do_not_mix() {
    let fixture = Fixture::new();
    fixture.v1(&[series(&[("__name__", "a")], &[(T0, 1.0)])]).all(1, 0);
    fixture.v1(&[one("a", vec![example()])]).partly(0, &[(0, "type_conflict")]);
    fixture.v1(&[one("b", vec![example()])]).all(0, 1);
    let result = fixture.v1(&[series(&[("__name__", "b")], &[(T0, 1.0)])]);
    result.partly(0, &[(0, "type_conflict")]);
    let mut mixed = one("c", vec![example()]);
    mixed.samples = vec![sample(T0, 1.0)];
    let result = fixture.v1(&[mixed]);
    result.partly(1, &[(0, "invalid_value")]);
    assert_eq!((result.written.samples, result.written.histograms), (1, 0));
}

#[test]
fn an_invalid_histogram_is_rejected_alone() {
    let fixture = Fixture::new();
    let bad = Histogram { schema: 99, ..example() };
    let end = Histogram { sum: STALE, ..example() };
    let result = fixture.v1(&[one("a", vec![bad, example(), end])]);
    result.partly(2, &[(0, "invalid_value")]);
    assert_eq!(result.written.histograms, 2);
}
