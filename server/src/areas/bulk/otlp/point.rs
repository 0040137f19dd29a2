//! A data point as sent, for all types of metrics.

use telltale_engine::limits::{HISTOGRAM_BUCKETS_MAX, HISTOGRAM_SPAN_MAX};
use telltale_engine::{Buckets, Histogram, InvalidHistogram, Span};

use super::request::{MetricForm, each};
use crate::areas::bulk::protobuf::{Fields, Malformed, Value};

/// The flag of a data point without a recorded value.
const NO_RECORDED_VALUE: u64 = 1;

/// A data point.
#[derive(Clone, Debug)]
pub(super) struct Point<'b> {
    /// Nanoseconds since 1970; 0 if unknown.
    pub(super) start_ns: u64,
    /// Nanoseconds since 1970; 0 if unknown.
    pub(super) time_ns: u64,
    pub(super) measured: PointValue,
    flags: u64,
    fields: Fields<'b>,
    /// The field number of its attributes.
    attributes: u32,
}

/// The value of a data point.
#[derive(Clone, Debug)]
pub(super) enum PointValue {
    Nothing,
    Number(f64),
    Histogram(Result<Box<Histogram>, InvalidHistogram>),
}

impl<'b> Point<'b> {
    /// Parses a data point of a metric of this type.
    pub(super) fn read(form: MetricForm, bytes: &'b [u8]) -> Result<Self, Malformed> {
        let fields = Fields::of(bytes);
        let ((attributes, flags), measured) = match form {
            MetricForm::Gauge | MetricForm::Sum => ((7, 8), number(fields)?),
            MetricForm::Histogram => ((9, 10), explicit(fields)?),
            MetricForm::Exponential => ((1, 10), exponential(fields)?),
            MetricForm::Summary => ((7, 8), PointValue::Nothing),
        };
        let mut point = Self { start_ns: 0, time_ns: 0, measured, flags: 0, fields, attributes };
        for field in fields {
            match field? {
                (2, value) => point.start_ns = fixed(value)?,
                (3, value) => point.time_ns = fixed(value)?,
                (number, value) if number == flags => point.flags = value.varint()?,
                (number, value) if number == attributes => drop(value.bytes()?),
                _ => {}
            }
        }
        Ok(point)
    }

    /// Returns whether the data point is flagged as having no recorded value.
    pub(super) fn has_no_value(&self) -> bool {
        self.flags & NO_RECORDED_VALUE != 0
    }

    /// Returns the attributes, each an encoded message.
    pub(super) fn attributes(&self) -> impl Iterator<Item = Result<&'b [u8], Malformed>> {
        each(self.fields, self.attributes)
    }
}

impl PointValue {
    /// Returns the number of buckets that are held in memory until they are written.
    pub(super) fn buckets(&self) -> usize {
        match self {
            Self::Histogram(Ok(histogram)) => histogram.buckets().buckets_in_memory(),
            _ => 0,
        }
    }
}

fn number(fields: Fields<'_>) -> Result<PointValue, Malformed> {
    let mut measured = PointValue::Nothing;
    for field in fields {
        match field? {
            (4, value) => measured = PointValue::Number(value.double()?),
            (6, value) => measured = PointValue::Number(fixed(value)?.cast_signed() as f64),
            _ => {}
        }
    }
    Ok(measured)
}

fn explicit(fields: Fields<'_>) -> Result<PointValue, Malformed> {
    let (mut count, mut sum, mut min, mut max) = (0, None, None, None);
    let (mut bounds, mut counts) = (Vec::new(), Vec::new());
    for field in fields {
        let (number, value) = field?;
        match number {
            4 => count = fixed(value)?,
            5 => sum = Some(value.double()?),
            6 => each_fixed(value, |n| push(&mut counts, n, HISTOGRAM_BUCKETS_MAX + 2))?,
            7 => value.doubles(|bound| push(&mut bounds, bound, HISTOGRAM_BUCKETS_MAX + 1))?,
            11 => min = Some(value.double()?),
            12 => max = Some(value.double()?),
            _ => {}
        }
    }
    // A histogram without buckets has only a count and a sum.
    if counts.is_empty() && bounds.is_empty() {
        counts.push(count);
    }
    let histogram = Histogram::new(count, sum, min, max, Buckets::Explicit { bounds, counts });
    Ok(PointValue::Histogram(histogram.map(Box::new)))
}

fn exponential(fields: Fields<'_>) -> Result<PointValue, Malformed> {
    let (mut count, mut sum, mut min, mut max) = (0, None, None, None);
    let (mut scale, mut zero_threshold, mut zero) = (0, 0.0, 0);
    let (mut positive, mut negative) = (Span::default(), Span::default());
    for field in fields {
        let (number, value) = field?;
        match number {
            4 => count = fixed(value)?,
            5 => sum = Some(value.double()?),
            6 => scale = small(value)?,
            7 => zero = fixed(value)?,
            8 => positive = span(value.bytes()?)?,
            9 => negative = span(value.bytes()?)?,
            12 => min = Some(value.double()?),
            13 => max = Some(value.double()?),
            14 => zero_threshold = value.double()?,
            _ => {}
        }
    }
    let buckets = Buckets::Exponential { scale, zero_threshold, zero, positive, negative };
    Ok(PointValue::Histogram(Histogram::new(count, sum, min, max, buckets).map(Box::new)))
}

fn span(bytes: &[u8]) -> Result<Span, Malformed> {
    let mut span = Span::default();
    for field in Fields::of(bytes) {
        match field? {
            (1, value) => span.offset = small(value)?,
            (2, value) => {
                value.varints(|n| push(&mut span.counts, n, HISTOGRAM_SPAN_MAX + 1))?;
            }
            _ => {}
        }
    }
    Ok(span)
}

/// Appends an item, unless the list is already longer than a histogram may have, which is then
/// rejected for its length.
fn push<T>(list: &mut Vec<T>, item: T, length_max: usize) {
    if list.len() < length_max {
        list.push(item);
    }
}

/// Returns a `sint32`. A number out of range becomes `i32::MAX`, which is beyond every valid scale
/// and offset.
fn small(value: Value<'_>) -> Result<i32, Malformed> {
    Ok(i32::try_from(value.zigzag()?).unwrap_or(i32::MAX))
}

fn fixed(value: Value<'_>) -> Result<u64, Malformed> {
    match value {
        Value::Fixed64(number) => Ok(number),
        _ => Err(Malformed),
    }
}

/// Passes each integer of a repeated field to `take`: all of a packed list, or a single one.
fn each_fixed(value: Value<'_>, mut take: impl FnMut(u64)) -> Result<(), Malformed> {
    match value {
        Value::Bytes(packed) => {
            let (numbers, rest) = packed.as_chunks();
            numbers.iter().for_each(|number| take(u64::from_le_bytes(*number)));
            if rest.is_empty() { Ok(()) } else { Err(Malformed) }
        }
        single => fixed(single).map(take),
    }
}
