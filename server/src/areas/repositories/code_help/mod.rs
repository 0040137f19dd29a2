//! Explanations and documentation of source files, made from their syntax and their comments alone.
//! Knows no repository and no index: text and its outline in, an answer out.
//!
//! The same input always has the same answer. What an answer shows between backticks is in the
//! file, but for white space; everything else in it follows from a node of the syntax tree or from
//! a comment. Syntax trees are walked with cursors and stacks of this module, so no nesting is too
//! deep, and every list is bounded.

mod docs;
mod document;
mod error;
mod excerpt;
mod explain;
mod limits;
mod model;
mod publishable;
mod statements;
mod syntax;
#[cfg(test)]
mod tests;

pub use docs::{DocError, DocParameter, DocSections, doc_sections};
pub use document::document;
pub use error::InvalidLines;
pub use explain::explain;
pub use model::{
    Documentation, Explanation, Input, MethodDocumentation, Outputs, ParameterDocumentation, Usage,
};
