//! What answers consist of.

use crate::areas::repositories::source::LineRange;

/// An earlier question of a session, with what its answer was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The question, as asked.
    pub question: String,
    /// The references of its answer, in their order.
    pub references: Vec<TurnReference>,
    /// The names that its answer was about, the most important first: [`Answer::symbols`]. If
    /// empty, the references say what it was about.
    pub symbols: Vec<String>,
}

/// A reference of an earlier answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnReference {
    /// The path of the file in the repository.
    pub path: String,
    /// Lines of the file.
    pub lines: LineRange,
}

/// An answer to a question. A marker such as `[1]` in the text names the reference of that number,
/// counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// A few sentences; each one is true of the lines that it refers to.
    pub text: String,
    /// How well the references answer the question: from 0 to 1, below
    /// [`super::FOUND_CONFIDENCE_MIN`] if there are none, or if the question names something that
    /// nothing defines.
    pub confidence: f64,
    /// The lines that support the text.
    pub references: Vec<AnswerReference>,
    /// The names that the answer is about, the most important first, for [`Turn::symbols`].
    pub symbols: Vec<String>,
}

/// Lines of a file at the commit of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerReference {
    /// The path of the file in the repository.
    pub path: String,
    /// Lines of the file.
    pub lines: LineRange,
    /// Exactly these lines.
    pub snippet: String,
}

/// What an optional language model may use for an answer, and the answer if there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Grounding {
    /// The passages that the model may cite.
    pub passages: Vec<Passage>,
    /// The answer without a model.
    pub extractive: Answer,
}

/// Lines that a language model may cite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number by which it is cited, from 1.
    pub number: usize,
    /// The path of the file in the repository.
    pub path: String,
    /// Lines of the file.
    pub lines: LineRange,
    /// Exactly these lines.
    pub snippet: String,
}

/// What is left of a model's text after its citations were checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedAnswer {
    /// The sentences that cite passages, with markers that name [`CheckedAnswer::references`].
    pub text: String,
    /// The cited passages.
    pub references: Vec<AnswerReference>,
    /// How many sentences were dropped.
    pub dropped: usize,
}

/// Who speaks in a conversation with a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// The instructions.
    System,
    /// The person who asks.
    User,
    /// The model.
    Assistant,
}

/// A message of a conversation with a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: String,
}

impl ChatRole {
    /// Returns the name that OpenAI-compatible servers expect.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}
