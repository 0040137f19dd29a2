//! The header of a block: its columns with their counts, and its sections with their offsets.
//! Layout: see [`super`].

use xxhash_rust::xxh3::xxh3_64;

use super::info::{EventBlockInfo, EventBlockKey, Extent, VERSION};
use super::memory::InMemory;
use crate::cast::{low_half, to_u32};
use crate::codec::bytes::{Reader, put_bytes, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};

const FEW: u8 = 0;
const MANY: u8 = 1;
/// Bytes of the length before the frame of the header.
const LENGTH_BYTES: usize = 4;

/// The column of names.
pub(super) const NAME: u32 = 0;
/// The column of users.
pub(super) const USER: u32 = 1;
/// The first column of a tag.
pub(super) const FIRST_TAG: u32 = 2;

/// The kind of a section. The numbers are part of the stored format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum SectionKind {
    Times = 1,
    Ids = 2,
    Codes = 3,
    Strings = 4,
    ValuePresence = 5,
    Values = 6,
    Shapes = 7,
    ShapeCodes = 8,
    PropertyColumn = 9,
    PropertyStrings = 10,
    Leftovers = 11,
}

impl SectionKind {
    const ALL: [Self; 11] = [
        Self::Times,
        Self::Ids,
        Self::Codes,
        Self::Strings,
        Self::ValuePresence,
        Self::Values,
        Self::Shapes,
        Self::ShapeCodes,
        Self::PropertyColumn,
        Self::PropertyStrings,
        Self::Leftovers,
    ];
}

/// A column of strings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// The key of the tag; empty for names and users.
    pub(super) key: Box<str>,
    pub(super) strings: ColumnStrings,
}

/// The strings of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ColumnStrings {
    /// Sorted, with the number of rows of each.
    Few(Vec<(Box<str>, u32)>),
    /// The number of distinct strings, which are in a section of their own, and the number of rows
    /// that have one.
    Many { strings: u32, rows: u32 },
}

impl Column {
    /// Returns the number of distinct strings.
    pub(super) fn strings(&self) -> usize {
        match &self.strings {
            ColumnStrings::Few(strings) => strings.len(),
            ColumnStrings::Many { strings, .. } => *strings as usize,
        }
    }

    /// Returns the number of rows that have a string.
    pub(super) fn rows(&self) -> u32 {
        match &self.strings {
            ColumnStrings::Few(strings) => strings.iter().map(|(_, rows)| rows).sum(),
            ColumnStrings::Many { rows, .. } => *rows,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.key.as_bytes());
        match &self.strings {
            ColumnStrings::Few(strings) => {
                out.push(FEW);
                put_varint(out, strings.len() as u64);
                for (text, rows) in strings {
                    put_bytes(out, text.as_bytes());
                    put_varint(out, u64::from(*rows));
                }
            }
            ColumnStrings::Many { strings, rows } => {
                out.push(MANY);
                put_varint(out, u64::from(*strings));
                put_varint(out, u64::from(*rows));
            }
        }
    }

    fn decode(reader: &mut Reader<'_>, rows_max: usize) -> CodecResult<Self> {
        let key = reader.text()?.into();
        let form = reader.u8()?;
        let n = reader.count("strings", rows_max)?;
        let strings = match form {
            FEW => {
                let text = |_| {
                    let text = reader.text()?.into();
                    Ok((text, to_u32(reader.count("rows", rows_max)?)))
                };
                let strings = (0..n).map(text).collect::<CodecResult<Vec<(Box<str>, u32)>>>()?;
                if !strings.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(CodecError::new("the strings of a column are not sorted"));
                }
                let rows: u64 = strings.iter().map(|(_, rows)| u64::from(*rows)).sum();
                if rows > rows_max as u64 {
                    return Err(CodecError::new("a column has more strings than the block rows"));
                }
                ColumnStrings::Few(strings)
            }
            MANY => {
                let rows = to_u32(reader.count("rows", rows_max)?);
                ColumnStrings::Many { strings: to_u32(n), rows }
            }
            form => {
                return Err(CodecError::new(format!(
                    "unknown encoding {form} of the strings of a column"
                )));
            }
        };
        Ok(Self { key, strings })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Section {
    pub(super) kind: SectionKind,
    pub(super) number: u32,
    offset: usize,
    length: usize,
    checksum: u32,
}

/// The decoded header of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) extent: Extent,
    pub(super) columns: Vec<Column>,
    sections: Vec<Section>,
    /// The length of the block.
    bytes: usize,
}

