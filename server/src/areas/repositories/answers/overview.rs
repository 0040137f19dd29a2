//! Answers what the repository is: what its README and modules say, and where it begins.

use super::descriptions::describe_file;
use super::draft::Draft;
use super::files::Files;
use super::phrases::{code, has_marker, joined, quoted, without_markers};
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::source::LineRange;
use crate::areas::repositories::wiki::{
    ModuleDoc, entry_points, file_doc, is_test_path, modules, readme,
};

/// Sentences of the README.
const README_SENTENCES_MAX: usize = 2;
/// Modules that are named.
const MODULES_MAX: usize = 4;
/// Entry points that are named.
const ENTRY_POINTS_MAX: usize = 3;

/// Files that are described if nothing is documented.
const UNDOCUMENTED_FILES_MAX: usize = 2;

/// Writes what the repository is.
pub(super) fn overview(draft: &mut Draft, files: &mut Files<'_>) -> Result<(), IndexError> {
    let index = files.index;
    let readme = match readme(index) {
        Some(id) => file_doc(index, id)?,
        None => None,
    };
    if let Some(doc) = &readme {
        say_doc(draft, files, doc, "", README_SENTENCES_MAX)?;
    }
    let modules = modules(index);
    let mut ranked: Vec<_> = modules.iter().filter(|module| !is_test_path(&module.path)).collect();
    ranked.sort_by_cached_key(|module| {
        let rank: f64 = module.files.iter().map(|file| index.rank(*file).max(0.0)).sum();
        std::cmp::Reverse(rank.to_bits())
    });
    let mut said = 0;
    for module in ranked.iter().take(MODULES_MAX * 4) {
        if said == MODULES_MAX {
            break;
        }
        let Some(doc) = module.doc(index)? else { continue };
        if readme.as_ref().is_some_and(|readme| readme.path == doc.path) {
            continue;
        }
        let name = format!("{}: ", code(&without_markers(module.title())));
        said += usize::from(say_doc(draft, files, &doc, &name, 1)?);
    }
    say_entry_points(draft, files)?;
    if draft.is_empty() {
        // Without any documentation, the most important files say what there is.
        let mut entries: Vec<_> =
            index.files().filter(|entry| entry.language.is_some()).map(|entry| entry.id).collect();
        entries.sort_by(|left, right| index.rank(*right).total_cmp(&index.rank(*left)));
        for id in entries.into_iter().take(UNDOCUMENTED_FILES_MAX) {
            describe_file(draft, &files.open(id)?);
        }
    }
    if !draft.is_empty() {
        let languages = languages(files);
        let count = modules.len();
        let plural = if count == 1 { "module" } else { "modules" };
        if !languages.is_empty() {
            draft.say(format!("The index has {count} {plural} in {}.", joined(&languages)));
        }
    }
    draft.confidence = match (&readme, said) {
        (Some(_), _) => 0.85,
        (None, 1..) => 0.7,
        (None, 0) => 0.4,
    };
    Ok(())
}

