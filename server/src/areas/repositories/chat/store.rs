//! The stored documents of chat.
//!
//! The collection `chat_sessions` has the ids of sessions as keys, the collection `chat_turns` the
//! id of a session, a dot and the number of the turn, in six digits.
//!
//! ```text
//! session: {"repository", "context"?, "turns", "created_by", "created_at_ms", "used_at_ms"}
//! turn:    {"question", "asked_at_ms", "text", "confidence", "references", "symbols",
//!           "is_generated", "commit", "answered_at_ms"}
//! references: [{"path", "line_start", "line_end", "snippet"}]
//! ```

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{Session, Turn, TurnAnswer, TurnReference};
use crate::areas::repositories::documents::StoredResource;
use crate::areas::repositories::error::{RepositoryError, RepositoryKind};
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;
use crate::areas::repositories::source::LineRange;

/// A stored session, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "SessionDocument", into = "SessionDocument")]
pub(super) struct StoredSession(Session);

/// A stored turn, without its key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "TurnDocument", into = "TurnDocument")]
pub(super) struct StoredTurn(Turn);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SessionDocument {
    repository: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    turns: u32,
    created_by: String,
    created_at_ms: i64,
    used_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TurnDocument {
    question: String,
    asked_at_ms: i64,
    text: String,
    confidence: f64,
    references: Vec<ReferenceDocument>,
    symbols: Vec<String>,
    is_generated: bool,
    commit: String,
    answered_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReferenceDocument {
    path: String,
    line_start: u32,
    line_end: u32,
    snippet: String,
}

impl TryFrom<ReferenceDocument> for TurnReference {
    type Error = String;

    fn try_from(document: ReferenceDocument) -> Result<Self, String> {
        let lines = LineRange::new(document.line_start, document.line_end);
        let lines = lines.ok_or("the lines of a reference are not valid")?;
        Ok(Self { path: document.path, lines, snippet: document.snippet })
    }
}

impl From<TurnReference> for ReferenceDocument {
    fn from(reference: TurnReference) -> Self {
        Self {
            path: reference.path,
            line_start: reference.lines.start(),
            line_end: reference.lines.end(),
            snippet: reference.snippet,
        }
    }
}

impl TryFrom<TurnDocument> for StoredTurn {
    type Error = String;

    fn try_from(document: TurnDocument) -> Result<Self, String> {
        let references = document.references.into_iter().map(TryInto::try_into);
        Ok(Self(Turn {
            // Both from the key of the document, which `from_stored` sets.
            session: SessionId(0),
            number: 0,
            question: document.question,
            asked_at: TimestampMs(document.asked_at_ms),
            answer: TurnAnswer {
                text: document.text,
                confidence: document.confidence,
                references: references.collect::<Result<_, _>>()?,
                symbols: document.symbols,
                is_generated: document.is_generated,
                commit: document.commit,
            },
            answered_at: TimestampMs(document.answered_at_ms),
        }))
    }
}

impl From<StoredTurn> for TurnDocument {
    fn from(StoredTurn(turn): StoredTurn) -> Self {
        let answer = turn.answer;
        Self {
            question: turn.question,
            asked_at_ms: turn.asked_at.0,
            text: answer.text,
            confidence: answer.confidence,
            references: answer.references.into_iter().map(Into::into).collect(),
            symbols: answer.symbols,
            is_generated: answer.is_generated,
            commit: answer.commit,
            answered_at_ms: turn.answered_at.0,
        }
    }
}

impl TryFrom<SessionDocument> for StoredSession {
    type Error = String;

    fn try_from(document: SessionDocument) -> Result<Self, String> {
        Ok(Self(Session {
            // The key of the document, which `from_stored` sets.
            id: SessionId(0),
            repository: RepositoryId::parse(&document.repository)
                .ok_or("repository is not valid")?,
            context: document.context,
            turns: document.turns,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
            used_at: TimestampMs(document.used_at_ms),
        }))
    }
}

impl From<StoredSession> for SessionDocument {
    fn from(StoredSession(session): StoredSession) -> Self {
        Self {
            repository: session.repository.text(),
            context: session.context,
            turns: session.turns,
            created_by: session.created_by,
            created_at_ms: session.created_at.0,
            used_at_ms: session.used_at.0,
        }
    }
}

impl StoredResource for Session {
    type Kind = RepositoryKind;
    type Error = RepositoryError;
    type Stored = StoredSession;
    const COLLECTION: Collection = Collection("chat_sessions");
    const KIND: RepositoryKind = RepositoryKind::Session;
    const COUNT_MAX: usize = limits::SESSIONS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredSession {
        StoredSession(self.clone())
    }

    fn from_stored(id: String, StoredSession(session): StoredSession) -> Self {
        Self { id: SessionId::of_document(&id), ..session }
    }
}

impl StoredResource for Turn {
    type Kind = RepositoryKind;
    type Error = RepositoryError;
    type Stored = StoredTurn;
    const COLLECTION: Collection = Collection("chat_turns");
    const KIND: RepositoryKind = RepositoryKind::Turn;
    const COUNT_MAX: usize = limits::TURNS_MAX;

    fn id(&self) -> Cow<'_, str> {
        Self::key(self.session, self.number).into()
    }

    fn to_stored(&self) -> StoredTurn {
        StoredTurn(self.clone())
    }

    fn from_stored(id: String, StoredTurn(turn): StoredTurn) -> Self {
        let parts = id.split_once('.');
        let (session, number) = parts.unwrap_or((&id, "0"));
        let number = number.parse().unwrap_or_else(|_| {
            panic!("{id:?} is not a key that a turn is stored under");
        });
        Self { session: SessionId::of_document(session), number, ..turn }
    }
}
