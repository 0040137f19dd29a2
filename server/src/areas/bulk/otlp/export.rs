//! Converts data points to samples, each accepted or rejected by itself.
//!
//! | data point                                  | becomes                                     |
//! |---------------------------------------------|---------------------------------------------|
//! | gauge, non-monotonic cumulative sum         | a gauge sample                              |
//! | delta sum                                   | a counter increment                         |
//! | monotonic cumulative sum                    | a cumulative counter sample                 |
//! | delta histogram                             | values of a distribution                    |
//! | cumulative histogram                        | a cumulative distribution sample            |
//! | summary, or no recorded value               | nothing; ignored and counted                |

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use telltale_engine::{
    BatchBuilder, Engine, MetricType, PointBatch, SeriesId, SeriesKeyHash, StartTime, TimestampMs,
};

use super::attributes::{self, Tag};
use super::error::OtlpError;
use super::point::{Point, PointValue};
use super::request::{self, Encoding, Metric, MetricForm, Temporality};
use super::settings::OtlpSettings;
use crate::areas::bulk::intake::{BodyReader, LostPosition, PartSize, Progress};
use crate::http::{ApiError, BulkOutcome, BulkPlace};
use crate::limits;
use crate::platform::time::InvalidTime;

/// The prefix of the series-key hashes of this protocol.
const PROTOCOL: &[u8] = b"otlp";
/// The reason reported for ignored data points of summaries.
pub(super) const SUMMARIES: &str = "summaries";
/// The reason reported for ignored data points without a value.
const NO_RECORDED_VALUE: &str = "no_recorded_value";
/// The maximum number of characters of a metric name in an error message.
const NAME_CHARS_SHOWN_MAX: usize = 100;
const NANOSECONDS_PER_MS: u64 = 1_000_000;

/// A reader of the data points of a request that has already been validated to its end.
#[derive(Debug)]
pub(super) struct Export<B> {
    body: B,
    /// The number of data points processed.
    seen: usize,
    /// The number of bytes before the current `ResourceMetrics`, and of data points in them.
    before: (usize, usize),
    rules: Rules,
}

/// The settings that apply to all data points.
#[derive(Debug)]
pub(super) struct Rules {
    /// The time of receipt.
    pub(super) now: TimestampMs,
    /// When this process started to listen. A stream that started later was observed from its
    /// start.
    pub(super) process_start: TimestampMs,
    /// The scope and resource attributes that become tags.
    pub(super) chosen: Arc<OtlpSettings>,
}

impl<B: AsRef<[u8]>> Export<B> {
    pub(super) fn new(body: B, rules: Rules) -> Self {
        Self { body, seen: 0, before: (0, 0), rules }
    }

    fn add_to(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        let body = self.body.as_ref();
        let (start, mut index) = self.before;
        for resource in request::resources(body.get(start..).ok_or(LostPosition)?) {
            let resource = resource?;
            let resource_hash = SeriesKeyHash::of(PROTOCOL).with(resource.resource.rest());
            let resource_tags = attributes::of_resource(resource.resource, &self.rules.chosen);
            for scope in resource.scopes() {
                let scope = scope?;
                let scope_hash = resource_hash.with(scope.scope.rest());
                let scope_tags = attributes::of_scope(scope.scope, &self.rules.chosen);
                for metric in scope.metrics() {
                    let metric = metric?;
                    let key_hash = scope_hash.with(metric.name);
                    let stream =
                        Stream { metric, key_hash, resource: &resource_tags, scope: &scope_tags };
                    for bytes in metric.points() {
                        let bytes = bytes?;
                        index += 1;
                        if index <= self.seen {
                            continue;
                        }
                        let point = metric.point(bytes)?;
                        if part.is_full(batch, point.measured.buckets()) {
                            return Ok(Progress::Paused);
                        }
                        self.seen = index;
                        match stream.add(batch, &self.rules, point) {
                            Ok(None) => outcome.accept(),
                            Ok(Some(skipped)) => outcome.skip(skipped, 1),
                            Err(error) => {
                                outcome.reject(BulkPlace::index(index - 1), stream.error_of(error))
                            }
                        }
                    }
                }
            }
            self.before = (body.len() - resource.bytes_after, index);
        }
        // The stored position may be that of another body.
        if index < self.seen { Err(LostPosition) } else { Ok(Progress::Ended) }
    }
}

