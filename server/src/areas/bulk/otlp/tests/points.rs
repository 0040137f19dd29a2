//! What data points become, in both encodings, and which are rejected.

use std::sync::Arc;

use serde_json::{Value, json};
use telltale_engine::{BatchBuilder, Buckets, Histogram, MetricType, Span, StartTime, TimestampMs};

use super::super::export::{Export, Rules, SUMMARIES};
use super::super::response::respond;
use super::super::{Encoding, OtlpError};
use super::messages::*;
use crate::areas::bulk::OtlpSettings;
use crate::areas::bulk::intake::{BodyReader, PartSize, Progress, testing};
use crate::http::BulkOutcome;
use crate::limits;

#[test]
fn numbers_become_gauges_and_counters() {
    let tags = [("service.name", "shop"), ("route", "/a")];
    let number = |kind| {
        move |batch: &mut BatchBuilder<'_>| {
            let series = batch.series("m", kind, &tags).unwrap();
            batch.number(kind, series, THEN, 2.0);
        }
    };
    Fixture::open().check(gauge(point()), number(MetricType::Gauge));
    Fixture::open().check(sum(1, true, point()), number(MetricType::Counter));
    Fixture::open().check(sum(1, false, point()), number(MetricType::Counter));
    Fixture::open().check(sum(2, false, point()), number(MetricType::Gauge));
    let int = msg().fixed("asInt", 6, (-3_i64) as u64);
    let mut int = int;
    int.json.insert("asInt".to_owned(), json!("-3"));
    Fixture::open().check(gauge(int), |batch| {
        let series = batch.series("m", MetricType::Gauge, &tags[..1]).unwrap();
        batch.number(MetricType::Gauge, series, NOW, -3.0);
    });
}

#[test]
fn monotonic_cumulative_sums_are_cumulative_samples_with_a_start_time() {
    let began_ns = NOW.0 as u64 * 1_000_000;
    let unknown = StartTime::Unknown;
    let at = |start, counts| StartTime::At { start: TimestampMs(start), counts };
    for (start_ns, time_ns, start_time) in [
        (0, THEN_NS, unknown),
        (THEN_NS, THEN_NS, unknown),
        (THEN_NS + 1_000_000, THEN_NS, unknown),
        (THEN_NS - 5_000_000, THEN_NS, at(THEN.0 - 5, false)),
        (began_ns, began_ns + 7_000_000, at(NOW.0, true)),
    ] {
        let point = msg()
            .fixed("startTimeUnixNano", 2, start_ns)
            .fixed("timeUnixNano", 3, time_ns)
            .double("asDouble", 4, 2.0);
        Fixture::open().check(sum(2, true, point), |batch| {
            let tags = [("service.name", "shop")];
            let series = batch.series("m", MetricType::Counter, &tags).unwrap();
            let time = TimestampMs((time_ns / 1_000_000) as i64);
            batch.reading(series, time, 2.0, start_time);
        });
    }
}

#[test]
fn histograms_become_distributions() {
    let kind = MetricType::Distribution;
    let tags = [("service.name", "shop")];
    let add = |histogram: Histogram, is_delta: bool| {
        move |batch: &mut BatchBuilder<'_>| {
            let series = batch.series("m", kind, &tags).unwrap();
            if is_delta {
                batch.histogram(series, THEN, &histogram);
            } else {
                batch.cumulative_histogram(series, THEN, histogram, StartTime::Unknown);
            }
        }
    };
    let of_bounds = Buckets::Explicit { bounds: vec![1.5], counts: vec![1, 2] };
    let of_bounds = Histogram::new(3, Some(4.5), Some(1.0), Some(2.0), of_bounds).unwrap();
    let of_scale = Buckets::Exponential {
        scale: 1,
        zero_threshold: 0.25,
        zero: 1,
        positive: Span { offset: -2, counts: vec![4] },
        negative: Span::default(),
    };
    let of_scale = Histogram::new(5, None, None, None, of_scale).unwrap();
    let of_none = Buckets::Explicit { bounds: vec![], counts: vec![9] };
    let of_none = Histogram::new(9, Some(1.0), None, None, of_none).unwrap();
    let bare = msg().fixed("timeUnixNano", 3, THEN_NS).fixed("count", 4, 9).double("sum", 5, 1.0);
    for (temporality, is_delta) in [(1, true), (2, false)] {
        let fixture = Fixture::open();
        fixture.check(explicit(temporality, buckets()), add(of_bounds.clone(), is_delta));
        fixture.check(exponential(temporality, spans()), add(of_scale.clone(), is_delta));
        fixture.check(explicit(temporality, bare.clone()), add(of_none.clone(), is_delta));
    }
}

