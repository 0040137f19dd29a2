//! The index of one repository at one commit: full text, symbols, references and dependencies, in
//! one sequence of bytes that is built once and never changed.
//!
//! It owns the format of these bytes and everything that is found in them. It knows no repository,
//! no disk and no clock: files and their outlines in, bytes out; bytes in, hits out. The same files
//! give the same bytes, in whatever order they are added. Damaged bytes are an error, never a
//! panic and never a wrong result.

mod build;
mod error;
mod format;
pub mod limits;
mod lines;
mod model;
mod open;
mod query;
mod recent;
#[cfg(test)]
mod tests;
mod words;

pub use build::{IndexBuilder, is_stand_in};
pub use error::IndexError;
pub use limits::FORMAT_VERSION;
pub use model::{
    BuiltIndex, Dependency, FileEntry, FileId, FoundReferences, Hit, IndexCounts, ReferenceHit,
    SearchResult, SourceFile, SymbolEntry, SymbolHit, SymbolMatch, SymbolRef,
};
pub use open::Index;
pub use query::Weights;
