//! Field values: numbers and booleans. Every accepted number is the `f64` nearest to the decimal
//! sent.

use crate::platform::decimal::Decimal;

/// Returns whether a value ends before this byte of its line.
#[inline]
pub(super) fn ends(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b',' | b' ' | b'\n' | b'\r'))
}

/// Parses the number at the start of `text` and returns it with its length in bytes; `text` starts
/// with a digit, a decimal point or a minus sign. Returns `None` if it is not a finite number.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let decimal = Decimal::read(text.get(sign..)?);
    let end = sign + decimal.bytes();
    let (suffix, is_whole) = (text.get(end), decimal.decimals().is_none());
    let length = match suffix {
        Some(b'i') if is_whole => end + 1,
        _ => end,
    };
    if ends(text.get(length))
        && let Some(value) = decimal.value()
    {
        return Some((if sign == 1 { -value } else { value }, length));
    }
    match suffix {
        Some(b'i' | b'u') => integer(text, end),
        _ => any_number(text),
    }
}

/// Parses an integer that has many digits or the suffix `u`; `at` is the position of the suffix.
#[cold]
fn integer(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let (number, rest) = text.split_at_checked(at)?;
    let number = std::str::from_utf8(number).ok()?;
    let value = match rest.split_first() {
        Some((b'i', after)) if ends(after.first()) => number.parse::<i64>().ok()? as f64,
        Some((b'u', after)) if ends(after.first()) => number.parse::<u64>().ok()? as f64,
        _ => return None,
    };
    Some((value, at + 1))
}

/// Parses any other number: one with many digits or an exponent.
#[cold]
fn any_number(text: &[u8]) -> Option<(f64, usize)> {
    let length = text.iter().position(|byte| ends(Some(byte))).unwrap_or(text.len());
    let token = text.get(..length)?;
    // The standard library accepts more, such as `inf`, which is not a number here.
    let is_plain = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    if !token.iter().all(is_plain) {
        return None;
    }
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some((value, length))
}

/// Parses the boolean at the start of `text` and returns it as 1 or 0, with its length in bytes.
pub(super) fn boolean(text: &[u8]) -> Option<(f64, usize)> {
    const LENGTH_MAX: usize = 5;
    let start = text.get(..=LENGTH_MAX).unwrap_or(text);
    let length = start.iter().position(|byte| ends(Some(byte))).unwrap_or(start.len());
    let value = match start.get(..length)? {
        b"t" | b"T" | b"true" | b"True" | b"TRUE" => 1.0,
        b"f" | b"F" | b"false" | b"False" | b"FALSE" => 0.0,
        _ => return None,
    };
    Some((value, length))
}
