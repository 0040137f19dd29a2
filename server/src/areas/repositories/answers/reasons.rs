//! Answers why something is as it is: the sentences of documentation and comments that give
//! reasons.

use super::comments::comment_quotes;
use super::draft::Draft;
use super::files::{Files, FoundSymbol};
use super::phrases::{DocQuote, place_of, qualified_name, quoted, symbol_quotes};
use super::question::Question;
use super::subjects::Subject;
use super::topic_words::Topic;
use super::topics;
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::source::LineRange;

/// Words that give a reason, in lower case.
const REASON_WORDS: &[&str] = &[
    "because",
    "so that",
    "since ",
    "otherwise",
    "avoid",
    "in order to",
    "prevent",
    "instead of",
    "rather than",
    "cannot",
    "would ",
    "so ",
    "therefore",
    "the reason",
    "must ",
    "never ",
    "needs ",
    "to keep",
    "to make sure",
    "ensure",
    "in case",
    "due to",
    "too ",
    "no longer",
    "safe",
];

/// Reasons that an answer quotes.
const REASONS_MAX: usize = 3;

/// The weight of a symbol that was asked for.
const SUBJECT_WEIGHT: f64 = 1.0;
/// The weight of the uses of a symbol that was asked for.
const USE_WEIGHT: f64 = 0.9;
/// The weight of a symbol that was found by its words, times the share of them.
const TOPIC_WEIGHT: f64 = 0.8;

/// Uses of a symbol whose comments are read.
const USES_READ_MAX: usize = 40;
/// Lines before a use in which its comment is.
const COMMENT_LINES: u32 = 4;

/// Writes the reasons that are given for a subject or topic. Returns whether there are any.
pub(super) fn reasons(
    draft: &mut Draft,
    files: &mut Files<'_>,
    question: &Question,
    subject: Option<&Subject>,
) -> Result<bool, IndexError> {
    let topic = Topic::new(&question.topic);
    let mut found: Vec<(f64, FoundSymbol, DocQuote)> = Vec::new();
    if let Some(Subject::Symbols(symbols)) = subject {
        for symbol in symbols.iter().take(REASONS_MAX) {
            collect(symbol, SUBJECT_WEIGHT, &topic, &mut found);
        }
        if let [symbol] = symbols.as_slice() {
            collect_at_uses(files, symbol, &topic, &mut found)?;
        }
    } else {
        for part in topics::find(files, question)?.parts {
            if let Some(symbol) = &part.symbol {
                collect(symbol, part.coverage * TOPIC_WEIGHT, &topic, &mut found);
            }
        }
    }
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    let best = found.first().map_or(0.0, |(score, ..)| *score);
    let mut said = 0;
    for (score, symbol, quote) in &found {
        if said == REASONS_MAX || *score < best / 2.0 {
            break;
        }
        let Some(marker) = draft.cite(&symbol.file, quote.lines, symbol.symbol.lines) else {
            continue;
        };
        let name = qualified_name(symbol);
        draft.about(&name.replace('`', ""));
        let place = place_of(&symbol.file, quote.lines.start());
        draft.say(format!("{place}, at {name}, says: {} {marker}", quoted(&quote.sentence)));
        said += 1;
    }
    draft.confidence = 0.35 + 0.35 * best.min(1.0);
    Ok(said > 0)
}

/// Adds the sentences of a symbol that give a reason.
fn collect(
    symbol: &FoundSymbol,
    weight: f64,
    topic: &Topic,
    found: &mut Vec<(f64, FoundSymbol, DocQuote)>,
) {
    let mut quotes = symbol_quotes(symbol);
    quotes.extend(comment_quotes(&symbol.file, symbol.symbol.lines));
    add(quotes, symbol, weight, topic, found);
}

/// Adds the comments right before the uses of a symbol that give a reason.
fn collect_at_uses(
    files: &mut Files<'_>,
    symbol: &FoundSymbol,
    topic: &Topic,
    found: &mut Vec<(f64, FoundSymbol, DocQuote)>,
) -> Result<(), IndexError> {
    for hit in files.references(&symbol.symbol.name, None, USES_READ_MAX)?.hits {
        let Some(within) = hit.within else { continue };
        let Some(user) = files.symbol(within)? else { continue };
        let start = hit.line.saturating_sub(COMMENT_LINES).max(user.symbol.lines.start());
        if let Some(lines) = LineRange::new(start, hit.line) {
            add(comment_quotes(&user.file, lines), &user, USE_WEIGHT, topic, found);
        }
    }
    Ok(())
}

/// Adds those of some sentences at a symbol that give a reason.
fn add(
    quotes: Vec<DocQuote>,
    symbol: &FoundSymbol,
    weight: f64,
    topic: &Topic,
    found: &mut Vec<(f64, FoundSymbol, DocQuote)>,
) {
    for quote in quotes {
        // At a symbol that was asked for, any reason is one; elsewhere only one about the topic.
        if weight < USE_WEIGHT && topic.coverage(&quote.sentence) <= 0.0 {
            continue;
        }
        let lower = quote.sentence.to_lowercase();
        let strength: f64 =
            REASON_WORDS.iter().filter(|word| lower.contains(*word)).map(|_| 0.05).sum();
        let is_known = found.iter().any(|(_, _, known)| known.sentence == quote.sentence);
        if strength > 0.0 && !is_known {
            let score = weight * (0.4 + 0.6 * topic.coverage(&quote.sentence));
            found.push((score + strength.min(0.15), symbol.clone(), quote));
        }
    }
}
