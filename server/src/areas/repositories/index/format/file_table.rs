//! The files, and the blocks that contain their texts and outlines.
//!
//! A block is the texts of some files, in their order, followed by their outlines, compressed
//! together: most of an outline repeats the text, and takes hardly any room beside it.

use std::ops::Range;

use super::super::super::ObjectId;
use super::super::super::source::Language;
use super::super::error::IndexError;
use super::super::limits::SECTION_BYTES_MAX;
use super::bytes::{ByteReader, ByteWriter};
use super::codes::{language, language_code};
use super::sections::{compress, decompress_table};
use super::string_table::StringTable;

/// A file, as it is written.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct NewFile<'a> {
    pub(in super::super) path: &'a str,
    pub(in super::super) blob: ObjectId,
    pub(in super::super) language: Option<Language>,
    pub(in super::super) is_complete: bool,
    pub(in super::super) lines: u32,
    pub(in super::super) bytes: u32,
    pub(in super::super) outline_bytes: u32,
    pub(in super::super) chunks: u32,
    pub(in super::super) symbols: u32,
}

/// A file, as it is read.
#[derive(Clone, Debug)]
pub(in super::super) struct FileRecord {
    pub(in super::super) blob: ObjectId,
    pub(in super::super) language: Option<Language>,
    pub(in super::super) is_complete: bool,
    pub(in super::super) lines: u32,
    pub(in super::super) bytes: u32,
    pub(in super::super) symbols: u32,
    /// The symbols of all files before it.
    pub(in super::super) first_symbol: u32,
    /// The numbers of its chunks.
    pub(in super::super) chunks: Range<u32>,
    pub(in super::super) block: u32,
    /// Where its text begins in its block.
    pub(in super::super) text_start: u32,
    outline_start: u32,
    outline_bytes: u32,
}

/// A block.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct BlockRecord {
    /// Files in it.
    pub(in super::super) files: u32,
    /// Where it is in its section.
    pub(in super::super) range: Range<usize>,
    /// Its bytes after decompression.
    pub(in super::super) bytes: usize,
}

/// The files, sorted by path.
#[derive(Debug)]
pub(in super::super) struct FileTable {
    pub(in super::super) paths: StringTable,
    pub(in super::super) files: Vec<FileRecord>,
    pub(in super::super) blocks: Vec<BlockRecord>,
}

impl FileTable {
    /// Returns the bytes of a table of these files and of blocks of so many files and bytes.
    pub(in super::super) fn encode(
        files: &[NewFile<'_>],
        blocks: &[(usize, usize)],
    ) -> Result<Vec<u8>, IndexError> {
        let paths = StringTable::encode(files.iter().map(|file| file.path))?;
        let mut columns = ByteWriter::default();
        columns.length(blocks.len());
        for (files, bytes) in blocks {
            columns.length(*files);
            columns.length(*bytes);
        }
        for file in files {
            columns.byte(language_code(file.language));
            columns.byte(file.is_complete.into());
            columns.number(file.lines);
            columns.number(file.bytes);
            columns.number(file.outline_bytes);
            columns.number(file.chunks);
            columns.number(file.symbols);
        }
        for file in files {
            columns.length(file.blob.as_bytes().len());
            columns.raw(file.blob.as_bytes());
        }
        let mut writer = ByteWriter::default();
        writer.length(paths.len());
        writer.raw(&paths);
        writer.raw(&compress(&columns.into_bytes())?);
        Ok(writer.into_bytes())
    }

    /// Reads a table of files whose blocks have so many bytes.
    pub(in super::super) fn decode(bytes: &[u8], block_bytes: usize) -> Result<Self, IndexError> {
        let what = "files";
        let mut reader = ByteReader::new(bytes, what);
        let length = reader.count()?;
        let paths = StringTable::decode(reader.raw(length)?, what)?;
        let columns = decompress_table(reader.raw(reader.len())?, what)?;
        let mut columns = ByteReader::new(&columns, what);
        let mut blocks = decode_blocks(&mut columns, block_bytes)?;
        let mut files = Vec::with_capacity(paths.len());
        let (mut first_chunk, mut first_symbol) = (0_u32, 0_u32);
        for (number, block) in (0..).zip(&mut blocks) {
            let first = files.len();
            for _ in 0..block.files {
                let mut file = decode_file(&mut columns, first_chunk)?;
                first_chunk = file.chunks.end;
                file.first_symbol = first_symbol;
                first_symbol = first_symbol.checked_add(file.symbols).ok_or(columns.damaged())?;
                (file.block, file.text_start) = (number, block.bytes as u32);
                block.bytes += file.bytes as usize;
                check_size(block.bytes)?;
                files.push(file);
            }
            for file in files.iter_mut().skip(first) {
                file.outline_start = block.bytes as u32;
                block.bytes += file.outline_bytes as usize;
                check_size(block.bytes)?;
            }
        }
        if files.len() != paths.len() {
            return Err(columns.damaged());
        }
        for file in &mut files {
            let length = columns.count()?;
            file.blob =
                ObjectId::from_bytes(columns.raw(length)?).map_err(|_| columns.damaged())?;
        }
        columns.end()?;
        Ok(Self { paths, files, blocks })
    }

    /// Returns the bytes in memory.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.paths.memory_bytes()
            + self.files.capacity() * size_of::<FileRecord>()
            + self.blocks.capacity() * size_of::<BlockRecord>()
    }
}

impl FileRecord {
    /// Returns where its text is in its block.
    pub(in super::super) fn text(&self) -> Range<usize> {
        let start = self.text_start as usize;
        start..start + self.bytes as usize
    }

    /// Returns where its outline is in its block.
    pub(in super::super) fn outline(&self) -> Range<usize> {
        let start = self.outline_start as usize;
        start..start + self.outline_bytes as usize
    }
}

fn check_size(bytes: usize) -> Result<(), IndexError> {
    if bytes > SECTION_BYTES_MAX {
        return Err(IndexError::Damaged { what: "size of a block" });
    }
    Ok(())
}

fn decode_blocks(
    columns: &mut ByteReader<'_>,
    block_bytes: usize,
) -> Result<Vec<BlockRecord>, IndexError> {
    let count = columns.count()?;
    let mut blocks = Vec::with_capacity(count);
    let mut end = 0_usize;
    for _ in 0..count {
        let files = columns.narrow()?;
        let start = end;
        end = end.checked_add(columns.narrow()?).ok_or(columns.damaged())?;
        blocks.push(BlockRecord { files, range: start..end, bytes: 0 });
    }
    if end != block_bytes {
        return Err(columns.damaged());
    }
    Ok(blocks)
}

fn decode_file(columns: &mut ByteReader<'_>, first_chunk: u32) -> Result<FileRecord, IndexError> {
    let language = language(columns.byte()?).ok_or(columns.damaged())?;
    let is_complete = columns.byte()? != 0;
    let (lines, bytes, outline_bytes) = (columns.narrow()?, columns.narrow()?, columns.narrow()?);
    let chunks: u32 = columns.narrow()?;
    let last_chunk = first_chunk.checked_add(chunks).ok_or(columns.damaged())?;
    let no_blob = ObjectId::from_bytes(&[0; 20]).map_err(|_| columns.damaged())?;
    Ok(FileRecord {
        blob: no_blob,
        language,
        is_complete,
        lines,
        bytes,
        symbols: columns.narrow()?,
        first_symbol: 0,
        chunks: first_chunk..last_chunk,
        block: 0,
        text_start: 0,
        outline_start: 0,
        outline_bytes,
    })
}
