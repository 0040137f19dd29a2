//! Recurrence rules as text: the value of the `RRULE` property of RFC 5545.
//!
//! Accepts every rule of the standard whose frequency is daily or lower, in any case of letters and
//! with or without `RRULE:` in front of it, and refuses what the standard forbids. Does not know
//! when the rule begins; see `expansion`.

use std::collections::HashSet;
use std::hash::Hash;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use crate::limits::{
    RECURRENCE_DURATION_MS_MAX, RECURRENCE_PART_SHOWN_CHARS_MAX, RECURRENCE_RULE_BYTES_MAX,
    RECURRENCE_TIMES_MAX,
};

/// The parts that a rule may have.
const PARTS: [&str; 14] = [
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "WKST",
    "BYMONTH",
    "BYWEEKNO",
    "BYYEARDAY",
    "BYMONTHDAY",
    "BYDAY",
    "BYHOUR",
    "BYMINUTE",
    "BYSECOND",
    "BYSETPOS",
];

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Mon),
    ("TU", Weekday::Tue),
    ("WE", Weekday::Wed),
    ("TH", Weekday::Thu),
    ("FR", Weekday::Fri),
    ("SA", Weekday::Sat),
    ("SU", Weekday::Sun),
];

/// Why a recurrence is refused. The messages continue the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRecurrence {
    /// The rule is longer than the limit.
    #[error("must have at most {RECURRENCE_RULE_BYTES_MAX} bytes")]
    TooLong,
    /// The text does not consist of names with values.
    #[error(
        "must be the value of an RRULE, such as FREQ=WEEKLY;BYDAY=SU, without other properties"
    )]
    Syntax,
    /// The standard has no part of this name.
    #[error("must not have a part {0:?}, which is not a part of RFC 5545")]
    UnknownPart(String),
    /// A part occurs more than once.
    #[error("must have {0} only once")]
    DuplicatePart(&'static str),
    /// The rule has no frequency.
    #[error("must have a FREQ: DAILY, WEEKLY, MONTHLY or YEARLY")]
    NoFrequency,
    /// The value of a part is invalid.
    #[error("must have {expected} in {part}")]
    Value {
        /// The name of the part.
        part: &'static str,
        /// The valid values.
        expected: &'static str,
    },
    /// The standard allows a part only in other rules.
    #[error("must have {part} only with {expected}")]
    Combination {
        /// The part.
        part: &'static str,
        /// The rules in which it is valid.
        expected: &'static str,
    },
    /// The rule has two ends.
    #[error("must not have both COUNT and UNTIL")]
    CountAndUntil,
    /// The rule combines too many hours, minutes and seconds.
    #[error("must give at most {RECURRENCE_TIMES_MAX} occurrences a day")]
    TooManyTimes,
    /// No date satisfies the rule, or none before its end.
    #[error("must give at least one occurrence from its start to the year 9999")]
    NoOccurrence,
    /// The start is outside of the years that the calendar covers.
    #[error("must start within the years 1970 to 9999")]
    Start,
    /// Each occurrence would be longer than the limit.
    #[error("must have occurrences of at most {} days", RECURRENCE_DURATION_MS_MAX / 86_400_000)]
    Duration,
}

/// How often a rule recurs. Its periods are days, weeks, months or years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleFrequency {
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// Where a rule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleEnd {
    /// The rule has no end.
    Never,
    /// After this number of occurrences, at least one.
    Count(u32),
    /// With the last occurrence that starts at or before this time on the wall clock.
    Local(NaiveDateTime),
    /// With the last occurrence that starts at or before this time in UTC.
    Utc(NaiveDateTime),
}

/// A weekday, or one of the weekdays of a month or year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RuleWeekday {
    /// 1 is the first, -1 the last one; `None` is every one.
    pub(super) nth: Option<i32>,
    pub(super) weekday: Weekday,
}

