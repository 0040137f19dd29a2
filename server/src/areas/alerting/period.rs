//! Lengths of time in rules, as people write them: `30s`, `5m`, `1h`, `2d`.

use std::fmt;

/// A length of time in whole units. Keeps its unit, so that it is shown as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    count: u32,
    unit: PeriodUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeriodUnit {
    Second,
    Minute,
    Hour,
    Day,
}

impl Period {
    /// No time: `0m`.
    pub(super) const ZERO: Self = Self::minutes(0);

    /// Returns a number of minutes.
    pub(super) const fn minutes(count: u32) -> Self {
        Self { count, unit: PeriodUnit::Minute }
    }

    /// Parses a number of digits and a unit; `None` if it is anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, suffix) = text.split_at_checked(digits)?;
        let unit = PeriodUnit::ALL.into_iter().find(|unit| unit.suffix() == suffix)?;
        Some(Self { count: number.parse().ok()?, unit })
    }

    /// Returns the length in milliseconds.
    pub(super) fn ms(self) -> i64 {
        i64::from(self.count).saturating_mul(self.unit.ms())
    }
}

impl PeriodUnit {
    const ALL: [Self; 4] = [Self::Second, Self::Minute, Self::Hour, Self::Day];

    fn suffix(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "m",
            Self::Hour => "h",
            Self::Day => "d",
        }
    }

    fn ms(self) -> i64 {
        match self {
            Self::Second => 1_000,
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_shown_as_they_were_written() {
        for (text, ms) in [
            ("0m", 0),
            ("30s", 30_000),
            ("90m", 5_400_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
            ("4294967295d", 371_085_174_288_000_000),
        ] {
            let period = Period::parse(text).unwrap();
            assert_eq!((period.ms(), period.to_string()), (ms, text.to_owned()));
        }
        assert_eq!(Period::parse("005m").unwrap().to_string(), "5m");
        assert_eq!(Period::ZERO.to_string(), "0m");
    }

    #[test]
    fn anything_else_is_no_period() {
        for text in ["", "5", "m", "5 m", "-5m", "5M", "5min", "1.5h", "4294967296s", "5m5s", "５m"]
        {
            assert_eq!(Period::parse(text), None, "{text:?}");
        }
    }
}
