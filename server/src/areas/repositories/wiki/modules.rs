//! The modules of a repository: its folders with source files, or in a small repository its files.

use std::collections::{BTreeMap, HashMap};

use super::edges::certain_dependencies;
use super::limits::{FILE_MODULES_MAX, PAGES_MAX};
use crate::areas::repositories::index::{FileId, Index, IndexError};
use crate::areas::repositories::quotes::{locate, sentences};
use crate::areas::repositories::source::LineRange;

/// The modules of a repository, by name.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    modules: Vec<Module>,
    of_file: HashMap<FileId, usize>,
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The path of the folder or file; empty for the root of the repository.
    pub path: String,
    /// The source files, by path; at least one.
    pub files: Vec<FileId>,
    /// The file that says what the module is.
    pub main_file: Option<FileId>,
}

/// What a module says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDoc {
    /// The file that says it.
    pub path: String,
    /// Its sentences, each with the lines on which it is; at least one.
    pub sentences: Vec<(String, LineRange)>,
}

/// The names of files that say what their folder is, the likeliest first.
const MAIN_FILES: &[&str] = &[
    "mod.rs",
    "lib.rs",
    "main.rs",
    "__init__.py",
    "doc.go",
    "package-info.java",
    "index.ts",
    "index.tsx",
    "index.js",
    "main.go",
    "main.py",
    "README.md",
    "readme.md",
    "README.rst",
    "README",
];

/// Returns the modules of a repository.
pub fn modules(index: &Index) -> Modules {
    let sources: Vec<(FileId, &str)> = index
        .files()
        .filter(|entry| entry.language.is_some())
        .map(|entry| (entry.id, entry.path))
        .collect();
    let mut by_path: BTreeMap<&str, Vec<FileId>> = BTreeMap::new();
    for (id, path) in &sources {
        let module = if sources.len() <= FILE_MODULES_MAX { path } else { folder(path) };
        by_path.entry(module).or_default().push(*id);
    }
    join_deepest(&mut by_path, PAGES_MAX - 1);
    let mut modules = Modules::default();
    for (path, files) in by_path {
        for file in &files {
            modules.of_file.insert(*file, modules.modules.len());
        }
        let main_file = main_file(index, path, &files);
        modules.modules.push(Module { path: path.to_owned(), files, main_file });
    }
    modules
}

/// Joins the deepest folders to their parents until there are not too many.
pub(super) fn join_deepest<T>(by_path: &mut BTreeMap<&str, Vec<T>>, modules_max: usize) {
    while by_path.len() > modules_max {
        let depth = |path: &str| path.matches('/').count() + usize::from(!path.is_empty());
        let Some(deepest) = by_path.keys().map(|path| depth(path)).max() else { return };
        if deepest == 0 {
            return;
        }
        let paths: Vec<&str> =
            by_path.keys().copied().filter(|path| depth(path) == deepest).collect();
        for path in paths {
            if let Some(files) = by_path.remove(path) {
                by_path.entry(folder(path)).or_default().extend(files);
            }
        }
    }
}

/// Returns the folder of a path; empty for the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn main_file(index: &Index, path: &str, files: &[FileId]) -> Option<FileId> {
    if let [only] = files {
        return Some(*only);
    }
    let inside = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}/{name}"),
    };
    MAIN_FILES
        .iter()
        .find_map(|name| index.find(&inside(name)))
        // A Rust module `store` can be described in `store.rs` beside its folder.
        .or_else(|| index.find(&format!("{path}.rs")))
}

