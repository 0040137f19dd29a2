//! Shifts across changes of the offset, with overrides, and their limits.

use chrono::Days;
use telltale_engine::TimestampMs;

use super::rotation::{Member, Rotation, RotationPeriod};
use super::shifts::{Override, Shift, ShiftSource, shift_at, shifts};
use crate::areas::alerting::limits::SHIFTS_RANGE_MS_MAX;
use crate::platform::calendar::{FIRST_INSTANT, LAST_INSTANT, Zone};

pub(super) const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
pub(super) const DAY_MS: i64 = 24 * HOUR_MS;

pub(super) fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn utc(text: &str) -> TimestampMs {
    Zone::UTC.instant(text.parse().unwrap())
}

fn local(zone_name: &str, text: &str) -> TimestampMs {
    zone(zone_name).instant(text.parse().unwrap())
}

fn custom(period: RotationPeriod, start: TimestampMs, members: &[&str]) -> Rotation {
    let members = members.iter().map(|name| Member((*name).to_owned())).collect();
    Rotation::Custom { period, start, members }
}

/// Returns a weekly rotation, Monday first; `-` is nobody.
fn weekly(users: [&str; 7]) -> Rotation {
    let days = users.map(|user| (user != "-").then(|| Member(user.to_owned())));
    Rotation::Weekly { days }
}

fn replacement(user: &str, starts_at: &str, ends_at: &str) -> Override {
    Override { user: Member(user.to_owned()), starts_at: utc(starts_at), ends_at: utc(ends_at) }
}

/// Returns each shift as its user, its local start and its length in minutes.
fn shown(shifts: &[Shift], zone: Zone) -> Vec<String> {
    let show = |shift: &Shift| {
        let user = shift.user.as_ref().map_or("-", |user| &user.0);
        let start = zone.local(shift.starts_at).format("%m-%d %H:%M");
        format!("{user} {start} {}", (shift.ends_at.0 - shift.starts_at.0) / MINUTE_MS)
    };
    shifts.iter().map(show).collect()
}

/// Returns the shifts of a range, after checking that they are contiguous, cover the range, and are
/// what `shift_at` returns every minute.
pub(super) fn swept(
    rotation: &Rotation,
    zone: Zone,
    overrides: &[Override],
    from: TimestampMs,
    to: TimestampMs,
) -> Vec<Shift> {
    let all = shifts(rotation, zone, overrides, from, to);
    assert!(all[0].starts_at <= from && to <= all[all.len() - 1].ends_at, "{all:?}");
    for pair in all.windows(2) {
        assert_eq!(pair[0].ends_at, pair[1].starts_at, "{pair:?}");
        let are_gaps = pair.iter().all(|shift| shift.source == ShiftSource::Gap);
        assert!(!are_gaps, "{pair:?}");
    }
    for at in (from.0..to.0).step_by(MINUTE_MS as usize).map(TimestampMs) {
        let mut containing = all.iter().filter(|shift| shift.starts_at <= at && at < shift.ends_at);
        let found = (containing.next(), containing.next());
        assert_eq!(found, (Some(&shift_at(rotation, zone, overrides, at)), None), "{at:?}");
    }
    all
}

/// Daily rotations of a, b and c: a zone, the local start, the local time from which on they are
/// listed, and the shifts.
const HAND_OFFS: [(&str, &str, &str, [&str; 4]); 7] = [
    (
        "America/New_York",
        "2026-01-01T09:00:00",
        "2026-03-06T09:00:00",
        ["b 03-06 09:00 1440", "c 03-07 09:00 1380", "a 03-08 09:00 1440", "b 03-09 09:00 1440"],
    ),
    (
        "America/New_York",
        "2026-01-01T09:00:00",
        "2026-10-30T09:00:00",
        ["c 10-30 09:00 1440", "a 10-31 09:00 1500", "b 11-01 09:00 1440", "c 11-02 09:00 1440"],
    ),
    (
        "Europe/London",
        "2026-03-27T09:00:00",
        "2026-03-27T09:00:00",
        ["a 03-27 09:00 1440", "b 03-28 09:00 1380", "c 03-29 09:00 1440", "a 03-30 09:00 1440"],
    ),
    (
        "Australia/Lord_Howe",
        "2026-04-03T09:00:00",
        "2026-04-03T09:00:00",
        ["a 04-03 09:00 1440", "b 04-04 09:00 1470", "c 04-05 09:00 1440", "a 04-06 09:00 1440"],
    ),
    // 02:15 is skipped: the hand-off is at 02:30, the first instant after the gap.
    (
        "Australia/Lord_Howe",
        "2026-10-02T02:15:00",
        "2026-10-02T02:15:00",
        ["a 10-02 02:15 1440", "b 10-03 02:15 1425", "c 10-04 02:30 1425", "a 10-05 02:15 1440"],
    ),
    // 01:30 occurs twice: the hand-off is at the first one.
    (
        "America/New_York",
        "2026-10-30T01:30:00",
        "2026-10-30T01:30:00",
        ["a 10-30 01:30 1440", "b 10-31 01:30 1440", "c 11-01 01:30 1500", "a 11-02 01:30 1440"],
    ),
    // December 30 does not exist, and b has no turn.
    (
        "Pacific/Apia",
        "2011-12-29T09:00:00",
        "2011-12-29T09:00:00",
        ["a 12-29 09:00 900", "b 12-31 00:00 540", "c 12-31 09:00 1440", "a 01-01 09:00 1440"],
    ),
];

