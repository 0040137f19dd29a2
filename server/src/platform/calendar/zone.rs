//! Time zones: the mapping between instants and the wall clock of a zone.
//!
//! A change of the offset skips local times or lets them occur twice. A skipped time moves forward
//! by the length of the gap, as if the offset before the gap still held: 02:30 in a gap from 02:00
//! to 03:00 is 03:30, which is also what `dateutil.tz.resolve_imaginary` of Python returns. A time
//! that occurs twice is the first of both. Hand-offs and days begin with the first instant after
//! the gap instead.
//!
//! The offsets are those of the time zone database in `chrono-tz`, which lists changes up to the
//! year 2099 and continues with the last offset. Of that crate only the offset at an instant is
//! used. Local times are resolved here, with the offsets one day before and one day after them:
//! since 1970 no zone has changed its offset twice within 48 hours.
//!
//! All functions accept every value. Instants are kept within 1970 to 9999, local times beyond
//! these years map to the first or last of them.

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone};
use chrono_tz::Tz;
use telltale_engine::TimestampMs;

const DAY_MS: i64 = 86_400_000;

/// The first instant of the calendar: 1970-01-01T00:00:00Z.
pub const FIRST_INSTANT: TimestampMs = TimestampMs(0);

/// The last instant of the calendar: 9999-12-31T23:59:59.999Z.
pub const LAST_INSTANT: TimestampMs = TimestampMs(253_402_300_799_999);

/// A time zone of the IANA database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone(Tz);

/// The error for a name that the database does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the name of a time zone such as Europe/Berlin or UTC")]
pub struct UnknownZone;

