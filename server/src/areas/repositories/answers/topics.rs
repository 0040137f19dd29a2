//! Answers how something is done: the parts of the repository that contain the words of the topic,
//! each with the sentence or line in it that contains most of them.

use std::rc::Rc;

use super::comments::{comment, comment_quotes};
use super::dependencies::called_symbols;
use super::draft::Draft;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{CODE_CHARS_MAX, HITS_MAX};
use super::phrases::{
    DocQuote, cite_symbol, code, has_marker, is_prose, joined, noun, place, place_of,
    qualified_name, quoted, quotes, symbol_quotes,
};
use super::question::Question;
use super::required_words::RequiredWords;
use super::topic_words::Topic;
use super::values::{value, value_sentence};
use super::words::other_spelling;
use crate::areas::repositories::index::{Hit, IndexError, is_stand_in};
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::{LineRange, Symbol, SymbolKind};
use crate::areas::repositories::wiki::is_test_path;

/// Parts that an answer is made of.
const PARTS_MAX: usize = 4;
/// The share of the topic's words from which a part is about the topic.
const COVERAGE_MIN: f64 = 0.5;
/// The share of the best part's coverage from which another part is worth naming.
const RELATIVE_COVERAGE_MIN: f64 = 0.7;
/// The share of the best part's score from which another part is worth naming.
const RELATIVE_SCORE_MIN: f64 = 0.6;
/// How much better a part is that gives the value which is asked for.
const VALUE_SCORE: f64 = 0.8;
/// The share of the topic's words in a name and its first sentence from which a value there is that
/// of the topic.
const VALUE_ABOUT_MIN: f64 = 0.4;
/// Results of a search for a value that are looked at: constants have few words.
const VALUE_HITS_MAX: usize = HITS_MAX + HITS_MAX / 3;
/// Lines before and after a quote that are shown with it.
const CONTEXT_LINES: u32 = 4;

/// A part of the repository that is about a topic.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) file: Rc<OpenFile>,
    pub(super) lines: LineRange,
    pub(super) symbol: Option<FoundSymbol>,
    /// The sentence in it with the most words of the topic, if one has any.
    quote: Option<DocQuote>,
    /// The share of the topic's words in it.
    pub(super) coverage: f64,
    /// The order among the parts, greater is better.
    score: f64,
}

/// The parts that are about a topic, the best first, and the words that nothing contains.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    pub(super) unknown_words: Vec<String>,
    /// How much better the first is than the second, from 0 to 1.
    margin: f64,
    required: RequiredWords,
}

