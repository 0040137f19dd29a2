//! Which files use which, as far as it is certain.
//!
//! The dependencies of an index are found by names, also by ones such as `len` that other libraries
//! define too. Pages and diagrams state facts, so a dependency counts only if an import names the
//! other file, or if a type or a name of several words is used that only the other file defines.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::areas::repositories::index::{Dependency, FileId, Index, IndexError};
use crate::areas::repositories::source::{FileOutline, ReferenceKind, Symbol, SymbolKind};

/// Letters from which a name of several words is not shared by chance.
const DISTINCTIVE_CHARS_MIN: usize = 8;

/// Names of files that say nothing of their own: they are known by their folder.
const NAMELESS: &[&str] = &["mod", "lib", "main", "index", "__init__"];

/// First parts of imports that are no files of a repository.
const STANDARD: &[&str] = &["std", "core", "alloc"];

/// Returns the dependencies that are certain, by `from`, then `to`.
pub fn certain_dependencies(index: &Index) -> Result<Vec<Dependency>, IndexError> {
    let definers = definers(index)?;
    let mut by_file: BTreeMap<FileId, Vec<Dependency>> = BTreeMap::new();
    for edge in index.dependencies() {
        by_file.entry(edge.from).or_default().push(*edge);
    }
    let modules = files_by_module(index);
    let mut certain = Vec::new();
    for (from, edges) in by_file {
        let outline = index.outline(from)?;
        let path = index.entry(from).ok_or(IndexError::UnknownFile)?.path;
        let mut used = files_used(&outline, &definers);
        used.extend(imported_words(&outline).into_iter().filter_map(|word| {
            let candidates = modules.get(word).map(Vec::as_slice).unwrap_or_default();
            meant_module(path, candidates)
        }));
        certain.extend(edges.into_iter().filter(|edge| used.contains(&edge.to)));
    }
    Ok(certain)
}

/// Returns the files by the names by which imports know them, with their folders.
fn files_by_module(index: &Index) -> HashMap<&str, Vec<(&str, FileId)>> {
    let mut modules: HashMap<&str, Vec<(&str, FileId)>> = HashMap::new();
    for entry in index.files().filter(|entry| entry.language.is_some()) {
        let (folder, _) = entry.path.rsplit_once('/').unwrap_or(("", entry.path));
        modules.entry(module_name(entry.path)).or_default().push((folder, entry.id));
    }
    modules
}

/// Returns which of the files of one module name a file imports: the only one, or the nearest of
/// those in the folders above it.
fn meant_module(importer: &str, candidates: &[(&str, FileId)]) -> Option<FileId> {
    if let [(_, only)] = candidates {
        return Some(*only);
    }
    let is_above = |folder: &str| {
        folder.is_empty() || importer.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let above = candidates.iter().filter(|(folder, _)| is_above(folder));
    above.max_by_key(|(folder, _)| folder.len()).map(|(_, id)| *id)
}

/// Returns the file that defines each name for others; `None` if several do.
fn definers(index: &Index) -> Result<HashMap<String, Option<FileId>>, IndexError> {
    let mut definers: HashMap<String, Option<FileId>> = HashMap::new();
    for entry in index.files().filter(|entry| entry.language.is_some()) {
        for symbol in index.outline(entry.id)?.symbols {
            if is_telling(&symbol) {
                let definer = definers.entry(symbol.name).or_insert(Some(entry.id));
                if *definer != Some(entry.id) {
                    *definer = None;
                }
            }
        }
    }
    Ok(definers)
}

/// Returns whether the name of a symbol says which one is meant, if no other has it.
fn is_telling(symbol: &Symbol) -> bool {
    match symbol.kind {
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Union
        | SymbolKind::Interface
        | SymbolKind::Trait => true,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro | SymbolKind::Constant => {
            is_distinctive(&symbol.name)
        }
        _ => false,
    }
}

/// Returns whether a name has several words, so that others hardly have it by chance.
pub fn is_distinctive(name: &str) -> bool {
    let mut words = 0_usize;
    let mut before = '_';
    for char in name.chars() {
        let begins = before == '_' || char.is_uppercase() && !before.is_uppercase();
        words += usize::from(char != '_' && begins);
        before = char;
    }
    words >= 2 && name.chars().count() >= DISTINCTIVE_CHARS_MIN
}

/// Returns the files that define names which a file uses and only one file defines.
fn files_used(
    outline: &FileOutline,
    definers: &HashMap<String, Option<FileId>>,
) -> HashSet<FileId> {
    let own: HashSet<&str> = outline.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    let used = outline.references.iter().filter(|used| {
        !own.contains(used.name.as_str())
            && (used.kind != ReferenceKind::Call || is_distinctive(&used.name))
    });
    let imported = outline.imports.iter().flat_map(|import| &import.names);
    used.map(|used| &used.name)
        .chain(imported)
        .filter_map(|name| definers.get(name).copied().flatten())
        .collect()
}

/// Returns the parts of the paths of imports, and the names that they bring in.
fn imported_words(outline: &FileOutline) -> HashSet<&str> {
    outline
        .imports
        .iter()
        .filter(|import| {
            let first = import.path.split(SEPARATORS).next().unwrap_or_default();
            !STANDARD.contains(&first)
        })
        .flat_map(|import| {
            let parts = import.path.split(SEPARATORS);
            parts.chain(import.names.iter().map(String::as_str))
        })
        .filter(|part| !part.is_empty())
        .collect()
}

/// What separates the parts of the paths of imports.
const SEPARATORS: [char; 4] = ['/', '.', ':', '\\'];

/// Returns the name by which imports know a file: its own without the ending, or its folder's.
fn module_name(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or_default();
    if NAMELESS.contains(&stem) { folder.rsplit('/').next().unwrap_or_default() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::super::test_index::index_of;
    use super::*;

    #[test]
    fn a_common_name_is_no_dependency() {
        let index = index_of(&[
            (
                "src/list.rs",
                "pub struct List;\nimpl List {\n    pub fn len(&self) -> u8 {\n        0\n    }\n}\n",
            ),
            ("src/other.rs", "pub fn run(text: &str) -> usize {\n    text.len()\n}\n"),
            ("src/user.rs", "use crate::list::List;\npub fn count_all(list: &List) {}\n"),
            ("src/last.rs", "pub fn start() {\n    count_all(3);\n}\n"),
            ("src/a/error.rs", "pub fn report() {}\n"),
            ("src/a/b.rs", "use super::error::report;\npub fn x() {\n    report();\n}\n"),
            ("src/c/error.rs", "pub fn report() {}\n"),
        ]);
        let path = |id| index.entry(id).unwrap().path;
        let edges = certain_dependencies(&index).unwrap();
        let edges: Vec<_> = edges.iter().map(|edge| (path(edge.from), path(edge.to))).collect();
        let expected = [
            ("src/a/b.rs", "src/a/error.rs"),
            ("src/last.rs", "src/user.rs"),
            ("src/user.rs", "src/list.rs"),
        ];
        assert_eq!(edges, expected);
    }
}