#[test]
fn a_hand_off_stays_at_its_time_on_the_wall_clock() {
    for (name, start, from, expected) in HAND_OFFS {
        let rotation = custom(RotationPeriod::Daily, local(name, start), &["a", "b", "c"]);
        let from = local(name, from);
        let to = TimestampMs(from.0 + 4 * DAY_MS);
        let found = swept(&rotation, zone(name), &[], from, to);
        assert_eq!(shown(&found, zone(name))[..4], expected, "{name} {start}");
    }
}

#[test]
fn a_weekly_rotation_hands_off_on_the_same_weekday() {
    let start = local("America/New_York", "2026-02-23T09:00:00");
    let rotation = custom(RotationPeriod::Weekly, start, &["a", "b"]);
    let zone = zone("America/New_York");
    let found = swept(&rotation, zone, &[], start, TimestampMs(start.0 + 27 * DAY_MS));
    let week = 7 * 24 * 60;
    let expected = [
        format!("a 02-23 09:00 {week}"),
        format!("b 03-02 09:00 {}", week - 60),
        format!("a 03-09 09:00 {week}"),
        format!("b 03-16 09:00 {week}"),
    ];
    assert_eq!(shown(&found, zone), expected);
}

#[test]
fn a_custom_rotation_has_nobody_before_its_start() {
    let start = utc("2026-03-08T06:30:00");
    let rotation = custom(RotationPeriod::Daily, start, &["a"]);
    let before = shift_at(&rotation, Zone::UTC, &[], TimestampMs(start.0 - 1));
    let gap =
        Shift { user: None, starts_at: FIRST_INSTANT, ends_at: start, source: ShiftSource::Gap };
    assert_eq!(before, gap);
    let first = shift_at(&rotation, Zone::UTC, &[], start);
    assert_eq!((first.starts_at, first.ends_at.0), (start, start.0 + DAY_MS));
    // A start in the second of two equal hours is not moved to the first one.
    let second = utc("2026-11-01T06:30:00");
    let rotation = custom(RotationPeriod::Daily, second, &["a", "b"]);
    let zone = zone("America/New_York");
    let first = shift_at(&rotation, zone, &[], second);
    assert_eq!((first.starts_at, first.ends_at.0), (second, second.0 + DAY_MS));
    assert_eq!(shift_at(&rotation, zone, &[], TimestampMs(second.0 - 1)).user, None);
}

#[test]
fn clocks_that_are_turned_back_across_midnight_do_not_return_to_the_day_before() {
    // At 00:01 of November 7 it is 23:01 of November 6 again.
    let name = "America/St_Johns";
    let (from, to) = (local(name, "2010-11-06T00:00:00"), local(name, "2010-11-08T00:00:00"));
    let daily = custom(RotationPeriod::Daily, from, &["sat", "sun"]);
    for rotation in [weekly(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), daily] {
        let found = swept(&rotation, zone(name), &[], from, to);
        assert_eq!(shown(&found, zone(name)), ["sat 11-06 00:00 1440", "sun 11-07 00:00 1500"]);
    }
}

