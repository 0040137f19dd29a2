//! The summary: what the code is, what its documentation says, what it calls.

use super::super::docs::{doc_sections, is_licence};
use super::super::excerpt::{capitalised, code, listed, sentence};
use super::super::limits::SUMMARY_NAMES_MAX;
use super::members::defined_names;
use super::subject::{Subject, is_function, is_type};
use super::wording::{beginning, full_name, lines_in_words, noun, role, sections, with_article};
use crate::areas::repositories::source::{
    FileOutline, Language, LineRange, ReferenceKind, Symbol, SymbolKind,
};

/// Names of functions that say nothing of what a function is for: they convert, wrap and iterate.
const COMMON_CALLS: [&str; 82] = [
    "Box",
    "Err",
    "None",
    "Number",
    "Ok",
    "Some",
    "String",
    "and_then",
    "any",
    "all",
    "append",
    "as_bytes",
    "as_deref",
    "as_mut",
    "as_ref",
    "as_str",
    "chain",
    "clone",
    "cloned",
    "collect",
    "contains",
    "contains_key",
    "copied",
    "default",
    "each",
    "empty?",
    "entry",
    "enumerate",
    "expect",
    "extend",
    "filter",
    "filter_map",
    "find",
    "first",
    "flat_map",
    "flatten",
    "forEach",
    "format",
    "from",
    "get",
    "get_mut",
    "includes",
    "insert",
    "int",
    "into",
    "into_iter",
    "is_empty",
    "isinstance",
    "iter",
    "iter_mut",
    "join",
    "keys",
    "last",
    "len",
    "list",
    "make",
    "map",
    "map_err",
    "max",
    "min",
    "new",
    "next",
    "next_back",
    "nil?",
    "ok",
    "or_default",
    "print",
    "push",
    "range",
    "rev",
    "skip",
    "sorted",
    "str",
    "super",
    "take",
    "to_owned",
    "to_string",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "values",
    "vec",
];

/// Writes the summary of a file or of lines.
pub(super) fn summary(
    path: &str,
    text: &str,
    outline: &FileOutline,
    language: Language,
    subject: Subject<'_>,
) -> String {
    let mut sentences = match subject {
        Subject::File => of_file(path, text, outline, language),
        Subject::Symbol(symbol) => of_symbol(outline, language, symbol),
        Subject::Part(symbol, lines) => {
            let of = format!("{} are part of {}.", lines_in_words(lines), full_name(symbol));
            let of = match lines.count() {
                1 => of.replacen(" are part", " is part", 1),
                _ => of,
            };
            let described = beginning(&sections(language, symbol));
            let described = described.map(|text| format!("Of the {}: {text}", noun(symbol.kind)));
            [Some(capitalised(&of)), described].into_iter().flatten().collect()
        }
        Subject::Lines(lines) => of_lines(outline, lines),
    };
    let lines = subject.lines();
    let is_executed = match subject {
        Subject::File => false,
        Subject::Symbol(symbol) => !is_type(symbol),
        Subject::Part(..) | Subject::Lines(_) => true,
    };
    if is_executed && let Some(calls) = calls(outline, lines) {
        let (it, verb) = match subject {
            Subject::Lines(of) | Subject::Part(_, of) if of.count() == 1 => ("It", "calls"),
            Subject::Lines(_) | Subject::Part(..) => ("They", "call"),
            _ => ("It", "calls"),
        };
        sentences.push(format!("{it} {verb} {calls}."));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

fn of_file(path: &str, text: &str, outline: &FileOutline, language: Language) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let line_count = text.lines().count();
    let plural = if line_count == 1 { "line" } else { "lines" };
    let kind = with_article(&format!("{} file", language_name(language)));
    let mut sentences = vec![format!("{name} is {kind} of {line_count} {plural}.")];
    if let Some(doc) = outline.doc.as_deref().filter(|doc| !is_licence(doc)) {
        sentences.extend(beginning(&doc_sections(language, doc)));
    }
    let defined = defined_names(outline, None);
    sentences.push(match defined.as_str() {
        "" if line_count == 0 => "It is empty.".to_owned(),
        "" => "It defines nothing.".to_owned(),
        defined => format!("It defines {defined}."),
    });
    let functions = outline.symbols.iter().filter(|symbol| is_function(symbol));
    let (tests, others): (Vec<_>, Vec<_>) = functions.partition(|symbol| symbol.is_test);
    match (tests.len(), others.is_empty()) {
        (0, _) => {}
        (_, true) => sentences.push("It is test code.".to_owned()),
        (1, false) => sentences.push("One more function in it is test code.".to_owned()),
        (count, false) => sentences.push(format!("{count} of its functions are test code.")),
    }
    if !outline.is_complete {
        sentences.push("It is too large to be read to its end.".to_owned());
    }
    sentences
}

/// Returns the name of a language, as its users write it.
pub(super) fn language_name(language: Language) -> &'static str {
    match language {
        Language::Rust => "Rust",
        Language::Python => "Python",
        Language::JavaScript => "JavaScript",
        Language::TypeScript | Language::Tsx => "TypeScript",
        Language::Go => "Go",
        Language::Ruby => "Ruby",
        Language::Java => "Java",
        Language::C => "C",
        Language::Cpp => "C++",
    }
}

