//! What is answered to a batch of telemetry, whichever area took it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{ApiError, ErrorCode};
use crate::limits;
use crate::platform::telemetry::batch::{Outcome, Rejected};

/// What became of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BatchAnswer {
    accepted: usize,
    rejected: usize,
    /// The first 50 rejected items; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ItemError>,
}

/// A rejected item of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ItemError {
    index: usize,
    code: &'static str,
    message: String,
}

impl<E: Into<ApiError>> From<Outcome<E>> for BatchAnswer {
    fn from(outcome: Outcome<E>) -> Self {
        let errors = outcome.errors.into_iter().map(ItemError::from).collect();
        Self { accepted: outcome.accepted, rejected: outcome.rejected, errors }
    }
}

impl<E: Into<ApiError>> From<Rejected<E>> for ItemError {
    fn from(rejected: Rejected<E>) -> Self {
        let error: ApiError = rejected.error.into();
        Self {
            index: rejected.index,
            code: error.code().as_str(),
            message: error.message().to_owned(),
        }
    }
}

/// What became of the body of a bulk protocol; also what is answered about it, and kept about the parts of it that are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BulkOutcome {
    accepted: usize,
    rejected: usize,
    /// What was not taken and is no error, by reason; absent when there is nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<Cow<'static, str>, u64>,
    /// The first 50 errors; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<BulkError>,
}

/// A rejected part of a bulk body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct BulkError {
    #[serde(flatten)]
    place: BulkPlace,
    code: Cow<'static, str>,
    message: String,
}

/// Where in a bulk body something stands. Protocols of lines count lines from 1, those of items count items from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BulkPlace {
    /// The item, from 0; lines that are empty are no items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The line on which it begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl BulkOutcome {
    /// One more was taken.
    #[inline]
    pub fn accept(&mut self) {
        self.accepted += 1;
    }

    /// One more was refused; the first of them are told one by one.
    pub fn reject(&mut self, place: BulkPlace, error: impl Into<ApiError>) {
        self.reject_all(1, place, error);
    }

    /// So many more were refused, all for the same error, which is told once.
    pub fn reject_all(&mut self, count: usize, place: BulkPlace, error: impl Into<ApiError>) {
        self.rejected += count;
        if self.errors.len() < limits::BATCH_ERRORS_LISTED_MAX {
            let error: ApiError = error.into();
            let code = Cow::Borrowed(error.code().as_str());
            let message = error.message().chars().take(limits::BULK_MESSAGE_CHARS_MAX).collect();
            self.errors.push(BulkError { place, code, message });
        }
    }

    /// So many were passed over, which is no error.
    pub fn skip(&mut self, reason: &'static str, count: u64) {
        *self.skipped.entry(Cow::Borrowed(reason)).or_default() += count;
    }

    /// How many were taken.
    pub fn accepted(&self) -> usize {
        self.accepted
    }

    /// How many were refused.
    pub fn rejected(&self) -> usize {
        self.rejected
    }

    /// How many were passed over for this reason.
    pub fn skipped(&self, reason: &str) -> u64 {
        self.skipped.get(reason).copied().unwrap_or(0)
    }

    /// Why the first of those that were refused were, one by one.
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().map(|error| &*error.message)
    }

    /// The error of a body of which something was refused; none when all of it was taken. `what` it consists of is
    /// for the message: `lines`.
    pub fn refusal(self, what: &str) -> Result<(), ApiError> {
        let Some(first) = self.errors.first() else { return Ok(()) };
        let total = self.accepted + self.rejected;
        let place = match first.place {
            BulkPlace { line: Some(line), .. } => format!("line {line}: "),
            BulkPlace { index: Some(index), .. } => format!("item {index}: "),
            BulkPlace { .. } => String::new(),
        };
        let message = format!(
            "partial write: {} of {total} {what} rejected; {place}{}",
            self.rejected, first.message
        );
        Err(ApiError::new(ErrorCode::InvalidParameter, message).bulk(self))
    }
}

impl BulkPlace {
    /// An item, from 0.
    pub fn index(index: usize) -> Self {
        Self { index: Some(index), ..Self::default() }
    }

    /// A line, from 1.
    pub fn line(line: usize) -> Self {
        Self { line: Some(line), ..Self::default() }
    }
}
