//! The files that a question touches, each read from the index once.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::areas::repositories::index::{FileId, FoundReferences, Index, IndexError, SymbolRef};
use crate::areas::repositories::quotes::{is_secret_line, private_key_lines};
use crate::areas::repositories::source::{FileOutline, LineRange, ReferenceKind, Symbol, aliases};

/// Modules that one file imports a name from: more are not code that a person has written.
const IMPORT_PATHS_MAX: usize = 4;

/// Reads files of an index and keeps them.
#[derive(Debug)]
pub(super) struct Files<'index> {
    pub(super) index: &'index Index,
    open: HashMap<FileId, Rc<OpenFile>>,
}

/// A file with what is known of it.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) id: FileId,
    pub(super) path: String,
    pub(super) text: String,
    pub(super) outline: FileOutline,
    /// Its lines that are part of private keys, once they are asked for.
    private_keys: OnceCell<HashSet<u32>>,
    /// Whether a line alone seems to hold a secret, for the lines that were asked for.
    secrets: RefCell<HashMap<u32, bool>>,
    /// What its imports say of each name, once that is asked for.
    imported: OnceCell<HashMap<String, ImportedName>>,
    /// The byte at which each line begins.
    line_starts: Vec<usize>,
}

/// What the imports of a file say of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ImportedName {
    /// The paths that it is imported from, each once.
    pub(super) paths: Vec<String>,
    /// The other name that the file gives it.
    pub(super) alias: Option<String>,
}

/// A symbol of a file.
#[derive(Clone, Debug)]
pub(super) struct FoundSymbol {
    pub(super) file: Rc<OpenFile>,
    /// The position in the outline.
    pub(super) position: u32,
    pub(super) symbol: Symbol,
}

impl<'index> Files<'index> {
    /// Returns a reader of an index, which has read nothing yet.
    pub(super) fn new(index: &'index Index) -> Self {
        Self { index, open: HashMap::new() }
    }

    /// Returns a file. Refuses to if nobody waits for the answer any more, also if the file is
    /// known: what is done with each file can take long.
    pub(super) fn open(&mut self, id: FileId) -> Result<Rc<OpenFile>, IndexError> {
        self.index.check_stop()?;
        if let Some(file) = self.open.get(&id) {
            return Ok(Rc::clone(file));
        }
        let text = self.index.text(id)?;
        let path = self.index.entry(id).ok_or(IndexError::UnknownFile)?.path;
        let file = Rc::new(OpenFile {
            id,
            path: path.to_owned(),
            outline: self.index.outline(id)?,
            private_keys: OnceCell::new(),
            secrets: RefCell::default(),
            imported: OnceCell::new(),
            line_starts: line_starts(&text),
            text,
        });
        self.open.insert(id, Rc::clone(&file));
        Ok(file)
    }

    /// Reads files in the order in which the index has them, so that each of its blocks is
    /// decompressed once.
    pub(super) fn open_all(&mut self, ids: &[FileId]) -> Result<(), IndexError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.into_iter().try_for_each(|id| self.open(id).map(drop))
    }

    /// Returns uses of a name, of one kind or of all, in files that are open afterwards.
    pub(super) fn references(
        &mut self,
        name: &str,
        kind: Option<ReferenceKind>,
        limit: usize,
    ) -> Result<FoundReferences, IndexError> {
        self.index.references_read_by(name, kind, limit, |id, visit| {
            visit(&self.open(id)?.outline);
            Ok(())
        })
    }

    /// Returns a symbol of a file; `None` if there is none at that position.
    pub(super) fn symbol(&mut self, symbol: SymbolRef) -> Result<Option<FoundSymbol>, IndexError> {
        let file = self.open(symbol.file)?;
        Ok(FoundSymbol::new(&file, symbol.position))
    }
}

impl OpenFile {
    /// Returns whether a line seems to hold a secret.
    pub(super) fn is_secret(&self, line: u32) -> bool {
        let find = || {
            let lines = private_key_lines(&self.text);
            lines.filter_map(|line| u32::try_from(line + 1).ok()).collect()
        };
        let is_of_key = self.private_keys.get_or_init(find).contains(&line);
        // Few lines of a file are quoted, and each is asked for several times.
        let mut known = self.secrets.borrow_mut();
        is_of_key || *known.entry(line).or_insert_with(|| is_secret_line(self.line(line)))
    }

    /// Returns all lines; `None` if there are none.
    pub(super) fn all_lines(&self) -> Option<LineRange> {
        LineRange::new(1, u32::try_from(self.line_starts.len()).unwrap_or(u32::MAX))
    }

    /// Returns what the imports say of a name; `None` if it is not imported by name.
    pub(super) fn imported(&self, name: &str) -> Option<&ImportedName> {
        let find = || {
            let imports = &self.outline.imports;
            let mut found: HashMap<String, ImportedName> = HashMap::new();
            for import in imports {
                for name in &import.names {
                    let paths = &mut found.entry(name.clone()).or_default().paths;
                    if paths.len() < IMPORT_PATHS_MAX && !paths.contains(&import.path) {
                        paths.push(import.path.clone());
                    }
                }
            }
            for other in aliases(imports, &self.text) {
                if let Some(name) = found.get_mut(&other.name) {
                    name.alias.get_or_insert(other.alias);
                }
            }
            found
        };
        self.imported.get_or_init(find).get(name)
    }

    /// Returns the text of a line.
    pub(super) fn line(&self, number: u32) -> &str {
        self.text_since_line(number).lines().next().unwrap_or_default()
    }

    /// Returns the text of lines, with their ends.
    pub(super) fn text_of(&self, lines: LineRange) -> &str {
        let text = self.text_since_line(lines.start());
        text.get(..text.len() - self.text_since_line(lines.end().saturating_add(1)).len())
            .unwrap_or_default()
    }

    /// Returns lines with their numbers.
    pub(super) fn numbered(&self, lines: LineRange) -> impl Iterator<Item = (u32, &str)> {
        (lines.start()..=lines.end()).zip(self.text_since_line(lines.start()).lines())
    }

    /// Returns the text from the beginning of a line on; empty if there is no such line.
    fn text_since_line(&self, number: u32) -> &str {
        let position = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let start = self.line_starts.get(position).copied();
        start.and_then(|start| self.text.get(start..)).unwrap_or_default()
    }

    /// Returns the innermost symbol that contains a line.
    pub(super) fn innermost(self: &Rc<Self>, line: u32) -> Option<FoundSymbol> {
        let symbols = (0_u32..).zip(&self.outline.symbols);
        let (position, _) = symbols
            .filter(|(_, symbol)| symbol.lines.contains(line))
            .min_by_key(|(position, symbol)| (symbol.lines.count(), u32::MAX - position))?;
        FoundSymbol::new(self, position)
    }

    /// Returns the last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Returns the byte at which each line of a text begins.
fn line_starts(text: &str) -> Vec<usize> {
    let starts = text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some(start)
    });
    starts.collect()
}

impl FoundSymbol {
    pub(super) fn new(file: &Rc<OpenFile>, position: u32) -> Option<Self> {
        let symbol = file.outline.symbols.get(usize::try_from(position).ok()?)?.clone();
        Some(Self { file: Rc::clone(file), position, symbol })
    }

    /// Returns whether two are the same symbol.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.file.id == other.file.id && self.position == other.position
    }
}
