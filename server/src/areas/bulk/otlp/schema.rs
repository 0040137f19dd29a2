//! The messages of the protocol, with the field names of the JSON mapping. Fields that are not
//! stored are not listed; they are skipped like unknown fields.

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON.
    pub(super) name: &'static str,
    /// The field number in protobuf.
    pub(super) number: u32,
    pub(super) kind: Kind,
    pub(super) is_list: bool,
}

/// The type of a field, which determines its encoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Message(&'static [Field]),
    String,
    /// Bytes; base64 in JSON.
    Bytes,
    Bool,
    /// `int64`.
    Int,
    /// `uint32` and `uint64`.
    Uint,
    /// `sint32`.
    Zigzag,
    /// `fixed64`.
    Fixed,
    /// `sfixed64`.
    SignedFixed,
    Double,
    /// An enumeration: in JSON a number or one of these names, whose number is its index.
    Enum(&'static [&'static str]),
}

const fn one(name: &'static str, number: u32, kind: Kind) -> Field {
    Field { name, number, kind, is_list: false }
}

const fn list(name: &'static str, number: u32, kind: Kind) -> Field {
    Field { name, number, kind, is_list: true }
}

/// `ExportMetricsServiceRequest`.
pub(super) static REQUEST: [Field; 1] =
    [list("resourceMetrics", 1, Kind::Message(&RESOURCE_METRICS))];

static RESOURCE_METRICS: [Field; 2] = [
    one("resource", 1, Kind::Message(&RESOURCE)),
    list("scopeMetrics", 2, Kind::Message(&SCOPE_METRICS)),
];

static RESOURCE: [Field; 1] = [list("attributes", 1, Kind::Message(&KEY_VALUE))];

static SCOPE_METRICS: [Field; 2] =
    [one("scope", 1, Kind::Message(&SCOPE)), list("metrics", 2, Kind::Message(&METRIC))];

static SCOPE: [Field; 3] = [
    one("name", 1, Kind::String),
    one("version", 2, Kind::String),
    list("attributes", 3, Kind::Message(&KEY_VALUE)),
];

static METRIC: [Field; 6] = [
    one("name", 1, Kind::String),
    one("gauge", 5, Kind::Message(&GAUGE)),
    one("sum", 7, Kind::Message(&SUM)),
    one("histogram", 9, Kind::Message(&HISTOGRAM)),
    one("exponentialHistogram", 10, Kind::Message(&EXPONENTIAL)),
    one("summary", 11, Kind::Message(&SUMMARY)),
];

const TEMPORALITY: Field = one(
    "aggregationTemporality",
    2,
    Kind::Enum(&[
        "AGGREGATION_TEMPORALITY_UNSPECIFIED",
        "AGGREGATION_TEMPORALITY_DELTA",
        "AGGREGATION_TEMPORALITY_CUMULATIVE",
    ]),
);

static GAUGE: [Field; 1] = [list("dataPoints", 1, Kind::Message(&NUMBER_POINT))];

static SUM: [Field; 3] = [
    list("dataPoints", 1, Kind::Message(&NUMBER_POINT)),
    TEMPORALITY,
    one("isMonotonic", 3, Kind::Bool),
];

static HISTOGRAM: [Field; 2] =
    [list("dataPoints", 1, Kind::Message(&HISTOGRAM_POINT)), TEMPORALITY];

static EXPONENTIAL: [Field; 2] =
    [list("dataPoints", 1, Kind::Message(&EXPONENTIAL_POINT)), TEMPORALITY];

static SUMMARY: [Field; 1] = [list("dataPoints", 1, Kind::Message(&SUMMARY_POINT))];

const START: Field = one("startTimeUnixNano", 2, Kind::Fixed);
const TIME: Field = one("timeUnixNano", 3, Kind::Fixed);

static NUMBER_POINT: [Field; 6] = [
    START,
    TIME,
    one("asDouble", 4, Kind::Double),
    one("asInt", 6, Kind::SignedFixed),
    list("attributes", 7, Kind::Message(&KEY_VALUE)),
    one("flags", 8, Kind::Uint),
];

static HISTOGRAM_POINT: [Field; 10] = [
    START,
    TIME,
    one("count", 4, Kind::Fixed),
    one("sum", 5, Kind::Double),
    list("bucketCounts", 6, Kind::Fixed),
    list("explicitBounds", 7, Kind::Double),
    list("attributes", 9, Kind::Message(&KEY_VALUE)),
    one("flags", 10, Kind::Uint),
    one("min", 11, Kind::Double),
    one("max", 12, Kind::Double),
];

static EXPONENTIAL_POINT: [Field; 13] = [
    list("attributes", 1, Kind::Message(&KEY_VALUE)),
    START,
    TIME,
    one("count", 4, Kind::Fixed),
    one("sum", 5, Kind::Double),
    one("scale", 6, Kind::Zigzag),
    one("zeroCount", 7, Kind::Fixed),
    one("positive", 8, Kind::Message(&BUCKETS)),
    one("negative", 9, Kind::Message(&BUCKETS)),
    one("flags", 10, Kind::Uint),
    one("min", 12, Kind::Double),
    one("max", 13, Kind::Double),
    one("zeroThreshold", 14, Kind::Double),
];

static BUCKETS: [Field; 2] = [one("offset", 1, Kind::Zigzag), list("bucketCounts", 2, Kind::Uint)];

static SUMMARY_POINT: [Field; 3] =
    [TIME, list("attributes", 7, Kind::Message(&KEY_VALUE)), one("flags", 8, Kind::Uint)];

static KEY_VALUE: [Field; 2] =
    [one("key", 1, Kind::String), one("value", 2, Kind::Message(&ANY_VALUE))];

static ANY_VALUE: [Field; 7] = [
    one("stringValue", 1, Kind::String),
    one("boolValue", 2, Kind::Bool),
    one("intValue", 3, Kind::Int),
    one("doubleValue", 4, Kind::Double),
    one("arrayValue", 5, Kind::Message(&ARRAY)),
    one("kvlistValue", 6, Kind::Message(&MAP)),
    one("bytesValue", 7, Kind::Bytes),
];

static ARRAY: [Field; 1] = [list("values", 1, Kind::Message(&ANY_VALUE))];

static MAP: [Field; 1] = [list("values", 1, Kind::Message(&KEY_VALUE))];