impl Header {
    /// Decodes the header of a block and checks that the block has the length that follows from it.
    pub(super) fn read(block: &[u8]) -> CodecResult<Self> {
        let Some((length, rest)) = block.split_first_chunk::<LENGTH_BYTES>() else {
            return Err(CodecError::new(format!(
                "{} bytes are too few for an event block",
                block.len()
            )));
        };
        let length = u32::from_le_bytes(*length) as usize;
        let framed = Reader::new(rest).take(length)?;
        let (_, payload) = frame::open(framed, FrameKind::Events, VERSION)?;
        let header = Self::decode(payload, LENGTH_BYTES + length)?;
        // The fuzzer cannot keep the total length consistent.
        if !cfg!(fuzzing) && header.bytes != block.len() {
            let (wanted, found) = (header.bytes, block.len());
            return Err(CodecError::new(format!("a block has {found} bytes instead of {wanted}")));
        }
        Ok(header)
    }

    fn decode(payload: &[u8], sections_at: usize) -> CodecResult<Self> {
        let mut reader = Reader::new(payload);
        let extent = Extent::read(&mut reader)?;
        let columns = reader.count("columns", reader.rest().len())?;
        let columns = (0..columns)
            .map(|_| Column::decode(&mut reader, extent.rows as usize))
            .collect::<CodecResult<Vec<_>>>()?;
        let tags = columns.get(FIRST_TAG as usize..);
        if !tags.is_some_and(|tags| tags.is_sorted_by(|a, b| a.key < b.key)) {
            return Err(CodecError::new("the columns of a block are not sorted"));
        }
        let count = reader.count("sections", reader.rest().len())?;
        let mut sections: Vec<Section> = Vec::with_capacity(count.min(payload.len() / 7));
        let mut offset = sections_at;
        for _ in 0..count {
            let section = Self::decode_section(&mut reader, offset)?;
            let before = sections.last().map(|s| (s.kind, s.number));
            if before >= Some((section.kind, section.number)) {
                return Err(CodecError::new("the sections of a block are not sorted"));
            }
            offset += section.length;
            sections.push(section);
        }
        reader.finish()?;
        if u32::try_from(offset).is_err() {
            return Err(CodecError::new("the sections of a block exceed 4 GiB"));
        }
        Ok(Self { extent, columns, sections, bytes: offset })
    }

    fn decode_section(reader: &mut Reader<'_>, offset: usize) -> CodecResult<Section> {
        let code = reader.u8()?;
        let kind = SectionKind::ALL.into_iter().find(|kind| *kind as u8 == code);
        let kind =
            kind.ok_or_else(|| CodecError::new(format!("unknown kind of section {code}")))?;
        let number = to_u32(reader.count("sections of a kind", u32::MAX as usize)?);
        let length = reader.count("bytes of a section", u32::MAX as usize)?;
        let [a, b, c, d] = *reader.take(4)? else {
            return Err(CodecError::new("the checksum of a section is cut off"));
        };
        let checksum = u32::from_le_bytes([a, b, c, d]);
        Ok(Section { kind, number, offset, length, checksum })
    }