/// Returns whether a word is the name of the repository, by its README or its manifest.
pub(super) fn is_name_of_repository(files: &mut Files<'_>, word: &str) -> Result<bool, IndexError> {
    if let Some(id) = readme(files.index) {
        let file = files.open(id)?;
        let title = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if name_of_title(title).is_some_and(|name| name.eq_ignore_ascii_case(word)) {
            return Ok(true);
        }
    }
    for manifest in ["Cargo.toml", "pyproject.toml", "package.json"] {
        let Some(id) = files.index.find(manifest) else { continue };
        let file = files.open(id)?;
        let name = name_in_manifest(&file.text);
        if name.is_some_and(|name| name.eq_ignore_ascii_case(word)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the name that a title is, or begins with before a mark: `Ferry`, `Ferry: carries`. The
/// words of another title, such as `The fast parser`, are no names.
fn name_of_title(title: &str) -> Option<&str> {
    let title = title.trim_matches(|char: char| !char.is_alphanumeric());
    let is_part = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    let end = title.find(|char| !is_part(char)).unwrap_or(title.len());
    let (name, rest) = title.split_at_checked(end)?;
    let rest = rest.trim_start();
    let is_mark = |char: char| !char.is_alphanumeric() && char != '_';
    (!name.is_empty() && (rest.is_empty() || rest.starts_with(is_mark))).then_some(name)
}

/// Returns the name of the package of a manifest, in TOML or JSON: that of an author or a
/// dependency is another one.
fn name_in_manifest(text: &str) -> Option<&str> {
    if text.trim_start().starts_with('{') {
        return name_in_object(text);
    }
    let mut is_package = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_package = ["[package]", "[project]", "[tool.poetry]"].contains(&line);
        } else if is_package
            && let Some(value) = line.strip_prefix("name").map(str::trim_start)
            && let Some(value) = value.strip_prefix('=').map(str::trim_start)
            && let Some(quote @ ('"' | '\'')) = value.chars().next()
        {
            return value.split(quote).nth(1);
        }
    }
    None
}

/// Returns the value of `name` in an object of JSON, not in one within it.
fn name_in_object(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let mut rest = text;
    let mut is_value_of_name = false;
    while let Some(char) = rest.chars().next() {
        rest = rest.get(char.len_utf8()..)?;
        match char {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '"' => {
                let mut is_escaped = false;
                let end = rest.find(|char: char| {
                    let is_end = char == '"' && !is_escaped;
                    is_escaped = char == '\\' && !is_escaped;
                    is_end
                })?;
                let string = rest.get(..end)?;
                rest = rest.get(end + 1..)?;
                if is_value_of_name {
                    return Some(string);
                }
                is_value_of_name =
                    depth == 1 && string == "name" && rest.trim_start().starts_with(':');
            }
            ':' | ' ' | '\t' | '\r' | '\n' => {}
            _ => is_value_of_name = false,
        }
    }
    None
}

fn say_doc(
    draft: &mut Draft,
    files: &mut Files<'_>,
    doc: &ModuleDoc,
    lead: &str,
    sentences_max: usize,
) -> Result<bool, IndexError> {
    let Some(id) = files.index.find(&doc.path) else { return Ok(false) };
    let file = files.open(id)?;
    let mut has_said = false;
    let quotable = doc.sentences.iter().filter(|(sentence, _)| !has_marker(sentence));
    for (sentence, lines) in quotable.take(sentences_max) {
        if let Some(marker) = draft.cite(&file, *lines, *lines) {
            draft.say(format!("{lead}{} {marker}", quoted(sentence)));
            has_said = true;
        }
    }
    Ok(has_said)
}

fn say_entry_points(draft: &mut Draft, files: &mut Files<'_>) -> Result<(), IndexError> {
    let mut named = Vec::new();
    for id in entry_points(files.index).into_iter().take(ENTRY_POINTS_MAX) {
        let file = files.open(id)?;
        let main = file.outline.symbols.iter().find(|symbol| symbol.name == "main");
        let line = main.map_or(1, |main| main.name_line);
        let end = main.map_or(8, |main| main.lines.end());
        let Some((support, shown)) = LineRange::new(line, line).zip(LineRange::new(line, end))
        else {
            continue;
        };
        if let Some(marker) = draft.cite(&file, support, shown) {
            named.push(format!("{} {marker}", code(&without_markers(&file.path))));
        }
    }
    if !named.is_empty() {
        let verb = if named.len() == 1 { "An entry point is" } else { "Entry points are" };
        draft.say(format!("{verb} {}.", joined(&named)));
    }
    Ok(())
}

/// Returns the names of the languages, by their number of files.
fn languages(files: &Files<'_>) -> Vec<String> {
    let mut counts = std::collections::BTreeMap::new();
    for entry in files.index.files() {
        if let Some(language) = entry.language {
            *counts.entry(language.name()).or_insert(0_u32) += 1;
        }
    }
    let mut names: Vec<(&str, u32)> = counts.into_iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_begin_with_a_name() {
        for (title, expected) in [
            ("# Ferry", Some("Ferry")),
            ("Ferry-rs: carries parcels", Some("Ferry-rs")),
            ("# ferry — carries parcels", Some("ferry")),
            ("# [ferry](https://x.example)", Some("ferry")),
            ("# The fast parser", None),
            ("", None),
        ] {
            assert_eq!(name_of_title(title), expected, "{title}");
        }
    }

    #[test]
    fn the_name_in_a_manifest_is_that_of_the_package() {
        let json = "{\n  \"author\": {\n    \"name\": \"Jane\"\n  },\n  \"keywords\": [\"name\"],\n  \"x\": \"a\\\"name\",\n  \"name\": \"ferry\"\n}";
        assert_eq!(name_in_manifest(json), Some("ferry"));
        assert_eq!(name_in_manifest("{\"author\": {\"name\": \"Jane\"}}"), None);
        let toml = "[[bin]]\nname = \"tool\"\n[package]\nname = \"ferry\"\n";
        assert_eq!(name_in_manifest(toml), Some("ferry"));
        assert_eq!(name_in_manifest("[[bin]]\nname = \"tool\"\n"), None);
    }
}
