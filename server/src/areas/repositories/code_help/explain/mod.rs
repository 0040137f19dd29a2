//! What a file, or lines of it, do: [`explain`] chooses what the lines are, and each part of the
//! answer has its own file.

mod answer;
mod clauses;
mod dependencies;
mod inputs;
mod members;
mod outputs;
mod plain_text;
mod steps;
mod subject;
mod summary;
mod wording;

pub use answer::explain;
pub(super) use inputs::inputs;
pub(super) use members::defined_names;
pub(super) use wording::doc_prose;
