//! Choosing a code for a column, and encoding the column in it.

use super::super::bytes::{put_bytes, put_signed, put_varint};
use super::super::paged::put_similar_pages;
use super::CodeForm;
use super::costs::Costs;
use super::huffman::Code;
use super::limits::{VALUES_MAX, WORD_VALUES_MAX, exceptions_max, values_max};
use crate::cast::{items, length, low_byte, low_half, low_quarter};

/// The range of values that may be in the code. All others are exceptions.
const WINDOW: usize = 4096;
/// The bits that pco needs for a value that is too rare for a code, roughly.
const RARE_VALUE_BITS: f64 = 20.0;
/// The share of the entropy by which a code may exceed it before pco is tried too.
const WASTE_MAX: f64 = 0.03;
/// Bits of metadata that count as no waste: that of pco takes about as many.
const METADATA_BITS: f64 = 512.0;
/// Bits of codes that count as no waste: a code has at least one bit.
const PADDING_BITS: f64 = 64.0;
/// The bits of a row below which words have two values, and three.
const PAIR_BITS: f64 = 3.0;
const TRIPLE_BITS: f64 = 1.2;
/// The rows from which the codes of many words are no matter, and words have three values if they
/// would have two: if all lengths are stored, and if they follow from costs.
const TRIPLE_ROWS: usize = 65_536;
const CONSECUTIVE_TRIPLE_ROWS: usize = 32_768;

/// A code for a column.
#[derive(Debug)]
pub(in crate::codec) struct Plan {
    form: CodeForm,
    /// What is stored of the code, and the exceptions.
    head: Vec<u8>,
    code: Code,
    word_values: usize,
    /// The words of each page.
    words: Vec<u16>,
    /// Bits of all words and of the head.
    bits: usize,
    is_near_entropy: bool,
}

/// The numbers of the values in a code.
#[derive(Debug)]
struct Digits {
    window_start: i64,
    /// In increasing order.
    values: Vec<i64>,
    /// Of each place in the window.
    digits: Vec<u8>,
}

impl Digits {
    /// Returns the place of a value in a window.
    #[inline]
    fn place(window_start: i64, value: i64) -> usize {
        items(value.wrapping_sub(window_start).cast_unsigned())
    }

    /// Numbers the values of `places`, of which the first one stands for all others.
    fn new(window_start: i64, places: &[usize]) -> Self {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        let digit = |place: &usize| low_byte(sorted.partition_point(|p| p < place) as u64);
        let mut digits = vec![places.first().map_or(0, digit); WINDOW];
        for place in &sorted {
            if let Some(number) = digits.get_mut(*place) {
                *number = digit(place);
            }
        }
        let value = |place: &usize| window_start.wrapping_add(length(*place));
        Self { window_start, values: sorted.iter().map(value).collect(), digits }
    }

    #[inline]
    fn of(&self, value: i64) -> u8 {
        let place = Self::place(self.window_start, value);
        self.digits.get(place).or(self.digits.last()).copied().unwrap_or_default()
    }

    /// Returns the word of up to [`WORD_VALUES_MAX`] values.
    #[inline]
    fn word(&self, values: &[i64]) -> u16 {
        let base = self.values.len() as u64;
        low_quarter(values.iter().rev().fold(0, |word, v| word * base + u64::from(self.of(*v))))
    }

    /// Returns the words of all pages.
    fn words(&self, rows: &[i64], word_values: usize, page_rows: usize) -> Vec<u16> {
        let mut words = Vec::with_capacity(rows.len() / word_values + 1);
        for page in rows.chunks(page_rows) {
            match word_values {
                1 => words.extend(page.iter().map(|value| u16::from(self.of(*value)))),
                2 => self.put_words::<2>(page, &mut words),
                _ => self.put_words::<WORD_VALUES_MAX>(page, &mut words),
            }
        }
        words
    }

    fn put_words<const VALUES: usize>(&self, page: &[i64], words: &mut Vec<u16>) {
        let (whole, rest) = page.as_chunks::<VALUES>();
        words.extend(whole.iter().map(|word| self.word(word)));
        words.extend((!rest.is_empty()).then(|| self.word(rest)));
    }

    /// Returns the head of a column without what is stored of the code.
    fn head(&self, form: CodeForm, word_values: usize, exceptions: &[u8]) -> Vec<u8> {
        let mut head = Vec::new();
        put_varint(&mut head, self.values.len() as u64);
        let mut before = None;
        for value in &self.values {
            match before.replace(*value) {
                None => put_signed(&mut head, *value),
                Some(before) => {
                    form.put_step(value.wrapping_sub(before).cast_unsigned() - 1, &mut head);
                }
            }
        }
        head.push(low_byte(word_values as u64));
        head.extend_from_slice(exceptions);
        head
    }

    /// Returns whether no value between the lowest and the highest is missing.
    fn are_consecutive(&self) -> bool {
        self.values.windows(2).all(|pair| matches!(pair, [a, b] if b.wrapping_sub(*a) == 1))
    }

