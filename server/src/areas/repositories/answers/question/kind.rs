//! What a question asks for, by its verbs and nouns.

use super::super::words::is_stop_word;
use super::model::{Listed, QuestionKind};
use crate::areas::repositories::source::SymbolKind;

/// Nouns of what can be listed, in lower case.
const LISTED: &[(&[&str], Listed)] = &[
    (
        &["functions", "methods", "procedures"],
        Listed::Symbols(&[SymbolKind::Function, SymbolKind::Method]),
    ),
    (&["classes"], Listed::Symbols(&[SymbolKind::Class])),
    (&["structs", "structures"], Listed::Symbols(&[SymbolKind::Struct])),
    (&["enums", "enumerations"], Listed::Symbols(&[SymbolKind::Enum])),
    (&["variants"], Listed::Symbols(&[SymbolKind::Variant])),
    (
        &["traits", "interfaces", "protocols"],
        Listed::Symbols(&[SymbolKind::Trait, SymbolKind::Interface]),
    ),
    (&["types"], Listed::Symbols(TYPE_KINDS)),
    (&["macros"], Listed::Symbols(&[SymbolKind::Macro])),
    (&["constants", "limits"], Listed::Symbols(&[SymbolKind::Constant])),
    (&["variables", "globals"], Listed::Symbols(&[SymbolKind::Variable])),
    (&["fields", "properties", "attributes", "members"], Listed::Symbols(&[SymbolKind::Field])),
    (&["errors", "exceptions"], Listed::Errors),
    (&["routes", "endpoints", "urls"], Listed::Routes),
    (&["settings", "options", "configurations", "configuration"], Listed::Settings),
    (&["tests"], Listed::Tests),
    (&["files"], Listed::Files),
    (&["symbols"], Listed::Symbols(TOP_KINDS)),
];

/// Returns whether a word, in lower case, is a noun of what can be listed.
pub(super) fn is_listed_noun(word: &str) -> bool {
    LISTED.iter().any(|(nouns, _)| nouns.contains(&word))
}

/// The kinds of types.
pub(in super::super) const TYPE_KINDS: &[SymbolKind] = &[
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Union,
    SymbolKind::Interface,
    SymbolKind::Trait,
    SymbolKind::TypeAlias,
];

/// The kinds that stand for themselves: no fields, variants and variables.
const TOP_KINDS: &[SymbolKind] = &[
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Union,
    SymbolKind::Interface,
    SymbolKind::Trait,
    SymbolKind::TypeAlias,
    SymbolKind::Macro,
    SymbolKind::Constant,
];

/// Words for the whole repository.
pub(super) const WHOLE: &[&str] = &[
    "repo",
    "repository",
    "project",
    "library",
    "crate",
    "codebase",
    "package",
    "app",
    "application",
    "service",
    "program",
    "tool",
    "code",
    "framework",
    "software",
];

/// Returns what a question asks for. `has_mention` says whether a name is written as code in it.
pub(super) fn kind(words: &[String], has_mention: bool) -> QuestionKind {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let first = words
        .iter()
        .find(|word| !["and", "so", "but", "ok", "then", "please", "hi", "hey"].contains(word));
    let first = first.copied().unwrap_or_default();
    if is_overview(&words, has_mention) {
        return QuestionKind::Overview;
    }
    if first == "why" || has(&["reason", "rationale"]) || has(&["come"]) && first == "how" {
        return QuestionKind::Reason;
    }
    let asks_which =
        ["which", "what", "list", "show", "name", "enumerate", "give", "where"].contains(&first);
    let auxiliary = words
        .iter()
        .position(|word| ["does", "do", "is", "are", "did", "can", "could"].contains(word));
    let verb_is_last = |verbs: &[&str]| {
        // In `what does X call` the subject comes before the verb.
        let verb = words.iter().position(|word| verbs.contains(word));
        matches!((auxiliary, verb), (Some(auxiliary), Some(verb)) if auxiliary + 1 < verb)
    };
    if asks_which && verb_is_last(&["implement", "extend", "inherit", "derive", "subclass"]) {
        return QuestionKind::Bases;
    }
    if has(&[
        "implements",
        "extends",
        "inherits",
        "inherit",
        "subclasses",
        "subclass",
        "implementations",
        "implementors",
        "implementers",
    ]) || asks_which && has(&["implement", "extend", "derive", "derives"])
    {
        return QuestionKind::Implementations;
    }
    if verb_is_last(&["call", "invoke", "import", "depend", "use", "need", "require"]) && asks_which
        || has(&["dependencies", "imports"]) && !has(&["who"])
    {
        return QuestionKind::Dependencies;
    }
    let is_use = has(&[
        "calls",
        "callers",
        "caller",
        "called",
        "usages",
        "usage",
        "invokes",
        "invoked",
        "imports",
        "imported",
        "referenced",
        "references",
        "uses",
    ]) || has(&["used", "using", "use", "call", "depends", "depend"])
        && (first == "who" || first == "where" || asks_which);
    let is_use_of = !(has(&["used"]) && has(&["for", "to"]));
    if is_use && is_use_of && !(first == "how" && has(&["called", "use"])) {
        return QuestionKind::Callers;
    }
    subjectless(&words, first, asks_which, has_mention)
}

