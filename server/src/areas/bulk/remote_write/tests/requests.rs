//! Samples in both versions: names, tags, types, timestamps, and what is rejected.

use prost::Message;
use serde_json::json;
use telltale_engine::{MetricType, Options, TimestampMs};
use telltale_tests::remote_write::{
    BucketSpan, Exemplar, Histogram, Metadata, MetricMetadata, RequestV2, TimeSeries, WriteRequest,
    labels, sample, series,
};

use super::super::families::{Families, FamilyKind};
use super::fixture::{Fixture, MINUTE, NOW, T0};
use crate::areas::bulk::remote_write::Version;

const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);
const GAUGE: &[(&str, &str)] = &[("__name__", "up"), ("host", "a"), ("zone", "")];

#[test]
fn a_series_becomes_a_metric_with_tags() {
    let fixture = Fixture::new();
    let at = |minute: i64| T0 + minute * MINUTE;
    fixture
        .v1(&[
            series(GAUGE, &[(at(0), 1.0), (at(1), -0.0)]),
            series(&[("host", "b"), ("__name__", "up")], &[(at(0), 2.5)]),
            series(&[("__name__", "up")], &[(at(3), f64::MAX)]),
        ])
        .all(4, 0);
    assert_eq!(fixture.kind("up"), Some(MetricType::Gauge));
    assert_eq!(fixture.gauge("up", &[("host", "a")]), [(0, 1.0), (1, 0.0)]);
    assert_eq!(fixture.gauge("up", &[("host", "b")]), [(0, 2.5)]);
    assert_eq!(fixture.gauge("up", &[("host", "")]), [(3, f64::MAX)], "the series without host");
    // The same series, with its labels in another order and in the other version.
    let mut request = RequestV2::new();
    let again = request.series(&[("zone", ""), ("host", "a"), ("__name__", "up")]);
    again.samples = vec![sample(at(1), 7.0)];
    fixture.v2(&request).all(1, 0);
    assert_eq!(fixture.gauge("up", &[("host", "a")]), [(0, 1.0), (1, 7.0)]);
    assert_eq!(fixture.engine.stats().series, 3);
}

#[test]
fn one_request_may_contain_a_series_twice() {
    let fixture = Fixture::new();
    let twice = series(GAUGE, &[(T0, 1.0)]);
    fixture.v1(&[twice.clone(), series(GAUGE, &[(T0, 3.0)])]).all(2, 0);
    assert_eq!(fixture.gauge("up", &[]), [(0, 3.0)]);
}

#[test]
fn a_series_without_storable_values_is_never_created() {
    let fixture = Fixture::new();
    let exemplars = vec![Exemplar { value: 1.0, ..Exemplar::default() }];
    fixture
        .v1(&[
            series(GAUGE, &[]),
            TimeSeries { labels: labels(GAUGE), exemplars, ..TimeSeries::default() },
            series(&[("__name__", "gone")], &[(T0, STALE)]),
        ])
        .all(1, 0);
    fixture
        .v1(&[series(&[("__name__", "never")], &[(T0, f64::NAN), (-1, 1.0)])])
        .partly(0, &[(0, "invalid_value"), (0, "invalid_timestamp")]);
    fixture.v1(&[]).all(0, 0);
    assert_eq!(
        (fixture.kind("up"), fixture.kind("gone"), fixture.kind("never")),
        (None, None, None)
    );
}

#[test]
fn an_invalid_series_is_rejected_alone() {
    let fixture = Fixture::new();
    let long = "x".repeat(501);
    let many: Vec<(String, String)> = (0..33).map(|i| (format!("k{i}"), "v".to_owned())).collect();
    let mut many: Vec<(&str, &str)> = many.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    many.push(("__name__", "many"));
    let bad: &[(&[(&str, &str)], &str)] = &[
        (&[], "missing_name"),
        (&[("host", "a")], "missing_name"),
        (&[("__name__", "")], "missing_name"),
        (&[("__name__", "a"), ("__name__", "b")], "invalid_name"),
        (&[("__name__", "a\u{1}")], "invalid_name"),
        (&[("__name__", long.as_str())], "invalid_name"),
        (&[("__name__", "up"), ("k", long.as_str())], "invalid_tags"),
        (&[("__name__", "up"), (long.as_str(), "v")], "invalid_tags"),
        (&[("__name__", "up"), ("k", "1"), ("k", "2")], "invalid_tags"),
        (&[("__name__", "up"), ("", "1")], "invalid_tags"),
        (&many, "invalid_tags"),
    ];
    for (labels, code) in bad {
        let good = series(GAUGE, &[(T0, 1.0)]);
        let bad = series(labels, &[(T0, 1.0), (T0 + 1, 2.0)]);
        let result = fixture.v1(&[good.clone(), bad, good]);
        result.partly(2, &[(1, code)]);
        assert_eq!(result.rejected, 2);
        let mut request = RequestV2::new();
        request.series(labels).samples = vec![sample(T0, 1.0)];
        fixture.v2(&request).partly(0, &[(0, code)]);
    }
    assert_eq!(fixture.engine.stats().series, 1);
}

