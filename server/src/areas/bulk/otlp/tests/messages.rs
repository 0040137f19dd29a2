//! Builders of messages in both encodings at once, and a fixture that resolves them.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use telltale_engine::{BatchBuilder, Engine, Maintenance, Options, PointBatch, TimestampMs};

use super::super::{Encoding, OtlpError, resolve_export};
use crate::areas::bulk::OtlpSettings;
use crate::http::BulkOutcome;

/// 2026-01-02T03:04:05.678Z.
pub(super) const NOW: TimestampMs = TimestampMs(1_767_323_045_678);
/// Half a minute before `NOW`, in nanoseconds, with a sub-millisecond remainder.
pub(super) const THEN_NS: u64 = 1_767_323_015_678_000_999;
pub(super) const THEN: TimestampMs = TimestampMs(1_767_323_015_678);

/// A message in both encodings at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Msg {
    pub(super) json: Map<String, Value>,
    pub(super) wire: Vec<u8>,
}

impl Msg {
    fn key(&mut self, number: u32, wire: u32) {
        self.varint_of(u64::from(number << 3 | wire));
    }

    fn varint_of(&mut self, mut number: u64) {
        while number > 127 {
            self.wire.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.wire.push(number as u8);
    }

    pub(super) fn bytes_of(&mut self, number: u32, bytes: &[u8]) {
        self.key(number, 2);
        self.varint_of(bytes.len() as u64);
        self.wire.extend(bytes);
    }

    pub(super) fn text(mut self, name: &str, number: u32, text: &str) -> Self {
        self.bytes_of(number, text.as_bytes());
        self.json.insert(name.to_owned(), text.into());
        self
    }

    pub(super) fn varint(
        mut self,
        name: &str,
        number: u32,
        value: u64,
        json: impl Into<Value>,
    ) -> Self {
        self.key(number, 0);
        self.varint_of(value);
        self.json.insert(name.to_owned(), json.into());
        self
    }

    /// Encodes small numbers as JSON numbers and large ones as strings; both are valid.
    pub(super) fn fixed(mut self, name: &str, number: u32, value: u64) -> Self {
        self.key(number, 1);
        self.wire.extend(value.to_le_bytes());
        let json = if value < 1_000 { json!(value) } else { json!(value.to_string()) };
        self.json.insert(name.to_owned(), json);
        self
    }

    pub(super) fn double(mut self, name: &str, number: u32, value: f64) -> Self {
        self.key(number, 1);
        self.wire.extend(value.to_bits().to_le_bytes());
        let json = if value.is_nan() {
            json!("NaN")
        } else if value.is_infinite() {
            json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
        } else {
            json!(value)
        };
        self.json.insert(name.to_owned(), json);
        self
    }

    pub(super) fn packed(mut self, name: &str, number: u32, values: &[u64], json: Value) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.bytes_of(number, &bytes);
        self.json.insert(name.to_owned(), json);
        self
    }

    pub(super) fn child(mut self, name: &str, number: u32, child: Self) -> Self {
        self.bytes_of(number, &child.wire);
        self.json.insert(name.to_owned(), child.json.into());
        self
    }

    pub(super) fn list(
        mut self,
        name: &str,
        number: u32,
        children: impl IntoIterator<Item = Self>,
    ) -> Self {
        let mut all = Vec::new();
        for child in children {
            self.bytes_of(number, &child.wire);
            all.push(Value::from(child.json));
        }
        self.json.insert(name.to_owned(), all.into());
        self
    }

    pub(super) fn in_json(&self) -> Vec<u8> {
        Value::from(self.json.clone()).to_string().into_bytes()
    }
}

pub(super) fn msg() -> Msg {
    Msg::default()
}

pub(super) fn string(text: &str) -> Msg {
    msg().text("stringValue", 1, text)
}

pub(super) fn pair(key: &str, value: Msg) -> Msg {
    msg().text("key", 1, key).child("value", 2, value)
}

/// A number point with a time, the value 2 and one attribute.
pub(super) fn point() -> Msg {
    untagged().list("attributes", 7, [pair("route", string("/a"))])
}

pub(super) fn untagged() -> Msg {
    msg().fixed("timeUnixNano", 3, THEN_NS).double("asDouble", 4, 2.0)
}

pub(super) fn gauge(point: Msg) -> Msg {
    let data = msg().list("dataPoints", 1, [point]);
    msg().text("name", 1, "m").child("gauge", 5, data)
}