    /// Returns how often each word occurs.
    fn frequencies(&self, words: &[u16], word_values: usize) -> Option<Vec<u32>> {
        let mut frequencies = vec![0u32; self.values.len().pow(low_half(word_values as u64))];
        for word in words {
            *frequencies.get_mut(usize::from(*word))? += 1;
        }
        Some(frequencies)
    }

    /// Appends the rows whose values have no number.
    fn put_exceptions(&self, rows: &[i64], out: &mut Vec<u8>) {
        let decoded = |value: i64| self.values.get(usize::from(self.of(value))).copied();
        let exceptions = || rows.iter().enumerate().filter(|(_, v)| decoded(**v) != Some(**v));
        put_varint(out, exceptions().count() as u64);
        let mut last = 0;
        for (row, value) in exceptions() {
            put_varint(out, (row - last) as u64);
            put_signed(out, *value);
            last = row;
        }
    }
}

/// A code, and what is stored of it.
#[derive(Debug)]
struct StoredCode {
    form: CodeForm,
    head: Vec<u8>,
    code: Code,
    /// Bits of all words.
    coded_bits: usize,
}

impl StoredCode {
    /// Returns the bits of all words and of the head.
    fn bits(&self) -> usize {
        self.coded_bits + 8 * self.head.len()
    }
}

impl Digits {
    /// Returns the best code of a form for words of these frequencies, if the values suit it.
    fn code(
        &self,
        form: CodeForm,
        (frequencies, word_values): (&[u32], usize),
        exceptions: &[u8],
    ) -> Option<StoredCode> {
        if form.is_consecutive() && !self.are_consecutive() {
            return None;
        }
        let mut head = self.head(form, word_values, exceptions);
        let code = match form {
            CodeForm::Lengths | CodeForm::LengthsOfConsecutive => {
                let code = Code::new(frequencies)?;
                code.put(&mut head);
                code
            }
            CodeForm::Costs => {
                let costs = Costs::of(frequencies, self.values.len(), word_values);
                costs.put(&mut head);
                Code::with_lengths(costs.lengths(word_values).ok()?)?
            }
        };
        let coded_bits = code.bits_of(frequencies);
        Some(StoredCode { form, head, code, coded_bits })
    }
}

impl Plan {
    /// Returns a code for a column with pages of `page_rows` rows, if nearly all its rows have one
    /// of few values. `range` is from the lowest to the highest.
    pub(in crate::codec) fn new(rows: &[i64], range: (i64, i64), page_rows: usize) -> Option<Self> {
        Self::with_form(None, rows, range, page_rows)
    }

    /// Returns a code in this form, or the smallest of all.
    pub(super) fn with_form(
        form: Option<CodeForm>,
        rows: &[i64],
        range: (i64, i64),
        page_rows: usize,
    ) -> Option<Self> {
        let window_start = window_start(rows, range)?;
        let found = frequencies(rows, window_start);
        let entropy = entropy(&found, rows.len());
        let bits_of_row = entropy / rows.len() as f64;
        let suits = |word_values: &usize| match word_values {
            1 => true,
            2 => bits_of_row < PAIR_BITS,
            _ => {
                bits_of_row < TRIPLE_BITS
                    || (bits_of_row < PAIR_BITS && rows.len() >= CONSECUTIVE_TRIPLE_ROWS)
            }
        };
        let choose = |word_values: usize| {
            let most = found.get(..values_max(word_values)).unwrap_or(&found);
            // A value that occurs once takes less as an exception.
            let without_rare = most.get(..most.partition_point(|(n, _)| *n > 1)).unwrap_or(most);
            let choose = |kept: &[(u32, usize)]| {
                let coded: usize = kept.iter().map(|(n, _)| *n as usize).sum();
                let exceptions = rows.len() - coded;
                let places = || kept.iter().map(|(_, place)| *place).collect::<Vec<_>>();
                let is_rare = exceptions <= exceptions_max(rows.len());
                let suits = word_values < WORD_VALUES_MAX
                    || bits_of_row < TRIPLE_BITS
                    || rows.len() >= TRIPLE_ROWS
                    || are_consecutive(kept);
                (is_rare && suits).then(|| (word_values, places(), exceptions))
            };
            choose(without_rare).or_else(|| choose(most))
        };
        let mut choices = (1..=WORD_VALUES_MAX).rev().filter(suits);
        let (word_values, mut places, exceptions) = choices.find_map(choose)?;
        if word_values == 1 {
            fill_gaps(&mut places);
        }
        let digits = Digits::new(window_start, &places);
        let words = digits.words(rows, word_values, page_rows);
        let mut listed = Vec::new();
        if exceptions > 0 {
            digits.put_exceptions(rows, &mut listed);
        } else {
            put_varint(&mut listed, 0);
        }
        let frequencies = digits.frequencies(&words, word_values)?;
        let words_of = (frequencies.as_slice(), word_values);
        let forms = match &form {
            Some(form) => std::slice::from_ref(form),
            None if digits.are_consecutive() => &CodeForm::CONSECUTIVE,
            None => &CodeForm::OTHERS,
        };
        let codes = forms.iter().filter_map(|form| digits.code(*form, words_of, &listed));
        let smallest = codes.min_by_key(StoredCode::bits)?;
        let (bits, StoredCode { form, head, code, coded_bits }) = (smallest.bits(), smallest);
        let entropy = entropy * (1.0 + WASTE_MAX);
        let is_near_entropy =
            bits as f64 <= entropy + METADATA_BITS && coded_bits as f64 <= entropy + PADDING_BITS;
        Some(Self { form, head, code, word_values, words, bits, is_near_entropy })
    }

