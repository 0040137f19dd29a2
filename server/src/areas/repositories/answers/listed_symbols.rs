//! Which symbols a list has: of the whole index from its table of symbols, without a look at the
//! files; of some files from their outlines.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::SYMBOLS_MAX;
use super::question::{Listed, Question, TYPE_KINDS};
use super::subjects::Subject;
use super::topic_words::Topic;
use crate::areas::repositories::index::{FileEntry, FileId, IndexError, SymbolEntry};
use crate::areas::repositories::source::{LineRange, Symbol, SymbolKind, is_test_case};

/// Files that are read for a list over the whole repository, the most important first.
const FILES_READ_MAX: usize = 2_000;
/// The share of a question's other words that a listed thing has: both of two.
const SCOPE_COVERAGE_MIN: f64 = 0.6;
/// Symbols of the whole index that are read, the most important first: some cannot be quoted.
const READ_MAX: usize = 64;
/// Symbols between two looks whether somebody still waits for the answer.
const STOP_CHECK_SYMBOLS: usize = 4_096;

/// Returns the symbols of a list, of long ones the most important, and how many there are.
pub(super) fn listed_symbols(
    files: &mut Files<'_>,
    scope: &Scope,
    listed: Listed,
) -> Result<(Vec<FoundSymbol>, Total), IndexError> {
    match scope.is_everything && !reads_files(listed) {
        true => in_index(files, scope, listed),
        false => in_files(files, scope, listed),
    }
}

fn in_index(
    files: &mut Files<'_>,
    scope: &Scope,
    listed: Listed,
) -> Result<(Vec<FoundSymbol>, Total), IndexError> {
    let index = files.index;
    let entries: HashMap<FileId, FileEntry<'_>> =
        scope.files.iter().filter_map(|file| Some((*file, index.entry(*file)?))).collect();
    let mut found: Vec<SymbolEntry<'_>> = Vec::new();
    for (number, symbol) in index.all_symbols().enumerate() {
        if number % STOP_CHECK_SYMBOLS == 0 {
            index.check_stop()?;
        }
        let of = Named::from(&symbol);
        if is_listed(&of, listed)
            && let Some(file) = entries.get(&symbol.symbol.file)
            && scope.is_about(file.path, &of)
        {
            found.push(symbol);
        }
    }
    let is_partial = entries.values().any(|file| file.language.is_some() && !file.is_complete);
    let total = Total { count: found.len(), is_partial };
    // Ranks are finite and not negative, so that their bits are in their order.
    let order = |symbol: &SymbolEntry<'_>| {
        (!symbol.is_public, Reverse(index.rank(symbol.symbol.file).to_bits()), symbol.symbol)
    };
    if found.len() > READ_MAX {
        found.select_nth_unstable_by_key(READ_MAX, order);
        found.truncate(READ_MAX);
    }
    found.sort_unstable_by_key(order);
    let read = found.iter().map(|symbol| files.symbol(symbol.symbol));
    let read: Vec<Option<FoundSymbol>> = read.collect::<Result<_, _>>()?;
    Ok((read.into_iter().flatten().collect(), total))
}