fn of_symbol(outline: &FileOutline, language: Language, symbol: &Symbol) -> Vec<String> {
    let name = code(&symbol.name);
    let of = symbol.container.as_deref().map(|of| format!(" of {}", code(of)));
    let of = of.unwrap_or_default();
    let what = match role(symbol) {
        "constructor" => "the constructor".to_owned(),
        role => with_article(role),
    };
    let place = if symbol.is_test { ", in test code" } else { "" };
    let mut sentences = vec![format!("{name} is {what}{of}{place}.")];
    sentences.extend(beginning(&sections(language, symbol)));
    if is_type(symbol) {
        sentences.extend(members(outline, symbol));
    }
    if let Some(returns) = symbol.returns.as_deref().filter(|returns| !returns.is_empty()) {
        sentences.push(format!("It returns {}.", code(returns)));
    }
    sentences
}

/// Returns how many members of each kind a type has.
fn members(outline: &FileOutline, of: &Symbol) -> Option<String> {
    let position = super::members::position(outline, of);
    let members: Vec<&Symbol> =
        outline.symbols.iter().filter(|symbol| symbol.parent == position).collect();
    let mut kinds: Vec<SymbolKind> = Vec::new();
    for member in &members {
        if !kinds.contains(&member.kind) {
            kinds.push(member.kind);
        }
    }
    let counts: Vec<String> = kinds
        .into_iter()
        .map(|kind| {
            let count = members.iter().filter(|member| member.kind == kind).count();
            match (count, noun(kind)) {
                (1, noun) => format!("1 {noun}"),
                (_, "class") => format!("{count} classes"),
                (_, noun) => format!("{count} {noun}s"),
            }
        })
        .collect();
    (!counts.is_empty()).then(|| format!("It has {}.", listed(&counts, SUMMARY_NAMES_MAX, "and")))
}

fn of_lines(outline: &FileOutline, lines: LineRange) -> Vec<String> {
    let verb = |one: &'static str, many: &'static str| if lines.count() == 1 { one } else { many };
    let words = capitalised(&lines_in_words(lines));
    let around =
        outline.symbols.iter().rev().find(|symbol| {
            symbol.lines.start() <= lines.start() && lines.end() <= symbol.lines.end()
        });
    let defined = defined_names(outline, Some(lines));
    let imports = outline.imports.iter().filter(|import| lines.contains(import.line)).count();
    let mut does = Vec::new();
    if let Some(around) = around {
        does.push(format!("{} part of {}", verb("is", "are"), full_name(around)));
    }
    if !defined.is_empty() {
        does.push(format!("{} {defined}", verb("defines", "define")));
    }
    if imports > 0 {
        let plural = if imports == 1 { "module" } else { "modules" };
        does.push(format!("{} from {imports} {plural}", verb("imports", "import")));
    }
    if does.is_empty() {
        does.push(format!("{} outside of any definition", verb("is", "are")));
    }
    vec![sentence(&format!("{words} {}", listed(&does, does.len(), "and")))]
}

/// Returns the names of what is called in lines.
fn calls(outline: &FileOutline, lines: Option<LineRange>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for reference in &outline.references {
        let name = code(&reference.name);
        let is_call = reference.kind == ReferenceKind::Call
            && lines.is_none_or(|lines| lines.contains(reference.line))
            && !COMMON_CALLS.contains(&reference.name.as_str());
        if is_call && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| listed(&names, SUMMARY_NAMES_MAX, "and"))
}
