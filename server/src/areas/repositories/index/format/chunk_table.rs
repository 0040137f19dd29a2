//! The chunks: the parts of files that searches find.

use super::super::super::source::{LineRange, SymbolKind};
use super::super::error::IndexError;
use super::super::model::FileId;
use super::bytes::{ByteReader, ByteWriter};
use super::codes::{symbol_kind, symbol_kind_code};
use super::file_table::FileRecord;
use super::sections::{compress, decompress_table};

const PUBLIC: u8 = 1;
const TEST: u8 = 2;
const LATER_PIECE: u8 = 4;

/// A chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct ChunkRecord {
    /// Known from the table of files.
    pub(in super::super) file: FileId,
    pub(in super::super) lines: LineRange,
    /// The position and kind of the symbol that it is, or is a piece of.
    pub(in super::super) symbol: Option<(u32, SymbolKind)>,
    pub(in super::super) is_public: bool,
    pub(in super::super) is_test: bool,
    /// Whether it is a piece of a long symbol, but not the first.
    pub(in super::super) is_later_piece: bool,
    /// Words in the text.
    pub(in super::super) body_words: u16,
    /// Words in the documentation.
    pub(in super::super) doc_words: u16,
    /// Different words in the name of the symbol.
    pub(in super::super) name_words: u8,
    /// Other files that use the name, for each file that defines it.
    pub(in super::super) uses: u8,
    /// Equal for chunks that have nearly all pairs of words in common.
    pub(in super::super) sketch: u32,
}

/// The chunks of all files, in the order of the files and then of their lines.
#[derive(Debug)]
pub(in super::super) struct ChunkTable {
    pub(in super::super) chunks: Vec<ChunkRecord>,
}

impl ChunkTable {
    pub(in super::super) fn encode(chunks: &[ChunkRecord]) -> Result<Vec<u8>, IndexError> {
        let mut columns = [const { Vec::new() }; 5].map(|_: Vec<u8>| ByteWriter::default());
        let [lines, symbols, words, flags, sketches] = &mut columns;
        let mut before = (None, 1);
        for chunk in chunks {
            let (start, end) = (chunk.lines.start(), chunk.lines.end());
            let after = if before.0 == Some(chunk.file) { before.1 } else { 1 };
            lines.signed(i64::from(start) - i64::from(after));
            lines.number(end - start);
            before = (Some(chunk.file), end);
            match chunk.symbol {
                None => symbols.byte(0),
                Some((position, kind)) => {
                    symbols.byte(1 + symbol_kind_code(kind));
                    symbols.number(position);
                }
            }
            words.number(chunk.body_words);
            words.number(chunk.doc_words);
            let flag = |is_set, flag| if is_set { flag } else { 0 };
            flags.byte(
                flag(chunk.is_public, PUBLIC)
                    | flag(chunk.is_test, TEST)
                    | flag(chunk.is_later_piece, LATER_PIECE),
            );
            flags.byte(chunk.name_words);
            flags.byte(chunk.uses);
            sketches.raw(&chunk.sketch.to_le_bytes());
        }
        let mut writer = ByteWriter::default();
        writer.length(chunks.len());
        for column in columns {
            let column = column.into_bytes();
            writer.length(column.len());
            writer.raw(&column);
        }
        compress(&writer.into_bytes())
    }

    /// Reads the chunks of these files.
    pub(in super::super) fn decode(bytes: &[u8], files: &[FileRecord]) -> Result<Self, IndexError> {
        let what = "chunks";
        let bytes = decompress_table(bytes, what)?;
        let mut reader = ByteReader::new(&bytes, what);
        let count = reader.count()?;
        if count != files.last().map_or(0, |file| file.chunks.end as usize) {
            return Err(reader.damaged());
        }
        let mut columns = [(); 5].map(|()| ByteReader::new(&[], what));
        for column in &mut columns {
            let length = reader.count()?;
            *column = ByteReader::new(reader.raw(length)?, what);
        }
        reader.end()?;
        let mut chunks = Vec::with_capacity(count);
        for (file, number) in files.iter().zip(0..) {
            let mut before = 1;
            for _ in file.chunks.clone() {
                let chunk = decode_chunk(&mut columns, FileId(number), file, before)?;
                before = chunk.lines.end();
                chunks.push(chunk);
            }
        }
        for column in columns {
            column.end()?;
        }
        Ok(Self { chunks })
    }

    /// Returns the bytes in memory.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<ChunkRecord>()
    }
}

fn decode_chunk(
    columns: &mut [ByteReader<'_>; 5],
    file: FileId,
    record: &FileRecord,
    before: u32,
) -> Result<ChunkRecord, IndexError> {
    let [lines, symbols, words, flags, sketches] = columns;
    let damaged = lines.damaged();
    let start = i64::from(before).checked_add(lines.signed()?);
    let start = start.and_then(|start| u32::try_from(start).ok());
    let more = lines.narrow()?;
    let range = start.and_then(|start| LineRange::new(start, start.checked_add(more)?));
    let range = range.filter(|range| range.end() <= record.lines).ok_or(damaged.clone())?;
    let symbol = match symbols.byte()? {
        0 => None,
        code => {
            let kind = symbol_kind(code - 1).ok_or(damaged.clone())?;
            let position = symbols.narrow()?;
            if position >= record.symbols {
                return Err(damaged);
            }
            Some((position, kind))
        }
    };
    let (body_words, doc_words) = (words.narrow()?, words.narrow()?);
    let flag = flags.byte()?;
    Ok(ChunkRecord {
        file,
        lines: range,
        symbol,
        is_public: flag & PUBLIC != 0,
        is_test: flag & TEST != 0,
        is_later_piece: flag & LATER_PIECE != 0,
        body_words,
        doc_words,
        name_words: flags.byte()?,
        uses: flags.byte()?,
        sketch: u32::from_le_bytes(sketches.array()?),
    })
}
