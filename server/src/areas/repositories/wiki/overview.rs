//! Writes the overview: what the README says, the languages, the modules and the entry points.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::limits::{ENTRY_POINTS_MAX, PAGES_MAX, README_SENTENCES_MAX};
use super::markdown::{link_to_page, prose};
use super::modules::{Modules, entry_points, file_doc, readme};
use super::pages::PageDraft;
use crate::areas::repositories::index::{Index, IndexError};
use crate::areas::repositories::source::LineRange;

/// Returns the overview of a repository. `slugs` are those of the pages of its modules.
pub(super) fn overview(
    index: &Index,
    modules: &Modules,
    slugs: &[String],
) -> Result<PageDraft, IndexError> {
    let mut page = PageDraft::default();
    page.block("# Overview".to_owned());
    readme_section(index, &mut page)?;
    page.block(languages(index));
    modules_section(index, modules, slugs, &mut page)?;
    entry_section(index, &mut page)?;
    Ok(page)
}

fn readme_section(index: &Index, page: &mut PageDraft) -> Result<(), IndexError> {
    let Some(file) = readme(index) else { return Ok(()) };
    let Some(doc) = file_doc(index, file)? else { return Ok(()) };
    let sentences = doc.sentences.iter().take(README_SENTENCES_MAX);
    let text: Vec<String> = sentences.clone().map(|(sentence, _)| prose(sentence)).collect();
    page.block(text.join(" "));
    let first = sentences.clone().map(|(_, lines)| lines.start()).min();
    let last = sentences.map(|(_, lines)| lines.end()).max();
    if let Some(lines) = first.zip(last).and_then(|(first, last)| LineRange::new(first, last)) {
        let link = page.link(&doc.path, lines);
        page.block(format!("Source: {link}"));
    }
    Ok(())
}

/// Returns a table of the languages with their files and lines, the one with most lines first.
fn languages(index: &Index) -> String {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in index.files() {
        if let Some(language) = entry.language {
            let (files, lines) = counts.entry(language.name()).or_default();
            *files += 1;
            *lines += u64::from(entry.lines);
        }
    }
    let mut rows: Vec<(&str, (u64, u64))> = counts.into_iter().collect();
    rows.sort_by_key(|(name, (_, lines))| (Reverse(*lines), *name));
    if rows.is_empty() {
        return "No file of the index is in a known language.".to_owned();
    }
    let mut table = vec!["| Language | Files | Lines |".to_owned(), "|---|---|---|".to_owned()];
    table.extend(
        rows.iter().map(|(name, (files, lines))| format!("| {name} | {files} | {lines} |")),
    );
    format!("## Languages\n\n{}", table.join("\n"))
}

fn modules_section(
    index: &Index,
    modules: &Modules,
    slugs: &[String],
    page: &mut PageDraft,
) -> Result<(), IndexError> {
    let mut items = Vec::new();
    for (module, slug) in modules.iter().zip(slugs).take(PAGES_MAX) {
        let link = link_to_page(module.title(), slug);
        let first = module.doc(index)?.and_then(|doc| {
            let (sentence, lines) = doc.sentences.into_iter().next()?;
            Some((doc.path, sentence, lines))
        });
        items.push(match first {
            Some((path, sentence, lines)) => {
                page.link(&path, lines);
                format!("- {link}: {}", prose(&sentence))
            }
            None => format!("- {link}"),
        });
    }
    if !items.is_empty() {
        page.block("## Modules".to_owned());
        page.block(items.join("\n"));
    }
    Ok(())
}

fn entry_section(index: &Index, page: &mut PageDraft) -> Result<(), IndexError> {
    let mut items = Vec::new();
    for file in entry_points(index).into_iter().take(ENTRY_POINTS_MAX) {
        let Some(entry) = index.entry(file) else { continue };
        let outline = index.outline(file)?;
        let main = outline.symbols.iter().find(|symbol| symbol.name == "main");
        let line = main.map_or(1, |main| main.name_line);
        if let Some(lines) = LineRange::new(line, line) {
            items.push(format!("- {}", page.link(entry.path, lines)));
        }
    }
    if !items.is_empty() {
        page.block("## Entry points".to_owned());
        page.block(items.join("\n"));
    }
    Ok(())
}
