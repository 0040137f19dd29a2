//! Sizes and durations in settings: `256MiB`, `30d`, `1h30m`. Converts between strings and numbers.
//!
//! Units of size are powers of 1024: `KB` and `KiB` mean the same, as in most storage systems. A
//! day has 24 hours and a year 365 days; calendars are not considered. Zero is not valid, because
//! no setting could have that value.

use std::fmt;
use std::time::Duration;

/// The longest period of a setting: a thousand years, so that sums with the current time never
/// overflow.
const PERIOD_MS_MAX: u64 = 1_000 * 365 * 86_400_000;

/// Suffixes of sizes, largest first. The first suffix of each power is used for printing.
const SIZES: [(&str, u64); 13] = [
    ("TiB", 1 << 40),
    ("TB", 1 << 40),
    ("T", 1 << 40),
    ("GiB", 1 << 30),
    ("GB", 1 << 30),
    ("G", 1 << 30),
    ("MiB", 1 << 20),
    ("MB", 1 << 20),
    ("M", 1 << 20),
    ("KiB", 1 << 10),
    ("KB", 1 << 10),
    ("K", 1 << 10),
    ("B", 1),
];

/// Suffixes of periods in milliseconds, largest first.
const PERIODS: [(&str, u64); 7] = [
    ("y", 365 * 86_400_000),
    ("w", 7 * 86_400_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// A number of bytes, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }

    /// Returns the number of bytes, saturated, for sizes in memory.
    pub fn bytes_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Parses a size such as `256MiB`, `1.5GB` or `4096`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (number, unit) = split_number(text.trim());
        let scale = if unit.is_empty() {
            1
        } else {
            SIZES
                .iter()
                .find(|(suffix, _)| suffix.eq_ignore_ascii_case(unit))
                .map(|(_, scale)| *scale)
                .ok_or_else(|| {
                    format!("{text:?} has no unit of size: use B, KiB, MiB, GiB or TiB")
                })?
        };
        match scaled(number, scale) {
            Some(0) => Err(format!("{text:?} must be more than zero bytes")),
            Some(bytes) => Ok(Self(bytes)),
            None => Err(format!("{text:?} is not a size such as \"256MiB\"")),
        }
    }

    /// Returns the size of this many bytes, at least one.
    pub fn at_least_one(bytes: u64) -> Self {
        Self(bytes.max(1))
    }

    /// Returns the size of this many bytes. Fails for 0.
    pub fn from_bytes(bytes: u64) -> Result<Self, String> {
        if bytes == 0 { Err("must be more than zero bytes".to_owned()) } else { Ok(Self(bytes)) }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (suffix, scale) =
            SIZES.iter().find(|(_, scale)| self.0.is_multiple_of(*scale)).unwrap_or(&("B", 1));
        write!(f, "{}{suffix}", self.0 / scale)
    }
}

/// A duration from a millisecond to a thousand years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(u64);

impl Period {
    /// Returns the period as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// Returns the period in milliseconds.
    pub fn ms(self) -> i64 {
        // At most a thousand years.
        self.0 as i64
    }

    /// Parses a period such as `250ms`, `10m`, `1h30m` or `2y`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut total: u64 = 0;
        let not_one =
            || format!("{text:?} is not a duration such as \"250ms\", \"10m\" or \"30d\"");
        if rest.is_empty() {
            return Err(not_one());
        }
        while !rest.is_empty() {
            let (number, tail) = split_number(rest);
            let (unit, tail) = split_unit(tail);
            let scale = PERIODS.iter().find(|(suffix, _)| *suffix == unit).map(|(_, scale)| *scale);
            let scale = match scale {
                Some(scale) => scale,
                None if number.is_empty() => return Err(not_one()),
                None => {
                    return Err(format!(
                        "{text:?} has no unit of time: use ms, s, m, h, d, w or y"
                    ));
                }
            };
            let part = scaled(number, scale).ok_or_else(not_one)?;
            total = total.saturating_add(part);
            rest = tail;
        }
        match total {
            0 => Err(format!("{text:?} must be longer than zero")),
            ms if ms > PERIOD_MS_MAX => Err(format!("{text:?} is longer than 1000y")),
            ms => Ok(Self(ms)),
        }
    }
}

