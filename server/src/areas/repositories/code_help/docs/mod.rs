//! What comments say of code: their sections, in every style that the languages use.
//!
//! Markdown headings (Rust), Google, NumPy and Sphinx (Python), JSDoc, Javadoc, Doxygen and YARD
//! tags, indented examples (Go, RDoc) and doctests are distinguished line by line.

mod items;
mod markup;
mod model;
mod reader;
mod sections;
mod sentences;
mod tags;

pub(super) use model::plain_name;
pub use model::{DocError, DocParameter, DocSections};
pub use sections::doc_sections;
pub(super) use sentences::{first_sentences, is_licence};
