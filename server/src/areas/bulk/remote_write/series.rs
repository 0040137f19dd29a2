//! A series of a request, taken apart no further than its values need: which bytes are its labels, and which
//! come behind them.

use super::Version;
use super::error::WriteError;
use super::families::FamilyKind;
use super::kind::family_kind;
use super::labels::{Labels, read_label};
use super::symbols::{Refs, Symbols};
use crate::areas::bulk::protobuf::{Damaged, Fields, Value, varint};

/// The key of the first field, whose type is bytes: a label of version 1, the references of version 2.
const FIRST_FIELD: u8 = 0x0a;

/// A series, as far as it is known before its labels are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'b> {
    /// The fields that are labels, or the list of references, if all of them stand in front.
    pub(super) labels: Option<&'b [u8]>,
    /// What stands behind them; the whole message when labels stand there too.
    pub(super) values: &'b [u8],
    pub(super) samples: usize,
    pub(super) histograms: usize,
    /// What the request says of the series' metric.
    pub(super) kind: Option<FamilyKind>,
    /// When the series began, in milliseconds since 1970; 0 when that is not said.
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
    pub(super) fn of(version: Version, message: &'b [u8]) -> Result<Self, Damaged> {
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
                None => series.tell(version, number, value)?,
            }
        }
        if series.labels.is_none() {
            series.values = message;
        }
        Ok(series)
    }

    /// Takes in what a field of version 2 says of all values.
    fn tell(&mut self, version: Version, number: u32, value: Value<'b>) -> Result<(), Damaged> {
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

    /// Reads the labels, wherever they stand. In version 2 they are what the references name.
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
                    Err(damaged) => Some(Err(damaged.into())),
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
    /// The value that a field of a series is, if it is one.
    #[inline]
    pub(super) fn of(
        version: Version,
        number: u32,
        value: Value<'b>,
    ) -> Result<Option<Self>, Damaged> {
        match (version, number) {
            (_, 2) => Ok(Some(Self::Sample(value.bytes()?))),
            (Version::V1, 4) | (Version::V2, 3) => Ok(Some(Self::Histogram(value.bytes()?))),
            _ => Ok(None),
        }
    }
}

/// The fields in front that are labels, and what stands behind them.
#[inline]
fn leading_labels(message: &[u8]) -> Result<(&[u8], &[u8]), Damaged> {
    let mut rest = message;
    while let Some((&FIRST_FIELD, mut after)) = rest.split_first() {
        let length = usize::try_from(varint(&mut after)?).map_err(|_| Damaged)?;
        rest = after.get(length..).ok_or(Damaged)?;
    }
    message.split_at_checked(message.len() - rest.len()).ok_or(Damaged)
}

/// The list of references in front, and what stands behind it.
#[inline]
fn leading_refs(message: &[u8]) -> Result<(&[u8], &[u8]), Damaged> {
    let Some((&FIRST_FIELD, mut after)) = message.split_first() else {
        return Ok((&[], message));
    };
    let length = usize::try_from(varint(&mut after)?).map_err(|_| Damaged)?;
    after.split_at_checked(length).ok_or(Damaged)
}
