//! What code uses that is defined elsewhere: imports, and functions of the same file.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::super::limits::{DEPENDENCIES_MAX, NODES_MAX};
use super::super::statements::touches;
use super::super::syntax::Text;
use super::subject::{Subject, is_function};
use crate::areas::repositories::source::{
    FileOutline, Import, Language, LineRange, ReferenceKind, Symbol,
};

/// Returns what lines of a file use that is defined elsewhere; of a file, its imports.
pub(super) fn dependencies(
    outline: &FileOutline,
    language: Language,
    subject: Subject<'_>,
    root: Node<'_>,
    text: Text<'_>,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    let Some(lines) = subject.lines() else {
        for import in &outline.imports {
            found.extend(named(import, language, |_| true));
            if import.names.is_empty() {
                found.insert(import.path.clone());
            }
        }
        return bounded(found);
    };
    let used = identifiers(root, text, lines);
    let import_lines = import_lines(outline, text);
    let aliases = aliases(&import_lines);
    let mut imported: BTreeSet<&str> = BTreeSet::new();
    let is_used = |name: &str| {
        used.contains(name) || aliases.get(name).is_some_and(|alias| used.contains(alias))
    };
    for import in &outline.imports {
        if lines.contains(import.line) {
            continue;
        }
        let names = import.names.iter().map(String::as_str).filter(|name| is_used(name));
        imported.extend(names);
        found.extend(named(import, language, is_used));
        if import.names.is_empty() {
            let line = import_lines.get(&import.line).copied().unwrap_or_default();
            let own = module_names(&import.path, line, language);
            if own.iter().any(|name| is_used(name)) {
                found.insert(import.path.clone());
            }
            imported.extend(own);
        }
    }
    for symbol in &outline.symbols {
        let is_own = match subject {
            Subject::Symbol(of) | Subject::Part(of, _) => {
                of.container.as_deref() == Some(symbol.name.as_str())
            }
            _ => false,
        };
        let is_named = !is_function(symbol)
            && symbol.parent.is_none()
            && used.contains(symbol.name.as_str())
            && !lines.contains(symbol.name_line)
            && !import_lines.contains_key(&symbol.name_line);
        if is_named && !is_own && !imported.contains(symbol.name.as_str()) {
            found.insert(format!("{} (line {})", symbol.name, symbol.name_line));
        }
    }
    for reference in &outline.references {
        if reference.kind == ReferenceKind::Call
            && lines.contains(reference.line)
            && !imported.contains(reference.name.as_str())
            && let Some(function) = defined(outline, &reference.name, lines, subject)
        {
            found.insert(in_this_file(function, language));
        }
    }
    bounded(found)
}

fn bounded(found: BTreeSet<String>) -> Vec<String> {
    found.into_iter().filter(|name| !name.is_empty()).take(DEPENDENCIES_MAX).collect()
}

/// Returns the imported names that are wanted, each with the path that it comes from.
fn named(import: &Import, language: Language, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let path = import.path.as_str();
    let name = |name: &String| match language {
        // `use std::fmt::{self}` is the module.
        Language::Rust if name == "self" => path.to_owned(),
        Language::Rust | Language::C | Language::Cpp => format!("{path}::{name}"),
        Language::Python if path.ends_with('.') => format!("{path}{name}"),
        Language::Python | Language::Java => format!("{path}.{name}"),
        _ => format!("{name} from {path}"),
    };
    import.names.iter().filter(|name| is_wanted(name)).map(name).collect()
}

/// Returns the names by which code uses a module that is imported as a whole.
fn module_names<'a>(path: &'a str, line: &'a str, language: Language) -> Vec<&'a str> {
    let is_ecmascript =
        matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
    let bound = match is_ecmascript {
        true => line.split_once(" from ").or_else(|| line.split_once('=')),
        false => None,
    };
    let Some((bound, _)) = bound else { return vec![own_name(path)] };
    bound
        .split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '$'))
        .filter(|word| !matches!(*word, "" | "const" | "let" | "var" | "import" | "type" | "as"))
        .collect()
}

/// Returns the name by which code uses a module.
fn own_name(path: &str) -> &str {
    let last = path.rsplit(['/', ':', '.']).next().unwrap_or(path);
    // `a.b.c` is used by its first name in Python, `net/http` by its last one in Go.
    match path.contains(['/', ':']) {
        true => last,
        false => path.split('.').next().unwrap_or(path),
    }
}

/// Returns the lines with imports.
fn import_lines<'a>(outline: &FileOutline, text: Text<'a>) -> BTreeMap<u32, &'a str> {
    let lines: BTreeSet<u32> = outline.imports.iter().map(|import| import.line).collect();
    let all = text.0.lines().zip(1u32..).map(|(line, number)| (number, line));
    all.filter(|(number, _)| lines.contains(number)).collect()
}

/// Returns the names that imports give to what they bring in: `use a::B as C`, `import x as y`.
fn aliases<'a>(import_lines: &BTreeMap<u32, &'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut aliases = BTreeMap::new();
    for line in import_lines.values() {
        let words = line.split(|char: char| char.is_whitespace() || ",{};".contains(char));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        for window in words.windows(3) {
            if let [name, "as", alias] = window {
                aliases.insert(own_name(name), *alias);
                let last = name.rsplit([':', '.', '/']).next().unwrap_or(name);
                aliases.insert(last, *alias);
            }
        }
    }
    aliases
}

/// Returns a function of the file that is called by a name and is not part of the lines.
fn defined<'o>(
    outline: &'o FileOutline,
    name: &str,
    lines: LineRange,
    subject: Subject<'_>,
) -> Option<&'o Symbol> {
    let is_outside = |symbol: &Symbol| match subject {
        Subject::Part(of, _) => !std::ptr::eq(of, symbol) && !lines.contains(symbol.name_line),
        _ => !lines.contains(symbol.name_line),
    };
    let mut named = outline.symbols.iter().filter(|symbol| symbol.name == name);
    let first = named.next()?;
    // A name that several have could be any of them.
    let is_single = named.next().is_none();
    (is_single && is_function(first) && is_outside(first)).then_some(first)
}

fn in_this_file(function: &Symbol, language: Language) -> String {
    let name = match (&function.container, language) {
        (Some(of), Language::Rust | Language::Cpp) => format!("{of}::{}", function.name),
        (Some(of), _) => format!("{of}.{}", function.name),
        (None, _) => function.name.clone(),
    };
    format!("{name} (line {})", function.name_line)
}

/// Returns the identifiers in lines, without those in comments and strings.
pub(super) fn identifiers<'a>(
    root: Node<'_>,
    text: Text<'a>,
    lines: LineRange,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut cursor = root.walk();
    for _ in 0..NODES_MAX {
        let node = cursor.node();
        let is_inside = touches(node, lines);
        if is_inside && node.child_count() == 0 && is_identifier(node) {
            found.insert(text.of(node));
        }
        if is_inside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
    found
}

fn is_identifier(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("identifier") && kind != "property_identifier" || kind == "constant"
}