/// In milliseconds, from one to a thousand years.
impl From<Duration> for Period {
    fn from(duration: Duration) -> Self {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(PERIOD_MS_MAX);
        Self(ms.clamp(1, PERIOD_MS_MAX))
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Weeks are read but not written: "14d" is clearer than "2w".
        let (suffix, scale) = PERIODS
            .iter()
            .filter(|(suffix, _)| *suffix != "w")
            .find(|(_, scale)| self.0.is_multiple_of(*scale))
            .unwrap_or(&("ms", 1));
        write!(f, "{}{suffix}", self.0 / scale)
    }
}

/// Splits off the leading digits (with `_` and `.`).
fn split_number(text: &str) -> (&str, &str) {
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '.')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number, rest.trim_start())
}

/// Splits off the leading letters.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (unit, rest) = text.split_at(end);
    (unit, rest.trim_start())
}

/// Returns `number * scale` if `number` is valid and the product is an integer that fits.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let Some((whole, fraction)) = digits.split_once('.') else {
        return digits.parse::<u64>().ok()?.checked_mul(scale);
    };
    let places = u32::try_from(fraction.len()).ok()?;
    let divisor = 10u128.checked_pow(places)?;
    let all: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = all.checked_mul(u128::from(scale))?;
    if product % divisor != 0 {
        return None;
    }
    u64::try_from(product / divisor).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_in_1024s_and_print_in_the_largest_whole_unit() {
        for (text, expected) in [
            ("1", Ok("1B")),
            ("4096", Ok("4KiB")),
            ("256MB", Ok("256MiB")),
            ("256MiB", Ok("256MiB")),
            ("256 mib", Ok("256MiB")),
            ("1.5GB", Ok("1536MiB")),
            ("1_000KB", Ok("1000KiB")),
            ("8M", Ok("8MiB")),
            ("2TiB", Ok("2TiB")),
            ("0", Err("\"0\" must be more than zero bytes")),
            ("", Err("\"\" is not a size such as \"256MiB\"")),
            ("MB", Err("\"MB\" is not a size such as \"256MiB\"")),
            ("-1MB", Err("\"-1MB\" has no unit of size: use B, KiB, MiB, GiB or TiB")),
            ("10XB", Err("\"10XB\" has no unit of size: use B, KiB, MiB, GiB or TiB")),
            ("1.2.3MB", Err("\"1.2.3MB\" is not a size such as \"256MiB\"")),
            ("0.3B", Err("\"0.3B\" is not a size such as \"256MiB\"")),
            ("99999999999TB", Err("\"99999999999TB\" is not a size such as \"256MiB\"")),
        ] {
            let read = ByteSize::parse(text).map(|size| size.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text:?}");
        }
    }

    #[test]
    fn periods_read_in_parts_and_print_in_the_largest_whole_unit() {
        for (text, expected) in [
            ("250ms", Ok("250ms")),
            ("1000ms", Ok("1s")),
            ("600s", Ok("10m")),
            ("10m", Ok("10m")),
            ("1h30m", Ok("90m")),
            ("1h 30m", Ok("90m")),
            ("0.5h", Ok("30m")),
            ("30d", Ok("30d")),
            ("2w", Ok("14d")),
            ("730d", Ok("2y")),
            ("2y", Ok("2y")),
            ("0s", Err("\"0s\" must be longer than zero")),
            ("10", Err("\"10\" has no unit of time: use ms, s, m, h, d, w or y")),
            ("10min", Err("\"10min\" has no unit of time: use ms, s, m, h, d, w or y")),
            ("", Err("\"\" is not a duration such as \"250ms\", \"10m\" or \"30d\"")),
            ("soon", Err("\"soon\" is not a duration such as \"250ms\", \"10m\" or \"30d\"")),
            ("d", Err("\"d\" is not a duration such as \"250ms\", \"10m\" or \"30d\"")),
            ("1001y", Err("\"1001y\" is longer than 1000y")),
        ] {
            let read = Period::parse(text).map(|period| period.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_string_is_read_or_refused_without_a_panic(text in ".{0,24}") {
            let size = ByteSize::parse(&text);
            let period = Period::parse(&text);
            proptest::prop_assert!(size.is_err() || ByteSize::parse(&text) == size);
            proptest::prop_assert!(period.is_err() || Period::parse(&text) == period);
        }

        #[test]
        fn what_is_printed_reads_back(n in 1u64..PERIOD_MS_MAX) {
            proptest::prop_assert_eq!(Period::parse(&Period(n).to_string()), Ok(Period(n)));
            proptest::prop_assert_eq!(ByteSize::parse(&ByteSize(n).to_string()), Ok(ByteSize(n)));
        }
    }
}
