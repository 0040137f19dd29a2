//! Durations in bodies and queries: `30m`, `24h`, `7d`, `2w`.

const UNITS: [(char, i64); 4] =
    [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 7 * 86_400_000)];

/// Parses `<n>m`, `<n>h`, `<n>d` or `<n>w` to milliseconds. Returns `None` unless the result is
/// from 1 to `ms_max`.
pub fn parse(text: &str, ms_max: i64) -> Option<i64> {
    let mut characters = text.chars();
    let unit = characters.next_back()?;
    let digits = characters.as_str();
    let (_, unit_ms) = UNITS.iter().find(|(known, _)| *known == unit)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let count: i64 = if is_number { digits.parse().ok()? } else { return None };
    count.checked_mul(*unit_ms).filter(|ms| (1..=ms_max).contains(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        for (text, expected) in [
            ("1m", Some(60_000)),
            ("24h", Some(86_400_000)),
            ("7d", Some(604_800_000)),
            ("2w", Some(1_209_600_000)),
            ("0h", None),
            ("4w", None),
            ("99999999999999999999d", None),
            ("9223372036854775807w", None),
            ("h", None),
            ("", None),
            ("24", None),
            ("-1h", None),
            ("+1h", None),
            ("1.5h", None),
            ("1 h", None),
            ("1s", None),
            ("1é", None),
        ] {
            assert_eq!(parse(text, 15 * 86_400_000), expected, "{text}");
        }
    }
}
