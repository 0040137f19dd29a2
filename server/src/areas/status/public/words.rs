//! Times, durations and percentages in words, and users' strings without the characters that would
//! change more than themselves.

use std::fmt::{self, Write as _};

use chrono::{DateTime, Utc};
use telltale_engine::TimestampMs;

use crate::platform::time;

const DAY_MS: i64 = 86_400_000;

/// A string of a user, to be escaped by a template. Displays without control characters, without
/// characters that change the direction of what follows them, and without those that XML 1.0 does
/// not allow (section 2.2). Line breaks remain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(pub(super) &'a str);

/// A time for machines and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) machine: String,
    pub(super) people: String,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, found)) = rest.char_indices().find(|(_, c)| !is_shown(*c)) {
            let (before, after) = rest.split_at(at);
            f.write_str(before)?;
            if matches!(found, '\u{2028}' | '\u{2029}') {
                f.write_char('\n')?;
            }
            rest = after.strip_prefix(found).unwrap_or_default();
        }
        f.write_str(rest)
    }
}

fn is_shown(c: char) -> bool {
    match c {
        '\t' | '\n' => true,
        // Line and paragraph separator; embeddings, overrides and isolates; byte order mark.
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => false,
        // Noncharacters.
        '\u{fdd0}'..='\u{fdef}' => false,
        c => !c.is_control() && u32::from(c) & 0xfffe != 0xfffe,
    }
}

/// Returns a time: `2 Jan 2026, 03:04 UTC`.
pub(super) fn when(at: TimestampMs) -> When {
    When {
        machine: time::format(at),
        people: date_time(at).format("%-d %b %Y, %H:%M UTC").to_string(),
    }
}

/// Returns the end of a period: only the time of day if the period ends on the day of its start.
pub(super) fn until(start: TimestampMs, end: TimestampMs) -> When {
    let format = if day_of(start) == day_of(end) { "%H:%M UTC" } else { "%-d %b %Y, %H:%M UTC" };
    When { machine: time::format(end), people: date_time(end).format(format).to_string() }
}

/// Returns the day since 1970 of a time.
pub(super) fn day_of(at: TimestampMs) -> i64 {
    at.0.div_euclid(DAY_MS)
}

/// Returns a day since 1970: `2 January 2026`.
pub(super) fn date(day: i64) -> String {
    date_time(TimestampMs(day.saturating_mul(DAY_MS))).format("%-d %B %Y").to_string()
}

/// Returns a day since 1970 without its year: `2 January`.
pub(super) fn date_of_year(day: i64) -> String {
    date_time(TimestampMs(day.saturating_mul(DAY_MS))).format("%-d %B").to_string()
}

/// Returns a duration, rounded up to seconds below a minute and down to minutes above: `40 s`,
/// `14 min`, `2 h 5 min`, `3 d 4 h`.
pub(super) fn duration(ms: i64) -> String {
    let seconds = u64::try_from(ms).unwrap_or_default().div_ceil(1_000);
    let two = |first: u64, unit: &str, second: u64, smaller: &str| match second {
        0 => format!("{first} {unit}"),
        second => format!("{first} {unit} {second} {smaller}"),
    };
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => two(hours, "h", minutes, "min"),
        // A whole day reads better in hours.
        (1, 0, _) => "24 h".to_owned(),
        (days, hours, _) => two(days, "d", hours, "h"),
    }
}

/// Returns a percentage with at most three decimals: `99.98%`.
pub(super) fn percent(value: f64) -> String {
    let text = format!("{value:.3}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns a number of things: `1 day`, `3 days`.
pub(super) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

fn date_time(at: TimestampMs) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.0).unwrap_or(DateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_lose_only_the_characters_that_change_others() {
        for (text, shown) in [
            ("", ""),
            ("Ünïcode 漢字 👩\u{200d}👩 שלום", "Ünïcode 漢字 👩\u{200d}👩 שלום"),
            ("a\r\nb\tc", "a\nb\tc"),
            ("a\u{2028}b\u{2029}c", "a\nb\nc"),
            ("\u{202e}gpj.exe\u{202c}\u{2066}x\u{2069}\u{feff}", "gpj.exex"),
            ("\0\u{1}\u{b}\u{1b}[31m\u{7f}\u{85}\u{9f}", "[31m"),
            ("\u{fdd0}\u{fffe}\u{ffff}\u{1ffff}\u{10fffe}\u{fffd}", "\u{fffd}"),
        ] {
            assert_eq!(Text(text).to_string(), shown, "{text:?}");
        }
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, text) in [
            (-1, "0 s"),
            (0, "0 s"),
            (1, "1 s"),
            (59_000, "59 s"),
            (59_001, "1 min"),
            (899_000, "14 min"),
            (3_600_000, "1 h"),
            (7_500_000, "2 h 5 min"),
            (86_399_000, "23 h 59 min"),
            (86_400_000, "24 h"),
            (90_000_000, "1 d 1 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(duration(ms), text, "{ms}");
        }
    }

    #[test]
    fn percentages_have_no_zeros_at_the_end() {
        for (value, text) in
            [(100.0, "100%"), (99.98, "99.98%"), (99.981, "99.981%"), (90.0, "90%"), (0.0, "0%")]
        {
            assert_eq!(percent(value), text);
        }
    }

    #[test]
    fn times_are_in_utc() {
        let at = TimestampMs(1_767_323_045_678);
        let machine = "2026-01-02T03:04:05.678Z".to_owned();
        assert_eq!(
            when(at),
            When { machine: machine.clone(), people: "2 Jan 2026, 03:04 UTC".to_owned() }
        );
        assert_eq!(until(at, at), When { machine, people: "03:04 UTC".to_owned() });
        let next_day = TimestampMs(at.0 + DAY_MS);
        assert_eq!(until(at, next_day).people, "3 Jan 2026, 03:04 UTC");
        assert_eq!(date(day_of(at)), "2 January 2026");
        assert_eq!(date_of_year(day_of(at)), "2 January");
        assert_eq!(day_of(TimestampMs(-1)), -1);
        // Beyond what a date can be.
        assert_eq!(date(i64::MAX), "1 January 1970");
    }
}
