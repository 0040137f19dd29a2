//! On-call schedules and their rules.

use std::collections::HashSet;

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use super::link::CalendarTokenHash;
use super::rotation::{Member, Rotation, RotationPeriod};
use super::shifts::{Override, Shift, shift_at, shifts};
use crate::areas::alerting::error::{AlertingError, Invalid, Kind};
use crate::areas::alerting::ids::{OverrideId, ScheduleId};
use crate::areas::alerting::limits;
use crate::platform::calendar::Zone;

/// The names of the days, in the order of [`Days`].
pub(super) const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Who is on call on each day of the week, Monday first.
pub(super) type Days = [Option<Member>; 7];

/// A change of each day of the week; `None` leaves a day unchanged.
pub(super) type DayChanges = [Option<Option<Member>>; 7];

/// An on-call schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Schedule {
    pub(super) id: ScheduleId,
    pub(super) settings: ScheduleSettings,
    /// In order of creation: a later one wins.
    pub(super) overrides: Vec<ScheduleOverride>,
    /// Who knows this token may read the calendar.
    pub(super) calendar_token: Option<CalendarTokenHash>,
    pub(super) created_at: TimestampMs,
}

/// What the user states about a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScheduleSettings {
    pub(super) name: String,
    pub(super) timezone: Zone,
    pub(super) enabled: bool,
    pub(super) members: Vec<Member>,
    pub(super) plan: Plan,
}

/// How members take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// The same member on the same day of each week.
    Weekly(Days),
    /// All members in turn.
    Custom {
        /// The length of a turn.
        period: RotationPeriod,
        /// When the first turn begins.
        start: TimestampMs,
    },
}

/// The type of a schedule, which determines its [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScheduleType {
    Weekly,
    Custom,
}

/// A person who is on call instead of the planned one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScheduleOverride {
    pub(super) id: OverrideId,
    pub(super) entry: Override,
    pub(super) created_at: TimestampMs,
}

impl Schedule {
    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn bytes(&self) -> usize {
        1_000 + self.settings.members.len() * 100 + self.overrides.len() * 200
    }
}

/// A change of a schedule; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScheduleChange {
    pub(super) name: Option<String>,
    pub(super) schedule_type: Option<ScheduleType>,
    pub(super) timezone: Option<Zone>,
    pub(super) enabled: Option<bool>,
    pub(super) members: Option<Vec<Member>>,
    pub(super) days: Option<DayChanges>,
    pub(super) period: Option<RotationPeriod>,
    pub(super) start: Option<TimestampMs>,
}

impl Schedule {
    /// Returns the shift or gap that contains `now`; `None` while the schedule is not enabled.
    pub(super) fn shift_at(&self, now: TimestampMs) -> Option<Shift> {
        let ScheduleSettings { timezone, enabled, .. } = self.settings;
        enabled.then(|| shift_at(&self.rotation(), timezone, &self.override_entries(), now))
    }

    /// Returns the addresses of its members.
    pub(in crate::areas::alerting) fn member_addresses(&self) -> impl Iterator<Item = &str> {
        self.settings.members.iter().map(|Member(address)| address.as_str())
    }

    /// Returns the address of whoever is on call at `now`.
    pub(in crate::areas::alerting) fn on_call_at(&self, now: TimestampMs) -> Option<String> {
        self.shift_at(now)?.user.map(|Member(address)| address)
    }

    /// Returns the shifts and gaps that overlap a range; none while the schedule is not enabled.
    pub(super) fn shifts(&self, from: TimestampMs, to: TimestampMs) -> Vec<Shift> {
        if !self.settings.enabled {
            return Vec::new();
        }
        let (rotation, overrides) = (self.rotation(), self.override_entries());
        shifts(&rotation, self.settings.timezone, &overrides, from, to)
    }

    /// Changes the schedule and validates the result.
    pub(super) fn change(&mut self, change: ScheduleChange) -> Result<(), Invalid> {
        let settings = &mut self.settings;
        if change.schedule_type.is_some_and(|sent| sent != settings.plan.schedule_type()) {
            return Err(Invalid::field("schedule_type", "cannot be changed"));
        }
        settings.plan.change(change.days, change.period, change.start)?;
        settings.name = change.name.unwrap_or_else(|| std::mem::take(&mut settings.name));
        settings.timezone = change.timezone.unwrap_or(settings.timezone);
        settings.enabled = change.enabled.unwrap_or(settings.enabled);
        if let Some(members) = change.members {
            settings.members = members;
        }
        settings.check()
    }

    /// Adds an override.
    pub(super) fn add(&mut self, added: ScheduleOverride) -> Result<(), AlertingError> {
        let max = limits::SCHEDULE_OVERRIDES_MAX;
        if self.overrides.len() >= max {
            return Err(AlertingError::TooMany { kind: Kind::Override, max });
        }
        self.overrides.push(added);
        Ok(())
    }

    /// Removes the override `id`.
    pub(super) fn remove(&mut self, id: &OverrideId) -> Result<(), AlertingError> {
        let found = self.overrides.iter().position(|entry| entry.id == *id);
        let missing = || AlertingError::NotFound(Kind::Override, id.as_str().to_owned());
        self.overrides.remove(found.ok_or_else(missing)?);
        Ok(())
    }

    /// Drops the overrides that ended too long ago to be kept.
    pub(super) fn drop_old_overrides(&mut self, now: TimestampMs) {
        self.overrides.retain(|entry| entry.entry.ends_at > oldest_kept_end(now));
    }

