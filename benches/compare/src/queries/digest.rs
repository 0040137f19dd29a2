//! A digest of a result, the count and sum of its numbers, which makes results of different peers
//! comparable.

use serde_json::Value;

/// The count and sum of the numbers of a result.
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

    /// Adds a number, or a string that contains one; ignores other values.
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
