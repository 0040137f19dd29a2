//! Request quotas: the classes of routes, and the number of requests per minute for each class.
//!
//! Owns the class names (`batch`, `query`, `single`, `other`) in the configuration, on the command
//! line and in the limits of a key. `throttle` counts the requests.

use std::fmt;
use std::str::FromStr;

use super::settings::{SettingValue, quoted, settings_section};

/// A class of routes that share one quota per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitClass {
    /// Not limited by the number of requests, only by admission control.
    Unlimited,
    /// Batches of telemetry.
    Batch,
    /// Metric queries; event lists, counts and statistics.
    Query,
    /// One sample, event or heartbeat per request.
    Single,
    /// Everything else.
    Other,
    /// Requests of sessions of the console that would be [`Self::Query`] or [`Self::Other`] with a
    /// key.
    Console,
}

impl LimitClass {
    /// The classes that have a quota, in the order of [`Quotas`].
    pub const LIMITED: [Self; 5] =
        [Self::Batch, Self::Query, Self::Single, Self::Other, Self::Console];

    /// Returns the name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unlimited => "unlimited",
            Self::Batch => "batch",
            Self::Query => "query",
            Self::Single => "single",
            Self::Other => "other",
            Self::Console => "console",
        }
    }

    /// Returns the limited class named `text`, if any.
    pub fn parse(text: &str) -> Option<Self> {
        Self::LIMITED.into_iter().find(|c| c.as_str() == text)
    }
}

/// The number of requests that one key may send to one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// Requests per minute, and the size of a burst. Never 0.
    PerMinute(u32),
    /// Any number.
    Unlimited,
}

/// The error for a string that is not a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an integer from 1 to {} (requests per minute) or \"unlimited\"", u32::MAX)]
pub struct InvalidQuota;

impl FromStr for Quota {
    type Err = InvalidQuota;

    fn from_str(text: &str) -> Result<Self, InvalidQuota> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        match text.parse() {
            Ok(per_minute) if per_minute > 0 => Ok(Self::PerMinute(per_minute)),
            _ => Err(InvalidQuota),
        }
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerMinute(n) => write!(f, "{n}"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl SettingValue for Quota {
    const EXPECTS: &'static str = "an integer of at least 1 (requests per minute) or \"unlimited\"";

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| Self::mismatch(&format!("{text:?}")))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        n.to_string().parse().map_err(|_| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        match self {
            Self::PerMinute(n) => n.to_string(),
            Self::Unlimited => quoted("unlimited"),
        }
    }
}

settings_section! {
    /// Requests per minute and key. A key may override them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "limits" Quotas {
        /// Batches of telemetry.
        batch: Quota = "10";
        /// Metric queries; event lists, counts and statistics.
        query: Quota = "60";
        /// Requests with a single sample, event or heartbeat.
        single: Quota = "1000";
        /// Everything else.
        other: Quota = "600";
        /// Queries and other requests of the console, of all sessions that were opened with the
        /// same key; a key with quotas of its own for them keeps these.
        console: Quota = "1200";
    }
}

impl Quotas {
    /// Returns the quota of `class`.
    pub fn of(&self, class: LimitClass) -> Quota {
        match class {
            LimitClass::Unlimited => Quota::Unlimited,
            LimitClass::Batch => self.batch,
            LimitClass::Query => self.query,
            LimitClass::Single => self.single,
            LimitClass::Other => self.other,
            LimitClass::Console => self.console,
        }
    }
}

/// The quotas of one key that override the server's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Of [`LimitClass::Batch`].
    pub batch: Option<Quota>,
    /// Of [`LimitClass::Query`].
    pub query: Option<Quota>,
    /// Of [`LimitClass::Single`].
    pub single: Option<Quota>,
    /// Of [`LimitClass::Other`].
    pub other: Option<Quota>,
    /// Of [`LimitClass::Console`].
    pub console: Option<Quota>,
}

impl KeyLimits {
    /// Returns the effective quotas: the key's own where set, otherwise the server's.
    pub fn over(&self, server: &Quotas) -> Quotas {
        Quotas {
            batch: self.batch.unwrap_or(server.batch),
            query: self.query.unwrap_or(server.query),
            single: self.single.unwrap_or(server.single),
            other: self.other.unwrap_or(server.other),
            console: self.console.unwrap_or(server.console),
        }
    }

    /// Sets the quota of a limited class.
    pub fn set(&mut self, class: LimitClass, quota: Quota) {
        match class {
            LimitClass::Unlimited => {}
            LimitClass::Batch => self.batch = Some(quota),
            LimitClass::Query => self.query = Some(quota),
            LimitClass::Single => self.single = Some(quota),
            LimitClass::Other => self.other = Some(quota),
            LimitClass::Console => self.console = Some(quota),
        }
    }

    /// Returns whether the key overrides a class.
    pub fn has(&self, class: LimitClass) -> bool {
        self.iter().any(|(own, _)| own == class)
    }

    /// Returns the classes that the key overrides, with their quotas.
    pub fn iter(&self) -> impl Iterator<Item = (LimitClass, Quota)> {
        [self.batch, self.query, self.single, self.other, self.console]
            .into_iter()
            .zip(LimitClass::LIMITED)
            .filter_map(|(quota, class)| quota.map(|q| (class, q)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_written_as_they_are_read() {
        for text in ["1", "6000", "4294967295", "unlimited"] {
            assert_eq!(text.parse::<Quota>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "-1", "1.5", "4294967296", "Unlimited", " 1", "none"] {
            assert_eq!(wrong.parse::<Quota>(), Err(InvalidQuota), "{wrong:?}");
        }
    }

    #[test]
    fn a_key_inherits_the_quotas_that_it_does_not_override() {
        let mut own = KeyLimits::default();
        own.set(LimitClass::Query, Quota::Unlimited);
        let effective = own.over(&Quotas::default());
        assert_eq!(
            (effective.of(LimitClass::Query), effective.of(LimitClass::Batch)),
            (Quota::Unlimited, Quota::PerMinute(10))
        );
        assert_eq!(own.iter().collect::<Vec<_>>(), [(LimitClass::Query, Quota::Unlimited)]);
    }
}
