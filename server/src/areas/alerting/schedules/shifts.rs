//! Shifts: who is on call, by a rotation and the overrides of it.
//!
//! At each instant the override that was created last wins, and any override wins over the
//! rotation. A shift is cut where an override begins or ends; a day or turn of the rotation around
//! an override is two shifts of the same person. So is an override around another one. A gap is a
//! stretch of time without a person, as long as possible: gaps do not touch.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::rotation::{Member, Rotation};
use crate::areas::alerting::limits::SHIFTS_RANGE_MS_MAX;
use crate::platform::calendar::{FIRST_INSTANT, LAST_INSTANT, Zone};

/// A person who is on call instead of the planned one: `starts_at <= t < ends_at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Override {
    /// Who is on call.
    pub user: Member,
    /// The first instant.
    pub starts_at: TimestampMs,
    /// The first instant after it. An override that ends before it starts has no effect.
    pub ends_at: TimestampMs,
}

/// A stretch of time with one person on call, or nobody: `starts_at <= t < ends_at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// Who is on call; nobody in a gap.
    pub user: Option<Member>,
    /// The first instant. The first instant of the calendar, if the schedule has a gap before any
    /// person is on call.
    pub starts_at: TimestampMs,
    /// The first instant after it. The last instant of the calendar, if nobody is on call any more.
    pub ends_at: TimestampMs,
    /// Why this person is on call.
    pub source: ShiftSource,
}

/// Why a person is on call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShiftSource {
    /// The day of a weekly rotation.
    Weekly,
    /// The turn in a custom rotation.
    Rotation,
    /// An override.
    Override,
    /// Nobody is on call.
    Gap,
}

/// The overrides that win, without overlaps, in order of time.
struct WinningOverrides<'a>(Vec<WinningOverride<'a>>);

/// A part of an override, in which no later one overlaps it.
struct WinningOverride<'a> {
    entry: &'a Override,
    starts_at: TimestampMs,
    ends_at: TimestampMs,
}

/// Returns the shift that contains `at`. `overrides` are in order of creation. An instant outside
/// of the calendar is taken as the nearest one within it.
pub(super) fn shift_at(
    rotation: &Rotation,
    zone: Zone,
    overrides: &[Override],
    at: TimestampMs,
) -> Shift {
    WinningOverrides::new(overrides).shift_at(rotation, zone, at)
}

/// Returns the shifts that overlap the range `from <= t < to`, in order and each starting where the
/// one before it ends. They are not cut at the range: each is what [`shift_at`] returns for all its
/// instants. A range longer than [`SHIFTS_RANGE_MS_MAX`] ends there. `overrides` are in order of
/// creation.
pub(super) fn shifts(
    rotation: &Rotation,
    zone: Zone,
    overrides: &[Override],
    from: TimestampMs,
    to: TimestampMs,
) -> Vec<Shift> {
    let overrides = WinningOverrides::new(overrides);
    let mut at = from.max(FIRST_INSTANT);
    let to = to.min(LAST_INSTANT).min(TimestampMs(at.0.saturating_add(SHIFTS_RANGE_MS_MAX)));
    let mut shifts = Vec::new();
    while at < to {
        let shift = overrides.shift_at(rotation, zone, at);
        at = shift.ends_at;
        shifts.push(shift);
    }
    shifts
}

impl<'a> WinningOverrides<'a> {
    /// Determines the winners among overrides that are in order of creation.
    fn new(overrides: &'a [Override]) -> Self {
        let mut changes = Vec::new();
        for (index, entry) in overrides.iter().enumerate() {
            if entry.starts_at < entry.ends_at {
                changes.extend([(entry.starts_at, index, entry), (entry.ends_at, index, entry)]);
            }
        }
        changes.sort_unstable_by_key(|(time, index, _)| (*time, *index));
        let ends: Vec<TimestampMs> = changes.iter().skip(1).map(|(time, ..)| *time).collect();
        let (mut active, mut winners) = (BTreeMap::new(), Self(Vec::new()));
        for ((starts_at, index, entry), ends_at) in changes.into_iter().zip(ends) {
            // The first change of an override is its start, the second one its end.
            if active.insert(index, entry).is_some() {
                active.remove(&index);
            }
            if let Some((_, entry)) = active.last_key_value().filter(|_| starts_at < ends_at) {
                winners.push(WinningOverride { entry, starts_at, ends_at });
            }
        }
        winners
    }

    /// Appends a winner, or extends the last one if it is of the same override.
    fn push(&mut self, winner: WinningOverride<'a>) {
        match self.0.last_mut() {
            Some(last) if std::ptr::eq(last.entry, winner.entry) => last.ends_at = winner.ends_at,
            _ => self.0.push(winner),
        }
    }

    fn shift_at(&self, rotation: &Rotation, zone: Zone, at: TimestampMs) -> Shift {
        // The last instant of the calendar is the end of the last shift.
        let at = at.clamp(FIRST_INSTANT, TimestampMs(LAST_INSTANT.0 - 1));
        let following = self.0.partition_point(|winner| winner.starts_at <= at);
        let (earlier, later) = self.0.split_at(following);
        if let Some(WinningOverride { entry, starts_at, ends_at }) = earlier.last()
            && at < *ends_at
        {
            let (starts_at, ends_at) = (*starts_at, *ends_at);
            let (user, source) = (Some(entry.user.clone()), ShiftSource::Override);
            return Shift { user, starts_at, ends_at, source };
        }
        let planned = rotation.shift_at(zone, at);
        let source = match (planned.user, rotation) {
            (None, _) => ShiftSource::Gap,
            (Some(_), Rotation::Weekly { .. }) => ShiftSource::Weekly,
            (Some(_), Rotation::Custom { .. }) => ShiftSource::Rotation,
        };
        let (mut starts_at, mut ends_at) = (planned.starts_at, planned.ends_at);
        if let Some(before) = earlier.last() {
            starts_at = starts_at.max(before.ends_at);
        }
        if let Some(after) = later.first() {
            ends_at = ends_at.min(after.starts_at);
        }
        Shift { user: planned.user.cloned(), starts_at, ends_at, source }
    }
}
