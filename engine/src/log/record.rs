//! A log record: the sections of one write.
//!
//! ```text
//! version: u8, then until the end
//! section: u8 │ length: varint │ body
//!   1 definitions  metrics: varint, each: id: varint │ type: u8 │ name: string
//!                  series: varint, each: id: varint │ metric: varint │
//!                                        tags: varint, each: key: string │ value: string
//!   2 points       type: u8 │ n: varint │ n × series less the previous one: signed │
//!                  n × time less the previous one: signed │ n × value: u64
//!   3 dropped      metric: varint
//!   4 receipt      id: u128 │ fingerprint: u64 │ expires at: signed │ response: the rest
//!   5 events       see `events.rs`
//!   6 cumulative counters, 7 histograms       see `cumulative_samples.rs`
//!   8 padding      zeros
//! ```
//!
//! From one sample to the next, series and time mostly repeat or increase by one, so they usually
//! take one byte each. Values are stored uncompressed, because the log is always written but only
//! read after a crash.

use super::{cumulative_samples, events};
use crate::codec::bytes::{Reader, put_bytes, put_signed, put_varint};
use crate::codec::{CodecError, CodecResult};
use crate::documents::Receipt;
use crate::limits;
use crate::model::{
    Columns, CumulativeSamples, EventRows, MetricId, MetricName, MetricType, PointBatch, SeriesId,
    Tags, TimestampMs,
};

const VERSION: u8 = 1;
const DEFINITIONS: u8 = 1;
const POINTS: u8 = 2;
const DROPPED: u8 = 3;
const RECEIPT: u8 = 4;
const EVENTS: u8 = 5;
const CUMULATIVE_COUNTERS: u8 = 6;
const HISTOGRAMS: u8 = 7;
const PADDING: u8 = 8;
/// Size from which on a record of definitions takes no more of them.
const DEFINITIONS_BYTES_MAX: usize = 4 << 20;

/// A metric created by a write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricDefined {
    pub(crate) id: MetricId,
    pub(crate) kind: MetricType,
    pub(crate) name: MetricName,
}

impl MetricDefined {
    /// Returns the bytes of its name.
    pub(crate) fn string_bytes(&self) -> usize {
        self.name.as_str().len()
    }
}

/// A series created by a write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeriesDefined {
    pub(crate) id: SeriesId,
    pub(crate) metric: MetricId,
    pub(crate) tags: Tags,
}

impl SeriesDefined {
    /// Returns the bytes of its tags.
    pub(crate) fn string_bytes(&self) -> usize {
        let strings: usize = self.tags.iter().map(|(key, value)| key.len() + value.len()).sum();
        strings + self.tags.len() * 2 * size_of::<Box<str>>()
    }
}

/// Metrics and series added to the registry since the previous record.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Definitions {
    pub(crate) metrics: Vec<MetricDefined>,
    pub(crate) series: Vec<SeriesDefined>,
}

impl Definitions {
    pub(crate) fn is_empty(&self) -> bool {
        self.metrics.is_empty() && self.series.is_empty()
    }

    /// Returns the bytes of all names and tags.
    pub(crate) fn string_bytes(&self) -> usize {
        let metrics = self.metrics.iter().map(MetricDefined::string_bytes);
        metrics.chain(self.series.iter().map(SeriesDefined::string_bytes)).sum()
    }

    /// Returns the bytes in memory besides names and tags.
    pub(crate) fn table_bytes(&self) -> usize {
        self.metrics.capacity() * size_of::<MetricDefined>()
            + self.series.capacity() * size_of::<SeriesDefined>()
    }

    /// Appends the definitions of `later`.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.metrics.append(&mut later.metrics);
        self.series.append(&mut later.series);
    }
}

/// A decoded record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) definitions: Definitions,
    pub(crate) points: PointBatch,
    pub(crate) events: EventRows,
    pub(crate) dropped: Vec<MetricId>,
    pub(crate) receipt: Option<Receipt>,
}

impl Record {
    pub(crate) fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(CodecError::new(format!("log record of version {version}")));
        }
        let mut record = Self::default();
        while !reader.rest().is_empty() {
            let section = reader.u8()?;
            let mut body = Reader::new(reader.bytes()?);
            match section {
                DEFINITIONS => record.definitions.append(decode_definitions(&mut body)?),
                POINTS => decode_points(&mut body, &mut record.points)?,
                DROPPED => record.dropped.push(MetricId(id(&mut body)?)),
                CUMULATIVE_COUNTERS => {
                    let counters = &mut record.points.cumulative_mut().counters;
                    cumulative_samples::decode_counters(&mut body, counters)?;
                }
                HISTOGRAMS => {
                    let histograms = &mut record.points.cumulative_mut().histograms;
                    cumulative_samples::decode_histograms(&mut body, histograms)?;
                }
                EVENTS => record.events.append(&events::decode(&mut body)?),
                RECEIPT => record.receipt = Some(decode_receipt(&mut body)?),
                PADDING => drop(body.take(body.rest().len())?),
                other => {
                    return Err(CodecError::new(format!("unknown section {other} of a record")));
                }
            }
            body.finish()?;
        }
        Ok(record)
    }
}

