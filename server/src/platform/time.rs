//! Instants as strings: the only module that reads and writes ISO 8601, for bodies, queries and
//! responses.
//!
//! Reads `YYYY-MM-DD`, `T` (or `t`, or a space), `HH:MM`, optional `:SS`, an optional fraction
//! after `.` or `,`, and an optional zone `Z`, `±HH`, `±HHMM` or `±HH:MM`; without a zone the time
//! is UTC. This includes everything RFC 3339 allows. Digits beyond the millisecond are truncated.
//! Writes UTC with milliseconds and `Z`. Queries may also use dates alone, seconds and milliseconds
//! since 1970, and times before now ([`parse_moment`]). Does not know which fields contain times.

use chrono::{Datelike, NaiveDate};
use serde::{Serialize, Serializer};
use telltale_engine::TimestampMs;

use crate::limits;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
/// Days from 0001-01-01 to 1970-01-01, as `num_days_from_ce` counts them.
const EPOCH_DAYS_FROM_CE: i64 = 719_163;
/// The first and last instants with a four-digit year; others are written as the nearer of these.
const WRITABLE_MS: (i64, i64) = (-62_167_219_200_000, 253_402_300_799_999);

/// Milliseconds of the units in `now-90s`.
const UNITS_MS: [(char, i64); 5] =
    [('s', 1_000), ('m', MINUTE_MS), ('h', 3_600_000), ('d', DAY_MS), ('w', 7 * DAY_MS)];

/// A parsed `from` or `to` of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A date with a time, seconds or milliseconds since 1970, or a time before now.
    Instant(TimestampMs),
    /// A date alone, represented by its first instant in UTC.
    Day(TimestampMs),
    /// `now`; as an end it includes the current millisecond.
    Now(TimestampMs),
}

impl Moment {
    /// Returns the instant, or the first one of the day.
    pub fn start(self) -> TimestampMs {
        match self {
            Self::Instant(t) | Self::Day(t) | Self::Now(t) => t,
        }
    }

    /// Returns the instant, or the first one after the day. Ends are exclusive.
    pub fn end(self) -> TimestampMs {
        match self {
            Self::Instant(t) => t,
            Self::Day(t) => TimestampMs(t.0 + DAY_MS),
            Self::Now(t) => TimestampMs(t.0 + 1),
        }
    }
}

/// Why a string is not a valid time of recorded data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTime {
    /// The string is not a date with a time.
    #[error("must be an ISO 8601 date-time such as 2026-01-02T03:04:05.678Z")]
    Unreadable,
    /// The time is before 1970 or too far ahead of now.
    #[error("must be between 1970-01-01 and {} hours from now", limits::FUTURE_MS_MAX / 3_600_000)]
    OutOfRange,
}

/// Parses a date with a time.
pub fn parse(text: &str) -> Option<TimestampMs> {
    let (head, rest) = text.as_bytes().split_first_chunk::<16>()?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ', h1, h2, b':', n1, n2] =
        *head
    else {
        return None;
    };
    let day_ms = day_start_ms(two(y1, y2)? * 100 + two(y3, y4)?, two(m1, m2)?, two(d1, d2)?)?;
    let minutes = within(two(h1, h2)?, 23)? * 60 + within(two(n1, n2)?, 59)?;
    let (second_ms, rest) = seconds(rest)?;
    let offset_ms = offset(rest)?;
    Some(TimestampMs(day_ms + i64::from(minutes) * MINUTE_MS + second_ms - offset_ms))
}

/// Parses the time of recorded data: neither before 1970 nor more than [`limits::FUTURE_MS_MAX`]
/// after `now`.
pub fn parse_recorded(text: &str, now: TimestampMs) -> Result<TimestampMs, InvalidTime> {
    let time = parse(text).ok_or(InvalidTime::Unreadable)?;
    if (0..=now.0.saturating_add(limits::FUTURE_MS_MAX)).contains(&time.0) {
        Ok(time)
    } else {
        Err(InvalidTime::OutOfRange)
    }
}

