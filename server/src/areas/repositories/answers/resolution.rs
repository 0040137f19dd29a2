//! Which definition a use of a name means. Uses are found by name only, and a method such as `open`
//! can belong to many types, also to ones outside of the repository: a use counts as one of a
//! definition only if the code around it says so.

use super::files::{FoundSymbol, OpenFile};
use super::question::TYPE_KINDS;
use super::receivers::Receiver;
use crate::areas::repositories::index::{FileId, Index, SymbolHit};
use crate::areas::repositories::source::{Language, SymbolKind};
use crate::areas::repositories::wiki::is_distinctive;

/// A definition that a name can mean.
#[derive(Clone, Debug)]
pub(super) struct Definition<'index> {
    pub(super) file: FileId,
    path: &'index str,
    name: String,
    owner: Option<String>,
    kind: SymbolKind,
    /// How many definitions there are of the name.
    count: usize,
}

/// Where a name is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsePlace<'files> {
    pub(super) file: &'files OpenFile,
    pub(super) line: u32,
    /// The symbol that contains it.
    pub(super) within: Option<&'files FoundSymbol>,
}

impl<'index> Definition<'index> {
    /// Returns the definition of a symbol of the index, one of `count` of its name.
    pub(super) fn new(index: &'index Index, hit: &SymbolHit, count: usize) -> Option<Self> {
        Some(Self {
            file: hit.symbol.file,
            path: index.entry(hit.symbol.file)?.path,
            name: hit.name.clone(),
            owner: hit.container.clone(),
            kind: hit.kind,
            count,
        })
    }

    /// Returns whether a use means this definition.
    pub(super) fn is_meant(&self, place: UsePlace<'_>) -> bool {
        let line = place.file.line(place.line);
        occurrences(line, &self.name).any(|before| match qualifier(before) {
            Some(name) => self.is_qualified_by(name, is_member(before), place),
            None => self.is_visible_at(place),
        })
    }

    /// Returns whether `qualifier.name` or `qualifier::name` means this definition.
    fn is_qualified_by(&self, qualifier: &str, is_member: bool, place: UsePlace<'_>) -> bool {
        if ["self", "Self", "this", "cls", "super"].contains(&qualifier) {
            return self.owner.is_some() && self.owner.as_deref() == owner_of(place.within);
        }
        match self.owner.as_deref() {
            Some(owner) if owner == qualifier => true,
            None if self.is_module(qualifier) => true,
            _ if self.count > 1 || !is_distinctive(&self.name) => false,
            Some(owner) => match Receiver::at(place, qualifier, owner) {
                Receiver::IsOf => true,
                Receiver::IsOther => false,
                Receiver::Unknown => self.is_known_in(place.file, owner),
            },
            None => !(is_member && place.file.outline.language == Some(Language::Rust)),
        }
    }

    /// Returns whether a file mentions the type of this method. Code in languages without declared
    /// types need not.
    fn is_known_in(&self, file: &OpenFile, owner: &str) -> bool {
        let is_typed =
            matches!(file.outline.language, Some(Language::Rust | Language::Java | Language::Cpp));
        let outline = &file.outline;
        !is_typed
            || file.id == self.file
            || outline.references.iter().any(|used| used.name == owner)
            || outline.imports.iter().any(|import| import.names.iter().any(|name| name == owner))
    }

    /// Returns whether the name alone means this definition.
    fn is_visible_at(&self, place: UsePlace<'_>) -> bool {
        let is_same_file = place.file.id == self.file;
        let is_imported = place.file.outline.imports.iter().any(|import| {
            import.names.contains(&self.name)
                && (self.count == 1
                    || import.path.split(SEPARATORS).any(|part| self.is_module(part)))
        });
        if is_same_file || is_imported {
            return self.owner.is_none() || self.kind != SymbolKind::Method || self.count == 1;
        }
        let is_type = TYPE_KINDS.contains(&self.kind);
        let same_folder = folder(&place.file.path) == folder(self.path)
            && matches!(place.file.outline.language, Some(Language::Go | Language::Java));
        self.count == 1 && (is_type || is_distinctive(&self.name) || same_folder)
            || same_folder && self.owner.is_none() && is_type
    }

    /// Returns whether a name is that of the file or folder of the definition.
    fn is_module(&self, name: &str) -> bool {
        let mut parts = self.path.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        let folder = parts.next().unwrap_or_default();
        !name.is_empty() && (stem == name || folder == name)
    }
}

/// What separates the parts of paths of modules.
const SEPARATORS: [char; 4] = ['/', '.', ':', '\\'];

/// Returns the name of the type that a symbol belongs to, or its own if it is one.
pub(super) fn owner_of(found: Option<&FoundSymbol>) -> Option<&str> {
    let found = found?;
    if TYPE_KINDS.contains(&found.symbol.kind) {
        return Some(&found.symbol.name);
    }
    found.symbol.container.as_deref()
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns what is before each place of a line where a whole name is.
fn occurrences<'line>(line: &'line str, name: &str) -> impl Iterator<Item = &'line str> {
    line.match_indices(name).filter_map(|(at, found)| {
        let before = line.get(..at)?;
        let after = line.get(at + found.len()..)?;
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some(before)
    })
}

/// Returns whether a name after this text is that of a member of a value.
fn is_member(before: &str) -> bool {
    before.trim_end().ends_with(['.', '>']) && !before.trim_end().ends_with("..")
}

/// Returns the name before `.`, `::` or `->` at the end of a text; empty if it is no name.
fn qualifier(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let path = before
        .strip_suffix("::")
        .or_else(|| before.strip_suffix("?."))
        .or_else(|| before.strip_suffix("->"))
        .or_else(|| before.strip_suffix('.').filter(|path| !path.ends_with('.')))?;
    // `Vec::<T>::new` and `Store<T>::open` are qualified by the name before the type arguments.
    let path = match path.strip_suffix('>') {
        Some(generic) => generic.split('<').next().unwrap_or_default().trim_end_matches("::"),
        None => path,
    };
    let start = path
        .char_indices()
        .rev()
        .find(|(_, char)| !char.is_alphanumeric() && *char != '_')
        .map_or(0, |(at, char)| at + char.len_utf8());
    path.get(start..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_are_the_names_before_a_name() {
        for (before, expected) in [
            ("let x = Store::", Some("Store")),
            ("    self.", Some("self")),
            ("a.b.", Some("b")),
            ("Store::<u8>::", Some("Store")),
            ("call().", Some("")),
            ("x ", None),
            ("0..", None),
            ("", None),
            ("é::", Some("é")),
        ] {
            assert_eq!(qualifier(before), expected, "{before}");
        }
    }

    #[test]
    fn whole_names_are_found() {
        let before: Vec<&str> = occurrences("open reopen x.open(opened)", "open").collect();
        assert_eq!(before, ["", "open reopen x."]);
        assert!(is_distinctive("hash_password") && is_distinctive("readLines"));
        assert!(!is_distinctive("open") && !is_distinctive("is_ok"));
    }
}
