//! Rust source files, parsed as far as the rules need it: which lines are tests, and which paths
//! the code names.

use std::path::{Path, PathBuf};

/// The folders that contain Rust code of the project.
const FOLDERS: [&str; 5] = ["engine", "server", "benches", "tests", "fuzz"];

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// One Rust file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads all Rust files of the project, sorted by path.
pub(crate) fn source_files() -> Vec<SourceFile> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), folder, &mut sources);
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn collect(folder: &Path, relative: &str, sources: &mut Vec<SourceFile>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, relative) = (entry.path(), format!("{relative}/{name}"));
        if path.is_dir() && name != "target" {
            collect(&path, &relative, sources);
        } else if name.ends_with(".rs")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            sources.push(SourceFile { path: relative, text });
        }
    }
}

impl SourceFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns the file name alone.
    pub(crate) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether the whole file consists of tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| ["tests", "tests.rs", "testing.rs"].contains(&part))
    }

    /// Returns the text without its test modules.
    pub(crate) fn without_tests(&self) -> String {
        let mut code = String::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            let is_module = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
            if line == "#[cfg(test)]" && lines.peek().is_some_and(is_module) {
                for inner in lines.by_ref() {
                    if inner == "}" {
                        break;
                    }
                }
            } else {
                code.push_str(line);
                code.push('\n');
            }
        }
        code
    }

    /// Returns the module path of the file within its crate: `areas::metrics::ops`.
    pub(crate) fn module(&self) -> Vec<String> {
        let inside = self.path.split_once("/src/").map_or(self.path.as_str(), |(_, rest)| rest);
        let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
        match parts.pop().as_deref() {
            Some("mod.rs" | "lib.rs" | "main.rs") | None => {}
            Some(file) => parts.push(file.trim_end_matches(".rs").to_owned()),
        }
        parts
    }

    /// Returns every path of two segments or more that the code outside of tests names, with
    /// `super` resolved: `crate::a::b`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let code = without_comments_and_strings(&self.without_tests());
        let mut paths = Vec::new();
        for statement in code.split(';') {
            match statement.find("use ").filter(|at| is_use(statement, *at)) {
                Some(at) => expand("", statement.get(at + 4..).unwrap_or_default(), &mut paths),
                None => paths.extend(inline_paths(statement)),
            }
        }
        paths.iter().map(|path| self.resolve(path)).collect()
    }

    /// Returns whether the file only lists modules and re-exports.
    pub(crate) fn is_table_of_contents(&self) -> bool {
        matches!(self.file_name(), "mod.rs" | "lib.rs")
    }

    /// Returns the names that a table of contents re-exports, each with its path from the root of
    /// the crate.
    pub(crate) fn exports(&self) -> Vec<(String, Vec<String>)> {
        if !self.is_table_of_contents() {
            return Vec::new();
        }
        let code = without_comments_and_strings(&self.without_tests());
        let mut paths = Vec::new();
        for statement in code.split(';').filter(|statement| statement.contains("pub")) {
            if let Some(at) = statement.find("use ").filter(|at| is_use(statement, *at)) {
                expand("", statement.get(at + 4..).unwrap_or_default(), &mut paths);
            }
        }
        let from_root = |path: &String| {
            let resolved = self.resolve(path);
            let parts = resolved.split("::").map(str::to_owned);
            match resolved.strip_prefix("crate::") {
                Some(_) => parts.skip(1).collect(),
                None => self.module().into_iter().chain(parts).collect::<Vec<String>>(),
            }
        };
        paths.iter().map(from_root).filter_map(|path| Some((path.last()?.clone(), path))).collect()
    }

    fn resolve(&self, path: &str) -> String {
        let mut rest = path.trim_start_matches("self::");
        let mut module = self.module();
        if !rest.starts_with("super::") {
            return rest.to_owned();
        }
        while let Some(parent) = rest.strip_prefix("super::") {
            module.pop();
            rest = parent;
        }
        module.insert(0, "crate".to_owned());
        module.push(rest.to_owned());
        module.join("::")
    }
}

/// Returns whether the `use` at this offset starts a declaration and is not the end of another
/// word.
fn is_use(statement: &str, at: usize) -> bool {
    let before = statement.get(..at).unwrap_or_default().trim_end();
    before.is_empty()
        || before.ends_with([']', '}', '{'])
        || before.ends_with("pub")
        || before.ends_with(')')
}

/// Expands a `use` tree into its paths.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let name = tree.split(" as ").next().unwrap_or_default().trim();
        paths.push(format!("{prefix}{name}"));
        return;
    };
    let before = tree.get(..open).unwrap_or_default();
    let inner = tree.get(open + 1..).unwrap_or_default().trim_end().trim_end_matches('}');
    let (mut depth, mut start) = (0_i32, 0);
    let prefix = format!("{prefix}{}", before.trim());
    let mut part = |from: usize, to: usize| {
        let text = inner.get(from..to).unwrap_or_default();
        if !text.trim().is_empty() {
            // The last brace of a nested tree may have been trimmed above.
            let missing = text.matches('{').count()
                - text.matches('}').count().min(text.matches('{').count());
            expand(&prefix, &format!("{text}{}", "}".repeat(missing)), paths);
        }
    };
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                part(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    part(start, inner.len());
}

/// Returns the chains of names joined by `::` in code.
fn inline_paths(code: &str) -> Vec<String> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .filter(|chain| chain.contains("::"))
        .map(|chain| chain.trim_matches(':').to_owned())
        .collect()
}

/// Replaces comments and string literals by spaces.
fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' {
            string_length(rest)
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\''") || rest.starts_with("'\\\"'") {
            4
        } else {
            0
        };
        if skipped == 0 {
            code.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            code.push(' ');
            rest = rest.get(skipped..).unwrap_or_default();
        }
    }
    code
}

/// Returns the length in bytes of the string literal that `rest` starts with.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[test]
fn paths_are_found_in_imports_and_in_code() {
    let text = "
//! use a::comment;
use a::{b, c::{d, e as f}};
pub(crate) use super::g::h;
fn i(x: &'static str) -> j::K { let _ = '\"'; l::m(\"n::o\"); self::p::q() }
#[cfg(test)]
mod tests {
    use r::s;
}
";
    let mut paths = SourceFile::new("engine/src/x/y.rs", text).paths();
    paths.sort();
    let expected = ["a::b", "a::c::d", "a::c::e", "crate::x::g::h", "j::K", "l::m", "p::q"];
    assert_eq!(paths, expected);
}
