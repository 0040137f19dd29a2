//! Decoding codes: a table that is looked into with the next bits.

use super::super::bytes::Reader;
use super::super::{CodecError, CodecResult};
use super::CodeForm;
use super::canonical::CanonicalCode;
use super::costs::Costs;
use super::huffman::{self, WordCode};
use super::limits::{TABLE_BITS_MAX, VALUES_MAX, WORD_VALUES_MAX, exceptions_max, values_max};
use crate::cast::{items, low_half};

/// Values that an entry of the table has room for.
pub(super) const ENTRY_VALUES: usize = 6;

/// Returns the bits to look into the table with: few rows are not worth a large one.
fn table_bits(rows: usize) -> u32 {
    match rows {
        0..256 => 8,
        256..1024 => 9,
        1024..4096 => 10,
        _ => TABLE_BITS_MAX,
    }
}

/// What decoding needs.
#[derive(Debug)]
pub(super) struct Table {
    values: [i64; VALUES_MAX],
    word_values: usize,
    /// Rows and values, in increasing order of rows.
    exceptions: Vec<(usize, i64)>,
    /// The number of bits that an entry is found by.
    bits: u32,
    /// By the next `bits` bits, the words that they begin with.
    entries: Vec<Entry>,
    /// All codes, also those with more bits, and the numbers of their words.
    code: CanonicalCode,
}

/// The words at the beginning of some bits:
///
/// ```text
/// bits of all words: 4 bits │ bits of the first: 4 bits │ values: 8 bits │ 6 numbers of 8 bits
/// ```
///
/// Zero if the first word has a longer code, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry(u64);

impl Entry {
    /// Returns entries of one word each, without bits, by the number of the word: dividing each
    /// number by the number of values would take longer than all else.
    fn words(values: usize, word_values: usize) -> Vec<Self> {
        let mut words = vec![Self((word_values as u64) << 8)];
        for place in 0..word_values {
            let digits = (0..values as u64).map(|digit| digit << (16 + 8 * place));
            words = digits.flat_map(|digit| words.iter().map(move |w| Self(w.0 | digit))).collect();
        }
        words
    }

    /// Returns the entry of a word, without bits.
    fn of_word(numbers: u32, word_values: usize) -> Self {
        Self(u64::from(numbers) << 16 | (word_values as u64) << 8)
    }

    /// Returns the numbers of an entry of one word.
    fn word(self) -> u32 {
        low_half(self.0 >> 16)
    }

    /// Returns an entry of one word with a code of so many bits.
    fn with_bits(self, bits: u32) -> Self {
        Self(self.0 | u64::from(bits * 0x11))
    }

    #[inline]
    pub(super) fn bits(self) -> usize {
        items(self.0 & 15)
    }

    #[inline]
    fn first_bits(self) -> usize {
        items(self.0 >> 4 & 15)
    }

    #[inline]
    pub(super) fn values(self) -> usize {
        items(self.0 >> 8 & 7)
    }

    /// Returns the numbers of the values, followed by zeros.
    #[inline]
    pub(super) fn numbers(self) -> [u8; 8] {
        (self.0 >> 16).to_le_bytes()
    }

    /// Appends an entry of one word, unless that takes more than `bits_max` bits or too many
    /// values.
    fn then(self, next: Self, bits_max: u32) -> Option<Self> {
        let (bits, values) = (self.bits() + next.bits(), self.values() + next.values());
        if bits > bits_max as usize || values > ENTRY_VALUES {
            return None;
        }
        let numbers = (next.0 >> 16) << (16 + 8 * self.values());
        let head = bits as u64 | (self.0 & 0xf0) | (values as u64) << 8;
        Some(Self((self.0 & !0xffff) | numbers | head))
    }
}

