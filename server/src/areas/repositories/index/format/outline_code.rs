//! The bytes of an outline: its parts one after the other, numbers as differences.
//!
//! Strings are written as they are, because the text that is compressed with them contains most of
//! them. Names of references, which repeat, are numbered.

use hashbrown::HashMap;

use super::super::super::source::{FileOutline, Import, LineRange, Parameter, Reference, Symbol};
use super::super::error::IndexError;
use super::bytes::{ByteReader, ByteWriter};
use super::codes::{
    language, language_code, reference_kind, reference_kind_code, symbol_kind, symbol_kind_code,
};

const PARENT: u8 = 1;
const CONTAINER: u8 = 2;
const DOC: u8 = 4;
const RETURNS: u8 = 8;
const PUBLIC: u8 = 16;
const TEST: u8 = 32;

const TYPE: u8 = 1;
const DEFAULT: u8 = 2;

const WHAT: &str = "outline";

/// Returns the bytes of an outline.
pub(in super::super) fn encode_outline(outline: &FileOutline) -> Vec<u8> {
    let mut writer = ByteWriter::default();
    writer.byte(language_code(outline.language));
    writer.byte(outline.is_complete.into());
    writer.byte(outline.doc.is_some().into());
    if let Some(doc) = &outline.doc {
        writer.string(doc);
    }
    writer.length(outline.symbols.len());
    let mut line = 0;
    for (position, symbol) in (0..).zip(&outline.symbols) {
        encode_symbol(symbol, position, line, &mut writer);
        line = symbol.lines.start();
    }
    writer.length(outline.imports.len());
    for import in &outline.imports {
        writer.number(import.line);
        writer.string(&import.path);
        writer.length(import.names.len());
        for name in &import.names {
            writer.string(name);
        }
    }
    encode_references(&outline.references, &mut writer);
    writer.into_bytes()
}

fn encode_symbol(symbol: &Symbol, position: u32, line_before: u32, writer: &mut ByteWriter) {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    writer.byte(symbol_kind_code(symbol.kind));
    writer.byte(
        flag(symbol.parent.is_some(), PARENT)
            | flag(symbol.container.is_some(), CONTAINER)
            | flag(symbol.doc.is_some(), DOC)
            | flag(symbol.returns.is_some(), RETURNS)
            | flag(symbol.is_public, PUBLIC)
            | flag(symbol.is_test, TEST),
    );
    writer.signed(i64::from(symbol.lines.start()) - i64::from(line_before));
    writer.number(symbol.lines.count() - 1);
    writer.signed(i64::from(symbol.name_line) - i64::from(symbol.lines.start()));
    if let Some(parent) = symbol.parent {
        writer.number(position - parent);
    }
    writer.string(&symbol.name);
    let strings = [&symbol.container, &symbol.doc, &symbol.returns];
    for string in strings.into_iter().flatten() {
        writer.string(string);
    }
    writer.string(&symbol.signature);
    writer.length(symbol.parameters.len());
    for Parameter { name, type_name, default } in &symbol.parameters {
        writer.byte(flag(type_name.is_some(), TYPE) | flag(default.is_some(), DEFAULT));
        writer.string(name);
        for string in [type_name, default].into_iter().flatten() {
            writer.string(string);
        }
    }
}

fn encode_references(references: &[Reference], writer: &mut ByteWriter) {
    let mut numbers = HashMap::new();
    let mut names = Vec::new();
    let mut columns = [const { Vec::new() }; 3].map(|_: Vec<u8>| ByteWriter::default());
    let [name_column, places, withins] = &mut columns;
    let (mut line, mut within) = (0, 0);
    for reference in references {
        let number = *numbers.entry(reference.name.as_str()).or_insert_with(|| {
            names.push(&reference.name);
            names.len() - 1
        });
        name_column.length(number);
        // The kinds are fewer than four.
        let step = i64::from(reference.line) - i64::from(line);
        places.signed(step << 2 | i64::from(reference_kind_code(reference.kind)));
        line = reference.line;
        let here = reference.within.map_or(0, |within| i64::from(within) + 1);
        withins.signed(here - within);
        within = here;
    }
    writer.length(names.len());
    for name in names {
        writer.string(name);
    }
    writer.length(references.len());
    for column in columns {
        writer.raw(&column.into_bytes());
    }
}

