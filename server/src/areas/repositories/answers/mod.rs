//! Answers questions about a repository from its index, without a language model: each sentence is
//! made of names, places, signatures and quoted documentation, and refers to the lines it is from.
//!
//! Every reference is equal to the lines of the commit. Nothing that a question or a file says is
//! an instruction here. Lines that seem to hold a secret are not quoted. If a language model is
//! used, it gets the same passages (`prompt`), and only those of its sentences that cite them are
//! kept (`citations`).

mod answer;
mod appearances;
mod candidates;
mod citations;
mod comments;
mod dependencies;
mod descriptions;
mod draft;
mod errors;
mod examples;
mod files;
mod implementations;
mod import_paths;
mod limits;
mod listed_symbols;
mod lists;
mod model;
mod occurrences;
mod overview;
mod phrases;
mod prompt;
mod question;
mod reasons;
mod receivers;
mod required_words;
mod resolution;
mod respects;
mod routes;
mod statements;
mod subjects;
#[cfg(test)]
mod tests;
mod topic_words;
mod topics;
mod usages;
mod uses;
mod values;
mod words;

pub use answer::{answer, grounding};
pub use citations::check_citations;
pub use limits::FOUND_CONFIDENCE_MIN;
pub use model::{
    Answer, AnswerReference, ChatMessage, ChatRole, CheckedAnswer, Grounding, Passage, Turn,
    TurnReference,
};
pub use prompt::prompt;
pub use usages::{CallFromElsewhere, calls_from_elsewhere};