/// A parsed rule. An empty list means that the rule does not have that part; no list contains a
/// value twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecurrenceRule {
    pub(super) frequency: RuleFrequency,
    /// At least 1.
    pub(super) interval: u32,
    pub(super) end: RuleEnd,
    pub(super) week_start: Weekday,
    pub(super) months: Vec<i32>,
    pub(super) week_numbers: Vec<i32>,
    pub(super) year_days: Vec<i32>,
    pub(super) month_days: Vec<i32>,
    pub(super) weekdays: Vec<RuleWeekday>,
    pub(super) hours: Vec<i32>,
    pub(super) minutes: Vec<i32>,
    pub(super) seconds: Vec<i32>,
    pub(super) positions: Vec<i32>,
}

/// The parts of a rule, with values in upper case.
struct RuleParts(Vec<(&'static str, String)>);

impl RecurrenceRule {
    /// Parses a rule.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidRecurrence> {
        if text.len() > RECURRENCE_RULE_BYTES_MAX {
            return Err(InvalidRecurrence::TooLong);
        }
        let parts = RuleParts::split(&text.trim().to_ascii_uppercase())?;
        let rule = Self {
            frequency: parts.frequency()?,
            interval: parts.positive("INTERVAL")?.unwrap_or(1),
            end: parts.end()?,
            week_start: parts.week_start()?,
            months: parts.numbers("BYMONTH", "1 to 12", |n| (1..=12).contains(&n))?,
            week_numbers: parts.numbers("BYWEEKNO", "1 to 53 or -53 to -1", is_up_to::<53>)?,
            year_days: parts.numbers("BYYEARDAY", "1 to 366 or -366 to -1", is_up_to::<366>)?,
            month_days: parts.numbers("BYMONTHDAY", "1 to 31 or -31 to -1", is_up_to::<31>)?,
            weekdays: parts.list("BYDAY", "weekdays such as SU, 1MO or -1FR", weekday)?,
            hours: parts.numbers("BYHOUR", "0 to 23", |n| (0..=23).contains(&n))?,
            minutes: parts.numbers("BYMINUTE", "0 to 59", |n| (0..=59).contains(&n))?,
            seconds: parts.seconds()?,
            positions: parts.numbers("BYSETPOS", "1 to 366 or -366 to -1", is_up_to::<366>)?,
        };
        rule.check_combinations(&parts)?;
        let times = [&rule.hours, &rule.minutes, &rule.seconds].map(|list| list.len().max(1));
        if times.iter().product::<usize>() > RECURRENCE_TIMES_MAX {
            return Err(InvalidRecurrence::TooManyTimes);
        }
        Ok(rule)
    }

    /// Checks the combinations of parts that the standard forbids.
    fn check_combinations(&self, parts: &RuleParts) -> Result<(), InvalidRecurrence> {
        let frequency = self.frequency;
        let is_yearly = frequency == RuleFrequency::Yearly;
        let has_ordinals = self.weekdays.iter().any(|day| day.nth.is_some());
        let may_have_ordinals =
            (is_yearly && self.week_numbers.is_empty()) || frequency == RuleFrequency::Monthly;
        for (is_allowed, part, expected) in [
            (self.week_numbers.is_empty() || is_yearly, "BYWEEKNO", "FREQ=YEARLY"),
            (self.year_days.is_empty() || is_yearly, "BYYEARDAY", "FREQ=YEARLY"),
            (
                self.month_days.is_empty() || frequency != RuleFrequency::Weekly,
                "BYMONTHDAY",
                "FREQ=DAILY, MONTHLY or YEARLY",
            ),
            (
                !has_ordinals || may_have_ordinals,
                "a numbered BYDAY",
                "FREQ=MONTHLY, or with FREQ=YEARLY and no BYWEEKNO",
            ),
            (
                self.positions.is_empty() || parts.has_other_by_part(),
                "BYSETPOS",
                "another part that begins with BY",
            ),
        ] {
            if !is_allowed {
                return Err(InvalidRecurrence::Combination { part, expected });
            }
        }
        Ok(())
    }
}

impl RuleParts {
    fn split(text: &str) -> Result<Self, InvalidRecurrence> {
        let value = text.strip_prefix("RRULE:").unwrap_or(text);
        let mut parts = Self(Vec::new());
        for part in value.split(';') {
            let (name, value) = part.split_once('=').ok_or(InvalidRecurrence::Syntax)?;
            if part.contains(|c: char| c.is_whitespace() || c == ':') {
                return Err(InvalidRecurrence::Syntax);
            }
            let Some(known) = PARTS.into_iter().find(|known| *known == name) else {
                let shown = name.chars().take(RECURRENCE_PART_SHOWN_CHARS_MAX).collect();
                return Err(InvalidRecurrence::UnknownPart(shown));
            };
            if parts.get(known).is_some() {
                return Err(InvalidRecurrence::DuplicatePart(known));
            }
            parts.0.push((known, value.to_owned()));
        }
        Ok(parts)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn has_other_by_part(&self) -> bool {
        self.0.iter().any(|(name, _)| name.starts_with("BY") && *name != "BYSETPOS")
    }

    fn frequency(&self) -> Result<RuleFrequency, InvalidRecurrence> {
        match self.get("FREQ").ok_or(InvalidRecurrence::NoFrequency)? {
            "DAILY" => Ok(RuleFrequency::Daily),
            "WEEKLY" => Ok(RuleFrequency::Weekly),
            "MONTHLY" => Ok(RuleFrequency::Monthly),
            "YEARLY" => Ok(RuleFrequency::Yearly),
            _ => Err(InvalidRecurrence::Value {
                part: "FREQ",
                expected: "DAILY, WEEKLY, MONTHLY or YEARLY",
            }),
        }
    }

    fn end(&self) -> Result<RuleEnd, InvalidRecurrence> {
        match (self.positive("COUNT")?, self.get("UNTIL")) {
            (Some(_), Some(_)) => Err(InvalidRecurrence::CountAndUntil),
            (Some(count), None) => Ok(RuleEnd::Count(count)),
            (None, None) => Ok(RuleEnd::Never),
            (None, Some(value)) => until(value).ok_or(InvalidRecurrence::Value {
                part: "UNTIL",
                expected: "a time such as 20261231T235959Z, 20261231T235959 or 20261231",
            }),
        }
    }

    fn week_start(&self) -> Result<Weekday, InvalidRecurrence> {
        let Some(value) = self.get("WKST") else { return Ok(Weekday::Mon) };
        weekday_named(value).ok_or(InvalidRecurrence::Value {
            part: "WKST",
            expected: "MO, TU, WE, TH, FR, SA or SU",
        })
    }

    fn positive(&self, part: &'static str) -> Result<Option<u32>, InvalidRecurrence> {
        let Some(value) = self.get(part) else { return Ok(None) };
        let is_number = value.bytes().all(|b| b.is_ascii_digit());
        match value.parse().ok().filter(|number| is_number && *number > 0) {
            Some(number) => Ok(Some(number)),
            None => Err(InvalidRecurrence::Value { part, expected: "1 to 4294967295" }),
        }
    }

    fn numbers(
        &self,
        part: &'static str,
        expected: &'static str,
        is_valid: fn(i32) -> bool,
    ) -> Result<Vec<i32>, InvalidRecurrence> {
        self.list(part, expected, |text| number(text).filter(|n| is_valid(*n)))
    }

    /// Returns the seconds. Second 60, a leap second, is second 59, as the standard recommends.
    fn seconds(&self) -> Result<Vec<i32>, InvalidRecurrence> {
        self.list("BYSECOND", "0 to 60", |text| {
            number(text).filter(|n| (0..=60).contains(n)).map(|n| n.min(59))
        })
    }

    fn list<T: Copy + Eq + Hash>(
        &self,
        part: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, InvalidRecurrence> {
        let Some(value) = self.get(part) else { return Ok(Vec::new()) };
        let parsed: Option<Vec<T>> = value.split(',').map(parse).collect();
        let mut list = parsed.ok_or(InvalidRecurrence::Value { part, expected })?;
        let mut seen = HashSet::new();
        list.retain(|item| seen.insert(*item));
        Ok(list)
    }
}

fn is_up_to<const MAX: i32>(number: i32) -> bool {
    number != 0 && (-MAX..=MAX).contains(&number)
}

/// Parses one to three digits with an optional sign.
fn number(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Parses a weekday with an optional number in front of it.
fn weekday(text: &str) -> Option<RuleWeekday> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (nth, name) = text.split_at_checked(split)?;
    let nth = match nth {
        "" => None,
        nth => Some(number(nth).filter(|nth| is_up_to::<53>(*nth))?),
    };
    Some(RuleWeekday { nth, weekday: weekday_named(name)? })
}

fn weekday_named(name: &str) -> Option<Weekday> {
    WEEKDAYS.into_iter().find(|(known, _)| *known == name).map(|(_, weekday)| weekday)
}

/// Parses the end of a rule. A date alone is its first instant, as in `dateutil` of Python.
fn until(value: &str) -> Option<RuleEnd> {
    let (value, is_utc) = match value.strip_suffix('Z') {
        Some(value) => (value, true),
        None => (value, false),
    };
    let local = match value.split_once('T') {
        Some((date, time)) => until_date(date)?.and_time(until_time(time)?),
        None if is_utc => return None,
        None => until_date(value)?.and_time(NaiveTime::MIN),
    };
    Some(if is_utc { RuleEnd::Utc(local) } else { RuleEnd::Local(local) })
}

fn until_date(text: &str) -> Option<NaiveDate> {
    let [year, month, day] = digits::<8>(text)?;
    NaiveDate::from_ymd_opt(year.try_into().ok()?, month, day)
}

fn until_time(text: &str) -> Option<NaiveTime> {
    let [hour, minute, second] = digits::<6>(text)?;
    NaiveTime::from_hms_opt(hour, minute, if second == 60 { 59 } else { second })
}

/// Parses a number of exactly `LENGTH` digits, and splits off its last two pairs.
fn digits<const LENGTH: usize>(text: &str) -> Option<[u32; 3]> {
    let is_number = text.len() == LENGTH && text.bytes().all(|b| b.is_ascii_digit());
    let number: u32 = if is_number { text.parse().ok()? } else { return None };
    Some([number / 10_000, number / 100 % 100, number % 100])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        RecurrenceRule::parse(text).unwrap_err().to_string()
    }

    fn local(text: &str) -> NaiveDateTime {
        text.parse().unwrap()
    }

    #[test]
    fn all_parts_are_read_in_any_case_and_order() {
        let text = "rrule:bysetpos=-1,2;WKST=SU;byday=MO,+2tu,-53SU,MO;FREQ=yearly;INTERVAL=2;\
                    BYMONTH=12,1,01;BYMONTHDAY=-31,+31;BYYEARDAY=366,-366;COUNT=7;BYHOUR=0,23;\
                    BYMINUTE=59,0;BYSECOND=60,59,0";
        let day = |nth, weekday| RuleWeekday { nth, weekday };
        let expected = RecurrenceRule {
            frequency: RuleFrequency::Yearly,
            interval: 2,
            end: RuleEnd::Count(7),
            week_start: Weekday::Sun,
            months: vec![12, 1],
            week_numbers: Vec::new(),
            year_days: vec![366, -366],
            month_days: vec![-31, 31],
            weekdays: vec![
                day(None, Weekday::Mon),
                day(Some(2), Weekday::Tue),
                day(Some(-53), Weekday::Sun),
            ],
            hours: vec![0, 23],
            minutes: vec![59, 0],
            seconds: vec![59, 0],
            positions: vec![-1, 2],
        };
        assert_eq!(RecurrenceRule::parse(text), Ok(expected));
        let rule = RecurrenceRule::parse(" FREQ=YEARLY;BYWEEKNO=1,-53;BYDAY=MO ").unwrap();
        assert_eq!((rule.week_numbers, rule.interval), (vec![1, -53], 1));
        assert_eq!((rule.week_start, rule.end), (Weekday::Mon, RuleEnd::Never));
    }

    #[test]
    fn the_end_is_a_date_a_local_time_or_a_time_in_utc() {
        for (value, expected) in [
            ("20261231", Some(RuleEnd::Local(local("2026-12-31T00:00:00")))),
            ("20261231T235959", Some(RuleEnd::Local(local("2026-12-31T23:59:59")))),
            ("20261231T235960Z", Some(RuleEnd::Utc(local("2026-12-31T23:59:59")))),
            ("20240229t000000z", Some(RuleEnd::Utc(local("2024-02-29T00:00:00")))),
            ("20261231Z", None),
            ("20260229", None),
            ("2026-12-31", None),
            ("20261231T2359", None),
            ("20261231T240000", None),
            ("20261231T235961", None),
            ("20261231T235959+0100", None),
            ("T", None),
            ("", None),
        ] {
            let parsed = RecurrenceRule::parse(&format!("FREQ=DAILY;UNTIL={value}"));
            assert_eq!(parsed.ok().map(|rule| rule.end), expected, "{value}");
        }
    }

    #[test]
    fn invalid_rules_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "must be the value of an RRULE"),
            ("daily", "must be the value of an RRULE"),
            ("RRULE:", "must be the value of an RRULE"),
            ("FREQ=DAILY;", "must be the value of an RRULE"),
            ("FREQ=DAILY; COUNT=2", "must be the value of an RRULE"),
            ("DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY", "must be the value of an RRULE"),
            ("FREQ=DAILY\nEXRULE:FREQ=WEEKLY", "must be the value of an RRULE"),
            ("RRULE:RRULE:FREQ=DAILY", "must be the value of an RRULE"),
            ("FREQ=DAILY;COLOR=RED", "must not have a part \"COLOR\""),
            ("FREQ=DAILY;BYEASTER=1", "must not have a part \"BYEASTER\""),
            ("FREQ=DAILY;COUNT=2;count=3", "must have COUNT only once"),
            ("COUNT=2", "must have a FREQ: DAILY"),
            ("FREQ=HOURLY", "must have DAILY, WEEKLY, MONTHLY or YEARLY in FREQ"),
            ("FREQ=MINUTELY", "must have DAILY, WEEKLY, MONTHLY or YEARLY in FREQ"),
            ("FREQ=SECONDLY", "must have DAILY, WEEKLY, MONTHLY or YEARLY in FREQ"),
            ("FREQ=DAILY;COUNT=2;UNTIL=20300101", "must not have both COUNT and UNTIL"),
            ("FREQ=DAILY;INTERVAL=0", "must have 1 to 4294967295 in INTERVAL"),
            ("FREQ=DAILY;INTERVAL=-1", "must have 1 to 4294967295 in INTERVAL"),
            ("FREQ=DAILY;INTERVAL=+1", "must have 1 to 4294967295 in INTERVAL"),
            ("FREQ=DAILY;INTERVAL=4294967296", "must have 1 to 4294967295 in INTERVAL"),
            ("FREQ=DAILY;COUNT=0", "must have 1 to 4294967295 in COUNT"),
            ("FREQ=DAILY;COUNT=", "must have 1 to 4294967295 in COUNT"),
            ("FREQ=DAILY;BYMONTH=0", "must have 1 to 12 in BYMONTH"),
            ("FREQ=DAILY;BYMONTH=-1", "must have 1 to 12 in BYMONTH"),
            ("FREQ=DAILY;BYMONTH=13", "must have 1 to 12 in BYMONTH"),
            ("FREQ=DAILY;BYMONTH=1,,2", "must have 1 to 12 in BYMONTH"),
            ("FREQ=MONTHLY;BYMONTHDAY=32", "must have 1 to 31 or -31 to -1 in BYMONTHDAY"),
            ("FREQ=MONTHLY;BYMONTHDAY=0", "must have 1 to 31 or -31 to -1 in BYMONTHDAY"),
            ("FREQ=YEARLY;BYYEARDAY=367", "must have 1 to 366 or -366 to -1 in BYYEARDAY"),
            ("FREQ=YEARLY;BYWEEKNO=54", "must have 1 to 53 or -53 to -1 in BYWEEKNO"),
            ("FREQ=DAILY;BYHOUR=24", "must have 0 to 23 in BYHOUR"),
            ("FREQ=DAILY;BYMINUTE=60", "must have 0 to 59 in BYMINUTE"),
            ("FREQ=DAILY;BYSECOND=61", "must have 0 to 60 in BYSECOND"),
            ("FREQ=DAILY;BYDAY=XX", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=MONTHLY;BYDAY=0MO", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=MONTHLY;BYDAY=54MO", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=MONTHLY;BYDAY=MO1", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=MONTHLY;BYDAY=1", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=MONTHLY;BYDAY=\u{661}MO", "must have weekdays such as SU, 1MO or -1FR in BYDAY"),
            ("FREQ=DAILY;WKST=1", "must have MO, TU, WE, TH, FR, SA or SU in WKST"),
            ("FREQ=DAILY;BYDAY=MO;BYSETPOS=367", "must have 1 to 366 or -366 to -1 in BYSETPOS"),
            ("FREQ=DAILY;BYSETPOS=1", "must have BYSETPOS only with another part"),
            ("FREQ=DAILY;BYDAY=1MO", "must have a numbered BYDAY only with FREQ=MONTHLY"),
            ("FREQ=WEEKLY;BYDAY=-1MO", "must have a numbered BYDAY only with"),
            ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", "must have a numbered BYDAY only with"),
            ("FREQ=WEEKLY;BYMONTHDAY=1", "must have BYMONTHDAY only with FREQ=DAILY, MONTHLY"),
            ("FREQ=MONTHLY;BYYEARDAY=1", "must have BYYEARDAY only with FREQ=YEARLY"),
            ("FREQ=MONTHLY;BYWEEKNO=1", "must have BYWEEKNO only with FREQ=YEARLY"),
            ("FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=0,1,2,3,4", "must give at most 24 occurrences"),
        ] {
            assert!(refusal(text).starts_with(reason), "{text:?}: {}", refusal(text));
        }
    }

    #[test]
    fn the_limits_are_exact() {
        let longest = format!("FREQ=DAILY;BYMONTH={}", vec!["10"; 160].join(","));
        assert_eq!(longest.len(), RECURRENCE_RULE_BYTES_MAX - 2);
        assert!(RecurrenceRule::parse(&longest).is_ok());
        assert_eq!(refusal(&format!("{longest},10")), "must have at most 500 bytes");
        let hours = (0..24).map(|hour| hour.to_string()).collect::<Vec<_>>().join(",");
        assert!(RecurrenceRule::parse(&format!("FREQ=DAILY;BYHOUR={hours}")).is_ok());
        let too_many = refusal(&format!("FREQ=DAILY;BYHOUR={hours};BYMINUTE=0,30"));
        assert_eq!(too_many, "must give at most 24 occurrences a day");
        let unknown = refusal(&format!("FREQ=DAILY;{}=1", "X".repeat(100)));
        assert!(unknown.contains(&format!("{:?}", "X".repeat(RECURRENCE_PART_SHOWN_CHARS_MAX))));
    }
}
