//! What a question asks: its kind, the names and paths in it, its topic, and whether it can only be
//! understood after an earlier one. Knows no index: whether a name exists is decided later.

mod kind;
mod model;
#[cfg(test)]
mod tests;
mod tokens;

pub(super) use kind::TYPE_KINDS;
pub(super) use model::{COMPARING, Listed, Mention, Needs, Question, QuestionKind};
pub(super) use tokens::has_file_ending;