#[test]
fn invalid_data_points_are_rejected_and_the_rest_stored() {
    let late = (NOW.0 as u64 + 86_400_001) * 1_000_000;
    let long = "x".repeat(501);
    let many: Vec<Msg> = (0..33).map(|i| pair(&format!("t{i}"), string(""))).collect();
    let deep = (0..20).fold(string("x"), |inside, _| {
        msg().child("arrayValue", 5, msg().list("values", 1, [inside]))
    });
    let tagged = |tags: Vec<Msg>| gauge(untagged().list("attributes", 7, tags));
    let valued = |value| gauge(msg().double("asDouble", 4, value));
    let fixture = Fixture::open();
    let mut batch = fixture.engine.batch();
    batch.series("m", MetricType::Gauge, &[]).unwrap();
    for (metric, code) in [
        (valued(f64::NAN), "invalid_value"),
        (valued(f64::INFINITY), "invalid_value"),
        (gauge(msg()), "invalid_value"),
        (gauge(untagged().fixed("timeUnixNano", 3, late)), "invalid_timestamp"),
        (gauge(untagged().fixed("timeUnixNano", 3, u64::MAX)), "invalid_timestamp"),
        (gauge(untagged()).text("name", 1, ""), "missing_name"),
        (gauge(untagged()).text("name", 1, "a\u{1}b"), "invalid_name"),
        (sum(0, true, untagged()), "invalid_type"),
        (explicit(0, buckets()), "invalid_type"),
        (sum(1, true, untagged()), "type_conflict"),
        (explicit(1, buckets().fixed("count", 4, 4)), "invalid_value"),
        (exponential(1, spans().varint("scale", 6, 200, 100)), "invalid_value"),
        (tagged(vec![pair("a", string(&long))]), "invalid_tags"),
        (tagged(vec![pair("a", deep)]), "invalid_tags"),
        (tagged(vec![pair("", string("a"))]), "invalid_tags"),
        (tagged(vec![pair("a", string("1")), pair("a", string("2"))]), "invalid_tags"),
        (tagged(many), "invalid_tags"),
    ] {
        let good = gauge(untagged()).text("name", 1, "good");
        let (points, outcome) = fixture.both(&request([metric.clone(), good]));
        assert_eq!(points.len(), 1, "{metric:?}");
        assert_eq!(
            (&outcome["accepted"], &outcome["rejected"]),
            (&json!(1), &json!(1)),
            "{outcome}"
        );
        assert_eq!(
            (&outcome["errors"][0]["code"], &outcome["errors"][0]["index"]),
            (&json!(code), &json!(0))
        );
    }
}

#[test]
fn ignored_data_points_are_counted_by_reason() {
    let fixture = Fixture::open();
    let summary = msg().text("name", 1, "m").child(
        "summary",
        11,
        msg().list("dataPoints", 1, [msg().fixed("timeUnixNano", 3, THEN_NS), msg()]),
    );
    let absent = gauge(msg().varint("flags", 8, 1, 1));
    let (points, outcome) = fixture.both(&request([summary, absent]));
    assert_eq!(points.len(), 0);
    let skipped = json!({"summaries": 2, "no_recorded_value": 1});
    assert_eq!(outcome, json!({"accepted": 0, "rejected": 0, "skipped": skipped}));
}

