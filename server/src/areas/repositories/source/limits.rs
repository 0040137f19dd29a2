//! The limits of outlines, with units and reasons.

/// Bytes of a file that is parsed.
pub(super) const PARSED_BYTES_MAX: usize = 4 << 20;
/// Bytes of a line of a file that is parsed: longer ones are data, or code that no person reads.
pub(super) const LINE_BYTES_MAX: usize = 64 << 10;
/// How often the parser may report progress without having read another byte: it does so every
/// hundred operations, and text that it cannot make sense of costs it many.
pub(super) const STALLED_REPORTS_MAX: usize = 20_000;
/// Nodes of a tree that are visited.
pub(super) const NODES_MAX: usize = 4_000_000;
/// Symbols of a file.
pub(super) const SYMBOLS_MAX: usize = 20_000;
/// References of a file.
pub(super) const REFERENCES_MAX: usize = 50_000;
/// Imports of a file, and names of an import.
pub(super) const IMPORTS_MAX: usize = 2_000;
pub(super) const IMPORTED_NAMES_MAX: usize = 200;
/// Lines of an import that are searched for other names of what it brings in.
pub(super) const IMPORT_LINES_MAX: usize = 100;
/// Bytes of a name.
pub(super) const NAME_BYTES_MAX: usize = 200;
/// Bytes of a signature.
pub(super) const SIGNATURE_BYTES_MAX: usize = 400;
/// Bytes of a documentation.
pub(super) const DOC_BYTES_MAX: usize = 4_000;
/// Bytes before a name in which the keyword of its definition is.
pub(super) const KEYWORD_BYTES_MAX: usize = 16;
/// Parameters of a function, and bytes of a type or default value.
pub(super) const PARAMETERS_MAX: usize = 50;
pub(super) const TYPE_BYTES_MAX: usize = 200;
/// Comments above a definition that are looked at.
pub(super) const COMMENTS_MAX: usize = 500;
/// Bytes at the beginning of a file that say in which language it is.
pub(super) const BEGINNING_BYTES: usize = 16 << 10;
/// How deep macros with items in them may be in others, and how many of a file are parsed again.
pub(super) const MACRO_DEPTH_MAX: usize = 4;
pub(super) const MACROS_MAX: usize = 2_000;