#[test]
fn a_weekly_day_is_from_midnight_to_midnight() {
    for (name, from, expected) in [
        (
            "America/New_York",
            "2026-03-07T00:00:00",
            ["sat 03-07 00:00 1440", "sun 03-08 00:00 1380", "mon 03-09 00:00 1440"],
        ),
        (
            "Europe/London",
            "2026-10-24T00:00:00",
            ["sat 10-24 00:00 1440", "sun 10-25 00:00 1500", "mon 10-26 00:00 1440"],
        ),
        // Midnight is skipped.
        (
            "Africa/Cairo",
            "2025-04-24T00:00:00",
            ["thu 04-24 00:00 1440", "fri 04-25 01:00 1380", "sat 04-26 00:00 1440"],
        ),
        (
            "Asia/Beirut",
            "2025-03-29T00:00:00",
            ["sat 03-29 00:00 1440", "sun 03-30 01:00 1380", "mon 03-31 00:00 1440"],
        ),
        // The hour before midnight, and the hour after it, occur twice.
        (
            "Africa/Cairo",
            "2025-10-30T00:00:00",
            ["thu 10-30 00:00 1500", "fri 10-31 00:00 1440", "sat 11-01 00:00 1440"],
        ),
        (
            "America/Havana",
            "2025-11-01T00:00:00",
            ["sat 11-01 00:00 1440", "sun 11-02 00:00 1500", "mon 11-03 00:00 1440"],
        ),
        // Friday does not exist.
        (
            "Pacific/Apia",
            "2011-12-29T00:00:00",
            ["thu 12-29 00:00 1440", "sat 12-31 00:00 1440", "sun 01-01 00:00 1440"],
        ),
    ] {
        let rotation = weekly(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
        let from = local(name, from);
        let found =
            swept(&rotation, zone(name), &[], from, TimestampMs(from.0 + 3 * DAY_MS - 2 * HOUR_MS));
        assert_eq!(shown(&found, zone(name)), expected, "{name}");
    }
}

#[test]
fn days_without_a_person_are_one_gap() {
    let from = utc("2026-01-05T00:00:00");
    let two_weeks = TimestampMs(from.0 + 14 * DAY_MS);
    for (users, expected) in [
        (
            ["-", "b", "-", "-", "e", "-", "-"],
            [
                "- 01-03 00:00 4320",
                "b 01-06 00:00 1440",
                "- 01-07 00:00 2880",
                "e 01-09 00:00 1440",
                "- 01-10 00:00 4320",
            ]
            .as_slice(),
        ),
        (
            ["-", "-", "c", "-", "-", "-", "-"],
            ["- 01-01 00:00 8640", "c 01-07 00:00 1440", "- 01-08 00:00 8640"].as_slice(),
        ),
    ] {
        let found = swept(&weekly(users), Zone::UTC, &[], from, two_weeks);
        assert_eq!(shown(&found, Zone::UTC)[..expected.len()], *expected, "{users:?}");
    }
    let nobody = Shift {
        user: None,
        starts_at: FIRST_INSTANT,
        ends_at: LAST_INSTANT,
        source: ShiftSource::Gap,
    };
    let no_members = custom(RotationPeriod::Daily, FIRST_INSTANT, &[]);
    for rotation in [weekly(["-"; 7]), no_members] {
        let found = swept(&rotation, Zone::UTC, &[], from, two_weeks);
        assert_eq!(found, std::slice::from_ref(&nobody));
    }
}

#[test]
fn overrides_win_over_the_rotation_and_later_ones_over_earlier_ones() {
    let rotation = weekly(["mon", "tue", "wed", "-", "-", "sat", "sun"]);
    let from = utc("2026-01-05T00:00:00");
    let to = utc("2026-01-10T00:00:00");
    for (overrides, expected) in [
        // Inside a day.
        (
            vec![replacement("x", "2026-01-05T10:00:00", "2026-01-05T12:00:00")],
            vec!["mon 01-05 00:00 600", "x 01-05 10:00 120", "mon 01-05 12:00 720", "tue 01-06"],
        ),
        // Across days, with the bounds of a day.
        (
            vec![replacement("x", "2026-01-05T12:00:00", "2026-01-07T00:00:00")],
            vec!["mon 01-05 00:00 720", "x 01-05 12:00 2160", "wed 01-07 00:00 1440"],
        ),
        // Nested: the inner one was created later, then earlier.
        (
            vec![
                replacement("x", "2026-01-05T06:00:00", "2026-01-05T18:00:00"),
                replacement("y", "2026-01-05T10:00:00", "2026-01-05T12:00:00"),
            ],
            vec![
                "mon 01-05 00:00 360",
                "x 01-05 06:00 240",
                "y 01-05 10:00 120",
                "x 01-05 12:00 360",
                "mon 01-05 18:00 360",
            ],
        ),
        (
            vec![
                replacement("y", "2026-01-05T10:00:00", "2026-01-05T12:00:00"),
                replacement("x", "2026-01-05T06:00:00", "2026-01-05T18:00:00"),
            ],
            vec!["mon 01-05 00:00 360", "x 01-05 06:00 720", "mon 01-05 18:00 360"],
        ),
        // Overlapping, then touching, then without effect.
        (
            vec![
                replacement("x", "2026-01-05T00:00:00", "2026-01-05T12:00:00"),
                replacement("y", "2026-01-05T10:00:00", "2026-01-05T14:00:00"),
                replacement("y", "2026-01-05T14:00:00", "2026-01-05T15:00:00"),
                replacement("z", "2026-01-05T11:00:00", "2026-01-05T11:00:00"),
                replacement("z", "2026-01-05T11:00:00", "2026-01-05T09:00:00"),
            ],
            vec![
                "x 01-05 00:00 600",
                "y 01-05 10:00 240",
                "y 01-05 14:00 60",
                "mon 01-05 15:00 540",
            ],
        ),
        // Inside a gap, which begins and ends outside of the override.
        (
            vec![replacement("x", "2026-01-08T06:00:00", "2026-01-09T06:00:00")],
            vec![
                "mon 01-05 00:00 1440",
                "tue 01-06 00:00 1440",
                "wed 01-07 00:00 1440",
                "- 01-08 00:00 360",
                "x 01-08 06:00 1440",
                "- 01-09 06:00 1080",
            ],
        ),
    ] {
        let found = shown(&swept(&rotation, Zone::UTC, &overrides, from, to), Zone::UTC);
        assert!(found.len() >= expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found.starts_with(expected), "{found} {expected}");
        }
    }
}

