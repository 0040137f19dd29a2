//! Random schedules against a search through all hand-offs.

use chrono::{DateTime, Datelike, LocalResult, NaiveDate, TimeDelta, TimeZone};
use chrono_tz::Tz;
use proptest::prelude::*;
use telltale_engine::TimestampMs;

use super::rotation::{Member, Rotation, RotationPeriod};
use super::shifts::{Override, ShiftSource};
use super::shifts_tests::{DAY_MS, MINUTE_MS, swept, zone};
use crate::platform::calendar::Zone;

/// The instant of a hand-off or midnight, by the local times of `chrono-tz` alone: the first minute
/// from it on that exists.
fn first_existing(tz: Tz, local: chrono::NaiveDateTime) -> DateTime<Tz> {
    let mut local = local;
    loop {
        match tz.from_local_datetime(&local) {
            LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => return time,
            LocalResult::None => local += TimeDelta::minutes(1),
        }
    }
}

/// Returns who is on call by stepping through every day since the start.
fn searched(
    rotation: &Rotation,
    tz: Tz,
    overrides: &[Override],
    at: TimestampMs,
) -> Option<Member> {
    let covers = |entry: &&Override| entry.starts_at <= at && at < entry.ends_at;
    if let Some(last) = overrides.iter().rev().find(covers) {
        return Some(last.user.clone());
    }
    let time = DateTime::from_timestamp_millis(at.0).unwrap().with_timezone(&tz);
    match rotation {
        Rotation::Weekly { days } => {
            days[time.date_naive().weekday().num_days_from_monday() as usize].clone()
        }
        Rotation::Custom { period, start, members } => {
            let start = DateTime::from_timestamp_millis(start.0).unwrap().with_timezone(&tz);
            let days = if *period == RotationPeriod::Daily { 1 } else { 7 };
            let mut current = None;
            for turn in 0.. {
                let hand_off = match turn {
                    0 => start,
                    _ => first_existing(tz, start.naive_local() + TimeDelta::days(turn * days)),
                };
                if hand_off > time {
                    break;
                }
                current = Some(members[turn as usize % members.len()].clone());
            }
            current
        }
    }
}

fn any_user() -> impl Strategy<Value = Member> {
    (0..4_u8).prop_map(|number| Member(format!("user{number}")))
}

fn any_rotation(around: i64) -> impl Strategy<Value = Rotation> {
    let weekly = prop::array::uniform7(prop::option::of(any_user()));
    let start =
        (-30 * 24 * 4..3 * 24 * 4_i64).prop_map(move |quarter| around + quarter * 15 * MINUTE_MS);
    let period = prop_oneof![Just(RotationPeriod::Daily), Just(RotationPeriod::Weekly)];
    let custom = (period, start, prop::collection::vec(any_user(), 1..5));
    prop_oneof![
        weekly.prop_map(|days| Rotation::Weekly { days }),
        custom.prop_map(|(period, start, members)| Rotation::Custom {
            period,
            start: TimestampMs(start),
            members
        }),
    ]
}

fn any_override(around: i64) -> impl Strategy<Value = Override> {
    let start = (-3 * 24 * 12..5 * 24 * 12_i64).prop_map(move |five| around + five * 5 * MINUTE_MS);
    (any_user(), start, -2..400_i64).prop_map(|(user, start, fives)| Override {
        user,
        starts_at: TimestampMs(start),
        ends_at: TimestampMs(start + fives * 5 * MINUTE_MS),
    })
}

/// Zones, and days on which their offset changes or does not.
const CHANGES: [(&str, &str); 9] = [
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Europe/London", "2026-03-29"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Africa/Cairo", "2025-04-25"),
    ("Africa/Cairo", "2025-10-31"),
    ("Asia/Beirut", "2025-03-30"),
    ("Asia/Kathmandu", "2026-06-01"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_schedules_are_those_of_a_search(
        (case, rotation, overrides) in (0..CHANGES.len()).prop_flat_map(|case| {
            let date: NaiveDate = CHANGES[case].1.parse().unwrap();
            let around = Zone::UTC.first_instant_of(date).0;
            let overrides = prop::collection::vec(any_override(around), 0..6);
            (Just(case), any_rotation(around), overrides)
        })
    ) {
        let (name, date) = CHANGES[case];
        let tz: Tz = name.parse().unwrap();
        let around = Zone::UTC.first_instant_of(date.parse().unwrap()).0;
        let (from, to) = (TimestampMs(around - 2 * DAY_MS), TimestampMs(around + 3 * DAY_MS));
        let all = swept(&rotation, zone(name), &overrides, from, to);
        for shift in &all {
            let (first, end) = (shift.starts_at.max(from).0, shift.ends_at.min(to).0);
            for at in (first..end).step_by(15 * MINUTE_MS as usize).chain([end - 1]) {
                let expected = searched(&rotation, tz, &overrides, TimestampMs(at));
                prop_assert_eq!(&shift.user, &expected, "{} {:?}", at, shift);
            }
            prop_assert_eq!(shift.user.is_none(), shift.source == ShiftSource::Gap);
        }
    }
}
