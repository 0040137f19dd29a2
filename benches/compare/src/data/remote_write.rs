//! Remote-write 1.0 bodies: one sample per series with all labels, as Prometheus sends them. Series
//! are split over two shards, whose bodies alternate, so that each of two connections keeps the
//! order of a series.
//!
//! The file is a sequence of `length: u32 LE · samples: u32 LE · snappy block`.

use super::point::{Point, Series};
use super::write::Draft;
use crate::outcome::Outcome;

const SHARDS: usize = 2;
/// Neighbouring series in the same shard, such as those of one host.
const SERIES_TOGETHER: usize = 10;
/// Keys of the fields: number × 8 + wire type.
const TIME_SERIES: u8 = 0x0a;
const LABEL: u8 = 0x0a;
const SAMPLE: u8 = 0x12;
const LABEL_NAME: u8 = 0x0a;
const LABEL_VALUE: u8 = 0x12;
const SAMPLE_VALUE: u8 = 0x09;
const SAMPLE_TIME: u8 = 0x10;

/// Writes bodies to a file.
pub(crate) struct RemoteWrite {
    file: Draft,
    /// The labels of each series as protobuf.
    labels: Vec<Vec<u8>>,
    samples_per_body: u32,
    shards: [Body; SHARDS],
}

#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    samples: u32,
}

impl RemoteWrite {
    pub(crate) fn new(file: Draft, series: &[Series], samples_per_body: u32) -> Self {
        let labels = series.iter().map(labels).collect();
        Self { file, labels, samples_per_body, shards: Default::default() }
    }

    pub(crate) fn add(&mut self, point: &Point) -> Outcome<()> {
        let labels = self.labels.get(point.series).ok_or("a point without a series")?;
        let mut sample = Vec::with_capacity(20);
        sample.push(SAMPLE_VALUE);
        sample.extend_from_slice(&point.value.to_le_bytes());
        sample.push(SAMPLE_TIME);
        put_varint(&mut sample, point.time_ms as u64);
        let shard = point.series / SERIES_TOGETHER % SHARDS;
        if let Some(body) = self.shards.get_mut(shard) {
            body.bytes.push(TIME_SERIES);
            put_varint(&mut body.bytes, (labels.len() + 2 + sample.len()) as u64);
            body.bytes.extend_from_slice(labels);
            put_field(&mut body.bytes, SAMPLE, &sample);
            body.samples += 1;
        }
        if self.shards.iter().all(|body| body.samples >= self.samples_per_body) {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Outcome<()> {
        self.flush()?;
        self.file.finish()
    }

    fn flush(&mut self) -> Outcome<()> {
        for body in &mut self.shards {
            let packed = snap::raw::Encoder::new().compress_vec(&body.bytes)?;
            self.file.put(&(packed.len() as u32).to_le_bytes())?;
            self.file.put(&body.samples.to_le_bytes())?;
            self.file.put(&packed)?;
            body.bytes.clear();
            body.samples = 0;
        }
        Ok(())
    }
}

/// Encodes the labels, sorted by name as the protocol requires.
fn labels(series: &Series) -> Vec<u8> {
    let mut labels: Vec<(&str, &str)> =
        series.tags.iter().map(|(key, value)| (*key, value.as_str())).collect();
    labels.push(("__name__", &series.metric));
    labels.sort_unstable();
    let mut bytes = Vec::new();
    for (name, value) in labels {
        let mut label = Vec::new();
        put_field(&mut label, LABEL_NAME, name.as_bytes());
        put_field(&mut label, LABEL_VALUE, value.as_bytes());
        put_field(&mut bytes, LABEL, &label);
    }
    bytes
}

fn put_field(bytes: &mut Vec<u8>, key: u8, field: &[u8]) {
    bytes.push(key);
    put_varint(bytes, field.len() as u64);
    bytes.extend_from_slice(field);
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