/// Encodes definitions as records that contain nothing else.
pub(crate) fn encode_definitions(definitions: &Definitions) -> Vec<Vec<u8>> {
    let Definitions { metrics, series } = definitions;
    let mut records = DefinitionRecords::default();
    for metric in metrics {
        let body = records.metric();
        put_varint(body, u64::from(metric.id.0));
        body.push(metric.kind.code());
        put_bytes(body, metric.name.as_str().as_bytes());
    }
    for series in series {
        let body = records.series();
        put_varint(body, u64::from(series.id.0));
        put_varint(body, u64::from(series.metric.0));
        put_varint(body, series.tags.len() as u64);
        for (key, value) in series.tags.iter() {
            put_bytes(body, key.as_bytes());
            put_bytes(body, value.as_bytes());
        }
    }
    records.finish()
}

/// Definitions being encoded as records of limited size.
#[derive(Default)]
struct DefinitionRecords {
    done: Vec<Vec<u8>>,
    /// The number of metrics, and their encoding. The series follow.
    metrics: (u64, Vec<u8>),
    series: (u64, Vec<u8>),
}

impl DefinitionRecords {
    /// Returns the buffer for the next metric.
    fn metric(&mut self) -> &mut Vec<u8> {
        self.close_when_full();
        self.metrics.0 += 1;
        &mut self.metrics.1
    }

    /// Returns the buffer for the next series.
    fn series(&mut self) -> &mut Vec<u8> {
        self.close_when_full();
        self.series.0 += 1;
        &mut self.series.1
    }

    fn close_when_full(&mut self) {
        if self.metrics.1.len() + self.series.1.len() >= DEFINITIONS_BYTES_MAX {
            self.close();
        }
    }

    fn close(&mut self) {
        let ((metrics, metric_bytes), (series, series_bytes)) =
            (std::mem::take(&mut self.metrics), std::mem::take(&mut self.series));
        let mut body = Vec::with_capacity(metric_bytes.len() + series_bytes.len() + 8);
        put_varint(&mut body, metrics);
        body.extend_from_slice(&metric_bytes);
        put_varint(&mut body, series);
        body.extend_from_slice(&series_bytes);
        self.done.push(section(DEFINITIONS, &body));
    }

    fn finish(mut self) -> Vec<Vec<u8>> {
        if self.metrics.0 + self.series.0 > 0 {
            self.close();
        }
        self.done
    }
}

/// Returns a record of at least this many bytes without contents.
pub(super) fn encode_padding(bytes: usize) -> Vec<u8> {
    section(PADDING, &vec![0; bytes])
}

/// Encodes a record of samples and events, with the receipt of the write if it has one.
pub(crate) fn encode_write(
    points: &PointBatch,
    events: &EventRows,
    receipt: Option<&Receipt>,
) -> Vec<u8> {
    let mut out = encode_points(points);
    if let Some(cumulative) = points.cumulative() {
        encode_cumulative(cumulative, &mut out);
    }
    if events.len() > 0 {
        let mut body = Vec::new();
        events::encode(events, &mut body);
        out.push(EVENTS);
        put_bytes(&mut out, &body);
    }
    if let Some(receipt) = receipt {
        let mut body = Vec::with_capacity(48 + receipt.answer.len());
        body.extend_from_slice(&receipt.id.to_le_bytes());
        body.extend_from_slice(&receipt.fingerprint.to_le_bytes());
        put_signed(&mut body, receipt.expires_at.0);
        body.extend_from_slice(&receipt.answer);
        out.push(RECEIPT);
        put_bytes(&mut out, &body);
    }
    out
}

fn encode_points(batch: &PointBatch) -> Vec<u8> {
    let mut out = vec![VERSION];
    let mut body = Vec::new();
    for kind in MetricType::ALL {
        let columns = batch.of(kind);
        if columns.is_empty() {
            continue;
        }
        body.clear();
        body.reserve(16 + columns.len() * 11);
        body.push(kind.code());
        put_varint(&mut body, columns.len() as u64);
        let mut previous = 0;
        for series in &columns.series {
            put_signed(&mut body, i64::from(series.0) - previous);
            previous = i64::from(series.0);
        }
        let mut previous = 0i64;
        for time in &columns.times {
            put_signed(&mut body, time.wrapping_sub(previous));
            previous = *time;
        }
        body.extend(columns.values.iter().flat_map(|v| v.to_le_bytes()));
        out.push(POINTS);
        put_bytes(&mut out, &body);
    }
    out
}

