//! Answers a question: understands it, resolves what it is about, and writes what fits its kind.

use super::appearances::appearances;
use super::dependencies::dependencies;
use super::descriptions::{compare, define, describe};
use super::draft::Draft;
use super::files::Files;
use super::implementations::{bases, implementations};
use super::limits::{EARLIER_TURNS_MAX, FOUND_CONFIDENCE_MIN, QUESTION_CHARS_MAX, REFERENCES_MAX};
use super::lists::{list, plural};
use super::model::{Answer, AnswerReference, Grounding, Passage, Turn};
use super::overview::{is_name_of_repository, overview};
use super::phrases::{joined, repeated};
use super::question::{Question, QuestionKind};
use super::reasons::reasons;
use super::respects::say_in_respect;
use super::subjects::{Resolved, Subject, resolve};
use super::topics::{self, Parts};
use super::uses::{callers, foreign_name};
use crate::areas::repositories::index::{Index, IndexError};
use crate::areas::repositories::source::ReferenceKind;

/// Confidence of an answer that names parts about a topic where a list was asked for.
const UNLISTED_CONFIDENCE_MAX: f64 = 0.4;

/// Answers a question from an index. `earlier` are the turns of the session, oldest first.
pub fn answer(index: &Index, question: &str, earlier: &[Turn]) -> Result<Answer, IndexError> {
    Ok(answered(index, question, earlier)?.0)
}

/// Returns what a language model may use to answer a question, and the answer without a model.
/// There are no passages if nothing was found: then no model is to be asked.
pub fn grounding(index: &Index, question: &str, earlier: &[Turn]) -> Result<Grounding, IndexError> {
    let (extractive, more) = answered(index, question, earlier)?;
    let mut passages: Vec<Passage> = Vec::new();
    if extractive.confidence < FOUND_CONFIDENCE_MIN {
        return Ok(Grounding { passages, extractive });
    }
    for reference in extractive.references.iter().chain(&more) {
        let is_known = passages.iter().any(|known| {
            known.path == reference.path
                && known.lines.contains(reference.lines.start())
                && known.lines.contains(reference.lines.end())
        });
        if !is_known && passages.len() < 2 * REFERENCES_MAX {
            passages.push(Passage {
                number: passages.len() + 1,
                path: reference.path.clone(),
                lines: reference.lines,
                snippet: reference.snippet.clone(),
            });
        }
    }
    Ok(Grounding { passages, extractive })
}

/// Returns an answer, and further lines about its topic if it has any.
fn answered(
    index: &Index,
    question: &str,
    earlier: &[Turn],
) -> Result<(Answer, Vec<AnswerReference>), IndexError> {
    let question: String = question.chars().take(QUESTION_CHARS_MAX).collect();
    let earlier = earlier.get(earlier.len().saturating_sub(EARLIER_TURNS_MAX)..).unwrap_or(earlier);
    let mut files = Files::new(index);
    let resolved = resolve(&mut files, &question, earlier)?;
    let mut draft = Draft::default();
    let parts = topics::find(&mut files, &resolved.question)?;
    let asks_for_history = resolved.known().is_none() && resolved.question.asks_for_history();
    if !resolved.lacks_earlier && !asks_for_history {
        write(&mut draft, &mut files, &resolved, &parts)?;
    }
    let what = looked_for(&resolved, &parts);
    let answer = draft.finish(&files, &what)?;
    let mut more = Draft::default();
    if answer.confidence >= FOUND_CONFIDENCE_MIN {
        for part in &parts.parts {
            let shown = part.symbol.as_ref().map_or(part.lines, |symbol| symbol.symbol.lines);
            let _cited = more.cite(&part.file, part.lines, shown);
        }
    }
    let more = more.finish(&files, &what)?;
    Ok((answer, more.references))
}

/// Writes what fits the kind of the question; nothing if nothing was found.
fn write(
    draft: &mut Draft,
    files: &mut Files<'_>,
    resolved: &Resolved,
    parts: &Parts,
) -> Result<(), IndexError> {
    let question = &resolved.question;
    let subject = resolved.known();
    let is_whole = write_known(draft, files, resolved)?;
    if !draft.is_empty() && subject.is_some() {
        resolved.unknown().for_each(|name| draft.lacks(name));
    }
    if is_whole {
        return Ok(());
    }
    if subject.is_none()
        && let Some(name) = resolved.unknown().next()
    {
        match question.kind {
            QuestionKind::Callers => foreign_name(draft, files, name, None)?,
            QuestionKind::Implementations => {
                foreign_name(draft, files, name, Some(ReferenceKind::Implementation))?;
            }
            _ => {}
        }
    }
    for name in resolved.unknown() {
        if draft.is_empty() {
            appearances(draft, files, name)?;
        }
    }
    // A name that does not exist has no answer, whatever else the words of the question match.
    if draft.is_empty() && !draft.has_withheld() && resolved.unknown().next().is_none() {
        topics::explain(draft, files, question, parts)?;
        if let QuestionKind::List(listed) = question.kind
            && !draft.is_empty()
        {
            draft.say(format!("No list of {} was recognised in the index.", plural(listed)));
            draft.confidence = draft.confidence.min(UNLISTED_CONFIDENCE_MAX);
        }
    }
    Ok(())
}

