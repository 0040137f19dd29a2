//! Paths and lines in a model's text.

use super::evidence::Evidence;

/// Names of files without an ending.
const FILE_NAMES: &[&str] = &[
    "makefile",
    "dockerfile",
    "containerfile",
    "jenkinsfile",
    "vagrantfile",
    "procfile",
    "gemfile",
    "rakefile",
    "justfile",
    "pipfile",
    "codeowners",
];

/// A path in a sentence, maybe with lines.
#[derive(Debug)]
pub(super) struct Place<'text> {
    /// The path and the lines, as written.
    word: &'text str,
    path: &'text str,
    lines: Option<(u32, u32)>,
}

/// Returns the paths in a text.
pub(super) fn places(text: &str) -> impl Iterator<Item = Place<'_>> {
    text.split(|char: char| char.is_whitespace() || "()[]{}<>\"'“”,;".contains(char))
        .filter_map(Place::parse)
}

/// Returns the lines that a text names in words: `line 12`, `lines 3-9`.
pub(super) fn cited_lines(text: &str) -> impl Iterator<Item = (u32, u32)> + '_ {
    let words = text.split_whitespace();
    words.clone().zip(words.skip(1)).filter_map(|(word, next)| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
        let is_line = word == "line" || word == "lines";
        is_line.then(|| lines(next.trim_matches(|char: char| !char.is_alphanumeric())))?
    })
}

/// Parses `10`, `L10`, `10-20` or `10:5`, of which the last is a line and a column. A line that is
/// no number of a line, as it is too large, is line 0.
fn lines(text: &str) -> Option<(u32, u32)> {
    let text = text.split([':', '#']).next().unwrap_or_default();
    let (start, end) = text.split_once(['-', '–']).unwrap_or((text, text));
    let line = |text: &str| {
        let digits = text.trim_start_matches(['L', 'l']);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(0))
    };
    line(start).zip(line(end))
}

impl<'text> Place<'text> {
    /// Parses a word such as `src/store.rs`, `store.rs:10`, `/etc/passwd` or `Makefile`; `None` if
    /// it is none.
    fn parse(word: &'text str) -> Option<Self> {
        let word = word.trim_matches(['`', '*', '_']).trim_end_matches(['.', ':', '!', '?']);
        let (path, after) = word.split_once([':', '#']).unwrap_or((word, ""));
        let lines = lines(after);
        let is_path = path.chars().any(char::is_alphabetic)
            && !is_abbreviation(path)
            && (lines.is_some()
                || has_ending(path)
                || has_folders(path)
                || FILE_NAMES.contains(&path.to_lowercase().as_str()));
        is_path.then_some(Self { word, path, lines })
    }

    /// Returns whether it is all of a text and in one of the passages.
    pub(super) fn is(&self, text: &str, cited: &[&Evidence<'_>]) -> bool {
        self.word == text.trim() && self.is_in(cited)
    }

    /// Returns whether it is the place of a passage, or written in one.
    pub(super) fn is_in(&self, cited: &[&Evidence<'_>]) -> bool {
        cited.iter().any(|one| {
            let has_lines = self.lines.is_none_or(|lines| one.has_lines(lines));
            has_lines && self.is_of(&one.passage.path) || one.has_whole(self.word)
        })
    }

    /// Returns whether it is a path or the end of it; without lines it may be a folder of it.
    fn is_of(&self, path: &str) -> bool {
        let end = self.path.trim_start_matches("./");
        let is_end =
            path == end || path.strip_suffix(end).is_some_and(|before| before.ends_with('/'));
        let folder = end.trim_end_matches('/');
        let is_folder = self.lines.is_none()
            && end.contains('/')
            && path.strip_prefix(folder).is_some_and(|after| after.starts_with('/'));
        is_end || is_folder
    }
}

/// Returns whether a path ends as the names of files do.
fn has_ending(path: &str) -> bool {
    let Some((stem, ending)) = path.rsplit_once('.') else { return false };
    !stem.is_empty()
        && !stem.ends_with('/')
        && (1..=16).contains(&ending.len())
        && ending.chars().all(|char| char.is_ascii_alphanumeric())
        && ending.chars().any(|char| char.is_ascii_alphabetic())
        && (stem.contains('/') || ending.chars().all(|char| char.is_ascii_lowercase()))
        && stem.chars().any(char::is_alphabetic)
}

/// Returns whether a word has folders. Two words with a slash between them have none, as in
/// `and/or` and `HTTP/2`.
fn has_folders(word: &str) -> bool {
    let mut parts = word.split(['/', '\\']);
    let is_word = |part: &str| !part.is_empty() && part.chars().all(|char| char.is_alphanumeric());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), None, _) => false,
        (Some(first), Some(second), None) => !(is_word(first) && is_word(second)),
        _ => true,
    }
}

fn is_abbreviation(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "e.g" | "i.e" | "a.k.a" | "etc")
}
