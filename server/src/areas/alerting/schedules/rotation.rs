//! Rotations: who is on call as planned, without overrides.
//!
//! A weekly rotation has a person for each weekday, or nobody. A shift is one day of the zone, from
//! its first instant to the first instant of the next day: 23, 24 or 25 hours. Consecutive days
//! without a person are one gap.
//!
//! A custom rotation steps through its members every day or week, at the time of day at which it
//! began on the wall clock of the zone. Turns are counted in days of the calendar, so that a change
//! of the offset does not move the hand-off. A hand-off that is skipped takes place at the first
//! instant after the gap, one that occurs twice at the first of both. If a zone skips a whole day,
//! the turn of that day is skipped with it. Before the rotation begins nobody is on call.

use chrono::{Datelike, Days, NaiveDate};
use telltale_engine::TimestampMs;

use crate::platform::calendar::{FIRST_INSTANT, LAST_INSTANT, Zone};

const WEEKDAYS: usize = 7;

/// A person who can be on call, by email address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Member(pub String);

/// Who is on call as planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rotation {
    /// The same people each week.
    Weekly {
        /// Who is on call on each day, Monday first.
        days: [Option<Member>; WEEKDAYS],
    },
    /// Each member in turn.
    Custom {
        /// The length of a turn.
        period: RotationPeriod,
        /// When the turn of the first member begins for the first time.
        start: TimestampMs,
        /// The members in the order of their turns. Without members nobody is on call.
        members: Vec<Member>,
    },
}

/// How often a custom rotation hands off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RotationPeriod {
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
}

/// The part of a rotation around an instant: `starts_at <= t < ends_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedShift<'a> {
    /// Nobody in a gap.
    pub(super) user: Option<&'a Member>,
    pub(super) starts_at: TimestampMs,
    pub(super) ends_at: TimestampMs,
}

/// When the turns of a custom rotation begin.
#[derive(Clone, Copy)]
struct Turns {
    zone: Zone,
    start: TimestampMs,
    days: u64,
}

impl Rotation {
    /// Returns the planned shift or gap that contains `at`, which must be within the calendar.
    pub(super) fn shift_at(&self, zone: Zone, at: TimestampMs) -> PlannedShift<'_> {
        match self {
            Self::Weekly { days } => weekly_shift_at(days, zone, at),
            Self::Custom { start, .. } if at < *start => gap(FIRST_INSTANT, *start),
            Self::Custom { members, .. } if members.is_empty() => gap(FIRST_INSTANT, LAST_INSTANT),
            Self::Custom { period, start, members } => {
                let turns = Turns { zone, start: *start, days: period.days() };
                let turn = turns.at(at);
                let user = usize::try_from(turn % members.len() as u64);
                let user = user.ok().and_then(|index| members.get(index));
                let (starts_at, ends_at) = (turns.start_of(turn), turns.start_of(turn + 1));
                PlannedShift { user, starts_at, ends_at }
            }
        }
    }
}

impl RotationPeriod {
    fn days(self) -> u64 {
        match self {
            Self::Daily => 1,
            Self::Weekly => 7,
        }
    }
}

impl Turns {
    /// Returns the number of the turn that contains `at`, an instant after the start. The first one
    /// is 0.
    fn at(self, at: TimestampMs) -> u64 {
        let first = self.zone.local(self.start).date();
        let passed = self.zone.local(at).date().signed_duration_since(first).num_days();
        let mut turn = u64::try_from(passed).unwrap_or(0) / self.days;
        // The hand-off may be later on that day, or earlier because of a change of the offset.
        while turn > 0 && self.start_of(turn) > at {
            turn -= 1;
        }
        while self.start_of(turn + 1) <= at {
            turn += 1;
        }
        turn
    }

    fn start_of(self, turn: u64) -> TimestampMs {
        if turn == 0 {
            return self.start;
        }
        let first = self.zone.local(self.start);
        let days = turn.checked_mul(self.days).map(Days::new);
        match days.and_then(|days| first.checked_add_days(days)) {
            Some(local) => self.zone.first_instant_at_or_after(local),
            None => LAST_INSTANT,
        }
    }
}

fn weekly_shift_at(
    days: &[Option<Member>; WEEKDAYS],
    zone: Zone,
    at: TimestampMs,
) -> PlannedShift<'_> {
    let user_on = |date: NaiveDate| {
        let weekday = date.weekday().num_days_from_monday() as usize;
        days.get(weekday).and_then(Option::as_ref)
    };
    let date = date_at(zone, at);
    if let Some(user) = user_on(date) {
        let (starts_at, ends_at) = (zone.first_instant_of(date), zone.first_instant_of(next(date)));
        return PlannedShift { user: Some(user), starts_at, ends_at };
    }
    if days.iter().all(Option::is_none) {
        return gap(FIRST_INSTANT, LAST_INSTANT);
    }
    let (mut first, mut end) = (date, next(date));
    while user_on(previous(first)).is_none() {
        first = previous(first);
    }
    while user_on(end).is_none() {
        end = next(end);
    }
    gap(zone.first_instant_of(first), zone.first_instant_of(end))
}

/// Returns the day of the zone that contains `at`. When clocks that just passed midnight are turned
/// back before it, that is still the later day.
fn date_at(zone: Zone, at: TimestampMs) -> NaiveDate {
    let mut date = zone.local(at).date();
    while zone.first_instant_of(next(date)) <= at {
        date = next(date);
    }
    date
}

fn gap(starts_at: TimestampMs, ends_at: TimestampMs) -> PlannedShift<'static> {
    PlannedShift { user: None, starts_at, ends_at }
}

fn next(date: NaiveDate) -> NaiveDate {
    date + Days::new(1)
}

fn previous(date: NaiveDate) -> NaiveDate {
    date - Days::new(1)
}
