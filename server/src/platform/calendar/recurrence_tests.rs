//! Recurrences against python-dateutil, and their limits.

use chrono::{Datelike, NaiveDateTime, TimeDelta};
use serde_json::Value;
use telltale_engine::TimestampMs;

use super::{InvalidRecurrence, LAST_INSTANT, Occurrence, Recurrence, Zone};
use crate::limits::RECURRENCE_DURATION_MS_MAX;

/// Random rules with their occurrences, written by `tests/tests/oracles/recurrence.py`.
const CASES: &str = include_str!("oracle/occurrences.jsonl");

const HOUR_MS: i64 = 3_600_000;

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn local(text: &str) -> NaiveDateTime {
    text.parse().unwrap()
}

fn utc(text: &str) -> TimestampMs {
    Zone::UTC.instant(local(text))
}

fn parse(rule: &str, anchor: &str, zone_name: &str, duration_ms: i64) -> Recurrence {
    Recurrence::parse(rule, local(anchor), zone(zone_name), duration_ms).unwrap()
}

/// Returns the occurrences that start before an instant.
fn list(recurrence: &Recurrence, before: TimestampMs) -> Vec<Occurrence> {
    let next = |previous: &Occurrence| recurrence.next_after(previous.starts_at);
    let all = std::iter::successors(recurrence.next_after(TimestampMs(-1)), next);
    all.take_while(|occurrence| occurrence.starts_at < before).collect()
}

fn fnv1a(text: &str) -> String {
    let hash = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
}

#[test]
fn occurrences_are_those_of_dateutil() {
    let mut checked = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let anchor = local(case["anchor"].as_str().unwrap());
        let zone = zone(case["zone"].as_str().unwrap());
        let rule = case["rule"].as_str().unwrap();
        let parsed = Recurrence::parse(rule, anchor, zone, case["duration_ms"].as_i64().unwrap());
        if case["count"] == 0 {
            check_later(parsed, &case, zone);
            continue;
        }
        let recurrence = parsed.unwrap();
        let occurrences = list(&recurrence, zone.instant(anchor + TimeDelta::days(3 * 365 + 1)));
        let pairs: Vec<[i64; 2]> =
            occurrences.iter().map(|found| [found.starts_at.0, found.ends_at.0]).collect();
        let first: Vec<[i64; 2]> = serde_json::from_value(case["first"].clone()).unwrap();
        assert_eq!(pairs[..first.len()], first, "{line}");
        let last: Vec<[i64; 2]> = serde_json::from_value(case["last"].clone()).unwrap();
        assert_eq!(pairs[pairs.len() - last.len()..], last, "{line}");
        assert_eq!(pairs.len(), case["count"], "{line}");
        let text: String = pairs.iter().map(|[start, end]| format!("{start},{end};")).collect();
        assert_eq!(fnv1a(&text), case["hash"], "{line}");
        check_containing(&recurrence, &occurrences, rule);
        checked += pairs.len();
    }
    assert!(checked > 30_000, "{checked}");
}

/// Checks a rule without an occurrence in the first three years.
fn check_later(parsed: Result<Recurrence, InvalidRecurrence>, case: &Value, zone: Zone) {
    let first = match parsed {
        Ok(recurrence) => recurrence.next_after(TimestampMs(-1)),
        Err(error) => {
            assert_eq!(error, InvalidRecurrence::NoOccurrence, "{case}");
            None
        }
    };
    // The oracle searches up to this year.
    let first = first.map(|first| zone.local(first.starts_at)).filter(|time| time.year() <= 2450);
    let later = first.map(|time| time.format("%Y-%m-%dT%H:%M:%S").to_string());
    assert_eq!(later.as_deref(), case["later"].as_str(), "{case}");
}