impl Modules {
    /// Returns the modules, by path.
    pub fn iter(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// Returns the position of the module of a file.
    pub fn position_of(&self, file: FileId) -> Option<usize> {
        self.of_file.get(&file).copied()
    }

    /// Returns a module.
    pub fn get(&self, position: usize) -> Option<&Module> {
        self.modules.get(position)
    }

    /// Returns how much each module uses each other one, by their positions, as far as it is
    /// certain.
    pub fn edges(&self, index: &Index) -> Result<BTreeMap<(usize, usize), f64>, IndexError> {
        let mut edges = BTreeMap::new();
        for edge in certain_dependencies(index)? {
            let ends = self.position_of(edge.from).zip(self.position_of(edge.to));
            if let Some((from, to)) = ends.filter(|(from, to)| from != to) {
                *edges.entry((from, to)).or_insert(0.0) += edge.weight;
            }
        }
        Ok(edges)
    }
}

impl Module {
    /// Returns the path for people: that of the root has a name too.
    pub fn title(&self) -> &str {
        if self.path.is_empty() { "(root)" } else { &self.path }
    }

    /// Returns what the module says of itself.
    pub fn doc(&self, index: &Index) -> Result<Option<ModuleDoc>, IndexError> {
        match self.main_file {
            Some(file) => file_doc(index, file),
            None => Ok(None),
        }
    }
}

/// Returns what a file says of itself: the comment at its beginning, or its text if it is prose.
pub fn file_doc(index: &Index, file: FileId) -> Result<Option<ModuleDoc>, IndexError> {
    let entry = index.entry(file).ok_or(IndexError::UnknownFile)?;
    let text = index.text(file)?;
    let doc = match entry.language {
        Some(_) => index.outline(file)?.doc,
        None => Some(text.clone()),
    };
    let all = LineRange::new(1, entry.lines);
    let Some((doc, all)) = doc.zip(all) else { return Ok(None) };
    let sentences: Vec<(String, LineRange)> = sentences(&doc)
        .into_iter()
        .filter_map(|sentence| {
            let lines = locate(&text, all.start(), &sentence)?;
            Some((sentence, lines))
        })
        .collect();
    Ok((!sentences.is_empty()).then(|| ModuleDoc { path: entry.path.to_owned(), sentences }))
}

/// Returns the README of the repository.
pub fn readme(index: &Index) -> Option<FileId> {
    let mut found: Vec<(usize, FileId)> = index
        .files()
        .filter(|entry| !entry.path.contains('/'))
        .filter_map(|entry| {
            let name = entry.path.to_lowercase();
            let ending = name.strip_prefix("readme")?;
            let order = ["", ".md", ".markdown", ".rst", ".txt", ".adoc"];
            Some((order.iter().position(|known| *known == ending)?, entry.id))
        })
        .collect();
    // Markdown before others.
    found.sort_by_key(|(order, id)| (*order != 1, *order, *id));
    found.first().map(|(_, id)| *id)
}

/// The names of files in which programs and libraries begin.
const ENTRY_FILES: &[&str] = &[
    "main.rs",
    "lib.rs",
    "main.py",
    "__main__.py",
    "app.py",
    "manage.py",
    "main.go",
    "index.js",
    "index.ts",
    "server.js",
    "server.ts",
    "main.ts",
    "main.js",
    "Main.java",
    "main.c",
    "main.cpp",
    "main.cc",
    "main.rb",
];

/// Returns the files in which programs and libraries begin, those near the root first.
pub fn entry_points(index: &Index) -> Vec<FileId> {
    let mut found: Vec<(usize, &str, FileId)> = index
        .files()
        .filter(|entry| {
            let (folder, name) = entry.path.rsplit_once('/').unwrap_or(("", entry.path));
            let parent = folder.rsplit('/').next().unwrap_or_default();
            let is_binary = parent == "bin" && entry.language.is_some();
            (ENTRY_FILES.contains(&name) || is_binary) && !is_test_path(entry.path)
        })
        .map(|entry| (entry.path.matches('/').count(), entry.path, entry.id))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, _, id)| id).collect()
}

/// Returns whether a path is one of tests, examples or benchmarks.
pub fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| {
        ["test", "tests", "testdata", "fixtures", "examples", "benches", "spec", "__tests__"]
            .contains(&part)
    })
}