/// Returns the tags of the only series of metric `m`.
#[track_caller]
fn tags_of(fixture: &Fixture, request: &Msg) -> Vec<(String, String)> {
    let (points, outcome) = fixture.both(request);
    assert_eq!(points.len(), 1, "{outcome}");
    fixture.engine.write(points).unwrap();
    let keys = fixture.engine.tag_keys("m").unwrap();
    keys.into_iter()
        .map(|(key, _)| {
            let values = fixture.engine.tag_values("m", &key).unwrap();
            (key, values.into_iter().map(|(value, _)| value).collect::<Vec<_>>().join("|"))
        })
        .collect()
}

#[test]
fn attribute_values_become_strings() {
    let bytes = |mut msg: Msg| {
        msg.bytes_of(7, &[0xff, 0, 1]);
        msg.json.insert("bytesValue".to_owned(), json!("/wAB"));
        msg
    };
    let int = |n: i64| msg().varint("intValue", 3, n as u64, n.to_string());
    let double = |value| msg().double("doubleValue", 4, value);
    let bool = |value: bool| msg().varint("boolValue", 2, value.into(), value);
    let list = |items: Vec<Msg>| msg().child("arrayValue", 5, msg().list("values", 1, items));
    let map = |items: Vec<Msg>| msg().child("kvlistValue", 6, msg().list("values", 1, items));
    let many = list(vec![int(1); 300]);
    let cut = format!("[{}", "1,".repeat(300).split_at(499).0);
    for (value, text) in [
        (string("a b"), "a b"),
        (string(""), ""),
        (msg(), ""),
        (bool(true), "true"),
        (int(-5), "-5"),
        (int(i64::MIN), "-9223372036854775808"),
        (double(1.0), "1"),
        (double(0.1), "0.1"),
        (double(-0.0), "0"),
        (double(1e300), "1e300"),
        (double(f64::NAN), "NaN"),
        (bytes(msg()), "/wAB"),
        (list(vec![int(1), string("a\"b"), bool(false), msg()]), r#"[1,"a\"b",false,null]"#),
        (map(vec![pair("k", double(2.5)), pair("l", list(vec![]))]), r#"{"k":2.5,"l":[]}"#),
        (list(vec![double(f64::INFINITY), bytes(msg())]), r#"["Infinity","/wAB"]"#),
        (many, &*cut),
    ] {
        let point = untagged().list("attributes", 7, [pair("a", value.clone())]);
        let fixture = Fixture::choosing(OtlpSettings {
            resource_attributes: vec![],
            scope_attributes: vec![],
        });
        let tags = tags_of(&fixture, &request([gauge(point)]));
        assert_eq!(tags, [("a".to_owned(), text.to_owned())], "{value:?}");
    }
}

#[test]
fn selected_attributes_become_tags_and_the_innermost_wins() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let all = OtlpSettings {
        resource_attributes: names(&["process.pid", "service.name", "absent"]),
        scope_attributes: names(&["otel.scope.name", "otel.scope.version"]),
    };
    let own = [pair("service.name", string("mine"))];
    let request = request([gauge(untagged().list("attributes", 7, own))]);
    let tags = tags_of(&Fixture::choosing(all), &request);
    let expected = [
        ("otel.scope.name", "lib"),
        ("otel.scope.version", "1.0"),
        ("process.pid", "7"),
        ("service.name", "mine"),
    ];
    assert_eq!(tags, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn a_malformed_request_is_rejected_as_a_whole() {
    let fixture = Fixture::open();
    let (first, second) = (explicit(1, buckets()), exponential(2, spans()));
    let whole = request([gauge(point()).text("name", 1, "other"), first, second]);
    assert_eq!(fixture.both(&whole).0.len(), 3);
    // Wherever it is cut, the outermost message is shorter than its encoded length.
    for end in 1..whole.wire.len() {
        let cut = fixture.read(&whole.wire[..end], Encoding::Protobuf);
        assert!(matches!(cut, Err(OtlpError::Malformed(_))), "{end}");
    }
    let json = whole.in_json();
    for end in 0..json.len() {
        assert!(
            matches!(fixture.read(&json[..end], Encoding::Json), Err(OtlpError::Json(_))),
            "{end}"
        );
    }
    assert_eq!(fixture.read(b"", Encoding::Protobuf).unwrap().0.len(), 0);
    assert_eq!(fixture.read(b"{}", Encoding::Json).unwrap().0.len(), 0);
}

#[test]
fn json_of_the_wrong_type_is_rejected_and_unknown_fields_are_ignored() {
    let fixture = Fixture::open();
    let read = |body: &str| fixture.read(body.as_bytes(), Encoding::Json);
    let in_point = |fields: &str| {
        read(&format!(
            r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{"name":"m","gauge":{{"dataPoints":[{{{fields}}}]}}}}]}}]}}]}}"#
        ))
    };
    for body in [
        "[]",
        "1",
        "null",
        r#"{"resourceMetrics":{}}"#,
        r#"{"resourceMetrics":[null]}"#,
        r#"{"resourceMetrics":[1]}"#,
        "{} {}",
    ] {
        assert!(matches!(read(body), Err(OtlpError::Json(_))), "{body}");
    }
    for fields in [
        r#""timeUnixNano":-1"#,
        r#""timeUnixNano":"1.5""#,
        r#""timeUnixNano":1.5"#,
        r#""timeUnixNano":[1]"#,
        r#""timeUnixNano":"99999999999999999999""#,
        r#""asDouble":"x""#,
        r#""asDouble":true"#,
        r#""asInt":9223372036854775808"#,
        r#""attributes":{}"#,
        r#""attributes":[{"key":1}]"#,
        r#""attributes":[{"key":"a","value":{"bytesValue":"?"}}]"#,
        r#""flags":"one""#,
    ] {
        assert!(matches!(in_point(fields), Err(OtlpError::Json(_))), "{fields}");
    }
    for fields in [
        r#""asDouble":1"#,
        r#""asDouble":"1e3""#,
        r#""asInt":1.0"#,
        r#""asInt":"-5","timeUnixNano":null,"attributes":null"#,
        r#""asInt":1,"exemplars":[{"traceId":"00","x":[{}]}],"unknown":{"a":[1,null]}"#,
    ] {
        assert_eq!(in_point(fields).unwrap().0.len(), 1, "{fields}");
    }
}

