//! The messages of Prometheus remote-write, encoded by a protobuf library from the published
//! definitions, and their compression.

use prost::Message;

/// A label of version 1.
#[derive(Clone, PartialEq, Message)]
pub struct Label {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A sample.
#[derive(Clone, PartialEq, Message)]
pub struct Sample {
    #[prost(double, tag = "1")]
    pub value: f64,
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
    /// Version 2 only.
    #[prost(int64, tag = "3")]
    pub start_timestamp: i64,
}

/// An exemplar of version 1.
#[derive(Clone, PartialEq, Message)]
pub struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<Label>,
    #[prost(double, tag = "2")]
    pub value: f64,
    #[prost(int64, tag = "3")]
    pub timestamp: i64,
}

/// Adjacent buckets, and the gap before them.
#[derive(Clone, PartialEq, Message)]
pub struct BucketSpan {
    #[prost(sint32, tag = "1")]
    pub offset: i32,
    #[prost(uint32, tag = "2")]
    pub length: u32,
}

/// A native histogram of either version.
#[derive(Clone, PartialEq, Message)]
pub struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    pub count_int: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub count_float: Option<f64>,
    #[prost(double, tag = "3")]
    pub sum: f64,
    #[prost(sint32, tag = "4")]
    pub schema: i32,
    #[prost(double, tag = "5")]
    pub zero_threshold: f64,
    #[prost(uint64, optional, tag = "6")]
    pub zero_count_int: Option<u64>,
    #[prost(double, optional, tag = "7")]
    pub zero_count_float: Option<f64>,
    #[prost(message, repeated, tag = "8")]
    pub negative_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "9")]
    pub negative_deltas: Vec<i64>,
    #[prost(double, repeated, tag = "10")]
    pub negative_counts: Vec<f64>,
    #[prost(message, repeated, tag = "11")]
    pub positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    pub positive_deltas: Vec<i64>,
    #[prost(double, repeated, tag = "13")]
    pub positive_counts: Vec<f64>,
    /// 1: the counts were reset; 3: a gauge histogram.
    #[prost(int32, tag = "14")]
    pub reset_hint: i32,
    #[prost(int64, tag = "15")]
    pub timestamp: i64,
    #[prost(double, repeated, tag = "16")]
    pub custom_values: Vec<f64>,
    /// Version 2 only.
    #[prost(int64, tag = "17")]
    pub start_timestamp: i64,
}

/// A series of version 1.
#[derive(Clone, PartialEq, Message)]
pub struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub exemplars: Vec<Exemplar>,
    #[prost(message, repeated, tag = "4")]
    pub histograms: Vec<Histogram>,
}

/// The metadata of a metric in version 1.
#[derive(Clone, PartialEq, Message)]
pub struct MetricMetadata {
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub metric_family_name: String,
    #[prost(string, tag = "4")]
    pub help: String,
    #[prost(string, tag = "5")]
    pub unit: String,
}

/// A request of version 1.
#[derive(Clone, PartialEq, Message)]
pub struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub timeseries: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    pub metadata: Vec<MetricMetadata>,
}

/// The metadata of a series in version 2.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(uint32, tag = "3")]
    pub help_ref: u32,
    #[prost(uint32, tag = "4")]
    pub unit_ref: u32,
}

/// An exemplar of version 2.
#[derive(Clone, PartialEq, Message)]
pub struct ExemplarV2 {
    #[prost(uint32, repeated, tag = "1")]
    pub labels_refs: Vec<u32>,
    #[prost(double, tag = "2")]
    pub value: f64,
    #[prost(int64, tag = "3")]
    pub timestamp: i64,
}

/// A series of version 2.
#[derive(Clone, PartialEq, Message)]
pub struct TimeSeriesV2 {
    #[prost(uint32, repeated, tag = "1")]
    pub labels_refs: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub histograms: Vec<Histogram>,
    #[prost(message, repeated, tag = "4")]
    pub exemplars: Vec<ExemplarV2>,
    #[prost(message, optional, tag = "5")]
    pub metadata: Option<Metadata>,
    #[prost(int64, tag = "6")]
    pub created_timestamp: i64,
}

/// A request of version 2.
#[derive(Clone, PartialEq, Message)]
pub struct RequestV2 {
    #[prost(string, repeated, tag = "4")]
    pub symbols: Vec<String>,
    #[prost(message, repeated, tag = "5")]
    pub timeseries: Vec<TimeSeriesV2>,
}

/// Creates labels of version 1, in the given order.
pub fn labels(pairs: &[(&str, &str)]) -> Vec<Label> {
    let label =
        |(name, value): &(&str, &str)| Label { name: (*name).into(), value: (*value).into() };
    pairs.iter().map(label).collect()
}

/// Creates a sample with a time in milliseconds since 1970.
pub fn sample(timestamp: i64, value: f64) -> Sample {
    Sample { value, timestamp, start_timestamp: 0 }
}

/// A series of version 1.
pub fn series(pairs: &[(&str, &str)], samples: &[(i64, f64)]) -> TimeSeries {
    let samples = samples.iter().map(|(time, value)| sample(*time, *value)).collect();
    TimeSeries { labels: labels(pairs), samples, ..TimeSeries::default() }
}

impl RequestV2 {
    /// Creates a request without series.
    pub fn new() -> Self {
        Self { symbols: vec![String::new()], timeseries: Vec::new() }
    }

    /// Returns the index of a symbol in the table, to which a new symbol is added.
    pub fn symbol(&mut self, text: &str) -> u32 {
        let known = self.symbols.iter().position(|symbol| symbol == text);
        let at = known.unwrap_or_else(|| {
            self.symbols.push(text.to_owned());
            self.symbols.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// Adds a series with these labels and nothing else.
    pub fn series(&mut self, pairs: &[(&str, &str)]) -> &mut TimeSeriesV2 {
        let refs = pairs.iter().flat_map(|(name, value)| [*name, *value]);
        let labels_refs = refs.map(|text| self.symbol(text)).collect();
        let series = TimeSeriesV2 { labels_refs, ..TimeSeriesV2::default() };
        self.timeseries.push(series);
        let last = self.timeseries.len() - 1;
        &mut self.timeseries[last]
    }
}

/// Encodes and compresses a message.
pub fn packed(message: &impl Message) -> Vec<u8> {
    pack(&message.encode_to_vec())
}

/// Compresses bytes in the Snappy block format.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    // Snappy fails only above 4 GB.
    snap::raw::Encoder::new().compress_vec(bytes).unwrap_or_default()
}