fn in_files(
    files: &mut Files<'_>,
    scope: &Scope,
    listed: Listed,
) -> Result<(Vec<FoundSymbol>, Total), IndexError> {
    files.open_all(&scope.files)?;
    let mut found: Vec<FoundSymbol> = Vec::new();
    // A file beyond the limits of the parser has more than its outline.
    let mut is_partial = scope.is_cut;
    for id in &scope.files {
        let file = files.open(*id)?;
        is_partial |= file.outline.language.is_some() && !file.outline.is_complete;
        for (position, symbol) in (0_u32..).zip(&file.outline.symbols) {
            let of = Named::of(&file, symbol);
            if is_listed(&of, listed) && scope.contains(symbol) && scope.is_about(&file.path, &of) {
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
    Ok((found, total))
}

/// Where listed things are looked for.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The most important first.
    pub(super) files: Vec<FileId>,
    /// Whether these are all files, of one language if the question names it.
    is_everything: bool,
    /// Whether there are more files, which are not read.
    pub(super) is_cut: bool,
    /// The symbol that contains them.
    pub(super) within: Option<FoundSymbol>,
    /// How many others of its kind have its name, and whether more were not looked at.
    pub(super) others: usize,
    pub(super) are_others_cut: bool,
    /// The other words of the question, some of which their names or paths contain.
    topic: Option<Topic>,
}

impl Scope {
    /// Returns where a question looks for what it lists; `subject` is what that belongs to.
    pub(super) fn new(
        files: &Files<'_>,
        question: &Question,
        listed: Listed,
        subject: Option<&Subject>,
    ) -> Self {
        match subject {
            Some(Subject::File(file, _)) => Self { files: vec![file.id], ..Self::default() },
            Some(Subject::Folder(_, inside)) => Self { files: inside.clone(), ..Self::default() },
            Some(Subject::Symbols(found)) => Self::within(found, listed),
            _ => Self::everything(files, question, listed),
        }
    }

    fn within(found: &[FoundSymbol], listed: Listed) -> Self {
        // A function or another type of the name has no variants.
        let fits = |found: &&FoundSymbol| match listed {
            Listed::Symbols([SymbolKind::Variant]) => found.symbol.kind == SymbolKind::Enum,
            Listed::Symbols([SymbolKind::Field]) => TYPE_KINDS.contains(&found.symbol.kind),
            _ => true,
        };
        let first = found.iter().find(fits).or(found.first()).cloned();
        Self {
            files: first.iter().map(|first| first.file.id).collect(),
            within: first,
            others: found.iter().filter(fits).count().saturating_sub(1),
            are_others_cut: found.len() >= SYMBOLS_MAX,
            ..Self::default()
        }
    }

    fn everything(files: &Files<'_>, question: &Question, listed: Listed) -> Self {
        let mut all: Vec<FileId> = files
            .index
            .files()
            .filter(|entry| {
                question.language.is_none_or(|language| entry.language == Some(language))
            })
            .map(|entry| entry.id)
            .collect();
        all.sort_by(|left, right| files.index.rank(*right).total_cmp(&files.index.rank(*left)));
        let is_cut = reads_files(listed) && all.len() > FILES_READ_MAX;
        if is_cut {
            all.truncate(FILES_READ_MAX);
        }
        let words: Vec<String> =
            question.topic.iter().filter(|word| !is_listed_noun(word, listed)).cloned().collect();
        let topic = (!words.is_empty()).then(|| Topic::new(&words));
        Self { files: all, is_everything: true, is_cut, topic, ..Self::default() }
    }

    /// Returns whether a symbol of a file is in what the list belongs to.
    fn contains(&self, symbol: &Symbol) -> bool {
        self.within.as_ref().is_none_or(|within| {
            if matches!(symbol.kind, SymbolKind::Variant | SymbolKind::Field) {
                return symbol.parent == Some(within.position);
            }
            within.symbol.lines.contains(symbol.name_line)
                || symbol.container.as_deref() == Some(within.symbol.name.as_str())
        })
    }

    /// Returns whether a symbol is about the topic: types are asked for by their names, others also
    /// by where they are.
    fn is_about(&self, path: &str, of: &Named<'_>) -> bool {
        if self.topic.is_none() {
            return true;
        }
        match TYPE_KINDS.contains(&of.kind) {
            true => self.has_topic(of.name),
            false => {
                self.has_topic(&format!("{path} {} {}", of.name, of.container.unwrap_or_default()))
            }
        }
    }

    /// Returns whether a text has most words of the topic, if there is one.
    pub(super) fn has_topic(&self, text: &str) -> bool {
        self.topic.as_ref().is_none_or(|topic| topic.coverage(text) >= SCOPE_COVERAGE_MIN)
    }
}

/// Returns whether a list is made from the text of files.
fn reads_files(listed: Listed) -> bool {
    listed == Listed::Routes
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

/// What a list needs to know of a symbol.
struct Named<'a> {
    name: &'a str,
    kind: SymbolKind,
    container: Option<&'a str>,
    is_test: bool,
    is_test_case: bool,
}

impl<'a> Named<'a> {
    fn of(file: &OpenFile, symbol: &'a Symbol) -> Self {
        let Symbol { name, kind, container, is_test, .. } = symbol;
        let head = LineRange::new(symbol.lines.start(), symbol.name_line);
        let head = head.map_or("", |head| file.text_of(head));
        let is_test_case = is_test_case(file.outline.language, symbol, head);
        let container = container.as_deref();
        Self { name, kind: *kind, container, is_test: *is_test, is_test_case }
    }
}

impl<'a> From<&SymbolEntry<'a>> for Named<'a> {
    fn from(entry: &SymbolEntry<'a>) -> Self {
        let SymbolEntry { name, kind, container, is_test, is_test_case, .. } = *entry;
        Self { name, kind, container, is_test, is_test_case }
    }
}

fn is_listed(symbol: &Named<'_>, listed: Listed) -> bool {
    let is_type = TYPE_KINDS.contains(&symbol.kind);
    let is_associated = symbol.kind == SymbolKind::TypeAlias && symbol.container.is_some();
    match listed {
        Listed::Symbols(kinds) => kinds.contains(&symbol.kind) && !symbol.is_test && !is_associated,
        Listed::Errors => {
            let is_kind = is_type && !is_associated || symbol.kind == SymbolKind::Variable;
            is_kind && !symbol.is_test && is_name_of_error(symbol.name)
        }
        Listed::Settings => is_type && !symbol.is_test && is_name_of_settings(symbol.name),
        Listed::Tests => symbol.is_test_case,
        Listed::Routes | Listed::Files => false,
    }
}

fn is_name_of_error(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("error") || name.ends_with("exception") || name.starts_with("err")
}

fn is_name_of_settings(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_settings =
        ["settings", "config", "options", "configuration"].iter().any(|end| name.ends_with(end));
    is_settings && !name.starts_with("invalid")
}

/// How many things were found that are listed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    pub(super) count: usize,
    /// Whether there may be more, in files that were not read to their end or at all.
    pub(super) is_partial: bool,
}

impl Total {
    /// Returns whether there are, or may be, others than those with these names.
    pub(super) fn is_more_than(self, names: &[String]) -> bool {
        self.is_partial || names.len() < self.count
    }
}