fn encode_cumulative(cumulative: &CumulativeSamples, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    if cumulative.counters.len() > 0 {
        cumulative_samples::encode_counters(&cumulative.counters, &mut body);
        out.push(CUMULATIVE_COUNTERS);
        put_bytes(out, &body);
    }
    if !cumulative.histograms.is_empty() {
        body.clear();
        cumulative_samples::encode_histograms(&cumulative.histograms, &mut body);
        out.push(HISTOGRAMS);
        put_bytes(out, &body);
    }
}

/// Encodes a record that drops a metric.
pub(crate) fn encode_dropped(metric: MetricId) -> Vec<u8> {
    let mut body = Vec::new();
    put_varint(&mut body, u64::from(metric.0));
    section(DROPPED, &body)
}

fn section(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 8);
    out.extend_from_slice(&[VERSION, kind]);
    put_bytes(&mut out, body);
    out
}

fn id(reader: &mut Reader<'_>) -> CodecResult<u32> {
    u32::try_from(reader.varint()?).map_err(|_| CodecError::new("id over 32 bits"))
}

fn metric_type(reader: &mut Reader<'_>) -> CodecResult<MetricType> {
    MetricType::from_code(reader.u8()?).ok_or_else(|| CodecError::new("unknown metric type"))
}

fn decode_definitions(reader: &mut Reader<'_>) -> CodecResult<Definitions> {
    let mut definitions = Definitions::default();
    for _ in 0..reader.count("metrics", reader.rest().len())? {
        let id = MetricId(id(reader)?);
        let kind = metric_type(reader)?;
        let name = MetricName::new(reader.text()?).map_err(|e| CodecError::new(e.to_string()))?;
        definitions.metrics.push(MetricDefined { id, kind, name });
    }
    for _ in 0..reader.count("series", reader.rest().len())? {
        let series = SeriesId(id(reader)?);
        let metric = MetricId(id(reader)?);
        let pairs = (0..reader.count("tags", limits::TAGS_MAX)?)
            .map(|_| Ok((reader.text()?, reader.text()?)))
            .collect::<CodecResult<Vec<_>>>()?;
        let tags = Tags::new(&pairs).map_err(|e| CodecError::new(e.to_string()))?;
        definitions.series.push(SeriesDefined { id: series, metric, tags });
    }
    Ok(definitions)
}

fn decode_receipt(reader: &mut Reader<'_>) -> CodecResult<Receipt> {
    let (id, fingerprint) = (reader.u128()?, reader.u64()?);
    let expires_at = TimestampMs(reader.signed()?);
    let answer = reader.take(reader.rest().len())?.to_vec();
    Ok(Receipt { id, fingerprint, answer, expires_at })
}

