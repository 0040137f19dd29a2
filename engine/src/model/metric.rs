//! Metric names and the four metric types.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::limits;

/// A metric name: 1 to [`limits::NAME_CHARS_MAX`] characters, no control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricName(Arc<str>);

/// Returns whether a string contains a control character.
pub(super) fn has_control(text: &str) -> bool {
    // Most strings are printable ASCII, which is checked byte by byte.
    !text.bytes().all(|b| (0x20..0x7f).contains(&b)) && text.chars().any(char::is_control)
}

/// Why a string is not a metric name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The string is empty.
    #[error("name must not be empty")]
    Empty,
    /// The string has more than [`limits::NAME_CHARS_MAX`] characters.
    #[error("name must have at most {} characters", limits::NAME_CHARS_MAX)]
    TooLong,
    /// The string contains a control character.
    #[error("name must not contain control characters")]
    ControlCharacter,
    /// The string consists of spaces only.
    #[error("name must not consist of spaces only")]
    Blank,
}

impl MetricName {
    /// Checks `text` and converts it to a name.
    pub fn new(text: &str) -> Result<Self, InvalidName> {
        Self::check(text)?;
        Ok(Self(Arc::from(text)))
    }

    /// Checks `text` without keeping it.
    pub fn check(text: &str) -> Result<(), InvalidName> {
        if text.is_empty() {
            return Err(InvalidName::Empty);
        }
        // Characters have at least one byte, so most names are short enough without counting.
        if text.len() > limits::NAME_CHARS_MAX && text.chars().count() > limits::NAME_CHARS_MAX {
            return Err(InvalidName::TooLong);
        }
        if has_control(text) {
            return Err(InvalidName::ControlCharacter);
        }
        Ok(())
    }

    /// Checks a name for a new object. Names that consist of spaces only are rejected here but not
    /// by [`Self::check`], because stored data may contain them.
    pub fn check_given(text: &str) -> Result<(), InvalidName> {
        Self::check(text)?;
        // Most names start with another character, and are not scanned.
        if text.starts_with(char::is_whitespace) && text.chars().all(char::is_whitespace) {
            Err(InvalidName::Blank)
        } else {
            Ok(())
        }
    }

    /// Returns the name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for MetricName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// The type of a metric: determines how its samples are stored and aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MetricType {
    /// A current value; of samples with equal time, the last one received is kept.
    Gauge = 0,
    /// An increment; all samples are summed.
    Counter = 1,
    /// One observation; stored as mergeable one-minute sketches.
    Distribution = 2,
    /// A member of a set; stored as mergeable one-minute distinct counts.
    Set = 3,
}

impl MetricType {
    /// All types, in the order of their codes on disk.
    pub const ALL: [Self; 4] = [Self::Gauge, Self::Counter, Self::Distribution, Self::Set];

    /// Returns the name used in the API: `gauge`, `counter`, `distribution`, `set`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Distribution => "distribution",
            Self::Set => "set",
        }
    }

    /// Returns the type with the name `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }

    /// Returns the code on disk.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the type with this code on disk, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.code() == code)
    }

    /// Returns whether raw samples are stored. Distributions and sets are stored as one-minute
    /// cells.
    pub fn keeps_points(self) -> bool {
        matches!(self, Self::Gauge | Self::Counter)
    }
}

impl fmt::Display for MetricType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
