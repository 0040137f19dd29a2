//! Tests of valid, unusual and invalid envelopes and events.

use proptest::prelude::*;
use serde_json::{Value, json};
use telltale_engine::{Memory, TimestampMs};

use super::super::model::{Sender, SentLevel};
use super::super::occurrence::Occurrence;
use super::super::scrub::Scrubber;
use super::envelope::{Envelope, EnvelopeError};
use super::intake::Intake;
use super::with_event;
use crate::limits;

const NOW: TimestampMs = TimestampMs(1_767_323_045_678);
const ID: &str = "9ec79c33ec9942ab8353589fcb2e04dc";

/// Returns the types and payloads of the items, and the error that follows them.
fn items(bytes: &[u8]) -> String {
    let envelope = match Envelope::open(bytes) {
        Ok(envelope) => envelope,
        Err(error) => return format!("{error:?}"),
    };
    let shown: Vec<String> = envelope
        .map(|item| match item {
            Ok(item) => format!("{}={}", item.kind, String::from_utf8_lossy(item.payload)),
            Err(error) => format!("{error:?}"),
        })
        .collect();
    shown.join("|")
}

#[test]
fn envelopes_are_parsed_by_the_grammar() {
    for (envelope, expected) in [
        ("{}", ""),
        ("{}\n", ""),
        ("{}\n{\"type\":\"a\"}\nx", "a=x"),
        ("{}\n{\"type\":\"a\"}\nx\n", "a=x"),
        ("{}\n{\"type\":\"a\"}\n", "a="),
        ("{}\n{\"type\":\"a\"}", "a="),
        ("{}\n\n\n{\"type\":\"a\"}\nx\n\n{\"type\":\"b\"}\ny\n\n", "a=x|b=y"),
        ("{}\n{\"type\":\"a\",\"length\":3}\nx\ny\n{\"type\":\"b\",\"length\":0}\n\n", "a=x\ny|b="),
        ("{}\n{\"type\":\"a\",\"length\":3}\nx\ny", "a=x\ny"),
        ("{}\n{\"type\":\"a\",\"length\":4}\nx\r\ny", "a=x\r\ny"),
        ("{}\n{\"type\":\"a\"}\nx\r\n", "a=x\r"),
        ("{}\n{\"type\":\"a\",\"length\":9}\nx", "Short"),
        ("{}\n{\"type\":\"a\",\"length\":18446744073709551615}\nx", "Short"),
        ("{}\n{\"type\":\"a\",\"length\":-1}\nx", "Short"),
        ("{}\n{\"type\":\"a\",\"length\":1.5}\nx", "Short"),
        ("{}\n{\"type\":\"a\",\"length\":null}\nx", "a=x"),
        ("{}\n{\"type\":\"a\",\"length\":1}\nxy\n", "Long"),
        ("{}\n{\"length\":1}\nx", "ItemHeaders"),
        ("{}\n{\"type\":7}\nx", "ItemHeaders"),
        ("{}\nnonsense\nx", "ItemHeaders"),
        ("", "Headers"),
        ("\n{}", "Headers"),
        ("[]", "Headers"),
        ("nonsense\n", "Headers"),
    ] {
        assert_eq!(items(envelope.as_bytes()), expected, "{envelope:?}");
    }
}

#[test]
fn envelope_limits_are_enforced() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(limits::ENVELOPE_HEADER_BYTES_MAX));
    assert_eq!(Envelope::open(long.as_bytes()).err(), Some(EnvelopeError::HeadersTooLong));
    let many = format!("{{}}\n{}", "{\"type\":\"a\"}\n\n".repeat(limits::ENVELOPE_ITEMS_MAX + 1));
    assert_eq!(items(many.as_bytes()).matches("a=").count(), limits::ENVELOPE_ITEMS_MAX);
    assert!(items(many.as_bytes()).ends_with("TooManyItems"));
}