/// Checks the instants around the bounds of occurrences against a search of the list.
fn check_containing(recurrence: &Recurrence, occurrences: &[Occurrence], rule: &str) {
    let some = occurrences.len().min(25);
    for bounds in &occurrences[..some] {
        for near in [bounds.starts_at.0, bounds.ends_at.0] {
            for instant in [near - 1, near].map(TimestampMs) {
                let contains =
                    |found: &&Occurrence| found.starts_at <= instant && instant < found.ends_at;
                let last_listed = occurrences.last().is_some_and(|last| instant > last.starts_at);
                let expected = occurrences.iter().filter(contains).max().copied();
                if !last_listed {
                    assert_eq!(recurrence.occurrence_at(instant), expected, "{rule} {instant:?}");
                }
            }
        }
    }
}

#[test]
fn a_window_keeps_its_times_on_the_wall_clock() {
    let nightly = parse("FREQ=DAILY", "2026-03-06T02:00:00", "America/New_York", 2 * HOUR_MS);
    for (day, start, end) in [
        ("2026-03-07", "2026-03-07T07:00:00", "2026-03-07T09:00:00"),
        // 02:00 is skipped and moves to 03:00.
        ("2026-03-08", "2026-03-08T07:00:00", "2026-03-08T08:00:00"),
        ("2026-03-09", "2026-03-09T06:00:00", "2026-03-09T08:00:00"),
    ] {
        let occurrence = Occurrence { starts_at: utc(start), ends_at: utc(end) };
        let midnight = utc(&format!("{day}T05:00:00"));
        assert_eq!(nightly.next_after(midnight), Some(occurrence), "{day}");
        for (instant, expected) in [
            (occurrence.starts_at.0 - 1, None),
            (occurrence.starts_at.0, Some(occurrence)),
            (occurrence.ends_at.0 - 1, Some(occurrence)),
            (occurrence.ends_at.0, None),
        ] {
            assert_eq!(nightly.occurrence_at(TimestampMs(instant)), expected, "{day} {instant}");
        }
    }
    let lengths = |recurrence: &Recurrence| {
        let all = list(recurrence, utc("2026-11-03T00:00:00"));
        all.iter().map(|found| (found.ends_at.0 - found.starts_at.0) / 60_000).collect::<Vec<_>>()
    };
    // 00:30 to 02:30 on the day on which 01:00 to 02:00 occurs twice.
    let late = parse("FREQ=DAILY", "2026-10-31T00:30:00", "America/New_York", 2 * HOUR_MS);
    assert_eq!(lengths(&late), [120, 180, 120]);
    // 02:15 and 02:45 are both skipped; the end comes before the start and is moved behind it.
    let short = parse("FREQ=DAILY", "2026-03-07T02:45:00", "America/New_York", 30 * 60_000);
    let skipped = short.next_after(utc("2026-03-08T00:00:00")).unwrap();
    assert_eq!(
        (skipped.starts_at, skipped.ends_at.0),
        (utc("2026-03-08T07:45:00"), utc("2026-03-08T07:45:00").0 + 1)
    );
}

#[test]
fn occurrences_that_are_moved_to_the_same_or_a_later_instant_are_in_order() {
    let rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45";
    let recurrence = parse(rule, "2026-03-08T00:00:00", "America/New_York", HOUR_MS);
    let found = list(&recurrence, utc("2026-03-09T00:00:00"));
    let expected = [
        // 02:15 is the same instant as 03:15. The occurrence ends with the later one, at 04:15.
        ("2026-03-08T07:15:00", "2026-03-08T08:15:00"),
        ("2026-03-08T07:45:00", "2026-03-08T08:45:00"),
    ];
    let expected =
        expected.map(|(start, end)| Occurrence { starts_at: utc(start), ends_at: utc(end) });
    assert_eq!(found, expected);
    assert_eq!(recurrence.occurrence_at(utc("2026-03-08T07:15:00")), Some(expected[0]));
    // 02:59 becomes 03:59, after 03:00.
    let rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,59;BYSETPOS=2,3";
    let recurrence = parse(rule, "2026-03-08T00:00:00", "America/New_York", 10 * HOUR_MS);
    let [first, second] = list(&recurrence, utc("2026-03-09T00:00:00"))[..] else {
        panic!("two occurrences on the first day")
    };
    assert_eq!(first.starts_at, utc("2026-03-08T07:00:00"));
    assert_eq!(second.starts_at, utc("2026-03-08T07:59:00"));
    assert_eq!(recurrence.occurrence_at(utc("2026-03-08T07:30:00")), Some(first));
    assert_eq!(recurrence.occurrence_at(utc("2026-03-08T09:00:00")), Some(second));
}