/// Parses a time in a query: a date with a time, a date alone, seconds (10 digits) or milliseconds
/// (13 digits) since 1970, `now`, or a time before now such as `now-1h`, with the units s, m, h, d
/// and w.
pub fn parse_moment(text: &str, now: TimestampMs) -> Option<Moment> {
    if text == "now" {
        return Some(Moment::Now(now));
    }
    if let Some(before) = text.strip_prefix("now-") {
        let time = now.0.checked_sub(span_ms(before)?)?;
        return (time >= WRITABLE_MS.0).then_some(Moment::Instant(TimestampMs(time)));
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        let units_ms = match text.len() {
            10 => 1_000,
            13 => 1,
            _ => return None,
        };
        let units: i64 = text.parse().ok()?;
        return Some(Moment::Instant(TimestampMs(units * units_ms)));
    }
    parse_date_or_time(text)
}

/// Parses an integer and a unit, as in `90s`, to milliseconds.
fn span_ms(text: &str) -> Option<i64> {
    let mut characters = text.chars();
    let unit = characters.next_back()?;
    let (_, unit_ms) = UNITS_MS.iter().find(|(known, _)| *known == unit)?;
    let digits = characters.as_str();
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let count: i64 = if is_number { digits.parse().ok()? } else { return None };
    count.checked_mul(*unit_ms)
}

/// Parses a date with a time, or a date alone. A space in front of an offset is read as `+`: it was
/// a `+` that the client did not percent-encode.
pub fn parse_date_or_time(text: &str) -> Option<Moment> {
    if let Some(instant) = parse(text) {
        return Some(Moment::Instant(instant));
    }
    let bytes = text.as_bytes();
    if let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *bytes {
        let year = two(y1, y2)? * 100 + two(y3, y4)?;
        return Some(Moment::Day(TimestampMs(day_start_ms(year, two(m1, m2)?, two(d1, d2)?)?)));
    }
    let space = text.rfind(' ').filter(|at| *at >= 16)?;
    let mut restored = text.to_owned();
    restored.replace_range(space..=space, "+");
    parse(&restored).map(Moment::Instant)
}

/// Appends `time` as `2026-01-02T03:04:05.678Z`.
pub fn write(out: &mut Vec<u8>, time: TimestampMs) {
    out.extend_from_slice(&encoded(time));
}

/// Returns `time` as `2026-01-02T03:04:05.678Z`.
pub fn format(time: TimestampMs) -> String {
    encoded(time).iter().copied().map(char::from).collect()
}

/// An instant that is a string in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IsoTime(pub TimestampMs);

impl Serialize for IsoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format(self.0))
    }
}

impl schemars::JsonSchema for IsoTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