/// Temporality 1 is delta, 2 is cumulative.
pub(super) fn sum(temporality: u64, is_monotonic: bool, point: Msg) -> Msg {
    let data = msg()
        .list("dataPoints", 1, [point])
        .varint("aggregationTemporality", 2, temporality, temporality)
        .varint("isMonotonic", 3, is_monotonic.into(), is_monotonic);
    msg().text("name", 1, "m").child("sum", 7, data)
}

pub(super) fn explicit(temporality: u64, point: Msg) -> Msg {
    let named = [
        "AGGREGATION_TEMPORALITY_UNSPECIFIED",
        "AGGREGATION_TEMPORALITY_DELTA",
        "AGGREGATION_TEMPORALITY_CUMULATIVE",
    ];
    let data = msg().list("dataPoints", 1, [point]).varint(
        "aggregationTemporality",
        2,
        temporality,
        named[temporality as usize],
    );
    msg().text("name", 1, "m").child("histogram", 9, data)
}

pub(super) fn buckets() -> Msg {
    msg()
        .fixed("timeUnixNano", 3, THEN_NS)
        .fixed("count", 4, 3)
        .double("sum", 5, 4.5)
        .packed("bucketCounts", 6, &[1, 2], json!(["1", 2]))
        .packed("explicitBounds", 7, &[1.5_f64.to_bits()], json!([1.5]))
        .double("min", 11, 1.0)
        .double("max", 12, 2.0)
}

pub(super) fn spans() -> Msg {
    // In zigzag encoding, the offset −2 is 3 and the scale 1 is 2.
    let positive = msg().varint("offset", 1, 3, -2).varint("bucketCounts", 2, 4, json!(["4"]));
    msg()
        .fixed("timeUnixNano", 3, THEN_NS)
        .fixed("count", 4, 5)
        .varint("scale", 6, 2, 1)
        .fixed("zeroCount", 7, 1)
        .child("positive", 8, positive)
        .double("zeroThreshold", 14, 0.25)
}

pub(super) fn exponential(temporality: u64, point: Msg) -> Msg {
    let data = msg().list("dataPoints", 1, [point]).varint(
        "aggregationTemporality",
        2,
        temporality,
        temporality,
    );
    msg().text("name", 1, "m").child("exponentialHistogram", 10, data)
}

pub(super) fn request(metrics: impl IntoIterator<Item = Msg>) -> Msg {
    let resource = [
        pair("service.name", string("shop")),
        pair("process.pid", msg().varint("intValue", 3, 7, "7")),
    ];
    let scope = msg().text("name", 1, "lib").text("version", 2, "1.0");
    let scoped = msg().child("scope", 1, scope).list("metrics", 2, metrics);
    let resource = msg().list("attributes", 1, resource);
    let all = msg().child("resource", 1, resource).list("scopeMetrics", 2, [scoped]);
    msg().list("resourceMetrics", 1, [all])
}

pub(super) struct Fixture {
    pub(super) engine: Engine,
    pub(super) chosen: Arc<OtlpSettings>,
    _dir: tempfile::TempDir,
}

impl Fixture {
    pub(super) fn open() -> Self {
        Self::choosing(OtlpSettings::default())
    }

    pub(super) fn choosing(chosen: OtlpSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        Self { engine, chosen: Arc::new(chosen), _dir: dir }
    }

    pub(super) fn read(
        &self,
        body: &[u8],
        encoding: Encoding,
    ) -> Result<(PointBatch, BulkOutcome), OtlpError> {
        resolve_export(&self.engine, body, encoding, NOW, &self.chosen)
    }

    /// Resolves a request in both encodings, which must give the same result.
    #[track_caller]
    pub(super) fn both(&self, request: &Msg) -> (PointBatch, Value) {
        let wire = self.read(&request.wire, Encoding::Protobuf).unwrap();
        let json = self.read(&request.in_json(), Encoding::Json).unwrap();
        assert_eq!(wire, json, "{request:?}");
        (wire.0, serde_json::to_value(wire.1).unwrap())
    }

    #[track_caller]
    pub(super) fn check(&self, metric: Msg, expected: impl FnOnce(&mut BatchBuilder<'_>)) {
        let mut batch = self.engine.batch();
        expected(&mut batch);
        let (points, outcome) = self.both(&request([metric]));
        assert_eq!((points, outcome), (batch.finish(), json!({"accepted": 1, "rejected": 0})));
    }
}
