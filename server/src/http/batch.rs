//! The response to a telemetry batch, shared by all areas.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{ApiError, ErrorCode};
use crate::limits;
use crate::platform::telemetry::batch::{Outcome, Rejected};

/// The result of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BatchAnswer {
    accepted: usize,
    rejected: usize,
    /// The first 50 rejected items; absent if there are none.
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

/// The result of a bulk request: its response body, also stored in the receipts of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BulkOutcome {
    accepted: usize,
    rejected: usize,
    /// Items that were ignored without error, by reason; absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<Cow<'static, str>, u64>,
    /// The first 50 errors; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<BulkError>,
}

/// A rejected item of a bulk body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct BulkError {
    #[serde(flatten)]
    place: BulkPlace,
    code: Cow<'static, str>,
    message: String,
}

/// A position in a bulk body. Line protocols count lines from 1, the others count items from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BulkPlace {
    /// The item, from 0; empty lines are not items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The line on which it starts, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl BulkOutcome {
    /// Counts an accepted item.
    #[inline]
    pub fn accept(&mut self) {
        self.accepted += 1;
    }

    /// Counts a rejected item and lists its error if fewer than 50 are listed.
    pub fn reject(&mut self, place: BulkPlace, error: impl Into<ApiError>) {
        self.reject_all(1, place, error);
    }

    /// Counts `count` items rejected by the same error, which is listed once.
    pub fn reject_all(&mut self, count: usize, place: BulkPlace, error: impl Into<ApiError>) {
        self.rejected += count;
        if self.errors.len() < limits::BATCH_ERRORS_LISTED_MAX {
            let error: ApiError = error.into();
            let code = Cow::Borrowed(error.code().as_str());
            let message = error.message().chars().take(limits::BULK_MESSAGE_CHARS_MAX).collect();
            self.errors.push(BulkError { place, code, message });
        }
    }

    /// Counts ignored items, which are not errors.
    pub fn skip(&mut self, reason: &'static str, count: u64) {
        *self.skipped.entry(Cow::Borrowed(reason)).or_default() += count;
    }

    /// Returns the number of accepted items.
    pub fn accepted(&self) -> usize {
        self.accepted
    }

    /// Returns the number of rejected items.
    pub fn rejected(&self) -> usize {
        self.rejected
    }

    /// Returns the number of items ignored for this reason.
    pub fn skipped(&self, reason: &str) -> u64 {
        self.skipped.get(reason).copied().unwrap_or(0)
    }

    /// Returns the messages of the listed errors.
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().map(|error| &*error.message)
    }

    /// Returns the error of a body with rejected items; `Ok` if all were accepted. `what` is the
    /// plural name of the items for the message, for example `lines`.
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
    /// Returns the position of an item, from 0.
    pub fn index(index: usize) -> Self {
        Self { index: Some(index), ..Self::default() }
    }

    /// Returns the position of a line, from 1.
    pub fn line(line: usize) -> Self {
        Self { line: Some(line), ..Self::default() }
    }
}
