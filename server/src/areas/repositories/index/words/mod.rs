//! Words of code and of questions: what is looked up, and what a question means by it.

mod identifiers;
mod reliability;
mod stem;
mod stop_words;
mod synonyms;

pub(super) use identifiers::{parts, runs, terms, whole};
pub(super) use reliability::reliability;
pub(super) use stem::stem;
pub(super) use stop_words::is_stop_word;
pub(super) use synonyms::{name_synonyms, type_synonyms};