impl Table {
    /// Reads the head of a column of `rows` rows.
    pub(super) fn read(form: CodeForm, head: &[u8], rows: usize) -> CodecResult<Box<Self>> {
        let mut reader = Reader::new(head);
        let count = reader.count("values of a code", VALUES_MAX)?;
        let bits = table_bits(rows);
        let mut table = Box::new(Self {
            values: [0; VALUES_MAX],
            word_values: 0,
            exceptions: Vec::new(),
            bits,
            entries: vec![Entry::default(); 1 << bits],
            code: CanonicalCode::empty(),
        });
        let mut before: Option<i64> = None;
        for value in table.values.iter_mut().take(count) {
            *value = match before {
                None => reader.signed()?,
                Some(before) => i64::try_from(form.step(&mut reader)?)
                    .ok()
                    .and_then(|step| before.checked_add(step)?.checked_add(1))
                    .ok_or_else(|| CodecError::new("values of a code exceed 64 bits"))?,
            };
            before = Some(*value);
        }
        table.word_values = usize::from(reader.u8()?);
        let word_values = table.word_values;
        if !(1..=WORD_VALUES_MAX).contains(&word_values) || count > values_max(word_values) {
            let reason = format!("a code has {count} values, and words of {word_values}");
            return Err(CodecError::new(reason));
        }
        table.exceptions = read_exceptions(&mut reader, rows)?;
        let lengths = match form {
            CodeForm::Lengths | CodeForm::LengthsOfConsecutive => {
                let words = count.pow(low_half(word_values as u64));
                huffman::read_lengths(&mut reader, words)?
            }
            CodeForm::Costs => Costs::read(&mut reader, count)?.lengths(word_values)?,
        };
        reader.finish()?;
        table.set_codes(&huffman::codes(&lengths)?, count);
        Ok(table)
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(self.entries.as_slice())
            + size_of_val(self.exceptions.as_slice())
            + self.code.bytes()
    }

    /// Returns the value with a number, zero if there is none.
    #[inline]
    pub(super) fn value(&self, number: u8) -> i64 {
        self.values.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// Returns the exceptions among some rows.
    pub(super) fn exceptions_in(&self, rows: std::ops::Range<usize>) -> &[(usize, i64)] {
        let before = |end: usize| self.exceptions.partition_point(|(row, _)| *row < end);
        self.exceptions.get(before(rows.start)..before(rows.end)).unwrap_or_default()
    }

    pub(super) fn word_values(&self) -> usize {
        self.word_values
    }

    /// Sets the words of all codes, which are in increasing order of bits.
    fn set_codes(&mut self, codes: &[WordCode], values: usize) {
        let words = Entry::words(values, self.word_values);
        let entry = |code: &WordCode| {
            words.get(code.word).copied().unwrap_or_default().with_bits(code.bits)
        };
        let numbers = |code: &WordCode| words.get(code.word).copied().unwrap_or_default().word();
        self.code = CanonicalCode::new(codes, numbers);
        let (short, _) = codes.split_at(codes.partition_point(|code| code.bits <= self.bits));
        let stored = |code: &WordCode| items(huffman::lowest_first(code.code, code.bits));
        let short: Vec<_> = short.iter().map(|code| (stored(code), entry(code))).collect();
        short.iter().for_each(|(code, entry)| self.fill(&short, *code, *entry));
    }

    /// Sets the entries of bits that begin with `code`, which stands for the words of `entry`, and
    /// of those that continue with others of `words`, which are in the order of length.
    fn fill(&mut self, words: &[(usize, Entry)], code: usize, entry: Entry) {
        self.entries
            .iter_mut()
            .skip(code)
            .step_by(1 << entry.bits())
            .for_each(|into| *into = entry);
        for (next_code, next) in words {
            let Some(joined) = entry.then(*next, self.bits) else { break };
            self.fill(words, code | next_code << entry.bits(), joined);
        }
    }

    /// Returns the entry of the next bits.
    #[inline]
    pub(super) fn entry(&self, next: u64) -> Entry {
        let mask = (1 << self.bits) - 1;
        self.entries.get(items(next & mask)).copied().unwrap_or_default()
    }

    /// Returns an entry that begins with the next word, and the bits of that.
    pub(super) fn word(&self, next: u64) -> CodecResult<(Entry, usize)> {
        let entry = self.entry(next);
        if entry.values() > 0 {
            return Ok((entry, entry.first_bits()));
        }
        let (word, bits) = self.find(next.reverse_bits())?;
        Ok((Entry::of_word(word, self.word_values), items(u64::from(bits))))
    }

    /// Returns the numbers of the next word without a look into the table, and the bits of its
    /// code. `next` has the first bit highest.
    #[inline]
    pub(super) fn find(&self, next: u64) -> CodecResult<(u32, u32)> {
        self.code.find(next).ok_or_else(|| CodecError::new("unknown code of a word"))
    }
}

fn read_exceptions(reader: &mut Reader<'_>, rows: usize) -> CodecResult<Vec<(usize, i64)>> {
    let count = reader.count("exceptions", exceptions_max(rows))?;
    let mut exceptions = Vec::with_capacity(count);
    let mut row = 0;
    for number in 0..count {
        let step = reader.count("rows between exceptions", rows)?;
        row += step;
        if row >= rows || (step == 0 && number > 0) {
            return Err(CodecError::new(format!("row {row} is no exception")));
        }
        exceptions.push((row, reader.signed()?));
    }
    Ok(exceptions)
}
