//! What must not be stored: the values of keys that hold secrets, and the numbers of payment cards.
//!
//! A key is one of those when it contains one of the words, in any case. A card is a number of 13 to 19 digits, in groups or
//! not, that begins as those of the large issuers do and whose check digit is right.

use std::borrow::Cow;

use aho_corasick::AhoCorasick;

/// What stands in the place of what was removed.
pub(super) const FILTERED: &str = "[Filtered]";

/// Digits of the number of a card.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Removes what must not be stored.
#[derive(Debug)]
pub(super) struct Scrubber {
    /// `None` where no key is secret.
    words: Option<AhoCorasick>,
}

impl Scrubber {
    /// A scrubber of keys that contain any of these words.
    pub(super) fn new(words: &[String]) -> Self {
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&words);
        Self { words: finder.ok().filter(|_| !words.is_empty()) }
    }

    /// Whether what stands under this key is secret.
    pub(super) fn is_secret(&self, key: &str) -> bool {
        self.words.as_ref().is_some_and(|words| words.is_match(key))
    }

    /// A text without the numbers of cards.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        without_cards(text)
    }

    /// A query string, or an address with one, without the values of secret keys.
    pub(super) fn query<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secret = |pair: &str| {
            pair.split_once('=')
                .is_some_and(|(key, value)| !value.is_empty() && self.is_secret(key))
        };
        let has_pairs = memchr::memchr(b'=', text.as_bytes()).is_some();
        if !has_pairs || !text.split(['?', '&', ';']).any(secret) {
            return self.text(text);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(['?', '&', ';']) {
            let end = piece.trim_end_matches(['?', '&', ';']);
            match end.split_once('=') {
                Some((key, _)) if secret(end) => {
                    out.push_str(key);
                    out.push('=');
                    out.push_str(FILTERED);
                    out.push_str(piece.get(end.len()..).unwrap_or_default());
                }
                _ => out.push_str(piece),
            }
        }
        Cow::Owned(without_cards(&out).into_owned())
    }
}

/// Most texts hold too few digits: they are looked at once and lent.
fn without_cards(text: &str) -> Cow<'_, str> {
    if text.bytes().filter(u8::is_ascii_digit).count() < *CARD_DIGITS.start() {
        return Cow::Borrowed(text);
    }
    let mut out: Option<String> = None;
    let (mut done, mut at) = (0, 0);
    while let Some(found) = next_card(text.as_bytes(), at) {
        let out = out.get_or_insert_default();
        out.push_str(text.get(done..found.start).unwrap_or_default());
        out.push_str(FILTERED);
        (done, at) = (found.end, found.end);
    }
    match out {
        Some(mut out) => {
            out.push_str(text.get(done..).unwrap_or_default());
            Cow::Owned(out)
        }
        None => Cow::Borrowed(text),
    }
}

/// The place of the first card from `from` on.
fn next_card(bytes: &[u8], from: usize) -> Option<std::ops::Range<usize>> {
    let mut at = from;
    loop {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(u8::is_ascii_digit)?;
        let (digits, end) = digits_from(bytes, start);
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        let stands_alone = !before.is_some_and(u8::is_ascii_alphanumeric)
            && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if stands_alone && is_card(&digits) {
            return Some(start..end);
        }
        at = end;
    }
}

/// The digits from `start` on, one space or dash between them allowed, and where they end.
fn digits_from(bytes: &[u8], start: usize) -> (Vec<u8>, usize) {
    let (mut digits, mut end, mut at) = (Vec::new(), start, start);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                end = at + 1;
            }
            // Two of them, or one that no digit follows, end the number.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber() -> Scrubber {
        Scrubber::new(&["password", "token", "api_key"].map(str::to_owned))
    }

    #[test]
    fn secret_keys_are_known_by_a_word_in_them() {
        let scrubber = scrubber();
        for (key, expected) in [
            ("password", true),
            ("db_Password2", true),
            ("X-Auth-TOKEN", true),
            ("STRIPE_API_KEY", true),
            ("pass", false),
            ("author", false),
            ("", false),
        ] {
            assert_eq!(scrubber.is_secret(key), expected, "{key}");
        }
        assert!(!Scrubber::new(&[]).is_secret("password"));
    }

    #[test]
    fn cards_go_and_other_numbers_stay() {
        for (text, expected) in [
            ("card 4111111111111111 refused", "card [Filtered] refused"),
            ("4111 1111 1111 1111", "[Filtered]"),
            ("5500-0000-0000-0004,378282246310005.", "[Filtered],[Filtered]."),
            ("4111111111111112", "4111111111111112"),
            ("at 1767323045678 ms", "at 1767323045678 ms"),
            ("x4111111111111111", "x4111111111111111"),
            ("4111  111111111111", "4111  111111111111"),
            ("é4111111111111111é", "é[Filtered]é"),
            ("12345", "12345"),
            ("", ""),
        ] {
            assert_eq!(scrubber().text(text), expected, "{text}");
        }
    }

    #[test]
    fn values_of_secret_keys_go_from_queries() {
        for (text, expected) in [
            ("a=1&token=xyz&b=2", "a=1&token=[Filtered]&b=2"),
            ("https://x/?password=p", "https://x/?password=[Filtered]"),
            ("token=&a=1", "token=&a=1"),
            ("a=4111111111111111", "a=[Filtered]"),
            ("plain", "plain"),
        ] {
            assert_eq!(scrubber().query(text), expected, "{text}");
        }
    }
}
