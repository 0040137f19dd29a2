//! Answers which functions, types, errors, routes, settings, tests or files there are.

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::rc::Rc;

use super::draft::Draft;
use super::errors::errors_of;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{LISTED_NAMES_MAX, SNIPPET_LINES_MAX, SYMBOLS_MAX};
use super::phrases::{
    code, has_marker, joined, name_as_code, noun, place, place_of, qualified_name, without_markers,
};
use super::question::{Listed, Question, TYPE_KINDS};
use super::routes::route;
use super::subjects::Subject;
use super::test_cases::is_test_case;
use super::topic_words::Topic;
use crate::areas::repositories::index::{FileId, IndexError};
use crate::areas::repositories::source::{LineRange, Symbol, SymbolKind};

/// Files that are read for a list over the whole repository, the most important first.
const FILES_READ_MAX: usize = 2_000;
/// The share of a question's other words that a listed thing has: both of two.
const SCOPE_COVERAGE_MIN: f64 = 0.6;

/// Writes a list. `subject` is what the listed things belong to.
pub(super) fn list(
    draft: &mut Draft,
    files: &mut Files<'_>,
    question: &Question,
    listed: Listed,
    subject: Option<&Subject>,
) -> Result<(), IndexError> {
    let scope = Scope::new(files, question, listed, subject);
    if let (Listed::Errors, Some(Subject::Symbols(found))) = (listed, subject) {
        return errors_of(draft, files, found);
    }
    match listed {
        Listed::Routes => routes(draft, files, &scope),
        Listed::Files => listed_files(draft, files, &scope),
        _ => symbols(draft, files, &scope, listed),
    }
}

/// Where listed things are looked for.
struct Scope {
    files: Vec<FileId>,
    /// The symbol that contains them.
    within: Option<FoundSymbol>,
    /// How many others of its kind have its name, and whether more were not looked at.
    others: usize,
    is_cut: bool,
    /// The other words of the question, some of which their names or paths contain.
    topic: Option<Topic>,
}

impl Scope {
    fn new(
        files: &Files<'_>,
        question: &Question,
        listed: Listed,
        subject: Option<&Subject>,
    ) -> Self {
        let mut all: Vec<FileId> = files
            .index
            .files()
            .filter(|entry| {
                question.language.is_none_or(|language| entry.language == Some(language))
            })
            .map(|entry| entry.id)
            .collect();
        all.sort_by(|left, right| files.index.rank(*right).total_cmp(&files.index.rank(*left)));
        all.truncate(FILES_READ_MAX);
        let words: Vec<String> =
            question.topic.iter().filter(|word| !is_listed_noun(word, listed)).cloned().collect();
        let topic = (!words.is_empty()).then(|| Topic::new(&words));
        match subject {
            Some(Subject::File(file, _)) => {
                Self { files: vec![file.id], within: None, others: 0, is_cut: false, topic: None }
            }
            Some(Subject::Folder(_, inside)) => {
                Self { files: inside.clone(), within: None, others: 0, is_cut: false, topic: None }
            }
            Some(Subject::Symbols(found)) => {
                // A function or another type of the name has no variants.
                let fits = |found: &&FoundSymbol| match listed {
                    Listed::Symbols([SymbolKind::Variant]) => found.symbol.kind == SymbolKind::Enum,
                    Listed::Symbols([SymbolKind::Field]) => TYPE_KINDS.contains(&found.symbol.kind),
                    _ => true,
                };
                let first = found.iter().find(fits).or(found.first()).cloned();
                let others = found.iter().filter(fits).count().saturating_sub(1);
                let files = first.iter().map(|first| first.file.id).collect();
                let is_cut = found.len() >= SYMBOLS_MAX;
                Self { files, within: first, others, is_cut, topic: None }
            }
            _ => Self { files: all, within: None, others: 0, is_cut: false, topic },
        }
    }

