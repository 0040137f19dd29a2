//! Lists of bytes, one for each string of a table: a compressed table of their lengths, then the
//! lists, which are read where they are.

use std::ops::Range;

use super::super::error::IndexError;
use super::bytes::{ByteReader, ByteWriter};
use super::sections::{compress, decompress_table};

/// Where the lists of a section are.
#[derive(Debug)]
pub(in super::super) struct Lists {
    /// Where the first list begins.
    start: usize,
    /// Where each list ends, from the start.
    ends: Vec<u32>,
}

/// Returns the section of lists of these lengths.
pub(in super::super) fn encode_lists(
    lengths: &[usize],
    lists: Vec<u8>,
) -> Result<Vec<u8>, IndexError> {
    if u32::try_from(lists.len()).is_err() {
        return Err(IndexError::LimitReached { what: "bytes of lists", max: u32::MAX.into() });
    }
    let mut table = ByteWriter::default();
    for length in lengths {
        table.length(*length);
    }
    let table = compress(&table.into_bytes())?;
    let mut writer = ByteWriter::default();
    writer.length(table.len());
    writer.raw(&table);
    writer.raw(&lists);
    Ok(writer.into_bytes())
}

impl Lists {
    /// Reads the lengths of `count` lists.
    pub(in super::super) fn decode(
        section: &[u8],
        count: usize,
        what: &'static str,
    ) -> Result<Self, IndexError> {
        let mut reader = ByteReader::new(section, what);
        let length = reader.count()?;
        let table = decompress_table(reader.raw(length)?, what)?;
        let start = section.len() - reader.len();
        let mut lengths = ByteReader::new(&table, what);
        let mut ends = Vec::with_capacity(count.min(table.len()));
        let mut end = 0_u32;
        for _ in 0..count {
            let length = lengths.narrow()?;
            end = end.checked_add(length).ok_or(reader.damaged())?;
            ends.push(end);
        }
        lengths.end()?;
        if reader.len() != end as usize {
            return Err(reader.damaged());
        }
        Ok(Self { start, ends })
    }

    /// Returns where a list is in the section.
    pub(in super::super) fn range(&self, position: usize) -> Option<Range<usize>> {
        let end = *self.ends.get(position)?;
        let before = position.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0);
        Some(self.start + start as usize..self.start + end as usize)
    }

    /// Returns the bytes in memory, without the lists.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>()
    }
}
