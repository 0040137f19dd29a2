//! Why a configuration is refused.

use crate::platform::fields::Invalid;

/// An invalid field of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {expected}")]
pub struct InvalidConfig {
    /// The kind of rule that is violated.
    pub rule: ConfigRule,
    /// The path of the field: `config.webhook_url`.
    pub field: String,
    /// What is expected of the field. Never contains a value that was sent.
    pub expected: String,
}

/// The kinds of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigRule {
    /// The field is required.
    Missing,
    /// Any other rule.
    Invalid,
}

impl InvalidConfig {
    /// Returns the error of a required field that is absent.
    pub(super) fn missing(name: &str) -> Self {
        let (field, expected) = (format!("config.{name}"), "is required".to_owned());
        Self { rule: ConfigRule::Missing, field, expected }
    }

    /// Returns the error of an invalid field; `name` may be a path such as `headers.X-Token`.
    pub(super) fn invalid(name: &str, expected: impl Into<String>) -> Self {
        let (field, expected) = (format!("config.{name}"), expected.into());
        Self { rule: ConfigRule::Invalid, field, expected }
    }
}

impl From<Invalid> for InvalidConfig {
    fn from(invalid: Invalid) -> Self {
        Self::invalid(&invalid.field, invalid.expected)
    }
}
