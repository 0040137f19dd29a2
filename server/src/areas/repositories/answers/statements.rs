//! The sentences of a language model's text, each with its citations taken out.

use super::citations::citation;

/// A sentence or an item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// The sentence without citations and without the mark at its end.
    pub(super) text: String,
    /// The mark at its end.
    pub(super) mark: Option<char>,
    /// The numbers that it cites, without duplicates.
    pub(super) citations: Vec<usize>,
    /// The code in it, without backticks.
    pub(super) code: Vec<String>,
    /// The sentence without its code.
    pub(super) prose: String,
}

impl Statement {
    /// Returns whether it says anything.
    pub(super) fn has_words(&self) -> bool {
        self.text.chars().any(char::is_alphabetic)
    }

    fn cite(&mut self, numbers: Vec<usize>) {
        for number in numbers {
            if !self.citations.contains(&number) {
                self.citations.push(number);
            }
        }
    }
}

/// Returns the sentences of a text. A citation right after the end of a sentence belongs to it.
/// Code blocks are sentences of their own, with all their text as code.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    for (position, block) in text.split("```").enumerate() {
        if position % 2 == 1 {
            found.push(Statement {
                text: block.trim().to_owned(),
                code: vec![block.to_owned()],
                ..Statement::default()
            });
            continue;
        }
        for line in block.lines() {
            let line = line.trim().trim_start_matches(['-', '*', '+', '#', '>', ' ']);
            split_line(line, &mut found);
        }
    }
    found
}

fn split_line(line: &str, found: &mut Vec<Statement>) {
    let mut current = Statement::default();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if let Some((numbers, after)) = citation(rest) {
            match found.last_mut() {
                // The sentence has ended, and its citation follows.
                Some(last) if !current.has_words() && last.mark.is_some() => last.cite(numbers),
                _ => current.cite(numbers),
            }
            current.text.truncate(current.text.trim_end().len());
            rest = after;
            continue;
        }
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        if char == '`' {
            let (code, after) = rest.split_once('`').unwrap_or((rest, ""));
            current.text.push_str(&format!("`{code}`"));
            current.code.push(code.to_owned());
            current.prose.push(' ');
            rest = after;
            continue;
        }
        let is_end = ".!?".contains(char)
            && rest.chars().next().is_none_or(|next| next.is_whitespace() || next == '[');
        if is_end && current.has_words() && !is_abbreviated(&current.text) {
            current.mark = Some(char);
            found.push(finished(std::mem::take(&mut current)));
        } else {
            current.text.push(char);
            current.prose.push(char);
        }
    }
    if current.has_words() || !current.citations.is_empty() {
        found.push(finished(current));
    }
}

fn finished(mut statement: Statement) -> Statement {
    statement.text = statement.text.trim().to_owned();
    statement
}

fn is_abbreviated(text: &str) -> bool {
    ["e.g", "i.e", "etc", " vs", "cf"].iter().any(|abbreviation| text.ends_with(abbreviation))
}
