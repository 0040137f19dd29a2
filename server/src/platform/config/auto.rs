//! The types of settings that follow from the machine, or from other settings, where they are `auto`.

use super::units::ByteSize;
use super::value::{SettingValue, quoted};

/// `auto` as it is written.
const AUTO: &str = "auto";

/// How many threads answer queries and merge blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// As many as the machine has cores.
    Auto,
    /// So many.
    Count(u16),
}

impl SettingValue for Threads {
    const EXPECTS: &'static str = "a number from 1 to 1024 or \"auto\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(n @ 1..=1024) => Ok(Self::Count(n)),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        Self::from_text(&n.to_string())
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Auto => quoted(AUTO),
            Self::Count(n) => n.to_string(),
        }
    }
}

/// A number of bytes that may follow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A part of `memory.limit`, which itself is a part of the machine's memory.
    Auto,
    /// So many.
    Bytes(ByteSize),
}

impl SettingValue for Size {
    const EXPECTS: &'static str = "a size such as \"256MiB\", or \"auto\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text == AUTO { Ok(Self::Auto) } else { ByteSize::from_text(text).map(Self::Bytes) }
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        ByteSize::from_integer(n).map(Self::Bytes)
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Auto => quoted(AUTO),
            Self::Bytes(size) => size.to_toml(),
        }
    }
}

/// A number of things that may follow from the memory there is for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// As many as fit into a part of `memory.limit`.
    Auto,
    /// So many.
    Of(u64),
}

impl SettingValue for Count {
    const EXPECTS: &'static str = "a number from 1, or \"auto\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        u64::from_text(text).map(Self::Of).map_err(|_| Self::mismatch(&format!("{text:?}")))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        u64::from_integer(n).map(Self::Of).map_err(|_| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Auto => quoted(AUTO),
            Self::Of(n) => n.to_string(),
        }
    }
}
