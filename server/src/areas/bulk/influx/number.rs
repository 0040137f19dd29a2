//! Values of fields: numbers and booleans. Every number that is taken is the nearest `f64` to what was written.
//!
//! Most numbers have few digits: a whole number below 2^53 and a power of ten up to 10^22 are exact as `f64`, so that
//! their quotient is rounded once and is the nearest. All others go through the parser of the standard library.

/// Powers of ten up to the most decimals that a number of 19 digits has.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];
/// Digits that a `u64` holds whatever they are.
const DIGITS_MAX: usize = 19;
/// The whole numbers up to here are exact as `f64`.
const EXACT_MAX: u64 = 1 << 53;

/// Whether a value ends before this byte of its line.
#[inline]
pub(super) fn ends(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b',' | b' ' | b'\n' | b'\r'))
}

/// The number that `text` begins with, and its bytes; `text` begins with a digit, a point or a minus. None when what
/// stands there is no finite number.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let signed = |value: f64| if negative { -value } else { value };
    let (mut mantissa, mut at) = digits(text, usize::from(negative), 0);
    let mut count = at - usize::from(negative);
    match text.get(at) {
        Some(b'.') => {
            let (with_fraction, end) = digits(text, at + 1, mantissa);
            let decimals = end - at - 1;
            (mantissa, at) = (with_fraction, end);
            count += decimals;
            if ends(text.get(at))
                && is_exact(mantissa, count)
                && let Some(power) = POWERS.get(decimals)
            {
                return Some((signed(mantissa as f64 / power), at));
            }
        }
        Some(b'i') if is_exact(mantissa, count) && ends(text.get(at + 1)) => {
            return Some((signed(mantissa as f64), at + 1));
        }
        next if ends(next) && is_exact(mantissa, count) => {
            return Some((signed(mantissa as f64), at));
        }
        _ => {}
    }
    match text.get(at) {
        Some(b'i' | b'u') => integer(text, at),
        _ => any_number(text),
    }
}

/// Whether a number read from so many digits is what they say, and the same as an `f64`.
#[inline]
fn is_exact(number: u64, digits: usize) -> bool {
    (1..=DIGITS_MAX).contains(&digits) && number <= EXACT_MAX
}

/// Appends the digits from `at` on to `number`; answers where they end. Wraps around past [`DIGITS_MAX`].
#[inline]
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// The integer of many digits, or without a sign, whose suffix stands at `at`.
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

/// Any other number: many digits, or an exponent.
#[cold]
fn any_number(text: &[u8]) -> Option<(f64, usize)> {
    let length = text.iter().position(|byte| ends(Some(byte))).unwrap_or(text.len());
    let token = text.get(..length)?;
    // What else the standard library reads, such as `inf`, is no number here.
    let is_plain = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    if !token.iter().all(is_plain) {
        return None;
    }
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some((value, length))
}

/// The boolean that `text` begins with, as 1 or 0, and its bytes.
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

/// The whole number that `text` begins with, and its bytes; none when it begins with no digit or the number has more
/// than [`DIGITS_MAX`]. Eight digits at a time: timestamps have many.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<(u64, usize)> {
    let (mut number, mut at) = (0_u64, 0);
    while at < 16
        && let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk)
        && let Some(value) = eight_digits(*eight)
    {
        number = number * 100_000_000 + value;
        at += eight.len();
    }
    let (number, end) = digits(text, at, number);
    (1..=DIGITS_MAX).contains(&end).then_some((number, end))
}

/// The number of eight digits, if they are.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const HIGH_HALVES: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    let word = u64::from_le_bytes(bytes);
    // A byte is a digit when its high half is 3, also after 6 is added to it. No byte carries into the next one, as long
    // as all of them are below 0x80.
    if word & HIGH_HALVES != ZEROS || word.wrapping_add(SIXES) & HIGH_HALVES != ZEROS {
        return None;
    }
    // Pairs, then pairs of pairs, then both: each step takes the upper neighbour as the lower digits.
    let digits = word - ZEROS;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}
