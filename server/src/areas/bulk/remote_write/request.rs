//! From requests to points. What is damaged on the outside is refused whole; else each series is taken by itself, and each of
//! its values.
//!
//! A series that is known costs a hash of its labels as they were sent. Only one that is not is read and checked,
//! and gets a type. A series without a value that can be stored is never made.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use telltale_engine::{
    BatchBuilder, Engine, MetricType, PointBatch, Refusal, SeriesId, SeriesKeyHash, Tags,
    TimestampMs,
};

use super::Version;
use super::error::WriteError;
use super::families::Families;
use super::histogram;
use super::kind::{family_kind, kind_of};
use super::sample::{Sample, Times, begins};
use super::series::{Item, Series};
use super::symbols::Symbols;
use crate::areas::bulk::intake::{PartSize, Progress, Reading};
use crate::areas::bulk::protobuf::Fields;
use crate::http::{BulkOutcome, BulkPlace};

/// A request on its way to be read.
#[derive(Debug)]
pub(super) struct WriteRequest<B> {
    body: B,
    version: Version,
    now: TimestampMs,
    families: Families,
    symbols: Symbols,
    /// None before the body was looked over.
    place: Option<Place>,
    /// Where another reading of the body was, until the body is looked over.
    goes_on: Option<Reached>,
    written: Written,
    refused: Option<WriteError>,
}

/// How much was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Samples; and markers of ends, which have nothing that could be stored.
    pub samples: u64,
    /// Native histograms, and their markers.
    pub histograms: u64,
}

/// How far a body is read.
#[derive(Debug, Default)]
struct Place {
    /// The first byte behind the series that was met last.
    at: usize,
    /// Series that were met.
    series: usize,
    /// The last of them, when not all of its values are read.
    open: Option<Open>,
}

/// How far a body is read, as a receipt has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reached {
    at: usize,
    series: usize,
    /// Of a series not all of whose values are read: where its message begins, and where its next field.
    open: Option<(usize, usize)>,
    resolved_bytes: usize,
    written: Written,
    now_ms: i64,
}

/// A series whose values are being read.
#[derive(Clone, Debug)]
struct Open {
    /// Where its message begins in the body.
    message: usize,
    /// The series, and its type; none when no value of it can be stored.
    found: Option<(SeriesId, MetricType)>,
    form: Form,
    start_ms: i64,
    /// Its fields that are not read yet, in the body.
    values: Range<usize>,
}

/// What the values of a series are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Samples,
    Histograms,
}

impl<B: AsRef<[u8]>> WriteRequest<B> {
    pub(super) fn new(body: B, version: Version, now: TimestampMs, families: Families) -> Self {
        Self {
            body,
            version,
            now,
            families,
            symbols: Symbols::default(),
            place: None,
            goes_on: None,
            written: Written::default(),
            refused: None,
        }
    }

    /// What was stored, once all is read; or why the body is refused whole.
    pub(super) fn end(self) -> Result<Written, WriteError> {
        self.refused.map_or(Ok(self.written), Err)
    }

    /// Reads on until the batch is as large as the part, or the body ends.
    pub(super) fn read(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        let looked_over = self.place.take();
        if looked_over.is_none()
            && let Err(refused) = self.look_over()
        {
            self.refused = Some(refused);
            return Progress::Ended;
        }
        let mut place = looked_over.unwrap_or_default();
        let mut reader = Reader {
            body: self.body.as_ref(),
            version: self.version,
            times: Times::new(self.now),
            protocol: SeriesKeyHash::of(self.version.name().as_bytes()),
            families: &self.families,
            symbols: &mut self.symbols,
            written: &mut self.written,
            batch,
            part,
            outcome,
        };
        if let Some(reached) = self.goes_on.take() {
            reader.go_on(&mut place, &reached);
        } else if let Some(open) = place.open.take() {
            // Without data it may have retired since the part before was written.
            let resolved_bytes = reader.symbols.resolved_bytes();
            reader.reopen(&mut place, (open.message, open.values.start), resolved_bytes);
        }
        let progress = reader.read_on(&mut place);
        self.place = Some(place);
        progress
    }

