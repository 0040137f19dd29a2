//! From a question to its answer: what is found in the index, worded by a language model if there
//! is one, and stored as a turn of the session.

use std::sync::Arc;

use telltale_engine::TimestampMs;

use super::model::{Session, Turn, TurnAnswer, TurnReference};
use super::ops::{self, SessionOf};
use crate::app::App;
use crate::areas::repositories::answers::{self, Answer, AnswerReference, Grounding};
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;
use crate::areas::repositories::llm::LanguageModel;
use crate::areas::repositories::quotes::without_markup;
use crate::areas::repositories::reading;
use crate::http::ApiResult;

/// The confidence of an answer that a language model worded, at most: that its sentences have the
/// words of the code does not make them true.
const GENERATED_CONFIDENCE_MAX: f64 = 0.8;

/// A question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) repository: RepositoryId,
    /// `None` begins a session.
    pub(super) session: Option<SessionId>,
    pub(super) text: String,
    pub(super) asked_by: String,
}

/// An answer that is stored.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) session: Session,
    pub(super) answer: TurnAnswer,
}

/// What is found before anybody words it.
#[derive(Debug)]
struct Prepared {
    session: SessionOf,
    commit: String,
    grounding: Grounding,
    earlier: Vec<answers::Turn>,
    asked_at: TimestampMs,
}

/// Answers a question.
pub(super) async fn ask(app: &Arc<App>, question: Question) -> ApiResult<Answered> {
    let text = question.text.clone();
    let prepared = reading::long_query(app, move |app| prepare(app, &question)).await?;
    let Prepared { session, commit, grounding, earlier, asked_at } = prepared;
    let worded = match app.repositories().language_model() {
        Some(model) if !grounding.passages.is_empty() => {
            word(model, &text, &grounding, &earlier).await
        }
        _ => None,
    };
    let is_generated = worded.is_some();
    let answer = stored_form(worded.unwrap_or(grounding.extractive), commit, is_generated);
    let kept = answer.clone();
    let store = move |app: &App| ops::add_turn(app, session, text, asked_at, kept);
    let session = app.blocking(store).await?;
    Ok(Answered { session, answer })
}

fn prepare(app: &App, question: &Question) -> Result<Prepared, RepositoryError> {
    let asked_at = app.now();
    let indexed = reading::open_for_many_files(app, question.repository)?;
    let (session, turns, context) = match question.session {
        None => {
            let asked_by = question.asked_by.clone();
            let new = ops::new(app, question.repository, None, asked_by)?;
            (SessionOf::New(new), Vec::new(), None)
        }
        Some(id) => {
            let session = ops::get_of(app, id, question.repository)?;
            let turns = ops::turns(app, &session, limits::EARLIER_TURNS)?;
            (SessionOf::Existing(id), turns, session.context)
        }
    };
    let about = |question| answers::Turn { question, references: Vec::new(), symbols: Vec::new() };
    let of_context = context.map(about).into_iter();
    let earlier: Vec<answers::Turn> =
        of_context.chain(turns.into_iter().map(earlier_turn)).collect();
    let grounding = answers::grounding(indexed.index(), &question.text, &earlier)?;
    let commit = indexed.commit.short_commit();
    Ok(Prepared { session, commit, grounding, earlier, asked_at })
}

/// Has a language model word an answer. `None` if it does not answer, or if nothing of what it says
/// is in the passages.
async fn word(
    model: &LanguageModel,
    question: &str,
    grounding: &Grounding,
    earlier: &[answers::Turn],
) -> Option<Answer> {
    let messages = answers::prompt(question, &grounding.passages, earlier);
    match model.complete(&messages).await {
        Ok(text) => {
            let checked = answers::check_citations(&text, &grounding.passages);
            if checked.is_none() {
                tracing::info!("an answer of the language model is not in the code, and not used");
            }
            checked.map(|checked| Answer {
                text: checked.text,
                references: checked.references,
                confidence: grounding.extractive.confidence.min(GENERATED_CONFIDENCE_MAX),
                ..grounding.extractive.clone()
            })
        }
        Err(error) => {
            tracing::warn!(%error, "an answer is put together without the language model");
            None
        }
    }
}

fn earlier_turn(turn: Turn) -> answers::Turn {
    let reference = |TurnReference { path, lines, .. }| answers::TurnReference { path, lines };
    answers::Turn {
        question: turn.question,
        references: turn.answer.references.into_iter().map(reference).collect(),
        symbols: turn.answer.symbols,
    }
}

fn stored_form(answer: Answer, commit: String, is_generated: bool) -> TurnAnswer {
    let reference = |reference: AnswerReference| TurnReference {
        path: reference.path,
        lines: reference.lines,
        snippet: reference.snippet,
    };
    TurnAnswer {
        text: without_markup(&answer.text),
        confidence: answer.confidence,
        references: answer.references.into_iter().map(reference).collect(),
        symbols: answer.symbols,
        is_generated,
        commit,
    }
}
