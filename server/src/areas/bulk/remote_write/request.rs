//! Converts requests to samples. A request whose outer message is malformed is rejected as a whole;
//! otherwise each series, and each of its values, is accepted or rejected by itself.
//!
//! A known series costs one hash of its encoded labels. If it has one sample, not even the fields
//! of its message are walked. Only for an unknown series are the labels parsed and validated and a
//! type determined. A series without a storable value is never created.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use telltale_engine::{
    BatchBuilder, Engine, MetricType, PointBatch, Refusal, SeriesId, SeriesKeyHash, StartTime,
    Tags, TimestampMs,
};

use super::Version;
use super::error::WriteError;
use super::families::Families;
use super::histogram;
use super::kind::{ValueForm, kind_of, record_metadata};
use super::sample::{Sample, Times, start_time};
use super::series::{Item, Series};
use super::symbols::Symbols;
use crate::areas::bulk::intake::{BodyReader, LostPosition, PartSize, Progress};
use crate::areas::bulk::protobuf::{Fields, Malformed};
use crate::http::{BulkOutcome, BulkPlace};

/// A reader of a request.
#[derive(Debug)]
pub(super) struct WriteRequest<B> {
    body: B,
    version: Version,
    now: TimestampMs,
    families: Families,
    symbols: Symbols,
    /// `None` until the body has been scanned.
    cursor: Option<Cursor>,
    /// The position of another reader to resume from, until the body has been scanned.
    resume_from: Option<Position>,
    written: WrittenCounts,
    refused: Option<WriteError>,
}

/// The numbers of stored values, as reported in the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenCounts {
    /// Samples, including staleness markers, which store nothing.
    pub samples: u64,
    /// Native histograms, including their staleness markers.
    pub histograms: u64,
}

/// The position in a body.
#[derive(Debug, Default)]
struct Cursor {
    /// The byte offset after the last series found.
    at: usize,
    /// The number of series found.
    series: usize,
    /// The last series found, if not all of its values are read.
    open: Option<OpenSeries>,
}

/// The position up to which a body is parsed, as stored in receipts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Position {
    at: usize,
    series: usize,
    /// For a series not all of whose values are read: the byte offsets of its message and of its
    /// next field.
    open: Option<(usize, usize)>,
    resolved_bytes: usize,
    written: WrittenCounts,
    now_ms: i64,
}

/// A series whose values are being read.
#[derive(Clone, Debug)]
struct OpenSeries {
    /// The byte offset of its message.
    message: usize,
    /// The series and its type; `None` if none of its values can be stored.
    found: Option<(SeriesId, MetricType)>,
    form: ValueForm,
    start_ms: i64,
    /// The byte range of its fields not yet read.
    values: Range<usize>,
}

impl<B: AsRef<[u8]>> WriteRequest<B> {
    pub(super) fn new(body: B, version: Version, now: TimestampMs, families: Families) -> Self {
        Self {
            body,
            version,
            now,
            families,
            symbols: Symbols::default(),
            cursor: None,
            resume_from: None,
            written: WrittenCounts::default(),
            refused: None,
        }
    }

    /// Returns what was stored after the whole body is read, or the error for which the whole body
    /// is rejected.
    pub(super) fn end(self) -> Result<WrittenCounts, WriteError> {
        self.refused.map_or(Ok(self.written), Err)
    }

