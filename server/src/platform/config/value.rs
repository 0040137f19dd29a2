//! The types of settings: how each is read from its source and written as TOML.
//!
//! A value arrives as a [`Raw`], because environment variables are always strings while TOML has
//! types. Strings are accepted for every type; TOML integers only where an integer is expected.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use telltale_engine::Durability;
use tracing_subscriber::EnvFilter;

use super::network::Cidr;
use super::units::{ByteSize, Period};
use crate::platform::quota::Quota;

/// An untyped value, as found in its source.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Text(String),
    Integer(i64),
    List(Vec<Raw>),
    Table(Vec<(String, Raw)>),
    /// A TOML type that no setting has, with its name.
    Other(&'static str),
}

impl Raw {
    fn type_name(&self) -> &'static str {
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
pub(super) trait SettingValue: Sized {
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

pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
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

impl SettingValue for u64 {
    const EXPECTS: &'static str = "an integer of at least 1";

    fn from_text(text: &str) -> Result<Self, String> {
        let digits: String = text.chars().filter(|c| *c != '_').collect();
        match digits.parse() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        Self::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        self.to_string()
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

impl SettingValue for Durability {
    const EXPECTS: &'static str = "\"sync\", \"interval:<milliseconds>\" or \"os\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "sync" => Ok(Self::Sync),
            "os" => Ok(Self::Os),
            _ => text
                .strip_prefix("interval:")
                .and_then(|ms| ms.parse::<u64>().ok())
                .filter(|ms| (1..=INTERVAL_MS_MAX).contains(ms))
                .map(|ms| Self::Interval(Duration::from_millis(ms)))
                .ok_or_else(|| Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Sync => quoted("sync"),
            Self::Interval(every) => quoted(&format!("interval:{}", every.as_millis())),
            Self::Os => quoted("os"),
        }
    }
}

/// The longest interval between two syncs of the log: an hour. Beyond that, `os` is more honest.
const INTERVAL_MS_MAX: u64 = 3_600_000;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable if standard error is a terminal, JSON otherwise.
    Auto,
    /// Human-readable.
    Human,
    /// One JSON object per line.
    Json,
}

impl SettingValue for LogFormat {
    const EXPECTS: &'static str = "\"auto\", \"human\" or \"json\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(match self {
            Self::Auto => "auto",
            Self::Human => "human",
            Self::Json => "json",
        })
    }
}

/// Which log lines are written: a general level, and levels of single modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directives(String);

impl Directives {
    /// Returns the directives for warnings and errors of all modules.
    pub fn warnings() -> Self {
        Self("warn".to_owned())
    }

    /// Returns the directives as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for Directives {
    const EXPECTS: &'static str =
        "a level such as \"info\", or \"warn,telltale_server::http=debug\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let plausible = !text.trim().is_empty() && EnvFilter::builder().parse(text).is_ok();
        // The filter takes any single word for a module name, so a misspelled level would silence
        // the log.
        let level_known =
            text.split(',').map(str::trim).filter(|part| !part.contains(['=', '['])).all(|part| {
                part.contains("::") || part.parse::<tracing::level_filters::LevelFilter>().is_ok()
            });
        if plausible && level_known {
            Ok(Self(text.to_owned()))
        } else {
            Err(Self::mismatch(&format!("{text:?}")))
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

impl SettingValue for Vec<Cidr> {
    const EXPECTS: &'static str = "a list of address ranges such as [\"10.0.0.0/8\"]";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Result<Self, String> {
        text.split(',').filter(|part| !part.trim().is_empty()).map(Cidr::parse).collect()
    }

    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::List(items) => items
                .iter()
                .map(|item| match item {
                    Raw::Text(text) => Cidr::parse(text),
                    other => Err(Self::mismatch(other.type_name())),
                })
                .collect(),
            other => Err(Self::mismatch(other.type_name())),
        }
    }

    fn to_toml(&self) -> String {
        let items: Vec<String> = self.iter().map(|cidr| quoted(&cidr.to_string())).collect();
        format!("[{}]", items.join(", "))
    }
}

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

/// The retention of metrics with a name prefix; tiers that are not set keep the general retention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionOverride {
    /// The prefix of the names; the longest matching one applies.
    pub prefix: String,
    /// Raw samples.
    pub raw: Option<Period>,
    /// One-minute rollups.
    pub minute: Option<Period>,
    /// Five-minute rollups.
    pub five_minutes: Option<Period>,
    /// One-hour rollups.
    pub hour: Option<Period>,
    /// One-day rollups.
    pub day: Option<Period>,
}

impl RetentionOverride {
    fn from_table(fields: &[(String, Raw)]) -> Result<Self, String> {
        let mut one = Self::default();
        for (key, raw) in fields {
            let in_key = |reason: String| format!("{key}: {reason}");
            let tier = match key.as_str() {
                "prefix" => {
                    one.prefix = match raw {
                        Raw::Text(text) => text.clone(),
                        other => {
                            return Err(in_key(format!(
                                "expected a string, found {}",
                                other.type_name()
                            )));
                        }
                    };
                    continue;
                }
                "raw" => &mut one.raw,
                "minute" => &mut one.minute,
                "five_minutes" => &mut one.five_minutes,
                "hour" => &mut one.hour,
                "day" => &mut one.day,
                _ => {
                    return Err(format!(
                        "an override has no key {key}: it has prefix, raw, minute, five_minutes, hour and day"
                    ));
                }
            };
            *tier = Some(Period::read(raw).map_err(in_key)?);
        }
        if one.prefix.is_empty() {
            return Err("an override needs a prefix".to_owned());
        }
        Ok(one)
    }

    /// Returns the tiers by name, in the order of the reference.
    fn tiers(&self) -> [(&'static str, Option<Period>); 5] {
        [
            ("raw", self.raw),
            ("minute", self.minute),
            ("five_minutes", self.five_minutes),
            ("hour", self.hour),
            ("day", self.day),
        ]
    }
}

impl SettingValue for Vec<RetentionOverride> {
    const EXPECTS: &'static str = "tables such as [{ prefix = \"debug.\", raw = \"7d\" }]";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(Vec::new()) } else { Err(Self::mismatch(&format!("{text:?}"))) }
    }

    fn read(raw: &Raw) -> Result<Self, String> {
        let items = match raw {
            Raw::Text(text) => return Self::from_text(text),
            Raw::List(items) => items,
            other => return Err(Self::mismatch(other.type_name())),
        };
        let mut all: Self = Vec::with_capacity(items.len());
        for item in items {
            let Raw::Table(fields) = item else {
                return Err(<Self as SettingValue>::mismatch(item.type_name()));
            };
            let one = RetentionOverride::from_table(fields)?;
            if all.iter().any(|earlier| earlier.prefix == one.prefix) {
                return Err(format!("duplicate prefix {:?}", one.prefix));
            }
            all.push(one);
        }
        Ok(all)
    }

    fn to_toml(&self) -> String {
        let items: Vec<String> = self
            .iter()
            .map(|one| {
                let mut fields = vec![format!("prefix = {}", quoted(&one.prefix))];
                let tiers = one.tiers().into_iter();
                fields.extend(tiers.filter_map(|(name, period)| {
                    period.map(|period| format!("{name} = {}", period.to_toml()))
                }));
                format!("{{ {} }}", fields.join(", "))
            })
            .collect();
        format!("[{}]", items.join(", "))
    }
}