/// Returns the outline of these bytes.
pub(in super::super) fn decode_outline(bytes: &[u8]) -> Result<FileOutline, IndexError> {
    let mut reader = ByteReader::new(bytes, WHAT);
    let language = language(reader.byte()?).ok_or(reader.damaged())?;
    let is_complete = reader.byte()? != 0;
    let has_doc = reader.byte()? != 0;
    let doc = if has_doc { Some(reader.string()?.to_owned()) } else { None };
    let count = reader.count()?;
    let mut symbols: Vec<Symbol> = Vec::with_capacity(count);
    for position in 0..count {
        let before = symbols.last().map_or(0, |symbol| symbol.lines.start());
        symbols.push(decode_symbol(&mut reader, position as u64, before)?);
    }
    let count = reader.count()?;
    let mut imports = Vec::with_capacity(count);
    for _ in 0..count {
        let line = reader.narrow()?;
        let path = reader.string()?.to_owned();
        let names = (0..reader.count()?).map(|_| Ok(reader.string()?.to_owned()));
        imports.push(Import { path, names: names.collect::<Result<_, IndexError>>()?, line });
    }
    let references = decode_references(&mut reader, symbols.len())?;
    reader.end()?;
    Ok(FileOutline { language, doc, symbols, imports, references, is_complete })
}

fn decode_symbol(
    reader: &mut ByteReader<'_>,
    position: u64,
    line_before: u32,
) -> Result<Symbol, IndexError> {
    let damaged = reader.damaged();
    let kind = symbol_kind(reader.byte()?).ok_or(damaged.clone())?;
    let flags = reader.byte()?;
    let start = moved(line_before, reader.signed()?).ok_or(damaged.clone())?;
    let end = start.checked_add(reader.narrow()?).ok_or(damaged.clone())?;
    let name_line = moved(start, reader.signed()?).ok_or(damaged.clone())?;
    let mut parent = None;
    if flags & PARENT != 0 {
        let distance = reader.number()?;
        let above = position.checked_sub(distance).filter(|parent| *parent < position);
        parent = Some(above.and_then(|at| at.try_into().ok()).ok_or(damaged.clone())?);
    }
    let name = reader.string()?.to_owned();
    let container = optional(reader, flags & CONTAINER)?;
    let doc = optional(reader, flags & DOC)?;
    let returns = optional(reader, flags & RETURNS)?;
    let signature = reader.string()?.to_owned();
    let count = reader.count()?;
    let mut parameters = Vec::with_capacity(count);
    for _ in 0..count {
        let flags = reader.byte()?;
        let name = reader.string()?.to_owned();
        let type_name = optional(reader, flags & TYPE)?;
        let default = optional(reader, flags & DEFAULT)?;
        parameters.push(Parameter { name, type_name, default });
    }
    Ok(Symbol {
        name,
        kind,
        parent,
        container,
        lines: LineRange::new(start, end).ok_or(damaged)?,
        name_line,
        signature,
        doc,
        is_public: flags & PUBLIC != 0,
        is_test: flags & TEST != 0,
        parameters,
        returns,
    })
}

fn decode_references(
    reader: &mut ByteReader<'_>,
    symbols: usize,
) -> Result<Vec<Reference>, IndexError> {
    let damaged = reader.damaged();
    let names = (0..reader.count()?).map(|_| reader.string());
    let names = names.collect::<Result<Vec<&str>, IndexError>>()?;
    let count = reader.count()?;
    let mut references = Vec::with_capacity(count);
    for _ in 0..count {
        let name = names.get(reader.narrow::<usize>()?).ok_or(damaged.clone())?;
        let name = (*name).to_owned();
        let kind = super::super::super::source::ReferenceKind::Call;
        references.push(Reference { name, kind, line: 0, within: None });
    }
    let mut line = 0;
    for reference in &mut references {
        let place = reader.signed()?;
        line = moved(line, place >> 2).ok_or(damaged.clone())?;
        reference.line = line;
        reference.kind = reference_kind((place & 3) as u8).ok_or(damaged.clone())?;
    }
    let mut within = 0;
    for reference in &mut references {
        within = moved(within, reader.signed()?).ok_or(damaged.clone())?;
        if within as usize > symbols {
            return Err(damaged);
        }
        reference.within = within.checked_sub(1);
    }
    Ok(references)
}

fn optional(reader: &mut ByteReader<'_>, flag: u8) -> Result<Option<String>, IndexError> {
    if flag == 0 { Ok(None) } else { Ok(Some(reader.string()?.to_owned())) }
}

fn moved(from: u32, distance: i64) -> Option<u32> {
    i64::from(from).checked_add(distance)?.try_into().ok()
}