/// The position up to which a request is processed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Position {
    seen: usize,
    now_ms: i64,
    began_ms: i64,
}

impl<B: AsRef<[u8]>> BodyReader for Export<B> {
    type Position = Position;

    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        self.add_to(batch, part, outcome)
    }

    fn position(&self) -> Position {
        let Rules { now, process_start, .. } = self.rules;
        Position { seen: self.seen, now_ms: now.0, began_ms: process_start.0 }
    }

    /// Resumes with the time and process start of the first attempt, so that the rest treats start
    /// times the same way.
    fn resume(&mut self, position: Position) {
        self.seen = position.seen;
        self.rules.now = TimestampMs(position.now_ms);
        self.rules.process_start = TimestampMs(position.began_ms);
    }
}

/// Resolves a whole request to samples, finding or creating their series, and returns the outcome
/// of its data points.
pub fn resolve_export(
    engine: &Engine,
    body: &[u8],
    encoding: Encoding,
    now: TimestampMs,
    chosen: &Arc<OtlpSettings>,
) -> Result<(PointBatch, BulkOutcome), OtlpError> {
    let rules = Rules { now, process_start: now, chosen: Arc::clone(chosen) };
    let request = encoding.open(body.to_vec())?;
    Ok(Export::new(request, rules).read_whole(engine))
}

impl Rules {
    fn time(&self, time_ns: u64) -> Result<TimestampMs, InvalidTime> {
        if time_ns == 0 {
            return Ok(self.now);
        }
        let time = milliseconds(time_ns);
        if time.0 <= self.now.0.saturating_add(limits::FUTURE_MS_MAX) {
            Ok(time)
        } else {
            Err(InvalidTime::OutOfRange)
        }
    }

    /// Returns the start time of a cumulative data point; unknown if it is not before the data
    /// point itself.
    fn start_time(&self, start_ns: u64, time: TimestampMs, time_ns: u64) -> StartTime {
        let start = milliseconds(start_ns);
        if start_ns == 0 || start > time || start_ns == time_ns {
            return StartTime::Unknown;
        }
        StartTime::At { start, counts: start >= self.process_start }
    }
}

fn milliseconds(ns: u64) -> TimestampMs {
    // Any u64 divided by a million fits an i64.
    TimestampMs((ns / NANOSECONDS_PER_MS).cast_signed())
}

/// How the data points of a metric are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleMapping {
    /// As samples of this type.
    Samples(MetricType),
    /// As cumulative samples of this type.
    Cumulative(MetricType),
}

impl SampleMapping {
    fn of(metric: &Metric<'_>) -> Result<Self, OtlpError> {
        use MetricType::{Counter, Distribution, Gauge};
        let kind = match metric.form {
            MetricForm::Gauge | MetricForm::Summary => return Ok(Self::Samples(Gauge)),
            MetricForm::Sum => Counter,
            MetricForm::Histogram | MetricForm::Exponential => Distribution,
        };
        match metric.temporality {
            Temporality::Unspecified => Err(OtlpError::Temporality),
            Temporality::Delta => Ok(Self::Samples(kind)),
            Temporality::Cumulative if kind == Counter && !metric.is_monotonic => {
                Ok(Self::Samples(Gauge))
            }
            Temporality::Cumulative => Ok(Self::Cumulative(kind)),
        }
    }

    fn kind(self) -> MetricType {
        match self {
            Self::Samples(kind) | Self::Cumulative(kind) => kind,
        }
    }
}

