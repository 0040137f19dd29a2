//! Parsing of bodies: tables of single items and batches, and a simple model beside the real
//! parser.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};
use telltale_engine::{
    InvalidEvent, InvalidName, MetricName, NewEvent, Properties, Tags, TimestampMs, limits,
};

use super::super::error::EventsError;
use super::super::model::Outcome;
use super::{read_batch, read_one, read_plain_batch};
use crate::http::{ApiError, ErrorCode};
use crate::platform::telemetry::batch::InvalidBatch;
use crate::platform::time;

/// 2026-01-02T03:04:05.678Z
const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

/// Formats an event: `a{k=v} u=ann 1.5 {"p":1} @2026-01-02T03:04:05.678Z`.
fn shown(event: &NewEvent<'_>) -> Result<String, InvalidEvent> {
    // The checks of the engine.
    MetricName::check_given(event.name)?;
    let tags = Tags::new(event.tags)?;
    if event
        .user
        .is_some_and(|user| user.is_empty() || user.chars().count() > limits::USER_CHARS_MAX)
    {
        return Err(InvalidEvent::User);
    }
    let mut text = format!("{}{{{tags}}}", event.name);
    if let Some(user) = event.user {
        write!(text, " u={user}").unwrap();
    }
    if let Some(value) = event.value {
        write!(text, " {value}").unwrap();
    }
    if let Some(properties) = event.properties {
        write!(text, " {}", properties.as_str()).unwrap();
    }
    Ok(format!("{text} @{}", time::format(event.time)))
}

fn one(body: &[u8]) -> Result<String, ApiError> {
    Ok(read_one(body, NOW, shown)?)
}

/// Parses a batch, and compares what the fast parser makes of it, if anything.
fn batch(body: &[u8]) -> Result<(Vec<String>, Outcome), EventsError> {
    let mut taken = Vec::new();
    let read = read_batch(body, NOW, |event| {
        taken.push(shown(event)?);
        Ok(())
    });
    if let Some(events) = plain_batch(body) {
        let outcome = Outcome { accepted: events.len(), ..Outcome::default() };
        assert_eq!((&events, Some(&outcome)), (&taken, read.as_ref().ok()));
    }
    let outcome = read?;
    assert_eq!(taken.len(), outcome.accepted);
    Ok((taken, outcome))
}

fn plain_batch(body: &[u8]) -> Option<Vec<String>> {
    let mut taken = Vec::new();
    let read = read_plain_batch(body, NOW, |event| {
        taken.push(shown(event)?);
        Ok(())
    });
    read.inspect(|accepted| assert_eq!(taken.len(), *accepted)).map(|_| taken)
}

fn codes(outcome: Outcome) -> Vec<(usize, ErrorCode)> {
    outcome.errors.into_iter().map(|r| (r.index, ApiError::from(r.error).code())).collect()
}

