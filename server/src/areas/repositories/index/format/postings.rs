//! Which chunks contain a word, and how.
//!
//! A posting is a number, the distance to the chunk before shifted left by two, and a code in its
//! lower two bits: 0 means once in the text; 1 is followed by how often in the text; 2 is followed
//! by the marks and means once in the text; 3 is followed by the marks and how often in the text.

use super::super::error::IndexError;
use super::bytes::{ByteReader, ByteWriter};

/// How often a word can be counted in a documentation.
const DOC_MAX: u8 = 15;

/// Where a chunk contains a word, beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Mark {
    /// In the name of the symbol.
    Name = 1,
    /// In the name of what contains it.
    Container = 2,
    /// In the path of the file.
    Path = 4,
    /// In the parameters and types.
    Signature = 8,
}

/// How often, and where, a chunk contains a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Frequencies {
    /// How often in the text; more than 255 is 255.
    pub(in super::super) body: u8,
    /// The marks in the lower four bits, how often in the documentation in the upper ones.
    marks: u8,
}

/// A chunk that contains a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Posting {
    pub(in super::super) chunk: u32,
    pub(in super::super) frequencies: Frequencies,
}

/// Reads the postings of a word.
#[derive(Clone, Debug)]
pub(in super::super) struct Postings<'a> {
    reader: ByteReader<'a>,
    next_chunk: u64,
    chunks: u32,
}

impl Frequencies {
    pub(in super::super) fn set(&mut self, mark: Mark) {
        self.marks |= mark as u8;
    }

    #[inline]
    pub(in super::super) fn has(self, mark: Mark) -> bool {
        self.marks & mark as u8 != 0
    }

    pub(in super::super) fn add_doc(&mut self) {
        if self.doc() < DOC_MAX {
            self.marks += 1 << 4;
        }
    }

    /// Returns how often the documentation contains it; more than 15 is 15.
    #[inline]
    pub(in super::super) fn doc(self) -> u8 {
        self.marks >> 4
    }
}

/// Appends the postings of a word, whose chunks increase.
pub(in super::super) fn encode_postings(postings: &[Posting], writer: &mut ByteWriter) {
    let mut next = 0;
    for Posting { chunk, frequencies } in postings {
        let Frequencies { body, marks } = *frequencies;
        let code = match (body, marks) {
            (1, 0) => 0,
            (_, 0) => 1,
            (1, _) => 2,
            _ => 3,
        };
        writer.number(u64::from(chunk - next) << 2 | code);
        next = chunk + 1;
        if code & 2 != 0 {
            writer.byte(marks);
        }
        if code & 1 != 0 {
            writer.byte(body);
        }
    }
}

impl<'a> Postings<'a> {
    /// Reads postings of an index with so many chunks.
    pub(in super::super) fn new(bytes: &'a [u8], chunks: u32) -> Self {
        Self { reader: ByteReader::new(bytes, "postings"), next_chunk: 0, chunks }
    }

    #[inline]
    fn read(&mut self) -> Result<Posting, IndexError> {
        let number = self.reader.number()?;
        let chunk = self.next_chunk.saturating_add(number >> 2);
        self.next_chunk = chunk.saturating_add(1);
        let chunk = u32::try_from(chunk).ok().filter(|chunk| *chunk < self.chunks);
        let chunk = chunk.ok_or(self.reader.damaged())?;
        let marks = if number & 2 != 0 { self.reader.byte()? } else { 0 };
        let body = if number & 1 != 0 { self.reader.byte()? } else { 1 };
        Ok(Posting { chunk, frequencies: Frequencies { body, marks } })
    }
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, IndexError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_empty()).then(|| self.read())
    }
}
