//! The messages that enclose data points.
//!
//! ```text
//! request ─ resource metrics ─┬ resource
//!                             └ scope metrics ─┬ scope
//!                                              └ metric ─┬ name
//!                                                        └ gauge, sum, histogram … ─ data points
//! ```

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::error::OtlpError;
use super::json;
use super::point::Point;
use crate::areas::bulk::protobuf::{Fields, Malformed};

/// The encoding of a request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The wire format of protobuf.
    Protobuf,
    /// The JSON mapping of protobuf.
    Json,
}

impl Encoding {
    /// Returns the encoding that the content type names.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, OtlpError> {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = value.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
        [Self::Protobuf, Self::Json]
            .into_iter()
            .find(|encoding| media.eq_ignore_ascii_case(encoding.media()))
            .ok_or(OtlpError::MediaType)
    }

    /// Returns the content type.
    pub(super) fn media(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// Returns the request in the wire format, after validating it to its end.
    pub(super) fn open(self, body: Vec<u8>) -> Result<Vec<u8>, OtlpError> {
        let body = match self {
            Self::Protobuf => body,
            Self::Json => json::to_wire(&body)?,
        };
        check(&body)?;
        Ok(body)
    }
}

/// A `ResourceMetrics` message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResourceMetrics<'b> {
    /// The encoded resource.
    pub(super) resource: Fields<'b>,
    /// The number of bytes of the request after this message.
    pub(super) bytes_after: usize,
    fields: Fields<'b>,
}

/// A `ScopeMetrics` message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeMetrics<'b> {
    /// The encoded scope.
    pub(super) scope: Fields<'b>,
    fields: Fields<'b>,
}

/// A `Metric` message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric<'b> {
    pub(super) name: &'b [u8],
    pub(super) form: MetricForm,
    pub(super) temporality: Temporality,
    /// Whether a sum never decreases.
    pub(super) is_monotonic: bool,
    data: Fields<'b>,
}

/// The type of a metric's data points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricForm {
    Gauge,
    Sum,
    Histogram,
    Exponential,
    Summary,
}

/// How the data points of a sum or histogram relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temporality {
    Unspecified,
    Delta,
    Cumulative,
}

/// Returns the `ResourceMetrics` of a request, or of the rest of one.
pub(super) fn resources(
    body: &[u8],
) -> impl Iterator<Item = Result<ResourceMetrics<'_>, Malformed>> {
    let mut fields = Fields::of(body);
    std::iter::from_fn(move || {
        let found = fields.find(|field| !matches!(field, Ok((number, _)) if *number != 1))?;
        let bytes = found.and_then(|(_, value)| value.bytes());
        Some(bytes.and_then(|bytes| ResourceMetrics::read(bytes, fields.rest().len())))
    })
}

/// Validates a request to its end.
fn check(body: &[u8]) -> Result<(), Malformed> {
    for resource in resources(body) {
        for scope in resource?.scopes() {
            for metric in scope?.metrics() {
                let metric = metric?;
                for bytes in metric.points() {
                    metric.point(bytes?)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the messages in the fields with this number.
pub(super) fn each(
    fields: Fields<'_>,
    number: u32,
) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    fields.filter_map(move |field| match field {
        Ok((found, value)) if found == number => Some(value.bytes()),
        Ok(_) => None,
        Err(malformed) => Some(Err(malformed)),
    })
}

impl<'b> ResourceMetrics<'b> {
    fn read(bytes: &'b [u8], bytes_after: usize) -> Result<Self, Malformed> {
        let fields = Fields::of(bytes);
        Ok(Self { resource: last(fields, 1)?, bytes_after, fields })
    }

    pub(super) fn scopes(self) -> impl Iterator<Item = Result<ScopeMetrics<'b>, Malformed>> {
        each(self.fields, 2).map(|bytes| ScopeMetrics::read(bytes?))
    }
}

impl<'b> ScopeMetrics<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let fields = Fields::of(bytes);
        Ok(Self { scope: last(fields, 1)?, fields })
    }

    pub(super) fn metrics(self) -> impl Iterator<Item = Result<Metric<'b>, Malformed>> {
        each(self.fields, 2).map(|bytes| Metric::read(bytes?))
    }
}

impl<'b> Metric<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let (mut name, mut form, mut data) = (&[][..], MetricForm::Gauge, Fields::default());
        for field in Fields::of(bytes) {
            let (number, value) = field?;
            form = match number {
                1 => {
                    name = value.bytes()?;
                    continue;
                }
                5 => MetricForm::Gauge,
                7 => MetricForm::Sum,
                9 => MetricForm::Histogram,
                10 => MetricForm::Exponential,
                11 => MetricForm::Summary,
                _ => continue,
            };
            data = Fields::of(value.bytes()?);
        }
        let (mut temporality, mut is_monotonic) = (Temporality::Unspecified, false);
        for field in data {
            match field? {
                (2, value) if form != MetricForm::Gauge && form != MetricForm::Summary => {
                    temporality = match value.varint()? {
                        1 => Temporality::Delta,
                        2 => Temporality::Cumulative,
                        _ => Temporality::Unspecified,
                    };
                }
                (3, value) if form == MetricForm::Sum => is_monotonic = value.varint()? != 0,
                _ => {}
            }
        }
        Ok(Self { name, form, temporality, is_monotonic, data })
    }

    /// Returns the data points, each an encoded message.
    pub(super) fn points(self) -> impl Iterator<Item = Result<&'b [u8], Malformed>> {
        each(self.data, 1)
    }

    /// Parses one of the data points.
    pub(super) fn point(&self, bytes: &'b [u8]) -> Result<Point<'b>, Malformed> {
        Point::read(self.form, bytes)
    }
}

/// Returns the message in the last field with this number; empty if there is none.
fn last(fields: Fields<'_>, number: u32) -> Result<Fields<'_>, Malformed> {
    let mut message = Fields::default();
    for bytes in each(fields, number) {
        message = Fields::of(bytes?);
    }
    Ok(message)
}
