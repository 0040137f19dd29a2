//! From lines to points. A line is taken whole or not at all.

use serde::{Deserialize, Serialize};
use telltale_engine::{
    BatchBuilder, Engine, MetricType, PointBatch, SeriesId, SeriesKeyHash, TimestampMs,
};

use super::error::LineError;
use super::line::{Field, Line, Scanner};
use super::series::Series;
use super::timestamp::{Precision, Times};
use crate::areas::bulk::intake::{PartSize, Progress, Reading};
use crate::areas::metrics::{Measured, Point};
use crate::http::{BulkOutcome, BulkPlace};

/// The reason for which fields that are text are passed over.
const STRINGS: &str = "string_fields";

/// The lines of a body that are not read yet.
#[derive(Debug)]
pub(super) struct Lines<B> {
    body: B,
    /// Byte and line where the next one begins.
    place: (usize, usize),
    times: Times,
}

impl<B: AsRef<[u8]>> Lines<B> {
    /// `now` is the time of lines that have none.
    pub(super) fn new(body: B, precision: Precision, now: TimestampMs) -> Self {
        Self { body, place: (0, 0), times: Times::new(precision, now) }
    }
}

/// How far a body is read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reached {
    at: usize,
    lines: usize,
    now_ms: i64,
}

impl<B: AsRef<[u8]>> Reading for Lines<B> {
    type Reached = Reached;

    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        let mut scanner = Scanner::new(self.body.as_ref(), self.place);
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
            tell(outcome, number, added);
        }
        self.place = scanner.place();
        progress
    }

    fn reached(&self) -> Reached {
        let (at, lines) = self.place;
        Reached { at, lines, now_ms: self.times.now().0 }
    }

    fn go_on(&mut self, reached: Reached) {
        self.place = (reached.at, reached.lines);
        self.times = Times::new(self.times.precision(), TimestampMs(reached.now_ms));
    }
}

/// The points of a body, and what became of its lines. The series of the points are found, or made.
pub fn resolve_lines(
    engine: &Engine,
    body: &[u8],
    precision: Precision,
    now: TimestampMs,
) -> (PointBatch, BulkOutcome) {
    Lines::new(body, precision, now).read_whole(engine)
}

/// Hands the points of a body to `take`, as names and tags. Answers what became of the lines.
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
            let (time, series) = (times.read(line.time)?, Series::parse(line.series)?);
            let metrics = fields.iter().map(|field| series.metric(field.key));
            let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
            series.with_tags(|tags| {
                for (name, field) in metrics.iter().zip(&fields) {
                    let value = Measured::Number(field.value + 0.0);
                    take(&Point { name, kind: MetricType::Gauge, value, time, tags });
                }
                Ok(line.strings)
            })
        });
        tell(&mut outcome, number, taken);
    }
    outcome
}

#[inline]
fn tell(outcome: &mut BulkOutcome, number: usize, taken: Result<u32, LineError>) {
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
    let key_hash = SeriesKeyHash::of(line.series);
    series.clear();
    for field in fields {
        match batch.known(key_hash.with(field.key)) {
            Some((known, _)) => series.push(known),
            None => break,
        }
    }
    if series.len() < fields.len() || fields.is_empty() {
        learn(batch, key_hash, line, fields, series)?;
    }
    for (field, series) in fields.iter().zip(series) {
        batch.number(MetricType::Gauge, *series, time, field.value);
    }
    Ok(())
}

/// Reads measurement, tags and the keys of fields, checks them, and finds or makes the series that are not known.
#[cold]
fn learn<'b>(
    batch: &mut BatchBuilder<'_>,
    key_hash: SeriesKeyHash,
    line: &Line<'b>,
    fields: &[Field<'b>],
    found: &mut Vec<SeriesId>,
) -> Result<(), LineError> {
    let series = Series::parse(line.series)?;
    let metrics = fields.iter().map(|field| series.metric(field.key));
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
    series.with_tags(|tags| {
        for (field, metric) in fields.iter().zip(&metrics).skip(found.len()) {
            let key_hash = key_hash.with(field.key);
            found.push(batch.series_of_hash(key_hash, metric, MetricType::Gauge, tags)?);
        }
        Ok(())
    })
}
