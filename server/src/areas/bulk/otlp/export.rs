//! From data points to points. Each stands or falls alone.
//!
//! | data point                                  | becomes                                     |
//! |---------------------------------------------|---------------------------------------------|
//! | of a gauge, of a cumulative sum that sinks  | a point of a gauge                          |
//! | of a delta sum                              | a point of a counter                        |
//! | of a cumulative sum that only grows         | a reading of a counter                      |
//! | of a delta histogram                        | values of a distribution                    |
//! | of a cumulative histogram                   | a reading of a distribution                 |
//! | of a summary, or without a recorded value   | nothing, and is counted                     |

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use telltale_engine::{
    BatchBuilder, Engine, MetricType, PointBatch, SeriesId, SeriesKeyHash, StartTime, TimestampMs,
};

use super::attributes::{self, Tag};
use super::error::OtlpError;
use super::point::{Measured, Point};
use super::request::{self, Encoding, Form, Metric, Temporality};
use crate::areas::bulk::intake::{PartSize, Progress, Reading};
use crate::areas::bulk::protobuf::Damaged;
use crate::http::{ApiError, BulkOutcome, BulkPlace, OtlpAttributes};
use crate::limits;
use crate::platform::time::InvalidTime;

/// What the series-key hashes of this protocol begin with.
const PROTOCOL: &[u8] = b"otlp";
/// The reason for which data points of summaries are passed over.
pub(super) const SUMMARIES: &str = "summaries";
/// The reason for which data points without a value are passed over.
const NO_RECORDED_VALUE: &str = "no_recorded_value";
/// Characters of a metric's name that an error tells.
const TOLD_CHARS_MAX: usize = 100;
const NANOSECONDS_PER_MS: u64 = 1_000_000;

/// The data points of a request that are not taken yet. The request is one that was read to its end before.
#[derive(Debug)]
pub(super) struct Export<B> {
    body: B,
    /// Data points that were looked at.
    seen: usize,
    /// Bytes of the body up to the resource that is being read, and the data points in them.
    before: (usize, usize),
    rules: Rules,
}

/// What holds for all data points.
#[derive(Debug)]
pub(super) struct Rules {
    /// The time of receipt.
    pub(super) now: TimestampMs,
    /// When this process began to listen: of what began counting later nothing was missed.
    pub(super) began: TimestampMs,
    /// Attributes that are tags, beside those of data points.
    pub(super) chosen: Arc<OtlpAttributes>,
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
    ) -> Result<Progress, Damaged> {
        let body = self.body.as_ref();
        let (start, mut index) = self.before;
        for resource in request::resources(body.get(start..).unwrap_or_default()) {
            let resource = resource?;
            let of_resource = SeriesKeyHash::of(PROTOCOL).with(resource.resource.rest());
            let resource_tags = attributes::of_resource(resource.resource, &self.rules.chosen);
            for scope in resource.scopes() {
                let scope = scope?;
                let of_scope = of_resource.with(scope.scope.rest());
                let scope_tags = attributes::of_scope(scope.scope, &self.rules.chosen);
                for metric in scope.metrics() {
                    let metric = metric?;
                    let key_hash = of_scope.with(metric.name);
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
                                outcome.reject(BulkPlace::index(index - 1), stream.told(error))
                            }
                        }
                    }
                }
            }
            self.before = (body.len() - resource.behind, index);
        }
        Ok(Progress::Ended)
    }
}

/// How far a request is read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reached {
    seen: usize,
    now_ms: i64,
    began_ms: i64,
}

impl<B: AsRef<[u8]>> Reading for Export<B> {
    type Reached = Reached;

    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        // There is no damage behind what was read to its end; were there, nothing could be read behind it.
        self.add_to(batch, part, outcome).unwrap_or(Progress::Ended)
    }

    fn reached(&self) -> Reached {
        let Rules { now, began, .. } = self.rules;
        Reached { seen: self.seen, now_ms: now.0, began_ms: began.0 }
    }

    /// When the process that took the first attempt began to listen says of the rest, too, what counts from its beginning.
    fn go_on(&mut self, reached: Reached) {
        self.seen = reached.seen;
        self.rules.now = TimestampMs(reached.now_ms);
        self.rules.began = TimestampMs(reached.began_ms);
    }
}