#[test]
fn samples_are_accepted_or_rejected_one_by_one() {
    let fixture = Fixture::new();
    let tomorrow = NOW.0 + 24 * 60 * MINUTE;
    let result = fixture.v1(&[
        series(&[("__name__", "a")], &[(T0, 1.0), (T0 + 1, f64::INFINITY), (T0 + MINUTE, 2.0)]),
        series(
            &[("__name__", "b")],
            &[
                (-1, 1.0),
                (tomorrow + 1, 1.0),
                (i64::MIN, 1.0),
                (tomorrow, 4.0),
                (T0, STALE),
                (T0, 3.0),
            ],
        ),
        series(&[("__name__", "a")], &[(T0, f64::NAN)]),
    ]);
    let refused = [
        (0, "invalid_value"),
        (1, "invalid_timestamp"),
        (1, "invalid_timestamp"),
        (1, "invalid_timestamp"),
        (2, "invalid_value"),
    ];
    result.partly(5, &refused);
    assert_eq!(result.written.samples, 5);
    assert_eq!(fixture.gauge("a", &[]), [(0, 1.0), (1, 2.0)]);
    assert_eq!(fixture.gauge("b", &[]), [(0, 3.0), (1_500, 4.0)]);
}

#[test]
fn without_metadata_the_name_determines_the_type() {
    let fixture = Fixture::new();
    for (name, kind) in [
        ("requests_total", MetricType::Counter),
        ("latency_count", MetricType::Counter),
        ("latency_sum", MetricType::Counter),
        ("latency_bucket", MetricType::Counter),
        ("total", MetricType::Gauge),
        ("totals_total_ratio", MetricType::Gauge),
        ("latency", MetricType::Gauge),
        ("latency_created", MetricType::Gauge),
    ] {
        fixture.v1(&[series(&[("__name__", name)], &[(T0, 1.0)])]).all(1, 0);
        assert_eq!(fixture.kind(name), Some(kind), "{name}");
    }
}

#[test]
fn metadata_of_version_1_applies_to_later_requests() {
    let fixture = Fixture::new();
    let family = |name: &str, kind| MetricMetadata {
        kind,
        metric_family_name: name.to_owned(),
        help: "Help.".to_owned(),
        unit: String::new(),
    };
    let metadata = [
        ("hits", 1),
        ("level_total", 2),
        ("latency", 3),
        ("sizes", 4),
        ("rpc", 5),
        ("build_total", 6),
        ("state_sum", 7),
        ("unknown_total", 0),
    ];
    let metadata = metadata.map(|(name, kind)| family(name, kind)).to_vec();
    // Metadata also applies to the series of its own request, even though it follows them.
    let timeseries = vec![series(&[("__name__", "hits")], &[(T0, 1.0)])];
    let request = WriteRequest { timeseries, metadata };
    fixture.write(Version::V1, &request.encode_to_vec()).all(1, 0);
    assert_eq!(fixture.families.get("rpc"), Some(FamilyKind::Summary));
    for (name, kind) in [
        ("hits", MetricType::Counter),
        ("level_total", MetricType::Gauge),
        ("latency_bucket", MetricType::Counter),
        ("latency_sum", MetricType::Counter),
        ("latency_count", MetricType::Counter),
        ("sizes_bucket", MetricType::Gauge),
        ("sizes_gsum", MetricType::Gauge),
        ("rpc", MetricType::Gauge),
        ("rpc_count", MetricType::Counter),
        ("build_total", MetricType::Gauge),
        ("state_sum", MetricType::Gauge),
        ("unknown_total", MetricType::Counter),
    ] {
        fixture.v1(&[series(&[("__name__", name)], &[(T0, 1.0)])]).all(1, 0);
        assert_eq!(fixture.kind(name), Some(kind), "{name}");
    }
}