fn decode_points(reader: &mut Reader<'_>, into: &mut PointBatch) -> CodecResult<()> {
    let kind = metric_type(reader)?;
    // Every sample takes at least ten bytes.
    let n = reader.count("points", reader.rest().len() / 10)?;
    let columns: &mut Columns = into.of_mut(kind);
    let mut series = 0i64;
    for _ in 0..n {
        series = series.wrapping_add(reader.signed()?);
        let id = u32::try_from(series).map_err(|_| CodecError::new("series id over 32 bits"))?;
        columns.series.push(SeriesId(id));
    }
    let mut time = 0i64;
    for _ in 0..n {
        time = time.wrapping_add(reader.signed()?);
        columns.times.push(time);
    }
    let values = reader.take(n * 8)?;
    let (values, _) = values.as_chunks::<8>();
    columns.values.extend(values.iter().map(|v| u64::from_le_bytes(*v)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn definitions() -> Definitions {
        Definitions {
            metrics: vec![MetricDefined {
                id: MetricId(3),
                kind: MetricType::Counter,
                name: MetricName::new("requests/сервис").unwrap(),
            }],
            series: vec![SeriesDefined {
                id: SeriesId(70_000),
                metric: MetricId(3),
                tags: Tags::new(&[("host", "a"), ("zone", "")]).unwrap(),
            }],
        }
    }

    fn decoded(records: &[Vec<u8>]) -> Definitions {
        let mut definitions = Definitions::default();
        for record in records {
            definitions.append(Record::decode(record).unwrap().definitions);
        }
        definitions
    }

    #[test]
    fn definitions_and_drops_round_trip() {
        assert_eq!(decoded(&encode_definitions(&definitions())), definitions());
        let record = Record::decode(&encode_dropped(MetricId(9))).unwrap();
        assert_eq!(record.dropped, [MetricId(9)]);
    }

    #[test]
    fn a_series_with_more_tags_than_the_limit_is_refused() {
        let read = |tags: usize| {
            // No metrics, and series 7 of metric 1.
            let mut bytes = vec![0, 1, 7, 1];
            put_varint(&mut bytes, tags as u64);
            for tag in 0..tags {
                put_bytes(&mut bytes, format!("tag{tag:03}").as_bytes());
                put_bytes(&mut bytes, b"v");
            }
            let mut reader = Reader::new(&bytes);
            decode_definitions(&mut reader).map(|read| read.series.len()).ok()
        };
        assert_eq!(read(limits::TAGS_MAX), Some(1));
        assert_eq!(read(limits::TAGS_MAX + 1), None);
    }

    #[test]
    fn the_largest_definitions_round_trip() {
        let string =
            |chars: usize, first: usize| format!("{first:03}") + &"\u{1f3d4}".repeat(chars - 3);
        let tags: Vec<(String, String)> = (0..limits::TAGS_MAX)
            .map(|tag| {
                (string(limits::TAG_KEY_CHARS_MAX, tag), string(limits::TAG_VALUE_CHARS_MAX, tag))
            })
            .collect();
        let pairs: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let definitions = Definitions {
            metrics: vec![MetricDefined {
                id: MetricId(u32::MAX),
                kind: MetricType::Set,
                name: MetricName::new(&string(limits::NAME_CHARS_MAX, 0)).unwrap(),
            }],
            series: vec![SeriesDefined {
                id: SeriesId(u32::MAX),
                metric: MetricId(u32::MAX),
                tags: Tags::new(&pairs).unwrap(),
            }],
        };
        assert_eq!(decoded(&encode_definitions(&definitions)), definitions);
        // More definitions than one record takes.
        let bytes = encode_definitions(&definitions)[0].len();
        let many = DEFINITIONS_BYTES_MAX / bytes + 2;
        let definitions = Definitions {
            metrics: vec![definitions.metrics[0].clone(); many],
            series: vec![definitions.series[0].clone(); many],
        };
        let records = encode_definitions(&definitions);
        assert!(records.len() > 1 && records.iter().all(|it| it.len() < 2 * DEFINITIONS_BYTES_MAX));
        assert_eq!(decoded(&records), definitions);
        assert_eq!(encode_definitions(&Definitions::default()), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn padding_has_no_contents() {
        let padding = encode_padding(600);
        assert!(padding.len() >= 600);
        let record = Record::decode(&padding).unwrap();
        assert!(record.definitions.is_empty() && record.points.is_empty());
        assert!(record.dropped.is_empty() && record.receipt.is_none());
    }

    #[test]
    fn a_receipt_round_trips() {
        let receipt = Receipt {
            id: 7 << 100,
            fingerprint: 9,
            answer: b"{}".to_vec(),
            expires_at: TimestampMs(123_456),
        };
        let record = Record::decode(&encode_write(
            &PointBatch::default(),
            &EventRows::default(),
            Some(&receipt),
        ))
        .unwrap();
        assert_eq!(record.receipt, Some(receipt));
    }

    #[test]
    fn a_record_has_golden_bytes() {
        let mut batch = PointBatch::default();
        batch.push_number(MetricType::Gauge, SeriesId(5), TimestampMs(1000), 1.5);
        batch.push_number(MetricType::Gauge, SeriesId(6), TimestampMs(1000), -2.0);
        let golden =
            "01 02 17 00 02 0a 02 d0 0f 00 00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 00 c0";
        let hex: Vec<String> = encode_points(&batch).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex.join(" "), golden);
    }

    proptest! {
        #[test]
        fn any_points_round_trip(
            points in proptest::collection::vec((0usize..4, any::<u32>(), any::<i64>(), any::<u64>()), 0..200)
        ) {
            let mut batch = PointBatch::default();
            for (kind, series, time, value) in points {
                batch.of_mut(MetricType::ALL[kind]).push(SeriesId(series), TimestampMs(time), value);
            }
            prop_assert_eq!(Record::decode(&encode_points(&batch)).unwrap().points, batch);
        }

        #[test]
        fn any_bytes_are_an_error_or_a_record(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut bytes = bytes;
            bytes.insert(0, VERSION);
            let _outcome = Record::decode(&bytes);
        }
    }
}