fn encoded(time: TimestampMs) -> [u8; 24] {
    let ms = time.0.clamp(WRITABLE_MS.0, WRITABLE_MS.1);
    let days = ms.div_euclid(DAY_MS) + EPOCH_DAYS_FROM_CE;
    // Clamped, so the cast is lossless and chrono, whose years reach further, has the date.
    let Some(date) = NaiveDate::from_num_days_from_ce_opt(days as i32) else {
        panic!("{days} days are not within the years that can be written");
    };
    let (year, month, day) = (date.year().unsigned_abs(), date.month(), date.day());
    let ms_of_day = ms.rem_euclid(DAY_MS) as u32;
    let (seconds, millis) = (ms_of_day / 1_000, ms_of_day % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let digit = |n: u32| b'0' + (n % 10) as u8;
    [
        digit(year / 1000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        b'-',
        digit(month / 10),
        digit(month),
        b'-',
        digit(day / 10),
        digit(day),
        b'T',
        digit(hour / 10),
        digit(hour),
        b':',
        digit(minute / 10),
        digit(minute),
        b':',
        digit(second / 10),
        digit(second),
        b'.',
        digit(millis / 100),
        digit(millis / 10),
        digit(millis),
        b'Z',
    ]
}

#[inline]
fn two(tens: u8, ones: u8) -> Option<u32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}

#[inline]
fn within(value: u32, max: u32) -> Option<u32> {
    (value <= max).then_some(value)
}

#[inline]
fn day_start_ms(year: u32, month: u32, day: u32) -> Option<i64> {
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some((i64::from(date.num_days_from_ce()) - EPOCH_DAYS_FROM_CE) * DAY_MS)
}

/// Parses `:SS` with an optional fraction to milliseconds; returns them and the rest. Returns 0 and
/// all of `rest` if it does not begin with `:`. A leap second counts into the next minute.
#[inline]
fn seconds(rest: &[u8]) -> Option<(i64, &[u8])> {
    let [b':', s1, s2, rest @ ..] = rest else {
        return Some((0, rest));
    };
    let whole_ms = i64::from(within(two(*s1, *s2)?, 60)?) * 1_000;
    let [b'.' | b',', fraction @ ..] = rest else {
        return Some((whole_ms, rest));
    };
    let (mut ms, mut weight, mut digits) = (0, 100, 0);
    for byte in fraction {
        if !byte.is_ascii_digit() {
            break;
        }
        ms += i64::from(byte - b'0') * weight;
        weight /= 10;
        digits += 1;
    }
    let rest = fraction.get(digits..)?;
    (digits > 0).then_some((whole_ms + ms, rest))
}

/// Parses a zone to the milliseconds that local time is ahead of UTC.
#[inline]
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, digits) = match zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        // U+2212 is the minus sign that ISO 8601 itself prints.
        [b'-', digits @ ..] | [0xe2, 0x88, 0x92, digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [h1, h2] => (two(h1, h2)?, 0),
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => (two(h1, h2)?, two(m1, m2)?),
        _ => return None,
    };
    Some(sign * i64::from(within(hours, 23)? * 60 + within(minutes, 59)?) * MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, SecondsFormat, TimeZone, Utc};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let read = parse(text).map(format);
        assert_eq!(read.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn all_documented_forms_are_read() {
        for (text, expected) in [
            ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02t03:04:05z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02 03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04Z", "2026-01-02T03:04:00.000Z"),
            ("2026-01-02T03:04", "2026-01-02T03:04:00.000Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05.6", "2026-01-02T03:04:05.600Z"),
            ("2026-01-02T03:04:05,67Z", "2026-01-02T03:04:05.670Z"),
            ("2026-01-02T03:04:05.678999999999Z", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000Z"),
            ("2026-01-02T03:04:05-0230", "2026-01-02T05:34:05.000Z"),
            ("2026-01-02T03:04+05", "2026-01-01T22:04:00.000Z"),
            ("2026-01-02T03:04:05\u{2212}02:00", "2026-01-02T05:04:05.000Z"),
            ("2026-01-02T03:04:05.5-00:00", "2026-01-02T03:04:05.500Z"),
            ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
        ] {
            check(text, Some(expected));
        }
    }

    #[test]
    fn malformed_times_are_refused() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T",
            "2026-01-02T03",
            "2026-01-02T03:04:",
            "2026-01-02T03:04:5Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04.5Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:60:00Z",
            "2026-01-02T03:04:61Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-02T03:04:05+24:00",
            "2026-01-02T03:04:05+02:60",
            "2026-01-02T03:04:05+2",
            "2026-01-02T03:04:05 Z",
            "2026-01-02T03:04:05ZZ",
            "2026-01-02T03:04:05Z ",
            " 2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05 UTC",
            "20260102T030405Z",
            "+2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05\u{2213}02:00",
            "２０２６-01-02T03:04:05Z",
            "1767323045",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_recorded_time_is_neither_before_1970_nor_a_day_ahead() {
        let now = parse("2026-01-02T03:04:05Z").unwrap();
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Ok(0)),
            ("1969-12-31T23:59:59.999Z", Err(InvalidTime::OutOfRange)),
            ("2026-01-03T03:04:05Z", Ok(now.0 + DAY_MS)),
            ("2026-01-03T03:04:05.001Z", Err(InvalidTime::OutOfRange)),
            ("yesterday", Err(InvalidTime::Unreadable)),
        ] {
            assert_eq!(parse_recorded(text, now), expected.map(TimestampMs), "{text}");
        }
    }

    #[test]
    fn a_query_also_takes_dates_and_an_offset_whose_plus_became_a_space() {
        let midnight = parse("2026-01-02T00:00:00Z").unwrap();
        let early = parse("2026-01-02T01:00:00Z").unwrap();
        for (text, expected) in [
            ("2026-01-02", Some(Moment::Day(midnight))),
            ("2026-01-02T03:00:00+02:00", Some(Moment::Instant(early))),
            ("2026-01-02T03:00:00 02:00", Some(Moment::Instant(early))),
            ("2026-01-02 03:00 02:00", Some(Moment::Instant(early))),
            ("2026-01-02 01:00", Some(Moment::Instant(early))),
            ("2026-02-30", None),
            ("2026-1-2", None),
            ("2026-01-02 ", None),
            ("now", None),
            ("", None),
        ] {
            assert_eq!(parse_date_or_time(text), expected, "{text}");
        }
        assert_eq!(Moment::Day(midnight).end().0 - Moment::Day(midnight).start().0, DAY_MS);
        assert_eq!(Moment::Instant(early).end(), early);
    }

    #[test]
    fn a_query_also_takes_seconds_milliseconds_and_times_before_now() {
        let now = parse("2026-01-02T03:04:05.678Z").unwrap();
        let instant = |text: &str| Some(Moment::Instant(parse(text).unwrap()));
        for (text, expected) in [
            ("now", Some(Moment::Now(now))),
            ("now-0s", Some(Moment::Instant(now))),
            ("now-90s", instant("2026-01-02T03:02:35.678Z")),
            ("now-5m", instant("2026-01-02T02:59:05.678Z")),
            ("now-1h", instant("2026-01-02T02:04:05.678Z")),
            ("now-2d", instant("2025-12-31T03:04:05.678Z")),
            ("now-1w", instant("2025-12-26T03:04:05.678Z")),
            ("1767323045", instant("2026-01-02T03:04:05Z")),
            ("1767323045678", instant("2026-01-02T03:04:05.678Z")),
            ("0000000000", instant("1970-01-01T00:00:00Z")),
            ("9999999999999", instant("2286-11-20T17:46:39.999Z")),
            ("2026-01-02", Some(Moment::Day(parse("2026-01-02T00:00Z").unwrap()))),
            ("2026-01-02T03:04Z", instant("2026-01-02T03:04:00Z")),
        ] {
            assert_eq!(parse_moment(text, now), expected, "{text}");
        }
        for text in [
            "",
            "Now",
            "now-",
            "now-h",
            "now-1",
            "now-1y",
            "now-1M",
            "now-1.5h",
            "now--1h",
            "now+1h",
            "now 1h",
            "now-1h30m",
            "now-9999999999w",
            "now-9223372036854775807w",
            "now-99999999999999999999s",
            "now-1\u{e9}",
            "176732304",
            "17673230450",
            "176732304567",
            "17673230456789",
            "-1767323045",
            "1767323045.5",
        ] {
            assert_eq!(parse_moment(text, now), None, "{text}");
        }
        assert_eq!(Moment::Now(now).end().0, now.0 + 1);
    }

    #[test]
    fn times_beyond_four_digit_years_are_written_as_the_nearest_writable_one() {
        assert_eq!(format(TimestampMs(i64::MAX)), "9999-12-31T23:59:59.999Z");
        assert_eq!(format(TimestampMs(i64::MIN)), "0000-01-01T00:00:00.000Z");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ms in WRITABLE_MS.0..=WRITABLE_MS.1) {
            let text = format(TimestampMs(ms));
            prop_assert_eq!(parse(&text), Some(TimestampMs(ms)));
            let chrono = Utc.timestamp_millis_opt(ms).unwrap();
            prop_assert_eq!(text, chrono.to_rfc3339_opts(SecondsFormat::Millis, true));
        }

        #[test]
        fn whatever_rfc_3339_allows_is_read_the_same(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,12})?([Zz]|[+\u{2212}-][0-2][0-9]:[0-6][0-9])"
        ) {
            let reference = DateTime::parse_from_rfc3339(&text).ok();
            prop_assert_eq!(parse(&text).map(|t| t.0), reference.map(|t| t.timestamp_millis()));
        }

        #[test]
        fn no_input_panics(text in "\\PC{0,40}") {
            parse(&text);
            parse_date_or_time(&text);
            parse_moment(&text, TimestampMs(0));
        }
    }
}
