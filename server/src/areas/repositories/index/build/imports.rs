//! Finds the files that imports mean, by the ends of their paths: `crate::text::lines` is
//! `src/text/lines.rs`, and `./util` is `util.js` beside the file that imports it.

use hashbrown::HashMap;

use super::super::super::source::Import;
use super::paths::module_of;

/// Names in an import that could mean a module or something in it, at most.
const NAMES_MAX: usize = 32;

/// Files of the same last component that are compared, at most: names like `mod` mean nothing.
const SAME_NAMES_MAX: usize = 64;

/// The modules that the files are.
#[derive(Debug)]
pub(super) struct Modules<'a> {
    components: Vec<Vec<&'a str>>,
    by_last: HashMap<&'a str, Vec<u32>>,
}

impl<'a> Modules<'a> {
    pub(super) fn of(paths: impl Iterator<Item = &'a str>) -> Self {
        let components: Vec<Vec<&str>> = paths.map(module_of).collect();
        let mut by_last: HashMap<&str, Vec<u32>> = HashMap::new();
        for (components, number) in components.iter().zip(0..) {
            if let Some(last) = components.last() {
                by_last.entry(last).or_default().push(number);
            }
        }
        Self { components, by_last }
    }

    /// Returns the files that an import in the file of a path means, sorted.
    pub(super) fn resolve(&self, import: &Import, importer: &str) -> Vec<u32> {
        let (path, is_relative) = components_of(&import.path);
        let importer: Vec<&str> = importer.split('/').collect();
        let mut found = Vec::new();
        for name in import.names.iter().take(NAMES_MAX) {
            let mut with_name = path.clone();
            with_name.push(name);
            found.extend(self.best(&with_name, is_relative, &importer));
        }
        if found.is_empty() {
            found.extend(self.best(&path, is_relative, &importer));
        }
        if let Some((_, module)) = path.split_last().filter(|_| found.is_empty()) {
            found.extend(self.best(module, is_relative, &importer));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the file whose path ends with most of the components. Absolute imports of several
    /// components mean a file only if two of them fit: `std::fmt` is not `src/fmt.rs`.
    fn best(&self, path: &[&str], is_relative: bool, importer: &[&str]) -> Option<u32> {
        let same = self.by_last.get(path.last()?)?;
        if same.len() > SAME_NAMES_MAX {
            return None;
        }
        let needed = if is_relative { 1 } else { path.len().min(2) };
        let score = |number: &u32| {
            let module = self.components.get(*number as usize)?;
            let fits = module.iter().rev().zip(path.iter().rev());
            let fits = fits.take_while(|(left, right)| left == right).count();
            let near = module.iter().zip(importer).take_while(|(left, right)| left == right);
            (fits >= needed).then(|| (fits, near.count(), usize::MAX - module.len()))
        };
        let scored = same.iter().filter_map(|number| Some((score(number)?, *number)));
        // Of several that fit equally, the first in the order of the paths.
        scored.max_by_key(|(score, number)| (*score, u32::MAX - number)).map(|(_, number)| number)
    }
}

/// Returns the components of the path of an import, and whether it is relative to the importing
/// file or its package.
fn components_of(path: &str) -> (Vec<&str>, bool) {
    let is_file = path.contains('/') || path.ends_with(".h") || path.ends_with(".hpp");
    let separators: &[char] = if is_file { &['/'] } else { &[':', '.', '\\'] };
    let outer = ["crate", "self", "super", "..", "."];
    let is_relative = path.starts_with('.')
        || ["crate::", "self::", "super::"].iter().any(|outer| path.starts_with(outer));
    let mut components: Vec<&str> =
        path.split(separators).filter(|part| !part.is_empty() && !outer.contains(part)).collect();
    if is_file && let Some(last) = components.last_mut() {
        *last = last.split('.').next().unwrap_or(last);
    }
    (components, is_relative)
}