    fn fits(&self, file: &OpenFile, symbol: &Symbol) -> bool {
        let is_within = self.within.as_ref().is_none_or(|within| {
            if matches!(symbol.kind, SymbolKind::Variant | SymbolKind::Field) {
                return symbol.parent == Some(within.position);
            }
            within.symbol.lines.contains(symbol.name_line)
                || symbol.container.as_deref() == Some(within.symbol.name.as_str())
        });
        is_within
            && self.topic.as_ref().is_none_or(|topic| {
                // Types are asked for by their names, others also by where they are.
                let text = match TYPE_KINDS.contains(&symbol.kind) {
                    true => symbol.name.clone(),
                    false => {
                        let container = symbol.container.as_deref().unwrap_or_default();
                        format!("{} {} {container}", file.path, symbol.name)
                    }
                };
                topic.coverage(&text) >= SCOPE_COVERAGE_MIN
            })
    }
}

/// Returns whether a word only names what is listed.
fn is_listed_noun(word: &str, listed: Listed) -> bool {
    let words: &[&str] = match listed {
        Listed::Errors => &[
            "errors",
            "error",
            "exceptions",
            "types",
            "return",
            "returned",
            "raise",
            "raised",
            "throw",
            "thrown",
        ],
        Listed::Routes => &[
            "routes",
            "endpoints",
            "urls",
            "http",
            "api",
            "rest",
            "exposed",
            "expose",
            "server",
            "serve",
        ],
        Listed::Settings => &[
            "settings",
            "options",
            "configuration",
            "configurations",
            "config",
            "configured",
            "available",
            "set",
        ],
        Listed::Tests => &["tests", "unit", "test", "cover", "covers", "check", "checks", "verify"],
        Listed::Files | Listed::Symbols(_) => &[],
    };
    const NOUNS: &[&str] = &[
        "structs",
        "enums",
        "traits",
        "types",
        "interfaces",
        "constants",
        "variables",
        "macros",
        "fields",
        "variants",
        "symbols",
        "public",
        "exported",
        "available",
        "every",
        "properties",
        "attributes",
        "members",
        "enumerations",
        "structures",
        "protocols",
        "globals",
    ];
    words.contains(&word) || NOUNS.contains(&word)
}

fn is_listed(symbol: &Symbol, listed: Listed) -> bool {
    let name = symbol.name.to_lowercase();
    let is_type = TYPE_KINDS.contains(&symbol.kind);
    let is_associated = symbol.kind == SymbolKind::TypeAlias && symbol.container.is_some();
    match listed {
        Listed::Symbols(kinds) => kinds.contains(&symbol.kind) && !symbol.is_test && !is_associated,
        Listed::Errors => {
            let is_error =
                name.ends_with("error") || name.ends_with("exception") || name.starts_with("err");
            let is_kind = is_type && !is_associated || symbol.kind == SymbolKind::Variable;
            is_error && is_kind && !symbol.is_test
        }
        Listed::Settings => {
            let is_settings = ["settings", "config", "options", "configuration"]
                .iter()
                .any(|end| name.ends_with(end));
            is_settings && is_type && !name.starts_with("invalid") && !symbol.is_test
        }
        Listed::Tests => {
            symbol.is_test && matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
        }
        Listed::Routes | Listed::Files => false,
    }
}

fn symbols(
    draft: &mut Draft,
    files: &mut Files<'_>,
    scope: &Scope,
    listed: Listed,
) -> Result<(), IndexError> {
    files.open_all(&scope.files)?;
    let mut found: Vec<FoundSymbol> = Vec::new();
    // A file beyond the limits of the parser has more than its outline.
    let mut is_partial = false;
    for id in &scope.files {
        let file = files.open(*id)?;
        is_partial |= file.outline.language.is_some() && !file.outline.is_complete;
        for (position, symbol) in (0_u32..).zip(&file.outline.symbols) {
            if is_listed(symbol, listed)
                && (listed != Listed::Tests || is_test_case(&file, symbol))
                && scope.fits(&file, symbol)
            {
                found.extend(FoundSymbol::new(&file, position));
            }
        }
    }
    let total = Total { count: found.len(), is_partial };
    // The order of the files is that of their importance, and stays.
    found.sort_by_key(|found| Reverse(found.symbol.is_public));
    if scope.within.is_some() || scope.files.len() == 1 {
        found.sort_by_key(|found| found.symbol.name_line);
    }
    let mut names: Vec<String> = Vec::new();
    for symbol in &found {
        if names.len() == LISTED_NAMES_MAX {
            break;
        }
        let Some((support, shown)) = lines_to_show(symbol, &found) else { continue };
        let Some(marker) = draft.cite(&symbol.file, support, shown) else { continue };
        names.push(format!("{} ({}) {marker}", qualified_name(symbol), place(symbol)));
    }
    match &scope.within {
        Some(within) => say_list_within(draft, listed, within, scope, &names, total),
        None => say_list(draft, files, listed, &names, total),
    }
    if let (Some(within), Listed::Settings) = (found.first(), listed) {
        say_fields(draft, within);
    }
    Ok(())
}

