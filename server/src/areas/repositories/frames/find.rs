//! Finds the lines of frames. Blocks.

use telltale_engine::Versioned;

use super::best_fit::{BestFit, Found};
use super::frame_path::FrameName;
use crate::app::App;
use crate::areas::repositories::documents;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::index::{FileEntry, Index};
use crate::areas::repositories::limits;
use crate::areas::repositories::repository::{IndexedCommit, Repository};
use crate::areas::repositories::shown_lines::{ShownBytes, ShownLines};
use crate::areas::repositories::source::LineRange;

/// A place in a program, as a frame names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas) struct FramePlace {
    pub(in crate::areas) file: String,
    /// From 1.
    pub(in crate::areas) line: u32,
}

/// Lines of a repository that a frame is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas) struct FrameSource {
    /// The position of the frame.
    pub(in crate::areas) frame: usize,
    /// The id of the repository.
    pub(in crate::areas) repository: String,
    /// The beginning of the name of the commit that the lines are of.
    pub(in crate::areas) commit: String,
    pub(in crate::areas) path: String,
    /// The line of the frame.
    pub(in crate::areas) line: u32,
    /// The first line of the snippet.
    pub(in crate::areas) first_line: u32,
    pub(in crate::areas) snippet: ShownLines,
}

/// Returns the lines that frames are about: of the commit that the release names, or else of the
/// branches that are synced.
pub(in crate::areas) fn source_of_frames(
    app: &App,
    frames: &[FramePlace],
    release: Option<&str>,
) -> Vec<FrameSource> {
    if frames.is_empty() {
        return Vec::new();
    }
    find(app, frames, release).unwrap_or_else(|error| {
        tracing::debug!(%error, "no source is shown with the frames of an error");
        Vec::new()
    })
}

fn find(
    app: &App,
    frames: &[FramePlace],
    release: Option<&str>,
) -> Result<Vec<FrameSource>, RepositoryError> {
    let mut repositories = documents::select(app.engine(), |found: Versioned<Repository>| {
        let repository = found.value;
        repository.indexed.map(|indexed| (repository.id.text(), indexed))
    })?;
    let of_release = |indexed: &IndexedCommit| release.is_some_and(|of| names(of, indexed));
    if repositories.iter().any(|(_, indexed)| of_release(indexed)) {
        repositories.retain(|(_, indexed)| of_release(indexed));
    }
    let names: Vec<FrameName<'_>> =
        frames.iter().take(limits::FRAMES_MAX).map(FrameName::new).collect();
    let mut best: Vec<BestFit<FrameSource>> = names.iter().map(|_| BestFit::none()).collect();
    for (id, indexed) in repositories.into_iter().take(limits::FRAME_REPOSITORIES_MAX) {
        let loaded = match app.repositories().indexes().get(app.engine(), indexed.files.index) {
            Ok(loaded) => loaded,
            // The frames of other repositories are shown all the same.
            Err(error) => {
                tracing::warn!(repository = id, %error, "no source is shown of a repository");
                continue;
            }
        };
        let index = loaded.index();
        let fits = names.iter().zip(best_files(index, &names)).zip(frames).enumerate();
        for (frame, ((_, fit), place)) in fits {
            let (parts, found) = fit.into_parts();
            let found = match found {
                Found::One(file) => source(index, &file, place, frame, &id, &indexed)?
                    .map_or(Found::Nothing, Found::One),
                Found::Several => Found::Several,
                Found::Nothing => Found::Nothing,
            };
            if let Some(best) = best.get_mut(frame) {
                best.add(parts, found);
            }
        }
    }
    let mut bytes = ShownBytes::of_response();
    let mut found: Vec<FrameSource> = best.into_iter().filter_map(BestFit::into_only).collect();
    for source in &mut found {
        source.snippet = bytes.show_again(&source.snippet);
    }
    Ok(found)
}

/// Returns whether a release names a commit: its name, or at least seven digits of its beginning,
/// alone or after `@`, `+` or `-`.
fn names(release: &str, indexed: &IndexedCommit) -> bool {
    let commit = indexed.commit.to_string();
    let is_beginning =
        |part: &str| part.len() >= limits::COMMIT_DIGITS_MIN && commit.starts_with(part);
    release.split(['@', '+', '-']).any(|part| is_beginning(&part.to_ascii_lowercase()))
}

/// Returns for each frame the file that fits best. A file without the line of the frame is none: it
/// has changed since, or is another one.
fn best_files<'a>(index: &'a Index, frames: &[FrameName<'_>]) -> Vec<BestFit<FileEntry<'a>>> {
    let mut best = vec![BestFit::none(); frames.len()];
    for file in index.files() {
        for (name, best) in frames.iter().zip(&mut best) {
            let parts = name.fit(file.path);
            if parts > 0 {
                let has_line = name.line <= file.lines;
                best.add(parts, if has_line { Found::One(file) } else { Found::Nothing });
            }
        }
    }
    best
}

fn source(
    index: &Index,
    file: &FileEntry<'_>,
    place: &FramePlace,
    frame: usize,
    repository: &str,
    indexed: &IndexedCommit,
) -> Result<Option<FrameSource>, RepositoryError> {
    let around = limits::FRAME_LINES_AROUND;
    let first_line = place.line.saturating_sub(around).max(1);
    let last = place.line.saturating_add(around).min(file.lines);
    let lines = LineRange::new(first_line, last).filter(|lines| lines.contains(place.line));
    let Some(lines) = lines else { return Ok(None) };
    let Some(snippet) = index.snippet(file.id, lines)? else { return Ok(None) };
    // Those of all repositories are in memory until it is known which fit best.
    let snippet = ShownBytes::of_response().show(&snippet);
    Ok(Some(FrameSource {
        frame,
        repository: repository.to_owned(),
        commit: indexed.short_commit(),
        path: file.path.to_owned(),
        line: place.line,
        first_line,
        snippet,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::repositories::wiki::test_index::index_of;

    #[test]
    fn a_file_without_the_line_does_not_fit() {
        let (short, long) = ("one\n", "one\ntwo\nthree\n");
        let index = index_of(&[
            ("a/src/x.txt", short),
            ("b/src/x.txt", long),
            ("c.txt", long),
            ("x.txt", long),
        ]);
        for (file, line, expected) in [
            ("src/x.txt", 3, Some("b/src/x.txt")),
            ("src/x.txt", 1, None),
            ("src/x.txt", 4, None),
            ("/srv/a/src/x.txt", 1, Some("a/src/x.txt")),
            ("/srv/a/src/x.txt", 3, None),
            ("a/src/x.txt", 3, None),
            ("x.txt", 3, None),
            ("/srv/c.txt", 1, None),
            ("c.txt", 1, Some("c.txt")),
        ] {
            let place = FramePlace { file: file.to_owned(), line };
            let found = best_files(&index, &[FrameName::new(&place)]).pop().unwrap();
            let found = found.into_only().map(|file| file.path);
            assert_eq!(found, expected, "{file}:{line}");
        }
    }
}
