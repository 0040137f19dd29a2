//! Whole bodies: one input, or `{"metrics": […]}`.

use telltale_engine::{Refusal, TimestampMs};

use super::super::error::{InputError, MetricsError};
use super::super::model::{Outcome, Point, Rejected};
use super::input::read_input;
use crate::limits;
use crate::platform::json::{Elements, Json, Value, with_document};

/// Reads a body that is one input and answers what `take` makes of its point.
pub fn read_one<T>(
    body: &[u8],
    now: TimestampMs,
    take: impl FnOnce(&Point<'_>) -> Result<T, Refusal>,
) -> Result<T, MetricsError> {
    with_document(body, |document| match document.json() {
        Json::Object(_) => Ok(read_input(document, now, take)?),
        _ => Err(MetricsError::NotAnObject),
    })?
}

/// Reads a body that is a batch and hands the points of its good items to `take`, in their order. Refuses the
/// whole batch before the first point is handed over, or not at all; what `take` refuses is a bad item.
pub fn read_batch(
    body: &[u8],
    now: TimestampMs,
    mut take: impl FnMut(&Point<'_>) -> Result<(), Refusal>,
) -> Result<Outcome, MetricsError> {
    with_document(body, |document| {
        let items = metrics_of(document)?;
        if items.len() > limits::BATCH_ITEMS_MAX {
            return Err(MetricsError::BatchTooLarge(items.len()));
        }
        let mut outcome = Outcome::default();
        for (index, item) in items.enumerate() {
            match read_input(item, now, &mut take) {
                Ok(()) => outcome.accepted += 1,
                Err(error) => outcome.reject(index, error),
            }
        }
        Ok(outcome)
    })?
}

fn metrics_of(document: Value<'_>) -> Result<Elements<'_>, MetricsError> {
    let Json::Object(members) = document.json() else {
        return Err(MetricsError::NotAnObject);
    };
    let mut found = members.filter(|(key, _)| *key == "metrics").map(|(_, value)| value);
    match (found.next().map(Value::json), found.next()) {
        (_, Some(_)) => Err(MetricsError::MetricsTwice),
        (Some(Json::Array(items)), None) => Ok(items),
        (None | Some(Json::Null), None) => Err(MetricsError::MetricsMissing),
        (Some(_), None) => Err(MetricsError::MetricsNotAnArray),
    }
}

impl Outcome {
    fn reject(&mut self, index: usize, error: InputError) {
        self.rejected += 1;
        if self.errors.len() < limits::BATCH_ERRORS_LISTED_MAX {
            self.errors.push(Rejected { index, error });
        }
    }
}
