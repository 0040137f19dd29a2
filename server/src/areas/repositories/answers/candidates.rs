//! What the ordinary words of a question name, which are not written as code in it.

use super::files::{Files, FoundSymbol};
use super::limits::{MENTIONS_MAX, WORDS_LOOKED_UP_MAX};
use super::question::{COMPARING, Question, QuestionKind, TYPE_KINDS};
use super::subjects::{Subject, is_member, symbols_named};
use crate::areas::repositories::index::{FileEntry, IndexError};
use crate::areas::repositories::source::{ReferenceKind, SymbolKind};

/// Adds the symbols that ordinary words name in a question how things differ.
pub(super) fn add_compared(
    files: &mut Files<'_>,
    question: &Question,
    subjects: &mut Vec<Subject>,
) -> Result<(), IndexError> {
    let words = question.candidates.iter();
    let words = words.filter(|word| !COMPARING.contains(&word.to_lowercase().as_str()));
    for word in words.take(MENTIONS_MAX) {
        let found = symbols_named(files, std::slice::from_ref(word))?;
        let is_one = |first: &FoundSymbol| {
            !is_member(first.symbol.kind) && first.symbol.kind != SymbolKind::Module
        };
        if found.first().is_some_and(is_one) {
            subjects.push(Subject::Symbols(found));
        }
    }
    Ok(())
}

/// Returns the symbols that ordinary words of a question name: one word only, and only if the
/// question is about one thing.
pub(super) fn candidates(
    files: &mut Files<'_>,
    question: &Question,
) -> Result<Vec<Subject>, IndexError> {
    let is_about_one = matches!(
        question.kind,
        QuestionKind::Definition
            | QuestionKind::Description
            | QuestionKind::Callers
            | QuestionKind::Dependencies
            | QuestionKind::Implementations
            | QuestionKind::Bases
            | QuestionKind::List(_)
    );
    if question.kind == QuestionKind::Topic {
        return type_in_capitals(files, question);
    }
    if question.kind == QuestionKind::Implementations
        && let Some(name) = implemented_name(files, question)?
    {
        let found = symbols_named(files, std::slice::from_ref(name))?;
        return Ok(vec![match found.is_empty() {
            true => Subject::Unknown(name.clone()),
            false => Subject::Symbols(found),
        }]);
    }
    if !is_about_one || question.candidates.len() > 2 {
        return Ok(Vec::new());
    }
    let mut subjects = Vec::new();
    for word in question.candidates.iter().rev() {
        let found = symbols_named(files, std::slice::from_ref(word))?;
        // A word such as `name` is a field of many types: it is no subject. The declaration of a
        // module says less than its file.
        if found.first().is_some_and(|first| {
            !is_member(first.symbol.kind) && first.symbol.kind != SymbolKind::Module
        }) {
            subjects.push(Subject::Symbols(found));
            break;
        }
        if let Some(subject) = module_subject(files, word)? {
            subjects.push(subject);
            break;
        }
    }
    // With several words, a topic is likelier than a name.
    if question.candidates.len() > 1
        && !matches!(subjects.first(), Some(Subject::Symbols(found)) if starts_upper(found))
        && !question.kind_needs_name()
    {
        subjects.clear();
    }
    if subjects.is_empty()
        && question.kind_needs_name()
        && let [unknown] = question.candidates.as_slice()
    {
        subjects.push(Subject::Unknown(unknown.clone()));
    }
    Ok(subjects)
}

/// Returns the word of a question that names what something implements or extends: it may be
/// defined elsewhere, as `Iterator` is. A word that begins with a capital letter comes first.
fn implemented_name<'question>(
    files: &Files<'_>,
    question: &'question Question,
) -> Result<Option<&'question String>, IndexError> {
    let mut words: Vec<&String> = question.candidates.iter().collect();
    words.sort_by_key(|word| !word.starts_with(char::is_uppercase));
    for word in words.into_iter().take(WORDS_LOOKED_UP_MAX) {
        if files.index.has_references_of_kind(word, ReferenceKind::Implementation)? {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// Returns the type that a word in capitals names in a question about a topic.
fn type_in_capitals(
    files: &mut Files<'_>,
    question: &Question,
) -> Result<Vec<Subject>, IndexError> {
    let is_name = |word: &&String| {
        word.starts_with(char::is_uppercase) && question.names_exactly(&word.to_lowercase())
    };
    let mut subjects = Vec::new();
    for word in question.candidates.iter().filter(is_name).take(MENTIONS_MAX) {
        let found = symbols_named(files, std::slice::from_ref(word))?;
        if found.first().is_some_and(|first| TYPE_KINDS.contains(&first.symbol.kind)) {
            subjects.push(Subject::Symbols(found));
        }
    }
    // With several, the question is about how they work together.
    if subjects.len() > 1 {
        subjects.clear();
    }
    Ok(subjects)
}

fn starts_upper(found: &[FoundSymbol]) -> bool {
    found.first().is_some_and(|found| found.symbol.name.starts_with(char::is_uppercase))
}

/// Returns the folder of a name, or the file of a name without its ending: the one nearest to the
/// root.
fn module_subject(files: &mut Files<'_>, name: &str) -> Result<Option<Subject>, IndexError> {
    let name = name.to_lowercase();
    let mut folder: Option<&str> = None;
    let mut file: Option<FileEntry<'_>> = None;
    let index = files.index;
    for entry in index.files() {
        let path = entry.path;
        let mut length = 0;
        for part in path.split('/') {
            length += part.len() + 1;
            let candidate = path.get(..length - 1).unwrap_or_default();
            let is_folder = length < path.len();
            if is_folder && part == name && folder.is_none_or(|known| candidate.len() < known.len())
            {
                folder = Some(candidate);
            }
            let is_file = !is_folder && part.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
            if is_file && file.is_none_or(|known| path.len() < known.path.len()) {
                file = Some(entry);
            }
        }
    }
    if let Some(folder) = folder {
        let is_inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let inside = index.files().filter(|entry| is_inside(entry.path)).map(|entry| entry.id);
        return Ok(Some(Subject::Folder(folder.to_owned(), inside.collect())));
    }
    match file.filter(|entry| entry.language.is_some()) {
        Some(entry) => Ok(Some(Subject::File(files.open(entry.id)?, None))),
        None => Ok(None),
    }
}
