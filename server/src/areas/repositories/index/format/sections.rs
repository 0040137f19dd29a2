//! The outermost layout of an index.
//!
//! ```text
//! magic         8 bytes  "TELLTIDX"
//! version       1 byte
//! for each section, in the order of `Section`:
//!   length      8 bytes, little-endian
//!   checksum    8 bytes, XXH3-64 of the section
//! checksum      8 bytes, XXH3-64 of everything above
//! sections      one after the other, to the end of the bytes
//! ```

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::super::error::IndexError;
use super::super::limits::{COMPRESSION_LEVEL, SECTION_BYTES_MAX};
use super::bytes::{ByteReader, ByteWriter};

const MAGIC: &[u8; 8] = b"TELLTIDX";

/// Changes with every change of the format or of what is written for the same files.
pub(in super::super) const VERSION: u8 = 4;

const SECTIONS: usize = 9;

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Section {
    /// The files and where their blocks are.
    Files,
    /// The texts and outlines.
    Blocks,
    /// The chunks.
    Chunks,
    /// The words.
    Terms,
    /// For each word, the chunks that contain it.
    Postings,
    /// The names of symbols, containers and references.
    Names,
    /// The symbols, by name.
    Symbols,
    /// For each name, the files that use it.
    References,
    /// The dependencies.
    Graph,
}

/// The bytes of an index whose checksums are right.
#[derive(Debug)]
pub(in super::super) struct Sections {
    bytes: Vec<u8>,
    ranges: [Range<usize>; SECTIONS],
}

/// Joins sections, in the order of [`Section`].
pub(in super::super) fn join(sections: [Vec<u8>; SECTIONS]) -> Vec<u8> {
    let mut writer = ByteWriter::default();
    writer.raw(MAGIC);
    writer.byte(VERSION);
    for section in &sections {
        writer.raw(&(section.len() as u64).to_le_bytes());
        writer.raw(&xxh3_64(section).to_le_bytes());
    }
    let mut bytes = writer.into_bytes();
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes.reserve_exact(sections.iter().map(Vec::len).sum());
    for section in sections {
        bytes.extend_from_slice(&section);
    }
    bytes
}

impl Sections {
    /// Verifies all checksums.
    pub(in super::super) fn open(bytes: Vec<u8>) -> Result<Self, IndexError> {
        let mut reader = ByteReader::new(&bytes, "header");
        if &reader.array()? != MAGIC {
            return Err(reader.damaged());
        }
        let version = reader.byte()?;
        if version != VERSION {
            return Err(IndexError::UnsupportedVersion { version });
        }
        let mut lengths = [(0, 0); SECTIONS];
        for length in &mut lengths {
            *length = (u64::from_le_bytes(reader.array()?), u64::from_le_bytes(reader.array()?));
        }
        let header = MAGIC.len() + size_of_val(&VERSION) + size_of_val(&lengths);
        let checksum = u64::from_le_bytes(reader.array()?);
        if bytes.get(..header).map(xxh3_64) != Some(checksum) {
            return Err(reader.damaged());
        }
        let mut end = header + size_of_val(&checksum);
        let mut ranges = [const { 0..0 }; SECTIONS];
        for ((length, checksum), range) in lengths.iter().zip(&mut ranges) {
            let length: usize = (*length).try_into().map_err(|_| reader.damaged())?;
            *range = end..end.checked_add(length).ok_or(reader.damaged())?;
            end = range.end;
            if bytes.get(range.clone()).map(xxh3_64) != Some(*checksum) {
                return Err(IndexError::Damaged { what: "checksum" });
            }
        }
        if end != bytes.len() {
            return Err(IndexError::Damaged { what: "length" });
        }
        Ok(Self { bytes, ranges })
    }

    /// Returns the bytes of a section.
    pub(in super::super) fn get(&self, section: Section) -> &[u8] {
        let range = self.ranges.get(section as usize).cloned();
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// Returns the bytes of all sections.
    pub(in super::super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Compresses a table, with its length.
pub(in super::super) fn compress(bytes: &[u8]) -> Result<Vec<u8>, IndexError> {
    // Only too much text can fail to be compressed.
    let limit =
        IndexError::LimitReached { what: "bytes in a table", max: SECTION_BYTES_MAX as u64 };
    if bytes.len() > SECTION_BYTES_MAX {
        return Err(limit);
    }
    let compressed = zstd::bulk::compress(bytes, COMPRESSION_LEVEL).map_err(|_| limit)?;
    let mut writer = ByteWriter::default();
    writer.length(bytes.len());
    writer.raw(&compressed);
    Ok(writer.into_bytes())
}

/// Decompresses a table that [`compress`] compressed.
pub(in super::super) fn decompress_table(
    bytes: &[u8],
    what: &'static str,
) -> Result<Vec<u8>, IndexError> {
    let mut reader = ByteReader::new(bytes, what);
    let length = reader.narrow()?;
    decompress(reader.raw(reader.len())?, length, what)
}

/// Decompresses exactly `length` bytes.
pub(in super::super) fn decompress(
    bytes: &[u8],
    length: usize,
    what: &'static str,
) -> Result<Vec<u8>, IndexError> {
    let damaged = IndexError::Damaged { what };
    if length > SECTION_BYTES_MAX {
        return Err(damaged);
    }
    match zstd::bulk::decompress(bytes, length) {
        Ok(decompressed) if decompressed.len() == length => Ok(decompressed),
        _ => Err(damaged),
    }
}
