//! Converts lines to samples. A line is accepted or rejected as a whole.

use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, MetricType, PointBatch, SeriesId, TimestampMs};

use super::error::LineError;
use super::line::{Field, Line, Scanner};
use super::series::Series;
use super::timestamp::{Precision, Times};
use crate::areas::bulk::intake::{BodyReader, LostPosition, PartSize, Progress};
use crate::areas::metrics::{Measured, Point};
use crate::http::{BulkOutcome, BulkPlace};

/// The reason reported for string fields, which are ignored.
const STRINGS: &str = "string_fields";

/// A reader of the lines of a body.
#[derive(Debug)]
pub(super) struct Lines<B> {
    body: B,
    /// The byte offset at which the next line starts, and the number of lines before it.
    position: (usize, usize),
    times: Times,
}

impl<B: AsRef<[u8]>> Lines<B> {
    /// Creates a reader. `now` is the time of lines without a timestamp.
    pub(super) fn new(body: B, precision: Precision, now: TimestampMs) -> Self {
        Self { body, position: (0, 0), times: Times::new(precision, now) }
    }
}

/// The position up to which a body is parsed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Position {
    at: usize,
    lines: usize,
    now_ms: i64,
}

impl<B: AsRef<[u8]>> BodyReader for Lines<B> {
    type Position = Position;

    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        let body = self.body.as_ref();
        if self.position.0 > body.len() {
            return Err(LostPosition);
        }
        let mut scanner = Scanner::new(body, self.position);
        let (mut fields, mut series) = (Vec::new(), Vec::new());
        let mut progress = Progress::Paused;
        while batch.len() < part.points_max {
            let Some((number, line)) = scanner.next(&mut fields) else {
                progress = Progress::Ended;
                break;
            };
            let added = line.and_then(|line| {
                add(batch, &self.times, &line, &fields, &mut series)?;
                Ok(line.strings)
            });
            record(outcome, number, added);
        }
        self.position = scanner.position();
        Ok(progress)
    }

    fn position(&self) -> Position {
        let (at, lines) = self.position;
        Position { at, lines, now_ms: self.times.now().0 }
    }

    fn resume(&mut self, position: Position) {
        self.position = (position.at, position.lines);
        self.times = Times::new(self.times.precision(), TimestampMs(position.now_ms));
    }
}

/// Resolves a whole body to samples, finding or creating their series, and returns the outcome of
/// its lines.
pub fn resolve_lines(
    engine: &Engine,
    body: &[u8],
    precision: Precision,
    now: TimestampMs,
) -> (PointBatch, BulkOutcome) {
    Lines::new(body, precision, now).read_whole(engine)
}

/// Passes the samples of a body to `take`, with metric names and tags, and returns the outcome of
/// its lines.
pub fn read_lines(
    body: &[u8],
    precision: Precision,
    now: TimestampMs,
    mut take: impl FnMut(&Point<'_>),
) -> BulkOutcome {
    let mut outcome = BulkOutcome::default();
    let (mut scanner, times) = (Scanner::new(body, (0, 0)), Times::new(precision, now));
    let mut fields = Vec::new();
    while let Some((number, line)) = scanner.next(&mut fields) {
        let taken = line.and_then(|line| {
            let (time, series) = (times.read(line.time)?, Series::parse(line.series.text)?);
            let metrics = fields.iter().map(|field| series.metric(field.key.text));
            let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
            series.with_tags(|tags| {
                for (name, field) in metrics.iter().zip(&fields) {
                    let value = Measured::Number(field.value + 0.0);
                    take(&Point { name, kind: MetricType::Gauge, value, time, tags });
                }
                Ok(line.strings)
            })
        });
        record(&mut outcome, number, taken);
    }
    outcome
}

#[inline]
fn record(outcome: &mut BulkOutcome, number: usize, taken: Result<u32, LineError>) {
    match taken {
        Ok(0) => outcome.accept(),
        Ok(strings) => {
            outcome.accept();
            outcome.skip(STRINGS, u64::from(strings));
        }
        Err(error) => outcome.reject(BulkPlace::line(number), error),
    }
}

#[inline]
fn add<'b>(
    batch: &mut BatchBuilder<'_>,
    times: &Times,
    line: &Line<'b>,
    fields: &[Field<'b>],
    series: &mut Vec<SeriesId>,
) -> Result<(), LineError> {
    let time = times.read(line.time)?;
    let key_hash = line.series.hash;
    series.clear();
    for field in fields {
        match batch.known(key_hash.with_part(field.key.hash)) {
            Some((known, _)) => series.push(known),
            None => break,
        }
    }
    if series.len() < fields.len() || fields.is_empty() {
        resolve_unknown(batch, line, fields, series)?;
    }
    for (field, series) in fields.iter().zip(series) {
        batch.number(MetricType::Gauge, *series, time, field.value);
    }
    Ok(())
}

/// Parses and validates the measurement, tags and field keys, and finds or creates the series that
/// are not known by their key hash.
#[cold]
fn resolve_unknown<'b>(
    batch: &mut BatchBuilder<'_>,
    line: &Line<'b>,
    fields: &[Field<'b>],
    found: &mut Vec<SeriesId>,
) -> Result<(), LineError> {
    let series = Series::parse(line.series.text)?;
    let metrics = fields.iter().map(|field| series.metric(field.key.text));
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
    series.with_tags(|tags| {
        for (field, metric) in fields.iter().zip(&metrics).skip(found.len()) {
            let key_hash = line.series.hash.with_part(field.key.hash);
            found.push(batch.series_of_hash(key_hash, metric, MetricType::Gauge, tags)?);
        }
        Ok(())
    })
}