#[test]
fn a_large_request_is_stored_in_parts() {
    let fixture = Fixture::open();
    let metrics = (0..10).map(|i| gauge(point()).text("name", 1, &format!("m{i}")));
    let body = request(metrics).wire;
    let rules = Rules { now: NOW, process_start: NOW, chosen: Arc::clone(&fixture.chosen) };
    let mut export = Export::new(body, rules);
    let (mut outcome, mut sizes) = (BulkOutcome::default(), Vec::new());
    loop {
        let mut batch = fixture.engine.batch();
        let progress =
            BodyReader::read_part(&mut export, &mut batch, PartSize::of(4), &mut outcome).unwrap();
        sizes.push(batch.len());
        if progress == Progress::Ended {
            break;
        }
    }
    assert_eq!((sizes, outcome.accepted()), (vec![4, 4, 2], 10));
}

/// The request contains several resources, each with a gauge and many histograms of two buckets.
#[test]
fn a_part_is_filled_to_its_bucket_limit_over_several_memory_steps() {
    const RESOURCES: usize = 50;
    const HISTOGRAMS: usize = 1_000;
    let fixture = Fixture::open();
    let mut data = msg().varint("aggregationTemporality", 2, 1, 1);
    let point = buckets().wire;
    (0..HISTOGRAMS).for_each(|_| data.bytes_of(1, &point));
    let histograms = msg().text("name", 1, "h").child("histogram", 9, data);
    let mut body = Vec::new();
    for resource in 0..RESOURCES {
        let number = msg().double("asDouble", 4, resource as f64);
        body.extend(request([gauge(number), histograms.clone()]).wire);
    }
    // The bucket limit is reached in the second step of a part, in the middle of a resource.
    let points_max = 4 * limits::BULK_STEP_POINTS_MIN;
    let buckets_max = 5 * limits::BULK_STEP_POINTS_MIN / 2;
    let size = PartSize { points_max, buckets_max };
    let rules = Rules { now: NOW, process_start: NOW, chosen: Arc::clone(&fixture.chosen) };
    let (parts, outcome) = testing::cut(&fixture.engine, Export::new(body, rules), size);
    let histograms: Vec<usize> =
        parts.iter().map(|part| part.len() - part.of(MetricType::Gauge).len()).collect();
    let all = RESOURCES * HISTOGRAMS;
    assert_eq!(histograms, [buckets_max / 2, buckets_max / 2, all - buckets_max]);
    assert_eq!(outcome.accepted(), RESOURCES + all);
    let numbers = parts.iter().flat_map(|part| &part.of(MetricType::Gauge).values);
    let numbers: Vec<f64> = numbers.map(|bits| f64::from_bits(*bits)).collect();
    assert_eq!(numbers, (0..RESOURCES).map(|resource| resource as f64).collect::<Vec<_>>());
}

