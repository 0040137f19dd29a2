//! What a question is about: symbols, files and folders of the index, by the names and paths in it,
//! or by what earlier questions were about.

use std::cmp::Reverse;
use std::rc::Rc;

use super::candidates::{add_compared, candidates};
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{EARLIER_TURNS_MAX, MENTIONS_MAX, SYMBOLS_MAX};
use super::model::Turn;
use super::question::{Mention, Needs, Question, QuestionKind, TYPE_KINDS, has_file_ending};
use super::topics;
use crate::areas::repositories::index::{FileId, IndexError, is_stand_in};
use crate::areas::repositories::source::{LineRange, SymbolKind};
use crate::areas::repositories::wiki::is_test_path;

/// What a question is about.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// Symbols of one name, the likeliest first; at least one.
    Symbols(Vec<FoundSymbol>),
    /// A file, maybe some of its lines.
    File(Rc<OpenFile>, Option<LineRange>),
    /// A folder with files.
    Folder(String, Vec<FileId>),
    /// A name or path that is not known.
    Unknown(String),
}

/// A question with its subjects, after earlier questions were taken into account.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) question: Question,
    /// The subjects in the order of the question, those that are known first.
    pub(super) subjects: Vec<Subject>,
    /// It refers to something earlier, and there is nothing.
    pub(super) lacks_earlier: bool,
}

impl Resolved {
    /// Returns the known subject.
    pub(super) fn known(&self) -> Option<&Subject> {
        self.subjects.iter().find(|subject| !matches!(subject, Subject::Unknown(_)))
    }

    /// Returns the likeliest symbol of each name that is known.
    pub(super) fn symbols(&self) -> Vec<&FoundSymbol> {
        let symbols = self.subjects.iter().filter_map(|subject| match subject {
            Subject::Symbols(found) => found.first(),
            _ => None,
        });
        symbols.collect()
    }

