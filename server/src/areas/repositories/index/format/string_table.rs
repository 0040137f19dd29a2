//! A sorted table of strings. Each is stored as what differs from the one before it; in memory they
//! are one sequence of bytes.

use std::cmp::Ordering;

use super::super::error::IndexError;
use super::super::limits::SECTION_BYTES_MAX;
use super::bytes::{ByteReader, ByteWriter};
use super::sections::{compress, decompress_table};

/// A sorted table of strings.
#[derive(Debug)]
pub(in super::super) struct StringTable {
    text: String,
    /// Where each string ends in the text.
    ends: Vec<u32>,
}

impl StringTable {
    /// Returns the bytes of a table of these strings, in this order.
    pub(in super::super) fn encode<'a>(
        strings: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<u8>, IndexError> {
        let mut count = 0;
        let [mut shared, mut lengths, mut text] =
            [const { Vec::new() }; 3].map(|_: Vec<u8>| ByteWriter::default());
        let mut before = "";
        for string in strings {
            let common = common_bytes(before, string);
            shared.length(common);
            lengths.length(string.len() - common);
            text.raw(string.as_bytes().get(common..).unwrap_or_default());
            before = string;
            count += 1;
        }
        let mut writer = ByteWriter::default();
        writer.length(count);
        for column in [shared, lengths, text] {
            let column = column.into_bytes();
            writer.length(column.len());
            writer.raw(&column);
        }
        compress(&writer.into_bytes())
    }

    /// Reads the bytes of a table. Its order is what they say.
    pub(in super::super) fn decode(bytes: &[u8], what: &'static str) -> Result<Self, IndexError> {
        let bytes = decompress_table(bytes, what)?;
        let mut reader = ByteReader::new(&bytes, what);
        let count = reader.count()?;
        let mut columns = [&[][..]; 3];
        for column in &mut columns {
            let length = reader.count()?;
            *column = reader.raw(length)?;
        }
        reader.end()?;
        let [mut shared, mut lengths, mut suffixes] =
            columns.map(|column| ByteReader::new(column, what));
        let mut text = Vec::with_capacity(suffixes.len() * 2);
        let mut ends = Vec::with_capacity(count);
        let mut before = 0;
        for _ in 0..count {
            let shared: usize = shared.narrow()?;
            let suffix = suffixes.raw(lengths.narrow()?)?;
            let start = text.len();
            if shared > start - before || start + shared + suffix.len() > SECTION_BYTES_MAX {
                return Err(suffixes.damaged());
            }
            text.extend_from_within(before..before + shared);
            text.extend_from_slice(suffix);
            ends.push(text.len() as u32);
            before = start;
        }
        let text = String::from_utf8(text).map_err(|_| suffixes.damaged())?;
        if ends.iter().any(|end| !text.is_char_boundary(*end as usize)) {
            return Err(suffixes.damaged());
        }
        Ok(Self { text, ends })
    }

    /// Returns the number of strings.
    pub(in super::super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a string by its position.
    pub(in super::super) fn get(&self, position: usize) -> Option<&str> {
        let end = *self.ends.get(position)?;
        let before = position.checked_sub(1).and_then(|before| self.ends.get(before));
        self.text.get(before.map_or(0, |end| *end as usize)..end as usize)
    }

    /// Returns the strings in their order.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Returns the position of a string, if the table is sorted by bytes.
    pub(in super::super) fn find(&self, string: &str) -> Option<usize> {
        let at = self.first(|other| other.cmp(string));
        (self.get(at) == Some(string)).then_some(at)
    }

    /// Returns the position of the first string that is not less, in a table of that order.
    pub(in super::super) fn first(&self, compare: impl Fn(&str) -> Ordering) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).map(&compare) {
                Some(Ordering::Less) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Returns the bytes in memory.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

fn common_bytes(left: &str, right: &str) -> usize {
    left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count()
}