/// Writes what fits the kind of the question and what it is known to be about. Returns whether that
/// is all that is to be said.
fn write_known(
    draft: &mut Draft,
    files: &mut Files<'_>,
    resolved: &Resolved,
) -> Result<bool, IndexError> {
    let question = &resolved.question;
    let subject = resolved.known();
    let compared = resolved.symbols();
    if question.is_comparison() && compared.len() > 1 {
        compare(draft, &compared);
        return Ok(true);
    }
    if matches!(question.kind, QuestionKind::Description | QuestionKind::Topic)
        && let Some(Subject::Symbols(found)) = subject
        && say_in_respect(draft, question, found)
    {
        return Ok(true);
    }
    match (question.kind, subject) {
        (QuestionKind::Overview, _) => {
            overview(draft, files)?;
            return Ok(true);
        }
        (QuestionKind::List(listed), _) if resolved.unknown().next().is_none() => {
            list(draft, files, question, listed, subject)?;
        }
        (QuestionKind::Reason, _) => give_reasons(draft, files, question, subject)?,
        (QuestionKind::Definition, Some(subject)) => define(draft, files, subject)?,
        (QuestionKind::Description, Some(subject)) => describe(draft, files, subject)?,
        (QuestionKind::Description, None) if is_about_repository(files, question)? => {
            overview(draft, files)?;
            return Ok(true);
        }
        (QuestionKind::Callers, Some(subject)) => callers(draft, files, subject)?,
        (QuestionKind::Dependencies, Some(subject)) => dependencies(draft, files, subject)?,
        (QuestionKind::Implementations, Some(subject)) => {
            implementations(draft, files, subject)?;
            return Ok(true);
        }
        (QuestionKind::Bases, Some(subject)) => {
            bases(draft, files, subject)?;
            return Ok(true);
        }
        (QuestionKind::Topic, Some(subject)) if is_only_subject(resolved) => {
            describe(draft, files, subject)?;
        }
        _ => {}
    }
    Ok(false)
}

/// Writes why something is as it is, or else what it is.
fn give_reasons(
    draft: &mut Draft,
    files: &mut Files<'_>,
    question: &Question,
    subject: Option<&Subject>,
) -> Result<(), IndexError> {
    if !reasons(draft, files, question, subject)?
        && let Some(subject) = subject
    {
        describe(draft, files, subject)?;
        if !draft.is_empty() {
            draft.say("No comment or documentation at this place gives a reason.".to_owned());
            draft.confidence = 0.4;
        }
    }
    Ok(())
}

/// Returns whether a question asks what the repository is, by its name.
fn is_about_repository(files: &mut Files<'_>, question: &Question) -> Result<bool, IndexError> {
    match (question.topic.as_slice(), question.candidates.as_slice()) {
        ([_], [name]) => is_name_of_repository(files, name),
        _ => Ok(false),
    }
}

/// Returns whether a question has no topic beside the name that it is about.
fn is_only_subject(resolved: &Resolved) -> bool {
    let names: String = match resolved.known() {
        Some(Subject::Symbols(found)) => {
            found.first().map(|found| found.symbol.name.to_lowercase()).unwrap_or_default()
        }
        Some(Subject::File(file, _)) => file.path.to_lowercase(),
        Some(Subject::Folder(path, _)) => path.to_lowercase(),
        _ => return false,
    };
    let names: String = names.chars().filter(|char| char.is_alphanumeric()).collect();
    resolved.question.topic.iter().all(|word| names.contains(word.as_str()))
}

/// Returns what was looked for, for an answer that found nothing.
fn looked_for(resolved: &Resolved, parts: &Parts) -> String {
    let unknown: Vec<String> = resolved.unknown().map(repeated).collect();
    if resolved.lacks_earlier {
        return format!(
            "{}: no earlier question says what it refers to",
            repeated(&resolved.question.text)
        );
    }
    if !unknown.is_empty() {
        return joined(&unknown);
    }
    let topic = &resolved.question.topic;
    let what = if topic.is_empty() {
        repeated(&resolved.question.text)
    } else {
        repeated(&topic.join(" "))
    };
    match parts.unknown_words.as_slice() {
        [] => what,
        words => {
            let words: Vec<String> = words.iter().take(8).map(|word| repeated(word)).collect();
            format!("{what}: nothing in the index contains {}", joined(&words))
        }
    }
}
