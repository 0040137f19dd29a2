//! Analyses one file by itself.

use super::super::super::ObjectId;
use super::super::super::source::{
    FileOutline, Import, Language, LineRange, Reference, Symbol, SymbolKind, is_test_case,
};
use super::super::format::{ChunkRecord, Mark, ReferenceKinds, encode_outline};
use super::super::limits::{CHUNK_BYTES_MAX, CONTAINERS_MAX};
use super::super::lines::LineStarts;
use super::super::model::{FileId, SourceFile};
use super::chunks::{ChunkPlan, plan_chunks};
use super::interner::Interner;
use super::paths::{is_test_path, module_of};
use super::tally::{FilePosting, Tally};

/// A file and what is known of it.
#[derive(Debug)]
pub(super) struct AnalysedFile {
    pub(super) path: String,
    pub(super) blob: ObjectId,
    pub(super) language: Option<Language>,
    pub(super) is_complete: bool,
    pub(super) lines: u32,
    pub(super) text: String,
    pub(super) outline: Vec<u8>,
    pub(super) imports: Vec<Import>,
    pub(super) symbols: Vec<FileSymbol>,
    /// The names that it uses, sorted.
    pub(super) uses: Vec<NameUse<String>>,
    /// Its chunks; their file and uses are not known yet.
    pub(super) chunks: Vec<ChunkRecord>,
    pub(super) terms: Interner,
    pub(super) postings: Vec<FilePosting>,
}

/// A symbol of a file.
#[derive(Debug)]
pub(super) struct FileSymbol {
    pub(super) name: String,
    pub(super) container: Option<String>,
    pub(super) lines: LineRange,
    pub(super) kind: SymbolKind,
    pub(super) is_public: bool,
    pub(super) is_test: bool,
    pub(super) is_test_case: bool,
}

/// The uses of a name in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameUse<N> {
    pub(super) name: N,
    pub(super) count: u32,
    pub(super) kinds: ReferenceKinds,
}

/// Analyses a file.
pub(super) fn analyse(file: SourceFile) -> AnalysedFile {
    let SourceFile { path, blob, text, outline } = file;
    let starts = LineStarts::of(&text);
    let mut tally = Tally::default();
    let is_test = is_test_path(&path);
    let plans = plan_chunks(&outline, starts.count());
    let mut chunks: Vec<ChunkRecord> = Vec::with_capacity(plans.len());
    let file = Subject { path: &path, text: &text, outline: &outline, is_test };
    let mut next_symbol = 0;
    for plan in plans {
        let first = next_symbol;
        let rest = outline.symbols.get(first..).unwrap_or_default();
        next_symbol += rest.partition_point(|symbol| symbol.lines.start() <= plan.lines.end());
        let symbols = outline.symbols.get(first..next_symbol).unwrap_or_default();
        if let Some(chunk) = file.chunk(plan, (first, symbols), &starts, &mut tally) {
            tally.end_chunk(chunks.len() as u32);
            chunks.push(chunk);
        } else {
            tally.drop_chunk();
        }
    }
    let (terms, postings) = tally.finish();
    let symbols = outline.symbols.iter().map(|symbol| {
        let head = LineRange::new(symbol.lines.start(), symbol.name_line);
        let head = head.and_then(|head| text.get(starts.bytes(head)?)).unwrap_or_default();
        FileSymbol::of(symbol, is_test_case(outline.language, symbol, head))
    });
    let symbols = symbols.collect();
    AnalysedFile {
        blob,
        language: outline.language,
        is_complete: outline.is_complete,
        lines: starts.count(),
        outline: encode_outline(&outline),
        symbols,
        uses: uses(&outline),
        imports: outline.imports,
        chunks,
        terms,
        postings,
        path,
        text,
    }
}

/// What a chunk is taken from.
#[derive(Clone, Copy, Debug)]
struct Subject<'t> {
    path: &'t str,
    text: &'t str,
    outline: &'t FileOutline,
    is_test: bool,
}

