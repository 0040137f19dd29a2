//! Writes the pages.

use std::collections::BTreeMap;

use super::limits::{DOC_SENTENCES_MAX, FILES_MAX, PAGE_BYTES_MAX, RELATED_MAX, SYMBOLS_MAX};
use super::markdown::{bounded, code, escaped, link_to_lines, link_to_page, prose};
use super::modules::{Module, Modules, file_doc, modules};
use super::overview::overview;
use super::slug::Slugs;
use crate::areas::repositories::index::{FileId, Index, IndexError};
use crate::areas::repositories::quotes::{contains_secret, first_sentence};
use crate::areas::repositories::source::{FileOutline, LineRange, Symbol, SymbolKind};

/// A page of the wiki.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WikiPage {
    /// The name in URLs: letters, digits and `-`. That of the overview is `overview`.
    pub slug: String,
    /// The path of the module, or the title of the overview. It is not escaped.
    pub title: String,
    /// The page. Nothing in it from the repository is markup.
    pub markdown: String,
    /// The lines that it is from.
    pub references: Vec<(String, LineRange)>,
}

/// A page while it is written.
#[derive(Debug, Default)]
pub(super) struct PageDraft {
    blocks: Vec<String>,
    references: Vec<(String, LineRange)>,
}

impl PageDraft {
    /// Adds a heading, a paragraph or a list.
    pub(super) fn block(&mut self, block: String) {
        if !block.is_empty() {
            self.blocks.push(block);
        }
    }

    /// Adds a reference, and returns the link to it.
    pub(super) fn link(&mut self, path: &str, lines: LineRange) -> String {
        let reference = (path.to_owned(), lines);
        if !self.references.contains(&reference) {
            self.references.push(reference);
        }
        link_to_lines(path, lines)
    }

    /// Returns the page.
    pub(super) fn finish(self, slug: String, title: String) -> WikiPage {
        let markdown = bounded(self.blocks.join("\n\n") + "\n", PAGE_BYTES_MAX);
        WikiPage { slug, title, markdown, references: self.references }
    }
}

/// Returns the pages of a repository: the overview, then a page for each module by path.
pub fn pages(index: &Index) -> Result<Vec<WikiPage>, IndexError> {
    let modules = modules(index);
    let mut slugs = Slugs::default();
    let overview_slug = slugs.slug("overview");
    let names: Vec<String> = modules.iter().map(|module| slugs.slug(module.title())).collect();
    let edges = modules.edges(index)?;
    let mut pages =
        vec![overview(index, &modules, &names)?.finish(overview_slug, "Overview".to_owned())];
    for (position, (module, slug)) in modules.iter().zip(&names).enumerate() {
        let related = Related { modules: &modules, slugs: &names, edges: &edges, position };
        let page = module_page(index, module, &related)?;
        pages.push(page.finish(slug.clone(), module.title().to_owned()));
    }
    Ok(pages)
}

/// What a module uses and is used by.
struct Related<'pages> {
    modules: &'pages Modules,
    slugs: &'pages [String],
    edges: &'pages BTreeMap<(usize, usize), f64>,
    position: usize,
}

fn module_page(
    index: &Index,
    module: &Module,
    related: &Related<'_>,
) -> Result<PageDraft, IndexError> {
    let mut page = PageDraft::default();
    page.block(format!("# {}", escaped(module.title())));
    match module.doc(index)? {
        Some(doc) => {
            let mut sentences = doc.sentences;
            sentences.dedup_by(|left, right| left.0 == right.0);
            let sentences = sentences.iter().take(DOC_SENTENCES_MAX);
            let text: Vec<String> =
                sentences.clone().map(|(sentence, _)| prose(sentence)).collect();
            page.block(text.join(" "));
            let first = sentences.clone().map(|(_, lines)| lines.start()).min();
            let last = sentences.map(|(_, lines)| lines.end()).max();
            if let Some(lines) =
                first.zip(last).and_then(|(first, last)| LineRange::new(first, last))
            {
                let link = page.link(&doc.path, lines);
                page.block(format!("Source: {link}"));
            }
        }
        None => page.block("This module has no documentation of its own.".to_owned()),
    }
    let mut files = module.files.clone();
    files.sort_by(|left, right| {
        index.rank(*right).total_cmp(&index.rank(*left)).then(left.cmp(right))
    });
    symbols(index, &files, &mut page)?;
    page.block(related.section("Depends on", Side::Used));
    page.block(related.section("Used by", Side::Users));
    key_files(index, &files, &mut page)?;
    Ok(page)
}

/// Lists the public symbols, by file in the order of importance.
fn symbols(index: &Index, files: &[FileId], page: &mut PageDraft) -> Result<(), IndexError> {
    let mut left = SYMBOLS_MAX;
    let mut omitted = 0;
    let mut lists = Vec::new();
    for file in files {
        let Some(entry) = index.entry(*file) else { continue };
        let outline = index.outline(*file)?;
        for symbol in outline.symbols.iter().filter(|symbol| is_listed(&outline, symbol)) {
            if left == 0 {
                omitted += 1;
                continue;
            }
            left -= 1;
            lists.push(symbol_item(page, entry.path, &outline, symbol));
        }
    }
    if lists.is_empty() {
        return Ok(());
    }
    page.block("## Public symbols".to_owned());
    page.block(lists.join("\n"));
    if omitted > 0 {
        page.block(format!("{omitted} more are not listed."));
    }
    Ok(())
}