    /// Reads until the batch has reached the size of the part, or the body ends.
    pub(super) fn read(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        let scanned = self.cursor.take();
        if scanned.is_none()
            && let Err(refused) = self.scan()
        {
            self.refused = Some(refused);
            return Ok(Progress::Ended);
        }
        let mut cursor = scanned.unwrap_or_default();
        let mut reader = PartReader {
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
        if let Some(position) = self.resume_from.take() {
            reader.resume(&mut cursor, &position)?;
        } else if let Some(open) = cursor.open.take() {
            // A series without samples may have been retired since the previous part was written.
            let resolved_bytes = reader.symbols.resolved_bytes();
            reader.reopen(&mut cursor, (open.message, open.values.start), resolved_bytes)?;
        }
        let progress = reader.read_part(&mut cursor)?;
        self.cursor = Some(cursor);
        Ok(progress)
    }

    /// Scans the body: checks that it is a valid message, and collects symbols and metadata, which
    /// may occur anywhere in it.
    fn scan(&mut self) -> Result<(), WriteError> {
        let body = self.body.as_ref();
        let mut fields = Fields::of(body);
        while let Some(field) = fields.next() {
            match (self.version, field?) {
                (version, (number, series)) if number == version.series_field() => {
                    series.bytes()?;
                }
                (Version::V1, (3, metadata)) => record_metadata(&self.families, metadata.bytes()?)?,
                (Version::V2, (4, symbol)) => {
                    self.symbols.push(body.len() - fields.rest().len(), symbol.bytes()?.len())?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<B: AsRef<[u8]>> BodyReader for WriteRequest<B> {
    type Position = Position;

    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        self.read(batch, part, outcome)
    }

    fn position(&self) -> Position {
        let cursor = self.cursor.as_ref();
        let open = cursor.and_then(|cursor| cursor.open.as_ref());
        Position {
            at: cursor.map_or(0, |cursor| cursor.at),
            series: cursor.map_or(0, |cursor| cursor.series),
            open: open.map(|open| (open.message, open.values.start)),
            resolved_bytes: self.symbols.resolved_bytes(),
            written: self.written,
            now_ms: self.now.0,
        }
    }

    fn resume(&mut self, position: Position) {
        self.now = TimestampMs(position.now_ms);
        self.resume_from = Some(position);
    }
}

/// Reads one part of a body.
struct PartReader<'r, 'e> {
    body: &'r [u8],
    version: Version,
    times: Times,
    /// The hash of the protocol name, the prefix of all series-key hashes.
    protocol: SeriesKeyHash,
    families: &'r Families,
    symbols: &'r mut Symbols,
    written: &'r mut WrittenCounts,
    batch: &'r mut BatchBuilder<'e>,
    part: PartSize,
    outcome: &'r mut BulkOutcome,
}

impl<'r> PartReader<'r, '_> {
    /// Resumes at the position of another reader and looks up the series it was in.
    fn resume(&mut self, cursor: &mut Cursor, position: &Position) -> Result<(), LostPosition> {
        let Position { at, series, open, resolved_bytes, written, .. } = *position;
        *self.written = written;
        *cursor = Cursor { at, series, open: None };
        match open {
            Some(open) => self.reopen(cursor, open, resolved_bytes),
            None => {
                self.symbols.resume(resolved_bytes);
                Ok(())
            }
        }
    }

    /// Looks up again the series in which a part ended. `message` is the byte offset of its
    /// message, `next` that of its next unread field.
    fn reopen(
        &mut self,
        cursor: &mut Cursor,
        (message, next): (usize, usize),
        resolved: usize,
    ) -> Result<(), LostPosition> {
        let bytes = self.body.get(message..cursor.at).ok_or(LostPosition)?;
        cursor.open = self.open_series(bytes, cursor, Some(next))?;
        self.symbols.resume(resolved);
        Ok(())
    }

    fn read_part(&mut self, cursor: &mut Cursor) -> Result<Progress, LostPosition> {
        let mut fields = Fields::of(self.body.get(cursor.at..).ok_or(LostPosition)?);
        loop {
            if let Some(mut open) = cursor.open.take()
                && !self.read_values(&mut open, cursor)?
            {
                cursor.open = Some(open);
                return Ok(Progress::Paused);
            }
            if self.is_full() {
                return Ok(Progress::Paused);
            }
            let Some(field) = fields.next() else { return Ok(Progress::Ended) };
            let (number, value) = field?;
            cursor.at = self.body.len() - fields.rest().len();
            if number == self.version.series_field() {
                cursor.series += 1;
                let message = value.bytes()?;
                if !self.add_known(message) {
                    cursor.open = self.open_series(message, cursor, None)?;
                }
            }
        }
    }

    /// Adds a series of version 1 with one sample after its labels, as agents send it, if the
    /// series is known. Its labels are not walked: bytes with the hash of a known series are
    /// exactly the labels that were parsed when the hash was registered, and what follows them is
    /// one sample.
    #[inline]
    fn add_known(&mut self, message: &[u8]) -> bool {
        if self.version != Version::V1 {
            return false;
        }
        let Some((labels, sample)) = Sample::split_last(message) else { return false };
        let Ok(Some((time, value))) = sample.check(self.times) else { return false };
        match self.batch.known(self.protocol.with(labels)) {
            Some((series, MetricType::Gauge)) => {
                self.batch.number(MetricType::Gauge, series, time, value);
            }
            Some((series, MetricType::Counter)) => {
                self.batch.reading(series, time, value, StartTime::Unknown);
            }
            _ => return false,
        }
        self.written.samples += 1;
        self.outcome.accept();
        true
    }

    /// Looks up the series of a message that ends at the cursor. `next` is the byte offset of the
    /// first unread field, if the fields before it are already read. Returns no series if it has
    /// nothing left to read.
    fn open_series(
        &mut self,
        message: &'r [u8],
        cursor: &Cursor,
        next: Option<usize>,
    ) -> Result<Option<OpenSeries>, LostPosition> {
        let series = match Series::of(self.version, message) {
            Ok(series) => series,
            // A malformed series has no values, so no part ends in one.
            Err(_) if next.is_some() => return Err(LostPosition),
            Err(malformed) => {
                self.reject(cursor, 1, malformed);
                return Ok(None);
            }
        };
        let form = if series.samples > 0 { ValueForm::Samples } else { ValueForm::Histograms };
        let start = next.unwrap_or(cursor.at - series.values.len());
        let items = match next {
            None => series.samples + series.histograms,
            Some(next) => self.items(self.body.get(next..cursor.at).ok_or(LostPosition)?),
        };
        if items == 0 {
            return Ok(None);
        }
        match self.find(&series, form) {
            Ok(found) => Ok(Some(OpenSeries {
                message: cursor.at - message.len(),
                found,
                form,
                start_ms: series.start_ms,
                values: start..cursor.at,
            })),
            Err(error) => {
                self.reject(cursor, items, error);
                Ok(None)
            }
        }
    }

    #[inline]
    fn find(
        &mut self,
        series: &Series<'r>,
        form: ValueForm,
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
            _ => self.resolve_unknown(series, form, key_hash),
        }
    }

    /// Parses and validates the labels, and finds or creates the series.
    #[cold]
    fn resolve_unknown(
        &mut self,
        series: &Series<'r>,
        form: ValueForm,
        key_hash: Option<SeriesKeyHash>,
    ) -> Result<Option<(SeriesId, MetricType)>, WriteError> {
        if !self.has_storable(series) {
            return Ok(None);
        }
        let labels = series.labels(self.version, self.body, self.symbols)?;
        let (name, tags) = (labels.name, labels.tags.as_slice());
        let kind = match (form, self.batch.kind_of(name)) {
            (ValueForm::Histograms, _) => MetricType::Distribution,
            (ValueForm::Samples, Some(kind)) if form.of(kind) => kind,
            (ValueForm::Samples, _) => kind_of(name, series.kind, self.families),
        };
        // The engine checks too, but under a lock that all writers share.
        Tags::check(tags).map_err(Refusal::from)?;
        let found = match key_hash {
            Some(key_hash) => self.batch.series_of_hash(key_hash, name, kind, tags)?,
            None => self.batch.series(name, kind, tags)?,
        };
        Ok(Some((found, kind)))
    }

    /// Returns the number of values in these fields of a valid series.
    fn items(&self, fields: &[u8]) -> usize {
        let items = Fields::of(fields).flatten();
        let items = items.map(|(number, value)| Item::of(self.version, number, value));
        items.filter(|item| matches!(item, Ok(Some(_)))).count()
    }

    /// Returns whether a valid series has a value that can be stored.
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

    /// Reads the values of a series until the batch is full. Returns whether all of them are read.
    #[inline]
    fn read_values(
        &mut self,
        open: &mut OpenSeries,
        cursor: &Cursor,
    ) -> Result<bool, LostPosition> {
        let mut fields = Fields::of(self.body.get(open.values.clone()).ok_or(LostPosition)?);
        while !self.is_full() {
            let Some(field) = fields.next() else { return Ok(true) };
            let item = field.and_then(|(number, value)| Item::of(self.version, number, value));
            let taken = match (item, open.form) {
                (Ok(None), _) => continue,
                (Ok(Some(Item::Sample(sample))), ValueForm::Samples) => {
                    self.add_sample(open, sample)
                }
                (Ok(Some(Item::Histogram(message))), ValueForm::Histograms) => {
                    self.add_histogram(open, message)
                }
                (Ok(Some(_)), _) => Err(WriteError::Mixed),
                (Err(malformed), _) => Err(malformed.into()),
            };
            match taken {
                Ok(()) => self.outcome.accept(),
                Err(error) => self.reject(cursor, 1, error),
            }
        }
        open.values.start = open.values.end - fields.rest().len();
        Ok(false)
    }

    #[inline]
    fn add_sample(&mut self, open: &OpenSeries, message: &[u8]) -> Result<(), WriteError> {
        let sample = Sample::read(message)?;
        if let (Some((time, value)), Some((series, kind))) = (sample.check(self.times)?, open.found)
        {
            if kind == MetricType::Counter {
                let start_ms = if sample.start_ms == 0 { open.start_ms } else { sample.start_ms };
                self.batch.reading(series, time, value, start_time(start_ms, time));
            } else {
                self.batch.number(kind, series, time, value);
            }
        }
        self.written.samples += 1;
        Ok(())
    }

    fn add_histogram(&mut self, open: &OpenSeries, message: &[u8]) -> Result<(), WriteError> {
        if let (Some(measured), Some((series, _))) =
            (histogram::read(message, open.start_ms, self.times)?, open.found)
        {
            let (time, histogram) = (measured.time, measured.histogram);
            match measured.start_time {
                Some(start_time) => {
                    self.batch.cumulative_histogram(series, time, histogram, start_time)
                }
                None => self.batch.histogram(series, time, &histogram),
            }
        }
        self.written.histograms += 1;
        Ok(())
    }

    /// Returns whether the part is full. It is checked before the next value is parsed, so the last
    /// histogram of a part may exceed the bucket limit.
    #[inline]
    fn is_full(&self) -> bool {
        self.part.is_full(self.batch, 1)
    }

    #[cold]
    fn reject(&mut self, cursor: &Cursor, items: usize, error: impl Into<WriteError>) {
        let place = BulkPlace::index(cursor.series.saturating_sub(1));
        self.outcome.reject_all(items, place, error.into());
    }
}

/// Resolves a whole body to samples, finding or creating their series, and returns the outcome of
/// its values.
pub fn resolve_write(
    engine: &Engine,
    families: &Families,
    version: Version,
    body: &[u8],
    now: TimestampMs,
) -> Result<(PointBatch, BulkOutcome, WrittenCounts), WriteError> {
    let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
    let mut request = WriteRequest::new(body, version, now, families.clone());
    request.read(&mut batch, PartSize::WHOLE, &mut outcome).map_err(|_lost| Malformed)?;
    Ok((batch.finish(), outcome, request.end()?))
}
