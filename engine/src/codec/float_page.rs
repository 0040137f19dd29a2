//! Decoded rows of a column of floats.

use std::ops::Range;

use super::decimals::power_of_ten;
use super::verified::same_bits;

/// Decoded rows, as integers as long as they are decimals: those are faster to sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FloatRows<'p> {
    Floats(&'p [f64]),
    /// Integers, and the number of decimal places.
    Decimals(&'p [i64], u8),
}

impl<'p> FloatRows<'p> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Decimals(integers, _) => integers.len(),
        }
    }

    /// Returns some of the rows.
    pub(crate) fn within(self, rows: Range<usize>) -> Self {
        match self {
            Self::Floats(values) => Self::Floats(values.get(rows).unwrap_or_default()),
            Self::Decimals(integers, scale) => {
                Self::Decimals(integers.get(rows).unwrap_or_default(), scale)
            }
        }
    }

    /// Returns the value of the last row.
    pub(crate) fn last(&self) -> Option<f64> {
        match self {
            Self::Floats(values) => values.last().copied(),
            Self::Decimals(integers, scale) => {
                integers.last().map(|m| *m as f64 / power_of_ten(*scale))
            }
        }
    }

    /// Appends the values to `out`.
    pub(crate) fn extend(&self, out: &mut Vec<f64>) {
        match self {
            Self::Floats(values) => out.extend_from_slice(values),
            Self::Decimals(integers, scale) => {
                let power = power_of_ten(*scale);
                out.extend(integers.iter().map(|m| *m as f64 / power));
            }
        }
    }
}

/// Decoded pages.
#[derive(Debug, Default)]
pub(crate) struct FloatPage {
    /// The decoded integers of the rows; when `scale` is set they are the `m` of decimals.
    pub(crate) integers: Vec<i64>,
    /// The number of decimal places, if all rows of the pages are decimals.
    pub(crate) scale: Option<u8>,
    /// The values; empty when `scale` is set.
    pub(crate) floats: Vec<f64>,
}

impl FloatPage {
    /// Returns the value of a row.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> Option<f64> {
        match self.scale {
            Some(scale) => self.integers.get(row).map(|m| *m as f64 / power_of_ten(scale)),
            None => self.floats.get(row).copied(),
        }
    }

    /// Returns all rows.
    pub(crate) fn rows(&self) -> FloatRows<'_> {
        match self.scale {
            Some(scale) => FloatRows::Decimals(&self.integers, scale),
            None => FloatRows::Floats(&self.floats),
        }
    }

    /// Returns whether the rows have these values, bit for bit.
    pub(super) fn is_same(&self, values: &[f64]) -> bool {
        match self.scale {
            Some(scale) => are_decimals(&self.integers, power_of_ten(scale), values),
            None => same_bits(&self.floats, values),
        }
    }
}

/// Returns whether the integers divided by `power` are `values`, bit for bit.
fn are_decimals(integers: &[i64], power: f64, values: &[f64]) -> bool {
    // Not `all`: without branches several rows are compared at once.
    let difference = |(m, v): (&i64, &f64)| (*m as f64 / power).to_bits() ^ v.to_bits();
    let pairs = integers.iter().zip(values);
    integers.len() == values.len() && pairs.fold(0, |all, pair| all | difference(pair)) == 0
}
