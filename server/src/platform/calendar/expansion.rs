//! The local times that a recurrence rule gives from its anchor on.
//!
//! A rule divides the calendar into periods of its frequency, of which it uses every `INTERVAL`-th,
//! counted from the one that contains the anchor. Each used period is expanded on its own: its
//! dates that pass all of `BYMONTH`, `BYWEEKNO`, `BYYEARDAY`, `BYMONTHDAY` and `BYDAY`, at each of
//! the times of day, of which `BYSETPOS` selects some. So any period can be computed without those
//! before it, and the occurrences of a rule that is decades old cost no more than those of a new
//! one.
//!
//! The Gregorian calendar, weekdays included, repeats after 400 years. A search ends after the used
//! periods have gone through one repetition, 146,097 dates in the worst case: then the rule has no
//! other occurrence. The number in `COUNT` is converted to the last occurrence once.
//!
//! The occurrences are those of `dateutil` of Python, also where it differs from RFC 5545: the
//! first period of a weekly rule begins with the anchor instead of the week, which matters to
//! `BYSETPOS`, and the days before week 1 of a year are in some years counted as week 53 of a year
//! that has 52. There is one exception. If `BYDAY` has both plain and numbered weekdays, the dates
//! are those of either kind, as the standard says; dateutil finds none.
//!
//! The crate `rrule` is not used, although its occurrences are the same: it refuses valid rules
//! such as `FREQ=MONTHLY;BYDAY=-5MO`, computes every occurrence since the anchor for each query,
//! and ends without an error after 100,000 periods that have none.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use super::rule::{RecurrenceRule, RuleFrequency, RuleWeekday};

/// The last year that has occurrences.
const YEAR_MAX: i32 = 9_999;

/// A rule with its anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expansion {
    /// With the parts that follow from the anchor.
    rule: RecurrenceRule,
    anchor: NaiveDateTime,
    /// If the rule ends, local times after this one do not exist.
    last: Option<NaiveDateTime>,
    /// The times of day, in order.
    times: Vec<NaiveTime>,
}

/// Consecutive dates.
struct Dates {
    first: NaiveDate,
    count: i64,
}

impl Expansion {
    /// Returns the expansion of `rule` from `anchor` on. What the rule does not say is as in the
    /// anchor.
    pub(super) fn new(mut rule: RecurrenceRule, anchor: NaiveDateTime) -> Self {
        let selects_days = !rule.week_numbers.is_empty()
            || !rule.year_days.is_empty()
            || !rule.month_days.is_empty()
            || !rule.weekdays.is_empty();
        if !selects_days {
            let weekday = RuleWeekday { nth: None, weekday: anchor.weekday() };
            match rule.frequency {
                RuleFrequency::Daily => {}
                RuleFrequency::Weekly => rule.weekdays.push(weekday),
                RuleFrequency::Monthly => rule.month_days.push(anchor.day() as i32),
                RuleFrequency::Yearly => {
                    rule.month_days.push(anchor.day() as i32);
                    if rule.months.is_empty() {
                        rule.months.push(anchor.month() as i32);
                    }
                }
            }
        }
        let times = times(&rule, anchor.time());
        Self { rule, anchor, last: None, times }
    }

    /// Returns the expansion without local times after `last`.
    pub(super) fn ending_at(self, last: NaiveDateTime) -> Self {
        Self { last: Some(last), ..self }
    }

    /// Returns the number of the last used period that begins at or before `date`; the period of
    /// the anchor is number 0.
    pub(super) fn period_at(&self, date: NaiveDate) -> i64 {
        let anchor = self.anchor.date();
        let (distance, length) = match self.rule.frequency {
            RuleFrequency::Daily => (days_between(anchor, date), 1),
            RuleFrequency::Weekly => (days_between(self.week_of(anchor), date), 7),
            RuleFrequency::Monthly => (month_number(date) - month_number(anchor), 1),
            RuleFrequency::Yearly => (i64::from(date.year() - anchor.year()), 1),
        };
        distance.div_euclid(length * i64::from(self.rule.interval)).max(0)
    }