#[test]
fn metadata_of_version_2_is_part_of_the_series() {
    let fixture = Fixture::new();
    for (name, declared, kind) in [
        ("a", 1, MetricType::Counter),
        ("b_total", 2, MetricType::Gauge),
        ("c_bucket", 3, MetricType::Counter),
        ("c", 3, MetricType::Gauge),
        ("d_bucket", 4, MetricType::Gauge),
        ("e_sum", 5, MetricType::Counter),
        ("e", 5, MetricType::Gauge),
        ("f_total", 6, MetricType::Gauge),
        ("g_total", 7, MetricType::Gauge),
        ("h_total", 0, MetricType::Counter),
        ("i_total", 99, MetricType::Counter),
        ("i", 99, MetricType::Gauge),
    ] {
        let mut request = RequestV2::new();
        let series = request.series(&[("__name__", name)]);
        series.samples = vec![sample(T0, 1.0)];
        series.metadata = Some(Metadata { kind: declared, ..Metadata::default() });
        fixture.v2(&request).all(1, 0);
        assert_eq!(fixture.kind(name), Some(kind), "{name}");
    }
}

#[test]
fn a_metric_keeps_the_type_it_has() {
    let fixture = Fixture::new();
    let mut batch = fixture.engine.batch();
    for kind in MetricType::ALL {
        batch.series(&format!("{kind}_total"), kind, &[]).unwrap();
        batch.series(&format!("{kind}"), kind, &[]).unwrap();
    }
    drop(batch);
    for name in ["gauge", "gauge_total", "counter", "counter_total"] {
        fixture.v1(&[series(&[("__name__", name), ("a", "b")], &[(T0, 1.0)])]).all(1, 0);
    }
    for name in ["distribution", "distribution_total", "set", "set_total"] {
        let result = fixture.v1(&[series(&[("__name__", name)], &[(T0, 1.0)])]);
        result.partly(0, &[(0, "type_conflict")]);
    }
}

#[test]
fn a_counter_stores_increases() {
    let fixture = Fixture::new();
    let name = &[("__name__", "hits_total")];
    let samples = [(0, 100.0), (1, 107.0), (2, 107.0), (3, 4.0), (4, 5.5)];
    let samples = samples.map(|(minute, total)| (T0 + minute * MINUTE, total));
    for sample_of_minute in samples {
        fixture.v1(&[series(name, &[sample_of_minute])]).all(1, 0);
    }
    let increases = [(1, 7.0), (2, 0.0), (3, 4.0), (4, 1.5)];
    assert_eq!(fixture.counter("hits_total", &[]), increases);
    // An agent that is unsure whether samples arrived sends all of them again.
    fixture.v1(&[series(name, &samples)]).all(5, 0);
    assert_eq!(fixture.counter("hits_total", &[]), increases);
}

#[test]
fn a_counter_that_started_recently_counts_from_zero() {
    let fixture = Fixture::new();
    for (name, created, start, increases) in [
        ("young_total", T0 - MINUTE, 0, &[(0, 10.0), (1, 2.0)][..]),
        ("same_total", 0, T0 - 5 * MINUTE, &[(0, 10.0), (1, 2.0)]),
        ("both_total", T0 - 99 * MINUTE, T0 - MINUTE, &[(0, 10.0), (1, 2.0)]),
        ("old_total", T0 - 5 * MINUTE - 1, 0, &[(1, 2.0)]),
        ("late_total", T0 + 2 * MINUTE, 0, &[(1, 2.0)]),
        ("wrong_total", -5, 0, &[(1, 2.0)]),
    ] {
        for (minute, total) in [(0, 10.0), (1, 12.0)] {
            let mut request = RequestV2::new();
            let series = request.series(&[("__name__", name)]);
            series.created_timestamp = created;
            series.samples = vec![sample(T0 + minute * MINUTE, total)];
            series.samples[0].start_timestamp = start;
            fixture.v2(&request).all(1, 0);
        }
        assert_eq!(fixture.counter(name, &[]), increases, "{name}");
    }
}

#[test]
fn a_restarted_counter_counts_from_zero_even_above_its_last_value() {
    let fixture = Fixture::new();
    for (minute, created, total) in [(0, -10, 10.0), (1, -10, 12.0), (3, 2, 50.0)] {
        let mut request = RequestV2::new();
        let series = request.series(&[("__name__", "hits_total")]);
        series.created_timestamp = T0 + created * MINUTE;
        series.samples = vec![sample(T0 + minute * MINUTE, total)];
        fixture.v2(&request).all(1, 0);
    }
    assert_eq!(fixture.counter("hits_total", &[]), [(1, 2.0), (3, 50.0)]);
}