    pub(in crate::codec) fn form(&self) -> CodeForm {
        self.form
    }

    /// Returns whether no other form is expected to be clearly smaller.
    pub(in crate::codec) fn is_near_entropy(&self) -> bool {
        self.is_near_entropy
    }

    /// Returns the approximate bytes of the encoding.
    pub(in crate::codec) fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Appends the column.
    pub(in crate::codec) fn encode(&self, page_rows: usize, out: &mut Vec<u8>) {
        put_bytes(out, &self.head);
        let mut body = Vec::with_capacity(self.bytes());
        let mut lengths = Vec::new();
        for words in self.words.chunks(page_rows.div_ceil(self.word_values)) {
            let before = body.len();
            self.code.encode(words, &mut body);
            lengths.push(body.len() - before);
        }
        match self.form {
            CodeForm::Lengths => {
                lengths.iter().for_each(|length| put_varint(out, *length as u64));
                out.extend_from_slice(&body);
            }
            CodeForm::LengthsOfConsecutive | CodeForm::Costs => {
                put_similar_pages(&lengths, &body, out);
            }
        }
    }
}

/// Returns the lowest value of the window to count values in: of all values, or around the middle
/// one of a sample, if most of the sample is near it.
fn window_start(rows: &[i64], (min, max): (i64, i64)) -> Option<i64> {
    let fits = |low: i64, high: i64| high.wrapping_sub(low).cast_unsigned() < WINDOW as u64;
    if fits(min, max) {
        return Some(min);
    }
    let mut sample: Vec<i64> = rows.iter().step_by(rows.len() / 128 + 1).copied().collect();
    sample.sort_unstable();
    let at = |share: usize| sample.get(sample.len() * share / 16).copied();
    if !fits(at(1)?, at(15)?) {
        return None;
    }
    // Beyond the largest integer the lowest ones would follow.
    let last_start = i64::MAX - length(WINDOW - 1);
    Some(at(8)?.saturating_sub(length(WINDOW / 2)).max(min).min(last_start))
}

/// Returns how often each value in the window occurs, and its place: the most frequent first.
fn frequencies(rows: &[i64], window_start: i64) -> Vec<(u32, usize)> {
    let mut counts = vec![0u32; WINDOW];
    for row in rows {
        if let Some(count) = counts.get_mut(Digits::place(window_start, *row)) {
            *count += 1;
        }
    }
    let counted = counts.into_iter().enumerate().filter(|(_, n)| *n > 0);
    let mut found: Vec<(u32, usize)> = counted.map(|(place, n)| (n, place)).collect();
    found.sort_unstable_by_key(|(n, place)| (std::cmp::Reverse(*n), *place));
    found
}

/// Adds the places that are missing between others, if they are few: a value that does not occur
/// takes 12 bits at most, and 8 bits of each other value are steps if any is missing. Exceptions
/// that have one of the values are none then.
fn fill_gaps(places: &mut Vec<usize>) {
    let Some((first, last)) = places.iter().min().copied().zip(places.iter().max().copied()) else {
        return;
    };
    let all = last - first + 1;
    if all <= VALUES_MAX && (all - places.len()) * 3 < places.len() * 2 {
        let mut is_missing = vec![true; all];
        for place in places.iter() {
            if let Some(missing) = is_missing.get_mut(place - first) {
                *missing = false;
            }
        }
        places.extend((first..).zip(is_missing).filter(|(_, missing)| *missing).map(|(p, _)| p));
    }
}

/// Returns whether no place between the first and the last is missing.
fn are_consecutive(found: &[(u32, usize)]) -> bool {
    let places = || found.iter().map(|(_, place)| *place);
    places().max().zip(places().min()).is_some_and(|(last, first)| last - first < found.len())
}

/// Returns the bits that a perfect code for single values takes.
fn entropy(found: &[(u32, usize)], rows: usize) -> f64 {
    let coded = found.iter().take(VALUES_MAX).map(|(n, _)| f64::from(*n));
    let rare = rows as f64 - coded.clone().sum::<f64>();
    coded.map(|n| n * (rows as f64 / n).log2()).sum::<f64>() + rare * RARE_VALUE_BITS
}
