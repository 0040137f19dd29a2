//! The symbols, by name: all that finding and listing them needs.

use std::ops::Range;

use super::super::super::source::{LineRange, SymbolKind};
use super::super::error::IndexError;
use super::super::model::{FileId, SymbolRef};
use super::bytes::{ByteReader, ByteWriter};
use super::codes::{symbol_kind, symbol_kind_code};
use super::file_table::FileRecord;
use super::sections::{compress, decompress_table};

const PUBLIC: u8 = 1;
const TEST: u8 = 2;
const TEST_CASE: u8 = 4;

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct SymbolRecord {
    /// The number of its name.
    pub(in super::super) name: u32,
    /// The number of the name of what it belongs to.
    pub(in super::super) container: Option<u32>,
    pub(in super::super) symbol: SymbolRef,
    pub(in super::super) lines: LineRange,
    pub(in super::super) kind: SymbolKind,
    pub(in super::super) is_public: bool,
    pub(in super::super) is_test: bool,
    pub(in super::super) is_test_case: bool,
}

/// The symbols, sorted by the number of their name, then by file and position.
#[derive(Debug)]
pub(in super::super) struct SymbolTable {
    symbols: Vec<SymbolRecord>,
    /// Where the symbols of each name end.
    ends: Vec<u32>,
    /// The names of the symbols of all files, in the order of the files and of the symbols in them.
    names: Vec<u32>,
}

impl SymbolTable {
    /// Returns the bytes of the table of these symbols, sorted, whose names are so many.
    pub(in super::super) fn encode(
        symbols: &[SymbolRecord],
        names: u32,
    ) -> Result<Vec<u8>, IndexError> {
        let mut columns = [const { Vec::new() }; 4].map(|_: Vec<u8>| ByteWriter::default());
        let [counts, places, containers, kinds] = &mut columns;
        let mut rest = symbols;
        for name in 0..names {
            let count = rest.iter().take_while(|symbol| symbol.name == name).count();
            counts.length(count);
            let (of_name, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = after;
            let mut before = 0;
            for symbol in of_name {
                places.number(symbol.symbol.file.0 - before);
                before = symbol.symbol.file.0;
                places.number(symbol.symbol.position);
                places.number(symbol.lines.start());
                places.number(symbol.lines.count() - 1);
                containers.number(symbol.container.map_or(0, |name| u64::from(name) + 1));
                kinds.byte(symbol_kind_code(symbol.kind));
                let flag = |is_set, flag| if is_set { flag } else { 0 };
                kinds.byte(
                    flag(symbol.is_public, PUBLIC)
                        | flag(symbol.is_test, TEST)
                        | flag(symbol.is_test_case, TEST_CASE),
                );
            }
        }
        let mut writer = ByteWriter::default();
        writer.length(symbols.len());
        for column in columns {
            let column = column.into_bytes();
            writer.length(column.len());
            writer.raw(&column);
        }
        compress(&writer.into_bytes())
    }

    /// Reads the symbols of these files, whose names are so many.
    pub(in super::super) fn decode(
        bytes: &[u8],
        names: usize,
        files: &[FileRecord],
    ) -> Result<Self, IndexError> {
        let what = "symbols";
        let bytes = decompress_table(bytes, what)?;
        let mut reader = ByteReader::new(&bytes, what);
        let count = reader.count()?;
        let mut columns = [(); 4].map(|()| ByteReader::new(&[], what));
        for column in &mut columns {
            let length = reader.count()?;
            *column = ByteReader::new(reader.raw(length)?, what);
        }
        reader.end()?;
        let mut symbols = Vec::with_capacity(count);
        let mut ends = Vec::with_capacity(names);
        for name in 0..names as u32 {
            let mut file = 0;
            for _ in 0..columns[0].narrow::<u32>()? {
                let symbol = decode_symbol(&mut columns, name, file, files)?;
                file = symbol.symbol.file.0;
                if symbol.container.is_some_and(|container| container as usize >= names) {
                    return Err(IndexError::Damaged { what });
                }
                symbols.push(symbol);
            }
            ends.push(symbols.len() as u32);
        }
        for column in columns {
            column.end()?;
        }
        let in_files: usize = files.iter().map(|file| file.symbols as usize).sum();
        if symbols.len() != count || count != in_files {
            return Err(IndexError::Damaged { what });
        }
        let mut names = vec![0; count];
        for symbol in &symbols {
            let first = files.get(symbol.symbol.file.0 as usize).map_or(0, |f| f.first_symbol);
            if let Some(name) = names.get_mut((first + symbol.symbol.position) as usize) {
                *name = symbol.name;
            }
        }
        Ok(Self { symbols, ends, names })
    }

    /// Returns the number of symbols.
    pub(in super::super) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns the symbols of a range of names.
    pub(in super::super) fn of_names(&self, names: Range<usize>) -> &[SymbolRecord] {
        let end = |name: usize| {
            let before = name.checked_sub(1).and_then(|before| self.ends.get(before));
            before.map_or(0, |end| *end as usize)
        };
        self.symbols.get(end(names.start)..end(names.end)).unwrap_or_default()
    }

    /// Returns the number of the name of a symbol of a file.
    pub(in super::super) fn name_of(&self, file: &FileRecord, position: u32) -> Option<u32> {
        self.names.get(file.first_symbol as usize + position as usize).copied()
    }

    /// Returns the bytes in memory.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.symbols.capacity() * size_of::<SymbolRecord>()
            + (self.ends.capacity() + self.names.capacity()) * size_of::<u32>()
    }
}

fn decode_symbol(
    columns: &mut [ByteReader<'_>; 4],
    name: u32,
    file_before: u32,
    files: &[FileRecord],
) -> Result<SymbolRecord, IndexError> {
    let [_, places, containers, kinds] = columns;
    let damaged = places.damaged();
    let file = file_before.checked_add(places.narrow()?).ok_or(damaged.clone())?;
    let record = files.get(file as usize).ok_or(damaged.clone())?;
    let position = places.narrow()?;
    let start: u32 = places.narrow()?;
    let lines = LineRange::new(start, start.saturating_add(places.narrow()?));
    let lines = lines.filter(|lines| lines.end() <= record.lines && position < record.symbols);
    let container: u32 = containers.narrow()?;
    let kind = symbol_kind(kinds.byte()?).ok_or(damaged.clone())?;
    let flags = kinds.byte()?;
    Ok(SymbolRecord {
        name,
        container: container.checked_sub(1),
        symbol: SymbolRef { file: FileId(file), position },
        lines: lines.ok_or(damaged)?,
        kind,
        is_public: flags & PUBLIC != 0,
        is_test: flags & TEST != 0,
        is_test_case: flags & TEST_CASE != 0,
    })
}