    /// Returns the bytes of a section after checking its checksum, or `None` if the block has no
    /// such section.
    pub(super) fn section<'b>(
        &self,
        block: &'b [u8],
        kind: SectionKind,
        number: u32,
    ) -> CodecResult<Option<&'b [u8]>> {
        let Some(section) = self.find(kind, number) else { return Ok(None) };
        let bytes = block.get(section.offset..section.offset + section.length);
        let bytes = bytes.ok_or_else(|| CodecError::new("a block ends before its sections"))?;
        // The fuzzer cannot compute checksums.
        if !cfg!(fuzzing) && checksum(bytes) != section.checksum {
            return Err(CodecError::new(format!(
                "section {kind:?} {number}: checksum does not match"
            )));
        }
        Ok(Some(bytes))
    }

    /// Returns whether the block has this section.
    pub(super) fn has(&self, kind: SectionKind, number: u32) -> bool {
        self.find(kind, number).is_some()
    }

    fn find(&self, kind: SectionKind, number: u32) -> Option<&Section> {
        let at =
            self.sections.binary_search_by_key(&(kind, number), |s| (s.kind, s.number)).ok()?;
        self.sections.get(at)
    }

    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the number of the column of a tag, or `None` if no row has it.
    pub(super) fn tag(&self, key: &str) -> Option<u32> {
        // A block has the first two columns, names and users, even if all of its rows lack them.
        let tags = &self.columns[FIRST_TAG as usize..];
        let at = tags.binary_search_by(|column| (*column.key).cmp(key)).ok()?;
        Some(to_u32(at) + FIRST_TAG)
    }

    pub(super) fn column(&self, number: u32) -> CodecResult<&Column> {
        let column = self.columns.get(number as usize);
        column.ok_or_else(|| CodecError::new(format!("no column {number}")))
    }

    /// Returns the catalog entry of the block.
    pub(super) fn info(&self, key: EventBlockKey) -> EventBlockInfo {
        self.extent.info(key, to_u32(self.bytes))
    }
}

impl Section {
    #[cfg(test)]
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl InMemory for Header {
    fn bytes(&self) -> usize {
        let strings = self.columns.iter().map(|column| {
            column.key.len()
                + size_of::<Column>()
                + match &column.strings {
                    ColumnStrings::Few(strings) => strings.iter().map(|(t, _)| t.len() + 40).sum(),
                    ColumnStrings::Many { .. } => 0,
                }
        });
        strings.sum::<usize>() + self.sections.len() * size_of::<Section>()
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    low_half(xxh3_64(bytes))
}

/// The sections of a new block, collected in any order.
#[derive(Debug, Default)]
pub(super) struct Sections {
    parts: Vec<(SectionKind, u32, Vec<u8>)>,
}

impl Sections {
    pub(super) fn push(&mut self, kind: SectionKind, number: u32, bytes: Vec<u8>) {
        self.parts.push((kind, number, bytes));
    }

    /// Returns the encoded block.
    pub(super) fn finish(mut self, extent: Extent, columns: &[Column]) -> CodecResult<Vec<u8>> {
        self.parts.sort_unstable_by_key(|(kind, number, _)| (*kind, *number));
        let total: usize = self.parts.iter().map(|(_, _, bytes)| bytes.len()).sum();
        let mut out = Vec::with_capacity(total + 4096);
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        let mark = frame::begin(&mut out, FrameKind::Events, VERSION);
        extent.write(&mut out);
        put_varint(&mut out, columns.len() as u64);
        columns.iter().for_each(|column| column.encode(&mut out));
        put_varint(&mut out, self.parts.len() as u64);
        for (kind, number, bytes) in &self.parts {
            out.push(*kind as u8);
            put_varint(&mut out, u64::from(*number));
            put_varint(&mut out, bytes.len() as u64);
            out.extend_from_slice(&checksum(bytes).to_le_bytes());
        }
        frame::close(&mut out, mark);
        let length = u32::try_from(out.len() - LENGTH_BYTES);
        let too_long = |_| CodecError::new("the header of a block is too long");
        let length = length.map_err(too_long)?.to_le_bytes();
        if let Some(slot) = out.first_chunk_mut::<LENGTH_BYTES>() {
            *slot = length;
        }
        self.parts.iter().for_each(|(_, _, bytes)| out.extend_from_slice(bytes));
        if u32::try_from(out.len()).is_err() {
            return Err(CodecError::new("a block is larger than 4 GiB"));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_at_most_one_string_in_each_row() {
        for (counts, valid) in [([2, 3], true), ([3, 3], false), ([5, 5], false)] {
            let strings = ["a", "b"].map(Box::from).into_iter().zip(counts).collect();
            let column = Column { key: "".into(), strings: ColumnStrings::Few(strings) };
            let mut bytes = Vec::new();
            column.encode(&mut bytes);
            let read = Column::decode(&mut Reader::new(&bytes), 5);
            assert_eq!(read.is_ok_and(|read| read == column), valid, "{counts:?}");
        }
    }
}
