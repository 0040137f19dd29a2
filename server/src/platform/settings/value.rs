//! The types of settings: how each is read from its source and written as TOML.
//!
//! A value arrives as a [`Raw`], because environment variables are always strings while TOML has
//! types. Strings are accepted for every type; TOML integers only where an integer is expected.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::units::{ByteSize, Period};

/// An untyped value, as found in its source.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    Text(String),
    Integer(i64),
    List(Vec<Raw>),
    Table(Vec<(String, Raw)>),
    /// A TOML type that no setting has, with its name.
    Other(&'static str),
}

impl Raw {
    /// Returns the name of the type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a number",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(name) => name,
        }
    }
}

/// A type of settings.
pub trait SettingValue: Sized {
    /// A description of valid values, for messages and for the reference: "a size such as
    /// \"256MiB\"".
    const EXPECTS: &'static str;
    /// Whether a string may be a TOML list: an IPv6 address begins with `[` too.
    const IS_LIST: bool = false;

    /// Parses a string.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Reads a TOML integer, if the type accepts one.
    fn from_integer(_: i64) -> Result<Self, String> {
        Err(Self::mismatch("a number"))
    }

    /// Reads a value from any source.
    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::Integer(n) => Self::from_integer(*n),
            other => Err(Self::mismatch(other.type_name())),
        }
    }

    /// Returns the value as TOML that reads back as the same value.
    fn to_toml(&self) -> String;

    /// Returns the message for a value of the wrong kind.
    fn mismatch(found: &str) -> String {
        format!("expected {}, found {found}", Self::EXPECTS)
    }
}

pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl SettingValue for String {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn to_toml(&self) -> String {
        quoted(self)
    }
}

impl SettingValue for SocketAddr {
    const EXPECTS: &'static str = "an address and port such as \"127.0.0.1:8080\"";

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| Self::mismatch(&format!("{text:?}")))
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl SettingValue for PathBuf {
    const EXPECTS: &'static str = "a path";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(Self::mismatch("\"\"")) } else { Ok(Self::from(text)) }
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string_lossy())
    }
}

impl SettingValue for ByteSize {
    const EXPECTS: &'static str = "a size such as \"256MiB\"";

    fn from_text(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        Self::from_bytes(u64::try_from(n).unwrap_or(0))
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl SettingValue for Period {
    const EXPECTS: &'static str = "a duration such as \"250ms\", \"10m\" or \"30d\"";

    fn from_text(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

/// A number that may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromZero(pub u64);

impl SettingValue for FromZero {
    const EXPECTS: &'static str = "an integer of at least 0";

    fn from_text(text: &str) -> Result<Self, String> {
        let digits: String = text.chars().filter(|c| *c != '_').collect();
        digits.parse().map(Self).map_err(|_| Self::mismatch(&format!("{text:?}")))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        u64::try_from(n).map(Self).map_err(|_| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// A list of words or names.
pub type Words = Vec<String>;

/// Numbers of at least 1.
macro_rules! from_one {
    ($($Number:ty),+) => {$(
        impl SettingValue for $Number {
            const EXPECTS: &'static str = "an integer of at least 1";

            fn from_text(text: &str) -> Result<Self, String> {
                let digits: String = text.chars().filter(|c| *c != '_').collect();
                match digits.parse() {
                    Ok(n) if n > 0 => Ok(n),
                    _ => Err(Self::mismatch(&format!("{text:?}"))),
                }
            }

            fn from_integer(n: i64) -> Result<Self, String> {
                let positive = Self::try_from(n).ok().filter(|n| *n > 0);
                positive.ok_or_else(|| Self::mismatch(&n.to_string()))
            }

            fn to_toml(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

from_one!(u64, usize);

impl SettingValue for Vec<String> {
    const EXPECTS: &'static str = "a list of names such as [\"service.name\"]";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Result<Self, String> {
        let names = text.split(',').map(|name| name.trim().to_owned());
        Ok(names.filter(|name| !name.is_empty()).collect())
    }

    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::List(items) => items
                .iter()
                .map(|item| match item {
                    Raw::Text(text) if !text.is_empty() => Ok(text.clone()),
                    other => Err(<Self as SettingValue>::mismatch(other.type_name())),
                })
                .collect(),
            other => Err(<Self as SettingValue>::mismatch(other.type_name())),
        }
    }

    fn to_toml(&self) -> String {
        let items: Vec<String> = self.iter().map(|name| quoted(name)).collect();
        format!("[{}]", items.join(", "))
    }
}