/// Finds the parts that are about a question's topic.
pub(super) fn find(files: &mut Files<'_>, question: &Question) -> Result<Parts, IndexError> {
    if question.topic.is_empty() {
        return Ok(Parts::default());
    }
    let topic = Topic::of(question);
    let query = question.topic.join(" ");
    let hits_max = if topic.value.is_some() { VALUE_HITS_MAX } else { HITS_MAX };
    let mut result = files.index.search(&query, hits_max)?;
    if let Some(query) = respelled(&question.topic, &result.unknown_words) {
        result = files.index.search(&query, hits_max)?;
    }
    let required = RequiredWords::of(question, &result);
    let best_score = result.hits.first().map_or(1.0, |hit| hit.score).max(f64::MIN_POSITIVE);
    let mut parts = Vec::new();
    for hit in &result.hits {
        let part = part(files, hit, &topic, best_score, question)?;
        parts.extend(part.filter(|part| required.are_in(&part.text())));
    }
    parts.sort_by(|left, right| right.score.total_cmp(&left.score));
    let best = parts.iter().map(|part| part.coverage).fold(0.0, f64::max);
    let margin = match parts.as_slice() {
        [first, second, ..] => {
            (1.0 - second.score / first.score.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
        }
        [_] => 1.0,
        [] => 0.0,
    };
    let best_score = parts.first().map_or(0.0, |part| part.score);
    parts.retain(|part| {
        part.coverage >= (best * RELATIVE_COVERAGE_MIN).max(COVERAGE_MIN)
            && part.score >= best_score * RELATIVE_SCORE_MIN
    });
    Ok(Parts { parts: distinct(parts), unknown_words: result.unknown_words, margin, required })
}

/// Returns the words of a topic, those that nothing contains in their other spelling; `None` if
/// none has one.
fn respelled(topic: &[String], unknown: &[String]) -> Option<String> {
    let spell = |word: &String| match unknown.contains(word) {
        true => other_spelling(word).unwrap_or_else(|| word.clone()),
        false => word.clone(),
    };
    let words: Vec<String> = topic.iter().map(spell).collect();
    (words != topic).then(|| words.join(" "))
}

impl Part {
    /// Returns the text that an answer can show of it.
    fn text(&self) -> String {
        let lines = |lines| self.file.numbered(lines).map(|(_, line)| line);
        let mut text: String = lines(self.lines).collect::<Vec<_>>().join("\n");
        if let Some(symbol) = &self.symbol {
            let head = LineRange::new(symbol.symbol.lines.start(), symbol.symbol.name_line);
            let head: Vec<&str> = head.into_iter().flat_map(lines).collect();
            text.push_str(&format!("\n{}\n{}", head.join("\n"), qualified_name(symbol)));
        }
        text.push_str(&format!("\n{}", self.file.path));
        text
    }
}

fn part(
    files: &mut Files<'_>,
    hit: &Hit,
    topic: &Topic,
    best_score: f64,
    question: &Question,
) -> Result<Option<Part>, IndexError> {
    let file = files.open(hit.file)?;
    if question.language.is_some_and(|language| file.outline.language != Some(language)) {
        return Ok(None);
    }
    let symbol = match hit.symbol {
        Some(symbol) => files.symbol(symbol)?,
        None => None,
    };
    let mut text: String =
        file.numbered(hit.lines).map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    let name = symbol.as_ref().map(qualified_name).unwrap_or_default();
    if let Some(symbol) = &symbol {
        text.push_str(&format!(
            "\n{}\n{}",
            symbol.symbol.signature,
            symbol.symbol.doc.as_deref().unwrap_or_default()
        ));
    }
    text.push_str(&format!("\n{name}\n{}", file.path));
    let own = topic.coverage(&text);
    // The index weighs rare words more, but knows fewer forms of a word.
    let coverage = (0.9 * own).max((hit.coverage + own) / 2.0).min(1.0);
    let stem = file.name().split('.').next().unwrap_or_default();
    let in_name = if symbol.is_some() { topic.named_by(&name) } else { topic.named_by(stem) };
    let quotes = part_quotes(&file, hit.lines, symbol.as_ref());
    let first_sentence = quotes.first().map(|quote| quote.sentence.clone());
    let quote = best_quote(quotes, topic).filter(|quote| topic.coverage(&quote.sentence) > 0.0);
    let in_quote = quote.as_ref().map_or(0.0, |quote| topic.coverage(&quote.sentence));
    // A value is that of the topic if what has it is about the topic.
    let about = match topic.value.and(symbol.as_ref()) {
        Some(_) => topic.coverage(&format!("{name} {}", first_sentence.unwrap_or_default())),
        None => in_quote,
    };
    let is_constant = symbol.as_ref().and_then(value).is_some_and(|value| is_number(&value));
    let clarity = match (topic.value, &quote) {
        (Some(_), _) if about < VALUE_ABOUT_MIN => 0.0,
        (Some(_), _) if is_constant => about,
        (Some(asked), Some(quote)) => about * asked.clarity(&quote.sentence),
        _ => 0.0,
    };
    let gives_value = clarity > 0.0;
    let of_value = VALUE_SCORE * clarity;
    let asks_for_tests = question.topic.iter().any(|word| word.starts_with("test"));
    let weight = match &symbol {
        Some(symbol) if symbol.symbol.is_test && !asks_for_tests => 0.5,
        Some(symbol) if is_member(&symbol.symbol) => 0.75,
        Some(symbol) if symbol.symbol.kind == SymbolKind::Module => 0.6,
        Some(symbol) if symbol.symbol.kind == SymbolKind::Constant && !gives_value => 0.85,
        Some(symbol) if is_stand_in(&symbol.file.path) => 0.85,
        Some(symbol) if is_accessor(&symbol.symbol) => 0.85,
        _ if is_test_path(&file.path) && !asks_for_tests => 0.6,
        _ if is_history(file.name()) => 0.6,
        _ => 1.0,
    };
    let score = weight
        * (coverage + 0.5 * hit.score / best_score + 0.6 * in_name + 0.5 * in_quote + of_value);
    Ok(Some(Part { file, lines: hit.lines, symbol, quote, coverage, score }))
}

fn is_number(value: &str) -> bool {
    value.chars().any(|char| char.is_ascii_digit())
}

/// Returns whether a function is too short to do more than to return or forward something.
fn is_accessor(symbol: &Symbol) -> bool {
    let is_function = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
    is_function && symbol.lines.end() - symbol.name_line <= 2
}

/// Returns whether a file says how things were, or under which terms they are used.
fn is_history(name: &str) -> bool {
    let name = name.to_lowercase();
    ["changelog", "changes", "history", "news", "license", "copying"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Returns whether a symbol says little without what contains it.
fn is_member(symbol: &Symbol) -> bool {
    let is_associated_type = symbol.kind == SymbolKind::TypeAlias && symbol.container.is_some();
    matches!(symbol.kind, SymbolKind::Field | SymbolKind::Variant) || is_associated_type
}

/// Returns the sentences of a part that can be quoted: the documentation of its symbol, or prose.
fn part_quotes(file: &OpenFile, lines: LineRange, symbol: Option<&FoundSymbol>) -> Vec<DocQuote> {
    match (symbol, file.outline.language) {
        (Some(symbol), _) => symbol_quotes(symbol),
        (None, Some(_)) => comment_quotes(file, lines),
        (None, None) if !is_prose(&file.path) => Vec::new(),
        (None, None) => {
            let text: String = file.numbered(lines).map(|(_, line)| format!("{line}\n")).collect();
            quotes(file, &text, lines)
        }
    }
}

/// Returns the best parts, none within the symbol of another or overlapping it.
fn distinct(parts: Vec<Part>) -> Vec<Part> {
    let mut kept: Vec<Part> = Vec::new();
    for part in parts {
        let overlaps = kept.iter().any(|other| {
            let same_symbol = match (&other.symbol, &part.symbol) {
                (Some(left), Some(right)) => left.is_same(right),
                _ => false,
            };
            other.file.id == part.file.id
                && (same_symbol
                    || other.lines.contains(part.lines.start())
                    || part.lines.contains(other.lines.start()))
        });
        if !overlaps && kept.len() < PARTS_MAX {
            kept.push(part);
        }
    }
    kept
}

/// Writes what the parts say about a topic.
pub(super) fn explain(
    draft: &mut Draft,
    files: &mut Files<'_>,
    question: &Question,
    found: &Parts,
) -> Result<(), IndexError> {
    let topic = Topic::of(question);
    let mut best = 0.0_f64;
    for part in &found.parts {
        let is_first = draft.is_empty();
        if say_part(draft, part, &topic, is_first).is_some() && is_first {
            best = part.coverage;
            if let Some(symbol) = &part.symbol {
                say_calls(draft, files, symbol)?;
            }
        }
    }
    if !draft.is_empty() && !found.required.are_in(&draft.cited_text(files)?) {
        // What the question is about is not in the lines that would be shown.
        *draft = Draft::default();
        return Ok(());
    }
    let unknown: Vec<String> = found
        .unknown_words
        .iter()
        .filter(|word| !has_marker(word))
        .map(|word| format!("“{word}”"))
        .collect();
    if !unknown.is_empty() && !draft.is_empty() {
        draft.say(format!("Nothing in the index contains {}.", joined(&unknown)));
    }
    let doubt = if unknown.is_empty() { 1.0 } else { 0.7 };
    draft.confidence = doubt * (0.05 + 0.75 * best * best + 0.1 * found.margin);
    Ok(())
}

/// Writes one part; `None` if it cannot be cited.
fn say_part(draft: &mut Draft, part: &Part, topic: &Topic, is_first: bool) -> Option<()> {
    let lead = if is_first { "" } else { "Related: " };
    let Some(symbol) = &part.symbol else {
        return say_prose(draft, part, topic, lead);
    };
    let name = qualified_name(symbol);
    let marker = cite_symbol(draft, symbol)?;
    draft.about(&name.replace('`', ""));
    let head = format!("{lead}{name}, {} in {}", noun(symbol.symbol.kind), place(symbol));
    let doc = part.quote.clone().or_else(|| symbol_quotes(symbol).into_iter().next());
    let doc = doc.and_then(|doc| Some((draft.cite(&part.file, doc.lines, doc.lines)?, doc)));
    match doc {
        Some((of_doc, doc)) if of_doc == marker => {
            draft.say(format!("{head}: {} {marker}", quoted(&doc.sentence)));
        }
        Some((of_doc, doc)) => {
            draft.say(format!("{head} {marker}: {} {of_doc}", quoted(&doc.sentence)));
        }
        None => {
            draft.say(format!("{head} {marker}."));
            say_line(draft, part, topic);
        }
    }
    if let Some(sentence) = value_sentence(symbol, marker) {
        draft.say(sentence);
    }
    say_remark(draft, part, symbol, topic);
    Some(())
}

/// Writes the line of code with the most words of a topic.
fn say_line(draft: &mut Draft, part: &Part, topic: &Topic) {
    let Some((line, text)) = best_line(part, topic) else { return };
    let marker = LineRange::new(line, line).and_then(|of| draft.cite(&part.file, of, of));
    if let Some(marker) = marker {
        draft.say(format!("Its line {line} is {} {marker}.", code(&text)));
    }
}

/// Writes the comment within a symbol that has the most words of a topic.
fn say_remark(draft: &mut Draft, part: &Part, symbol: &FoundSymbol, topic: &Topic) {
    let doc = symbol.symbol.doc.as_deref().unwrap_or_default();
    let remark = best_quote(comment_quotes(&part.file, part.lines), topic).filter(|remark| {
        topic.coverage(&remark.sentence) > 0.0
            && symbol.symbol.name_line <= remark.lines.start()
            && !doc.contains(&remark.sentence)
    });
    let Some(remark) = remark else { return };
    if let Some(marker) = draft.cite(&part.file, remark.lines, around(remark.lines, part.lines)) {
        let place = place_of(&part.file, remark.lines.start());
        draft.say(format!("A comment at {place} says: {} {marker}", quoted(&remark.sentence)));
    }
}

/// Writes a part that is in no symbol: prose, configuration, or the head of a file.
fn say_prose(draft: &mut Draft, part: &Part, topic: &Topic, lead: &str) -> Option<()> {
    if let Some(quote) = &part.quote {
        let marker = draft.cite(&part.file, quote.lines, around(quote.lines, part.lines))?;
        let place = place_of(&part.file, quote.lines.start());
        draft.say(format!("{lead}{place}: {} {marker}", quoted(&quote.sentence)));
    } else {
        let (line, text) = best_line(part, topic)?;
        let support = LineRange::new(line, line)?;
        let marker = draft.cite(&part.file, support, around(support, part.lines))?;
        draft.say(format!("{lead}{} is {} {marker}.", place_of(&part.file, line), code(&text)));
    }
    draft.about(&part.file.path);
    Some(())
}

/// Returns some lines with a few more around them, within others.
pub(super) fn around(lines: LineRange, within: LineRange) -> LineRange {
    let start = lines.start().saturating_sub(CONTEXT_LINES).max(within.start()).min(lines.start());
    let end = lines.end().saturating_add(CONTEXT_LINES).min(within.end()).max(lines.end());
    LineRange::new(start, end).unwrap_or(lines)
}

/// Returns the sentence with the most words of a topic, the first one if none has any.
fn best_quote(quotes: Vec<DocQuote>, topic: &Topic) -> Option<DocQuote> {
    let mut best: Option<(f64, DocQuote)> = None;
    for quote in quotes {
        let clarity = topic.value.map_or(0.0, |asked| asked.clarity(&quote.sentence));
        let coverage = topic.coverage(&quote.sentence) + VALUE_SCORE * clarity;
        if best.as_ref().is_none_or(|(known, _)| coverage > *known) {
            best = Some((coverage, quote));
        }
    }
    best.map(|(_, quote)| quote)
}

/// Returns the line of code with the most words of a topic, if it has one and can be quoted whole.
fn best_line(part: &Part, topic: &Topic) -> Option<(u32, String)> {
    let language = part.file.outline.language;
    let mut best: Option<(f64, u32, &str)> = None;
    // What the head of a symbol says is said already.
    let body = part.symbol.as_ref().map_or(0, |symbol| symbol.symbol.name_line);
    for (number, line) in part.file.numbered(part.lines).filter(|(number, _)| *number > body) {
        let line = line.trim();
        let is_quotable = line.chars().count() <= CODE_CHARS_MAX
            && !line.contains('`')
            && !has_marker(line)
            && comment(language, line).is_none()
            && !part.file.is_secret(number)
            && !contains_secret(line);
        let coverage = if is_quotable { topic.coverage(line) } else { 0.0 };
        if coverage > best.map_or(0.0, |(known, ..)| known) {
            best = Some((coverage, number, line));
        }
    }
    best.map(|(_, number, line)| (number, line.to_owned()))
}

/// Writes what the lines shown of a symbol call.
fn say_calls(
    draft: &mut Draft,
    files: &mut Files<'_>,
    symbol: &FoundSymbol,
) -> Result<(), IndexError> {
    let Some(marker) = cite_symbol(draft, symbol) else { return Ok(()) };
    let called: Vec<String> = called_symbols(files, symbol)?
        .iter()
        .filter(|call| draft.shows(&symbol.file, call.line))
        .map(|call| format!("{} ({})", qualified_name(&call.target), place(&call.target)))
        .take(5)
        .collect();
    if !called.is_empty() {
        draft.say(format!("It calls {} {marker}.", joined(&called)));
    }
    Ok(())
}