#[track_caller]
fn check(body: &str, expected: Result<&str, (ErrorCode, &str)>) {
    let read = one(body.as_bytes());
    match (&read, expected) {
        (Ok(event), Ok(expected)) => assert_eq!(event, expected, "{body}"),
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
        (r#"{"name":"a"}"#, "a{} @2026-01-02T03:04:05.678Z"),
        (
            r#"{"tags":{"k":"v","b":""},"properties":{"p":[1,2.50,{"q":null}],"a":true},"value":-1.5e2,"user_id":"ann","timestamp":"2026-01-01T00:00:00Z","name":"order.paid"}"#,
            r#"order.paid{b=,k=v} u=ann -150 {"p":[1,2.5,{"q":null}],"a":true} @2026-01-01T00:00:00.000Z"#,
        ),
        (
            r#"{"name":"a","timestamp":null,"user_id":null,"value":null,"properties":null,"tags":null,"else":[{"name":1}]}"#,
            "a{} @2026-01-02T03:04:05.678Z",
        ),
        (
            r#"{"name":"a","user_id":12345678901234567890}"#,
            "a{} u=12345678901234567890 @2026-01-02T03:04:05.678Z",
        ),
        (r#"{"name":"a","user_id":-7}"#, "a{} u=-7 @2026-01-02T03:04:05.678Z"),
        (r#"{"name":"a","user_id":1.50}"#, "a{} u=1.5 @2026-01-02T03:04:05.678Z"),
        (r#"{"name":"a","value":-0.0,"properties":{}}"#, "a{} 0 {} @2026-01-02T03:04:05.678Z"),
        (
            r#"{"name":"caf\u00e9","properties":{"\u00e9\n":"\u0001\"","n":18446744073709551616,"m":-1}}"#,
            "café{} {\"é\\n\":\"\\u0001\\\"\",\"n\":1.8446744073709552e19,\"m\":-1} @2026-01-02T03:04:05.678Z",
        ),
        (
            r#"{"name":"a","else":1e400,"timestamp":"1970-01-01T00:00Z"}"#,
            "a{} @1970-01-01T00:00:00.000Z",
        ),
    ] {
        check(body, Ok(expected));
    }
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
        (r#"{"name":null}"#, MissingName, "name"),
        (r#"{"name":"","value":"x"}"#, MissingName, "name"),
        (r#"{"name":7}"#, InvalidName, "name"),
        (r#"{"name":"a\nb"}"#, InvalidName, "name"),
        (r#"{"name":" "}"#, InvalidName, "name"),
        (r#"{"name":"a","name":"a"}"#, InvalidName, "name"),
        (r#"{"name":"a","timestamp":1767323045}"#, InvalidTimestamp, "timestamp"),
        (r#"{"name":"a","timestamp":""}"#, InvalidTimestamp, "timestamp"),
        (r#"{"name":"a","timestamp":"2026-01-02"}"#, InvalidTimestamp, "timestamp"),
        (r#"{"name":"a","timestamp":"1969-12-31T23:59:59Z"}"#, InvalidTimestamp, "timestamp"),
        (r#"{"name":"a","timestamp":"2026-01-03T03:04:06Z"}"#, InvalidTimestamp, "timestamp"),
        (r#"{"timestamp":null,"timestamp":null}"#, InvalidTimestamp, "timestamp"),
        (r#"{"name":"a","user_id":""}"#, InvalidField, "user_id"),
        (r#"{"name":"a","user_id":true}"#, InvalidField, "user_id"),
        (r#"{"name":"a","user_id":["u"]}"#, InvalidField, "user_id"),
        (r#"{"name":"a","user_id":1e400}"#, InvalidField, "user_id"),
        (r#"{"name":"a","user_id":"u","user_id":"u"}"#, InvalidField, "user_id"),
        (r#"{"name":"a","value":"1"}"#, InvalidValue, "value"),
        (r#"{"name":"a","value":true}"#, InvalidValue, "value"),
        (r#"{"name":"a","value":[1]}"#, InvalidValue, "value"),
        (r#"{"name":"a","value":1e400}"#, InvalidValue, "value"),
        (r#"{"name":"a","value":1,"value":null}"#, InvalidValue, "value"),
        (r#"{"name":"a","properties":[]}"#, InvalidField, "properties"),
        (r#"{"name":"a","properties":"{}"}"#, InvalidField, "properties"),
        (r#"{"name":"a","properties":7}"#, InvalidField, "properties"),
        (r#"{"name":"a","properties":{"a":[1e400]}}"#, InvalidField, "properties"),
        (r#"{"name":"a","properties":{},"properties":{}}"#, InvalidField, "properties"),
        (r#"{"name":"a","tags":[]}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":"k=v"}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"k":1}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"k":true}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"k":null}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"k":["v"]}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"":"v"}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{"k":"v","k":"v"}}"#, InvalidTags, "tags"),
        (r#"{"name":"a","tags":{},"tags":{}}"#, InvalidTags, "tags"),
    ] {
        check(body, Err((code, field)));
    }
}

#[test]
fn fields_have_the_specified_limits() {
    let with = |fields: Value| {
        let mut event = json!({"name": "a"});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        one(event.to_string().as_bytes()).map(drop).map_err(|error| error.code())
    };
    let tags =
        |count: usize| Value::Object((0..count).map(|i| (format!("k{i}"), json!("v"))).collect());
    // `{"a":"…"}` has eight bytes in addition to the string.
    let properties = |bytes: usize| json!({"properties": {"a": "x".repeat(bytes - 8)}});
    let nested = |levels: usize| {
        let deep = format!("{}1{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        json!({"properties": {"a": serde_json::from_str::<Value>(&deep).unwrap()}})
    };
    for good in [
        json!({"name": "ü".repeat(200)}),
        json!({"user_id": "ü".repeat(200)}),
        json!({"tags": tags(32)}),
        properties(64 << 10),
        nested(64),
    ] {
        assert_eq!(with(good), Ok(()));
    }
    for (bad, code) in [
        (json!({"name": "ü".repeat(201)}), ErrorCode::InvalidName),
        (json!({"user_id": "ü".repeat(201)}), ErrorCode::InvalidField),
        (json!({"tags": tags(33)}), ErrorCode::InvalidTags),
        (json!({"tags": {"k": "ü".repeat(501)}}), ErrorCode::InvalidTags),
        (json!({"tags": {"ü".repeat(101): "v"}}), ErrorCode::InvalidTags),
        (properties((64 << 10) + 1), ErrorCode::InvalidField),
        (nested(65), ErrorCode::InvalidField),
    ] {
        assert_eq!(with(bad), Err(code));
    }
    let absurd = format!(
        r#"{{"name":"a","properties":{{"a":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    check(&absurd, Err((ErrorCode::InvalidJson, "")));
}

#[test]
fn a_batch_stores_valid_items_and_counts_invalid_ones() {
    let body = br#"{"else":1,"events":[
        {"name":"a","properties":{"a":1},"user_id":1},
        7,
        {"value":1},
        {"name":"b","properties":{"a":1e999}},
        {"name":"c","user_id":"u","tags":{"k":"v"}},
        null,
        {"name":"d","tags":{"k":1}},
        {"name":"e","properties":{"b":2},"user_id":22}
    ]}"#;
    let (events, outcome) = batch(body).unwrap();
    assert_eq!(
        events,
        [
            r#"a{} u=1 {"a":1} @2026-01-02T03:04:05.678Z"#,
            "c{k=v} u=u @2026-01-02T03:04:05.678Z",
            r#"e{} u=22 {"b":2} @2026-01-02T03:04:05.678Z"#,
        ]
    );
    assert_eq!((outcome.accepted, outcome.rejected), (3, 5));
    assert_eq!(
        codes(outcome),
        [
            (1, ErrorCode::InvalidValue),
            (2, ErrorCode::MissingName),
            (3, ErrorCode::InvalidField),
            (5, ErrorCode::InvalidValue),
            (6, ErrorCode::InvalidTags),
        ]
    );
    assert_eq!(batch(br#"{"events":[]}"#).unwrap(), (Vec::new(), Outcome::default()));
}

#[test]
fn an_invalid_batch_stores_nothing() {
    let long = format!(r#"{{"events":[{}0]}}"#, "0,".repeat(500));
    let cut = format!(r#"{{"events":[{}"#, r#"{"name":"a"},"#.repeat(3));
    for (body, code) in [
        (cut.as_str(), ErrorCode::InvalidJson),
        ("[]", ErrorCode::InvalidJson),
        (r#"{"events":[],"events":[]}"#, ErrorCode::InvalidJson),
        ("{}", ErrorCode::MissingField),
        (r#"{"events":null}"#, ErrorCode::MissingField),
        (r#"{"events":{}}"#, ErrorCode::InvalidParameter),
        (&long, ErrorCode::BatchTooLarge),
    ] {
        let mut events = 0;
        let read = read_batch(body.as_bytes(), NOW, |_| {
            events += 1;
            Ok(())
        });
        assert_eq!(read.map_err(|e| ApiError::from(e).code()), Err(code), "{body}");
        assert_eq!(events, 0, "{body}");
    }
}

#[test]
fn plain_batches_are_read_by_the_fast_parser() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        format!(r#"{{"name":"a","properties":{{"a":{open}1{close}}}}}"#)
    };
    for item in [
        r#"{"name":"a"}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:00Z","user_id":"ann","value":-0.0,"name":"a"}"#.to_owned(),
        r#"{"name":"é","timestamp":null,"user_id":null,"value":null,"properties":null,"tags":null}"#
            .to_owned(),
        r#" { "name" : "a" , "tags" : { "k" : "v" , "b" : "" } , "else" : true , "else" : 1 } "#
            .to_owned(),
        r#"{"name":"a","properties":{"i":[1,-2,0,999999999999999999],"f":[2.50,1e3,-0.0,1E-7]}}"#
            .to_owned(),
        r#"{"name":"a","properties":{"t":true,"f":false,"n":null,"o":{},"a":[],"t":{"x":"/"}}}"#
            .to_owned(),
        nested(64),
    ] {
        let body = format!("{{\"events\":[{item},{item}]}}");
        batch(body.as_bytes()).unwrap();
        assert_eq!(plain_batch(body.as_bytes()).map(|events| events.len()), Some(2), "{item}");
    }
    for item in [
        r#"{"name":"a\u0062"}"#.to_owned(),
        r#"{"name":"telltale.x"}"#.to_owned(),
        r#"{"name":"a","user_id":7}"#.to_owned(),
        r#"{"name":"a","name":"a"}"#.to_owned(),
        r#"{"name":"a","tags":{"k":"v","k":"v"}}"#.to_owned(),
        r#"{"name":"a","properties":{"a":[-0]}}"#.to_owned(),
        r#"{"name":"a","properties":{"a":18446744073709551615}}"#.to_owned(),
        r#"{"name":"a","properties":{"a":01}}"#.to_owned(),
        r#"{"name":"a","properties":{"a":1e400}}"#.to_owned(),
        nested(65),
        "7".to_owned(),
    ] {
        let good = r#"{"name":"a"}"#;
        let body = format!("{{\"events\":[{good},{item},{good}]}}");
        assert_eq!(plain_batch(body.as_bytes()), None, "{item}");
        drop(batch(body.as_bytes()));
    }
    let full =
        |items: usize| format!("{{\"events\":[{}]}}", vec![r#"{"name":"a"}"#; items].join(","));
    assert!(plain_batch(full(500).as_bytes()).is_some());
    assert_eq!(plain_batch(full(501).as_bytes()), None);
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
        json!("2026-01-02T03:04:05Z"),
        json!({"k": "v"}),
        json!({"k": 1}),
        json!({"k": [null, {"k": ["x"]}]}),
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
    let properties = vec![
        json!({}),
        json!({"cart": {"total": 49.5, "items": [1, -2, "é\n"]}, "new": true, "none": null}),
        json!({"n": u64::MAX, "m": i64::MIN, "f": 1e300}),
    ];
    (
        field(vec![json!("cpu"), json!("order.paid"), json!("naïve \"name\" \\ /")]),
        field(vec![json!("2026-01-02T03:04:05.678Z"), json!("2026-01-02 03:04+02"), json!(null)]),
        field(vec![json!("ann"), json!(7), json!("é\u{1}")]),
        field(vec![json!(1), json!(-2.5), json!(1e300)]),
        field(properties),
        field(vec![json!({}), json!({"host": "b", "c\n": "d"})]),
    )
        .prop_map(|(name, timestamp, user, value, properties, tags)| {
            let fields = [
                ("name", name),
                ("timestamp", timestamp),
                ("user_id", user),
                ("value", value),
                ("properties", properties),
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
    let time = match get("timestamp") {
        None => NOW,
        Some(Value::String(text)) => {
            time::parse_recorded(text, NOW).map_err(|_| ErrorCode::InvalidTimestamp)?
        }
        Some(_) => return Err(ErrorCode::InvalidTimestamp),
    };
    let user = match get("user_id") {
        None => None,
        Some(Value::String(user)) => Some(user.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) => return Err(ErrorCode::InvalidField),
    };
    let value = match get("value") {
        None => None,
        Some(Value::Number(number)) => number.as_f64(),
        Some(_) => return Err(ErrorCode::InvalidValue),
    };
    let properties = match get("properties") {
        None => None,
        Some(object @ Value::Object(_)) => Some(Properties::parse(&object.to_string()).unwrap()),
        Some(_) => return Err(ErrorCode::InvalidField),
    };
    let tags: Vec<(String, String)> = match get("tags") {
        None => Vec::new(),
        Some(Value::Object(tags)) => {
            let text =
                |value: &Value| value.as_str().map(str::to_owned).ok_or(ErrorCode::InvalidTags);
            tags.iter()
                .map(|(key, value)| Ok((key.clone(), text(value)?)))
                .collect::<Result<_, _>>()?
        }
        Some(_) => return Err(ErrorCode::InvalidTags),
    };
    let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let (user, properties) = (user.as_deref(), properties.as_ref());
    shown(&NewEvent { name, time, user, value, tags: &tags, properties }).map_err(|refused| {
        match refused {
            InvalidEvent::Name(InvalidName::Empty) => ErrorCode::MissingName,
            InvalidEvent::Name(_) => ErrorCode::InvalidName,
            InvalidEvent::Tags(_) => ErrorCode::InvalidTags,
            InvalidEvent::User => ErrorCode::InvalidField,
            InvalidEvent::Value => ErrorCode::InvalidValue,
            InvalidEvent::Time => ErrorCode::InvalidTimestamp,
        }
    })
}

fn compare_to_model(body: &[u8]) -> Result<(), TestCaseError> {
    let ours = batch(body);
    let Ok(document) = serde_json::from_slice::<Value>(body) else {
        prop_assert!(matches!(ours, Err(EventsError::Body(_))), "{ours:?}");
        return Ok(());
    };
    let Some(Value::Array(items)) = document.get("events") else {
        // The corruption changed the document's only key.
        prop_assert!(matches!(ours, Err(EventsError::Batch(InvalidBatch::Missing(_)))), "{ours:?}");
        return Ok(());
    };
    let (events, outcome) = ours.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let (mut expected, mut refused) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match model_item(item) {
            Ok(event) => expected.push(event),
            Err(code) => refused.push((index, code)),
        }
    }
    prop_assert_eq!(events, expected);
    prop_assert_eq!(codes(outcome), refused);
    Ok(())
}

proptest! {
    #[test]
    fn batches_match_the_model(items in prop::collection::vec(item(), 0..8)) {
        compare_to_model(json!({"events": items}).to_string().as_bytes())?;
    }

    #[test]
    fn both_parsers_read_properties_alike(
        numbers in prop::collection::vec("-?[0-9]{1,20}(\\.[0-9]{1,9})?([eE][-+]?[0-9]{1,3})?", 1..6),
        text in "[a-z é\\\\\"]{0,9}", spaces in "[ \n]{0,2}",
    ) {
        let (numbers, text) = (numbers.join(","), json!({text.clone(): text}));
        let item = format!(r#"{{"name":"a","properties":{{"n":[{numbers}],{spaces}"t":{text}}}}}"#);
        drop(batch(format!("{{\"events\":[{item}]}}").as_bytes()));
    }

    #[test]
    fn corrupted_batches_match_the_model(
        items in prop::collection::vec(item(), 1..3), at: prop::sample::Index, byte in "[\\x00-\\x7f]"
    ) {
        let mut body = json!({"events": items}).to_string().into_bytes();
        let at = at.index(body.len());
        // A digit may make a number that only one parser supports, or that they round differently;
        // a letter may make two keys equal, which the model cannot detect.
        if body.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+' | b'_')) {
            return Ok(());
        }
        body.splice(at..=at, byte.bytes());
        compare_to_model(&body)?;
    }
}
