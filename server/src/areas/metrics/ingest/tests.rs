//! Parsing of bodies: tables of single items and batches, and a simple model beside the real
//! parser.

use proptest::prelude::*;
use serde_json::{Value, json};
use telltale_engine::{
    Engine, InvalidName, Maintenance, MetricName, MetricType, Options, Refusal, Tags, TimestampMs,
};

use super::super::error::MetricsError;
use super::super::model::{Measured, Outcome, Point};
use super::super::ops::{push, resolve_batch, resolve_into};
use super::{Item, Reader, read_batch, read_one};
use crate::http::{ApiError, ErrorCode};
use crate::platform::telemetry::batch::InvalidBatch;
use crate::platform::time;

/// 2026-01-02T03:04:05.678Z
const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

/// Formats a sample: `gauge a{k=v} 1.5 @2026-01-02T03:04:05.678Z`.
fn shown(point: &Point<'_>) -> Result<String, Refusal> {
    // The checks of the engine.
    MetricName::check(point.name)?;
    let tags = Tags::new(point.tags)?;
    let value = match point.value {
        Measured::Number(n) => format!("{n}"),
        Measured::Member(m) => format!("{m:?}"),
    };
    Ok(format!("{} {}{{{tags}}} {value} @{}", point.kind, point.name, time::format(point.time)))
}

fn one(body: &[u8]) -> Result<String, ApiError> {
    Ok(read_one(body, NOW, shown)?)
}

fn batch(body: &[u8]) -> Result<(Vec<String>, Outcome), MetricsError> {
    let mut taken = Vec::new();
    let outcome = read_batch(body, NOW, |point| {
        taken.push(shown(point)?);
        Ok(())
    })?;
    assert_eq!(taken.len(), outcome.accepted);
    Ok((taken, outcome))
}

fn codes(outcome: Outcome) -> Vec<(usize, ErrorCode)> {
    outcome.errors.into_iter().map(|r| (r.index, ApiError::from(r.error).code())).collect()
}

#[track_caller]
fn check(body: &str, expected: Result<&str, (ErrorCode, &str)>) {
    let read = one(body.as_bytes());
    match (&read, expected) {
        (Ok(point), Ok(expected)) => assert_eq!(point, expected, "{body}"),
        (Err(error), Err((code, field))) => {
            assert_eq!(error.code(), code, "{body}: {}", error.message());
            let named = error.details().and_then(|d| d.field.as_deref()).unwrap_or_default();
            assert_eq!(named, field, "{body}");
        }
        _ => panic!("{body}: {read:?}, expected {expected:?}"),
    }
}

