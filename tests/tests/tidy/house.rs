//! How files look: purpose first, small, named for what they own, nothing left open, no dependency for nothing.

use std::path::Path;

use crate::source::{Source, root};

/// Lines of a file without its tests.
const FILE_LINES_MAX: usize = 500;
/// Lines of a file that is all tests.
const TEST_FILE_LINES_MAX: usize = 600;
/// Lines of a handler, first and last included: parse, call, answer.
const HANDLER_LINES_MAX: usize = 20;
/// Names that say nothing about what a file owns.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "manager", "misc"];
/// Words that say that something is not done, split so that this file does not hold them.
const OPEN_WORDS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("Pha", "se "),
];
/// Beginnings of paths that exist on one machine only, split so that this file does not hold them.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(crate) fn opens_with_its_purpose(source: &Source) -> Vec<String> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let says = first.strip_prefix("//! ").is_some_and(|purpose| purpose.len() > 5);
    complain(!says, || format!("{} does not open with `//!` and what it owns", source.path))
}

pub(crate) fn stays_small(source: &Source) -> Vec<String> {
    let (lines, max) = if source.is_test() {
        (source.text.lines().count(), TEST_FILE_LINES_MAX)
    } else {
        (source.shipped().lines().count(), FILE_LINES_MAX)
    };
    complain(lines > max, || format!("{} has {lines} lines, more than {max}", source.path))
}

pub(crate) fn handlers_stay_thin(source: &Source) -> Vec<String> {
    if !source.path.starts_with("server/src/areas/") || source.file_name() != "routes.rs" {
        return Vec::new();
    }
    let text = source.shipped();
    let lines: Vec<&str> = text.lines().collect();
    let mut broken = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some((_, signature)) = line.split_once("async fn ") else { continue };
        let length = 1 + lines.iter().skip(first).take_while(|line| **line != "}").count();
        if length > HANDLER_LINES_MAX {
            let name = signature.split('(').next().unwrap_or_default();
            broken.push(format!(
                "{}: handler {name} has {length} lines, more than {HANDLER_LINES_MAX}",
                source.path
            ));
        }
    }
    broken
}

pub(crate) fn contents_hold_no_logic(source: &Source) -> Vec<String> {
    if source.is_test() || !matches!(source.file_name(), "mod.rs" | "lib.rs") {
        return Vec::new();
    }
    let logic = ["fn ", "impl ", "struct ", "enum ", "trait ", "macro_rules!", "static ", "impl<"];
    let text = source.shipped();
    let found = text.lines().map(|line| line.trim_start_matches("pub ")).find(|line| {
        logic.iter().any(|word| line.starts_with(word))
            || line.starts_with("pub(") && line.contains(" fn ")
    });
    let found = found.unwrap_or_default();
    complain(!found.is_empty(), || {
        format!("{} is a table of contents and holds logic: {found}", source.path)
    })
}

pub(crate) fn names_say_something(source: &Source) -> Vec<String> {
    let mut parts = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
    let empty = parts.any(|part| EMPTY_NAMES.contains(&part));
    complain(empty, || format!("{}: the name does not say what it owns", source.path))
}

pub(crate) fn nothing_left_open(source: &Source) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let open = OPEN_WORDS.iter().any(|word| line.contains(word));
        let silent = line.trim_start().starts_with(concat!("#[ign", "ore]"));
        if open || silent {
            broken.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
        }
    }
    broken
}

/// Dependencies that no source of their crate names, and workspace entries that no crate takes.
pub(crate) fn unused_dependencies(sources: &[Source]) -> Vec<String> {
    let mut broken = Vec::new();
    let mut taken = Vec::new();
    for krate in
        ["engine", "server", "benches", "benches/compare", "tests", "tests/simulation", "fuzz"]
    {
        let folder = format!("{krate}/");
        let own: Vec<&Source> = sources.iter().filter(|s| s.path.starts_with(&folder)).collect();
        for name in dependency_names(&root().join(krate).join("Cargo.toml")) {
            let word = name.replace('-', "_");
            let named = |s: &&&Source| {
                s.text.contains(&format!("{word}::")) || s.text.contains(&format!("use {word}"))
            };
            if own.iter().find(named).is_none() {
                broken.push(format!("{krate}/Cargo.toml: {name} is not used"));
            }
            taken.push(name);
        }
    }
    let workspace = manifest(&root().join("Cargo.toml"));
    for name in names_in(&workspace["workspace"]["dependencies"]) {
        if !taken.contains(&name) {
            broken.push(format!("Cargo.toml: no crate takes {name}"));
        }
    }
    broken
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

/// Texts of the project that name a path of somebody's machine.
pub(crate) fn texts_that_name_a_machine() -> Vec<String> {
    let mut broken = Vec::new();
    look_for_machines(&root(), &mut broken);
    broken
}

fn look_for_machines(folder: &Path, broken: &mut Vec<String>) {
    const SKIPPED: [&str; 5] = ["target", ".git", "data", "corpus", "artifacts"];
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // In a worktree `.git` is a file, which says where the repository is.
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        if path.is_dir() {
            look_for_machines(&path, broken);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let lines = text.lines().filter(|l| MACHINE_PATHS.iter().any(|p| l.contains(p)));
            broken.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
}

fn complain(broken: bool, what: impl FnOnce() -> String) -> Vec<String> {
    if broken { vec![what()] } else { Vec::new() }
}