#[test]
fn new_series_over_the_limit_are_rejected_and_known_ones_accepted() {
    let fixture = Fixture::with(Options { series_per_metric: 2, ..Options::default() });
    let host = |host: &str| series(&[("__name__", "up"), ("host", host)], &[(T0, 1.0)]);
    let result = fixture.v1(&[host("a"), host("b"), host("c"), host("a")]);
    result.partly(3, &[(2, "cardinality_limit")]);
    assert_eq!(fixture.engine.stats().series, 2);
}

#[test]
fn fields_may_occur_in_any_order() {
    let fixture = Fixture::new();
    // Samples, a label, an unknown field and another label, each a field of the series.
    let one = series(GAUGE, &[(T0, 5.0)]);
    let mut message = Vec::new();
    let mut field = |number: u8, bytes: &[u8]| {
        message.extend([number << 3 | 2, u8::try_from(bytes.len()).unwrap()]);
        message.extend(bytes);
    };
    field(2, &one.samples[0].encode_to_vec());
    field(1, &one.labels[1].encode_to_vec());
    field(9, b"x");
    field(1, &one.labels[0].encode_to_vec());
    let mut body = vec![0x0a, u8::try_from(message.len()).unwrap()];
    body.extend(message);
    fixture.write(Version::V1, &body).all(1, 0);
    assert_eq!(fixture.gauge("up", &[("host", "a")]), [(0, 5.0)]);

    // Version 2: symbols after the series, and references that are not packed.
    let mut request = RequestV2::new();
    request.series(&[("__name__", "up2"), ("host", "b")]).samples = vec![sample(T0, 6.0)];
    let symbols = RequestV2 { timeseries: Vec::new(), ..request.clone() }.encode_to_vec();
    let packed = request.encode_to_vec();
    let series = packed.strip_prefix(symbols.as_slice()).unwrap();
    fixture.write(Version::V2, &[series, &symbols].concat()).all(1, 0);
    let refs = request.timeseries[0].labels_refs.iter();
    let mut loose: Vec<u8> =
        refs.flat_map(|symbol| [0x08, u8::try_from(*symbol).unwrap()]).collect();
    let value = sample(T0 + MINUTE, 7.0).encode_to_vec();
    loose.extend([0x12, u8::try_from(value.len()).unwrap()]);
    loose.extend(value);
    let mut body = symbols;
    body.extend([0x2a, u8::try_from(loose.len()).unwrap()]);
    body.extend(loose);
    fixture.write(Version::V2, &body).all(1, 0);
    assert_eq!(fixture.gauge("up2", &[("host", "b")]), [(0, 6.0), (1, 7.0)]);
}

#[test]
fn a_repeated_request_resumes_in_the_middle_of_a_body() {
    use crate::areas::bulk::intake::testing::check_resumes;
    use crate::areas::bulk::remote_write::request::WriteRequest as RequestReader;

    let fixture = Fixture::new();
    let samples: Vec<_> = (0..7).map(|i| sample(T0 + i * MINUTE, 1.0)).collect();
    let mut bad = samples.clone();
    bad.insert(3, sample(T0, f64::NAN));
    bad.insert(1, sample(T0, STALE));
    let histogram = |i: i64| Histogram {
        count_int: Some(1),
        positive_spans: vec![BucketSpan { offset: 0, length: 1 }],
        positive_deltas: vec![1],
        timestamp: T0 + i * MINUTE,
        ..Histogram::default()
    };
    let mut request = RequestV2::new();
    request.series(&[("__name__", "a"), ("host", "a")]).samples = samples.clone();
    request.series(&[("__name__", "b_total")]).samples = bad.clone();
    request.series(&[("__name__", "ends")]).samples = vec![sample(T0, STALE); 3];
    request.series(&[("__name__", "")]).samples = samples.clone();
    request.series(&[("__name__", "h")]).histograms = (0..5).map(histogram).collect();
    let v2 = request.encode_to_vec();
    let timeseries = vec![
        TimeSeries { labels: labels(GAUGE), samples, ..TimeSeries::default() },
        TimeSeries {
            labels: labels(&[("__name__", "h1")]),
            histograms: (0..5).map(histogram).collect(),
            ..TimeSeries::default()
        },
        TimeSeries {
            labels: labels(&[("__name__", "b_total")]),
            samples: bad,
            ..TimeSeries::default()
        },
    ];
    let v1 = WriteRequest { timeseries, metadata: Vec::new() }.encode_to_vec();
    for (version, body) in [(Version::V1, v1), (Version::V2, v2)] {
        check_resumes(&fixture.engine, |attempt| {
            let now = TimestampMs(NOW.0 + MINUTE * attempt as i64);
            // Metadata is not kept across a restart.
            RequestReader::new(&body, version, now, Families::default())
        });
    }
}