#[test]
fn valid_items_are_accepted() {
    for (body, expected) in [
        (r#"{"name":"a","type":"gauge","value":1}"#, "gauge a{} 1 @2026-01-02T03:04:05.678Z"),
        (
            r#"{"tags":{"k":"v"},"timestamp":"2026-01-01T00:00:00Z","value":-1.5e2,"type":"counter","name":"a/b %"}"#,
            "counter a/b %{k=v} -150 @2026-01-01T00:00:00.000Z",
        ),
        (
            r#"{"name":"a","type":"set","value":"x\"y","timestamp":null,"tags":null,"else":[{"name":1}]}"#,
            r#"set a{} "x\"y" @2026-01-02T03:04:05.678Z"#,
        ),
        (
            r#"{"name":"a","type":"distribution","value":0.1,"tags":{"s":"","t":true,"f":false,"i":200,"n":-7,"d":1.50,"e":1e3,"b":18446744073709551615,"h":1e300}}"#,
            "distribution a{b=18446744073709551615,d=1.5,e=1000,f=false,h=1e300,i=200,n=-7,s=,t=true} 0.1 @2026-01-02T03:04:05.678Z",
        ),
        (
            r#"{"name":"caf\u00e9","type":"gauge","value":18446744073709551616,"timestamp":"2026-01-03 03:04"}"#,
            "gauge café{} 18446744073709552000 @2026-01-03T03:04:00.000Z",
        ),
        (r#"{"name":"a","type":"gauge","value":-0.0}"#, "gauge a{} 0 @2026-01-02T03:04:05.678Z"),
        (
            r#"{"name":"a","type":"gauge","value":1,"else":1e400}"#,
            "gauge a{} 1 @2026-01-02T03:04:05.678Z",
        ),
        (
            r#"{"name":"a","type":"gauge","value":1,"timestamp":"1970-01-01T00:00Z"}"#,
            "gauge a{} 1 @1970-01-01T00:00:00.000Z",
        ),
    ] {
        check(body, Ok(expected));
    }
    let member = "é".repeat(500);
    let body = json!({"name": "a", "type": "set", "value": member}).to_string();
    check(&body, Ok(&format!("set a{{}} {member:?} @2026-01-02T03:04:05.678Z")));
}

#[test]
fn invalid_items_are_refused() {
    use ErrorCode::*;
    for (body, code, field) in [
        ("", InvalidJson, ""),
        ("nonsense", InvalidJson, ""),
        (r#"{"name":"a","#, InvalidJson, ""),
        ("[]", InvalidJson, ""),
        ("null", InvalidJson, ""),
        ("{}", MissingName, "name"),
        (r#"{"name":null,"type":"gauge","value":1}"#, MissingName, "name"),
        (r#"{"name":"","type":"gauge","value":1}"#, MissingName, "name"),
        (r#"{"name":7,"type":"gauge","value":1}"#, InvalidName, "name"),
        (r#"{"name":"a\nb","type":"gauge","value":1}"#, InvalidName, "name"),
        (r#"{"name":"a","value":1}"#, InvalidType, "type"),
        (r#"{"name":"a","type":"Gauge","value":1}"#, InvalidType, "type"),
        (r#"{"name":"a","type":1,"value":1}"#, InvalidType, "type"),
        (r#"{"name":"a","type":"gauge"}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":null}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":"1"}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"counter","value":true}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"distribution","value":[1]}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":1e400}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":-1e309}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":NaN}"#, InvalidJson, ""),
        (r#"{"name":"a","type":"set","value":1}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"set","value":""}"#, InvalidValue, "value"),
        (
            r#"{"name":"a","type":"gauge","value":1,"timestamp":1767323045}"#,
            InvalidTimestamp,
            "timestamp",
        ),
        (r#"{"name":"a","type":"gauge","value":1,"timestamp":""}"#, InvalidTimestamp, "timestamp"),
        (
            r#"{"name":"a","type":"gauge","value":1,"timestamp":"2026-01-02"}"#,
            InvalidTimestamp,
            "timestamp",
        ),
        (
            r#"{"name":"a","type":"gauge","value":1,"timestamp":"1969-12-31T23:59:59Z"}"#,
            InvalidTimestamp,
            "timestamp",
        ),
        (
            r#"{"name":"a","type":"gauge","value":1,"timestamp":"2026-01-03T03:04:06Z"}"#,
            InvalidTimestamp,
            "timestamp",
        ),
        (r#"{"name":"a","type":"gauge","value":1,"tags":[]}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":"k=v"}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":1e400}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"k":null}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"k":{}}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"k":["v"]}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"k":1e400}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"":"v"}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{"k":"v","k":"v"}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","name":"b","type":"gauge","value":1}"#, InvalidName, "name"),
        (r#"{"name":"a","type":"gauge","type":"gauge","value":1}"#, InvalidType, "type"),
        (r#"{"name":"a","type":"gauge","value":1,"value":null}"#, InvalidValue, "value"),
        (r#"{"name":"a","type":"gauge","value":1,"tags":{},"tags":{}}"#, InvalidTags, "tags"),
        (r#"{"timestamp":null,"timestamp":null}"#, InvalidTimestamp, "timestamp"),
    ] {
        check(body, Err((code, field)));
    }
}

#[test]
fn names_members_and_tags_have_the_specified_limits() {
    let with = |name: &str, member: &str, tags: Value| {
        let body = json!({"name": name, "type": "set", "value": member, "tags": tags});
        one(body.to_string().as_bytes()).map(drop).map_err(|error| error.code())
    };
    let many =
        |count: usize| Value::Object((0..count).map(|i| (format!("k{i}"), json!(i))).collect());
    let (k, v) = ("ü".repeat(101), "ü".repeat(501));
    assert_eq!(with(&"ü".repeat(200), "m", many(32)), Ok(()));
    assert_eq!(with(&"ü".repeat(201), "m", many(0)), Err(ErrorCode::InvalidName));
    assert_eq!(with("a", &v, many(0)), Err(ErrorCode::InvalidValue));
    assert_eq!(with("a", "m", many(33)), Err(ErrorCode::InvalidTags));
    assert_eq!(with("a", "m", json!({k: "v"})), Err(ErrorCode::InvalidTags));
    assert_eq!(with("a", "m", json!({"k": v})), Err(ErrorCode::InvalidTags));
    assert_eq!(with("a", "m", json!({"k\u{7}": "v"})), Err(ErrorCode::InvalidTags));
}

#[test]
fn a_batch_stores_valid_items_and_counts_invalid_ones() {
    let body = br#"{"else":1,"metrics":[
        {"name":"a","type":"gauge","value":1},
        7,
        {"type":"gauge","value":1},
        {"name":"b","type":"gauge","value":1e999},
        {"name":"c","type":"set","value":"m","tags":{"n":9007199254740993}},
        null,
        1e999
    ]}"#;
    let (points, outcome) = batch(body).unwrap();
    assert_eq!(
        points,
        [
            "gauge a{} 1 @2026-01-02T03:04:05.678Z",
            r#"set c{n=9007199254740993} "m" @2026-01-02T03:04:05.678Z"#
        ]
    );
    assert_eq!((outcome.accepted, outcome.rejected), (2, 5));
    assert_eq!(
        codes(outcome),
        [
            (1, ErrorCode::InvalidValue),
            (2, ErrorCode::MissingName),
            (3, ErrorCode::InvalidValue),
            (5, ErrorCode::InvalidValue),
            (6, ErrorCode::InvalidValue)
        ]
    );
    assert_eq!(batch(br#"{"metrics":[]}"#).unwrap(), (Vec::new(), Outcome::default()));
}

#[test]
fn an_invalid_batch_stores_nothing() {
    let long = format!(r#"{{"metrics":[{}0]}}"#, "0,".repeat(500));
    let cut = format!(r#"{{"metrics":[{}"#, r#"{"name":"a","type":"gauge","value":1},"#.repeat(3));
    for (body, code) in [
        (cut.as_str(), ErrorCode::InvalidJson),
        ("[]", ErrorCode::InvalidJson),
        (r#"{"metrics":[],"metrics":[]}"#, ErrorCode::InvalidJson),
        ("{}", ErrorCode::MissingField),
        (r#"{"metrics":null}"#, ErrorCode::MissingField),
        (r#"{"metrics":{}}"#, ErrorCode::InvalidParameter),
        (r#"{"metrics":1e400}"#, ErrorCode::InvalidParameter),
        (&long, ErrorCode::BatchTooLarge),
    ] {
        let mut points = 0;
        let read = read_batch(body.as_bytes(), NOW, |_| {
            points += 1;
            Ok(())
        });
        assert_eq!(read.map_err(|e| ApiError::from(e).code()), Err(code), "{body}");
        assert_eq!(points, 0, "{body}");
    }
}

#[test]
fn the_first_fifty_invalid_items_are_listed() {
    let body = format!(r#"{{"metrics":[{}0]}}"#, "0,".repeat(499));
    let (_, outcome) = batch(body.as_bytes()).unwrap();
    assert_eq!((outcome.accepted, outcome.rejected, outcome.errors.len()), (0, 500, 50));
    assert_eq!(outcome.errors.last().unwrap().index, 49);
}

#[test]
fn an_item_refused_by_the_engine_is_invalid() {
    let body = br#"{"metrics":[{"name":"a","type":"gauge","value":1},{"name":"b","type":"gauge","value":1}]}"#;
    let outcome = read_batch(body, NOW, |point| match point.name {
        "a" => Err(Refusal::CardinalityLimit("no more series".to_owned())),
        _ => Ok(()),
    });
    assert_eq!(codes(outcome.unwrap()), [(0, ErrorCode::CardinalityLimit)]);
}

/// Generates the value of a field, usually one that fits.
fn field(fitting: Vec<Value>) -> impl Strategy<Value = Option<Value>> {
    let odd = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-3),
        json!(2.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!("gauge"),
        json!("2026-01-02T03:04:05Z"),
        json!({"k": "v"}),
        json!({"k": null}),
        json!("\u{1}"),
        json!("y".repeat(501)),
        json!(u64::MAX),
    ];
    prop_oneof![
        12 => prop::sample::select(fitting).prop_map(Some),
        2 => prop::sample::select(odd).prop_map(Some),
        1 => Just(None),
    ]
}

fn item() -> impl Strategy<Value = Value> {
    let tags = vec![
        json!({}),
        json!({"host": "b", "c\n": "d"}),
        json!({"num": 1, "frac": 0.5, "bool": false, "é": "\"\\"}),
    ];
    (
        field(vec![json!("cpu"), json!("http.requests"), json!("naïve \"name\" \\ /")]),
        field(vec![json!("gauge"), json!("counter"), json!("distribution"), json!("set")]),
        field(vec![json!(1), json!(-2.5), json!(1e300), json!("member")]),
        field(vec![json!("2026-01-02T03:04:05.678Z"), json!("2026-01-02 03:04+02"), json!(null)]),
        field(tags),
    )
        .prop_map(|(name, kind, value, timestamp, tags)| {
            let fields = [
                ("name", name),
                ("type", kind),
                ("value", value),
                ("timestamp", timestamp),
                ("tags", tags),
            ];
            let present =
                fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            Value::Object(present.collect())
        })
}

/// The same rules, implemented on a tree of values.
fn model_item(item: &Value) -> Result<String, ErrorCode> {
    let Value::Object(fields) = item else { return Err(ErrorCode::InvalidValue) };
    let get = |key: &str| fields.get(key).filter(|v| !v.is_null());
    let name = match get("name") {
        None => return Err(ErrorCode::MissingName),
        Some(Value::String(name)) if name.is_empty() => return Err(ErrorCode::MissingName),
        Some(Value::String(name)) => name,
        Some(_) => return Err(ErrorCode::InvalidName),
    };
    let kind = get("type")
        .and_then(Value::as_str)
        .and_then(MetricType::parse)
        .ok_or(ErrorCode::InvalidType)?;
    let value = match (kind, get("value")) {
        (MetricType::Set, Some(Value::String(m))) if (1..=500).contains(&m.chars().count()) => {
            format!("{m:?}")
        }
        (
            MetricType::Gauge | MetricType::Counter | MetricType::Distribution,
            Some(Value::Number(n)),
        ) => {
            format!("{}", n.as_f64().unwrap())
        }
        _ => return Err(ErrorCode::InvalidValue),
    };
    let time = match get("timestamp") {
        None => NOW,
        Some(Value::String(text)) => {
            time::parse_recorded(text, NOW).map_err(|_| ErrorCode::InvalidTimestamp)?
        }
        Some(_) => return Err(ErrorCode::InvalidTimestamp),
    };
    let empty = serde_json::Map::new();
    let tags = match get("tags") {
        None => &empty,
        Some(Value::Object(tags)) => tags,
        Some(_) => return Err(ErrorCode::InvalidTags),
    };
    let mut pairs = Vec::new();
    for (key, value) in tags {
        match value {
            Value::String(text) => pairs.push((key.clone(), text.clone())),
            Value::Bool(_) | Value::Number(_) => pairs.push((key.clone(), value.to_string())),
            _ => return Err(ErrorCode::InvalidTags),
        }
    }
    match MetricName::check(name) {
        Ok(()) => {}
        Err(InvalidName::Empty) => return Err(ErrorCode::MissingName),
        Err(_) => return Err(ErrorCode::InvalidName),
    }
    let tags = Tags::new(&pairs).map_err(|_| ErrorCode::InvalidTags)?;
    Ok(format!("{kind} {name}{{{tags}}} {value} @{}", time::format(time)))
}

fn open(series_per_metric: usize) -> (tempfile::TempDir, Engine) {
    let dir = tempfile::tempdir().unwrap();
    let options =
        Options { maintenance: Maintenance::Manual, series_per_metric, ..Options::default() };
    let engine = Engine::open(dir.path(), options).unwrap();
    (dir, engine)
}

/// Compares the fast parser with the general one, each on its own engine, for new series and for
/// known ones.
fn compare_to_general(body: &[u8]) -> Result<(), TestCaseError> {
    let ((_dir, general), (_other_dir, quick)) = (open(2), open(2));
    for meeting in ["first", "second"] {
        let mut batch = general.batch();
        let read = read_batch(body, NOW, |point| push(&mut batch, point));
        match (resolve_batch(&quick, NOW, body), read) {
            (Ok(quick), Ok(outcome)) => {
                prop_assert_eq!(quick, (batch.finish(), outcome), "{}", meeting);
            }
            (Err(quick), Err(general)) => prop_assert_eq!(quick.to_string(), general.to_string()),
            (quick, general) => prop_assert!(false, "{:?} {:?}", quick, general),
        }
    }
    Ok(())
}

/// Compares them for single items, one after another.
fn compare_items_to_general(items: &[String]) -> Result<(), TestCaseError> {
    let ((_dir, general), (_other_dir, quick)) = (open(2), open(2));
    for _meeting in 0..2 {
        let (mut ours, mut theirs) = (quick.batch(), general.batch());
        let mut reader = Reader::new(NOW, quick.memory());
        for item in items {
            let quick = resolve_into(&mut reader, &mut ours, item.as_bytes());
            let general = read_one(item.as_bytes(), NOW, |point| push(&mut theirs, point));
            let message = |read: Result<(), MetricsError>| read.map_err(|error| error.to_string());
            prop_assert_eq!(message(quick), message(general), "{}", item);
        }
        prop_assert_eq!(ours.finish(), theirs.finish());
    }
    Ok(())
}

#[test]
fn a_series_sent_before_is_recognised_by_its_bytes() {
    let (_dir, engine) = open(100);
    let item = r#"{"name":"a","type":"gauge","value":1,"tags":{"k":"v"}}"#;
    let body = format!("{{\"metrics\":[{item}]}}");
    let read = |body: &str| {
        let mut batch = engine.batch();
        let items = Reader::new(NOW, engine.memory()).batch(&mut batch, body.as_bytes());
        items.map(|items| items.iter().map(|item| matches!(item, Item::Known { .. })).collect())
    };
    assert_eq!(read(&body), Some(vec![false]));
    let (_, outcome) = resolve_batch(&engine, NOW, body.as_bytes()).unwrap();
    assert_eq!(outcome.accepted, 1);
    let other = item.replace("\"v\"", "\"w\"");
    let several = format!("{{\"metrics\":[{item},{other},{item}]}}");
    assert_eq!(read(&several), Some(vec![true, false, true]));
    assert_eq!(read(&body.replace(r#""v""#, r#""\u0076""#)), None, "escapes are not read here");
    let mut batch = engine.batch();
    let one = Reader::new(NOW, engine.memory()).one(&mut batch, item.as_bytes());
    assert!(matches!(one, Some(Item::Known { .. })), "{one:?}");
}

#[test]
fn the_fast_parser_accepts_what_the_general_parser_accepts() {
    let item = r#"{"name":"a","type":"gauge","value":1}"#;
    let full = |length: usize| format!("{{\"metrics\":[{}]}}", vec![item; length].join(","));
    let bodies = [
        full(1),
        full(500),
        full(501),
        format!("{}\n", full(2)),
        full(2).replace(',', ", ").replace(':', ": "),
        full(2).replace("[{", "[\n{"),
        full(2) + "x",
        full(2).replace("]}", "]"),
        full(2).replace("]}", r#"],"metrics":[]}"#),
        full(2).replace("\"a\"", "\"a\\n\""),
        full(2).replace("\"a\"", "\"\u{e9}\""),
        full(500).replace("1}", &format!("1,\"n\":\"{}\"}}", ",".repeat(4_100))),
        full(2).replace("1}]", &format!("1,{}\"z\":1}}]", "\"\":1,".repeat(1_000_001))),
        r#"{"metrics":[]}"#.to_owned(),
        r#"{"metrics":[1,{},[],{"name":"a","type":"gauge","value":1}]}"#.to_owned(),
    ];
    for body in bodies {
        compare_to_general(body.as_bytes()).unwrap();
    }
    // The same fields, in valid and invalid forms.
    for tags in [
        r#","tags":{"k":"v"}"#,
        r#","tags": { "k" : "v" , "n":1.50, "b":true } "#,
        r#","tags":{"k":"a}b"},"timestamp":"2026-01-02T03:04:05Z""#,
        r#","tags":{"k":"a},",":":"b"}"#,
        r#","tags":{"k":"v","k":"v"}"#,
        r#","tags":{"k":null}"#,
        r#","tags":{"k":{"l":1}}"#,
        r#","tags":{"k":"v",}"#,
        r#","tags":null"#,
        r#","tags":"{k}""#,
        r#","tags":{},"tags":{}"#,
        r#","value":2"#,
        r#","unit":"s""#,
        r#","unit":{"s":1}"#,
        r#","timestamp":null"#,
        r#","timestamp":"""#,
        r#","timestamp":"2026-01-02T03:04:05Z""#,
        r#","timestamp":"2027-01-02T03:04:05Z""#,
        r#","timestamp":1"#,
    ] {
        let item = |rest: &str| format!(r#"{{"name":"a","type":"gauge","value":-1.5e0{rest}}}"#);
        let items = [item(tags), item(""), item(tags), item(r#","tags":{"k":"a}"#)].join(",");
        for items in [items.as_str(), &items.replace("gauge", "counter"), &item(tags)] {
            compare_to_general(format!("{{\"metrics\":[{items}]}}").as_bytes()).unwrap();
        }
    }
}

#[test]
fn both_parsers_read_numbers_alike() {
    for value in [
        "-0",
        "-0.0",
        "0.1e-400",
        "5e-324",
        "1E400",
        "-1e309",
        "123456789012345678901234567890",
        "1e-99999999999",
        "18446744073709551616",
        "0.30000000000000004",
        "01",
        "1.",
        "+1",
        "1e",
        "NaN",
    ] {
        let body = format!(r#"{{"metrics":[{{"name":"a","type":"gauge","value":{value}}}]}}"#);
        compare_to_general(body.as_bytes()).unwrap();
    }
}

#[test]
fn a_metric_keeps_its_type_with_both_parsers() {
    let (_dir, engine) = open(100);
    for kind in ["gauge", "counter", "gauge", "set", "counter"] {
        let body = format!(r#"{{"metrics":[{{"name":"a","type":"{kind}","value":1}}]}}"#);
        let (points, outcome) = resolve_batch(&engine, NOW, body.as_bytes()).unwrap();
        assert_eq!((points.len(), outcome.accepted), if kind == "gauge" { (1, 1) } else { (0, 0) });
    }
}

fn compare_to_model(body: &[u8]) -> Result<(), TestCaseError> {
    let ours = batch(body);
    let Ok(document) = serde_json::from_slice::<Value>(body) else {
        prop_assert!(matches!(ours, Err(MetricsError::Body(_))), "{ours:?}");
        return Ok(());
    };
    let Some(Value::Array(items)) = document.get("metrics") else {
        // The corruption changed the document's only key.
        prop_assert!(
            matches!(ours, Err(MetricsError::Batch(InvalidBatch::Missing(_)))),
            "{ours:?}"
        );
        return Ok(());
    };
    let (points, outcome) = ours.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let (mut expected, mut refused) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match model_item(item) {
            Ok(point) => expected.push(point),
            Err(code) => refused.push((index, code)),
        }
    }
    prop_assert_eq!(points, expected);
    prop_assert_eq!(codes(outcome), refused);
    Ok(())
}

/// Adds spaces between the values of a batch.
fn spaced(text: &str, spaces: &str) -> String {
    text.replace(',', &format!(",{spaces}")).replace(':', &format!(":{spaces}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_and_the_general_parser_agree(
        items in prop::collection::vec(item(), 0..8),
        spaces in prop::sample::select(vec!["", " ", "\n"]),
        at: prop::sample::Index, byte in prop::option::of("[ -~]"),
    ) {
        let mut body = spaced(&json!({"metrics": items}).to_string(), spaces).into_bytes();
        if let Some(byte) = byte {
            let at = at.index(body.len());
            body.splice(at..=at, byte.bytes());
        }
        compare_to_general(&body)?;
        let items: Vec<String> = items.iter().map(|item| spaced(&item.to_string(), spaces)).collect();
        compare_items_to_general(&items)?;
    }
}

proptest! {
    #[test]
    fn batches_match_the_model(items in prop::collection::vec(item(), 0..8)) {
        compare_to_model(json!({"metrics": items}).to_string().as_bytes())?;
    }

    #[test]
    fn corrupted_batches_match_the_model(
        items in prop::collection::vec(item(), 1..3), at: prop::sample::Index, byte in "[\\x00-\\x7f]"
    ) {
        let mut body = json!({"metrics": items}).to_string().into_bytes();
        let at = at.index(body.len());
        // A digit may make a number that only one parser supports, or that they round differently.
        if body.get(at).is_some_and(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'-' | b'+')) {
            return Ok(());
        }
        body.splice(at..=at, byte.bytes());
        compare_to_model(&body)?;
    }
}
