//! An answer boiled down to how many numbers it has and their sum, so that answers in different
//! shapes can be compared.

use serde_json::Value;

/// How many numbers, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Digest {
    pub(crate) numbers: u64,
    pub(crate) sum: f64,
}

impl Digest {
    pub(crate) fn add(&mut self, number: f64) {
        self.numbers += 1;
        self.sum += number;
    }

    /// Adds a number that may have come as text; anything else is no number.
    pub(crate) fn add_value(&mut self, value: &Value) {
        let number = match value {
            Value::String(text) => text.parse().ok(),
            other => other.as_f64(),
        };
        if let Some(number) = number {
            self.add(number);
        }
    }
}
