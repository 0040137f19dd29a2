//! Sessions and their turns.

use telltale_engine::TimestampMs;

use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::source::LineRange;

/// A session.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) repository: RepositoryId,
    /// What the questions are about, in the user's words.
    pub(super) context: Option<String>,
    /// The number of turns.
    pub(super) turns: u32,
    pub(super) created_by: String,
    pub(super) created_at: TimestampMs,
    /// When the last turn was.
    pub(super) used_at: TimestampMs,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    pub(super) session: SessionId,
    /// From 0.
    pub(super) number: u32,
    pub(super) question: String,
    pub(super) asked_at: TimestampMs,
    pub(super) answer: TurnAnswer,
    pub(super) answered_at: TimestampMs,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnAnswer {
    pub(super) text: String,
    /// From 0 to 1.
    pub(super) confidence: f64,
    pub(super) references: Vec<TurnReference>,
    /// The names that it is about, the most important first.
    pub(super) symbols: Vec<String>,
    /// Whether a language model worded it.
    pub(super) is_generated: bool,
    /// The beginning of the name of the commit that it is about.
    pub(super) commit: String,
}

/// Lines that an answer refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnReference {
    pub(super) path: String,
    pub(super) lines: LineRange,
    pub(super) snippet: String,
}

impl Turn {
    /// Returns the key of a document.
    pub(super) fn key(session: SessionId, number: u32) -> String {
        format!("{}.{number:06}", session.text())
    }
}