/// What a wall clock shows at a local time.
enum LocalTime {
    /// The time occurs, for the first time at this instant in milliseconds.
    Exists(i64),
    /// A change of the offset skips the time.
    Skipped {
        /// The offset before the gap, in milliseconds.
        before_ms: i64,
        /// The offset after the gap, in milliseconds.
        after_ms: i64,
    },
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Tz::UTC);

    /// Parses a name of the database, which is case-sensitive. Aliases such as `US/Eastern` are
    /// names too.
    pub fn parse(name: &str) -> Result<Self, UnknownZone> {
        name.parse().map(Self).map_err(|_| UnknownZone)
    }

    /// Returns the name as it was parsed.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns what the wall clock shows at `instant`.
    pub fn local(self, instant: TimestampMs) -> NaiveDateTime {
        let utc_ms = instant.clamp(FIRST_INSTANT, LAST_INSTANT).0;
        wall_clock(utc_ms + self.offset_ms(utc_ms))
    }

    /// Returns the instant at which the wall clock shows `local`: the first of two; a time that is
    /// skipped moves forward by the length of the gap.
    pub fn instant(self, local: NaiveDateTime) -> TimestampMs {
        let local_ms = milliseconds(local);
        match self.resolve(local_ms) {
            LocalTime::Exists(utc_ms) => clamped(utc_ms),
            LocalTime::Skipped { before_ms, .. } => clamped(local_ms - before_ms),
        }
    }

    /// Returns the instant at which the wall clock shows `local`: the first of two; a time that is
    /// skipped is the first instant after the gap.
    pub fn first_instant_at_or_after(self, local: NaiveDateTime) -> TimestampMs {
        let local_ms = milliseconds(local);
        match self.resolve(local_ms) {
            LocalTime::Exists(utc_ms) => clamped(utc_ms),
            LocalTime::Skipped { before_ms, after_ms } => {
                clamped(self.end_of_offset(before_ms, local_ms - after_ms, local_ms - before_ms))
            }
        }
    }

    /// Returns the first instant of a day. If midnight is skipped it is the first instant after the
    /// gap, and if the whole day is skipped the first instant of the next day.
    pub fn first_instant_of(self, date: NaiveDate) -> TimestampMs {
        self.first_instant_at_or_after(date.and_time(NaiveTime::MIN))
    }

    fn resolve(self, local_ms: i64) -> LocalTime {
        let before_ms = self.offset_ms(local_ms - DAY_MS);
        let after_ms = self.offset_ms(local_ms + DAY_MS);
        // If the time occurs twice, the offset before the change gives the earlier instant.
        for offset_ms in [before_ms, after_ms] {
            if self.offset_ms(local_ms - offset_ms) == offset_ms {
                return LocalTime::Exists(local_ms - offset_ms);
            }
        }
        LocalTime::Skipped { before_ms, after_ms }
    }

    /// Returns the first instant after `low_ms`, at most `high_ms`, that has another offset than
    /// `offset_ms`.
    fn end_of_offset(self, offset_ms: i64, low_ms: i64, high_ms: i64) -> i64 {
        let (mut low_ms, mut high_ms) = (low_ms, high_ms);
        while high_ms - low_ms > 1 {
            let middle_ms = low_ms + (high_ms - low_ms) / 2;
            if self.offset_ms(middle_ms) == offset_ms {
                low_ms = middle_ms;
            } else {
                high_ms = middle_ms;
            }
        }
        high_ms
    }

    /// Returns by how many milliseconds local time is ahead of UTC.
    fn offset_ms(self, utc_ms: i64) -> i64 {
        let utc = wall_clock(clamped(utc_ms).0);
        i64::from(self.0.offset_from_utc_datetime(&utc).fix().local_minus_utc()) * 1_000
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn clamped(ms: i64) -> TimestampMs {
    TimestampMs(ms).clamp(FIRST_INSTANT, LAST_INSTANT)
}

/// Returns the milliseconds from 1970-01-01T00:00:00 on the same wall clock.
fn milliseconds(local: NaiveDateTime) -> i64 {
    local.and_utc().timestamp_millis()
}

/// Returns what the wall clock shows that many milliseconds after 1970-01-01T00:00:00.
fn wall_clock(ms: i64) -> NaiveDateTime {
    match DateTime::from_timestamp_millis(ms) {
        Some(time) => time.naive_utc(),
        None => panic!("{ms} is within a day of the years 1970 to 9999"),
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::TZ_VARIANTS;

    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::parse(name).unwrap()
    }

    fn local(text: &str) -> NaiveDateTime {
        text.parse().unwrap()
    }

    fn utc(text: &str) -> TimestampMs {
        TimestampMs(text.parse::<DateTime<chrono::Utc>>().unwrap().timestamp_millis())
    }

    #[test]
    fn zones_are_known_by_the_names_and_aliases_of_the_database() {
        for name in ["UTC", "Europe/Berlin", "US/Eastern", "Asia/Katmandu", "Etc/GMT+5", "EST5EDT"]
        {
            assert_eq!(zone(name).name(), name);
        }
        assert_eq!(zone("UTC"), Zone::UTC);
        for name in ["", "europe/berlin", "EUROPE/BERLIN", "utc", "+02:00", "Mars/Base", " UTC"] {
            assert_eq!(Zone::parse(name), Err(UnknownZone), "{name:?}");
        }
    }

    #[test]
    fn a_skipped_time_moves_forward_and_one_that_occurs_twice_is_the_first() {
        for (name, text, instant, at_or_after) in [
            // 02:00 to 03:00 is skipped.
            ("America/New_York", "2026-03-08T01:59:59", "2026-03-08T06:59:59Z", ""),
            ("America/New_York", "2026-03-08T02:00:00", "2026-03-08T07:00:00Z", ""),
            (
                "America/New_York",
                "2026-03-08T02:30:00",
                "2026-03-08T07:30:00Z",
                "2026-03-08T07:00:00Z",
            ),
            ("America/New_York", "2026-03-08T03:00:00", "2026-03-08T07:00:00Z", ""),
            // 01:00 to 02:00 occurs twice.
            ("America/New_York", "2026-11-01T00:59:00", "2026-11-01T04:59:00Z", ""),
            ("America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00Z", ""),
            ("America/New_York", "2026-11-01T02:00:00", "2026-11-01T07:00:00Z", ""),
            // Half an hour is skipped, and later repeated.
            (
                "Australia/Lord_Howe",
                "2026-10-04T02:10:00",
                "2026-10-03T15:40:00Z",
                "2026-10-03T15:30:00Z",
            ),
            ("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z", ""),
            // A whole day is skipped.
            ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T22:00:00Z", "2011-12-30T10:00:00Z"),
            ("Asia/Kathmandu", "2026-01-01T00:00:00.123", "2025-12-31T18:15:00.123Z", ""),
            ("UTC", "2026-03-08T02:30:00", "2026-03-08T02:30:00Z", ""),
        ] {
            let zone = zone(name);
            assert_eq!(zone.instant(local(text)), utc(instant), "{name} {text}");
            let at_or_after = if at_or_after.is_empty() { instant } else { at_or_after };
            let first = zone.first_instant_at_or_after(local(text));
            assert_eq!(first, utc(at_or_after), "{name} {text}");
        }
    }

    #[test]
    fn a_day_begins_with_its_first_instant() {
        for (name, date, expected) in [
            ("America/New_York", "2026-03-08", "2026-03-08T05:00:00Z"),
            // Midnight is skipped: the day begins at 01:00.
            ("Africa/Cairo", "2025-04-25", "2025-04-24T22:00:00Z"),
            ("Asia/Beirut", "2025-03-30", "2025-03-29T22:00:00Z"),
            ("America/Havana", "2025-03-09", "2025-03-09T05:00:00Z"),
            // The hour before midnight is repeated: the day begins after the second one.
            ("Africa/Cairo", "2025-10-31", "2025-10-30T22:00:00Z"),
            ("Asia/Beirut", "2025-10-26", "2025-10-25T22:00:00Z"),
            // Midnight itself is repeated.
            ("America/Havana", "2025-11-02", "2025-11-02T04:00:00Z"),
            ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z"),
            ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"),
            ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"),
            ("Pacific/Apia", "2012-01-01", "2011-12-31T10:00:00Z"),
        ] {
            let first = zone(name).first_instant_of(date.parse().unwrap());
            assert_eq!(first, utc(expected), "{name} {date}");
            let date = date.parse::<NaiveDate>().unwrap();
            assert!(zone(name).local(first).date() >= date, "{name} {date}");
            assert!(zone(name).local(TimestampMs(first.0 - 1)).date() < date, "{name} {date}");
        }
    }

    #[test]
    fn instants_and_local_times_are_inverse_in_all_zones() {
        // An instant of every third day from 1970 to 2040, so that no two changes of the offset are
        // between two of them, and local times 25 minutes apart around each change.
        for tz in TZ_VARIANTS {
            let zone = Zone(tz);
            let mut previous_ms = zone.offset_ms(0);
            for step in 0..25_567 / 3 {
                let utc_ms = step * 3 * DAY_MS;
                let local = zone.local(TimestampMs(utc_ms));
                let earliest = zone.instant(local);
                assert!(earliest.0 <= utc_ms && zone.local(earliest) == local, "{tz} {local}");
                let offset_ms = zone.offset_ms(utc_ms);
                if offset_ms != previous_ms {
                    check_change(zone, utc_ms, previous_ms, offset_ms);
                }
                previous_ms = offset_ms;
            }
        }
    }

    /// Checks the local times around a change that happened within three days before `utc_ms`.
    fn check_change(zone: Zone, utc_ms: i64, before_ms: i64, after_ms: i64) {
        let change_ms = zone.end_of_offset(before_ms, utc_ms - 3 * DAY_MS, utc_ms);
        for step in -120..120 {
            let local_ms = change_ms + before_ms + step * 25 * 60_000;
            let local = wall_clock(local_ms);
            let (earlier_ms, later_ms) = (local_ms - before_ms, local_ms - after_ms);
            let (instant, first) = if earlier_ms < change_ms {
                (earlier_ms, earlier_ms)
            } else if later_ms >= change_ms {
                (later_ms, later_ms)
            } else {
                (earlier_ms, change_ms)
            };
            assert_eq!(zone.instant(local).0, instant, "{zone:?} {local}");
            assert_eq!(zone.first_instant_at_or_after(local).0, first, "{zone:?} {local}");
        }
    }

    #[test]
    fn every_value_is_accepted() {
        let (first, last) = (NaiveDateTime::MIN, NaiveDateTime::MAX);
        for name in ["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "America/New_York"] {
            let zone = zone(name);
            for extreme in [i64::MIN, -1, i64::MAX, LAST_INSTANT.0 + 1] {
                let clamped = TimestampMs(extreme).clamp(FIRST_INSTANT, LAST_INSTANT);
                assert_eq!(zone.local(TimestampMs(extreme)), zone.local(clamped));
            }
            assert_eq!(zone.instant(first), FIRST_INSTANT);
            assert_eq!(zone.instant(last), LAST_INSTANT);
            assert_eq!(zone.first_instant_at_or_after(first), FIRST_INSTANT);
            assert_eq!(zone.first_instant_at_or_after(last), LAST_INSTANT);
            assert_eq!(zone.first_instant_of(NaiveDate::MIN), FIRST_INSTANT);
            assert_eq!(zone.first_instant_of(NaiveDate::MAX), LAST_INSTANT);
            for instant in [FIRST_INSTANT, LAST_INSTANT] {
                assert_eq!(zone.instant(zone.local(instant)), instant);
            }
        }
        let leap_second = local("2026-06-30T23:59:60");
        let next = local("2026-07-01T00:00:00");
        assert_eq!(Zone::UTC.instant(leap_second), Zone::UTC.instant(next));
    }
}