    /// Returns the local times in a period, in order, or `None` if the period begins after the end.
    pub(super) fn times_in(&self, period: i64) -> Option<Vec<NaiveDateTime>> {
        let dates: Vec<NaiveDate> = self.matching_dates(period)?.collect();
        let mut all = Vec::new();
        if self.rule.positions.is_empty() {
            all.extend(dates.iter().flat_map(|date| self.times.iter().map(|t| date.and_time(*t))));
        } else {
            all.extend(self.rule.positions.iter().filter_map(|at| self.time_at(&dates, *at)));
            all.sort_unstable();
            all.dedup();
        }
        all.retain(|time| *time >= self.anchor && self.last.is_none_or(|last| *time <= last));
        Some(all)
    }

    /// Returns the first period from `period` on that has local times, with these times.
    pub(super) fn next_times(&self, period: i64) -> Option<(i64, Vec<NaiveDateTime>)> {
        // One more than a repetition: the period of the anchor may lack what is before the anchor.
        for period in period..=period + self.repetition_periods() {
            let times = self.times_in(period)?;
            if !times.is_empty() {
                return Some((period, times));
            }
        }
        None
    }

    /// Returns the `count`-th local time, or `None` if there are fewer.
    pub(super) fn nth_time(&self, count: u32) -> Option<NaiveDateTime> {
        let mut left = u64::from(count);
        let mut in_repetition = 0;
        let mut period = 0;
        loop {
            let times = self.times_in(period)?;
            if let Some(time) = usize::try_from(left - 1).ok().and_then(|at| times.get(at)) {
                return Some(*time);
            }
            left -= times.len() as u64;
            in_repetition += if period > 0 { times.len() as u64 } else { 0 };
            if period == self.repetition_periods() {
                // All following repetitions have as many. The one with the result is walked.
                let skipped = (left - 1).checked_div(in_repetition)?;
                left -= skipped * in_repetition;
                period += i64::try_from(skipped).ok()?.checked_mul(self.repetition_periods())?;
            }
            period += 1;
        }
    }

    /// Returns the number of used periods after which the calendar repeats.
    fn repetition_periods(&self) -> i64 {
        match self.rule.frequency {
            RuleFrequency::Daily => 146_097,
            RuleFrequency::Weekly => 146_097 / 7,
            RuleFrequency::Monthly => 400 * 12,
            RuleFrequency::Yearly => 400,
        }
    }

    fn matching_dates(&self, period: i64) -> Option<impl Iterator<Item = NaiveDate>> {
        let dates = self.dates_of(period)?;
        let days = dates.first.iter_days().zip(0..dates.count).map(|(date, _)| date);
        Some(days.filter(|date| self.matches(*date)))
    }

    /// Returns the dates of a period, or `None` if it begins after the end of the rule or after the
    /// last year.
    fn dates_of(&self, period: i64) -> Option<Dates> {
        let anchor = self.anchor.date();
        let steps = period.checked_mul(i64::from(self.rule.interval))?;
        let dates = match self.rule.frequency {
            RuleFrequency::Daily => Dates {
                first: anchor.checked_add_days(Days::new(steps.try_into().ok()?))?,
                count: 1,
            },
            RuleFrequency::Weekly => {
                let days = Days::new(steps.checked_mul(7)?.try_into().ok()?);
                let week = self.week_of(anchor).checked_add_days(days)?;
                let first = week.max(anchor);
                Dates { first, count: 7 - days_between(week, first) }
            }
            RuleFrequency::Monthly => {
                let month = month_number(anchor).checked_add(steps)?;
                let year = i32::try_from(month.div_euclid(12)).ok()?;
                let first = NaiveDate::from_ymd_opt(year, month.rem_euclid(12) as u32 + 1, 1)?;
                Dates { first, count: i64::from(first.num_days_in_month()) }
            }
            RuleFrequency::Yearly => {
                let year = i32::try_from(i64::from(anchor.year()).checked_add(steps)?).ok()?;
                Dates { first: NaiveDate::from_ymd_opt(year, 1, 1)?, count: year_days(year).into() }
            }
        };
        let is_after_end = self.last.is_some_and(|last| dates.first > last.date());
        (dates.first.year() <= YEAR_MAX && !is_after_end).then_some(dates)
    }

