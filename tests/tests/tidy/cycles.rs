//! Folders do not import each other in circles, at any depth of the tree.
//!
//! An import is attributed to the folder that defines the name, also where a table of contents
//! re-exports it. Files of one folder may import each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;

/// The folders of one crate and the imports between them.
pub(crate) struct Folders {
    /// The files of the crate by module path, `metrics::head::run`.
    files: BTreeMap<Vec<String>, usize>,
    /// What tables of contents re-export: module path with the name, and the path it stands for.
    exports: BTreeMap<Vec<String>, Vec<String>>,
}

impl Folders {
    /// Returns the folders of a crate whose sources begin with `root`, such as `engine/src/`.
    pub(crate) fn of(sources: &[SourceFile], root: &str) -> Self {
        let mut folders = Self { files: BTreeMap::new(), exports: BTreeMap::new() };
        for (index, source) in sources.iter().enumerate().filter(|(_, s)| s.path.starts_with(root))
        {
            folders.files.insert(source.module(), index);
            for (name, path) in source.exports() {
                let mut exported = source.module();
                exported.push(name);
                folders.exports.insert(exported, path);
            }
        }
        folders
    }

    /// Returns a complaint for each circle of folders that have the same parent.
    pub(crate) fn circles(&self, sources: &[SourceFile]) -> Vec<String> {
        let mut imports: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> =
            BTreeMap::new();
        for (module, index) in &self.files {
            let Some(source) = sources.get(*index).filter(|s| !s.is_table_of_contents()) else {
                continue;
            };
            if source.is_test() || source.path.ends_with("_tests.rs") {
                continue;
            }
            for path in source.paths() {
                let Some(named) = self.definition(module, &path) else { continue };
                let shared = module.iter().zip(&named).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(shared), named.get(shared)) else {
                    continue;
                };
                let parent = module.get(..shared).unwrap_or_default().to_vec();
                if self.is_folder(&parent, from) && self.is_folder(&parent, to) {
                    let folder = imports.entry(parent).or_default();
                    folder.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        imports.iter().flat_map(|(parent, folder)| circles_in(parent, folder)).collect()
    }

    fn is_folder(&self, parent: &[String], name: &str) -> bool {
        let mut path = parent.to_vec();
        path.push(name.to_owned());
        self.files.keys().any(|file| file.len() > path.len() && file.starts_with(&path))
    }

    /// Returns the module that defines what a file names by `path`, if it is in this crate.
    fn definition(&self, module: &[String], path: &str) -> Option<Vec<String>> {
        let parts: Vec<String> = path.split("::").map(str::to_owned).collect();
        let mut named = match parts.first().map(String::as_str) {
            Some("crate") => parts.get(1..)?.to_vec(),
            // A path without `crate` is of a child or of another crate.
            _ => module.iter().cloned().chain(parts).collect(),
        };
        // Re-exports of re-exports end after a few steps.
        for _ in 0..8 {
            let known = (0..=named.len())
                .rev()
                .find(|n| named.get(..*n).is_some_and(|module| self.files.contains_key(module)))?;
            let export = named.get(..=known).and_then(|exported| self.exports.get(exported));
            match export {
                Some(path) if *path != named => {
                    let rest = named.get(known + 1..).unwrap_or_default().to_vec();
                    named = path.iter().cloned().chain(rest).collect();
                }
                _ => return named.get(..known).map(<[String]>::to_vec),
            }
        }
        None
    }
}

fn circles_in(parent: &[String], imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let reach = |from: &String| {
        let mut reached: BTreeSet<&String> = BTreeSet::new();
        let mut next: Vec<&String> = imports.get(from).into_iter().flatten().collect();
        while let Some(folder) = next.pop() {
            if reached.insert(folder) {
                next.extend(imports.get(folder).into_iter().flatten());
            }
        }
        reached
    };
    let circular: Vec<&str> = imports
        .keys()
        .filter(|folder| reach(folder).contains(folder))
        .map(String::as_str)
        .collect();
    if circular.is_empty() {
        return Vec::new();
    }
    vec![format!("{}: folders import each other: {}", parent.join("/"), circular.join(", "))]
}

#[test]
fn a_circle_is_found_behind_a_re_export() {
    let source = |path: &str, text: &str| SourceFile::new(path, text);
    let clean = [
        source("engine/src/a/mod.rs", "mod one;\npub(crate) use one::{One, Two};\n"),
        source("engine/src/a/one.rs", "pub(crate) struct One;\npub(crate) struct Two;\n"),
        source("engine/src/b/mod.rs", "mod two;\npub(crate) use two::Three;\n"),
        source("engine/src/b/two.rs", "use crate::a::{One, Two};\npub(crate) struct Three;\n"),
    ];
    assert_eq!(Folders::of(&clean, "engine/src/").circles(&clean), Vec::<String>::new());
    let [a, _, b, two] = clean;
    let one = source("engine/src/a/one.rs", "use crate::b::Three;\npub(crate) struct One;\n");
    let circular = [a, one, b, two];
    let found = Folders::of(&circular, "engine/src/").circles(&circular);
    assert_eq!(found, [": folders import each other: a, b"]);
}