#[test]
fn a_repeated_request_resumes_in_the_middle_of_a_request() {
    let fixture = Fixture::open();
    let metrics = (0..8).flat_map(|i| {
        let began_ns = (NOW.0 as u64 + 1_000) * 1_000_000;
        let cumulative = untagged().fixed("startTimeUnixNano", 2, began_ns);
        let cumulative = cumulative.fixed("timeUnixNano", 3, began_ns + 5_000_000);
        let numbers = [
            gauge(msg().double("asDouble", 4, f64::from(i))),
            sum(2, true, cumulative),
            gauge(msg().double("asDouble", 4, f64::NAN)),
            explicit(2, buckets()),
            exponential(1, spans()),
        ];
        numbers.map(|metric| metric.text("name", 1, &format!("m{i}")))
    });
    let request = request(metrics);
    for (body, encoding) in
        [(request.wire.clone(), Encoding::Protobuf), (request.in_json(), Encoding::Json)]
    {
        testing::check_resumes(&fixture.engine, |attempt| {
            let now = TimestampMs(NOW.0 + 60_000 * attempt as i64);
            let rules = Rules { now, process_start: now, chosen: Arc::clone(&fixture.chosen) };
            Export::new(encoding.open(body.clone()).unwrap(), rules)
        });
    }
}

#[test]
fn responses_have_the_encoding_of_the_request() {
    let fixture = Fixture::open();
    let bad = gauge(msg().double("asDouble", 4, f64::NAN));
    let (_, outcome) =
        fixture.read(&request([bad, gauge(point())]).wire, Encoding::Protobuf).unwrap();
    let message = r#"1 of 2 data points rejected: "m": the value must be a finite number"#;
    let expected = msg().child(
        "partialSuccess",
        1,
        msg().varint("rejectedDataPoints", 1, 1, "1").text("errorMessage", 2, message),
    );
    assert_eq!(respond(Encoding::Protobuf, &outcome).unwrap().body(), &expected.wire);
    let json = respond(Encoding::Json, &outcome).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(json.body()).unwrap(), Value::from(expected.json));
    let none = BulkOutcome::default();
    assert_eq!(respond(Encoding::Protobuf, &none).unwrap().body().len(), 0);
    assert_eq!(respond(Encoding::Json, &none).unwrap().body(), "{}");
    let mut summaries = BulkOutcome::default();
    summaries.skip(SUMMARIES, 3);
    let outcome =
        serde_json::from_slice::<Value>(respond(Encoding::Json, &summaries).unwrap().body())
            .unwrap();
    assert_eq!(outcome["partialSuccess"]["rejectedDataPoints"], "0");
}

#[test]
fn a_request_that_cannot_be_parsed_to_its_end_fails_instead_of_ending() {
    let fixture = Fixture::open();
    let rules = || Rules { now: NOW, process_start: NOW, chosen: Arc::clone(&fixture.chosen) };
    let body = request([gauge(untagged().double("asDouble", 4, 1.0))]).wire;
    let beyond = json!({"seen": 2, "now_ms": 1, "began_ms": 1});
    testing::check_lost(&fixture.engine, Export::new(&body, rules()), beyond);
    // Validation rejects such a body before the first part.
    let cut = [&body[..], &body[..body.len() - 1]].concat();
    assert!(Encoding::Protobuf.open(cut.clone()).is_err());
    let start = json!({"seen": 0, "now_ms": 1, "began_ms": 1});
    testing::check_lost(&fixture.engine, Export::new(cut, rules()), start);
}