    /// Returns the first date of the week that contains `date`.
    fn week_of(&self, date: NaiveDate) -> NaiveDate {
        date.week(self.rule.week_start).first_day()
    }

    fn time_at(&self, dates: &[NaiveDate], position: i32) -> Option<NaiveDateTime> {
        let count = dates.len() * self.times.len();
        let at = match usize::try_from(position) {
            Ok(position) => position.checked_sub(1)?,
            Err(_) => count.checked_sub(position.unsigned_abs() as usize)?,
        };
        let date = dates.get(at / self.times.len())?;
        Some(date.and_time(*self.times.get(at % self.times.len())?))
    }

    fn matches(&self, date: NaiveDate) -> bool {
        let rule = &self.rule;
        let (day, days) = (date.day() as i32, i32::from(date.num_days_in_month()));
        contains_or_is_empty(&rule.months, date.month() as i32, None)
            && contains_or_is_empty(&rule.month_days, day, Some(day - days - 1))
            && (rule.weekdays.is_empty() || self.matches_weekday(date))
            && (rule.year_days.is_empty() || self.matches_year_day(date))
            && (rule.week_numbers.is_empty() || self.matches_week(date))
    }

    fn matches_weekday(&self, date: NaiveDate) -> bool {
        // Numbers count within the month, in a yearly rule without months within the year.
        let is_in_year =
            self.rule.frequency == RuleFrequency::Yearly && self.rule.months.is_empty();
        let (day, days) = if is_in_year {
            (date.ordinal0() as i32, year_days(date.year()))
        } else {
            (date.day0() as i32, i32::from(date.num_days_in_month()))
        };
        let (from_first, from_last) = (day / 7 + 1, -((days - 1 - day) / 7 + 1));
        self.rule.weekdays.iter().any(|allowed| {
            allowed.weekday == date.weekday()
                && allowed.nth.is_none_or(|nth| nth == from_first || nth == from_last)
        })
    }

    fn matches_year_day(&self, date: NaiveDate) -> bool {
        let day = date.ordinal() as i32;
        let from_last = day - year_days(date.year()) - 1;
        contains_or_is_empty(&self.rule.year_days, day, Some(from_last))
    }

    /// Returns whether the number of the week that contains `date` is allowed. Week 1 of a year is
    /// the first one with at least four days in it.
    fn matches_week(&self, date: NaiveDate) -> bool {
        let allowed = &self.rule.week_numbers;
        let (day, year) = (date.ordinal0() as i32, date.year());
        let first_day = self.week_one(year);
        let weeks = self.weeks_of(year);
        let week = (day - first_day).div_euclid(7) + 1;
        if week > weeks {
            // Week 1 of the next year, which dateutil does not find by a negative number.
            return allowed.contains(&1);
        }
        if week >= 1 {
            return contains_or_is_empty(allowed, week, Some(week - weeks - 1));
        }
        // The last week of the year before, with the number that dateutil computes.
        let last_week = if self.week_one(year - 1) >= 0 {
            52 + (year_days(year) - first_day) % 7 / 4
        } else {
            self.weeks_of(year - 1)
        };
        contains_or_is_empty(allowed, last_week, Some(-1))
    }

    /// Returns the day of the year on which its week 1 begins, -3 to 3: 0 is January 1.
    fn week_one(&self, year: i32) -> i32 {
        let Some(first) = NaiveDate::from_ymd_opt(year, 1, 1) else {
            panic!("{year} is at most a year away from a year with occurrences");
        };
        let day = first.weekday().days_since(self.rule.week_start) as i32;
        if day <= 3 { -day } else { 7 - day }
    }

    fn weeks_of(&self, year: i32) -> i32 {
        (year_days(year) - self.week_one(year) + self.week_one(year + 1)) / 7
    }
}

/// Returns the times of day of a rule, in order: all combinations of its hours, minutes and
/// seconds.
fn times(rule: &RecurrenceRule, anchor: NaiveTime) -> Vec<NaiveTime> {
    let or_anchor = |list: &[i32], of_anchor: u32| -> Vec<u32> {
        if list.is_empty() {
            vec![of_anchor]
        } else {
            list.iter().map(|number| number.unsigned_abs()).collect()
        }
    };
    let hours = or_anchor(&rule.hours, anchor.hour());
    let minutes = or_anchor(&rule.minutes, anchor.minute());
    let seconds = or_anchor(&rule.seconds, anchor.second());
    let mut times = Vec::new();
    for hour in hours {
        for minute in &minutes {
            times.extend(
                seconds.iter().filter_map(|second| NaiveTime::from_hms_opt(hour, *minute, *second)),
            );
        }
    }
    times.sort_unstable();
    times
}

