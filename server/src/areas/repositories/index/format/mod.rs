//! The bytes of an index: sections with checksums, tables of strings, postings and outlines. Knows
//! no search.

mod bytes;
mod chunk_table;
mod codes;
mod file_table;
mod graph_table;
mod lists;
mod outline_code;
mod postings;
mod sections;
mod string_table;
mod symbol_table;

pub(super) use bytes::{ByteReader, ByteWriter};
pub(super) use chunk_table::{ChunkRecord, ChunkTable};
pub(super) use codes::ReferenceKinds;
pub(super) use file_table::{FileRecord, FileTable, NewFile};
pub(super) use graph_table::GraphTable;
pub(super) use lists::{Lists, encode_lists};
pub(super) use outline_code::{decode_outline, encode_outline};
pub(super) use postings::{Frequencies, Mark, Posting, Postings, encode_postings};
pub(super) use sections::VERSION;
pub(super) use sections::{Section, Sections, decompress, join};
pub(super) use string_table::StringTable;
pub(super) use symbol_table::{SymbolRecord, SymbolTable};
