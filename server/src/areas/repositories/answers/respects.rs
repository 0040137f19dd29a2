//! Answers a question about a name in some respect: with what the documentation and the comments of
//! that name say about it.

use super::comments::comment_quotes;
use super::draft::Draft;
use super::files::FoundSymbol;
use super::phrases::{DocQuote, cite_symbol, noun, place, qualified_name, quoted, symbol_quotes};
use super::question::{Mention, Question, TYPE_KINDS};
use super::topic_words::Topic;
use super::values::AskedValue;
use crate::areas::repositories::source::LineRange;

/// Definitions of a name that are read.
const DEFINITIONS_MAX: usize = 6;
/// The share of the question's other words from which a sentence is about them.
const COVERAGE_MIN: f64 = 0.5;
/// The same if the name may be an ordinary word.
const UNMENTIONED_COVERAGE_MIN: f64 = 0.6;
/// Sentences that are quoted, and the share of the best one's score that they have.
const SENTENCES_MAX: usize = 3;
const RELATIVE_SCORE_MIN: f64 = 0.7;
/// How much worse each further definition of the name is.
const LATER_SCORE: f64 = 0.02;

/// Writes what the documentation of a name says in the respect that a question asks for. Returns
/// whether it says something.
pub(super) fn say_in_respect(
    draft: &mut Draft,
    question: &Question,
    symbols: &[FoundSymbol],
) -> bool {
    let respect = respect(question, symbols);
    if respect.is_empty() {
        return false;
    }
    let coverage_min = match question.mentions.is_empty() {
        true => UNMENTIONED_COVERAGE_MIN,
        false => COVERAGE_MIN,
    };
    let topic = Topic::new(&respect);
    let value = AskedValue::of(question);
    let mut found: Vec<Told<'_>> = Vec::new();
    for (position, symbol) in (0_u32..).zip(symbols.iter().take(DEFINITIONS_MAX)) {
        for quote in quotes_at(symbol) {
            let clarity = value.map_or(0.0, |value| value.clarity(&quote.sentence));
            let coverage = topic.coverage(&quote.sentence);
            if coverage >= coverage_min || clarity > 0.0 {
                let score = coverage + clarity - LATER_SCORE * f64::from(position);
                found.push(Told { score, symbol, quote });
            }
        }
    }
    found.sort_by(|left, right| right.score.total_cmp(&left.score));
    let Some(Told { score, symbol, .. }) = found.first() else { return false };
    let (score, symbol) = (*score, *symbol);
    found.retain(|told| told.symbol.is_same(symbol) && told.score >= score * RELATIVE_SCORE_MIN);
    found.truncate(SENTENCES_MAX);
    found.sort_by_key(|told| told.quote.lines.start());
    let name = qualified_name(symbol);
    let Some(marker) = cite_symbol(draft, symbol) else { return false };
    draft.about(&name.replace('`', ""));
    draft.say(format!("{name} is {} in {} {marker}.", noun(symbol.symbol.kind), place(symbol)));
    for told in &found {
        let lines = told.quote.lines;
        if let Some(of_quote) = draft.cite(&symbol.file, lines, lines) {
            draft.say(format!("{} {of_quote}", quoted(&told.quote.sentence)));
        }
    }
    draft.confidence = 0.55 + 0.3 * score.clamp(0.0, 1.0);
    true
}

/// Returns the sentences of the documentation and the comments of a symbol.
fn quotes_at(symbol: &FoundSymbol) -> Vec<DocQuote> {
    let mut quotes = symbol_quotes(symbol);
    let lines = symbol.symbol.lines;
    // The comments in a type are about its members.
    let own = match TYPE_KINDS.contains(&symbol.symbol.kind) {
        true => LineRange::new(lines.start(), symbol.symbol.name_line),
        false => Some(lines),
    };
    let comments = own.map(|own| comment_quotes(&symbol.file, own)).unwrap_or_default();
    // An outline has the beginning of a long documentation, which can end within a sentence.
    let is_again = |known: &DocQuote| {
        comments.iter().any(|comment| comment.sentence.starts_with(&known.sentence))
    };
    quotes.retain(|known| !is_again(known));
    quotes.extend(comments);
    quotes
}

/// A sentence at a symbol, and how well it answers.
struct Told<'symbols> {
    score: f64,
    symbol: &'symbols FoundSymbol,
    quote: DocQuote,
}

/// Returns the words of a question that are not in the name that it is about.
fn respect(question: &Question, found: &[FoundSymbol]) -> Vec<String> {
    let letters = |text: &str| -> String {
        text.to_lowercase().chars().filter(|char| char.is_alphanumeric()).collect()
    };
    let names: Vec<String> =
        found.iter().take(DEFINITIONS_MAX).map(|found| letters(&qualified_name(found))).collect();
    let mentioned: Vec<String> = question
        .mentions
        .iter()
        .filter_map(|mention| match mention {
            Mention::Name(parts) => Some(letters(&parts.concat())),
            Mention::Path { .. } => None,
        })
        .collect();
    let is_known = |word: &&String| {
        let mut names = names.iter().chain(&mentioned);
        names.any(|name| name.contains(word.as_str())) || FILLERS.contains(&word.as_str())
    };
    question.topic.iter().filter(|word| !is_known(word)).cloned().collect()
}

/// Words that ask for no respect, in lower case.
const FILLERS: &[&str] = &[
    "behave",
    "behaves",
    "behavior",
    "behaviour",
    "return",
    "returns",
    "call",
    "calls",
    "value",
    "parameter",
    "parameters",
    "argument",
    "arguments",
    "signature",
    "type",
    "difference",
];
