//! A series of a request, parsed only as far as reading its values requires: which bytes are its
//! labels, and which follow them.

use super::Version;
use super::error::WriteError;
use super::families::FamilyKind;
use super::kind::family_kind;
use super::labels::{Labels, read_label};
use super::symbols::{Refs, Symbols};
use crate::areas::bulk::protobuf::{Fields, Malformed, Value, varint};

/// The tag byte of field 1 with a length: a label in version 1, the references in version 2.
const FIRST_FIELD: u8 = 0x0a;

/// A series, before its labels are parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'b> {
    /// The label fields, or the list of references; `None` if some of them occur after other
    /// fields.
    pub(super) labels: Option<&'b [u8]>,
    /// The fields after them; the whole message if labels occur among those.
    pub(super) values: &'b [u8],
    pub(super) samples: usize,
    pub(super) histograms: usize,
    /// The type of the metric according to the request's metadata.
    pub(super) kind: Option<FamilyKind>,
    /// When the series started, in milliseconds since 1970; 0 if unknown.
    pub(super) start_ms: i64,
}

/// A value of a series.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'b> {
    /// The message of a sample.
    Sample(&'b [u8]),
    /// The message of a histogram.
    Histogram(&'b [u8]),
}

impl<'b> Series<'b> {
    #[inline]
    pub(super) fn of(version: Version, message: &'b [u8]) -> Result<Self, Malformed> {
        let (labels, values) = match version {
            Version::V1 => leading_labels(message)?,
            Version::V2 => leading_refs(message)?,
        };
        let (labels, start_ms) = (Some(labels), 0);
        let mut series = Self { labels, values, samples: 0, histograms: 0, kind: None, start_ms };
        for field in Fields::of(values) {
            let (number, value) = field?;
            match Item::of(version, number, value)? {
                Some(Item::Sample(_)) => series.samples += 1,
                Some(Item::Histogram(_)) => series.histograms += 1,
                None if number == 1 => series.labels = None,
                None => series.read_shared_field(version, number, value)?,
            }
        }
        if series.labels.is_none() {
            series.values = message;
        }
        Ok(series)
    }

    /// Reads a version 2 field that applies to all values of the series.
    fn read_shared_field(
        &mut self,
        version: Version,
        number: u32,
        value: Value<'b>,
    ) -> Result<(), Malformed> {
        match (version, number) {
            (Version::V2, 5) => {
                for field in Fields::of(value.bytes()?) {
                    if let (1, kind) = field? {
                        self.kind = family_kind(kind.varint()?);
                    }
                }
            }
            (Version::V2, 6) => self.start_ms = value.varint()? as i64,
            _ => {}
        }
        Ok(())
    }

    /// Parses the labels, wherever they occur. In version 2 they are resolved through the symbol
    /// table.
    pub(super) fn labels(
        &self,
        version: Version,
        body: &'b [u8],
        symbols: &Symbols,
    ) -> Result<Labels<'b>, WriteError> {
        match (version, self.labels) {
            (Version::V1, labels) => {
                let fields = Fields::of(labels.unwrap_or(self.values));
                Labels::sort(fields.filter_map(|field| match field {
                    Ok((1, label)) => {
                        Some(label.bytes().map_err(WriteError::from).and_then(read_label))
                    }
                    Ok(_) => None,
                    Err(malformed) => Some(Err(malformed.into())),
                }))
            }
            (Version::V2, Some(refs)) => {
                let mut list = Refs::default();
                list.add(Value::Bytes(refs))?;
                Labels::sort(list.labels(symbols, body))
            }
            (Version::V2, None) => {
                let mut list = Refs::default();
                for field in Fields::of(self.values) {
                    if let (1, refs) = field? {
                        list.add(refs)?;
                    }
                }
                Labels::sort(list.labels(symbols, body))
            }
        }
    }
}

impl<'b> Item<'b> {
    /// Returns the value that a field of a series contains; `None` if the field is not a value.
    #[inline]
    pub(super) fn of(
        version: Version,
        number: u32,
        value: Value<'b>,
    ) -> Result<Option<Self>, Malformed> {
        match (version, number) {
            (_, 2) => Ok(Some(Self::Sample(value.bytes()?))),
            (Version::V1, 4) | (Version::V2, 3) => Ok(Some(Self::Histogram(value.bytes()?))),
            _ => Ok(None),
        }
    }
}

/// Splits off the leading label fields.
#[inline]
fn leading_labels(message: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let mut rest = message;
    while let Some((&FIRST_FIELD, mut after)) = rest.split_first() {
        let length = usize::try_from(varint(&mut after)?).map_err(|_| Malformed)?;
        rest = after.get(length..).ok_or(Malformed)?;
    }
    message.split_at_checked(message.len() - rest.len()).ok_or(Malformed)
}

/// Splits off the leading list of references.
#[inline]
fn leading_refs(message: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let Some((&FIRST_FIELD, mut after)) = message.split_first() else {
        return Ok((&[], message));
    };
    let length = usize::try_from(varint(&mut after)?).map_err(|_| Malformed)?;
    after.split_at_checked(length).ok_or(Malformed)
}