    /// Looks the body over: whether it is a message, and what in it is not series, which may stand anywhere.
    fn look_over(&mut self) -> Result<(), WriteError> {
        let body = self.body.as_ref();
        let mut fields = Fields::of(body);
        while let Some(field) = fields.next() {
            match (self.version, field?) {
                (version, (number, series)) if number == version.series_field() => {
                    series.bytes()?;
                }
                (Version::V1, (3, metadata)) => note(&self.families, metadata.bytes()?)?,
                (Version::V2, (4, symbol)) => {
                    self.symbols.push(body.len() - fields.rest().len(), symbol.bytes()?.len())?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Notes what a message of version 1 says of a family.
fn note(families: &Families, metadata: &[u8]) -> Result<(), WriteError> {
    let (mut kind, mut name): (_, &[u8]) = (None, &[]);
    for field in Fields::of(metadata) {
        match field? {
            (1, number) => kind = family_kind(number.varint()?),
            (2, text) => name = text.bytes()?,
            _ => {}
        }
    }
    if let (Some(kind), Ok(name)) = (kind, std::str::from_utf8(name)) {
        families.note(name, kind);
    }
    Ok(())
}

impl<B: AsRef<[u8]>> Reading for WriteRequest<B> {
    type Reached = Reached;

    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        self.read(batch, part, outcome)
    }

    fn reached(&self) -> Reached {
        let place = self.place.as_ref();
        let open = place.and_then(|place| place.open.as_ref());
        Reached {
            at: place.map_or(0, |place| place.at),
            series: place.map_or(0, |place| place.series),
            open: open.map(|open| (open.message, open.values.start)),
            resolved_bytes: self.symbols.resolved_bytes(),
            written: self.written,
            now_ms: self.now.0,
        }
    }

    fn go_on(&mut self, reached: Reached) {
        self.now = TimestampMs(reached.now_ms);
        self.goes_on = Some(reached);
    }
}

/// Reads one part of a body.
struct Reader<'r, 'e> {
    body: &'r [u8],
    version: Version,
    times: Times,
    /// What every series-key hash of the protocol begins with.
    protocol: SeriesKeyHash,
    families: &'r Families,
    symbols: &'r mut Symbols,
    written: &'r mut Written,
    batch: &'r mut BatchBuilder<'e>,
    part: PartSize,
    outcome: &'r mut BulkOutcome,
}

impl<'r> Reader<'r, '_> {
    /// Goes on where another reading was; the series that it was in is found anew.
    fn go_on(&mut self, place: &mut Place, reached: &Reached) {
        let Reached { at, series, open, resolved_bytes, written, .. } = *reached;
        *self.written = written;
        *place = Place { at, series, open: None };
        match open {
            Some(open) => self.reopen(place, open, resolved_bytes),
            None => self.symbols.go_on(resolved_bytes),
        }
    }

    /// Finds the series anew that a part ended in, whose message begins at `message`, to read its values from `next` on.
    fn reopen(&mut self, place: &mut Place, (message, next): (usize, usize), resolved: usize) {
        if let Some(bytes) = self.body.get(message..place.at) {
            place.open = self.open(bytes, place, Some(next));
        }
        self.symbols.go_on(resolved);
    }

    fn read_on(&mut self, place: &mut Place) -> Progress {
        let mut fields = Fields::of(self.body.get(place.at..).unwrap_or_default());
        loop {
            if let Some(mut open) = place.open.take()
                && !self.read_values(&mut open, place)
            {
                place.open = Some(open);
                return Progress::Paused;
            }
            if self.is_full() {
                return Progress::Paused;
            }
            // The body was looked over: it ends where its fields do.
            let Some(Ok((number, value))) = fields.next() else { return Progress::Ended };
            place.at = self.body.len() - fields.rest().len();
            if let (true, Ok(message)) = (number == self.version.series_field(), value.bytes()) {
                place.series += 1;
                place.open = self.open(message, place, None);
            }
        }
    }

    /// Finds the series of a message, which ends where the reader stands, to read its values, from byte `next` of the body on when
    /// those before are read. None when there is nothing to read in it.
    fn open(&mut self, message: &'r [u8], place: &Place, next: Option<usize>) -> Option<Open> {
        let series = match Series::of(self.version, message) {
            Ok(series) => series,
            Err(damaged) => {
                self.reject(place, 1, damaged);
                return None;
            }
        };
        let form = if series.samples > 0 { Form::Samples } else { Form::Histograms };
        let start = next.unwrap_or(place.at - series.values.len());
        let items = match next {
            None => series.samples + series.histograms,
            Some(next) => self.items(self.body.get(next..place.at).unwrap_or_default()),
        };
        if items == 0 {
            return None;
        }
        match self.find(&series, form) {
            Ok(found) => Some(Open {
                message: place.at - message.len(),
                found,
                form,
                start_ms: series.start_ms,
                values: start..place.at,
            }),
            Err(error) => {
                self.reject(place, items, error);
                None
            }
        }
    }

    #[inline]
    fn find(
        &mut self,
        series: &Series<'r>,
        form: Form,
    ) -> Result<Option<(SeriesId, MetricType)>, WriteError> {
        let key_hash = match (series.labels, self.version) {
            (None, _) => None,
            (Some(labels), Version::V1) => Some(self.protocol.with(labels)),
            (Some(refs), Version::V2) => {
                Some(self.protocol.with(self.symbols.encode(self.body, refs)?))
            }
        };
        let known = key_hash.and_then(|key_hash| self.batch.known(key_hash));
        match known {
            Some((_, kind)) if form.of(kind) => Ok(known),
            _ => self.learn(series, form, key_hash),
        }
    }

    /// Reads labels, checks them, and finds or makes the series.
    #[cold]
    fn learn(
        &mut self,
        series: &Series<'r>,
        form: Form,
        key_hash: Option<SeriesKeyHash>,
    ) -> Result<Option<(SeriesId, MetricType)>, WriteError> {
        if !self.has_storable(series) {
            return Ok(None);
        }
        let labels = series.labels(self.version, self.body, self.symbols)?;
        let (name, tags) = (labels.name, labels.tags.as_slice());
        let kind = match (form, self.batch.kind_of(name)) {
            (Form::Histograms, _) => MetricType::Distribution,
            (Form::Samples, Some(kind)) if form.of(kind) => kind,
            (Form::Samples, _) => kind_of(name, series.kind, self.families),
        };
        // The engine looks too, but under a lock that all writers share.
        Tags::check(tags).map_err(Refusal::from)?;
        let found = match key_hash {
            Some(key_hash) => self.batch.series_of_hash(key_hash, name, kind, tags)?,
            None => self.batch.series(name, kind, tags)?,
        };
        Ok(Some((found, kind)))
    }

    /// How many values there are among these fields of a series.
    fn items(&self, fields: &[u8]) -> usize {
        let items = Fields::of(fields).flatten();
        let items = items.map(|(number, value)| Item::of(self.version, number, value));
        items.filter(|item| matches!(item, Ok(Some(_)))).count()
    }

    fn has_storable(&self, series: &Series<'_>) -> bool {
        let items = Fields::of(series.values).flatten();
        let items =
            items.filter_map(|(number, value)| Item::of(self.version, number, value).ok()?);
        items.into_iter().any(|item| match item {
            Item::Sample(message) => {
                let sample = Sample::read(message).map_err(WriteError::from);
                matches!(sample.and_then(|sample| sample.check(self.times)), Ok(Some(_)))
            }
            Item::Histogram(message) => {
                matches!(histogram::read(message, 0, self.times), Ok(Some(_)))
            }
        })
    }

    /// Reads the values of a series until the batch is full. Answers whether it came to their end.
    #[inline]
    fn read_values(&mut self, open: &mut Open, place: &Place) -> bool {
        let mut fields = Fields::of(self.body.get(open.values.clone()).unwrap_or_default());
        while !self.is_full() {
            let Some(field) = fields.next() else { return true };
            let item = field.and_then(|(number, value)| Item::of(self.version, number, value));
            let taken = match (item, open.form) {
                (Ok(None), _) => continue,
                (Ok(Some(Item::Sample(sample))), Form::Samples) => self.add_sample(open, sample),
                (Ok(Some(Item::Histogram(message))), Form::Histograms) => {
                    self.add_histogram(open, message)
                }
                (Ok(Some(_)), _) => Err(WriteError::Mixed),
                (Err(damaged), _) => Err(damaged.into()),
            };
            match taken {
                Ok(()) => self.outcome.accept(),
                Err(error) => self.reject(place, 1, error),
            }
        }
        open.values.start = open.values.end - fields.rest().len();
        false
    }

    #[inline]
    fn add_sample(&mut self, open: &Open, message: &[u8]) -> Result<(), WriteError> {
        let sample = Sample::read(message)?;
        if let (Some((time, value)), Some((series, kind))) = (sample.check(self.times)?, open.found)
        {
            if kind == MetricType::Counter {
                let start_ms = if sample.start_ms == 0 { open.start_ms } else { sample.start_ms };
                self.batch.reading(series, time, value, begins(start_ms, time));
            } else {
                self.batch.number(kind, series, time, value);
            }
        }
        self.written.samples += 1;
        Ok(())
    }

    fn add_histogram(&mut self, open: &Open, message: &[u8]) -> Result<(), WriteError> {
        if let (Some(measured), Some((series, _))) =
            (histogram::read(message, open.start_ms, self.times)?, open.found)
        {
            let (time, histogram) = (measured.time, measured.histogram);
            match measured.begins {
                Some(begins) => self.batch.histogram_reading(series, time, histogram, begins),
                None => self.batch.histogram(series, time, &histogram),
            }
        }
        self.written.histograms += 1;
        Ok(())
    }

    /// Whether the next value is of another part. Before it is read: the last histogram of a part may have buckets beyond the limit.
    #[inline]
    fn is_full(&self) -> bool {
        self.part.is_full(self.batch, 1)
    }

    #[cold]
    fn reject(&mut self, place: &Place, items: usize, error: impl Into<WriteError>) {
        let place = BulkPlace::index(place.series.saturating_sub(1));
        self.outcome.reject_all(items, place, error.into());
    }
}

impl Form {
    /// Whether metrics of this type have such values.
    #[inline]
    fn of(self, kind: MetricType) -> bool {
        match self {
            Self::Samples => matches!(kind, MetricType::Counter | MetricType::Gauge),
            Self::Histograms => kind == MetricType::Distribution,
        }
    }
}

/// The points of a body, and what became of its values. The series of the points are found, or made.
pub fn resolve_write(
    engine: &Engine,
    families: &Families,
    version: Version,
    body: &[u8],
    now: TimestampMs,
) -> Result<(PointBatch, BulkOutcome, Written), WriteError> {
    let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
    let mut request = WriteRequest::new(body, version, now, families.clone());
    request.read(&mut batch, PartSize::WHOLE, &mut outcome);
    Ok((batch.finish(), outcome, request.end()?))
}
