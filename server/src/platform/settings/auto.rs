//! Settings that may be `auto`: derived from the machine or from other settings.

use super::units::ByteSize;
use super::value::{SettingValue, quoted};

/// The string for `auto`.
const AUTO: &str = "auto";

/// A set value, or `auto`: a number of bytes or of items derived from `memory.limit`, or a number
/// of threads derived from the number of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto<T> {
    /// Derived.
    Auto,
    /// Set explicitly.
    Set(T),
}

/// A number of threads, from 1 to 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCount(u16);

/// A type of settings that may be `auto`.
pub trait MayBeAuto: SettingValue {
    /// [`SettingValue::EXPECTS`] with `auto`.
    const EXPECTS_OR_AUTO: &'static str;
}

impl<T> Auto<T> {
    /// Returns the value if it is set.
    pub fn set(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl ThreadCount {
    /// Returns the number.
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

impl MayBeAuto for ByteSize {
    const EXPECTS_OR_AUTO: &'static str = "a size such as \"256MiB\", or \"auto\"";
}

impl MayBeAuto for usize {
    const EXPECTS_OR_AUTO: &'static str = "an integer of at least 1, or \"auto\"";
}

impl MayBeAuto for ThreadCount {
    const EXPECTS_OR_AUTO: &'static str = "an integer from 1 to 1024, or \"auto\"";
}

impl<T: MayBeAuto> SettingValue for Auto<T> {
    const EXPECTS: &'static str = T::EXPECTS_OR_AUTO;

    fn from_text(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        set_or_mismatch(T::from_text(text), &format!("{text:?}"))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        set_or_mismatch(T::from_integer(n), &n.to_string())
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Auto => quoted(AUTO),
            Self::Set(value) => value.to_toml(),
        }
    }
}

/// Returns the value, or a message that mentions `auto` too if the type's message says only what it
/// expects.
fn set_or_mismatch<T: MayBeAuto>(read: Result<T, String>, found: &str) -> Result<Auto<T>, String> {
    read.map(Auto::Set).map_err(|reason| {
        if reason == T::mismatch(found) { Auto::<T>::mismatch(found) } else { reason }
    })
}

impl SettingValue for ThreadCount {
    const EXPECTS: &'static str = "an integer from 1 to 1024";

    fn from_text(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(n @ 1..=1024) => Ok(Self(n)),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        match u16::try_from(n) {
            Ok(n @ 1..=1024) => Ok(Self(n)),
            _ => Err(Self::mismatch(&n.to_string())),
        }
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
