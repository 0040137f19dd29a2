//! An answer while it is written: sentences, and the lines that support them.

use std::fmt::Display;

use super::files::{Files, OpenFile};
use super::limits::{FOUND_CONFIDENCE_MIN, REFERENCES_MAX, SNIPPET_BYTES_MAX, SNIPPET_LINES_MAX};
use super::model::{Answer, AnswerReference};
use super::phrases::{joined, name_as_code};
use crate::areas::repositories::index::{FileId, IndexError};
use crate::areas::repositories::source::LineRange;

/// Confidence of an answer without references, at most.
const NOT_FOUND_CONFIDENCE: f64 = 0.05;
/// Confidence of an answer to a question that is about an undefined name, too.
const UNDEFINED_CONFIDENCE: f64 = 0.15;
/// Confidence if lines were found but are not quoted.
const WITHHELD_CONFIDENCE: f64 = 0.15;

/// An answer while it is written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    sentences: Vec<String>,
    references: Vec<DraftReference>,
    /// The names that it is about, the most important first.
    pub(super) symbols: Vec<String>,
    /// The places whose lines seem to hold a secret.
    withheld: Vec<String>,
    /// How well it answers the question.
    pub(super) confidence: f64,
    /// Names of the question that nothing defines, while the answer is about others.
    undefined: Vec<String>,
}

#[derive(Debug)]
struct DraftReference {
    file: FileId,
    path: String,
    lines: LineRange,
}

/// The number of a reference in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker(usize);

impl Draft {
    /// Adds a reference to the lines of a file that support a sentence. `shown` are lines around
    /// them that are worth showing. `None` if they cannot be quoted, or there are too many
    /// references: then the sentence must not be written.
    pub(super) fn cite(
        &mut self,
        file: &OpenFile,
        support: LineRange,
        shown: LineRange,
    ) -> Option<Marker> {
        let known = self.references.iter().position(|known| {
            known.file == file.id
                && known.lines.contains(support.start())
                && known.lines.contains(support.end())
        });
        if let Some(position) = known {
            return Some(Marker(position + 1));
        }
        if self.references.len() >= REFERENCES_MAX {
            return None;
        }
        if (support.start()..=support.end()).any(|line| file.is_secret(line)) {
            let place = format!("{}:{}", file.path, support.start());
            if !self.withheld.contains(&place) {
                self.withheld.push(place);
            }
            return None;
        }
        let lines = quotable(file, support, shown)?;
        let path = file.path.clone();
        self.references.push(DraftReference { file: file.id, path, lines });
        Some(Marker(self.references.len()))
    }

    /// Adds a sentence. It ends with a mark already.
    pub(super) fn say(&mut self, sentence: String) {
        self.sentences.push(sentence);
    }

    /// Notes that the question is about a name that nothing defines, too.
    pub(super) fn lacks(&mut self, name: &str) {
        self.undefined.push(name_as_code(name));
    }

    /// Adds a name that the answer is about.
    pub(super) fn about(&mut self, name: &str) {
        if !self.symbols.iter().any(|known| known == name) {
            self.symbols.push(name.to_owned());
        }
    }

    /// Returns whether a reference shows a line of a file.
    pub(super) fn shows(&self, file: &OpenFile, line: u32) -> bool {
        self.references.iter().any(|known| known.file == file.id && known.lines.contains(line))
    }

    /// Returns whether nothing supports the answer yet.
    pub(super) fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// Returns whether lines were found that are not quoted.
    pub(super) fn has_withheld(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Returns whether there is room for another reference.
    pub(super) fn has_room(&self) -> bool {
        self.references.len() < REFERENCES_MAX
    }

    /// Returns the lines of all references, with their paths.
    pub(super) fn cited_text(&self, files: &mut Files<'_>) -> Result<String, IndexError> {
        let mut text = String::new();
        for reference in &self.references {
            let file = files.open(reference.file)?;
            text.push_str(&format!("{}\n{}\n", reference.path, file.text_of(reference.lines)));
        }
        Ok(text)
    }

    /// Returns the answer; `what` was looked for, if nothing was found.
    pub(super) fn finish(mut self, files: &Files<'_>, what: &str) -> Result<Answer, IndexError> {
        if self.references.is_empty() {
            return Ok(self.without_references(what));
        }
        if !self.withheld.is_empty() {
            self.say("Lines that seem to hold a secret are not quoted.".to_owned());
        }
        let references =
            self.references
                .into_iter()
                .map(|reference| {
                    let snippet = files.index.snippet(reference.file, reference.lines)?.ok_or(
                        IndexError::Damaged { what: "a file has fewer lines than its text" },
                    )?;
                    Ok(AnswerReference { path: reference.path, lines: reference.lines, snippet })
                })
                .collect::<Result<_, IndexError>>()?;
        let confidence = self.confidence.clamp(FOUND_CONFIDENCE_MIN, 1.0);
        // Two digits: more would claim a precision that it does not have.
        let mut confidence = ((confidence * 100.0).round() / 100.0).max(FOUND_CONFIDENCE_MIN);
        let mut text = self.sentences.join(" ");
        if !self.undefined.is_empty() {
            let verb = if self.undefined.len() == 1 { "is" } else { "are" };
            text = format!("{} {verb} not defined in the index. {text}", joined(&self.undefined));
            confidence = UNDEFINED_CONFIDENCE;
        }
        Ok(Answer { text, confidence, references, symbols: self.symbols })
    }

    fn without_references(self, what: &str) -> Answer {
        let (text, confidence) = match self.withheld.first() {
            Some(place) => (
                format!("The lines found, at {place}, seem to hold a secret and are not quoted."),
                WITHHELD_CONFIDENCE,
            ),
            None => (format!("No supporting code was found for {what}."), NOT_FOUND_CONFIDENCE),
        };
        Answer { text, confidence, references: Vec::new(), symbols: Vec::new() }
    }
}

impl Display for Marker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}]", self.0)
    }
}

/// Returns the lines to quote: those that support a sentence, then as many of those to be shown
/// after and before them as fit, up to a secret. `None` if the support itself does not fit.
fn quotable(file: &OpenFile, support: LineRange, shown: LineRange) -> Option<LineRange> {
    let all = file.all_lines()?;
    let bytes = |line: u32| file.line(line).len() + 1;
    let mut used: usize = (support.start()..=support.end()).map(bytes).sum();
    let (mut start, mut end) = (support.start(), support.end());
    if support.count() > SNIPPET_LINES_MAX || used > SNIPPET_BYTES_MAX || !all.contains(end) {
        return None;
    }
    let mut fits = |line: u32, count: u32| {
        let fits = !file.is_secret(line)
            && count < SNIPPET_LINES_MAX
            && used + bytes(line) <= SNIPPET_BYTES_MAX;
        used += if fits { bytes(line) } else { 0 };
        fits
    };
    while end < shown.end().min(all.end()) && fits(end + 1, end - start + 1) {
        end += 1;
    }
    while start > shown.start() && fits(start - 1, end - start + 1) {
        start -= 1;
    }
    LineRange::new(start, end)
}