    /// Returns the names that are not known.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &str> {
        self.subjects.iter().filter_map(|subject| match subject {
            Subject::Unknown(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

/// Resolves what a question is about.
pub(super) fn resolve(
    files: &mut Files<'_>,
    text: &str,
    earlier: &[Turn],
) -> Result<Resolved, IndexError> {
    let mut question = Question::parse(text);
    let recent = || earlier.iter().rev().take(EARLIER_TURNS_MAX);
    let mut lacks_earlier = false;
    if question.needs == Needs::EarlierQuestion {
        match recent().find(|turn| Question::parse(&turn.question).needs == Needs::Nothing) {
            Some(turn) => question = continued(&Question::parse(&turn.question), question),
            None => lacks_earlier = question.topic.is_empty() && question.mentions.is_empty(),
        }
    }
    let mut subjects = mentioned(files, &question)?;
    if question.is_comparison() {
        add_compared(files, &question, &mut subjects)?;
    }
    if subjects.is_empty() {
        subjects = candidates(files, &question)?;
    }
    if question.needs == Needs::Subject && subjects.is_empty() {
        for turn in recent() {
            subjects = earlier_subjects(files, turn)?;
            if !subjects.is_empty() {
                break;
            }
        }
        lacks_earlier = subjects.is_empty() && question.topic.is_empty();
    }
    subjects.sort_by_key(|subject| matches!(subject, Subject::Unknown(_)));
    Ok(Resolved { question, subjects, lacks_earlier })
}

/// Returns an earlier question with the part that a later one changes.
fn continued(earlier: &Question, later: Question) -> Question {
    let mut question = earlier.clone();
    (question.text, question.words) = (later.text, later.words);
    question.needs = Needs::Nothing;
    question.language = later.language.or(question.language);
    if !later.mentions.is_empty() {
        question.mentions = later.mentions;
        question.candidates.clear();
        question.topic = later.topic;
    } else if !later.topic.is_empty() {
        // `And for passwords?` asks for the earlier topic in another respect.
        question.candidates = later.candidates;
        question.mentions.clear();
        question.topic.extend(later.topic.into_iter().filter(|word| !earlier.topic.contains(word)));
    }
    question
}

/// Returns what the mentions of a question are. Words such as `HTTP/2` and `read/write`, which look
/// like a path and are none, are part of the topic.
fn mentioned(files: &mut Files<'_>, question: &Question) -> Result<Vec<Subject>, IndexError> {
    let mut subjects = Vec::new();
    for mention in question.mentions.iter().take(MENTIONS_MAX) {
        let subject = subject(files, mention)?;
        if let (Subject::Unknown(_), Mention::Path { path, lines: None }) = (&subject, mention)
            && !has_file_ending(path)
            && are_words(files, path)?
        {
            continue;
        }
        subjects.push(subject);
    }
    Ok(subjects)
}

/// Returns whether an unknown path consists of words that the index contains, and does not begin
/// with one of its folders.
fn are_words(files: &Files<'_>, path: &str) -> Result<bool, IndexError> {
    let first = path.split('/').next().unwrap_or_default();
    let is_in_folder = files
        .index
        .files()
        .any(|entry| entry.path.strip_prefix(first).is_some_and(|rest| rest.starts_with('/')));
    if is_in_folder || first.is_empty() {
        return Ok(false);
    }
    let unknown = files.index.search(path, 1)?.unknown_words;
    // Digits are too short to be words.
    Ok(unknown.iter().all(|word| word.chars().count() < 2))
}

fn subject(files: &mut Files<'_>, mention: &Mention) -> Result<Subject, IndexError> {
    match mention {
        Mention::Path { path, lines } => path_subject(files, path, *lines),
        Mention::Name(parts) => {
            let found = symbols_named(files, parts)?;
            if !found.is_empty() {
                return Ok(Subject::Symbols(found));
            }
            // `os.path` or `store` can be a file or a folder too.
            let path = parts.join("/");
            match path_subject(files, &path, None)? {
                Subject::Unknown(_) => Ok(Subject::Unknown(parts.join("::"))),
                known => Ok(known),
            }
        }
    }
}

/// Returns the file or folder of a path, or of the end of one if only one file has it.
fn path_subject(
    files: &mut Files<'_>,
    path: &str,
    lines: Option<LineRange>,
) -> Result<Subject, IndexError> {
    if let Some(id) = files.index.find(path) {
        return Ok(Subject::File(files.open(id)?, lines));
    }
    let mut with_ending = Vec::new();
    let mut inside = Vec::new();
    for entry in files.index.files() {
        let (id, known) = (entry.id, entry.path);
        if known.strip_suffix(path).is_some_and(|before| before.ends_with('/')) {
            with_ending.push(id);
        }
        if known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) {
            inside.push(id);
        }
    }
    if !inside.is_empty() {
        return Ok(Subject::Folder(path.to_owned(), inside));
    }
    // Among several, the one with the most important symbols is meant.
    with_ending.sort_by(|left, right| files.index.rank(*right).total_cmp(&files.index.rank(*left)));
    match with_ending.first() {
        Some(id) => Ok(Subject::File(files.open(*id)?, lines)),
        None => Ok(Subject::Unknown(path.to_owned())),
    }
}

/// Returns the symbols of a qualified name, the likeliest first. If what contains them is known by
/// that name, only those.
pub(super) fn symbols_named(
    files: &mut Files<'_>,
    parts: &[String],
) -> Result<Vec<FoundSymbol>, IndexError> {
    let Some((name, containers)) = parts.split_last() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let hits = files.index.symbols_of_name(name, SYMBOLS_MAX);
    let in_files: Vec<FileId> = hits.iter().map(|hit| hit.symbol.file).collect();
    files.open_all(&in_files)?;
    for hit in hits {
        found.extend(files.symbol(hit.symbol)?);
    }
    if let Some(container) = containers.last() {
        let all = found.clone();
        found.retain(|found| is_within(found, container));
        if found.is_empty() && containers.len() == 1 {
            let folders = folders_of_crate(files, container)?;
            found = all;
            found.retain(|found| is_exported(found, &folders));
        }
    }
    found.sort_by_cached_key(|found| order(files, found));
    Ok(found)
}

/// Returns the folders of the Rust crates of a name.
fn folders_of_crate(files: &mut Files<'_>, name: &str) -> Result<Vec<String>, IndexError> {
    let index = files.index;
    let mut folders = Vec::new();
    for entry in index.files().filter(|entry| entry.path.ends_with("Cargo.toml")) {
        let is_named = |line: &str| {
            let value = line.strip_prefix("name").map(|rest| rest.trim_start());
            let value = value.and_then(|rest| rest.strip_prefix('=')).map(str::trim);
            value.is_some_and(|value| value.trim_matches('"').replace('-', "_") == name)
        };
        if files.open(entry.id)?.text.lines().any(is_named) {
            folders.push(entry.path.trim_end_matches("Cargo.toml").to_owned());
        }
    }
    Ok(folders)
}

/// Returns whether a crate in one of some folders may export a symbol.
fn is_exported(found: &FoundSymbol, folders: &[String]) -> bool {
    found.symbol.is_public
        && !found.symbol.signature.starts_with("pub(")
        && !is_member(found.symbol.kind)
        && found.symbol.kind != SymbolKind::Method
        && folders.iter().any(|folder| found.file.path.starts_with(folder))
}

/// Returns whether a symbol belongs to a type, module, file or folder of some name.
fn is_within(found: &FoundSymbol, container: &str) -> bool {
    let parent = found.symbol.parent.and_then(|parent| FoundSymbol::new(&found.file, parent));
    let in_path = found
        .file
        .path
        .split('/')
        .any(|part| part.split('.').next().is_some_and(|stem| stem == container));
    found.symbol.container.as_deref() == Some(container)
        || parent.is_some_and(|parent| parent.symbol.name == container)
        || in_path
        || ["self", "Self", "this", "crate", "super"].contains(&container)
}

/// The order of symbols of one name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SymbolOrder {
    is_test: bool,
    is_restricted: bool,
    kind: u8,
    is_private: bool,
    is_undocumented: bool,
    rank: Reverse<u64>,
    path: String,
    name_line: u32,
}

/// Returns the order of symbols of one name: code before tests, what everybody may use before what
/// only this repository may use, types before members, what is documented before what is not.
fn order(files: &Files<'_>, found: &FoundSymbol) -> SymbolOrder {
    let kind = match found.symbol.kind {
        kind if TYPE_KINDS.contains(&kind) && kind != SymbolKind::TypeAlias => 0,
        SymbolKind::Function | SymbolKind::Macro => 1,
        SymbolKind::Method | SymbolKind::TypeAlias => 2,
        SymbolKind::Constant => 3,
        SymbolKind::Module => 4,
        SymbolKind::Variant | SymbolKind::Field | SymbolKind::Variable => 5,
        _ => 6,
    };
    let is_test = found.symbol.is_test || is_test_path(&found.file.path);
    // `pub(crate)` and `pub(super)`.
    let is_restricted = found.symbol.signature.starts_with("pub(");
    SymbolOrder {
        is_test: is_test || is_stand_in(&found.file.path),
        is_restricted: is_restricted && kind == 1,
        kind,
        is_private: !found.symbol.is_public || is_restricted,
        is_undocumented: found.symbol.doc.is_none(),
        rank: Reverse(files.index.rank(found.file.id).max(0.0).to_bits()),
        path: found.file.path.clone(),
        name_line: found.symbol.name_line,
    }
}

pub(super) fn is_member(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Variant | SymbolKind::Variable)
}

/// Returns what an earlier question was about: the names of its answer, the names in it, or what
/// its references show.
fn earlier_subjects(files: &mut Files<'_>, turn: &Turn) -> Result<Vec<Subject>, IndexError> {
    let question = Question::parse(&turn.question);
    if question.kind == QuestionKind::Overview {
        return Ok(Vec::new());
    }
    for name in turn.symbols.iter().take(MENTIONS_MAX) {
        let parts: Vec<String> = name.replace("::", ".").split('.').map(str::to_owned).collect();
        let found = symbols_named(files, &parts)?;
        if !found.is_empty() {
            return Ok(vec![Subject::Symbols(found)]);
        }
        if let known @ (Subject::File(..) | Subject::Folder(..)) = path_subject(files, name, None)?
        {
            return Ok(vec![known]);
        }
    }
    let mut subjects = mentioned(files, &question)?;
    let names_unknown = subjects.iter().any(|subject| matches!(subject, Subject::Unknown(_)));
    subjects.retain(|subject| !matches!(subject, Subject::Unknown(_)));
    if subjects.is_empty() && names_unknown {
        return Ok(subjects);
    }
    if subjects.is_empty() {
        subjects = candidates(files, &question)?;
    }
    if subjects.is_empty()
        && let Some(reference) = turn.references.first()
        && let Some(id) = files.index.find(&reference.path)
    {
        let file = files.open(id)?;
        let inside = (0_u32..)
            .zip(&file.outline.symbols)
            .find(|(_, symbol)| reference.lines.contains(symbol.name_line))
            .and_then(|(position, _)| FoundSymbol::new(&file, position))
            .or_else(|| file.innermost(reference.lines.start()));
        subjects.extend(match inside {
            Some(found) => Some(Subject::Symbols(vec![found])),
            None => Some(Subject::File(file, None)),
        });
    }
    if subjects.is_empty()
        && question.needs == Needs::Nothing
        && let Some(part) = topics::find(files, &question)?.parts.into_iter().next()
    {
        subjects.extend(match part.symbol {
            Some(found) => Some(Subject::Symbols(vec![found])),
            None => Some(Subject::File(part.file, None)),
        });
    }
    subjects.truncate(1);
    Ok(subjects)
}
