//! Labels and numbers as JSON members.

use serde_json::{Map, Value, json};

use super::cut;
use crate::platform::json::Plain;

/// How many labels are repeated, and how much of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelLimits {
    /// The number of labels.
    pub(super) count: usize,
    /// UTF-16 code units of each name and value.
    pub(super) units: usize,
}

/// Returns labels as an object.
pub(super) fn object(labels: &[(String, String)], limits: LabelLimits) -> Map<String, Value> {
    let cut = |text: &str| cut::plain(text, limits.units);
    let first = labels.iter().take(limits.count);
    first.map(|(key, value)| (cut(key), Value::String(cut(value)))).collect()
}

/// Returns a number, or null.
pub(super) fn number(value: Option<f64>) -> Value {
    json!(value.map(Plain))
}