/// A metric of one scope and resource, with their tags.
struct Stream<'a, 'b> {
    metric: Metric<'b>,
    key_hash: SeriesKeyHash,
    resource: &'a Result<Vec<Tag<'b>>, OtlpError>,
    scope: &'a Result<Vec<Tag<'b>>, OtlpError>,
}

impl<'b> Stream<'_, 'b> {
    /// Adds a data point to the batch. Returns a reason if it is ignored.
    fn add(
        &self,
        batch: &mut BatchBuilder<'_>,
        rules: &Rules,
        point: Point<'b>,
    ) -> Result<Option<&'static str>, OtlpError> {
        if self.metric.form == MetricForm::Summary {
            return Ok(Some(SUMMARIES));
        }
        if point.has_no_value() {
            return Ok(Some(NO_RECORDED_VALUE));
        }
        let mapping = SampleMapping::of(&self.metric)?;
        let time = rules.time(point.time_ns)?;
        let start_time = rules.start_time(point.start_ns, time, point.time_ns);
        match &point.measured {
            PointValue::Nothing => return Err(OtlpError::ValueMissing),
            PointValue::Number(value) if !value.is_finite() => return Err(OtlpError::Value),
            PointValue::Histogram(Err(invalid)) => return Err((*invalid).into()),
            PointValue::Number(_) | PointValue::Histogram(Ok(_)) => {}
        }
        let series = self.series(batch, mapping.kind(), &point)?;
        match (mapping, point.measured) {
            (SampleMapping::Samples(kind), PointValue::Number(value)) => {
                batch.number(kind, series, time, value);
            }
            (SampleMapping::Cumulative(_), PointValue::Number(total)) => {
                batch.reading(series, time, total, start_time);
            }
            (SampleMapping::Samples(_), PointValue::Histogram(Ok(histogram))) => {
                batch.histogram(series, time, &histogram);
            }
            (SampleMapping::Cumulative(_), PointValue::Histogram(Ok(histogram))) => {
                batch.cumulative_histogram(series, time, *histogram, start_time);
            }
            (_, PointValue::Nothing | PointValue::Histogram(Err(_))) => {}
        }
        Ok(None)
    }

    fn series(
        &self,
        batch: &mut BatchBuilder<'_>,
        kind: MetricType,
        point: &Point<'b>,
    ) -> Result<SeriesId, OtlpError> {
        let mut key_hash = self.key_hash;
        for attribute in point.attributes() {
            key_hash = key_hash.with(attribute?);
        }
        match batch.known(key_hash) {
            Some((series, known)) if known == kind => Ok(series),
            _ => self.resolve_unknown(batch, key_hash, kind, point),
        }
    }

    /// Parses and validates the name and attributes, and finds or creates the series.
    #[cold]
    fn resolve_unknown(
        &self,
        batch: &mut BatchBuilder<'_>,
        key_hash: SeriesKeyHash,
        kind: MetricType,
        point: &Point<'b>,
    ) -> Result<SeriesId, OtlpError> {
        let name = attributes::utf8(self.metric.name)?;
        let resource = self.resource.as_ref().map_err(Clone::clone)?;
        let scope = self.scope.as_ref().map_err(Clone::clone)?;
        attributes::with_tags(point.attributes(), scope, resource, |tags| {
            Ok(batch.series_of_hash(key_hash, name, kind, tags)?)
        })
    }

    fn error_of(&self, error: OtlpError) -> DataPointError<'b> {
        DataPointError { name: self.metric.name, error }
    }
}

/// The error of a data point, with its metric's name.
struct DataPointError<'b> {
    name: &'b [u8],
    error: OtlpError,
}

impl From<DataPointError<'_>> for ApiError {
    fn from(DataPointError { name, error }: DataPointError<'_>) -> Self {
        let some = name.get(..4 * NAME_CHARS_SHOWN_MAX).unwrap_or(name);
        let name: String =
            String::from_utf8_lossy(some).chars().take(NAME_CHARS_SHOWN_MAX).collect();
        let error = Self::from(error);
        Self::new(error.code(), format!("{name:?}: {}", error.message()))
    }
}
