//! The JSON of chat.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asking::{Answered, Question};
use super::model::{Session, Turn, TurnReference};
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;
use crate::areas::repositories::wire::repository_id;
use crate::http::{ApiError, PathParam};
use crate::platform::fields::{self, Invalid};
use crate::platform::json::nullable;
use crate::platform::time::IsoTime;

/// A question about a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionInput {
    #[schemars(required, length(min = 1, max = limits::QUESTION_CHARS_MAX))]
    question: Option<String>,
    /// The id of the repository.
    #[schemars(required)]
    repository: Option<String>,
    /// The session that the question continues. Without it a new one begins.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    session_id: Option<Option<String>>,
}

/// A session that is to be begun.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionInput {
    /// The id of the repository.
    #[schemars(required)]
    repository: Option<String>,
    /// What the questions will be about.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::CONTEXT_CHARS_MAX))]
    context: Option<Option<String>>,
}

/// An answer to a question.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatAnswer")]
pub(super) struct AnsweredView {
    answer: AnswerView,
    /// The lines that the answer is about, in the order of the numbers in its text. Empty if
    /// nothing was found.
    references: Vec<ReferenceView>,
    session_id: String,
    /// Whether a language model worded the answer.
    generated: bool,
    /// The commit that the answer is about.
    commit: String,
}

/// The text of an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AnswerText")]
struct AnswerView {
    /// Plain text with code between backticks; a number in brackets names a reference.
    text: String,
    /// From 0 to 1; below 0.2 if nothing was found.
    confidence: f64,
}

/// Lines of the commit.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeReference")]
struct ReferenceView {
    file_path: String,
    line_start: u32,
    line_end: u32,
    /// These lines, 40 at most, exactly as in the commit.
    snippet: String,
}

/// A session that was begun.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatSessionStart")]
pub(super) struct SessionStartView {
    session_id: String,
    repository: String,
    created_at: IsoTime,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatSession")]
pub(super) struct SessionView {
    session_id: String,
    repository: String,
    created_at: IsoTime,
    context: Option<String>,
    /// Questions and answers, oldest first.
    messages: Vec<MessageView>,
}

/// A question or an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatMessage")]
struct MessageView {
    #[schemars(with = "RoleName")]
    role: &'static str,
    content: String,
    timestamp: IsoTime,
    /// Only of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<ReferenceView>")]
    references: Option<Vec<ReferenceView>>,
}

/// Who said something.
#[derive(JsonSchema)]
#[schemars(rename = "ChatRole", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum RoleName {
    User,
    Assistant,
}

impl QuestionInput {
    pub(super) fn into_question(self, asked_by: String) -> Result<Question, ApiError> {
        let text = self.question.ok_or_else(|| Invalid::missing("question"))?;
        if text.trim().is_empty() || text.chars().count() > limits::QUESTION_CHARS_MAX {
            let expected = format!("must have 1 to {} characters", limits::QUESTION_CHARS_MAX);
            return Err(Invalid::field("question", expected).into());
        }
        let repository = repository_id(self.repository)?;
        let session = self.session_id.flatten();
        let session = session.map(|id| session_id(&id)).transpose()?;
        Ok(Question { repository, session, text, asked_by })
    }
}

impl SessionInput {
    pub(super) fn into_parts(self) -> Result<(RepositoryId, Option<String>), ApiError> {
        let repository = repository_id(self.repository)?;
        let context = fields::text("context", self.context.flatten(), limits::CONTEXT_CHARS_MAX)?;
        Ok((repository, context.filter(|context| !context.trim().is_empty())))
    }
}

fn session_id(text: &str) -> Result<SessionId, ApiError> {
    SessionId::parse(text).ok_or_else(|| ApiError::missing(SessionId::RESOURCE, text))
}

impl AnsweredView {
    pub(super) fn new(answered: Answered) -> Self {
        let answer = answered.answer;
        Self {
            answer: AnswerView { text: answer.text, confidence: answer.confidence },
            references: answer.references.into_iter().map(ReferenceView::new).collect(),
            session_id: answered.session.id.text(),
            generated: answer.is_generated,
            commit: answer.commit,
        }
    }
}

impl ReferenceView {
    fn new(reference: TurnReference) -> Self {
        Self {
            file_path: reference.path,
            line_start: reference.lines.start(),
            line_end: reference.lines.end(),
            snippet: reference.snippet,
        }
    }
}

impl SessionStartView {
    pub(super) fn new(session: &Session) -> Self {
        Self {
            session_id: session.id.text(),
            repository: session.repository.text(),
            created_at: IsoTime(session.created_at),
        }
    }
}

impl SessionView {
    pub(super) fn new(session: Session, turns: Vec<Turn>) -> Self {
        Self {
            session_id: session.id.text(),
            repository: session.repository.text(),
            created_at: IsoTime(session.created_at),
            context: session.context,
            messages: turns.into_iter().flat_map(messages).collect(),
        }
    }
}

fn messages(turn: Turn) -> [MessageView; 2] {
    let references = turn.answer.references.into_iter().map(ReferenceView::new).collect();
    [
        MessageView {
            role: "user",
            content: turn.question,
            timestamp: IsoTime(turn.asked_at),
            references: None,
        },
        MessageView {
            role: "assistant",
            content: turn.answer.text,
            timestamp: IsoTime(turn.answered_at),
            references: Some(references),
        },
    ]
}