    fn rotation(&self) -> Rotation {
        match &self.settings.plan {
            Plan::Weekly(days) => Rotation::Weekly { days: days.clone() },
            Plan::Custom { period, start } => {
                let members = self.settings.members.clone();
                Rotation::Custom { period: *period, start: *start, members }
            }
        }
    }

    fn override_entries(&self) -> Vec<Override> {
        self.overrides.iter().map(|entry| entry.entry.clone()).collect()
    }
}

impl ScheduleSettings {
    /// Validates that all people of a weekly schedule are members.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let Plan::Weekly(days) = &self.plan else { return Ok(()) };
        for (day, user) in WEEKDAYS.iter().zip(days) {
            if user.as_ref().is_some_and(|user| !self.members.contains(user)) {
                let field = format!("weekly_schedule.{day}.user");
                return Err(Invalid::field(field, "must be one of the members"));
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Returns the type of the schedule.
    pub(super) fn schedule_type(&self) -> ScheduleType {
        match self {
            Self::Weekly(_) => ScheduleType::Weekly,
            Self::Custom { .. } => ScheduleType::Custom,
        }
    }

    fn change(
        &mut self,
        changed_days: Option<DayChanges>,
        changed_period: Option<RotationPeriod>,
        changed_start: Option<TimestampMs>,
    ) -> Result<(), Invalid> {
        let given = Fields {
            weekly_schedule: changed_days.is_some(),
            rotation_type: changed_period.is_some(),
            rotation_start: changed_start.is_some(),
        };
        given.check(self.schedule_type())?;
        match self {
            Self::Weekly(days) => {
                for (day, change) in days.iter_mut().zip(changed_days.into_iter().flatten()) {
                    if let Some(user) = change {
                        *day = user;
                    }
                }
            }
            Self::Custom { period, start } => {
                *period = changed_period.unwrap_or(*period);
                *start = changed_start.unwrap_or(*start);
            }
        }
        Ok(())
    }
}

/// Which fields of a plan a request has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) weekly_schedule: bool,
    pub(super) rotation_type: bool,
    pub(super) rotation_start: bool,
}

impl Fields {
    /// Validates that no field belongs to the other type of schedule.
    pub(super) fn check(self, schedule_type: ScheduleType) -> Result<(), Invalid> {
        let refused = |field, owner| {
            Err(Invalid::field(field, format!("is only for schedules of the type {owner}")))
        };
        match schedule_type {
            ScheduleType::Weekly if self.rotation_type => refused("rotation_type", "custom"),
            ScheduleType::Weekly if self.rotation_start => refused("rotation_start", "custom"),
            ScheduleType::Custom if self.weekly_schedule => refused("weekly_schedule", "weekly"),
            _ => Ok(()),
        }
    }
}

impl ScheduleType {
    /// Parses the name of a type.
    pub(super) fn parse(name: &str) -> Result<Self, Invalid> {
        match name {
            "weekly" => Ok(Self::Weekly),
            "custom" => Ok(Self::Custom),
            _ => Err(Invalid::field("schedule_type", "must be weekly or custom")),
        }
    }

    /// Returns the name of the type.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Weekly => "weekly",
            Self::Custom => "custom",
        }
    }
}

impl RotationPeriod {
    /// Parses the name of a period.
    pub(super) fn parse(name: &str) -> Result<Self, Invalid> {
        match name {
            "daily" => Ok(Self::Daily),
            "weekly" => Ok(Self::Weekly),
            _ => Err(Invalid::field("rotation_type", "must be daily or weekly")),
        }
    }

    /// Returns the name of the period.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
        }
    }
}

/// Validates the members of a schedule.
pub(super) fn members(sent: Vec<String>) -> Result<Vec<Member>, Invalid> {
    if sent.is_empty() {
        return Err(Invalid::field("members", "must not be empty"));
    }
    let (mut seen, mut members) = (HashSet::new(), Vec::with_capacity(sent.len()));
    for (i, address) in sent.into_iter().enumerate() {
        let field = format!("members[{i}]");
        if !seen.insert(address.to_lowercase()) {
            return Err(Invalid::field(field, "must be unique"));
        }
        members.push(person(&field, address)?);
    }
    Ok(members)
}

/// Validates an email address. Whether it exists shows when mail is sent to it.
pub(super) fn person(field: &str, address: String) -> Result<Member, Invalid> {
    let max = limits::EMAIL_ADDRESS_CHARS_MAX;
    let is_graphic = address.bytes().all(|byte| byte.is_ascii_graphic());
    let has_parts = address
        .rsplit_once('@')
        .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    if !is_graphic || !has_parts || address.len() > max {
        let expected = format!("must be an email address of at most {max} characters");
        return Err(Invalid::field(field, expected));
    }
    Ok(Member(address))
}

/// Validates the range of an override.
pub(super) fn check_override(entry: &Override, now: TimestampMs) -> Result<(), Invalid> {
    if entry.ends_at <= entry.starts_at {
        return Err(Invalid::field("ends_at", "must be after starts_at"));
    }
    if entry.ends_at <= oldest_kept_end(now) {
        let days = limits::SCHEDULE_OVERRIDE_KEPT_MS / 86_400_000;
        return Err(Invalid::field("ends_at", format!("must not be more than {days} days ago")));
    }
    Ok(())
}

fn oldest_kept_end(now: TimestampMs) -> TimestampMs {
    TimestampMs(now.0.saturating_sub(limits::SCHEDULE_OVERRIDE_KEPT_MS))
}