/// How many things were found that are listed.
#[derive(Clone, Copy, Debug)]
struct Total {
    count: usize,
    /// Whether there may be more, in files that were not read to their end or at all.
    is_partial: bool,
}

impl Total {
    /// Returns whether there are, or may be, others than those with these names.
    fn is_more_than(self, names: &[String]) -> bool {
        self.is_partial || names.len() < self.count
    }
}

impl Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at_least = if self.is_partial { "at least " } else { "" };
        write!(f, "{at_least}{}", self.count)
    }
}

/// Writes what a symbol contains: another one can have its name.
fn say_list_within(
    draft: &mut Draft,
    listed: Listed,
    within: &FoundSymbol,
    scope: &Scope,
    names: &[String],
    total: Total,
) {
    let name = qualified_name(within);
    draft.about(&name.replace('`', ""));
    let of = format!("{name}, {} in {}", noun(within.symbol.kind), place(within));
    if names.is_empty() {
        return;
    }
    let what = plural(listed);
    draft.say(match total.is_more_than(names) {
        true => format!("{of}, has {total} {what}, among them {}.", joined(names)),
        false => format!("{of}, has these {what}: {}.", joined(names)),
    });
    let others = scope.others;
    if others > 0 {
        let name = name_as_code(&within.symbol.name);
        let at_least = if scope.is_cut { "at least " } else { "" };
        draft.say(format!("The index has {at_least}{others} more with the name {name}."));
    }
    draft.confidence = if others == 0 { 0.9 } else { 0.7 };
}

/// Returns the line of a symbol's name, and lines after it that show it and the next ones.
fn lines_to_show(of: &FoundSymbol, found: &[FoundSymbol]) -> Option<(LineRange, LineRange)> {
    let line = of.symbol.name_line;
    let last = line.saturating_add(SNIPPET_LINES_MAX - 1);
    let next = found
        .iter()
        .filter(|other| other.file.id == of.file.id)
        .map(|other| other.symbol.name_line)
        .filter(|other| (line..=last).contains(other))
        .max();
    let end = next.unwrap_or(line).max(of.symbol.lines.end().min(last));
    Some((LineRange::new(line, line)?, LineRange::new(line, end)?))
}

/// Writes the fields of a type of settings.
fn say_fields(draft: &mut Draft, found: &FoundSymbol) {
    let fields: Vec<String> = found
        .file
        .outline
        .symbols
        .iter()
        .filter(|field| field.parent == Some(found.position) && field.kind == SymbolKind::Field)
        .filter(|field| draft.shows(&found.file, field.name_line))
        .map(|field| name_as_code(&field.name))
        .take(LISTED_NAMES_MAX)
        .collect();
    let line = LineRange::new(found.symbol.name_line, found.symbol.name_line);
    if !fields.is_empty()
        && let Some(marker) = line.and_then(|line| draft.cite(&found.file, line, line))
    {
        draft.say(format!(
            "{} has the fields {} {marker}.",
            qualified_name(found),
            joined(&fields)
        ));
    }
}

fn say_list(
    draft: &mut Draft,
    files: &Files<'_>,
    listed: Listed,
    names: &[String],
    mut total: Total,
) {
    if names.is_empty() {
        return;
    }
    let what = plural(listed);
    total.is_partial |= files.index.files().count() > FILES_READ_MAX;
    draft.say(match (total.is_more_than(names), total.is_partial) {
        (false, _) => format!("These {what} were found: {}.", joined(names)),
        (true, true) => {
            format!("At least {} {what} were found, among them {}.", total.count, joined(names))
        }
        (true, false) => format!("{total} {what} were found, among them {}.", joined(names)),
    });
    draft.confidence = 0.85;
}

