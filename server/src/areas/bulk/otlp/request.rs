//! The messages around data points: how they are nested, and what they say of those inside.
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
use crate::areas::bulk::protobuf::{Damaged, Fields};

/// How a request is written, and its answer too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The wire format of protobuf.
    Protobuf,
    /// Its JSON mapping.
    Json,
}

impl Encoding {
    /// What the content type names.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, OtlpError> {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = value.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
        [Self::Protobuf, Self::Json]
            .into_iter()
            .find(|encoding| media.eq_ignore_ascii_case(encoding.media()))
            .ok_or(OtlpError::MediaType)
    }

    /// The content type.
    pub(super) fn media(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// The request in the wire format, read once to its end.
    pub(super) fn open(self, body: Vec<u8>) -> Result<Vec<u8>, OtlpError> {
        let body = match self {
            Self::Protobuf => body,
            Self::Json => json::to_wire(&body)?,
        };
        check(&body)?;
        Ok(body)
    }
}

/// The metrics of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResourceMetrics<'b> {
    /// The resource.
    pub(super) resource: Fields<'b>,
    /// Bytes of the request behind them.
    pub(super) behind: usize,
    fields: Fields<'b>,
}

/// The metrics of a scope of instrumentation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeMetrics<'b> {
    /// The scope.
    pub(super) scope: Fields<'b>,
    fields: Fields<'b>,
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric<'b> {
    pub(super) name: &'b [u8],
    pub(super) form: Form,
    pub(super) temporality: Temporality,
    /// Whether a sum only grows.
    pub(super) is_monotonic: bool,
    data: Fields<'b>,
}

/// What the data points of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Gauge,
    Sum,
    Histogram,
    Exponential,
    Summary,
}

/// What the data points of a sum or histogram count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temporality {
    Unspecified,
    Delta,
    Cumulative,
}

/// The parts of a request, or of what is left of it behind one of them.
pub(super) fn resources(body: &[u8]) -> impl Iterator<Item = Result<ResourceMetrics<'_>, Damaged>> {
    let mut fields = Fields::of(body);
    std::iter::from_fn(move || {
        let found = fields.find(|field| !matches!(field, Ok((number, _)) if *number != 1))?;
        let bytes = found.and_then(|(_, value)| value.bytes());
        Some(bytes.and_then(|bytes| ResourceMetrics::read(bytes, fields.rest().len())))
    })
}

/// Reads a request to its end.
fn check(body: &[u8]) -> Result<(), Damaged> {
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

/// The messages in the fields of this number.
pub(super) fn each(
    fields: Fields<'_>,
    number: u32,
) -> impl Iterator<Item = Result<&[u8], Damaged>> {
    fields.filter_map(move |field| match field {
        Ok((found, value)) if found == number => Some(value.bytes()),
        Ok(_) => None,
        Err(damaged) => Some(Err(damaged)),
    })
}

impl<'b> ResourceMetrics<'b> {
    fn read(bytes: &'b [u8], behind: usize) -> Result<Self, Damaged> {
        let fields = Fields::of(bytes);
        Ok(Self { resource: last(fields, 1)?, behind, fields })
    }

    pub(super) fn scopes(self) -> impl Iterator<Item = Result<ScopeMetrics<'b>, Damaged>> {
        each(self.fields, 2).map(|bytes| ScopeMetrics::read(bytes?))
    }
}

impl<'b> ScopeMetrics<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let fields = Fields::of(bytes);
        Ok(Self { scope: last(fields, 1)?, fields })
    }

    pub(super) fn metrics(self) -> impl Iterator<Item = Result<Metric<'b>, Damaged>> {
        each(self.fields, 2).map(|bytes| Metric::read(bytes?))
    }
}

impl<'b> Metric<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let (mut name, mut form, mut data) = (&[][..], Form::Gauge, Fields::default());
        for field in Fields::of(bytes) {
            let (number, value) = field?;
            form = match number {
                1 => {
                    name = value.bytes()?;
                    continue;
                }
                5 => Form::Gauge,
                7 => Form::Sum,
                9 => Form::Histogram,
                10 => Form::Exponential,
                11 => Form::Summary,
                _ => continue,
            };
            data = Fields::of(value.bytes()?);
        }
        let (mut temporality, mut is_monotonic) = (Temporality::Unspecified, false);
        for field in data {
            match field? {
                (2, value) if form != Form::Gauge && form != Form::Summary => {
                    temporality = match value.varint()? {
                        1 => Temporality::Delta,
                        2 => Temporality::Cumulative,
                        _ => Temporality::Unspecified,
                    };
                }
                (3, value) if form == Form::Sum => is_monotonic = value.varint()? != 0,
                _ => {}
            }
        }
        Ok(Self { name, form, temporality, is_monotonic, data })
    }

    /// The data points, unread.
    pub(super) fn points(self) -> impl Iterator<Item = Result<&'b [u8], Damaged>> {
        each(self.data, 1)
    }

    /// Reads one of the data points.
    pub(super) fn point(&self, bytes: &'b [u8]) -> Result<Point<'b>, Damaged> {
        Point::read(self.form, bytes)
    }
}

/// The message in the last field of this number; an empty one when there is none.
fn last(fields: Fields<'_>, number: u32) -> Result<Fields<'_>, Damaged> {
    let mut message = Fields::default();
    for bytes in each(fields, number) {
        message = Fields::of(bytes?);
    }
    Ok(message)
}