/// Returns whether a symbol is listed: what other modules can use, without fields and variants.
fn is_listed(outline: &FileOutline, symbol: &Symbol) -> bool {
    let is_inside_function = symbol.parent.is_some_and(|parent| {
        let parent = usize::try_from(parent).ok().and_then(|parent| outline.symbols.get(parent));
        parent
            .is_some_and(|parent| matches!(parent.kind, SymbolKind::Function | SymbolKind::Method))
    });
    let is_member = matches!(
        symbol.kind,
        SymbolKind::Field | SymbolKind::Variant | SymbolKind::Variable | SymbolKind::Module
    );
    let is_associated = symbol.kind == SymbolKind::TypeAlias && symbol.container.is_some();
    symbol.is_public && !symbol.is_test && !is_member && !is_associated && !is_inside_function
}

fn symbol_item(page: &mut PageDraft, path: &str, outline: &FileOutline, symbol: &Symbol) -> String {
    let parent =
        symbol.parent.and_then(|parent| outline.symbols.get(usize::try_from(parent).ok()?));
    let container = symbol.container.as_deref().or(parent.map(|parent| parent.name.as_str()));
    let name = match container {
        Some(container) => format!("{container}.{}", symbol.name),
        None => symbol.name.clone(),
    };
    let kind = kind_name(symbol.kind);
    let link = LineRange::new(symbol.name_line, symbol.name_line)
        .map(|lines| page.link(path, lines))
        .unwrap_or_default();
    let doc = symbol.doc.as_deref().and_then(first_sentence);
    let doc = doc.map(|doc| format!(": {}", prose(&doc))).unwrap_or_default();
    let is_secret = contains_secret(&symbol.signature);
    let is_function =
        matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro);
    let shown = match is_function && !is_secret && symbol.signature.len() <= 160 {
        true => format!("{} — {}", code(&name), code(&symbol.signature)),
        false => code(&name),
    };
    format!("- {kind} {shown} ({link}){doc}")
}

fn kind_name(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Function => "function",
        SymbolKind::Method => "method",
        SymbolKind::Class => "class",
        SymbolKind::Struct => "struct",
        SymbolKind::Enum => "enum",
        SymbolKind::Variant => "variant",
        SymbolKind::Union => "union",
        SymbolKind::Interface => "interface",
        SymbolKind::Trait => "trait",
        SymbolKind::TypeAlias => "type alias",
        SymbolKind::Module => "module",
        SymbolKind::Macro => "macro",
        SymbolKind::Constant => "constant",
        SymbolKind::Variable => "variable",
        SymbolKind::Field => "field",
    }
}

/// Lists the files with what they say of themselves.
fn key_files(index: &Index, files: &[FileId], page: &mut PageDraft) -> Result<(), IndexError> {
    let mut items = Vec::new();
    for file in files.iter().take(FILES_MAX) {
        let Some(entry) = index.entry(*file) else { continue };
        let Some(lines) = LineRange::new(1, entry.lines.max(1)) else { continue };
        let doc = file_doc(index, *file)?.and_then(|doc| doc.sentences.into_iter().next());
        let doc = doc.map(|(sentence, _)| format!(": {}", prose(&sentence))).unwrap_or_default();
        let link = page.link(entry.path, lines);
        let plural = if entry.lines == 1 { "line" } else { "lines" };
        items.push(format!("- {link}, {} {plural}{doc}", entry.lines));
    }
    page.block("## Files".to_owned());
    page.block(items.join("\n"));
    if files.len() > FILES_MAX {
        page.block(format!("{} more files are not listed.", files.len() - FILES_MAX));
    }
    Ok(())
}

/// Which end of a dependency another module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Used,
    Users,
}

impl Related<'_> {
    /// Lists the modules on one side of this one, the strongest first; empty if there are none.
    fn section(&self, title: &str, side: Side) -> String {
        let mut found: Vec<(usize, f64)> = self
            .edges
            .iter()
            .filter_map(|((from, to), weight)| match side {
                Side::Used => (*from == self.position).then_some((*to, *weight)),
                Side::Users => (*to == self.position).then_some((*from, *weight)),
            })
            .collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        let items: Vec<String> = found
            .iter()
            .take(RELATED_MAX)
            .filter_map(|(position, _)| {
                let module = self.modules.get(*position)?;
                Some(format!("- {}", link_to_page(module.title(), self.slugs.get(*position)?)))
            })
            .collect();
        match items.is_empty() {
            true => String::new(),
            false => format!("## {title}\n\n{}", items.join("\n")),
        }
    }
}
