//! A distribution as bytes, used by the tests to show that equal distributions have equal bytes,
//! and by the fuzz targets. Blocks store the same parts as columns.
//!
//! ```text
//! ┌────────────┬─────────┬──────────────────────────────────────────────────────────────┐
//! │ version: 1 │ form: 0 │ n: u8 (0..=64) │ n × f64, ascending                          │
//! └────────────┴─────────┴──────────────────────────────────────────────────────────────┘
//! ┌────────────┬─────────┬──────────┬──────────┬─────────────┬───────┬─────────┬────────┐
//! │ version: 1 │ form: 1 │ min: f64 │ max: f64 │ units: i128 │ c: u8 │ c × f64 │ halves │
//! └────────────┴─────────┴──────────┴──────────┴─────────────┴───────┴─────────┴────────┘
//!   units, components: the sum, see super::sum
//!   halves: the negative, then the non-negative buckets, each as
//!     n: varint, n × (buckets skipped since the last one: varint, count: varint)
//! ┌────────────┬─────────┬────────────────────────────────┬─────────────┬───────┬─────────┐
//! │ version: 1 │ form: 2 │ n: u8 (1..=64) │ n × f64, as 0 │ units: i128 │ c: u8 │ c × f64 │
//! └────────────┴─────────┴────────────────────────────────┴─────────────┴───────┴─────────┘
//! ```
//!
//! Fixed-width numbers are little-endian. In form 0 everything else follows from the values; in
//! form 1 the count is the sum of the bucket counts; form 2 is form 0 with a reported sum.

use std::borrow::Cow;

use super::distribution::{COUNT_MAX, Distribution};
use super::histogram;
use super::parts::{Entries, Parts};
use super::sum::ExactSum;
use super::{SketchError, SketchResult};
use crate::codec::bytes::{Reader, put_varint};
use crate::limits::EXACT_VALUES_MAX;

const VERSION: u8 = 1;
const FORM_EXACT: u8 = 0;
const FORM_HISTOGRAM: u8 = 1;
const FORM_REPORTED_SUM: u8 = 2;

impl Distribution {
    /// Appends the encoded distribution to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        let parts = self.parts();
        match &parts.entries {
            Entries::Exact(values) => {
                let form = if parts.sum_is_reported { FORM_REPORTED_SUM } else { FORM_EXACT };
                out.extend_from_slice(&[form, values.len() as u8]);
                put_floats(out, values);
                if parts.sum_is_reported {
                    put_sum(out, &parts.sum);
                }
            }
            Entries::Buckets { indices, counts } => {
                out.push(FORM_HISTOGRAM);
                put_floats(out, &[parts.min, parts.max]);
                put_sum(out, &parts.sum);
                let below = indices.iter().zip(counts.iter()).filter(|(i, _)| **i < 0);
                put_half(out, below.rev().map(|(i, n)| ((-i - 1) as u16, *n)));
                let above = indices.iter().zip(counts.iter()).filter(|(i, _)| **i >= 0);
                put_half(out, above.map(|(i, n)| (*i as u16, *n)));
            }
        }
    }

    /// Decodes a distribution, which must end with `bytes`.
    pub(crate) fn decode(bytes: &[u8]) -> SketchResult<Self> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(SketchError::Version(version));
        }
        let distribution = match reader.u8()? {
            FORM_EXACT => Self::from_parts(&take_values(&mut reader)?)?,
            FORM_REPORTED_SUM => {
                let mut parts = take_values(&mut reader)?;
                (parts.sum, parts.sum_is_reported) = (take_sum(&mut reader)?, true);
                Self::from_parts(&parts)?
            }
            FORM_HISTOGRAM => Self::from_parts(&take_histogram(&mut reader)?)?,
            _ => return Err(SketchError::Inconsistent("unknown encoding of a distribution")),
        };
        reader.finish()?;
        Ok(distribution)
    }
}

fn take_values(reader: &mut Reader<'_>) -> SketchResult<Parts<'static>> {
    let n = usize::from(reader.u8()?);
    if n > EXACT_VALUES_MAX {
        return Err(SketchError::Inconsistent("too many exact values"));
    }
    let values = take_floats(reader, n)?;
    if values.iter().any(|v| !v.is_finite()) {
        return Err(SketchError::Inconsistent("a value is not finite"));
    }
    let mut sum = ExactSum::default();
    values.iter().for_each(|value| sum.add(*value));
    let (min, max) = (values.first().copied(), values.last().copied());
    Ok(Parts {
        count: values.len() as u64,
        sum,
        sum_is_reported: false,
        min: min.unwrap_or_default(),
        max: max.unwrap_or_default(),
        entries: Entries::Exact(Cow::Owned(values)),
    })
}

fn put_floats(out: &mut Vec<u8>, values: &[f64]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn take_floats(reader: &mut Reader<'_>, n: usize) -> SketchResult<Vec<f64>> {
    Ok((0..n).map(|_| reader.f64()).collect::<Result<_, _>>()?)
}

fn put_sum(out: &mut Vec<u8>, sum: &ExactSum) {
    out.extend_from_slice(&sum.decimal_units().to_le_bytes());
    let components = sum.components();
    out.push(components.len() as u8);
    put_floats(out, &components);
}

fn take_sum(reader: &mut Reader<'_>) -> SketchResult<ExactSum> {
    let units = reader.u128()? as i128;
    let components = usize::from(reader.u8()?);
    ExactSum::from_parts(units, &take_floats(reader, components)?)
}

fn put_half(out: &mut Vec<u8>, half: impl Iterator<Item = (u16, u64)> + Clone) {
    put_varint(out, half.clone().count() as u64);
    let mut next = 0;
    for (index, n) in half {
        put_varint(out, u64::from(index - next));
        put_varint(out, n);
        next = index + 1;
    }
}

/// Returns the indices and counts of the buckets of one sign, by ascending index.
fn take_half(reader: &mut Reader<'_>) -> SketchResult<Vec<(i32, u64)>> {
    let buckets = usize::from(histogram::BUCKETS);
    let n = reader.count("buckets", buckets)?;
    let mut entries = Vec::with_capacity(n);
    let mut next = 0;
    for _ in 0..n {
        let index = next + reader.count("buckets skipped", buckets)?;
        entries.push((index as i32, reader.varint()?));
        next = index + 1;
    }
    Ok(entries)
}

fn take_histogram(reader: &mut Reader<'_>) -> SketchResult<Parts<'static>> {
    let (min, max) = (reader.f64()?, reader.f64()?);
    let sum = take_sum(reader)?;
    let below = take_half(reader)?.into_iter().rev().map(|(i, n)| (-i - 1, n));
    let from_zero = take_half(reader)?;
    let (indices, counts): (Vec<i32>, Vec<u64>) = below.chain(from_zero).unzip();
    let count = counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
    let entries = Entries::Buckets { indices: Cow::Owned(indices), counts: Cow::Owned(counts) };
    Ok(Parts { count: count.min(COUNT_MAX), sum, sum_is_reported: false, min, max, entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_buckets_than_exist_are_refused() {
        let read = |buckets: u16| {
            let mut bytes = Vec::new();
            put_half(&mut bytes, (0..buckets).map(|index| (index, 1)));
            take_half(&mut Reader::new(&bytes)).map(|half| half.len()).ok()
        };
        assert_eq!(read(histogram::BUCKETS), Some(usize::from(histogram::BUCKETS)));
        assert_eq!(read(histogram::BUCKETS + 1), None);
    }
}
