//! Recurrences: occurrences of equal length that follow a rule on the wall clock of a zone.
//!
//! The rule is evaluated on local times (`expansion`), and each local start is then mapped to an
//! instant ([`Zone::instant`]). So is each end, which is the local start plus the duration: a
//! window from 02:00 to 04:00 is 02:00 to 04:00 on every day, three hours long or one when the
//! offset changes in it. An occurrence is at least a millisecond long. Occurrences that start at
//! the same instant, because one of them was skipped and moved forward, are one, which ends with
//! the later.
//!
//! The order of instants can differ from that of local times only near a gap, by at most its
//! length. Searches therefore continue for [`REORDERED`] beyond the first hit. They visit at most
//! the periods of one repetition of the calendar: microseconds for a common rule, 5 ms for the
//! worst. Parsing a rule with a `COUNT` of millions takes up to 20 ms, so recurrences are worth
//! keeping.

use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};
use telltale_engine::TimestampMs;

use super::expansion::Expansion;
use super::rule::{InvalidRecurrence, RecurrenceRule, RuleEnd};
use super::zone::{FIRST_INSTANT, LAST_INSTANT, Zone};
use crate::limits::RECURRENCE_DURATION_MS_MAX;

/// By how much local times may be in another order than their instants: no gap is longer than a
/// day, which is skipped when a zone moves across the date line.
const REORDERED: TimeDelta = TimeDelta::days(2);

/// An instant before the first one of the calendar.
const BEFORE_ALL: TimestampMs = TimestampMs(FIRST_INSTANT.0 - 1);

/// The years in which a recurrence may start, on the wall clock.
const ANCHOR_YEARS: std::ops::RangeInclusive<i32> = 1969..=9_999;

/// Occurrences of equal length on the wall clock of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    expansion: Expansion,
    zone: Zone,
    /// The part of a second at which each occurrence starts. Rules count in whole seconds.
    fraction: TimeDelta,
    duration: TimeDelta,
}

/// One occurrence: `starts_at <= t < ends_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The first instant of the occurrence.
    pub starts_at: TimestampMs,
    /// The first instant after the occurrence.
    pub ends_at: TimestampMs,
}

impl Recurrence {
    /// Parses a rule whose first occurrence is the first local time at or after `anchor` that
    /// matches it, on the wall clock of `zone`. `duration_ms` is how far the wall clock advances
    /// during an occurrence.
    ///
    /// An `UNTIL` in UTC is converted to the wall clock of the zone. Without `Z` it is local time,
    /// and a date alone is the midnight with which that day begins, as in `dateutil` of Python with
    /// times without a zone. A local start that equals it is the last one.
    pub fn parse(
        rule: &str,
        anchor: NaiveDateTime,
        zone: Zone,
        duration_ms: i64,
    ) -> Result<Self, InvalidRecurrence> {
        let rule = RecurrenceRule::parse(rule)?;
        if duration_ms > RECURRENCE_DURATION_MS_MAX {
            return Err(InvalidRecurrence::Duration);
        }
        if !ANCHOR_YEARS.contains(&anchor.year()) {
            return Err(InvalidRecurrence::Start);
        }
        let end = rule.end;
        let fraction = TimeDelta::nanoseconds(i64::from(anchor.nanosecond()));
        let mut expansion = Expansion::new(rule, anchor - fraction);
        let last = match end {
            RuleEnd::Never => None,
            RuleEnd::Count(count) => expansion.nth_time(count),
            RuleEnd::Local(until) => Some(until),
            RuleEnd::Utc(until) => Some(zone.local(Zone::UTC.instant(until))),
        };
        if let Some(last) = last {
            expansion = expansion.ending_at(last);
        }
        let duration = TimeDelta::milliseconds(duration_ms.max(0));
        let recurrence = Self { expansion, zone, fraction, duration };
        match recurrence.next_after(BEFORE_ALL) {
            Some(_) => Ok(recurrence),
            None => Err(InvalidRecurrence::NoOccurrence),
        }
    }

    /// Returns the occurrence that contains `instant`; if several do, the one that started last.
    pub fn occurrence_at(&self, instant: TimestampMs) -> Option<Occurrence> {
        let local = self.zone.local(instant);
        let mut earliest = local - self.duration - REORDERED;
        let first_period = self.expansion.period_at(earliest.date());
        let last_period = self.expansion.period_at((local + REORDERED).date());
        let mut found: Option<Occurrence> = None;
        for period in (first_period..=last_period).rev() {
            for time in self.expansion.times_in(period).into_iter().flatten().rev() {
                if time < earliest {
                    return found;
                }
                let occurrence = self.occurrence(time);
                if occurrence.starts_at <= instant && instant < occurrence.ends_at {
                    // Only occurrences with about the same local start can have started later.
                    earliest = earliest.max(time - REORDERED);
                    found = found.max(Some(occurrence));
                }
            }
        }
        found
    }

    /// Returns the first occurrence that starts after `instant`.
    pub fn next_after(&self, instant: TimestampMs) -> Option<Occurrence> {
        let local = self.zone.local(instant);
        let mut period = self.expansion.period_at((local - REORDERED).date());
        let mut found: Option<Occurrence> = None;
        let mut latest = NaiveDateTime::MAX;
        while let Some((with_times, times)) = self.expansion.next_times(period) {
            for time in times {
                if time > latest {
                    return found;
                }
                let occurrence = self.occurrence(time);
                if occurrence.starts_at <= instant || occurrence.starts_at >= LAST_INSTANT {
                    continue;
                }
                latest = latest.min(time + REORDERED);
                if found.is_none_or(|other| occurrence.precedes(other)) {
                    found = Some(occurrence);
                }
            }
            if self.expansion.period_at(latest.date()) <= with_times {
                break;
            }
            period = with_times + 1;
        }
        found
    }

    /// Returns the occurrence with this local start.
    fn occurrence(&self, time: NaiveDateTime) -> Occurrence {
        let starts_at = self.zone.instant(time + self.fraction);
        let ends_at = self.zone.instant(time + self.fraction + self.duration);
        Occurrence { starts_at, ends_at: ends_at.max(TimestampMs(starts_at.0 + 1)) }
    }
}

impl Occurrence {
    /// Returns whether this occurrence starts before `other`, or with it and ends after it.
    fn precedes(self, other: Self) -> bool {
        (self.starts_at, other.ends_at) < (other.starts_at, self.ends_at)
    }
}
