//! Rules about single files (module docs, sizes, names, open-task markers, paths of one
//! machine) and about unused dependencies.

use std::path::Path;

use crate::source::{SourceFile, root};

/// The most lines of a file, its test modules excluded.
const FILE_LINES_MAX: usize = 500;
/// The most lines of a file that consists of tests.
const TEST_FILE_LINES_MAX: usize = 600;
/// The most lines of a handler, first and last included: it parses, calls and responds.
const HANDLER_LINES_MAX: usize = 20;
/// Names too generic to say what a file owns.
const GENERIC_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "manager", "misc"];
/// Markers of unfinished work, split so that this file does not contain them.
const OPEN_TASK_MARKERS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("Pha", "se "),
];
/// Prefixes of paths that exist on one machine only, split so that this file does not contain them.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(crate) fn starts_with_module_docs(source: &SourceFile) -> Vec<String> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_documented = first.strip_prefix("//! ").is_some_and(|purpose| purpose.len() > 5);
    violation_if(!is_documented, || {
        format!("{} does not start with `//!` and what it owns", source.path)
    })
}

pub(crate) fn has_few_lines(source: &SourceFile) -> Vec<String> {
    let (lines, max) = if source.is_test() {
        (source.text.lines().count(), TEST_FILE_LINES_MAX)
    } else {
        (source.without_tests().lines().count(), FILE_LINES_MAX)
    };
    violation_if(lines > max, || format!("{} has {lines} lines, more than {max}", source.path))
}

pub(crate) fn handlers_are_short(source: &SourceFile) -> Vec<String> {
    if !source.path.starts_with("server/src/areas/") || source.file_name() != "routes.rs" {
        return Vec::new();
    }
    let text = source.without_tests();
    let lines: Vec<&str> = text.lines().collect();
    let mut violations = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some((_, signature)) = line.split_once("async fn ") else { continue };
        let length = 1 + lines.iter().skip(first).take_while(|line| **line != "}").count();
        if length > HANDLER_LINES_MAX {
            let name = signature.split('(').next().unwrap_or_default();
            violations.push(format!(
                "{}: handler {name} has {length} lines, more than {HANDLER_LINES_MAX}",
                source.path
            ));
        }
    }
    violations
}

pub(crate) fn module_lists_have_no_logic(source: &SourceFile) -> Vec<String> {
    if source.is_test() || !matches!(source.file_name(), "mod.rs" | "lib.rs") {
        return Vec::new();
    }
    let logic = ["fn ", "impl ", "struct ", "enum ", "trait ", "macro_rules!", "static ", "impl<"];
    let text = source.without_tests();
    let found = text.lines().map(|line| line.trim_start_matches("pub ")).find(|line| {
        logic.iter().any(|word| line.starts_with(word))
            || line.starts_with("pub(") && line.contains(" fn ")
    });
    let found = found.unwrap_or_default();
    violation_if(!found.is_empty(), || {
        format!("{} must only list modules and contains logic: {found}", source.path)
    })
}

/// Files with constants that other files use and that end like a limit, but are none: they are
/// part of a format or of an algorithm, and nobody could change them.
const FORMAT_CONSTANTS: &[&str] = &[
    "engine/src/codec/decimals.rs",
    "engine/src/log/segment.rs",
    "engine/src/sketch/cardinality.rs",
    "engine/src/sketch/distribution.rs",
    "engine/src/sketch/histogram.rs",
    "engine/src/sketch/registers.rs",
    "engine/src/sketch/sum.rs",
    "server/src/platform/decimal.rs",
];

pub(crate) fn limits_are_in_one_file(source: &SourceFile) -> Vec<String> {
    let is_exempt = source.is_test()
        || source.file_name() == "limits.rs"
        || FORMAT_CONSTANTS.contains(&source.path.as_str())
        || !(source.path.starts_with("engine/src/") || source.path.starts_with("server/src/"));
    if is_exempt {
        return Vec::new();
    }
    let text = source.without_tests();
    let is_limit = |line: &&str| {
        let Some((visibility, rest)) = line.split_once("const ") else { return false };
        let name = rest.split(':').next().unwrap_or_default();
        visibility.starts_with("pub")
            && ["_MAX", "_MIN", "_LIMIT"].iter().any(|end| name.ends_with(end))
    };
    let found = text.lines().map(str::trim_start).filter(is_limit);
    found.map(|line| format!("{}: belongs in limits.rs: {line}", source.path)).collect()
}

pub(crate) fn names_are_specific(source: &SourceFile) -> Vec<String> {
    let mut parts = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
    let is_generic = parts.any(|part| GENERIC_NAMES.contains(&part));
    violation_if(is_generic, || format!("{}: the name is too generic", source.path))
}

pub(crate) fn has_no_open_tasks(source: &SourceFile) -> Vec<String> {
    let mut violations = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let has_marker = OPEN_TASK_MARKERS.iter().any(|word| line.contains(word));
        let is_ignored_without_reason = line.trim_start().starts_with(concat!("#[ign", "ore]"));
        if has_marker || is_ignored_without_reason {
            violations.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
        }
    }
    violations
}

/// Lists dependencies that no source file of their crate names, and workspace entries that no crate
/// uses.
pub(crate) fn unused_dependencies(sources: &[SourceFile]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut used = Vec::new();
    for krate in
        ["engine", "server", "benches", "benches/compare", "tests", "tests/simulation", "fuzz"]
    {
        let folder = format!("{krate}/");
        let own: Vec<&SourceFile> =
            sources.iter().filter(|s| s.path.starts_with(&folder)).collect();
        for name in dependency_names(&root().join(krate).join("Cargo.toml")) {
            let word = name.replace('-', "_");
            let named = |s: &&&SourceFile| {
                s.text.contains(&format!("{word}::")) || s.text.contains(&format!("use {word}"))
            };
            if own.iter().find(named).is_none() {
                violations.push(format!("{krate}/Cargo.toml: {name} is not used"));
            }
            used.push(name);
        }
    }
    let workspace = manifest(&root().join("Cargo.toml"));
    for name in names_in(&workspace["workspace"]["dependencies"]) {
        if !used.contains(&name) {
            violations.push(format!("Cargo.toml: no crate uses {name}"));
        }
    }
    violations
}

fn dependency_names(path: &Path) -> Vec<String> {
    let manifest = manifest(path);
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .into_iter()
        .filter_map(|table| manifest.get(table))
        .flat_map(names_in)
        .collect()
}

fn names_in(table: &toml::Value) -> Vec<String> {
    table.as_table().map(|t| t.keys().cloned().collect()).unwrap_or_default()
}

#[track_caller]
fn manifest(path: &Path) -> toml::Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match toml::from_str(&text) {
        Ok(value) => value,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Lists the lines of files of the project that contain a path of a developer's machine.
pub(crate) fn machine_paths() -> Vec<String> {
    let mut violations = Vec::new();
    find_machine_paths(&root(), &mut violations);
    violations
}

fn find_machine_paths(folder: &Path, violations: &mut Vec<String>) {
    const SKIPPED: [&str; 6] = ["target", ".git", "data", "data-demo", "corpus", "artifacts"];
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // In a worktree `.git` is a file with the path of the repository.
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        if path.is_dir() {
            find_machine_paths(&path, violations);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let lines = text.lines().filter(|l| MACHINE_PATHS.iter().any(|p| l.contains(p)));
            violations.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
}

fn violation_if(is_violated: bool, what: impl FnOnce() -> String) -> Vec<String> {
    if is_violated { vec![what()] } else { Vec::new() }
}
