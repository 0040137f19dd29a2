//! Explanations of what no grammar is known for: by its headings and paragraphs.

use super::super::excerpt::{capitalised, ended, prose, sentence};
use super::super::limits::{SENTENCE_CHARS_MAX, STEPS_MAX};
use super::super::model::{Explanation, Outputs};
use super::wording::lines_in_words;
use crate::areas::repositories::source::LineRange;

/// A heading, or a paragraph of a text without headings.
#[derive(Debug)]
struct Passage {
    lines: LineRange,
    title: Option<String>,
    first_sentence: String,
}

/// Describes a text, or lines of it. `why` says why it is not described as code.
pub(super) fn explain(path: &str, text: &str, lines: Option<LineRange>, why: &str) -> Explanation {
    let name = path.rsplit('/').next().unwrap_or(path);
    let line_count = text.lines().count();
    let passages = passages(text, lines);
    let mut sentences = vec![match lines {
        Some(lines) => format!("{} of {name}.", capitalised(&lines_in_words(lines))),
        None if line_count == 0 => format!("{name} is empty."),
        None if line_count == 1 => format!("{name} has one line."),
        None => format!("{name} has {line_count} lines."),
    }];
    if let Some(beginning) = beginning(&passages) {
        sentences.push(beginning);
    }
    if line_count > 0 {
        sentences.push(why.to_owned());
    }
    Explanation {
        summary: sentences.join(" "),
        steps: steps(&passages),
        inputs: Vec::new(),
        outputs: Outputs {
            success: "Nothing is known of it but its text.".to_owned(),
            failure: "Nothing is known of it but its text.".to_owned(),
        },
        dependencies: Vec::new(),
    }
}

/// Returns what a text says of itself at its beginning.
fn beginning(passages: &[Passage]) -> Option<String> {
    let first = passages.first()?;
    let title = first.title.as_deref().map(sentence).unwrap_or_default();
    let text = ended(&first.first_sentence);
    Some(format!("{title} {text}").trim().to_owned()).filter(|text| !text.is_empty())
}

fn steps(passages: &[Passage]) -> Vec<String> {
    let mut steps: Vec<String> = passages.iter().take(STEPS_MAX).map(step).collect();
    let left_out = passages.len().saturating_sub(STEPS_MAX);
    if left_out > 0 {
        steps.push(format!("{left_out} more parts are left out."));
    }
    steps
}

fn step(passage: &Passage) -> String {
    let lines = capitalised(&lines_in_words(passage.lines));
    match (&passage.title, passage.first_sentence.as_str()) {
        (Some(title), "") => format!("{lines}: {}", sentence(title)),
        (Some(title), text) => format!("{lines}, under the heading \"{title}\": {}", ended(text)),
        // It may be no prose: a line of a configuration stays as it is.
        (None, text) => format!("{lines}: {}", ended(text)),
    }
}

/// Splits a text at its headings, or at its empty lines if it has none.
fn passages(text: &str, lines: Option<LineRange>) -> Vec<Passage> {
    let asked = text
        .lines()
        .zip(1u32..)
        .filter(|(_, number)| lines.is_none_or(|lines| lines.contains(*number)));
    let asked: Vec<(&str, u32)> = asked.collect();
    let has_headings = asked.iter().any(|(line, _)| heading(line).is_some());
    let mut groups: Vec<Vec<(&str, u32)>> = Vec::new();
    let mut in_code = false;
    let mut is_new = true;
    for (line, number) in asked {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        let begins = match has_headings {
            true => !in_code && heading(line).is_some(),
            false => is_new && !line.trim().is_empty(),
        };
        is_new = line.trim().is_empty();
        match groups.last_mut() {
            Some(group) if !begins => group.push((line, number)),
            None if line.trim().is_empty() => {}
            _ => groups.push(vec![(line, number)]),
        }
    }
    groups.iter().filter_map(|group| passage(group)).collect()
}

fn passage(group: &[(&str, u32)]) -> Option<Passage> {
    let full = || group.iter().filter(|(line, _)| !line.trim().is_empty());
    let (first, start) = *full().next()?;
    let (_, end) = *full().next_back()?;
    let title = heading(first).map(|title| prose(title, SENTENCE_CHARS_MAX));
    let rest = group.iter().skip(usize::from(title.is_some())).map(|(line, _)| line.trim());
    let paragraph = first_paragraph(rest);
    let plain = super::super::docs::first_sentences(&prose(&paragraph, SENTENCE_CHARS_MAX), 1);
    Some(Passage {
        lines: LineRange::new(start, end)?,
        title,
        first_sentence: prose(plain.trim_end_matches([',', ';']), SENTENCE_CHARS_MAX),
    })
}

/// Returns the first paragraph or item of a list, without code and tables before it.
fn first_paragraph<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut found: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in lines {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_code ^= is_fence;
        if in_code || is_fence || line.starts_with('|') || line.is_empty() {
            if found.is_empty() {
                continue;
            }
            break;
        }
        let item = ["- ", "* ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet));
        if item.is_some() && !found.is_empty() {
            break;
        }
        found.push(item.unwrap_or(line));
    }
    found.join("\n")
}

/// Returns the text of a Markdown heading.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?.trim_start_matches('#');
    let title = rest.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    (!title.is_empty()).then_some(title)
}
