//! A data point as it was sent, of any of the forms that metrics have.

use telltale_engine::limits::{HISTOGRAM_BUCKETS_MAX, HISTOGRAM_SPAN_MAX};
use telltale_engine::{Buckets, Histogram, InvalidHistogram, Span};

use super::request::{Form, each};
use crate::areas::bulk::protobuf::{Damaged, Fields, Value};

/// The flag of a data point that says that there is no value.
const NO_RECORDED_VALUE: u64 = 1;

/// A data point.
#[derive(Clone, Debug)]
pub(super) struct Point<'b> {
    /// Nanoseconds from 1970 on; 0 when nobody told.
    pub(super) start_ns: u64,
    /// Nanoseconds from 1970 on; 0 when nobody told.
    pub(super) time_ns: u64,
    pub(super) measured: Measured,
    flags: u64,
    fields: Fields<'b>,
    /// The number of the fields that are attributes.
    attributes: u32,
}

/// What a data point tells.
#[derive(Clone, Debug)]
pub(super) enum Measured {
    Nothing,
    Number(f64),
    Histogram(Result<Box<Histogram>, InvalidHistogram>),
}

impl<'b> Point<'b> {
    /// Reads a data point of a metric of this form.
    pub(super) fn read(form: Form, bytes: &'b [u8]) -> Result<Self, Damaged> {
        let fields = Fields::of(bytes);
        let ((attributes, flags), measured) = match form {
            Form::Gauge | Form::Sum => ((7, 8), number(fields)?),
            Form::Histogram => ((9, 10), explicit(fields)?),
            Form::Exponential => ((1, 10), exponential(fields)?),
            Form::Summary => ((7, 8), Measured::Nothing),
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

    /// Whether the point says that there was nothing to measure.
    pub(super) fn has_no_value(&self) -> bool {
        self.flags & NO_RECORDED_VALUE != 0
    }

    /// Its attributes, each a message.
    pub(super) fn attributes(&self) -> impl Iterator<Item = Result<&'b [u8], Damaged>> {
        each(self.fields, self.attributes)
    }
}

impl Measured {
    /// Buckets that are kept until they are written.
    pub(super) fn buckets(&self) -> usize {
        match self {
            Self::Histogram(Ok(histogram)) => histogram.buckets().spelled_out(),
            _ => 0,
        }
    }
}

fn number(fields: Fields<'_>) -> Result<Measured, Damaged> {
    let mut measured = Measured::Nothing;
    for field in fields {
        match field? {
            (4, value) => measured = Measured::Number(value.double()?),
            (6, value) => measured = Measured::Number(fixed(value)?.cast_signed() as f64),
            _ => {}
        }
    }
    Ok(measured)
}

fn explicit(fields: Fields<'_>) -> Result<Measured, Damaged> {
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
    // A histogram may tell of its count and sum alone.
    if counts.is_empty() && bounds.is_empty() {
        counts.push(count);
    }
    let histogram = Histogram::new(count, sum, min, max, Buckets::Explicit { bounds, counts });
    Ok(Measured::Histogram(histogram.map(Box::new)))
}

fn exponential(fields: Fields<'_>) -> Result<Measured, Damaged> {
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
    Ok(Measured::Histogram(Histogram::new(count, sum, min, max, buckets).map(Box::new)))
}

fn span(bytes: &[u8]) -> Result<Span, Damaged> {
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

/// Keeps an item, unless there are already more than any histogram has, which is then refused for that.
fn push<T>(list: &mut Vec<T>, item: T, length_max: usize) {
    if list.len() < length_max {
        list.push(item);
    }
}

/// `sint32`; what has no room in it is beyond every scale and offset.
fn small(value: Value<'_>) -> Result<i32, Damaged> {
    Ok(i32::try_from(value.zigzag()?).unwrap_or(i32::MAX))
}

fn fixed(value: Value<'_>) -> Result<u64, Damaged> {
    match value {
        Value::Fixed64(number) => Ok(number),
        _ => Err(Damaged),
    }
}

/// The integers of a list, which is packed or has a field for each.
fn each_fixed(value: Value<'_>, mut take: impl FnMut(u64)) -> Result<(), Damaged> {
    match value {
        Value::Bytes(packed) => {
            let (numbers, rest) = packed.as_chunks();
            numbers.iter().for_each(|number| take(u64::from_le_bytes(*number)));
            if rest.is_empty() { Ok(()) } else { Err(Damaged) }
        }
        single => fixed(single).map(take),
    }
}
