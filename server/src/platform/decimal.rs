//! Decimal digits to `f64`: the part of parsing a number that several formats share. Callers check
//! what precedes and follows the digits.
//!
//! Most numbers have few digits. An integer up to 2^53 and a power of ten up to 10^22 are exact as
//! `f64`, so their quotient is rounded once and is the nearest `f64` (W. D. Clinger, "How to read
//! floating point numbers accurately", 1990). All others go through the parser of the standard
//! library.

/// The number of digits that always fit into a `u64`.
pub const DIGITS_MAX: usize = 19;
/// Integers up to this one are exact as `f64`.
const EXACT_MAX: u64 = 1 << 53;
/// The powers of ten for up to [`DIGITS_MAX`] decimals.
const POWERS: [f64; DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// Digits with or without a decimal point, at the beginning of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits as an integer; wraps beyond [`DIGITS_MAX`] digits.
    mantissa: u64,
    /// The number of digits on both sides of the point.
    digits: usize,
    /// The number of digits after the point; `None` without a point.
    decimals: Option<usize>,
}

impl Decimal {
    /// Reads digits, a point and digits, each of which may be missing.
    #[inline]
    pub fn read(text: &[u8]) -> Self {
        let (mantissa, whole) = digits(text, 0, 0);
        if text.get(whole) != Some(&b'.') {
            return Self { mantissa, digits: whole, decimals: None };
        }
        let (mantissa, end) = digits(text, whole + 1, mantissa);
        Self { mantissa, digits: end - 1, decimals: Some(end - 1 - whole) }
    }

    /// Returns the number of bytes read.
    #[inline]
    pub fn bytes(self) -> usize {
        self.digits + usize::from(self.decimals.is_some())
    }

    /// Returns all digits as an integer; wraps beyond [`DIGITS_MAX`] digits.
    #[inline]
    pub fn mantissa(self) -> u64 {
        self.mantissa
    }

    /// Returns the number of digits before the point.
    #[inline]
    pub fn whole(self) -> usize {
        self.digits - self.decimals.unwrap_or(0)
    }

    /// Returns the number of digits after the point, if there is one.
    #[inline]
    pub fn decimals(self) -> Option<usize> {
        self.decimals
    }

    /// Returns the nearest `f64` if a single division yields it; `None` if there are no digits, or
    /// too many for that.
    #[inline]
    pub fn value(self) -> Option<f64> {
        let exact = (1..=DIGITS_MAX).contains(&self.digits) && self.mantissa <= EXACT_MAX;
        let whole = exact.then_some(self.mantissa as f64)?;
        match self.decimals {
            None => Some(whole),
            Some(decimals) => POWERS.get(decimals).map(|power| whole / power),
        }
    }
}

/// Returns the integer at the beginning of `text` and its length in bytes; `None` if `text` starts
/// with no digit or with more than [`DIGITS_MAX`]. Reads eight digits at a time, because timestamps
/// have many.
#[inline]
pub fn whole(text: &[u8]) -> Option<(u64, usize)> {
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

/// Appends the digits starting at `at` to `number`. Returns the result and the position after the
/// last digit. Wraps beyond [`DIGITS_MAX`] digits.
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

/// Returns the value of eight bytes if all of them are digits.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const HIGH_HALVES: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    let word = u64::from_le_bytes(bytes);
    // A byte is a digit if its high nibble is 3, also after 6 is added to it. No byte carries into
    // the next one as long as all of them are below 0x80.
    if word & HIGH_HALVES != ZEROS || word.wrapping_add(SIXES) & HIGH_HALVES != ZEROS {
        return None;
    }
    // Pairs, then fours, then all eight: each step combines neighbours, the lower byte being the
    // more significant one.
    let digits = word - ZEROS;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn digits_and_a_point_are_split() {
        let read = |text: &str| {
            let decimal = Decimal::read(text.as_bytes());
            (decimal.bytes(), decimal.whole(), decimal.decimals(), decimal.value())
        };
        for (text, expected) in [
            ("", (0, 0, None, None)),
            ("x", (0, 0, None, None)),
            (".", (1, 0, Some(0), None)),
            ("0,", (1, 1, None, Some(0.0))),
            ("007", (3, 3, None, Some(7.0))),
            ("12.", (3, 2, Some(0), Some(12.0))),
            (".25", (3, 0, Some(2), Some(0.25))),
            ("1.5.5", (3, 1, Some(1), Some(1.5))),
            ("3.25e7", (4, 1, Some(2), Some(3.25))),
            ("9007199254740992", (16, 16, None, Some(9_007_199_254_740_992.0))),
            ("9007199254740993", (16, 16, None, None)),
            ("0.0000000000000000001", (21, 1, Some(19), None)),
            ("99999999999999999999", (20, 20, None, None)),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_value_is_the_nearest(text in "[0-9]{1,18}(\\.[0-9]{0,12})?") {
            let expected: f64 = text.parse().unwrap();
            let decimal = Decimal::read(text.as_bytes());
            prop_assert_eq!(decimal.bytes(), text.len());
            if let Some(value) = decimal.value() {
                prop_assert_eq!(value, expected);
            }
        }

        #[test]
        fn whole_numbers_are_read_as_the_standard_library_reads_them(text in "[0-9]{0,22}[^0-9]?[0-9]{0,9}") {
            let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            let expected = (1..=DIGITS_MAX).contains(&digits.len()).then(|| (digits.parse().unwrap(), digits.len()));
            prop_assert_eq!(whole(text.as_bytes()), expected);
        }

        #[test]
        fn any_bytes_begin_with_a_number_or_not(bytes in prop::collection::vec(prop::sample::select(b"0159:/.e\x7f\xb3\xff".to_vec()), 0..40)) {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            prop_assert_eq!(whole(&bytes).map(|(_, length)| length), (1..=DIGITS_MAX).contains(&digits).then_some(digits));
            prop_assert_eq!(Decimal::read(&bytes).whole(), digits);
        }
    }
}
