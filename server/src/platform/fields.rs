//! Fields of requests that several areas have, and what is wrong with an invalid one.

use telltale_engine::TimestampMs;

use super::calendar::{FIRST_INSTANT, LAST_INSTANT};
use super::time;

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {expected}")]
pub struct Invalid {
    /// The kind of rule that is violated.
    pub rule: FieldRule,
    /// The path of the field, joined by `.`.
    pub field: String,
    /// What is expected of the field.
    pub expected: String,
}

/// The kinds of rules, each with its own error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRule {
    /// A name is required.
    NameMissing,
    /// A name is invalid.
    Name,
    /// A field is required.
    Missing,
    /// A query cannot be answered.
    Query,
    /// A time is invalid.
    Timestamp,
    /// Any other rule.
    Field,
}

impl Invalid {
    /// Returns the error of a missing required field.
    pub fn missing(field: impl Into<String>) -> Self {
        Self { rule: FieldRule::Missing, field: field.into(), expected: "is required".to_owned() }
    }

    /// Returns the error of an invalid field.
    pub fn field(field: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: FieldRule::Field, field: field.into(), expected: expected.into() }
    }

    /// Returns the same error of a field within another.
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}

/// Validates the name of a resource; an absent name counts as empty.
pub fn name(text: Option<String>, chars_max: usize) -> Result<String, Invalid> {
    let text = text.unwrap_or_default();
    let field = "name".to_owned();
    if text.is_empty() {
        return Err(Invalid {
            rule: FieldRule::NameMissing,
            field,
            expected: "is required".to_owned(),
        });
    }
    if text.chars().count() > chars_max || text.chars().any(char::is_control) {
        let expected =
            format!("must have at most {chars_max} characters and no control characters");
        return Err(Invalid { rule: FieldRule::Name, field, expected });
    }
    if text.chars().all(char::is_whitespace) {
        let expected = "must not consist of spaces only".to_owned();
        return Err(Invalid { rule: FieldRule::Name, field, expected });
    }
    Ok(text)
}

/// Validates an optional text.
pub fn text(
    field: &'static str,
    text: Option<String>,
    chars_max: usize,
) -> Result<Option<String>, Invalid> {
    match text {
        Some(text) if text.chars().count() > chars_max => {
            Err(Invalid::field(field, format!("must have at most {chars_max} characters")))
        }
        text => Ok(text),
    }
}

/// Parses a required time.
pub fn time(field: &'static str, text: Option<&str>) -> Result<TimestampMs, Invalid> {
    let text = text.ok_or_else(|| Invalid::missing(field))?;
    let time = time::parse(text).filter(|time| (FIRST_INSTANT..=LAST_INSTANT).contains(time));
    time.ok_or_else(|| Invalid {
        rule: FieldRule::Timestamp,
        field: field.to_owned(),
        expected: "must be an ISO 8601 date-time such as 2026-01-02T03:04:05.678Z".to_owned(),
    })
}