#[test]
fn the_end_in_utc_is_compared_on_the_wall_clock() {
    for (until, zone_name, expected) in [
        ("20260103T140000Z", "America/New_York", 3),
        ("20260103T135959Z", "America/New_York", 2),
        ("20260103T090000", "America/New_York", 3),
        ("20260103T085959", "America/New_York", 2),
        ("20260103", "America/New_York", 2),
        ("20260103T031500Z", "Asia/Kathmandu", 3),
        ("20260103T031459Z", "Asia/Kathmandu", 2),
    ] {
        let rule = format!("FREQ=DAILY;UNTIL={until}");
        let recurrence = parse(&rule, "2026-01-01T09:00:00", zone_name, HOUR_MS);
        assert_eq!(list(&recurrence, LAST_INSTANT).len(), expected, "{until} {zone_name}");
    }
    // A date is the midnight with which it begins, not the end of the day.
    let recurrence = parse("FREQ=DAILY;UNTIL=20260103", "2026-01-01T00:00:00", "UTC", HOUR_MS);
    assert_eq!(list(&recurrence, LAST_INSTANT).len(), 3);
}

#[test]
fn the_first_occurrence_is_the_first_match_at_or_after_the_anchor() {
    for (rule, anchor, expected) in [
        ("FREQ=WEEKLY;BYDAY=SU", "2026-01-01T02:00:00.250", "2026-01-04T02:00:00.250"),
        ("FREQ=WEEKLY;BYDAY=TH", "2026-01-01T02:00:00.250", "2026-01-01T02:00:00.250"),
        ("FREQ=DAILY;BYHOUR=1", "2026-01-01T02:00:00", "2026-01-02T01:00:00"),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
            "1970-01-01T02:00:00",
            "1988-02-29T02:00:00",
        ),
    ] {
        let recurrence = parse(rule, anchor, "UTC", HOUR_MS);
        let first = recurrence.next_after(TimestampMs(-1)).unwrap();
        assert_eq!(first.starts_at, utc(expected), "{rule}");
        assert_eq!(recurrence.occurrence_at(TimestampMs(first.starts_at.0 - 1)), None, "{rule}");
        assert_eq!(recurrence.occurrence_at(first.starts_at), Some(first), "{rule}");
        assert!(recurrence.next_after(first.starts_at).unwrap() > first, "{rule}");
    }
}

#[test]
fn of_overlapping_occurrences_the_last_started_is_found() {
    let recurrence = parse("FREQ=DAILY;COUNT=3", "2026-01-01T00:00:00", "UTC", 60 * HOUR_MS);
    for (instant, started) in [
        ("2026-01-01T23:00:00", Some("2026-01-01T00:00:00")),
        ("2026-01-02T23:00:00", Some("2026-01-02T00:00:00")),
        ("2026-01-03T11:00:00", Some("2026-01-03T00:00:00")),
        ("2026-01-05T11:59:59", Some("2026-01-03T00:00:00")),
        ("2026-01-05T12:00:00", None),
    ] {
        let found = recurrence.occurrence_at(utc(instant)).map(|found| found.starts_at);
        assert_eq!(found, started.map(utc), "{instant}");
    }
    assert_eq!(recurrence.next_after(utc("2026-01-03T00:00:00")), None);
}

