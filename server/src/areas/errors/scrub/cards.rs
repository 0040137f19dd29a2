//! Finds the numbers of payment cards: 13 to 19 digits, possibly in groups, with a prefix of the
//! large issuers and a valid check digit.

use std::ops::Range;

/// The number of digits of a card number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Adds the ranges of card numbers in a string. Most strings contain too few digits and are read
/// only once.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.bytes().filter(u8::is_ascii_digit).count() < *CARD_DIGITS.start() {
        return;
    }
    let mut at = 0;
    while let Some(card) = next_card(text.as_bytes(), at) {
        at = card.end;
        found.push(card);
    }
}

/// Returns the range of the first card number at or after `from`.
fn next_card(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(u8::is_ascii_digit)?;
        let (digits, end) = digits_from(bytes, start);
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        let is_separate_word = !before.is_some_and(u8::is_ascii_alphanumeric)
            && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if is_separate_word && is_card(&digits) {
            return Some(start..end);
        }
        at = end;
    }
}

/// Returns the digits from `start` on, which a single space or dash may separate, and their end.
fn digits_from(bytes: &[u8], start: usize) -> (Vec<u8>, usize) {
    let (mut digits, mut end, mut at) = (Vec::new(), start, start);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                end = at + 1;
            }
            // Two separators, or one that no digit follows, end the number.
            b' ' | b'-' if end == at => {}
            _ => break,
        }
        at += 1;
    }
    (digits, end)
}

fn is_card(digits: &[u8]) -> bool {
    let issued = matches!(
        digits,
        [4, ..] | [5, 1..=5, ..] | [2, 2..=7, ..] | [3, 4 | 7, ..] | [6, 0 | 2 | 4 | 5, ..]
    );
    let doubled = |digit: u8| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let sum = || {
        let digits = digits.iter().rev().enumerate();
        digits
            .map(|(i, digit)| u32::from(if i % 2 == 1 { doubled(*digit) } else { *digit }))
            .sum::<u32>()
    };
    CARD_DIGITS.contains(&digits.len()) && issued && sum() % 10 == 0
}