/// Returns what is listed, in the plural.
pub(super) fn plural(listed: Listed) -> &'static str {
    match listed {
        Listed::Errors => "types of errors",
        Listed::Routes => "routes",
        Listed::Settings => "types of settings",
        Listed::Tests => "tests",
        Listed::Files => "files",
        Listed::Symbols(kinds) => match kinds {
            [SymbolKind::Function, SymbolKind::Method] => "functions",
            [SymbolKind::Class] => "classes",
            [SymbolKind::Struct] => "structs",
            [SymbolKind::Enum] => "enums",
            [SymbolKind::Variant] => "enum variants",
            [SymbolKind::Trait, SymbolKind::Interface] => "traits and interfaces",
            [SymbolKind::Macro] => "macros",
            [SymbolKind::Constant] => "constants",
            [SymbolKind::Variable] => "variables",
            [SymbolKind::Field] => "fields",
            kinds if kinds == TYPE_KINDS => "types",
            _ => "symbols",
        },
    }
}

fn routes(draft: &mut Draft, files: &mut Files<'_>, scope: &Scope) -> Result<(), IndexError> {
    let mut names = Vec::new();
    let mut total = 0;
    files.open_all(&scope.files)?;
    for id in &scope.files {
        let file = files.open(*id)?;
        if file.outline.language.is_none() {
            continue;
        }
        let is_test = |line| file.innermost(line).is_some_and(|symbol| symbol.symbol.is_test);
        let mut before = "";
        for (number, line) in (1_u32..).zip(file.text.lines()) {
            // A long declaration has its path on the line after its beginning.
            let is_continued = before.ends_with('(');
            let joined =
                if is_continued { format!("{before}{}", line.trim()) } else { String::new() };
            before = line.trim();
            let Some(route) = route(if is_continued { &joined } else { line })
                .filter(|route| !has_marker(&route.path))
            else {
                continue;
            };
            let fits = scope.topic.as_ref().is_none_or(|topic| {
                topic.coverage(&format!("{} {line}", file.path)) >= SCOPE_COVERAGE_MIN
            });
            if !fits || is_test(number) || file.is_secret(number) {
                continue;
            }
            total += 1;
            if names.len() == LISTED_NAMES_MAX {
                continue;
            }
            let end = number.saturating_add(SNIPPET_LINES_MAX - 1);
            let Some((support, shown)) =
                LineRange::new(number, number).zip(LineRange::new(number, end))
            else {
                continue;
            };
            if let Some(marker) = draft.cite(&file, support, shown) {
                let method = route.method.map(|method| format!("{method} ")).unwrap_or_default();
                names.push(format!(
                    "{} ({}) {marker}",
                    code(&format!("{method}{}", route.path)),
                    place_of(&file, number)
                ));
            }
        }
    }
    let total = Total { count: total, is_partial: false };
    say_list(draft, files, Listed::Routes, &names, total);
    Ok(())
}

fn listed_files(draft: &mut Draft, files: &mut Files<'_>, scope: &Scope) -> Result<(), IndexError> {
    let mut names = Vec::new();
    let mut total = 0;
    for id in &scope.files {
        let Some(path) = files.index.entry(*id).map(|entry| entry.path) else { continue };
        if scope.topic.as_ref().is_some_and(|topic| topic.coverage(path) < SCOPE_COVERAGE_MIN) {
            continue;
        }
        total += 1;
        if !draft.has_room() {
            continue;
        }
        let file: Rc<OpenFile> = files.open(*id)?;
        let Some((first, shown)) = LineRange::new(1, 1).zip(LineRange::new(1, 6)) else { continue };
        if let Some(marker) = draft.cite(&file, first, shown) {
            names.push(format!("{} {marker}", code(&without_markers(path))));
        }
    }
    let total = Total { count: total, is_partial: false };
    say_list(draft, files, Listed::Files, &names, total);
    Ok(())
}