impl<'t> Subject<'t> {
    /// Counts the words of a chunk. `symbols` are those that begin in it and in no chunk before,
    /// and the position of the first one. Returns `None` if it has no words.
    fn chunk(
        &self,
        plan: ChunkPlan,
        (first, symbols): (usize, &'t [Symbol]),
        starts: &LineStarts,
        tally: &mut Tally<'t>,
    ) -> Option<ChunkRecord> {
        let lines = self.trimmed(plan.lines, starts)?;
        let text = self.text.get(starts.bytes(lines)?)?;
        let text = text.get(..text.floor_char_boundary(CHUNK_BYTES_MAX))?;
        let (body_words, sketch) = tally.count_body(text);
        if body_words == 0 {
            return None;
        }
        let symbol = self.symbol_of(plan, first, symbols);
        let mut doc_words = 0;
        let mut name_words = 0;
        if let Some((_, symbol)) = symbol {
            name_words = tally.mark(&symbol.name, Mark::Name);
            self.mark_symbol(symbol, tally);
            doc_words += symbol.doc.as_deref().map_or(0, |doc| tally.count_doc(doc));
        }
        for inner in symbols {
            if symbol.is_some_and(|(_, symbol)| std::ptr::eq(symbol, inner)) {
                continue;
            }
            let is_constant = matches!(inner.kind, SymbolKind::Constant | SymbolKind::Variable);
            let mark = if is_constant && symbol.is_none() { Mark::Name } else { Mark::Signature };
            tally.mark(&inner.name, mark);
            doc_words += inner.doc.as_deref().map_or(0, |doc| tally.count_doc(doc));
        }
        for component in module_of(self.path) {
            tally.mark(component, Mark::Path);
        }
        let symbol_is_test = symbol.is_some_and(|(_, symbol)| symbol.is_test);
        Some(ChunkRecord {
            file: FileId(0),
            lines,
            symbol: symbol.map(|(position, symbol)| (position, symbol.kind)),
            is_public: symbol.is_some_and(|(_, symbol)| symbol.is_public),
            is_test: self.is_test || symbol_is_test,
            is_later_piece: plan.is_later_piece,
            body_words: body_words.try_into().unwrap_or(u16::MAX),
            doc_words: doc_words.try_into().unwrap_or(u16::MAX),
            name_words: name_words.try_into().unwrap_or(u8::MAX),
            uses: 0,
            sketch: sketch.finish(),
        })
    }

    /// Marks what is said of a symbol beside its name and text.
    fn mark_symbol(&self, symbol: &'t Symbol, tally: &mut Tally<'t>) {
        if let Some(container) = &symbol.container {
            tally.mark(container, Mark::Container);
        }
        let parent = |symbol: &Symbol| self.outline.symbols.get(symbol.parent? as usize);
        let outer = std::iter::successors(parent(symbol), |outer| parent(outer));
        for outer in outer.take(CONTAINERS_MAX) {
            tally.mark(&outer.name, Mark::Container);
        }
        for parameter in &symbol.parameters {
            tally.mark(&parameter.name, Mark::Signature);
            if let Some(type_name) = &parameter.type_name {
                tally.mark(type_name, Mark::Signature);
            }
        }
        if let Some(returns) = &symbol.returns {
            tally.mark(returns, Mark::Signature);
        }
    }

    /// Returns the symbol that a chunk belongs to: its owner, or the only one that begins in it.
    fn symbol_of(
        &self,
        plan: ChunkPlan,
        first: usize,
        symbols: &'t [Symbol],
    ) -> Option<(u32, &'t Symbol)> {
        if let Some(position) = plan.symbol {
            return Some((position, self.outline.symbols.get(position as usize)?));
        }
        let [only] = symbols else { return None };
        Some((first.try_into().ok()?, only))
    }

    /// Returns lines without the blank ones at both ends.
    fn trimmed(&self, lines: LineRange, starts: &LineStarts) -> Option<LineRange> {
        let is_blank = |line: u32| {
            let line = LineRange::new(line, line).and_then(|line| starts.bytes(line));
            let text = line.and_then(|bytes| self.text.get(bytes));
            text.is_none_or(|text| text.trim_ascii().is_empty())
        };
        let start = (lines.start()..=lines.end()).find(|line| !is_blank(*line))?;
        let end = (start..=lines.end()).rev().find(|line| !is_blank(*line))?;
        LineRange::new(start, end)
    }
}

impl FileSymbol {
    fn of(symbol: &Symbol, is_test_case: bool) -> Self {
        Self {
            name: symbol.name.clone(),
            container: symbol.container.clone(),
            lines: symbol.lines,
            kind: symbol.kind,
            is_public: symbol.is_public,
            is_test: symbol.is_test,
            is_test_case,
        }
    }
}

/// Returns the names that an outline uses, sorted.
fn uses(outline: &FileOutline) -> Vec<NameUse<String>> {
    let mut references: Vec<&Reference> = outline.references.iter().collect();
    references.sort_unstable_by_key(|reference| &reference.name);
    let same = references.chunk_by(|left, right| left.name == right.name);
    let uses = same.filter_map(|same| {
        let mut kinds = ReferenceKinds::default();
        same.iter().for_each(|reference| kinds.insert(reference.kind));
        Some(NameUse { name: same.first()?.name.clone(), count: same.len() as u32, kinds })
    });
    uses.collect()
}