#[test]
fn rules_without_an_occurrence_are_refused() {
    for rule in [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=2MO",
        "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
        "FREQ=DAILY;BYDAY=MO;BYSETPOS=-366",
        // Every seventh day is a Thursday.
        "FREQ=DAILY;INTERVAL=7;BYDAY=FR",
        "FREQ=DAILY;UNTIL=20251231T235959",
        "FREQ=WEEKLY;BYDAY=WE;UNTIL=20260106",
    ] {
        let refused = Recurrence::parse(rule, local("2026-01-01T00:00:00"), Zone::UTC, HOUR_MS);
        assert_eq!(refused, Err(InvalidRecurrence::NoOccurrence), "{rule}");
    }
}

#[test]
fn hostile_rules_take_bounded_work() {
    let hours = (0..24).map(|hour| hour.to_string()).collect::<Vec<_>>().join(",");
    let hourly = format!("FREQ=DAILY;COUNT=4294967295;BYHOUR={hours}");
    for (rule, next) in [
        ("FREQ=DAILY;COUNT=4294967295", Some("2026-01-01T00:00:00")),
        (hourly.as_str(), Some("2025-12-31T01:00:00")),
        ("FREQ=DAILY;INTERVAL=65535", Some("2149-06-06T00:00:00")),
        ("FREQ=WEEKLY;INTERVAL=4294967295", None),
        ("FREQ=MONTHLY;INTERVAL=4294967295", None),
        ("FREQ=YEARLY;INTERVAL=4294967295", None),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", Some("2044-02-29T00:00:00")),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=4000000", Some("2044-02-29T00:00:00")),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=2", None),
        ("FREQ=YEARLY;BYDAY=53TH;BYMONTHDAY=31;BYSETPOS=-1", Some("2026-12-31T00:00:00")),
    ] {
        let recurrence = parse(rule, "1970-01-01T00:00:00", "UTC", RECURRENCE_DURATION_MS_MAX);
        let found = recurrence.next_after(utc("2025-12-31T00:00:00"));
        assert_eq!(found.map(|found| found.starts_at), next.map(utc), "{rule}");
        for instant in [i64::MIN, 0, LAST_INSTANT.0 - 1, LAST_INSTANT.0, i64::MAX] {
            let found = recurrence.next_after(TimestampMs(instant));
            assert!(found.is_none_or(|found| found.starts_at.0 > instant), "{rule} {instant}");
            let found = recurrence.occurrence_at(TimestampMs(instant));
            let contains =
                |found: Occurrence| found.starts_at.0 <= instant && instant < found.ends_at.0;
            assert!(found.is_none_or(contains), "{rule} {instant}");
        }
    }
}

#[test]
fn the_start_and_the_duration_are_limited() {
    let parse = |anchor: NaiveDateTime, duration_ms| {
        Recurrence::parse("FREQ=DAILY", anchor, zone("Pacific/Kiritimati"), duration_ms).map(|_| ())
    };
    for (anchor, duration_ms, expected) in [
        (local("2026-01-01T00:00:00"), RECURRENCE_DURATION_MS_MAX, Ok(())),
        (
            local("2026-01-01T00:00:00"),
            RECURRENCE_DURATION_MS_MAX + 1,
            Err(InvalidRecurrence::Duration),
        ),
        (local("2026-01-01T00:00:00"), i64::MAX, Err(InvalidRecurrence::Duration)),
        (local("2026-01-01T00:00:00"), i64::MIN, Ok(())),
        (local("1969-12-31T12:00:00"), 0, Ok(())),
        (local("9999-12-31T23:59:59"), 0, Ok(())),
        (NaiveDateTime::MIN, 0, Err(InvalidRecurrence::Start)),
        (NaiveDateTime::MAX, 0, Err(InvalidRecurrence::Start)),
    ] {
        assert_eq!(parse(anchor, duration_ms), expected, "{anchor} {duration_ms}");
    }
    let instantaneous = parse_utc_with_duration(-HOUR_MS);
    assert_eq!(instantaneous.ends_at.0 - instantaneous.starts_at.0, 1);
}

fn parse_utc_with_duration(duration_ms: i64) -> Occurrence {
    let recurrence = parse("FREQ=DAILY", "2026-01-01T00:00:00", "UTC", duration_ms);
    recurrence.next_after(TimestampMs(0)).unwrap()
}