#[test]
fn a_large_request_is_stored_in_parts() {
    use crate::areas::bulk::intake::{PartSize, Progress};
    use crate::areas::bulk::remote_write::request::WriteRequest as RequestReader;
    use crate::http::BulkOutcome;

    let fixture = Fixture::new();
    let samples: Vec<(i64, f64)> = (0..7).map(|i| (T0 + i * MINUTE, 1.0)).collect();
    let timeseries = vec![
        series(&[("__name__", "a")], &samples),
        series(&[("__name__", "b_total")], &samples),
        series(&[("__name__", "c")], &samples[..1]),
    ];
    let body = WriteRequest { timeseries, metadata: Vec::new() }.encode_to_vec();
    for points_max in 1..20 {
        let mut request = RequestReader::new(&body, Version::V1, NOW, fixture.families.clone());
        let (mut outcome, mut points) = (BulkOutcome::default(), 0);
        loop {
            let mut batch = fixture.engine.batch();
            let progress =
                request.read(&mut batch, PartSize::of(points_max), &mut outcome).unwrap();
            points += batch.len();
            match progress {
                Progress::Paused => assert_eq!(batch.len(), points_max),
                Progress::Ended => break,
            }
        }
        assert_eq!((outcome.accepted(), outcome.rejected(), points), (15, 0, 15));
    }
}

#[test]
fn a_position_that_is_not_in_the_body_fails_the_request() {
    use crate::areas::bulk::intake::testing::check_lost;
    use crate::areas::bulk::remote_write::request::WriteRequest as RequestReader;

    let fixture = Fixture::new();
    let timeseries = vec![series(GAUGE, &[(T0, 1.0), (T0 + MINUTE, 2.0)])];
    let body = WriteRequest { timeseries, metadata: Vec::new() }.encode_to_vec();
    let end = body.len();
    for (at, open) in [
        (end + 1, json!(null)),
        // In the middle of a field.
        (end - 1, json!(null)),
        (end, json!([end + 1, end + 1])),
        (end, json!([2, end + 1])),
        (end, json!([3, end])),
    ] {
        let written = json!({"samples": 0, "histograms": 0});
        let position = json!({
            "at": at, "series": 1, "open": open, "resolved_bytes": 0, "written": written, "now_ms": 1,
        });
        let reader = RequestReader::new(&body, Version::V1, NOW, fixture.families.clone());
        check_lost(&fixture.engine, reader, position);
    }
}

#[test]
fn a_part_is_filled_to_its_bucket_limit() {
    use crate::areas::bulk::intake::{PartSize, testing::cut};
    use crate::areas::bulk::remote_write::request::WriteRequest as RequestReader;

    let fixture = Fixture::new();
    let histogram = |i: i64| Histogram {
        count_int: Some(2),
        positive_spans: vec![BucketSpan { offset: 0, length: 2 }],
        positive_deltas: vec![1, 0],
        timestamp: T0 + i * MINUTE,
        ..Histogram::default()
    };
    let mut request = RequestV2::new();
    request.series(&[("__name__", "h")]).histograms = (0..7).map(histogram).collect();
    let body = request.encode_to_vec();
    for (buckets_max, expected) in [(1, vec![1; 7]), (6, vec![3, 3, 1]), (14, vec![7])] {
        let reader = RequestReader::new(&body, Version::V2, NOW, fixture.families.clone());
        let size = PartSize { points_max: 100, buckets_max };
        let (parts, outcome) = cut(&fixture.engine, reader, size);
        // A part that is full after the last value is followed by an empty one, which is not
        // written.
        let sizes = parts.iter().map(|part| part.len()).filter(|points| *points > 0);
        assert_eq!((sizes.collect(), outcome.accepted()), (expected, 7));
    }
}
