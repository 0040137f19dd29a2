//! Shifts as an iCalendar file (RFC 5545), which calendar programs subscribe to.

use telltale_engine::TimestampMs;

use super::shifts::Shift;
use crate::platform::calendar::Zone;

/// Bytes of a line without its line break. Longer lines are folded, as the standard asks.
const LINE_BYTES_MAX: usize = 75;

/// Returns a calendar with an event for each shift of a person. `schedule_id` and the start of a
/// shift identify its event, so that programs update events instead of duplicating them. Times are
/// in whole seconds.
pub(super) fn calendar(
    schedule_id: &str,
    name: &str,
    shifts: &[Shift],
    now: TimestampMs,
) -> String {
    let mut out = String::new();
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Telltale//On-call schedules//EN"] {
        append_line(&mut out, line);
    }
    append_line(&mut out, &format!("X-WR-CALNAME:{}", escaped(name)));
    for shift in shifts {
        append_event(&mut out, schedule_id, shift, now);
    }
    append_line(&mut out, "END:VCALENDAR");
    out
}

fn append_event(out: &mut String, schedule_id: &str, shift: &Shift, now: TimestampMs) {
    let (starts_at, ends_at) = (date_time(shift.starts_at), date_time(shift.ends_at));
    let Some(user) = shift.user.as_ref().filter(|_| starts_at < ends_at) else {
        return;
    };
    let summary = escaped(&format!("On call: {}", user.0));
    for line in [
        "BEGIN:VEVENT",
        &format!("UID:{}-{}@telltale", escaped(schedule_id), shift.starts_at.0),
        &format!("DTSTAMP:{}", date_time(now)),
        &format!("DTSTART:{starts_at}"),
        &format!("DTEND:{ends_at}"),
        &format!("SUMMARY:{summary}"),
        "END:VEVENT",
    ] {
        append_line(out, line);
    }
}

/// Returns `20260308T070000Z`. The strings are in the order of the times.
fn date_time(time: TimestampMs) -> String {
    Zone::UTC.local(time).format("%Y%m%dT%H%M%SZ").to_string()
}

/// Escapes a value of the type TEXT. Control characters other than line breaks become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\n' | '\r' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Appends a line, folded into lines that each begin with a space.
fn append_line(out: &mut String, line: &str) {
    let mut bytes = 0;
    for c in line.chars() {
        if bytes + c.len_utf8() > LINE_BYTES_MAX {
            out.push_str("\r\n ");
            bytes = 1;
        }
        out.push(c);
        bytes += c.len_utf8();
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::super::rotation::Member;
    use super::super::shifts::ShiftSource;
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn shift(user: Option<&str>, starts_at: i64, ends_at: i64) -> Shift {
        Shift {
            user: user.map(|user| Member(user.to_owned())),
            starts_at: TimestampMs(starts_at),
            ends_at: TimestampMs(ends_at),
            source: ShiftSource::Rotation,
        }
    }

    #[test]
    fn each_shift_of_a_person_is_an_event() {
        let start = 1_772_953_200_000;
        let shifts = [
            shift(Some("ada@example.com"), start, start + 23 * HOUR_MS),
            shift(None, start + 23 * HOUR_MS, start + 24 * HOUR_MS),
            shift(Some("short@example.com"), start + 999, start + 1),
        ];
        let text = calendar("sched_01", "Primary", &shifts, TimestampMs(0));
        let expected = [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//Telltale//On-call schedules//EN",
            "X-WR-CALNAME:Primary",
            "BEGIN:VEVENT",
            "UID:sched_01-1772953200000@telltale",
            "DTSTAMP:19700101T000000Z",
            "DTSTART:20260308T070000Z",
            "DTEND:20260309T060000Z",
            "SUMMARY:On call: ada@example.com",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ];
        assert_eq!(text, expected.join("\r\n"));
    }

    #[test]
    fn values_are_escaped() {
        for (text, expected) in [
            ("a\\b;c,d:e\"f", "a\\\\b\\;c\\,d:e\"f"),
            ("a\nb\r\nc\rd", "a\\nb\\nc\\nd"),
            ("a\tb\0c\u{7f}d", "a b c d"),
            ("\r\nBEGIN:VEVENT", "\\nBEGIN:VEVENT"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_folded_between_characters() {
        for (name, lines) in [
            ("x".repeat(62), 1),
            ("x".repeat(63), 2),
            ("x".repeat(62 + 74), 2),
            ("x".repeat(62 + 75), 3),
            ("é".repeat(31), 1),
            ("é".repeat(32), 2),
            ("🚨".repeat(100), 6),
            (",".repeat(100), 3),
        ] {
            let text = calendar("s", &name, &[], TimestampMs(0));
            let folded: Vec<&str> = text.split("\r\n").skip(3).take(lines).collect();
            assert!(folded.iter().all(|line| line.len() <= LINE_BYTES_MAX), "{folded:?}");
            let unfolded = folded.join("\r\n").replace("\r\n ", "");
            assert_eq!(unfolded, format!("X-WR-CALNAME:{}", escaped(&name)));
        }
    }
}