/// Returns whether a list is empty or contains one of two numbers for the same thing.
fn contains_or_is_empty(list: &[i32], number: i32, from_last: Option<i32>) -> bool {
    list.is_empty()
        || list.contains(&number)
        || from_last.is_some_and(|from_last| list.contains(&from_last))
}

fn days_between(from: NaiveDate, to: NaiveDate) -> i64 {
    to.signed_duration_since(from).num_days()
}

/// Returns the number of months since the year 0.
fn month_number(date: NaiveDate) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month0())
}

fn year_days(year: i32) -> i32 {
    match NaiveDate::from_ymd_opt(year, 12, 31) {
        Some(last) => last.ordinal() as i32,
        None => panic!("{year} is at most a year away from a year with occurrences"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion(rule: &str, anchor: &str) -> Expansion {
        Expansion::new(RecurrenceRule::parse(rule).unwrap(), anchor.parse().unwrap())
    }

    /// Returns the local times of all periods that begin in or before a year.
    fn walk(expansion: &Expansion, last_year: i32) -> Vec<NaiveDateTime> {
        let last = NaiveDate::from_ymd_opt(last_year, 12, 31).unwrap();
        let periods = 0..=expansion.period_at(last);
        periods.flat_map(|period| expansion.times_in(period).unwrap_or_default()).collect()
    }

    fn shown(times: &[NaiveDateTime]) -> Vec<String> {
        times.iter().map(|time| time.format("%Y-%m-%d %H:%M").to_string()).collect()
    }

    #[test]
    fn the_examples_of_the_standard_are_expanded() {
        for (rule, anchor, expected) in [
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
                "1997-09-29T09:00:00",
                ["1997-09-29 09:00", "1997-10-30 09:00", "1997-11-27 09:00"],
            ),
            (
                "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
                "1997-09-02T09:00:00",
                ["1998-02-13 09:00", "1998-03-13 09:00", "1998-11-13 09:00"],
            ),
            (
                "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
                "1996-11-05T09:00:00",
                ["1996-11-05 09:00", "2000-11-07 09:00", "2004-11-02 09:00"],
            ),
            (
                "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
                "1997-05-12T09:00:00",
                ["1997-05-12 09:00", "1998-05-11 09:00", "1999-05-17 09:00"],
            ),
            (
                "FREQ=YEARLY;BYDAY=20MO",
                "1997-05-19T09:00:00",
                ["1997-05-19 09:00", "1998-05-18 09:00", "1999-05-17 09:00"],
            ),
            (
                "FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200",
                "1997-01-01T09:00:00",
                ["1997-01-01 09:00", "1997-04-10 09:00", "1997-07-19 09:00"],
            ),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO",
                "1997-08-05T09:00:00",
                ["1997-08-05 09:00", "1997-08-10 09:00", "1997-08-19 09:00"],
            ),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
                "1997-08-05T09:00:00",
                ["1997-08-05 09:00", "1997-08-17 09:00", "1997-08-19 09:00"],
            ),
            (
                "FREQ=MONTHLY;BYMONTHDAY=31",
                "2026-01-31T23:59:00",
                ["2026-01-31 23:59", "2026-03-31 23:59", "2026-05-31 23:59"],
            ),
            (
                "FREQ=DAILY;INTERVAL=10;BYHOUR=8,20",
                "2026-01-31T09:30:00",
                ["2026-01-31 20:30", "2026-02-10 08:30", "2026-02-10 20:30"],
            ),
        ] {
            let times = walk(&expansion(rule, anchor), 2030);
            assert_eq!(shown(&times[..3]), expected, "{rule}");
        }
    }

    #[test]
    fn plain_and_numbered_weekdays_are_alternatives() {
        let times = walk(&expansion("FREQ=MONTHLY;BYDAY=1TU,FR", "2026-01-01T00:00:00"), 2026);
        let expected =
            ["2026-01-02 00:00", "2026-01-06 00:00", "2026-01-09 00:00", "2026-01-16 00:00"];
        assert_eq!(shown(&times[..4]), expected);
    }

    #[test]
    fn the_first_week_begins_with_the_anchor() {
        // The anchor is a Wednesday: Monday of that week does not count as position 1.
        let rule = "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1";
        let times = walk(&expansion(rule, "2026-01-07T12:00:00"), 2026);
        assert_eq!(shown(&times[..2]), ["2026-01-07 12:00", "2026-01-12 12:00"]);
    }

    #[test]
    fn days_before_the_first_week_of_a_year_are_in_the_last_week_of_the_year_before() {
        // 2021-01-01 is in week 53 of 2020, 2023-01-01 in week 52 of 2022. Saturday, 2022-01-01, is
        // in week 52 of 2021, which dateutil counts as 53.
        for (week, expected) in [
            (52, ["2021-12-27", "2021-12-28", "2021-12-29", "2021-12-30", "2021-12-31"].as_slice()),
            (53, ["2020-12-28", "2020-12-29", "2020-12-30", "2020-12-31", "2021-01-01"].as_slice()),
        ] {
            let rule = format!("FREQ=YEARLY;BYWEEKNO={week}");
            let first = if week == 52 { "2021-01-01T00:00:00" } else { "2020-01-01T00:00:00" };
            let times = walk(&expansion(&rule, first), 2023);
            let dates: Vec<String> = times.iter().map(|time| time.date().to_string()).collect();
            assert_eq!(dates[..5], *expected, "{rule}");
            let saturday = NaiveDate::from_ymd_opt(2022, 1, 1).unwrap();
            let has_saturday = times.iter().any(|time| time.date() == saturday);
            assert_eq!(has_saturday, week == 53, "{rule}");
        }
    }

    #[test]
    fn each_period_can_be_computed_alone() {
        for (rule, anchor) in [
            ("FREQ=DAILY;INTERVAL=3;BYMONTH=1,2", "2025-12-30T10:00:00"),
            ("FREQ=WEEKLY;INTERVAL=2;WKST=TH;BYDAY=MO,TH,SU", "2026-01-05T10:00:00"),
            ("FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1,1", "2025-11-15T10:00:00"),
            ("FREQ=YEARLY;INTERVAL=2;BYDAY=1MO,-1MO", "2025-06-15T10:00:00"),
        ] {
            let expansion = expansion(rule, anchor);
            let times = walk(&expansion, 2060);
            assert!(times.is_sorted_by(|a, b| a < b), "{rule}");
            for (index, time) in times.iter().enumerate() {
                let in_period = expansion.times_in(expansion.period_at(time.date())).unwrap();
                assert!(in_period.contains(time), "{rule} {time}");
                assert_eq!(expansion.nth_time(index as u32 + 1), Some(*time), "{rule} {time}");
            }
        }
    }

    #[test]
    fn a_count_is_found_across_repetitions_of_the_calendar() {
        // The numbers of occurrences up to the year 9999 are those of dateutil.
        for (rule, anchor, expected) in [
            ("FREQ=YEARLY", "1972-02-29T00:00:00", 1_947),
            ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "1970-03-01T00:00:00", 301),
            ("FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=31;BYDAY=FR", "1970-01-31T00:00:00", 1_144),
            ("FREQ=YEARLY;INTERVAL=3;BYMONTHDAY=1,15", "1970-05-15T00:00:00", 64_239),
        ] {
            let expansion = expansion(rule, anchor);
            let times = walk(&expansion, YEAR_MAX);
            assert_eq!(times.len(), expected, "{rule}");
            for count in (1..=times.len()).step_by(expected / 200) {
                let time = expansion.nth_time(count as u32);
                assert_eq!(time, times.get(count - 1).copied(), "{rule} {count}");
            }
            for count in [expected as u32, expected as u32 + 1, u32::MAX] {
                let last = times.last().copied().filter(|_| count == expected as u32);
                assert_eq!(expansion.nth_time(count), last, "{rule} {count}");
            }
        }
    }
}