#[test]
fn headers_name_the_event_and_the_key() {
    let envelope = format!("{{\"event_id\":\"{ID}\",\"dsn\":\"https://k@h/1\",\"sdk\":{{}}}}");
    let open = Envelope::open(envelope.as_bytes()).unwrap();
    assert_eq!((open.event_id.as_deref(), open.dsn.as_deref()), (Some(ID), Some("https://k@h/1")));
    let open = Envelope::open(br#"{"event_id":7,"dsn":null}"#).unwrap();
    assert_eq!((open.event_id, open.dsn), (None, None));
}

/// Returns the ids of the events of an envelope, or the error message.
fn event_ids(envelope: &[u8]) -> Result<Vec<u128>, String> {
    let scrubber = Scrubber::new(&["password".to_owned()]);
    let (new_id, memory) = (|| 7, Memory::unlimited());
    let mut intake = Intake::new(&scrubber, &memory, (Sender::UNKNOWN, 1), NOW, &new_id);
    let (events, _) = intake.envelope(envelope).map_err(|error| error.to_string())?;
    Ok(events.iter().map(|event| event.event_id).collect())
}

fn real() -> Vec<u8> {
    let event = json!({
        "event_id": ID,
        "level": "error",
        "exception": {"values": [{"type": "ValueError", "value": "bad é", "stacktrace": {"frames": [
            {"filename": "a.py", "function": "f", "lineno": 3, "in_app": true, "vars": {"password": "x"}},
        ]}}]},
        "breadcrumbs": {"values": [{"message": "m"}]},
        "user": {"id": 5},
    })
    .to_string();
    let length = event.len();
    format!(
        "{{\"event_id\":\"{ID}\"}}\n{{\"type\":\"session\"}}\n{{}}\n{{\"type\":\"event\",\"length\":{length}}}\n{event}\n"
    )
    .into_bytes()
}

#[test]
fn a_truncated_envelope_is_never_stored_in_part() {
    let whole = real();
    let id = u128::from_str_radix(ID, 16).unwrap();
    assert_eq!(event_ids(&whole), Ok(vec![id]));
    for cut in 0..whole.len() - 1 {
        if let Ok(event_ids) = event_ids(&whole[..cut]) {
            assert_eq!(event_ids, [0_u128; 0], "cut at {cut}");
        }
    }
}

#[test]
fn an_event_has_the_id_of_its_envelope_or_a_new_one() {
    let event = "{\"type\":\"event\"}\n{\"message\":\"m\"}\n";
    let of_envelope = format!("{{\"event_id\":\"{ID}\"}}\n{event}");
    assert_eq!(event_ids(of_envelope.as_bytes()), Ok(vec![u128::from_str_radix(ID, 16).unwrap()]));
    assert_eq!(event_ids(format!("{{}}\n{event}").as_bytes()), Ok(vec![7]));
    let dashed =
        "{}\n{\"type\":\"event\"}\n{\"event_id\":\"9ec79c33-ec99-42ab-8353-589fcb2e04dc\"}\n";
    assert_eq!(event_ids(dashed.as_bytes()), Ok(vec![u128::from_str_radix(ID, 16).unwrap()]));
}

fn read<R>(event: &Value, inspect: impl FnMut(Occurrence<'_>) -> R) -> R {
    with_event(event.to_string().as_bytes(), inspect).unwrap()
}

#[test]
fn fields_of_the_wrong_type_are_dropped_and_the_event_is_kept() {
    let strange = [
        json!(null),
        json!(true),
        json!(1.5),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"values": 3}),
    ];
    let fields = [
        "event_id",
        "timestamp",
        "level",
        "platform",
        "logger",
        "transaction",
        "server_name",
        "release",
        "dist",
        "environment",
        "message",
        "logentry",
        "exception",
        "stacktrace",
        "threads",
        "fingerprint",
        "user",
        "tags",
        "request",
        "contexts",
        "breadcrumbs",
        "extra",
        "modules",
        "sdk",
        "_meta",
    ];
    for field in fields {
        for value in &strange {
            let mut event = json!({"message": "kept", "server_name": "s"});
            event[field] = value.clone();
            let kept = read(&event, |occurrence| match field {
                "message" | "logentry" => occurrence.server_name.is_some(),
                _ => occurrence.message.as_deref() == Some("kept"),
            });
            assert!(kept, "{field}: {value}");
        }
    }
}

