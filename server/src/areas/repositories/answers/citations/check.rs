//! Which sentences of a model's text are kept.

use super::super::limits::MODEL_TEXT_CHARS_MAX;
use super::super::model::{AnswerReference, CheckedAnswer, Passage};
use super::super::statements::{Statement, statements};
use super::evidence::Evidence;
use super::markers::with_citations_at_ends;
use super::markup::markup;
use super::places::{cited_lines, places};
use super::wording::is_about;
use crate::areas::repositories::quotes::{contains_secret, is_visible};

/// Sentences that are read: the model is asked for six at most.
const STATEMENTS_MAX: usize = 20;
/// Characters of a sentence: a longer one is none that a reader checks.
const STATEMENT_CHARS_MAX: usize = 600;

/// Returns what is left of a model's text; `None` if nothing is. Kept citations are numbered anew,
/// in the order of their first use.
pub fn check_citations(text: &str, passages: &[Passage]) -> Option<CheckedAnswer> {
    let text = with_citations_at_ends(&visible(text));
    let evidence: Vec<Evidence<'_>> = passages.iter().map(Evidence::new).collect();
    let mut checked = CheckedAnswer { text: String::new(), references: Vec::new(), dropped: 0 };
    let mut used: Vec<usize> = Vec::new();
    for statement in statements(&text).iter().take(STATEMENTS_MAX) {
        let Some(cited) = supporting(statement, &evidence) else {
            checked.dropped += usize::from(statement.has_words());
            continue;
        };
        for passage in cited.into_iter().map(|evidence| evidence.passage) {
            if !used.contains(&passage.number) {
                used.push(passage.number);
                checked.references.push(AnswerReference {
                    path: passage.path.clone(),
                    lines: passage.lines,
                    snippet: passage.snippet.clone(),
                });
            }
        }
        append(&mut checked.text, statement, &used);
    }
    (!checked.references.is_empty()).then_some(checked)
}

/// Returns the beginning of a text without characters that cannot be seen.
fn visible(text: &str) -> String {
    let beginning = text.chars().take(MODEL_TEXT_CHARS_MAX);
    let spaced = beginning.map(|char| if char == '\t' { ' ' } else { char });
    spaced.filter(|char| *char == '\n' || is_visible(*char)).collect()
}

/// Returns the passages that a sentence cites; `None` if it is to be dropped.
fn supporting<'evidence, 'passages>(
    statement: &Statement,
    evidence: &'evidence [Evidence<'passages>],
) -> Option<Vec<&'evidence Evidence<'passages>>> {
    if statement.text.chars().count() > STATEMENT_CHARS_MAX {
        return None;
    }
    let cited: Option<Vec<&Evidence<'_>>> = statement
        .citations
        .iter()
        .map(|number| evidence.iter().find(|evidence| evidence.passage.number == *number))
        .collect();
    let cited = cited.filter(|cited| !cited.is_empty() && statement.has_words())?;
    let prose = statement.prose.as_str();
    let is_supported = statement.code.iter().all(|code| is_code_of(code, &cited))
        && markup(prose).iter().all(|part| cited.iter().any(|one| one.has_markup(part)))
        && places(prose).all(|place| place.is_in(&cited))
        && cited_lines(prose).all(|lines| cited.iter().any(|one| one.has_lines(lines)))
        && is_about(prose, &cited)
        && !contains_secret(&statement.text);
    is_supported.then_some(cited)
}

/// Returns whether code between backticks occurs in a passage, or names its place.
fn is_code_of(code: &str, cited: &[&Evidence<'_>]) -> bool {
    cited.iter().any(|one| one.has_code(code)) || places(code).any(|place| place.is(code, cited))
}

/// Appends a sentence with the new numbers of its citations.
fn append(text: &mut String, statement: &Statement, used: &[usize]) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(&statement.text);
    for number in &statement.citations {
        if let Some(position) = used.iter().position(|used| used == number) {
            text.push_str(&format!(" [{}]", position + 1));
        }
    }
    if let Some(mark) = statement.mark {
        text.push(mark);
    }
}