#[test]
fn overrides_cut_the_gap_before_a_rotation_begins() {
    let rotation = custom(RotationPeriod::Daily, utc("2030-01-01T00:00:00"), &["a"]);
    let overrides = [
        replacement("x", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        replacement("y", "2027-01-01T00:00:00", "2027-01-02T00:00:00"),
    ];
    let gap = shift_at(&rotation, Zone::UTC, &overrides, utc("2026-06-01T00:00:00"));
    assert_eq!((gap.starts_at, gap.ends_at), (overrides[0].ends_at, overrides[1].starts_at));
    let gap = shift_at(&rotation, Zone::UTC, &overrides, utc("2028-06-01T00:00:00"));
    assert_eq!((gap.starts_at, gap.ends_at), (overrides[1].ends_at, utc("2030-01-01T00:00:00")));
}

#[test]
fn turns_are_counted_over_decades_and_to_the_end_of_the_calendar() {
    let start = local("America/New_York", "2026-01-01T09:00:00");
    let members = ["a", "b", "c", "d", "e", "f", "g"];
    let zone = zone("America/New_York");
    for (period, days) in [(RotationPeriod::Daily, 12_000), (RotationPeriod::Weekly, 84_000)] {
        let rotation = custom(period, start, &members);
        let expected = zone.local(start) + Days::new(days);
        let shift = shift_at(&rotation, zone, &[], zone.instant(expected));
        assert_eq!(zone.local(shift.starts_at), expected);
        assert_eq!(shift.user, Some(Member(members[12_000 % 7].to_owned())));
    }
    for rotation in [
        custom(RotationPeriod::Daily, FIRST_INSTANT, &members),
        custom(RotationPeriod::Weekly, LAST_INSTANT, &members),
        weekly(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]),
        weekly(["mon", "-", "-", "-", "-", "-", "-"]),
    ] {
        for extreme in [i64::MIN, -1, 0, LAST_INSTANT.0 - 1, LAST_INSTANT.0, i64::MAX] {
            for name in ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"] {
                let zone = Zone::parse(name).unwrap();
                let shift = shift_at(&rotation, zone, &[], TimestampMs(extreme));
                let at = TimestampMs(extreme.clamp(0, LAST_INSTANT.0 - 1));
                assert!(shift.starts_at <= at && at < shift.ends_at, "{name} {extreme} {shift:?}");
                let range = shifts(&rotation, zone, &[], TimestampMs(extreme), LAST_INSTANT);
                assert!(range.len() <= 368, "{}", range.len());
            }
        }
    }
}

#[test]
fn a_range_is_at_most_a_year() {
    let rotation = weekly(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
    let from = utc("2026-01-01T00:00:00");
    let end = TimestampMs(from.0 + SHIFTS_RANGE_MS_MAX);
    for (to, expected) in [
        (from, 0),
        (TimestampMs(from.0 - 1), 0),
        (TimestampMs(from.0 + 1), 1),
        (TimestampMs(from.0 + DAY_MS), 1),
        (TimestampMs(from.0 + DAY_MS + 1), 2),
        (end, 366),
        (TimestampMs(end.0 + 1), 366),
        (TimestampMs(i64::MAX), 366),
    ] {
        assert_eq!(shifts(&rotation, Zone::UTC, &[], from, to).len(), expected, "{to:?}");
    }
}