/// The points of a request, and what became of its data points. The series of the points are found, or made.
pub fn resolve_export(
    engine: &Engine,
    body: &[u8],
    encoding: Encoding,
    now: TimestampMs,
    chosen: &Arc<OtlpAttributes>,
) -> Result<(PointBatch, BulkOutcome), OtlpError> {
    let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
    let rules = Rules { now, began: now, chosen: Arc::clone(chosen) };
    let request = encoding.open(body.to_vec())?;
    let mut export = Export::new(request, rules);
    while export.add_to(&mut batch, PartSize::WHOLE, &mut outcome)? == Progress::Paused {}
    Ok((batch.finish(), outcome))
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

    /// A beginning that is not before the data point itself says that nobody knows it.
    fn begins(&self, start_ns: u64, time: TimestampMs, time_ns: u64) -> StartTime {
        let start = milliseconds(start_ns);
        if start_ns == 0 || start > time || start_ns == time_ns {
            return StartTime::Unknown;
        }
        StartTime::At { start, counts: start >= self.began }
    }
}

fn milliseconds(ns: u64) -> TimestampMs {
    // A millionth of any number fits.
    TimestampMs((ns / NANOSECONDS_PER_MS).cast_signed())
}

/// What the data points of a metric are to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Points of this type.
    Points(MetricType),
    /// Totals since the beginning, of this type.
    Readings(MetricType),
}

impl Meaning {
    fn of(metric: &Metric<'_>) -> Result<Self, OtlpError> {
        use MetricType::{Counter, Distribution, Gauge};
        let kind = match metric.form {
            Form::Gauge | Form::Summary => return Ok(Self::Points(Gauge)),
            Form::Sum => Counter,
            Form::Histogram | Form::Exponential => Distribution,
        };
        match metric.temporality {
            Temporality::Unspecified => Err(OtlpError::Temporality),
            Temporality::Delta => Ok(Self::Points(kind)),
            Temporality::Cumulative if kind == Counter && !metric.is_monotonic => {
                Ok(Self::Points(Gauge))
            }
            Temporality::Cumulative => Ok(Self::Readings(kind)),
        }
    }

    fn kind(self) -> MetricType {
        match self {
            Self::Points(kind) | Self::Readings(kind) => kind,
        }
    }
}

/// A metric of a scope of a resource.
struct Stream<'a, 'b> {
    metric: Metric<'b>,
    key_hash: SeriesKeyHash,
    resource: &'a Result<Vec<Tag<'b>>, OtlpError>,
    scope: &'a Result<Vec<Tag<'b>>, OtlpError>,
}

impl<'b> Stream<'_, 'b> {
    /// Adds a data point, or tells why it is passed over.
    fn add(
        &self,
        batch: &mut BatchBuilder<'_>,
        rules: &Rules,
        point: Point<'b>,
    ) -> Result<Option<&'static str>, OtlpError> {
        if self.metric.form == Form::Summary {
            return Ok(Some(SUMMARIES));
        }
        if point.has_no_value() {
            return Ok(Some(NO_RECORDED_VALUE));
        }
        let meaning = Meaning::of(&self.metric)?;
        let time = rules.time(point.time_ns)?;
        let begins = rules.begins(point.start_ns, time, point.time_ns);
        match &point.measured {
            Measured::Nothing => return Err(OtlpError::ValueMissing),
            Measured::Number(value) if !value.is_finite() => return Err(OtlpError::Value),
            Measured::Histogram(Err(invalid)) => return Err((*invalid).into()),
            Measured::Number(_) | Measured::Histogram(Ok(_)) => {}
        }
        let series = self.series(batch, meaning.kind(), &point)?;
        match (meaning, point.measured) {
            (Meaning::Points(kind), Measured::Number(value)) => {
                batch.number(kind, series, time, value);
            }
            (Meaning::Readings(_), Measured::Number(total)) => {
                batch.reading(series, time, total, begins);
            }
            (Meaning::Points(_), Measured::Histogram(Ok(histogram))) => {
                batch.histogram(series, time, &histogram);
            }
            (Meaning::Readings(_), Measured::Histogram(Ok(histogram))) => {
                batch.histogram_reading(series, time, *histogram, begins);
            }
            (_, Measured::Nothing | Measured::Histogram(Err(_))) => {}
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
            _ => self.learn(batch, key_hash, kind, point),
        }
    }

    /// Reads the name and the attributes, checks them, and finds or makes the series.
    #[cold]
    fn learn(
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

    fn told(&self, error: OtlpError) -> Told<'b> {
        Told { name: self.metric.name, error }
    }
}

/// An error of a data point, with the metric that it is of.
struct Told<'b> {
    name: &'b [u8],
    error: OtlpError,
}

impl From<Told<'_>> for ApiError {
    fn from(Told { name, error }: Told<'_>) -> Self {
        let some = name.get(..4 * TOLD_CHARS_MAX).unwrap_or(name);
        let name: String = String::from_utf8_lossy(some).chars().take(TOLD_CHARS_MAX).collect();
        let error = Self::from(error);
        Self::new(error.code(), format!("{name:?}: {}", error.message()))
    }
}
