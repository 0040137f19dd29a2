//! Which definition a use of a name means. Uses are found by name only, and a method such as `open`
//! can belong to many types, also to ones outside of the repository: a use counts as one of a
//! definition only if the code around it says so, and says it of no other definition as much.

use std::collections::HashMap;

use super::files::{FoundSymbol, OpenFile};
use super::import_paths::import_fit;
use super::occurrences::{Occurrence, Qualifier};
use super::question::TYPE_KINDS;
use super::receivers::{receiver_variable, type_of_value};
use crate::areas::repositories::index::{FileId, Index, SymbolHit};
use crate::areas::repositories::source::{Language, SymbolKind};
use crate::areas::repositories::wiki::is_distinctive;

/// A definition that a name can mean.
#[derive(Clone, Debug)]
pub(super) struct Definition<'index> {
    file: FileId,
    position: u32,
    path: &'index str,
    name: String,
    owner: Option<String>,
    kind: SymbolKind,
    language: Option<Language>,
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

/// How much the code at a use says that it means a definition, if it says that at all: more parts
/// of the path of an import say more.
type Evidence = Option<usize>;

/// Paths of modules through which a name is reached that are read: imports with more are generated.
const MODULES_MAX: usize = 8;

/// The evidence of a name that only one definition has.
const ONLY_ONE: usize = 1;
/// The evidence of a definition in the same package.
const SAME_PACKAGE: usize = 1_000;
/// The evidence of a definition in the same file or type.
const SAME_FILE: usize = 2_000;

/// The definitions of a name, and which of them uses mean: for all uses in one line of one symbol
/// that is found once.
#[derive(Debug)]
pub(super) struct Meanings<'index> {
    definitions: Vec<Definition<'index>>,
    known: HashMap<(FileId, u32, Option<u32>), Option<usize>>,
}

impl<'index> Meanings<'index> {
    pub(super) fn new(definitions: Vec<Definition<'index>>) -> Self {
        Self { definitions, known: HashMap::new() }
    }

    /// Returns how many definitions there are.
    pub(super) fn count(&self) -> usize {
        self.definitions.len()
    }

    /// Returns the definition that a use means without doubt, among all of its name.
    pub(super) fn of(&mut self, place: UsePlace<'_>) -> Option<&Definition<'index>> {
        let within = place.within.map(|within| within.position);
        let key = (place.file.id, place.line, within);
        let position = *self.known.entry(key).or_insert_with(|| meant(&self.definitions, place));
        self.definitions.get(position?)
    }
}

/// Returns the position of the definition that a use means without doubt, among all of its name.
pub(super) fn meant(definitions: &[Definition<'_>], place: UsePlace<'_>) -> Option<usize> {
    // What is before the name is the same for all of them.
    let used = UsedName::at(&definitions.first()?.name, place);
    let found: Vec<(usize, usize)> = (0..)
        .zip(definitions)
        .filter_map(|(position, definition)| Some((definition.evidence(&used, place)?, position)))
        .collect();
    let most = found.iter().map(|(evidence, _)| *evidence).max()?;
    let mut best = found.iter().filter(|(evidence, _)| *evidence == most);
    if let (Some((_, only)), None) = (best.next(), best.next()) {
        return Some(*only);
    }
    // A prototype in a header stands for the definition.
    let of = |position: usize| definitions.get(position);
    let mut bodies = found
        .iter()
        .map(|(_, position)| *position)
        .filter(|position| of(*position).is_some_and(|definition| !is_header(definition.path)));
    match (bodies.next(), bodies.next()) {
        (Some(only), None) if found.len() == 2 => {
            let is_same_owner = found.iter().all(|(_, other)| {
                of(*other).map(|other| &other.owner) == of(only).map(|only| &only.owner)
            });
            is_same_owner.then_some(only)
        }
        _ => None,
    }
}

/// A name in the line of a use.
#[derive(Debug)]
struct UsedName<'line> {
    qualifier: Option<Qualifier<'line>>,
    is_macro: bool,
    is_alias: bool,
    /// The type of the value before it, if the code around the use says it.
    of_type: Option<String>,
    /// The paths of the modules that the imports of the file say it is reached through.
    modules: Vec<String>,
}

impl<'line> UsedName<'line> {
    /// Returns a name wherever it is in the line of a use.
    fn at(name: &str, place: UsePlace<'line>) -> Vec<Self> {
        let found = Occurrence::of(name, place).into_iter();
        let used = found.map(|Occurrence { qualifier, is_macro, is_alias }| {
            let value = qualifier.as_ref().filter(|qualifier| !qualifier.is_path);
            let of_type = value.and_then(|value| type_of_value(place, value));
            let modules = qualifier.as_ref().map(|of| modules(of, place)).unwrap_or_default();
            Self { qualifier, is_macro, is_alias, of_type, modules }
        });
        used.collect()
    }
}

/// Returns the paths of the modules that the imports of a file say a name is reached through.
fn modules(qualifier: &Qualifier<'_>, place: UsePlace<'_>) -> Vec<String> {
    let Some(first) = qualifier.parts.first().copied() else { return Vec::new() };
    let separator = if qualifier.is_path { "::" } else { "." };
    let path = qualifier.parts.join(separator);
    let rest = path.get(first.len()..).unwrap_or_default();
    let is_script = matches!(
        place.file.outline.language,
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
    );
    let (star, required) = (format!("* as {first} "), format!(" {first} = require("));
    let mut found: Vec<String> = Vec::new();
    for import in &place.file.outline.imports {
        let is_last = || import.path.rsplit(['/', '.', ':']).next() == Some(first);
        let module = if is_script {
            // A name for all that a module exports, not for one of its values.
            let line = place.file.line(import.line);
            let is_module = line.contains(&star) || line.contains(&required);
            is_module.then(|| import.path.clone())
        } else if import.names.iter().any(|name| name == first) {
            let between = if import.path.contains('/') { "/" } else { separator };
            let is_dots = import.path.ends_with('.');
            let between = if is_dots { "" } else { between };
            Some(format!("{}{between}{path}", import.path))
        } else if import.path == path || import.names.is_empty() && is_last() {
            Some(format!("{}{rest}", import.path))
        } else {
            path.starts_with(&import.path).then(|| path.clone())
        };
        found.extend(module.filter(|module| !found.contains(module)));
        if found.len() >= MODULES_MAX {
            break;
        }
    }
    found
}

impl<'index> Definition<'index> {
    /// Returns the definition of a symbol of the index, one of `count` of its name.
    pub(super) fn new(index: &'index Index, hit: &SymbolHit, count: usize) -> Option<Self> {
        let entry = index.entry(hit.symbol.file)?;
        Some(Self {
            file: hit.symbol.file,
            position: hit.symbol.position,
            path: entry.path,
            language: entry.language,
            name: hit.name.clone(),
            owner: hit.container.clone(),
            kind: hit.kind,
            count,
        })
    }