/// Returns what a question asks for that is not about uses.
fn subjectless(words: &[&str], first: &str, asks_which: bool, has_mention: bool) -> QuestionKind {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    if let Some(listed) = listed(words, asks_which) {
        return QuestionKind::List(listed);
    }
    if ["where", "find", "locate"].contains(&first) || has(&["defined", "declared", "definition"]) {
        return QuestionKind::Definition;
    }
    let is_description = ["what", "what's", "whats", "explain", "describe", "tell", "show"]
        .contains(&first)
        || has(&["purpose", "signature", "parameters", "arguments"])
        || first == "how" && has_mention;
    if is_description { QuestionKind::Description } else { QuestionKind::Topic }
}

/// Returns what is listed: its noun comes within the first words, before what belongs to a topic.
fn listed(words: &[&str], asks_which: bool) -> Option<Listed> {
    let is_count = words.first() == Some(&"how") && words.get(1) == Some(&"many");
    if !asks_which && !is_count {
        return None;
    }
    let skipped = [
        "which",
        "what",
        "list",
        "show",
        "name",
        "enumerate",
        "give",
        "me",
        "are",
        "the",
        "all",
        "of",
        "public",
        "available",
        "every",
        "http",
        "api",
        "rest",
        "how",
        "many",
        "main",
        "different",
        "possible",
        "unit",
        "error",
        "config",
    ];
    let noun = words.iter().take(8).find(|word| !skipped.contains(word))?;
    if let Some((_, listed)) = LISTED.iter().find(|(nouns, _)| nouns.contains(noun)) {
        return Some(*listed);
    }
    // `What transports are there?` asks for the types of that name.
    let is_plural = noun.len() > 3 && noun.ends_with('s') && !noun.ends_with("ss");
    let asks_what_exists = words.ends_with(&["are", "there"]) || words.ends_with(&["exist"]);
    (is_plural && asks_what_exists).then_some(Listed::Symbols(TYPE_KINDS))
}

fn is_overview(words: &[&str], has_mention: bool) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    if has_mention {
        return false;
    }
    const THIS: &[&str] = &["this", "the", "your", "our", "that"];
    let is_about_whole = words
        .windows(2)
        .any(|pair| matches!(pair, [of, whole] if THIS.contains(of) && WHOLE.contains(whole)));
    let asks = words.first().is_some_and(|first| {
        [
            "what",
            "what's",
            "whats",
            "describe",
            "explain",
            "summarize",
            "summarise",
            "tell",
            "how",
            "give",
        ]
        .contains(first)
    });
    let others = words.iter().filter(|word| !is_stop_word(word) && !WHOLE.contains(word)).count();
    let is_structure = has(&[
        "overview",
        "architecture",
        "organised",
        "organized",
        "structured",
        "structure",
        "summary",
        "summarize",
        "summarise",
    ]);
    let is_start = has(&["start", "begin", "entry"])
        && has(&["reading", "point", "points", "where", "newcomer"]);
    asks && is_about_whole && others == 0
        || is_structure && (is_about_whole || others <= 1)
        || is_start && others <= 2
        || words == ["what", "is", "this"]
        || words == ["what", "does", "this", "do"]
}