#[test]
fn every_shape_of_a_field_is_read() {
    for time in
        [json!(1_767_323_045.678), json!("2026-01-02T03:04:05.678Z"), json!("1767323045.678")]
    {
        assert_eq!(read(&json!({"timestamp": time}), |o| o.time), Some(NOW), "{time}");
    }
    for tags in [json!({"a": "b", "n": 1}), json!([["a", "b"], ["n", 1], ["x"], 7])] {
        let pairs = read(&json!({"tags": tags}), |o| {
            o.tags.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(pairs, "a=b n=1", "{tags}");
    }
    for exception in
        [json!({"values": [{"type": "E"}]}), json!([{"type": "E"}]), json!({"type": "E"})]
    {
        let kind = read(&json!({"exception": exception}), |o| {
            o.raised().and_then(|raised| raised.kind.clone()).map(|kind| kind.into_owned())
        });
        assert_eq!(kind.as_deref(), Some("E"), "{exception}");
    }
    for (level, expected) in
        [("fatal", SentLevel::Fatal), ("log", SentLevel::Info), ("?", SentLevel::Error)]
    {
        assert_eq!(read(&json!({"level": level}), |o| o.level), expected);
    }
    assert_eq!(
        read(&json!({"user": {"id": 5}}), |o| o.user.key().map(|k| k.to_string())).as_deref(),
        Some("5")
    );
    let auto_address = json!({"user": {"ip_address": "{{auto}}"}});
    assert!(read(&auto_address, |o| o.user.key().is_none()));
    let by_email =
        json!({"user": {"id": null, "email": "a@example.com", "ip_address": "10.0.0.1"}});
    assert_eq!(
        read(&by_email, |o| o.user.key().map(|k| k.to_string())).as_deref(),
        Some("a@example.com")
    );
}

#[test]
fn long_fields_are_truncated_by_characters() {
    let long = "é".repeat(20_000);
    let frames: Vec<Value> = (0..80).map(|i| json!({"function": format!("f{i}")})).collect();
    let event = json!({
        "message": long,
        "release": long,
        "tags": {"k": long},
        "exception": vec![json!({"type": "E", "value": long, "stacktrace": {"frames": frames}}); 40],
    });
    let truncated = read(&event, |o| {
        let raised = o.raised().unwrap();
        let functions: Vec<String> =
            raised.frames.iter().map(|f| f.function.clone().unwrap().into_owned()).collect();
        let chars = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
        let lengths = [
            chars(o.message.as_deref()),
            chars(o.release.as_deref()),
            chars(raised.value.as_deref()),
            chars(o.tags.first().map(|t| &*t.1)),
        ];
        (o.exceptions.len(), functions, lengths)
    });
    assert_eq!(truncated.0, limits::ERROR_EXCEPTIONS_MAX);
    assert_eq!(truncated.1.len(), limits::ERROR_FRAMES_MAX);
    assert_eq!((truncated.1[24].as_str(), truncated.1[25].as_str()), ("f24", "f55"));
    assert_eq!(truncated.2, [8_192, 500, 8_192, 200]);
}

#[test]
fn titles_are_one_line() {
    for (event, expected) in [
        (json!({"exception": {"type": "E", "value": "a\nb"}}), "E: a"),
        (json!({"exception": {"type": "E", "value": ""}}), "E"),
        (json!({"exception": {"value": "\n  v"}}), "v"),
        (
            json!({"exception": {"type": "Error", "value": "v", "mechanism": {"synthetic": true}}}),
            "v",
        ),
        (json!({"message": "m\nn"}), "m"),
        (json!({"logentry": {"message": "user %s"}}), "user %s"),
        (json!({"transaction": "GET /"}), "GET /"),
        (json!({}), "(no message)"),
    ] {
        assert_eq!(read(&event, |o| o.title()), expected, "{event}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(event_ids(&bytes));
        let head = [b"{}\n{\"type\":\"event\"}\n".as_slice(), &bytes].concat();
        drop(event_ids(&head));
    }
}