    /// Returns whether this is the definition of a symbol.
    pub(super) fn is_of(&self, found: &FoundSymbol) -> bool {
        self.file == found.file.id && self.position == found.position
    }

    /// Returns how much a use says that it means this definition.
    fn evidence(&self, used: &[UsedName<'_>], place: UsePlace<'_>) -> Evidence {
        let language = place.file.outline.language;
        if family(self.language) != family(language) {
            return None;
        }
        let is_macro = self.kind == SymbolKind::Macro;
        used.iter()
            .filter(|used| language != Some(Language::Rust) || used.is_macro == is_macro)
            .filter_map(|used| match &used.qualifier {
                Some(qualifier) => self.qualified(qualifier, used, place),
                // Only an import gives another name.
                None if used.is_alias => self.import_of(&self.name, place).filter(|fit| *fit > 0),
                None => self.bare(place),
            })
            .max()
    }

    /// Returns the evidence of `qualifier.name` or `qualifier::name`.
    fn qualified(
        &self,
        qualifier: &Qualifier<'_>,
        used: &UsedName<'_>,
        place: UsePlace<'_>,
    ) -> Evidence {
        let last = *qualifier.parts.last()?;
        let is_path = qualifier.is_path;
        let is_own = ["Self", "self", "this", "cls"].contains(&last)
            && !(is_path && last == "self")
            || receiver_variable(place) == Some(last);
        if is_own && qualifier.parts.len() == 1 {
            let is_same = self.owner.is_some() && self.owner.as_deref() == owner_of(place.within);
            return is_same.then_some(SAME_FILE + usize::from(self.file == place.file.id));
        }
        if qualifier.parts.first().is_some_and(|first| ["std", "core", "alloc"].contains(first)) {
            return None;
        }
        match self.owner.as_deref() {
            Some(owner) if owner == last => self.of_owner(owner, place),
            Some(owner) if used.of_type.as_deref() == Some(owner) => self.of_owner(owner, place),
            _ if self.is_member() => None,
            _ => self.of_module(qualifier, used, place),
        }
    }

    /// Returns the evidence of the name of the type or module that this belongs to.
    fn of_owner(&self, owner: &str, place: UsePlace<'_>) -> Evidence {
        if self.file == place.file.id {
            return Some(SAME_FILE);
        }
        match self.import_of(owner, place) {
            Some(fit) => (fit > 0).then_some(fit),
            None if self.is_same_package(place) => Some(SAME_PACKAGE),
            None => Some(ONLY_ONE),
        }
    }

    /// Returns the evidence of the path of a module before the name.
    fn of_module(
        &self,
        qualifier: &Qualifier<'_>,
        used: &UsedName<'_>,
        place: UsePlace<'_>,
    ) -> Evidence {
        let fits = used.modules.iter().map(|import| import_fit(import, place.file, self.path));
        let fit = fits.max().unwrap_or(0);
        if !used.modules.is_empty() || !qualifier.is_path {
            return (fit > 0).then_some(fit);
        }
        let path = qualifier.parts.join("::");
        let fit = import_fit(&path, place.file, self.path);
        (fit > 0).then_some(fit)
    }

    /// Returns the evidence of the name alone.
    fn bare(&self, place: UsePlace<'_>) -> Evidence {
        let language = place.file.outline.language;
        let is_parameter = place.within.is_some_and(|within| {
            within.symbol.parameters.iter().any(|parameter| parameter.name == self.name)
        });
        if is_parameter {
            return None;
        }
        let imported = self.import_of(&self.name, place);
        if self.is_member() {
            let has_own = matches!(language, Some(Language::Java | Language::Cpp | Language::Ruby));
            let is_own = self.owner.is_some() && self.owner.as_deref() == owner_of(place.within);
            let is_static = language == Some(Language::Java) && imported.is_some_and(|fit| fit > 0);
            return (has_own && is_own)
                .then_some(SAME_FILE + usize::from(self.file == place.file.id))
                .or(is_static.then_some(ONLY_ONE));
        }
        if self.file == place.file.id {
            return self.is_in_scope(place).then_some(SAME_FILE);
        }
        if let Some(fit) = imported {
            return (fit > 0).then_some(fit);
        }
        let is_type = TYPE_KINDS.contains(&self.kind);
        if self.is_same_package(place) {
            return (self.owner.is_none() || is_type).then_some(SAME_PACKAGE);
        }
        // A name of another file must be imported, maybe with all of that file.
        let must_be_imported = match language {
            Some(Language::Go) => true,
            Some(Language::Python) => !place.file.outline.imports.iter().any(|import| {
                import.names.is_empty() && import_fit(&import.path, place.file, self.path) > 0
            }),
            _ => false,
        };
        let is_only = self.count == 1 && (is_type || is_distinctive(&self.name));
        (is_only && !must_be_imported).then_some(ONLY_ONE)
    }

    /// Returns how well the imports of a name fit this definition; `None` if there are none.
    fn import_of(&self, name: &str, place: UsePlace<'_>) -> Option<usize> {
        let paths = place.file.imported(name)?.paths.iter();
        paths.map(|path| import_fit(path, place.file, self.path)).max()
    }

    /// Returns whether only a value or a type leads to this.
    fn is_member(&self) -> bool {
        matches!(self.kind, SymbolKind::Method | SymbolKind::Field)
    }

    /// Returns whether a place in the same file is within the function or module that contains
    /// this, if one does.
    fn is_in_scope(&self, place: UsePlace<'_>) -> bool {
        let symbols = &place.file.outline.symbols;
        let at = |position: u32| symbols.get(usize::try_from(position).ok()?);
        let parent = at(self.position).and_then(|own| at(own.parent?));
        parent.is_none_or(|parent| {
            let is_scope = matches!(
                parent.kind,
                SymbolKind::Function | SymbolKind::Method | SymbolKind::Module
            );
            !is_scope || parent.lines.contains(place.line)
        })
    }

    fn is_same_package(&self, place: UsePlace<'_>) -> bool {
        folder(&place.file.path) == folder(self.path)
            && matches!(place.file.outline.language, Some(Language::Go | Language::Java))
    }
}

/// Returns the name of the type that a symbol belongs to, or its own if it is one.
pub(super) fn owner_of(found: Option<&FoundSymbol>) -> Option<&str> {
    let found = found?;
    if TYPE_KINDS.contains(&found.symbol.kind) {
        return Some(&found.symbol.name);
    }
    found.symbol.container.as_deref()
}

/// Returns a language, the same one for those whose code calls each other by name.
fn family(language: Option<Language>) -> Option<Language> {
    match language {
        Some(Language::TypeScript | Language::Tsx) => Some(Language::JavaScript),
        Some(Language::Cpp) => Some(Language::C),
        language => language,
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_header(path: &str) -> bool {
    [".h", ".hh", ".hpp", ".hxx"].iter().any(|ending| path.ends_with(ending))
}
