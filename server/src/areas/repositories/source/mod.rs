//! Source files: their languages, and the symbols, imports and references in them, found with
//! tree-sitter. Knows no repository and no index: text in, an outline out.
//!
//! A file is parsed within limits of size and work, and its tree is walked with a cursor, so no
//! nesting is too deep. `walk` does what all languages have in common; what is particular to one is
//! in its file.

mod aliases;
mod c;
mod docs;
mod ecmascript;
mod go;
mod grammar;
mod java;
mod language;
mod limits;
mod macro_items;
mod model;
mod nodes;
mod outline;
mod parameters;
mod python;
mod ruby;
mod rust;
mod test_cases;
#[cfg(test)]
mod tests;
mod walk;

pub use aliases::{Alias, aliases};
pub use model::{
    FileOutline, Import, Language, LineRange, Parameter, Reference, ReferenceKind, Symbol,
    SymbolKind,
};
pub use outline::outline;
pub use test_cases::is_test_case;
