//! The lines that the frames of a backtrace are about, in the repositories that are synced. Blocks.
//!
//! A frame names a file as it was on the machine that ran the program, so only the end of its path
//! is compared. A file that several paths of a repository fit equally well is none of them.

use telltale_engine::Versioned;

use super::documents;
use super::error::RepositoryError;
use super::index::{FileEntry, Index};
use super::limits;
use super::repository::{IndexedCommit, Repository};
use super::source::LineRange;
use crate::app::App;

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
    pub(in crate::areas) snippet: String,
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
    let mut sources = Vec::new();
    let mut open: Vec<(usize, FrameName<'_>)> =
        frames.iter().take(limits::FRAMES_MAX).map(FrameName::new).enumerate().collect();
    // Frames of code that has no file or line.
    open.retain(|(frame, name)| {
        !name.parts.is_empty() && frames.get(*frame).is_some_and(|place| place.line > 0)
    });
    for (id, indexed) in repositories.into_iter().take(limits::FRAME_REPOSITORIES_MAX) {
        if open.is_empty() {
            break;
        }
        let loaded = app.repositories().indexes().get(app.engine(), indexed.files.index)?;
        let found = files(loaded.index(), &open);
        for (frame, file) in &found {
            let Some(place) = frames.get(*frame) else { continue };
            sources.extend(source(loaded.index(), file, place, *frame, &id, &indexed)?);
        }
        open.retain(|(frame, _)| !found.iter().any(|(of, _)| of == frame));
    }
    sources.sort_by_key(|source| source.frame);
    Ok(sources)
}

/// Returns whether a release names a commit: its name, or at least seven digits of its beginning,
/// alone or after `@`, `+` or `-`.
fn names(release: &str, indexed: &IndexedCommit) -> bool {
    let commit = indexed.commit.to_string();
    let is_beginning =
        |part: &str| part.len() >= limits::COMMIT_DIGITS_MIN && commit.starts_with(part);
    release.split(['@', '+', '-']).any(|part| is_beginning(&part.to_ascii_lowercase()))
}

/// The path of a frame, by its parts.
#[derive(Debug)]
struct FrameName<'a> {
    parts: Vec<&'a str>,
}

impl<'a> FrameName<'a> {
    fn new(place: &'a FramePlace) -> Self {
        let path = place.file.split(['?', '#']).next().unwrap_or_default();
        let parts = path.split(['/', '\\']);
        Self { parts: parts.filter(|part| !part.is_empty() && *part != ".").collect() }
    }

    /// Returns how many parts at the end of a path are the same; 0 unless one of the paths is the
    /// end of the other.
    fn common_end(&self, path: &str) -> usize {
        let mut common = 0;
        let mut parts = self.parts.iter().rev();
        for part in path.split('/').rev() {
            match parts.next() {
                Some(of_frame) if *of_frame == part => common += 1,
                Some(_) => return 0,
                None => return common,
            }
        }
        common
    }
}

/// Returns the files that frames are in, where there is one that fits best.
fn files<'a>(index: &'a Index, frames: &[(usize, FrameName<'_>)]) -> Vec<(usize, FileEntry<'a>)> {
    let mut best: Vec<(usize, Option<FileEntry<'a>>)> = vec![(0, None); frames.len()];
    for file in index.files() {
        for ((_, name), best) in frames.iter().zip(&mut best) {
            let common = name.common_end(file.path);
            if common > best.0 {
                *best = (common, Some(file));
            } else if common == best.0 && common > 0 {
                // As good as another one: it is not known which.
                best.1 = None;
            }
        }
    }
    let found = frames.iter().zip(best);
    found.filter_map(|((frame, _), (_, file))| Some((*frame, file?))).collect()
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
    // The file has changed since if it has no such line.
    let lines = LineRange::new(first_line, last).filter(|lines| lines.contains(place.line));
    let Some(lines) = lines else { return Ok(None) };
    let Some(snippet) = index.snippet(file.id, lines)? else { return Ok(None) };
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

    #[test]
    fn paths_are_compared_from_their_ends() {
        for (frame, path, common) in [
            ("/srv/app/src/a.rs", "src/a.rs", 2),
            ("src/a.rs", "crates/x/src/a.rs", 2),
            ("C:\\app\\src\\a.cs", "src/a.cs", 2),
            ("webpack:///./src/a.js?x", "src/a.js", 2),
            ("a.rs", "src/a.rs", 1),
            ("/srv/app/lib/a.rs", "src/a.rs", 0),
            ("b.rs", "src/a.rs", 0),
            ("", "src/a.rs", 0),
        ] {
            let place = FramePlace { file: frame.to_owned(), line: 1 };
            assert_eq!(FrameName::new(&place).common_end(path), common, "{frame} {path}");
        }
    }
}
